// The rules' documentation, asked from the program. Knows nothing of the editor.
import { output } from "./program";

export interface Rule {
  code: string;
  name: string;
  summary: string;
  severity: string;
  documentation: string;
}

export async function allRules(
  program: string,
  before: string[],
  environment: NodeJS.ProcessEnv,
): Promise<Rule[]> {
  const said: unknown = JSON.parse(await output(program, [...before, "rule", "--output-format", "json"], environment));
  if (!Array.isArray(said)) throw new Error(`${program} does not list its rules`);
  return said as Rule[];
}

/** By code or by name. */
export function findRule(rules: Rule[], wanted: string): Rule | undefined {
  const lower = wanted.trim().toLowerCase();
  return rules.find((rule) => rule.code.toLowerCase() === lower || rule.name.toLowerCase() === lower);
}

/** A page in Markdown. */
export function page(rule: Rule): string {
  return `# ${rule.name} (${rule.code})\n\n${rule.summary}. Severity: ${rule.severity}.\n\n${rule.documentation}`;
}

interface Position {
  line: number;
  character: number;
}

interface Found {
  range: { start: Position; end: Position };
  source?: string | undefined;
  code?: string | number | { value: string | number } | undefined;
}

function isBefore(left: Position, right: Position): boolean {
  return left.line < right.line || (left.line === right.line && left.character < right.character);
}

/** The codes of the findings of this server at a place; on no finding, those of its line. */
export function codesAt(diagnostics: readonly Found[], place: Position): string[] {
  const ours = diagnostics.filter((one) => one.source === "fullgraph");
  const here = ours.filter((one) => !isBefore(place, one.range.start) && !isBefore(one.range.end, place));
  const near = ours.filter((one) => one.range.start.line <= place.line && place.line <= one.range.end.line);
  const codes = (here.length > 0 ? here : near).map((one) =>
    String(typeof one.code === "object" ? one.code.value : one.code ?? ""),
  );
  return [...new Set(codes.filter((code) => code !== ""))];
}
