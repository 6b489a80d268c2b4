// Folders and programs that a test makes up, and the real program where the tests were told of it.
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";

export const realProgram = process.env["FULLGRAPH_BIN"];
export const withoutProgram = realProgram === undefined ? "FULLGRAPH_BIN names no program" : false;

export function scratch(): string {
  return mkdtempSync(path.join(tmpdir(), "fullgraph-vscode-"));
}

/** A program of that name in the folder, which prints `text` whatever it is asked. */
export function program(folder: string, text = '{"version": "0.1.0"}', name = "fullgraph"): string {
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, name);
  writeFileSync(file, `#!/bin/sh\ncat <<'END'\n${text}\nEND\n`);
  chmodSync(file, 0o755);
  return file;
}
