"Rows with faults by cause, with the smallest request of each."

from prompt_debugger.core.tools.verify import cluster_rows


def row(index, text, *, codes=(), errors=(), stage=None, status="success"):
    request = {"messages": [{"role": "user", "content": text}]}
    own = {"codes": list(codes), "errors": list(errors), "stage": stage, "verdict": f"verdict {index}"}
    return {"data_index": index, "status": status, "request": request, "response": {"error": "503"}, "debugger": own}


def test_rows_are_put_together_by_their_errors_and_stage():
    rows = [
        row(1, "a", errors=["PD401"], codes=["PD302", "PD401"], stage="parse"),
        row(2, "b", errors=["PD401"], codes=["PD401"], stage="parse"),
        row(3, "c", codes=["PD205"], stage="render"),
        row(4, "fine"),
        row(5, "d", status="failed"),
    ]

    clusters = cluster_rows(rows)

    assert [(one.codes, one.stage, one.count) for one in clusters] == [
        (("PD401",), "parse", 2), (("PD205",), "render", 1), (("no answer",), None, 1)
    ]  # fmt: skip


def test_the_smallest_requests_come_first_and_few_are_kept():
    rows = [
        row(index, "x" * length, errors=["PD401"], stage="parse") for index, length in ((1, 9), (2, 3), (3, 30), (4, 5))
    ]

    (cluster,) = cluster_rows(rows, keep=2)

    assert [one.row for one in cluster.smallest] == [2, 4]
    assert cluster.smallest[0].verdict == "verdict 2"
    assert cluster.count == 4
