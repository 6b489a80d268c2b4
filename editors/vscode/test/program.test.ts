import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import * as path from "node:path";
import { test } from "node:test";

import {
  argumentsBefore,
  expand,
  findProgram,
  isOlder,
  minimumVersion,
  missingMessage,
  serverEnvironment,
  tooOldMessage,
  versionOf,
  type Places,
} from "../src/program";
import { program, realProgram, scratch, withoutProgram } from "./scratch";

const places = (more: Partial<Places>): Places => ({
  setting: "",
  environment: { PATH: "" },
  platform: "linux",
  ...more,
});

test("the setting goes before the environment, and that before PATH", () => {
  const folder = scratch();
  const set = program(path.join(folder, "set"));
  const selected = program(path.join(folder, "venv", "bin"));
  const common = program(path.join(folder, "usr"));
  const all = places({
    setting: set,
    python: path.join(folder, "venv", "bin", "python"),
    environment: { PATH: `/nonexistent:${path.join(folder, "usr")}` },
  });
  assert.deepEqual(findProgram(all), { path: set, from: "setting" });
  assert.deepEqual(findProgram({ ...all, setting: " " }), { path: selected, from: "environment" });
  assert.deepEqual(findProgram({ ...all, setting: "", python: "/nonexistent/python" }), { path: common, from: "PATH" });
});

test("a setting that is wrong is told, not passed over", () => {
  const folder = scratch();
  program(path.join(folder, "usr"));
  const found = findProgram(places({ setting: "/nonexistent/fullgraph", environment: { PATH: path.join(folder, "usr") } }));
  assert.deepEqual(found, { why: "setting", looked: ["/nonexistent/fullgraph"] });
  assert.match(missingMessage(found as never), /not at \/nonexistent\/fullgraph.*fullgraph\.path/);
});

test("settings: relative to the workspace, with variables, or a bare name that is looked for in PATH", () => {
  const folder = scratch();
  const tool = program(path.join(folder, "tools"));
  const uv = program(path.join(folder, "usr"), "", "uv");
  for (const setting of ["tools/fullgraph", "./tools/fullgraph", "${workspaceFolder}/tools/fullgraph", "${env:WHERE}/tools/fullgraph"])
    assert.deepEqual(findProgram(places({ setting, folder, environment: { WHERE: folder } })), { path: tool, from: "setting" });
  assert.deepEqual(findProgram(places({ setting: "uv", environment: { PATH: path.join(folder, "usr") } })), { path: uv, from: "setting" });
  assert.equal(expand("~/x", places({})), path.join(homedir(), "x"));
  assert.equal(expand("a~/x", places({})), "a~/x");
});

test("what cannot be run is not found: folders, files without the right, relative entries of PATH", () => {
  const folder = scratch();
  mkdirSync(path.join(folder, "one", "fullgraph"), { recursive: true });
  mkdirSync(path.join(folder, "two"));
  writeFileSync(path.join(folder, "two", "fullgraph"), "", { mode: 0o644 });
  program(path.join(folder, "three"));
  const relative = path.relative(process.cwd(), path.join(folder, "three"));
  const found = findProgram(
    places({
      python: "/nonexistent/bin/python",
      environment: { PATH: [path.join(folder, "one"), path.join(folder, "two"), relative, ""].join(":") },
    }),
  );
  assert.deepEqual(found, { why: "nowhere", looked: ["/nonexistent/bin", "PATH"] });
  assert.match(missingMessage(found as never), /looked in \/nonexistent\/bin, then in PATH.*pip.*fullgraph\.path/);
});

test("versions compare by number", () => {
  assert.ok(isOlder("0.9.3", "0.10.0"));
  assert.ok(isOlder("0.1", "0.1.1"));
  for (const version of ["0.10.0", "0.10", "0.10.0rc1", "1.0", "0.11.0"]) assert.ok(!isOlder(version, "0.10.0"), version);
});

test("a program that answers otherwise has no version, and the message says what to look at", async () => {
  const folder = scratch();
  assert.equal(await versionOf(program(path.join(folder, "a"), "fullgraph 0.0.1"), [], process.env), undefined);
  assert.equal(await versionOf(program(path.join(folder, "b"), '{"version": "0.0.9"}'), [], process.env), "0.0.9");
  assert.equal(await versionOf("/nonexistent", [], process.env), undefined);
  assert.match(tooOldMessage("/x", undefined), /fullgraph\.path/);
  assert.match(tooOldMessage("/x", "0.0.9"), new RegExp(`is fullgraph 0\\.0\\.9; .*${minimumVersion}`));
});

test("arguments of a program that starts fullgraph stay in front of other commands", () => {
  assert.deepEqual(argumentsBefore(["server"]), []);
  assert.deepEqual(argumentsBefore(["run", "fullgraph", "server", "--stdio"]), ["run", "fullgraph"]);
  assert.deepEqual(argumentsBefore(["-m", "fullgraph", "lsp"]), ["-m", "fullgraph"]);
  assert.deepEqual(argumentsBefore([]), []);
});

test("the selected environment is the server's activated one", () => {
  assert.deepEqual(serverEnvironment({ A: "1", VIRTUAL_ENV: "/old" }, "/new"), { A: "1", VIRTUAL_ENV: "/new" });
  assert.deepEqual(serverEnvironment({ A: "1" }, undefined), { A: "1" });
});

test("the real program is new enough", { skip: withoutProgram }, async () => {
  const version = await versionOf(realProgram as string, [], process.env);
  assert.ok(version !== undefined && !isOlder(version, minimumVersion), version);
});
