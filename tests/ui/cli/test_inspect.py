"""`inspect`: evidence from a file or standard input, said what it was taken for."""

import json

from prompt_debugger.ui.cli.main import main

RAW = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call><|im_end|>'
BODY = {"messages": [{"role": "user", "content": "hi"}]}


def test_a_raw_output_in_a_file_is_read(tmp_path, capsys):
    file = tmp_path / "output.txt"
    file.write_text(RAW)

    status = main(["inspect", str(file), "--json"])

    document = json.loads(capsys.readouterr().out)
    assert (status, document["taken_for"]) == (0, "raw output")
    assert [call["name"] for call in document["parse"]["calls"]] == ["get_weather"]


def test_a_lost_call_is_an_error(tmp_path, capsys):
    file = tmp_path / "case.json"
    file.write_text(json.dumps({"raw": RAW, "message": {"content": ""}}))

    status = main(["inspect", str(file)])

    assert status == 1
    assert "returned none" in capsys.readouterr().out


def test_a_request_alone_is_examined(tmp_path, capsys):
    file = tmp_path / "request.json"
    parameters = {"type": "object", "properties": {"city": {"type": "str"}}}
    tools = [{"type": "function", "function": {"name": "get_weather", "parameters": parameters}}]
    file.write_text(json.dumps({"messages": [{"role": "user", "content": "hi"}], "tools": tools}), encoding="utf-8")

    assert main(["inspect", str(file), "--json"]) in (0, 1)
    shown = json.loads(capsys.readouterr().out)

    assert (shown["taken_for"], shown["holds"]) == ("request", ["request"])
    assert [finding["code"] for finding in shown["findings"]] == ["PD101"]


def test_several_files_are_pieces_of_one_run(tmp_path, capsys):
    request, answer, prompt = (tmp_path / name for name in ("request.json", "answer.json", "prompt.txt"))
    request.write_text(json.dumps(BODY))
    answer.write_text(json.dumps({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}))
    prompt.write_text("<|im_start|>user\nhi")

    assert main(["inspect", str(answer), "--request", str(request), "--prompt", str(prompt), "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main(["inspect", str(request), str(answer), "--json"]) == 0
    second = json.loads(capsys.readouterr().out)

    assert first["holds"] == ["request", "prompt", "message"]
    assert (second["taken_for"], second["holds"]) == ("request and response", ["request", "message"])


def test_tools_in_a_file_of_their_own_are_those_of_the_request(tmp_path, capsys):
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": parameters}}
    call = {"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    tools, answer = (tmp_path / name for name in ("tools.json", "answer.json"))
    answer.write_text(json.dumps({"role": "assistant", "content": None, "tool_calls": [call]}))

    for shown in ([tool], {"tools": [tool]}, [{"name": "get_weather", "input_schema": parameters}]):
        tools.write_text(json.dumps(shown))
        assert main(["inspect", str(answer), str(tools), "--json"]) == 1
        document = json.loads(capsys.readouterr().out)
        assert [finding["code"] for finding in document["findings"]] == ["PD502"]

    tools.write_text(json.dumps([tool]))
    assert main(["inspect", str(tools)]) == 0
    assert "Only the tools were examined, and no problem was found." in capsys.readouterr().out


def test_what_is_not_understood_is_refused_with_what_it_has(tmp_path, capsys):
    file = tmp_path / "odd.json"
    file.write_text('{"alpha": 1}')

    assert main(["inspect", str(file), "--json"]) == 2
    assert "`alpha`" in json.loads(capsys.readouterr().out)["error"]["message"]
