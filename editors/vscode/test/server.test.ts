// The real server, asked as the extension has the editor ask it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import * as path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { createProtocolConnection, type Diagnostic, type WorkspaceEdit } from "vscode-languageserver-protocol/node";

import { codesAt } from "../src/rules";
import { answers, serverSettings } from "../src/settings";
import { realProgram, scratch, withoutProgram } from "./scratch";

const source = `import torch
from torch import nn


class Probe(nn.Module):
    def forward(self, x):
        y = torch.relu(x)
        if self.training:
            y.requires_grad = True
        print(y)
        return y
`;

test("findings, the settings, and the repair of a file", { skip: withoutProgram, timeout: 30_000 }, async () => {
  const folder = scratch();
  const file = path.join(folder, "probe.py");
  writeFileSync(file, source);
  const uri = pathToFileURL(file).href;
  // As VS Code has them: everything that is declared, most of it null.
  const section = { enable: true, path: "", args: ["server"], trace: { server: "off" }, jobs: 0, ignore: ["FG501"], mode: null };

  const server = spawn(realProgram as string, ["server"], { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<number | null>((resolve) => server.on("exit", resolve));
  const connection = createProtocolConnection(server.stdout, server.stdin);
  const said: string[] = [];
  let applied: WorkspaceEdit | undefined;
  const published = new Promise<Diagnostic[]>((resolve) => {
    connection.onNotification("textDocument/publishDiagnostics", (sent: { diagnostics: Diagnostic[] }) => resolve(sent.diagnostics));
  });
  connection.onNotification("window/showMessage", (sent: { message: string }) => void said.push(sent.message));
  connection.onRequest("workspace/configuration", (asked: { items: { section?: string }[] }) => answers(asked.items, asked.items.map(() => section)));
  connection.onRequest("workspace/applyEdit", (asked: { edit: WorkspaceEdit }) => ((applied = asked.edit), { applied: true }));
  connection.listen();

  await connection.sendRequest("initialize", {
    processId: process.pid,
    rootUri: pathToFileURL(folder).href,
    capabilities: { workspace: { configuration: true, workspaceEdit: { documentChanges: true } } },
    initializationOptions: serverSettings(section),
  });
  await connection.sendNotification("initialized", {});
  await connection.sendNotification("textDocument/didOpen", { textDocument: { uri, languageId: "python", version: 1, text: source } });
  const diagnostics = await published;
  assert.deepEqual(diagnostics.map((one) => [one.code, one.range.start.line]), [["FG101", 8]]);  // print is ignored
  assert.deepEqual(codesAt(diagnostics, { line: 8, character: 14 }), ["FG101"]);

  await connection.sendRequest("workspace/executeCommand", { command: "fullgraph.applyAutofix", arguments: [{ uri }] });
  assert.match(JSON.stringify(applied), /is_compiling/);
  assert.deepEqual(said, []);
  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
  assert.equal(await ended, 0);
  connection.dispose();
});
