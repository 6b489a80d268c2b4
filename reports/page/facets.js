// The overview beside the list: how many findings there are of each kind. A click filters; counts are what a click
// would show.
const tally = (findings, key) => {
  const out = new Map();
  for (const finding of findings) out.set(key(finding), (out.get(key(finding)) || 0) + 1);
  return [...out].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
};

const toggle = (set, value) => {
  if (!set.delete(value)) set.add(value);
  update();
};

const bar = (label, count, most, properties) => {
  const out = el("button", {type: "button", className: "bar", ...properties}, el("span", {className: "label"}, ...label), el("span", {className: "count"}, number(count)));
  out.style.setProperty("--size", 100 * count / most);
  return out;
};

const facet = (title, ...children) => el("section", {className: "facet"}, el("h3", null, title), ...children);

const severityFacet = () => {
  const counts = new Map(tally(selected("severities"), finding => finding.severity));
  const fixable = selected("fixable").filter(finding => finding.isFixable).length;
  return facet("Severity", el("div", {className: "pills"}, ...severities.filter(severity => counts.has(severity) || wanted.severities.has(severity)).map(severity =>
    el("button", {type: "button", className: "chip " + severity, ariaPressed: String(wanted.severities.has(severity)), onclick: () => toggle(wanted.severities, severity)},
      `${severity} `, el("span", {className: "count"}, number(counts.get(severity) || 0)))),
    fixable === 0 && !wanted.fixable ? null : el("button", {type: "button", className: "chip good", ariaPressed: String(wanted.fixable), onclick: () => { wanted.fixable = !wanted.fixable; update(); }},
      "with a fix ", el("span", {className: "count"}, number(fixable)))));
};

const ruleFacet = () => {
  const counts = tally(selected("codes"), finding => finding.code);
  for (const code of wanted.codes) if (!counts.some(([one]) => one === code)) counts.push([code, 0]);
  const most = Math.max(1, ...counts.map(([, count]) => count));
  return facet("Rules", ...counts.map(([code, count]) => bar([el("b", null, code), ` ${report.rules[code].name}`], count, most,
    {title: report.rules[code].summary.replaceAll("`", ""), ariaPressed: String(wanted.codes.has(code)), onclick: () => toggle(wanted.codes, code)})));
};

const shownFolders = 12;
let allFolders = false;
const openFolder = folder => {
  wanted.folder = folder;
  allFolders = false;
  update();
};

const folderFacet = () => {
  const names = wanted.folder === "" ? [] : wanted.folder.split("/");
  const crumbs = el("div", {className: "crumbs"}, el("button", {type: "button", onclick: () => openFolder(""), disabled: wanted.folder === ""}, "all"),
    ...names.map((name, at) => [" / ", el("button", {type: "button", onclick: () => openFolder(names.slice(0, at + 1).join("/")), disabled: at + 1 === names.length}, name)]));
  const depth = names.length;
  const counts = tally(selected("folder").filter(finding => isBelow(finding.place, wanted.folder) && finding.place !== wanted.folder),
    finding => finding.place.split("/").slice(0, depth + 1).join("/"));
  const most = Math.max(1, ...counts.map(([, count]) => count));
  const shown = allFolders ? counts : counts.slice(0, shownFolders);
  const isFile = new Set(report.findings.map(finding => finding.place));
  return facet("Folders", wanted.folder === "" ? null : crumbs, ...shown.map(([place, count]) =>
    bar([place.split("/").slice(depth).join("/") + (isFile.has(place) ? "" : "/")], count, most, {title: place, onclick: () => openFolder(place)})),
    shown.length === counts.length ? null : el("button", {type: "button", className: "rest", onclick: () => { allFolders = true; drawFacets(); }}, `${number(counts.length - shown.length)} more`));
};

const drawFacets = () => {
  // What was clicked is drawn anew: whoever works with keys goes on from there.
  const focused = by("facets").contains(document.activeElement) ? [...by("facets").querySelectorAll("button")].indexOf(document.activeElement) : -1;
  by("facets").replaceChildren(severityFacet(), ruleFacet(), folderFacet());
  if (focused >= 0) by("facets").querySelectorAll("button")[focused]?.focus({preventScroll: true});
};
