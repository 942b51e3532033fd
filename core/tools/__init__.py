"""Tools built on the pipeline, one folder each.

    check          a model's template against an engine's parsers, without weights
    verify         a dataset of requests against one or two endpoints
    watch          live traffic through the proxy, judged like a dataset
    apis           one request through each API of a server, compared
    sessions       the turns of one conversation: what breaks the prefix cache
    fixes          changes to a request, template, command or client that can be applied and tried
    experiments    the same request in several variants
    conversation   a tool loop, turn by turn
    grammar        what constrained decoding would have allowed
    plugin         the census as a parser plugin of vLLM
    capture        a recording proxy
    lab            a small model on a real vLLM of this machine
    offline        scripts that call vLLM's `LLM` without a server

The kernel (`request`, `render`, `complete`, `formats`, `parse`, `diagnose`, `report`) imports none of them.
"""
