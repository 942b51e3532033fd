"""Thousands of requests against a server: how many calls are lost, where, and why.

    dataset ──▶ asking ──▶ journal ──▶ judge ──▶ journal ──▶ tally ──▶ results
    rows as     tries      SQLite      each      what was    counts,   rows and
    K2VV's      again      file        answer    found       rates     summary

`verify` does it all and continues where it was left; `plan` says what it is asked, `session` puts it together,
`pairs` compares two sets of answers, `gates` reads `--fail-if`,
`flow` keeps a server busy without drowning it, `intervals` says how sure a rate is.
"""

from prompt_debugger.core.tools.verify.asking import Budget, Patience
from prompt_debugger.core.tools.verify.clusters import Cluster, cluster_rows
from prompt_debugger.core.tools.verify.dataset import Preparation, Shard, read_rows, read_shard
from prompt_debugger.core.tools.verify.gates import check_figures, read_gate
from prompt_debugger.core.tools.verify.intervals import wilson
from prompt_debugger.core.tools.verify.journal import Journal
from prompt_debugger.core.tools.verify.junit import Suite, write_junit
from prompt_debugger.core.tools.verify.pairs import compare_rows, read_results
from prompt_debugger.core.tools.verify.plan import Outcome, Plan, Progress, Stop
from prompt_debugger.core.tools.verify.results import About, Kept, gated_summary, merged_rows, summary_of, write_rows
from prompt_debugger.core.tools.verify.session import verify
from prompt_debugger.core.tools.verify.stored import Stored, open_stored
from prompt_debugger.core.tools.verify.tally import Tally

__all__ = [
    "About",
    "Budget",
    "Cluster",
    "Journal",
    "Kept",
    "Outcome",
    "Patience",
    "Plan",
    "Preparation",
    "Progress",
    "Shard",
    "Stop",
    "Stored",
    "Suite",
    "Tally",
    "check_figures",
    "cluster_rows",
    "compare_rows",
    "gated_summary",
    "merged_rows",
    "open_stored",
    "read_gate",
    "read_results",
    "read_rows",
    "read_shard",
    "summary_of",
    "verify",
    "wilson",
    "write_junit",
    "write_rows",
]
