"""What a client may say, and what it must not."""
from __future__ import annotations

import os
import pathlib
import subprocess
import time

import pytest

import server_models as models
from bare_client import PUSH, BareClient, applied, codes, edit
from conftest import PROGRAM, run_fullgraph

PULL = {"textDocument": {"diagnostic": {"relatedInformation": True}},
        "workspace": {"diagnostics": {"refreshSupport": True}}}


def check(folder) -> dict[str, list[tuple[int, str]]]:
    """What `fullgraph check` says of the folder, by file."""
    out: dict[str, list] = {}
    for finding in run_fullgraph("check", "--output-format", "json", "--no-cache", cwd=folder).ok().findings():
        out.setdefault(finding["file"], []).append((finding["line"], finding["code"]))
    return {file: sorted(found) for file, found in out.items()}


def actions(client, name: str, line: int, only: list[str] | None = None) -> list[dict]:
    context = {"diagnostics": []} | ({"only": only} if only else {})
    place = {"line": line - 1, "character": 0}
    return client.request("textDocument/codeAction", {
        "textDocument": {"uri": client.uri(name)}, "range": {"start": place, "end": place}, "context": context})


# Findings ------------------------------------------------------------------------------------------------------------


def test_the_findings_of_check(client, project):
    client.open("model.py")
    found = client.diagnostics("model.py", 1)
    assert codes(found) == check(project)["model.py"] != []
    printed = next(d for d in found if d["range"]["start"]["line"] == 9)
    # 19 characters from column 8 on, of which the smiling face takes two units.
    assert printed["range"] == {"start": {"line": 9, "character": 8}, "end": {"line": 9, "character": 28}}
    assert printed["source"] == "fullgraph" and printed["severity"] in (1, 2)
    assert printed["codeDescription"]["href"].startswith("https://")


@pytest.mark.parametrize("offered, agreed, end", [
    (["utf-8", "utf-16"], "utf-8", 32), (["utf-16"], "utf-16", 28), (["utf-32", "utf-16"], "utf-16", 28),
    (["utf-32"], "utf-32", 27), ([], "utf-16", 28)])
def test_columns_are_counted_as_agreed(project, offered, agreed, end):
    """`        print("grüße 😀", x)`: 27 code points, 2 bytes each for ü and ß, 4 for the face."""
    with BareClient(project, capabilities={**PUSH, "general": {"positionEncodings": offered}}) as client:
        assert client.initialized["capabilities"]["positionEncoding"] == agreed
        client.open("model.py")
        found = next(d for d in client.diagnostics("model.py", 1) if d["range"]["start"]["line"] == 9)
        assert found["range"]["end"] == {"line": 9, "character": end}
        # An edit behind those characters arrives where it was meant.
        client.change("model.py", 2, edit((9, end), (9, end), "; print(x)"))
        again = client.diagnostics("model.py", 2)
        assert [d["range"]["start"]["character"] for d in again if d["range"]["start"]["line"] == 9] == [8, end + 2]


def test_a_helper_in_one_buffer_changes_findings_in_another(client, project):
    client.open("model.py")
    assert (11, "FG501") not in codes(client.diagnostics("model.py", 1))
    client.open("helper.py")
    client.diagnostics("helper.py", 1)
    client.change("helper.py", 2, models.BREAKING_HELPER)  # on no disk
    found = client.diagnostics("helper.py", 2)
    assert [line for line, _ in codes(found)] == [5]
    way = found[0]["relatedInformation"]
    assert [w["location"]["uri"] for w in way] == [client.uri("model.py")]
    assert way[0]["location"]["range"]["start"]["line"] == 10
    # Closed without saving: what is on the disk counts again, and what was shown of the file goes.
    client.notify("textDocument/didClose", {"textDocument": {"uri": client.uri("helper.py")}})
    assert client.diagnostics("helper.py", None) == []
    client.open("helper.py")
    assert client.diagnostics("helper.py", 1) == []


def test_while_the_source_is_no_python_the_last_findings_stay_near(client):
    client.open("model.py")
    before = codes(client.diagnostics("model.py", 1))
    client.change("model.py", 2, edit((5, 0), (5, 0), "\ndef broken(:\n"))
    during = codes(client.diagnostics("model.py", 2))
    assert [c for c in during if c[1] != "FG902"] == [(line + 2, code) for line, code in before]
    assert "FG902" in {code for _, code in during}
    client.change("model.py", 3, edit((6, 0), (7, 0), ""))
    assert codes(client.diagnostics("model.py", 3)) == [(line + 1, code) for line, code in before]


def test_settings_and_configuration(project):
    (project / "fullgraph.toml").write_text('ignore = ["FG301"]\n')
    with BareClient(project) as client:
        client.open("model.py")
        assert "FG301" not in {code for _, code in codes(client.diagnostics("model.py", 1))}
        (project / "fullgraph.toml").write_text("")
        client.notify("workspace/didChangeWatchedFiles", {
            "changes": [{"uri": client.uri("fullgraph.toml"), "type": 2}]})
        assert "FG301" in {code for _, code in codes(client.diagnostics("model.py", 1))}
        client.notify("workspace/didChangeConfiguration", {"settings": {"fullgraph": {"select": ["FG3"]}}})
        assert {code for _, code in codes(client.diagnostics("model.py", 1))} == {"FG301"}
        client.notify("workspace/didChangeConfiguration", {"settings": {"fullgraph": {"slect": ["FG3"]}}})
        shown = client.wait(lambda m: m.get("method") == "window/showMessage")
        assert "slect" in shown["params"]["message"] and "select" in shown["params"]["message"]


def test_configuration_is_asked_for(project):
    capabilities = {**PUSH, "workspace": {"configuration": True, "didChangeWatchedFiles": {"dynamicRegistration": True}}}
    with BareClient(project, capabilities=capabilities) as client:
        registered = client.wait(lambda m: m.get("method") == "client/registerCapability")
        assert registered["params"]["registrations"][0]["method"] == "workspace/didChangeWatchedFiles"
        asked = client.wait(lambda m: m.get("method") == "workspace/configuration")
        assert asked["params"]["items"] == [{"section": "fullgraph"}]
        client.send({"jsonrpc": "2.0", "id": asked["id"], "result": [{"select": ["FG301"]}]})
        client.open("model.py")
        assert {code for _, code in codes(client.diagnostics("model.py", 1))} == {"FG301"}


def test_the_whole_workspace_if_wanted(project):
    with BareClient(project, options={"diagnosticMode": "workspace"}) as client:
        found = client.diagnostics("model.py", None)
        assert codes(found) == check(project)["model.py"]


def test_folders_come_and_go(project, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "m.py").write_text(models.MODEL)  # has no helper beside it
    (other / "fullgraph.toml").write_text('select = ["FG301"]\n')
    with BareClient(project) as client:
        client.notify("workspace/didChangeWorkspaceFolders", {
            "event": {"added": [{"uri": other.as_uri(), "name": "other"}], "removed": []}})
        client.notify("textDocument/didOpen", {"textDocument": {
            "uri": (other / "m.py").as_uri(), "languageId": "python", "version": 1, "text": models.MODEL}})
        client.open("model.py")
        assert len(codes(client.diagnostics("model.py", 1))) > 1
        client.notify("textDocument/didChange", {"textDocument": {"uri": (other / "m.py").as_uri(), "version": 2},
                                                 "contentChanges": []})
        found = client.wait(lambda m: m.get("method") == "textDocument/publishDiagnostics"
                            and (m["params"]["uri"], m["params"]["version"]) == ((other / "m.py").as_uri(), 2))
        assert {d["code"] for d in found["params"]["diagnostics"]} == {"FG301"}


def test_files_of_no_folder_and_files_of_no_disk(project, tmp_path):
    loose = tmp_path / "loose.py"
    loose.write_text(models.MODEL)
    with BareClient(project) as client:
        for uri in (loose.as_uri(), "untitled:Untitled-1"):
            client.notify("textDocument/didOpen", {"textDocument": {
                "uri": uri, "languageId": "python", "version": 1, "text": models.MODEL}})
            found = client.wait(lambda m: m.get("method") == "textDocument/publishDiagnostics"
                                and m["params"]["uri"] == uri)["params"]["diagnostics"]
            assert {(10, "FG501"), (12, "FG301")} <= set(codes(found))


def test_files_are_made_and_removed(client, project):
    client.open("model.py")
    client.diagnostics("model.py", 1)
    (project / "helper.py").write_text(models.BREAKING_HELPER)
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": client.uri("helper.py"), "type": 2}]})
    client.diagnostics("model.py", 1)
    client.open("helper.py")
    assert [line for line, _ in codes(client.diagnostics("helper.py", 1))] == [5]
    client.notify("textDocument/didClose", {"textDocument": {"uri": client.uri("helper.py")}})
    (project / "helper.py").unlink()
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": client.uri("helper.py"), "type": 3}]})
    client.change("model.py", 2, models.MODEL + "\n")
    assert codes(client.diagnostics("model.py", 2)) == check(project)["model.py"]


def test_excluded_files_stay_silent(project):
    (project / "fullgraph.toml").write_text('exclude = ["model.py"]\n')
    with BareClient(project) as client:
        client.open("model.py")
        assert client.diagnostics("model.py", 1) == []


# Pull ----------------------------------------------------------------------------------------------------------------


def test_pulled_findings(project):
    with BareClient(project, capabilities=PULL) as client:
        assert client.initialized["capabilities"]["diagnosticProvider"]["interFileDependencies"] is True
        client.open("model.py")
        report = client.request("textDocument/diagnostic", {"textDocument": {"uri": client.uri("model.py")}})
        assert report["kind"] == "full" and codes(report["items"]) == check(project)["model.py"]
        again = client.request("textDocument/diagnostic", {
            "textDocument": {"uri": client.uri("model.py")}, "previousResultId": report["resultId"]})
        assert again == {"kind": "unchanged", "resultId": report["resultId"]}
        client.change("model.py", 2, "\n" + models.MODEL)
        moved = client.request("textDocument/diagnostic", {
            "textDocument": {"uri": client.uri("model.py")}, "previousResultId": report["resultId"]})
        assert codes(moved["items"]) == [(line + 1, code) for line, code in check(project)["model.py"]]
        whole = client.request("workspace/diagnostic", {"previousResultIds": []})
        assert [(i["uri"], i["version"]) for i in whole["items"]] == [(client.uri("model.py"), 2)]
        assert not any(m.get("method") == "textDocument/publishDiagnostics" for m in client.received)


def test_an_edit_that_nobody_pulls_for_asks_for_a_refresh(project):
    with BareClient(project, capabilities=PULL) as client:
        client.open("model.py")
        client.wait(lambda m: m.get("method") == "workspace/diagnostic/refresh")


# Actions -------------------------------------------------------------------------------------------------------------


def test_a_quick_fix_removes_its_finding(client):
    client.open("model.py")
    client.diagnostics("model.py", 1)
    offered = actions(client, "model.py", 12)
    fix = next(a for a in offered if a["title"].startswith("FG301"))
    assert fix["kind"] == "quickfix" and fix["diagnostics"][0]["code"] == "FG301"
    text = applied(models.MODEL, fix["edit"]["changes"][client.uri("model.py")])
    client.change("model.py", 2, text)
    assert "FG301" not in {code for _, code in codes(client.diagnostics("model.py", 2))}


def test_unsafe_fixes_say_so(client):
    client.open("model.py")
    client.diagnostics("model.py", 1)
    fixes = [f for line in range(1, 13) for f in actions(client, "model.py", line, ["quickfix"])
             if "Suppress" not in f["title"]]
    findings = run_fullgraph("check", "--output-format", "json", cwd=client.folder).findings()
    unsafe = sum(fix["applicability"] == "unsafe" for finding in findings for fix in finding["fixes"])
    assert sum("(unsafe)" in f["title"] for f in fixes) == unsafe > 0


def test_suppressing_on_the_line(client):
    client.open("model.py")
    before = codes(client.diagnostics("model.py", 1))
    text, version = models.MODEL, 1
    for line, code in before:
        action = next(a for a in actions(client, "model.py", line) if a["title"] == f"{code}: Suppress on this line")
        text = applied(text, action["edit"]["changes"][client.uri("model.py")])
        version += 1
        client.change("model.py", version, text)
        left = client.diagnostics("model.py", version)
        assert (line, code) not in codes(left)
    assert left == []
    assert text.count("fullgraph: ignore[") <= len(before)


def test_fix_all(client, project):
    client.open("model.py")
    client.diagnostics("model.py", 1)
    offered = actions(client, "model.py", 1, ["source.fixAll"])
    assert [a["kind"] for a in offered] == ["source.fixAll.fullgraph"]
    assert actions(client, "model.py", 12, ["source.organizeImports"]) == []
    number = client.begin("workspace/executeCommand", {k: offered[0]["command"][k] for k in ("command", "arguments")})
    asked = client.wait(lambda m: m.get("method") == "workspace/applyEdit")
    text = applied(models.MODEL, asked["params"]["edit"]["changes"][client.uri("model.py")])
    client.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"applied": True}})
    assert client.answer(number)["result"] is None
    run_fullgraph("check", "--fix", "model.py", "helper.py", cwd=project)
    assert text == (project / "model.py").read_text() != models.MODEL


def test_fix_all_is_worked_out_when_it_is_chosen(project):
    capabilities = {"textDocument": {**PUSH["textDocument"], "codeAction": {
        "dataSupport": True, "isPreferredSupport": True, "resolveSupport": {"properties": ["edit"]}}},
        "workspace": {"workspaceEdit": {"documentChanges": True}}}
    with BareClient(project, capabilities=capabilities) as client:
        client.open("model.py")
        client.diagnostics("model.py", 1)
        (action,) = actions(client, "model.py", 1, ["source.fixAll.fullgraph"])
        assert "edit" not in action
        (change,) = client.request("codeAction/resolve", action)["edit"]["documentChanges"]
        assert change["textDocument"] == {"uri": client.uri("model.py"), "version": 1}
        assert applied(models.MODEL, change["edits"]) != models.MODEL


def test_hover_tells_of_the_rule(client):
    client.open("model.py")
    client.diagnostics("model.py", 1)
    at = lambda line, character: {"textDocument": {"uri": client.uri("model.py")},  # noqa: E731
                                  "position": {"line": line, "character": character}}
    hover = client.request("textDocument/hover", at(9, 10))
    assert hover["contents"]["kind"] == "markdown" and "## What it does" in hover["contents"]["value"]
    assert hover["range"]["start"] == {"line": 9, "character": 8}
    assert client.request("textDocument/hover", at(9, 2)) is None
    assert client.request("textDocument/hover", {"textDocument": {"uri": "file:///nowhere.py"},
                                                 "position": {"line": 0, "character": 0}}) is None


# Mistakes ------------------------------------------------------------------------------------------------------------


def test_edits_that_make_no_sense_change_nothing(client):
    client.open("model.py", version=5)
    before = client.diagnostics("model.py", 5)
    client.change("model.py", 4, "late")
    client.change("model.py", 5, "the same version")
    client.change("nowhere.py", 9, "not open")
    client.notify("textDocument/didChange", {"textDocument": {"uri": client.uri("model.py"), "version": 6},
                                             "contentChanges": [{"range": {"start": 3}, "text": "x"}]})
    client.notify("textDocument/didChange", {"textDocument": {"uri": client.uri("model.py"), "version": 6}})
    client.notify("textDocument/didChange", [1, 2])
    client.notify("textDocument/didClose", {"textDocument": {"uri": client.uri("nowhere.py")}})
    client.change("model.py", 7, edit((99, 0), (99, 9), "# the end"))
    assert client.diagnostics("model.py", 7) == before


@pytest.mark.parametrize("sent, code", [
    (b"Content-Length: 5\r\n\r\n{oops", -32700), (b"Content-Length: 2\r\n\r\n[]", -32600),
    (b"Content-Length: 4\r\n\r\nnull", -32600), (b"Content-Length: x\r\n\r\n", -32600),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", -32600), (b"Content-Length: 14\r\n\r\n{\"a\":\"\\ud800\"}  ", -32700),
    (b"Content-Length: 8\r\n\r\n{\"id\":1}", -32600), (b"Content-Length: 15\r\n\r\n{\"id\":{},\"b\":\xff}", -32700)])
def test_what_is_no_message_is_answered_and_passed_over(client, sent, code):
    client.raw(sent)
    answer = client.wait(lambda m: "error" in m)
    assert answer["error"]["code"] == code
    client.open("model.py")
    assert client.diagnostics("model.py", 1) != []


def test_requests_that_are_wrong(client):
    for method, params, code in [("no/such", {}, -32601), ("textDocument/hover", {}, -32602),
                                 ("textDocument/codeAction", {"range": 5}, -32602), ("initialize", {}, -32600),
                                 ("textDocument/diagnostic", [], -32602),
                                 ("workspace/executeCommand", {"command": "rm"}, -32602)]:
        assert client.answer(client.begin(method, params))["error"]["code"] == code, method
    client.notify("$/whatever", {})
    client.send({"jsonrpc": "2.0", "id": 77, "result": "nobody asked"})
    assert client.request("textDocument/hover", {"textDocument": {"uri": "x"}, "position": {"line": 0, "character": 0}}) is None


def test_requests_are_cancelled(project):
    with BareClient(project, capabilities=PULL) as client:
        client.open("model.py")
        for _ in range(20):
            number = client.begin("workspace/diagnostic", {"previousResultIds": []})
            client.notify("$/cancelRequest", {"id": number})
            answer = client.answer(number)
            assert "result" in answer or answer["error"]["code"] == -32800
        client.notify("$/cancelRequest", {"id": "nothing"})


def test_traces(client):
    client.notify("$/setTrace", {"value": "verbose"})
    client.open("model.py")
    told = client.wait(lambda m: m.get("method") == "$/logTrace")
    assert "looked at" in told["params"]["message"] and "roots traced" in told["params"]["verbose"]
    client.notify("$/setTrace", {"value": "off"})
    client.change("model.py", 2, models.MODEL)
    client.diagnostics("model.py", 2)
    client.received.clear()
    client.change("model.py", 3, models.MODEL)
    client.diagnostics("model.py", 3)
    assert not any(m.get("method") == "$/logTrace" for m in client.received)


def test_progress_of_what_takes_long(project):
    with BareClient(project, capabilities={**PUSH, "window": {"workDoneProgress": True}}) as client:
        client.open("model.py")
        created = client.wait(lambda m: m.get("method") == "window/workDoneProgress/create")
        client.send({"jsonrpc": "2.0", "id": created["id"], "result": None})
        ended = client.wait(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "end")
        assert ended["params"]["token"] == created["params"]["token"]


def test_a_huge_file(client):
    text = models.MODEL + "# " + "x" * 3_000_000 + "\n" + "y = 1\n" * 20_000
    client.open("model.py", text)
    assert client.diagnostics("model.py", 1) != []
    client.change("model.py", 2, edit((10, 0), (10, 0), "\n"))
    assert client.diagnostics("model.py", 2) != []


# Life ----------------------------------------------------------------------------------------------------------------


def test_the_end(project):
    with BareClient(project) as client:
        assert client.request("shutdown", None) is None
        assert client.answer(client.begin("textDocument/hover", {}))["error"]["code"] == -32600
        client.notify("exit", None)
        assert client.process.wait(10) == 0
    with BareClient(project) as client:
        client.notify("exit", None)
        assert client.process.wait(10) == 1
    with BareClient(project) as client:
        client.process.stdin.close()
        assert client.process.wait(10) == 1
    with BareClient(project) as client:
        client.request("shutdown", None)
        client.process.stdin.close()
        assert client.process.wait(10) == 0


def test_nothing_is_answered_before_the_beginning(project):
    with BareClient(project, start=False) as client:
        assert client.answer(client.begin("textDocument/hover", {}))["error"]["code"] == -32002
        client.open("model.py")  # is dropped
        client.notify("exit", None)
        assert client.process.wait(10) == 1


def test_an_editor_that_is_gone_leaves_nothing_behind(project):
    client = BareClient(project)
    client.open("model.py")
    client.diagnostics("model.py", 1)
    for version in range(2, 30):
        client.change("model.py", version, models.MODEL + "#" * version)
    client.process.stdin.close()
    client.process.wait(20)
    left = []
    for _ in range(50):  # what was killed takes a moment to go
        left = [p for p in pathlib.Path("/proc").glob("[0-9]*/cwd") if os.path.exists(p) and p.resolve() == project]
        if not left:
            break
        time.sleep(0.1)
    assert left == []


def test_lsp_is_another_name(project):
    done = subprocess.run([PROGRAM, "lsp", "--stdio"], input=b"", cwd=project, timeout=20)
    assert done.returncode == 1
