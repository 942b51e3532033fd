"""Run the census on what other projects test their own parsers with: `python -m benchmarks.peers FOLDER …`.

A folder is an unpacked source archive of such a project. Nothing of theirs is
kept here: raw outputs and what their tests expect are read where they lie, and
what comes out is a figure per family and the misreads, for a person to judge.
"""
