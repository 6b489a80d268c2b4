"""A client library of the protocol: every message that it reads is checked against the protocol's types."""
from __future__ import annotations

import asyncio

import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

import server_models as models
from conftest import PROGRAM


class Client(LanguageClient):
    def __init__(self):
        super().__init__("tests", "1")
        self.published: asyncio.Queue = asyncio.Queue()
        self.applied: list = []

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def _(params: types.PublishDiagnosticsParams):
            self.published.put_nowait(params)

        @self.feature(types.WORKSPACE_APPLY_EDIT)
        def _(params: types.ApplyWorkspaceEditParams):
            self.applied.append(params.edit)
            return types.ApplyWorkspaceEditResult(applied=True)

        @self.feature(types.WORKSPACE_DIAGNOSTIC_REFRESH)
        def _(*_):
            return None

    async def findings(self, uri: str, version: int) -> list[types.Diagnostic]:
        while True:
            params = await asyncio.wait_for(self.published.get(), 30)
            if (params.uri, params.version) == (uri, version):
                return list(params.diagnostics)


async def start(project, **capabilities) -> Client:
    client = Client()
    await client.start_io(str(PROGRAM), "server", cwd=project)
    await client.initialize_async(types.InitializeParams(
        capabilities=types.ClientCapabilities(**capabilities), process_id=None, root_uri=project.as_uri(),
        workspace_folders=[types.WorkspaceFolder(project.as_uri(), "project")]))
    client.initialized(types.InitializedParams())
    client.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(
        uri=(project / "model.py").as_uri(), language_id="python", version=1, text=models.MODEL)))
    return client


async def stop(client: Client) -> None:
    await client.shutdown_async(None)
    client.exit(None)
    await asyncio.wait_for(client.stop(), 20)


def run(test) -> None:
    asyncio.run(asyncio.wait_for(test, 60))


def test_pushed(project):
    async def test():
        client = await start(project, text_document=types.TextDocumentClientCapabilities(
            publish_diagnostics=types.PublishDiagnosticsClientCapabilities(
                related_information=True, version_support=True, code_description_support=True)))
        uri = (project / "model.py").as_uri()
        first = await client.findings(uri, 1)
        assert {"FG301"} <= {d.code for d in first}
        client.text_document_did_change(types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version=2, uri=uri),
            [types.TextDocumentContentChangePartial(
                range=types.Range(types.Position(0, 0), types.Position(0, 0)), text="\n\n")]))
        second = await client.findings(uri, 2)
        assert [d.range.start.line for d in second] == [d.range.start.line + 2 for d in first]
        place = second[-1].range
        actions = await client.text_document_code_action_async(types.CodeActionParams(
            types.TextDocumentIdentifier(uri), place, types.CodeActionContext([second[-1]])))
        assert any(getattr(a, "kind", None) == "quickfix" and a.edit for a in actions)
        hover = await client.text_document_hover_async(types.HoverParams(types.TextDocumentIdentifier(uri), place.start))
        assert hover.contents.kind == types.MarkupKind.Markdown
        await client.workspace_execute_command_async(types.ExecuteCommandParams(
            command="fullgraph.applyAutofix", arguments=[{"uri": uri}]))
        for _ in range(100):
            if client.applied:
                break
            await asyncio.sleep(0.05)
        assert list(client.applied[0].changes) == [uri]
        await stop(client)

    run(test())


@pytest.mark.parametrize("whole", [False, True])
def test_pulled(project, whole):
    async def test():
        client = await start(project, text_document=types.TextDocumentClientCapabilities(
            diagnostic=types.DiagnosticClientCapabilities(related_document_support=True)))
        uri = (project / "model.py").as_uri()
        if whole:
            report = await client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams(previous_result_ids=[]))
            items = next(i for i in report.items if i.uri == uri).items
        else:
            report = await client.text_document_diagnostic_async(
                types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri)))
            items = report.items
        assert "FG301" in {d.code for d in items}
        await stop(client)

    run(test())
