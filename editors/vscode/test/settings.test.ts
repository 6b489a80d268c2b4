import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { answers, needsRestart, serverSettings } from "../src/settings";
import { realProgram, withoutProgram } from "./scratch";

const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const declared: Record<string, { default?: unknown }> = manifest.contributes.configuration.properties;

// Keys of configuration files that are of no use to an editor: what they change is the command line's report and
// whether it writes, the file itself, or C++ sources, which the server leaves to `fullgraph check`.
const commandLineOnly = new Set(
  "fix fix-only show-fixes output-format force-exclude target-version extend required-version compile-commands extra-arg".split(" "),
);
const serversOwn = ["diagnosticMode", "configuration", "fixAll", "suppressionActions", "jobs"];
const extensionsOwn = ["enable", "path", "args", "trace.server"];

const camel = (name: string) => name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

test("the server is told what is set, without what is the extension's own", () => {
  const section = { path: "/x", args: ["server"], enable: true, trace: { server: "off" }, mode: "eval", ignore: null, torchVersion: "", select: [], unsafeFixes: false };
  assert.deepEqual(serverSettings(section), { mode: "eval", select: [], unsafeFixes: false });
  for (const nothing of [undefined, null, "x", [1]]) assert.deepEqual(serverSettings(nothing), {});
});

test("only answers about the section are changed", () => {
  const items = [{ section: "fullgraph" }, { section: "editor" }, {}];
  assert.deepEqual(answers(items, [{ path: "/x", mode: "train" }, { path: "/y" }, 1]), [{ mode: "train" }, { path: "/y" }, 1]);
});

test("by default nothing goes over the configuration files", () => {
  const section: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(declared)) section[name.replace("fullgraph.", "").replace(".server", "")] = setting.default;
  assert.deepEqual(Object.keys(serverSettings(section)).sort(), ["diagnosticMode", "fixAll", "jobs", "suppressionActions"]);
});

test("what needs a restart is declared", () => {
  for (const name of needsRestart) assert.ok(name in declared, name);
});

test("the declared settings are the program's keys", { skip: withoutProgram }, () => {
  const keys: { name: string }[] = JSON.parse(
    execFileSync(realProgram as string, ["config", "--output-format", "json"], { encoding: "utf8" }),
  );
  const wanted = keys.map((key) => key.name).filter((name) => !commandLineOnly.has(name)).map(camel);
  assert.deepEqual(
    Object.keys(declared).map((name) => name.replace("fullgraph.", "")).sort(),
    [...wanted, ...serversOwn, ...extensionsOwn].sort(),
  );
});
