// A finding: the row that stands for it, and what opens below it.
const places = (path, line) => el("span", {className: "place"}, line ? `${short[path]}:${line}` : short[path]);

// `Code` stands between backticks.
const quoted = text => text.split("`").map((part, at) => at % 2 === 1 ? el("code", null, part) : part);

const link = (url, ...children) => url && url.startsWith("https://")
  ? el("a", {href: url, target: "_blank", rel: "noopener noreferrer"}, ...children) : el("span", null, ...children);

// What is drawn when it is opened for the first time.
const lazy = (properties, summary, fill, open = false) => {
  const out = el("details", properties, el("summary", null, ...summary));
  const draw = () => {
    if (!out.open || out.filled) return;
    out.filled = true;
    out.append(...fill());
  };
  out.addEventListener("toggle", draw);
  out.open = open;
  draw();
  return out;
};

// Indentation that all of these lines have. It says nothing, and takes room from what does.
const indentation = lines => lines.filter(line => line.trim() !== "").map(line => /^[ \t]*/.exec(line)[0])
  .reduce((a, b) => a === null || a.startsWith(b) ? b : b.startsWith(a) ? a : "", null) || "";

const frame = (rows, kind = "") => {
  const cut = indentation(rows.filter(row => row.length !== 0).map(row => row.slice(1).join(""))).length;
  const lines = rows.map(row => {
    if (row.length === 0) return el("div", {className: "gap"}, el("span", {className: "gutter"}, "⋮"));
    const [line, whole, marked, rest] = row;
    const text = whole.slice(cut);
    return el("div", marked === undefined ? null : {className: "hit"}, el("span", {className: "gutter"}, String(line)),
      el("span", {className: "code"}, text, marked === undefined ? null : el("mark", null, marked), rest || "", "\n"));
  });
  return el("div", {className: "frame " + kind, tabIndex: 0, role: "group", ariaLabel: "Source"}, el("div", null, ...lines));
};

const diff = hunks => hunks.map(hunk => {
  if (hunk === null) return el("p", {className: "quiet"}, "… and more places");
  const signs = {"-": "gone", "+": "new"};
  const cut = 1 + indentation(hunk.lines.map(line => line.slice(1))).length;
  return el("div", {className: "hunk"}, places(hunk.path, hunk.line), el("div", {className: "frame diff", tabIndex: 0, role: "group", ariaLabel: "Change"},
    el("div", null, ...hunk.lines.map(line => el("div", {className: signs[line[0]]},
      el("span", {className: "gutter"}, line[0] === "-" ? "−" : line[0]), el("span", {className: "code"}, line.slice(cut), "\n"))))));
});

// As much Markdown as the rules' documentation needs.
const inline = text => text.split(/(`[^`]*`|\[[^\]]*\]\([^)\s]*\))/).map(part => {
  const target = /^\[([^\]]*)\]\(([^)]*)\)$/.exec(part);
  if (target) return link(target[2], target[1]);
  return part.length > 1 && part.startsWith("`") ? el("code", null, part.slice(1, -1)) : part;
});
const markdown = text => text.split(/^(```[\s\S]*?^```$)/m).flatMap(part => {
  if (part.startsWith("```")) return [el("pre", {tabIndex: 0}, part.replace(/^```.*\n/, "").replace(/\n?```$/, ""))];
  return part.split(/\n{2,}/).map(block => block.trim()).filter(block => block !== "").map(block => {
    if (block.startsWith("#")) return el("h4", null, ...inline(block.replace(/^#+ */, "")));
    if (/^[-*] /.test(block)) return el("ul", null, ...block.split(/\n[-*] /).map(one => el("li", null, ...inline(one.replace(/^[-*] /, "")))));
    return el("p", null, ...inline(block));
  });
});

const fixNames = {safe: ["safe fix", "good"], unsafe: ["unsafe fix", "warn"], display: ["advice", ""]};
const fixCard = fix => {
  const [name, kind] = fixNames[fix.applicability];
  return el("div", {className: "fix"}, el("p", null, el("span", {className: "chip " + kind}, name), " ", ...quoted(fix.message)), ...diff(fix.hunks));
};

// "a.b.Model.forward" with what people look for in bold.
const rootName = name => {
  const own = name.split(".").slice(-2).join(".");
  return el("span", {className: "name"}, el("span", {className: "quiet"}, name.slice(0, name.length - own.length)), own);
};

const callLine = (call, callee) => {
  const [path, line, , text] = report.calls[call];
  return el("div", {className: "call"}, el("code", null, report.functions[callee] || "?"), " ", places(path, line),
    text === "" ? null : el("code", {className: "excerpt"}, text));
};

// The way from one root, and the names of all others.
const wayText = finding => {
  if (finding.ways.length === 0) return [];
  const known = finding.ways.filter(way => way[1] !== null);
  const [root, ...calls] = known.length === 0 ? [finding.ways[0][0]] : known.reduce((a, b) => b.length < a.length ? b : a);
  const others = finding.ways.filter(way => way[0] !== root);
  const button = one => el("button", {type: "button", className: "to-root", title: "Show its call tree", onclick: () => showRoot(one)}, rootName(report.roots[one]));
  const steps = calls.map((call, at) => el("li", null, callLine(call, at + 1 < calls.length ? report.calls[calls[at + 1]][2] : finding.function)));
  return [el("h4", null, "Reached from"), button(root), steps.length === 0 ? null : el("ol", {className: "way"}, ...steps),
    others.length === 0 ? null : lazy({className: "more"}, [`and from ${counted(others.length, "more root")}`],
      () => [el("ul", {className: "others"}, ...others.map(way => el("li", null, button(way[0]))))])].filter(Boolean);
};

const evidences = {confirmed: "A run broke there, too", run: "From a run"};

const body = finding => {
  const rule = report.rules[finding.code];
  const facts = [];
  const fact = (name, ...value) => facts.push(el("dt", null, name), el("dd", null, ...value));
  if (finding.when) fact("When", el("code", null, finding.when));
  fact("In", el("code", null, report.functions[finding.function] || "the module"), " ", el("span", {className: "place"}, `${short[finding.path]}:${finding.line}:${finding.column}`));
  if (finding.gb) fact("Dynamo", link(finding.url, finding.gb));
  else if (finding.url) fact("See", link(finding.url, finding.url.replace("https://", "")));
  if (finding.evidence) fact("Evidence", evidences[finding.evidence]);
  const related = (finding.related || []).flatMap(one => [el("h4", null, ...quoted(one.message)), places(one.path, one.line), frame(one.frame, "related")]);
  const fixes = (finding.fixes || []).map(fixCard);
  return el("div", {className: "body"}, finding.frame.length === 0 ? null : frame(finding.frame, finding.severity), el("dl", null, ...facts),
    ...(fixes.length === 0 ? [] : [el("h4", null, "What to do"), ...fixes]), ...related, ...wayText(finding),
    rule.documentation === "" ? null : lazy({className: "more rule"}, ["About ", el("b", null, finding.code), ` ${rule.name}`], () => markdown(rule.documentation)));
};

// The row and, when it is open, its details.
const item = (finding, withPlace = false) => {
  const name = report.functions[finding.function];
  const head = el("button", {type: "button", className: "head", ariaExpanded: "false"},
    el("span", {className: "line"}, withPlace ? "" : String(finding.line)),
    el("span", {className: "what"}, el("span", {className: "chip " + finding.severity}, finding.code), " ", el("span", {className: "message"}, ...quoted(finding.message)),
      el("span", {className: "where"}, el("span", {className: "severity " + finding.severity}, finding.severity),
        withPlace ? places(finding.path, finding.line) : name ? el("code", null, name) : null,
        finding.isFixable ? el("span", {className: "fixable"}, "has a fix") : null,
        finding.evidence ? el("span", null, evidences[finding.evidence].toLowerCase()) : null,
        finding.when ? el("span", {className: "when"}, "when ", el("code", null, finding.when)) : null)));
  const out = el("div", {className: "item"}, head);
  out.finding = finding;
  out.setOpen = open => {
    head.setAttribute("aria-expanded", open);
    out.classList.toggle("open", open);
    if (open && !out.querySelector(".body")) out.append(body(finding));
    if (open) setAddress(finding);
  };
  head.addEventListener("click", () => out.setOpen(!out.classList.contains("open")));
  return out;
};
