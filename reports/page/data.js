// The report, and which of its findings are asked for. Its texts are anybody's: they only ever become text nodes.
const report = JSON.parse(document.getElementById("data").textContent);
const severities = ["error", "warning", "hazard", "info"];

const el = (tag, properties, ...children) => {
  const out = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("aria")) out.setAttribute("aria-" + name.slice(4).toLowerCase(), value);
    else if (name in out) out[name] = value;
    else out.setAttribute(name, value === true ? "" : value);
  }
  out.append(...children.flat(2).filter(child => child !== null && child !== undefined && child !== ""));
  return out;
};
const by = id => document.getElementById(id);
const number = value => String(value).replace(/\B(?=(\d{3})+$)/g, ",");
const counted = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;

// The folder that all findings are in: it is said once, and left out of every other path.
const base = (() => {
  let common = null;
  for (const path of new Set(report.findings.map(finding => report.paths[finding.path]))) {
    const names = path.split("/").slice(0, -1);
    if (common === null) common = names;
    let same = 0;
    while (same < common.length && common[same] === names[same]) ++same;
    common = common.slice(0, same);
  }
  return (common || []).join("/");
})();
const short = report.paths.map(path => base && path.startsWith(base + "/") ? path.slice(base.length + 1) : path);

for (const finding of report.findings) {
  finding.place = short[finding.path];
  finding.isFixable = (finding.fixes || []).some(fix => fix.hunks.length !== 0);
  // What a search looks at: what is shown of a finding while it is closed, and the marked code.
  finding.text = [finding.code, report.rules[finding.code].name, finding.severity, finding.message, report.paths[finding.path],
    report.functions[finding.function], finding.when, finding.gb, ...finding.frame.map(row => row[2])].join("\n").toLowerCase();
}
const rootTexts = report.roots.map(root => root.toLowerCase());

const wanted = {words: [], severities: new Set(), codes: new Set(), folder: "", fixable: false};

const isBelow = (place, folder) => folder === "" || place === folder || place.startsWith(folder + "/");
// Do the filters let it pass, all but the one named `except`?
const passes = (finding, except) =>
  (except === "severities" || wanted.severities.size === 0 || wanted.severities.has(finding.severity)) &&
  (except === "codes" || wanted.codes.size === 0 || wanted.codes.has(finding.code)) &&
  (except === "folder" || isBelow(finding.place, wanted.folder)) &&
  (except === "fixable" || !wanted.fixable || finding.isFixable);
const holdsAll = text => wanted.words.every(word => text.includes(word));
const selected = except => report.findings.filter(finding => passes(finding, except) && holdsAll(finding.text));
const isFiltered = () =>
  wanted.words.length + wanted.severities.size + wanted.codes.size !== 0 || wanted.folder !== "" || wanted.fixable;

// For each root the findings that it gets to: [finding, calls], the calls null where they are not known.
let reached = null;
const reachedFrom = root => {
  if (reached === null) {
    reached = report.roots.map(() => []);
    for (const finding of report.findings) {
      for (const [from, ...calls] of finding.ways) reached[from].push([finding, calls[0] === null ? null : calls]);
    }
  }
  return reached[root];
};
