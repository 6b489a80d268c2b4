// The extension as a whole, with stand-ins for the editor and for the client that lives in it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as path from "node:path";
import { beforeEach, test } from "node:test";

import { activate, deactivate } from "../src/extension";
import { clients } from "./client_stub";
import { program, realProgram, scratch, withoutProgram } from "./scratch";
import { state } from "./vscode_stub";

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const context = () => ({ subscriptions: [] }) as never;
const run = (name: string, ...given: unknown[]) => state.commands.get(name)?.(...given);
const changed = (...names: string[]) =>
  state.configured?.({ affectsConfiguration: (asked: string) => asked === "fullgraph" || names.includes(asked) });

beforeEach(async () => {
  await deactivate();
  clients.length = 0;
  Object.assign(state, { settings: {}, trusted: true, python: undefined, folder: undefined, editor: undefined });
  Object.assign(state, { diagnostics: [], answer: undefined, choice: () => undefined, shown: 0 });
  state.executed.length = state.messages.length = state.log.length = 0;
  process.env["PATH"] = "/usr/bin:/bin";
});

test("starts the server that the setting names, and tells it the settings", async () => {
  const folder = scratch();
  state.folder = folder;
  state.settings = { path: program(path.join(folder, "bin")), mode: "eval", ignore: null };
  await activate(context());
  assert.equal(clients.length, 1);
  const client = clients[0]!;
  assert.deepEqual([client.server.command, client.server.args, client.server.options.cwd], [state.settings["path"], ["server"], folder]);
  assert.deepEqual(client.options.initializationOptions, { mode: "eval" });
  assert.deepEqual(
    await client.options.middleware.workspace.configuration({ items: [{ section: "fullgraph" }] }, undefined, async () => [state.settings]),
    [{ mode: "eval" }],
  );
  assert.deepEqual(state.messages, []);
  await deactivate();
  assert.ok(!client.running);
});

test("registers the commands that it contributes, all of them and no others", async () => {
  await activate(context());
  const contributed = manifest.contributes.commands.map((one: { command: string }) => one.command);
  assert.deepEqual([...state.commands.keys()].sort(), contributed.sort());
});

test("takes the selected environment's program, and makes that environment the server's", async () => {
  const folder = scratch();
  const first = program(path.join(folder, "one", "bin"));
  const second = program(path.join(folder, "two", "bin"));
  state.python = { interpreter: path.join(folder, "one", "bin", "python"), prefix: path.join(folder, "one") };
  await activate(context());
  assert.deepEqual([clients[0]?.server.command, clients[0]?.server.options.env["VIRTUAL_ENV"]], [first, path.join(folder, "one")]);

  state.python = { interpreter: path.join(folder, "two", "bin", "python"), prefix: path.join(folder, "two") };
  state.selected?.();
  for (let i = 0; i < 200 && clients.length < 2; ++i) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual([clients[0]?.running, clients[1]?.server.command], [false, second]);
});

test("an untrusted workspace selects no program", async () => {
  const folder = scratch();
  program(path.join(folder, "bin"));
  state.python = { interpreter: path.join(folder, "bin", "python"), prefix: folder };
  state.trusted = false;
  await activate(context());
  assert.equal(clients.length, 0);
});

test("says what to do when there is no program, or one that is too old", async () => {
  state.answer = "Open Settings";
  await activate(context());
  assert.match(state.messages[0] ?? "", /was not found \(looked in PATH\)/);
  await new Promise(setImmediate);
  assert.deepEqual(state.executed, [["workbench.action.openSettings", "fullgraph.path"]]);

  state.settings = { path: program(scratch(), '{"version": "0.0.9"}') };
  await changed("fullgraph.path");
  assert.match(state.messages[1] ?? "", /is fullgraph 0\.0\.9/);
  assert.equal(clients.length, 0);

  state.answer = "Show Output";
  await run("fullgraph.fixFile");
  assert.equal(state.shown, 0);
});

test("does not start when it is disabled, and starts when it is enabled", async () => {
  state.settings = { enable: false, path: program(scratch()) };
  await activate(context());
  assert.deepEqual([clients.length, state.messages.length], [0, 0]);
  state.settings["enable"] = true;
  await changed("fullgraph.enable");
  assert.equal(clients.length, 1);
});

test("a setting of another type is told, and does not keep later starts from being made", async () => {
  state.settings = { path: 5 };
  await activate(context());
  assert.equal(state.messages.length, 1);
  state.settings = { path: program(scratch()) };
  await changed("fullgraph.path");
  assert.equal(clients.length, 1);
});

test("a changed setting is told to the server; a changed program is started", async () => {
  state.settings = { path: program(scratch()) };
  await activate(context());
  await changed("fullgraph.mode");
  assert.deepEqual(clients[0]?.sent, [["workspace/didChangeConfiguration", { settings: null }]]);
  await changed("fullgraph.args");
  await run("fullgraph.restart");
  assert.deepEqual(clients.map((one) => one.running), [false, false, true]);
});

test("fix all in file asks the server for the open file", async () => {
  state.settings = { path: program(scratch()) };
  await activate(context());
  await run("fullgraph.fixFile");
  assert.match(state.messages[0] ?? "", /open the Python file/);
  state.editor = { document: { languageId: "python", uri: { toString: () => "file:///a.py" } } };
  await run("fullgraph.fixFile");
  assert.deepEqual(clients[0]?.sent, [
    ["workspace/executeCommand", { command: "fullgraph.applyAutofix", arguments: [{ uri: "file:///a.py" }] }],
  ]);
});

test("explains a rule: by name, under the cursor, or the chosen one", { skip: withoutProgram }, async () => {
  state.settings = { path: realProgram };
  await activate(context());
  const shown = () => (state.executed.at(-1) as [string, { scheme: string; path: string }])[1];

  await run("fullgraph.explainRule", "requires-grad-assignment");
  assert.deepEqual([shown().scheme, shown().path], ["fullgraph-rule", "/FG101.md"]);
  assert.match(state.pages?.provideTextDocumentContent(shown()) ?? "", /^# requires-grad-assignment \(FG101\)/);

  const place = { line: 1, character: 2 };
  state.editor = { document: { uri: {} }, selection: { active: place } };
  state.diagnostics = [{ range: { start: place, end: place }, source: "fullgraph", code: { value: "FG201" } }];
  await run("fullgraph.explainRule");
  assert.equal(shown().path, "/FG201.md");

  state.diagnostics = [];
  state.choice = (items) => items.find((item) => item.label === "FG302");
  await run("fullgraph.explainRule");
  assert.equal(shown().path, "/FG302.md");

  await run("fullgraph.explainRule", "FG999");
  assert.deepEqual(state.messages, ["fullgraph: there is no rule FG999."]);
});
