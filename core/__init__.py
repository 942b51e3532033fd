"""From a chat request to a verdict, in pure Python.

    request ──► render ──► complete ──► parse ──► diagnose ──► report
    read what   prompt,    raw output   census,   findings,    JSON,
    was pasted  its tokens of the same  ledger    verdict      text
                           run

Each stage is a folder; they never import one another. One value, the `Trace`
(`core.base.types`), travels through them; `core.pipeline.run` is the order in code.

    base        what all share: values, errors, seams, text
    sandbox     processes for work on strangers' text, which can be ended at any moment
    formats     one file per model family; `parse` knows how outputs are read, this knows whose
    pipeline    the stages in their order, for a request that is run
    evidence    the same for what someone pasted: a message, a stream, an error, a log
    tools       check, verify, fixes, experiments, grammar, plugin, capture, lab … on top of it
    api         the functions of `import prompt_debugger`
"""
