// Long lists: what is near the window is drawn, the rest when it is scrolled or stepped to.
class LongList {
  constructor(container, draw, chunk = 60) {
    Object.assign(this, {container, draw, chunk, entries: [], drawn: 0});
    this.end = el("div", {className: "end"});
    new IntersectionObserver(seen => { if (seen.some(one => one.isIntersecting)) this.more(); }, {rootMargin: "1500px"}).observe(this.end);
  }
  show(entries, whenEmpty) {
    this.entries = entries;
    this.drawn = 0;
    this.container.replaceChildren(this.end);
    if (entries.length === 0) this.end.before(whenEmpty());
    this.more();
  }
  // False: nothing is left.
  more(count = this.chunk) {
    if (this.drawn >= this.entries.length) return false;
    const next = this.entries.slice(this.drawn, this.drawn + count);
    this.drawn += next.length;
    this.end.before(...next.map(this.draw));
    // An observer tells of changes only: whoever is still in view must be looked at once more.
    if (this.drawn < this.entries.length) requestAnimationFrame(() => this.isNear() && this.more());
    return true;
  }
  isNear() { return this.end.offsetParent !== null && this.end.getBoundingClientRect().top < innerHeight + 1500; }
  drawUpTo(index) { while (this.drawn <= index && this.more()); }
}

const nothing = () => el("div", {className: "nothing"}, el("p", null, isFiltered() ? "Nothing matches." : "No findings."),
  isFiltered() ? el("button", {type: "button", onclick: clearFilters}, "Clear all filters") : null);

const fileHead = (path, count) => {
  const at = short[path].lastIndexOf("/") + 1;
  return el("h2", {className: "file"}, el("span", {className: "quiet"}, short[path].slice(0, at)), short[path].slice(at), " ", el("span", {className: "count"}, number(count)));
};

const findingList = new LongList(by("findings"), entry => entry.path === undefined ? item(entry.finding) : fileHead(entry.path, entry.count));

const showFindings = findings => {
  const entries = [];
  let head = null;
  for (const finding of findings) {
    if (head === null || head.path !== finding.path) entries.push(head = {path: finding.path, count: 0});
    ++head.count;
    entries.push({finding});
  }
  findingList.show(entries, nothing);
};
