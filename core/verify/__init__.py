"""Thousands of requests against a server: how many calls are lost, where, and why.

    dataset ──▶ asking ──▶ journal ──▶ judge ──▶ journal ──▶ tally ──▶ results
    rows as     tries      SQLite      each      what was    counts,   rows and
    K2VV's      again      file        answer    found       rates     summary

`verify` does it all and goes on where it was left; `session` puts it together,
`flow` keeps a server busy without drowning it, `intervals` says how sure a rate is.
"""

from prompt_debugger.core.verify.asking import Budget, Patience
from prompt_debugger.core.verify.dataset import Preparation, Row, Shard, read_rows, read_shard
from prompt_debugger.core.verify.journal import Journal
from prompt_debugger.core.verify.results import About, summary_of, write_rows
from prompt_debugger.core.verify.session import Outcome, Plan, Progress, Stop, verify
from prompt_debugger.core.verify.tally import Tally

__all__ = [
    "About",
    "Budget",
    "Journal",
    "Outcome",
    "Patience",
    "Plan",
    "Preparation",
    "Progress",
    "Row",
    "Shard",
    "Stop",
    "Tally",
    "read_rows",
    "read_shard",
    "summary_of",
    "verify",
    "write_rows",
]
