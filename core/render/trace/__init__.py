"""A template render that knows, for every character, where it came from.

    strings   a `str` that carries runs            runs      the algebra of runs
    values    request objects that note reads      reads     what was never read
    escapes   JSON, repr and HTML, by character    dumps     tojson and repr, leaf by leaf
    lexer     tokens with offsets                  codegen   literals and outputs keep their place
    filters   the filters that would drop runs     printing  what an output does to its value
    derive    what a server makes of values        rows      runs -> spans, each one checked

Nothing here touches files, processes or the request's meaning: text in, text and runs out.
"""
