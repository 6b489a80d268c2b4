// Finds the program, and learns whether it is one that this extension can talk to. Knows nothing of the editor.
import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import * as path from "node:path";

/** The first release that the extension was written for. */
export const minimumVersion = "0.1.0";

export interface Places {
  /** The setting `fullgraph.path`. */
  setting: string;
  /** The interpreter of the selected Python environment. */
  python?: string;
  /** The first folder of the workspace. */
  folder?: string;
  environment: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
}

export interface Program {
  path: string;
  from: "setting" | "environment" | "PATH";
}

/** Why there is none, and the places that were looked at. */
export interface Missing {
  why: "setting" | "nowhere";
  looked: string[];
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** `~`, `${workspaceFolder}`, `${userHome}` and `${env:NAME}` in a setting. */
export function expand(text: string, places: Pick<Places, "folder" | "environment">): string {
  return text
    .replace(/^~(?=$|[\\/])/, homedir())
    .replace(/\$\{userHome\}/g, homedir())
    .replace(/\$\{workspaceFolder\}/g, places.folder ?? "")
    .replace(/\$\{env:([^}]+)\}/g, (_, name: string) => places.environment[name] ?? "");
}

function names(places: Places): string[] {
  return places.platform === "win32" ? ["fullgraph.exe", "fullgraph.cmd"] : ["fullgraph"];
}

function inPath(programs: string[], places: Places): string | undefined {
  const folders = (places.environment["PATH"] ?? places.environment["Path"] ?? "").split(path.delimiter);
  for (const folder of folders) {
    // An empty entry means the working directory; whatever lies in an opened folder is not to be run by accident.
    if (!path.isAbsolute(folder)) continue;
    const found = programs.map((name) => path.join(folder, name)).find(isExecutable);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The setting counts alone when it is there: a wrong one is told, never passed over. */
export function findProgram(places: Places): Program | Missing {
  const setting = expand(places.setting.trim(), places);
  if (setting !== "") {
    const bare = !setting.includes("/") && !setting.includes("\\");
    const found = bare ? inPath([setting], places) : path.resolve(places.folder ?? homedir(), setting);
    if (found !== undefined && isExecutable(found)) return { path: found, from: "setting" };
    return { why: "setting", looked: [found ?? `${setting} in PATH`] };
  }
  const looked: string[] = [];
  if (places.python !== undefined) {
    const folder = path.dirname(places.python);
    const found = names(places).map((name) => path.join(folder, name)).find(isExecutable);
    if (found !== undefined) return { path: found, from: "environment" };
    looked.push(folder);
  }
  const found = inPath(names(places), places);
  if (found !== undefined) return { path: found, from: "PATH" };
  return { why: "nowhere", looked: [...looked, "PATH"] };
}

/** The arguments in front of a command: `["run", "fullgraph", "server"]` → `["run", "fullgraph"]`. */
export function argumentsBefore(serverArguments: string[]): string[] {
  const at = Math.max(serverArguments.lastIndexOf("server"), serverArguments.lastIndexOf("lsp"));
  return at < 0 ? [] : serverArguments.slice(0, at);
}

/** What the program prints on stdout. The error names the command and what it said. */
export function output(program: string, parameters: string[], environment: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { env: environment, timeout: 30_000, maxBuffer: 64 << 20 };
    execFile(program, parameters, options, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      reject(new Error(`${[program, ...parameters].join(" ")}: ${stderr.trim() || error.message}`));
    });
  });
}

/** "0.10.0" is newer than "0.9.3"; what follows the numbers ("0.2.0rc1") does not count. */
export function isOlder(version: string, than: string): boolean {
  const numbers = (text: string) => (/^\d+(\.\d+)*/.exec(text)?.[0] ?? "0").split(".").map(Number);
  const [left, right] = [numbers(version), numbers(than)];
  for (let i = 0; i < Math.max(left.length, right.length); ++i) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

/** The version that the program says it has; undefined when it is no fullgraph, or one that does not answer that yet. */
export async function versionOf(
  program: string,
  before: string[],
  environment: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  try {
    const said = JSON.parse(await output(program, [...before, "version", "--output-format", "json"], environment));
    return typeof said.version === "string" ? said.version : undefined;
  } catch {
    return undefined;
  }
}

/** What a person reads when there is no program. */
export function missingMessage(missing: Missing): string {
  if (missing.why === "setting") {
    return `fullgraph is not at ${missing.looked[0]}, where the setting fullgraph.path says. Correct the setting, or empty it to have the program looked for.`;
  }
  return `The program fullgraph was not found (looked in ${missing.looked.join(", then in ")}). Install it into the selected Python environment with pip, or set fullgraph.path.`;
}

export function tooOldMessage(program: string, version: string | undefined): string {
  return version === undefined
    ? `${program} does not answer as fullgraph does (fullgraph version). Check the settings fullgraph.path and fullgraph.args.`
    : `${program} is fullgraph ${version}; the extension needs ${minimumVersion} or newer. Upgrade it, or set fullgraph.path to a newer one.`;
}

/**
 * The environment of the server: as the editor's, and the selected Python environment is the activated one, for that is
 * where the server looks for installed packages and for torch.
 */
export function serverEnvironment(environment: NodeJS.ProcessEnv, prefix: string | undefined): NodeJS.ProcessEnv {
  return prefix === undefined ? environment : { ...environment, VIRTUAL_ENV: prefix };
}
