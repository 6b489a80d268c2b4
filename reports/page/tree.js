// Call trees: how each root gets to its findings. Calls that go one way only stand together.
const treeOf = reached => {
  const top = {children: new Map(), findings: [], unknown: []};
  for (const [finding, calls] of reached) {
    if (calls === null) {
      top.unknown.push(finding);
      continue;
    }
    let at = top;
    calls.forEach((call, step) => {
      const callee = step + 1 < calls.length ? report.calls[calls[step + 1]][2] : finding.function;
      const key = call + ":" + callee;
      if (!at.children.has(key)) at.children.set(key, {calls: [[call, callee]], children: new Map(), findings: []});
      at = at.children.get(key);
    });
    at.findings.push(finding);
  }
  return top;
};

const joined = node => {
  while (node.findings.length === 0 && node.children.size === 1) {
    const [child] = node.children.values();
    node = {...child, calls: [...node.calls, ...child.calls]};
  }
  return node;
};

const countIn = node => node.findings.length + [...node.children.values()].reduce((sum, child) => sum + countIn(child), 0);

const branches = (node, open) => [el("ul", null, ...node.findings.map(finding => el("li", null, item(finding, true))),
  ...[...node.children.values()].map(joined).map(child => el("li", null, lazy({className: "node"},
    [el("div", {className: "calls"}, ...child.calls.map(([call, callee]) => callLine(call, callee))), el("span", {className: "count"}, number(countIn(child)))],
    () => branches(child, open), open))))];

const manyFindings = 40;
const drawRoot = entry => {
  const counts = severities.map(severity => [severity, entry.reached.filter(([finding]) => finding.severity === severity).length]).filter(([, count]) => count !== 0);
  return lazy({className: "root"}, [rootName(report.roots[entry.root]), el("span", {className: "counts"},
    ...counts.map(([severity, count]) => el("span", {className: "chip " + severity, title: counted(count, severity)}, number(count))))],
    () => {
      const top = treeOf(entry.reached);
      const unknown = top.unknown.length === 0 ? [] : [el("p", {className: "quiet"}, "Also reached, on a way that is not known:"), ...top.unknown.map(finding => item(finding, true))];
      return [el("div", {className: "tree"}, ...branches(top, entry.reached.length <= manyFindings), ...unknown)];
    }, entry.open === true);
};
const rootList = new LongList(by("roots"), drawRoot, 100);

// Roots that a search names are shown with all they get to, others with what the search finds.
const selectedRoots = () => {
  const out = [];
  report.roots.forEach((name, root) => {
    const isNamed = holdsAll(rootTexts[root]);
    const findings = reachedFrom(root).filter(([finding]) => passes(finding) && (isNamed || holdsAll(finding.text)));
    if (findings.length !== 0) out.push({root, reached: findings});
  });
  return out.sort((a, b) => b.reached.length - a.reached.length || (report.roots[a.root] < report.roots[b.root] ? -1 : 1));
};
