// The page as a whole: the head, the two views, the keys, the address of a finding.
let view = "findings";
let openRoot = null;

const setAddress = finding => {
  try {
    history.replaceState(null, "", "#" + finding.fingerprint);
  } catch {
    // Some hosts show pages where an address cannot be set.
  }
};

const drawActive = count => {
  by("active").replaceChildren(...(isFiltered() ? [`${number(count)} of ${counted(report.findings.length, "finding")}`,
    el("button", {type: "button", className: "rest", onclick: clearFilters}, "Clear filters")] : []));
};

const update = () => {
  const findings = selected();
  const roots = view === "roots" || isFiltered() ? selectedRoots() : null;
  drawFacets();
  drawActive(findings.length);
  by("findings").hidden = view !== "findings";
  by("roots").hidden = view !== "roots";
  for (const name of ["findings", "roots"]) by("show-" + name).setAttribute("aria-pressed", view === name);
  by("show-findings").querySelector(".count").textContent = number(findings.length);
  by("show-roots").querySelector(".count").textContent = number(roots === null ? report.roots.length : roots.length);
  if (view === "findings") return showFindings(findings);
  for (const entry of roots) entry.open = roots.length === 1 || entry.root === openRoot;
  rootList.show(roots, nothing);
};

const clearFilters = () => {
  wanted.words = [];
  wanted.severities.clear();
  wanted.codes.clear();
  Object.assign(wanted, {folder: "", fixable: false});
  by("search").value = "";
  update();
};

const show = name => {
  view = name;
  update();
};

const showRoot = root => {
  view = "roots";
  openRoot = root;
  wanted.words = [report.roots[root].toLowerCase()];
  by("search").value = report.roots[root];
  update();
  by("search").scrollIntoView({block: "center"});
};

const search = () => {
  openRoot = null;
  wanted.words = by("search").value.toLowerCase().split(/\s+/).filter(word => word !== "");
  update();
};

// ---------------------------------------------------------------------------------------------------------------------
// Keys
// ---------------------------------------------------------------------------------------------------------------------
const rows = () => [...by(view).querySelectorAll(".head, .root > summary, .node > summary")].filter(row => row.offsetParent !== null);

const focusRow = row => {
  row.focus({preventScroll: true});
  row.scrollIntoView({block: "nearest"});
};

const step = distance => {
  let all = rows();
  const here = document.activeElement.closest(".item")?.firstElementChild || document.activeElement;
  let at = all.indexOf(here);
  if (at < 0) at = distance > 0 ? -1 : 1;
  if (at + distance >= all.length && (view === "findings" ? findingList : rootList).more()) all = rows();
  const next = all[Math.max(0, Math.min(all.length - 1, at + distance))];
  if (next) focusRow(next);
};

const close = () => {
  const inside = document.activeElement.closest(".item.open");
  if (inside) {
    inside.setOpen(false);
    return focusRow(inside.firstElementChild);
  }
  const node = document.activeElement.closest("details[open]");
  if (node && by(view).contains(node)) {
    node.open = false;
    return focusRow(node.firstElementChild);
  }
  if (isFiltered()) clearFilters();
};

const keys = {
  j: () => step(1),
  k: () => step(-1),
  t: () => show(view === "findings" ? "roots" : "findings"),
  "/": () => by("search").select(),
  Escape: close,
};

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === by("search")) {
    if (event.key === "Escape" && by("search").value === "") by("search").blur();
    else if (event.key === "Escape") { by("search").value = ""; search(); }
    else if (event.key === "Enter") { by("search").blur(); step(1); }
    else return;
    return event.preventDefault();
  }
  const act = Object.hasOwn(keys, event.key) ? keys[event.key] : null;
  if (act === null) return;
  event.preventDefault();
  act();
});

// ---------------------------------------------------------------------------------------------------------------------
// What is there at the beginning
// ---------------------------------------------------------------------------------------------------------------------
const drawHead = () => {
  by("headline").textContent = report.findings.length === 0 ? "No findings" : counted(report.findings.length, "finding");
  const counts = new Map(tally(report.findings, finding => finding.severity));
  by("severities").replaceChildren(...severities.filter(one => counts.has(one)).map(one =>
    el("span", {className: "severity " + one}, one === "info" ? `${number(counts.get(one))} info` : counted(counts.get(one), one))));
  const aside = [`in ${counted(report.files, "file")}`, report.traced ? counted(report.traced, "root") : "", report.fixed ? `${number(report.fixed)} fixed` : "",
    report.suppressed ? `${number(report.suppressed)} suppressed` : "", report.baselined ? `${number(report.baselined)} in the baseline` : ""];
  by("about").replaceChildren(aside.filter(Boolean).join(" · "), ...(base ? [el("br"), "Paths are below ", el("code", null, base)] : []));
  by("made").textContent = `Made by fullgraph ${report.version} for torch ${report.torch}.`;
  by("errors").replaceChildren(...report.errors.map(error => el("div", {className: "failure"}, el("span", {className: "chip bad"}, "error"), " ",
    error.path === undefined ? null : places(error.path, error.line), " ", ...quoted(error.message))));
};

// The finding that the address names.
const showAddressed = () => {
  const print = location.hash.slice(1);
  const at = print === "" ? -1 : findingList.entries.findIndex(entry => entry.finding && entry.finding.fingerprint === print);
  if (at < 0) return;
  findingList.drawUpTo(at);
  const shown = [...by("findings").querySelectorAll(".item")].find(one => one.finding.fingerprint === print);
  shown.setOpen(true);
  shown.firstElementChild.focus({preventScroll: true});
  shown.scrollIntoView({block: "start"});
};

let waiting = 0;
by("search").addEventListener("input", () => {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(search);
});
by("show-findings").addEventListener("click", () => show("findings"));
by("show-roots").addEventListener("click", () => show("roots"));
const narrow = matchMedia("(max-width: 60rem)");
const fold = () => { by("overview").open = !narrow.matches; };
narrow.addEventListener("change", fold);
fold();
by("app").hidden = false;
drawHead();
update();
showAddressed();
addEventListener("hashchange", showAddressed);
