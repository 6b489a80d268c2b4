// The settings of the editor, as the server takes them. Knows nothing of the editor.

/** Settings that are the extension's own business; the server would say that it does not know them. */
const own = new Set(["enable", "path", "args", "trace"]);

export type Settings = Record<string, unknown>;

/** The section `fullgraph` of the editor's configuration → what the server is told. What is not set is left out. */
export function serverSettings(section: unknown): Settings {
  if (typeof section !== "object" || section === null || Array.isArray(section)) return {};
  return Object.fromEntries(
    Object.entries(section).filter(([name, value]) => !own.has(name) && value !== null && value !== undefined && value !== ""),
  );
}

/** The answers to `workspace/configuration`: only what is asked of the section `fullgraph` as a whole is changed. */
export function answers(items: { section?: string }[], results: unknown[]): unknown[] {
  return results.map((result, i) => (items[i]?.section === "fullgraph" ? serverSettings(result) : result));
}

/** Whether a change of these settings needs another server; all others are told to the one that runs. */
export const needsRestart = ["fullgraph.enable", "fullgraph.path", "fullgraph.args"];
