"""From a chat request to a verdict, in pure Python.

    request ──► render ──► complete ──► parse ──► diagnose ──► report
    read what   prompt,    raw output   census,   findings,    JSON,
    was pasted  its tokens of the same  ledger    verdict      text
                           run

Each stage is a folder; they never import one another. One value, the `Trace`
(`core.types`), travels through them; `core.pipeline.run_request` is the order in code.
`core.parse` knows how outputs are read, `core.formats` above it holds one file per
model family, with the record from which all stages know the family; `core.grammar`
asks what constrained decoding would have done, `core.lab` starts a local vLLM.
"""
