import assert from "node:assert/strict";
import { test } from "node:test";

import { allRules, codesAt, findRule, page } from "../src/rules";
import { program, realProgram, scratch, withoutProgram } from "./scratch";

const range = (line: number, from: number, to: number) => ({ start: { line, character: from }, end: { line, character: to } });

test("the codes under the cursor, else those of its line; each once; of other linters none", () => {
  const found = [
    { range: range(3, 4, 10), source: "fullgraph", code: { value: "FG101" } },
    { range: range(3, 4, 8), source: "fullgraph", code: "FG101" },
    { range: range(3, 8, 20), source: "fullgraph", code: "FG501" },
    { range: range(3, 4, 10), source: "Ruff", code: "F401" },
    { range: range(9, 0, 5), source: "fullgraph" },
  ];
  assert.deepEqual(codesAt(found, { line: 3, character: 5 }), ["FG101"]);
  assert.deepEqual(codesAt(found, { line: 3, character: 8 }), ["FG101", "FG501"]);
  assert.deepEqual(codesAt(found, { line: 3, character: 0 }), ["FG101", "FG501"]);
  assert.deepEqual(codesAt(found, { line: 4, character: 0 }), []);
  assert.deepEqual(codesAt(found, { line: 9, character: 2 }), []);
});

test("a program that lists no rules is told by its name", async () => {
  await assert.rejects(allRules(program(scratch(), "{}"), [], process.env), /does not list its rules/);
  await assert.rejects(allRules("/nonexistent/fullgraph", [], process.env), /\/nonexistent\/fullgraph rule/);
});

test("the real program's rules have pages", { skip: withoutProgram }, async () => {
  const rules = await allRules(realProgram as string, [], process.env);
  const rule = findRule(rules, "fg101 ");
  assert.equal(rule, findRule(rules, "requires-grad-assignment"));
  assert.ok(rule !== undefined);
  assert.match(page(rule), /^# requires-grad-assignment \(FG101\)\n[^]*\n## Why is this bad\?\n/);
  assert.equal(findRule(rules, "FG999"), undefined);
});
