// SPDX-License-Identifier: Apache-2.0
// The matrix of nodes and columns (rules or causes): rows in groups that open; only rows in view exist.
const ROW = 26;

class Matrix {
  // columns: [{key, title, look}]; cells(node): Map of key to {text, look, weight, title}.
  constructor({columns, cells, onChoose, onColumn}) {
    Object.assign(this, {columns, cells, onChoose, onColumn});
    this.open = new Set();
    this.group = "op";
    this.filter = "";
    this.all = false;
    this.column = null;
    this.head = make("div", {class: "head", role: "row"});
    this.rows = make("div", {class: "rows"});
    this.element = make("div", {
      class: "matrix",
      id: "matrix",
      role: "table",
      tabindex: "0",
      "aria-label": "Nodes and columns",
      scroll: () => this.paint()
    },
      this.head, this.rows);
    this.count = make("span", {class: "muted", id: "matrix-count", role: "status"});
    new ResizeObserver(() => this.paint()).observe(this.element);
    addEventListener("beforeprint", () => this.paint(true));
    addEventListener("afterprint", () => this.paint());
    this.refresh();
  }

  tools() {
    const group = make(
      "select", {id: "matrix-group", "aria-label": "Group rows", change: (e) => this.set({group: e.target.value})}, [
        ["op", "grouped by op"], ["name", "grouped by name"], ["none", "in the order of the graph"],
        ["worst", "worst first"]
      ].map(([value, text]) => make("option", {value}, text)));
    const all = make("label", {},
      make("input", {type: "checkbox", id: "matrix-all", change: (e) => this.set({all: e.target.checked})}),
      " all nodes");
    return make("div", {class: "bar"}, make("input", {
      type: "search",
      id: "matrix-filter",
      placeholder: "Filter: node, op, rule",
      "aria-label": "Filter rows",
      input: (e) => this.set({filter: e.target.value})
    }),
      group, all, make("span", {class: "space"}), this.count);
  }

  set(change) {
    Object.assign(this, change);
    this.element.scrollTop = 0;
    this.refresh();
  }

  //---- Rows -----------------------------------------------------------------

  groupOf(node) {
    if (this.group === "op") return node.op || "no op";
    if (this.group === "name") return node.name.split(/[./:]/)[0].replace(/\d+$/, "") || node.name;
    return "";
  }

  matches(node, cells) {
    const wanted = this.filter.trim().toLowerCase();
    if (this.column && !cells.has(this.column)) return false;
    if (!wanted) return this.all || cells.size > 0;
    if ([node.op, ...namesOf(node)].some((name) => name.toLowerCase().includes(wanted)))
      return this.all || cells.size > 0;
    return [...cells.keys()].some((key) => this.titles.get(key).toLowerCase().includes(wanted));
  }

  refresh() {
    this.titles = new Map(this.columns.map((column) => [column.key, column.title]));
    const groups = new Map(), lines = [];
    let shown = 0;
    for (const node of model.nodes) {
      if (node.io) continue;
      const cells = this.cells(node);
      if (!this.matches(node, cells)) continue;
      const name = this.groupOf(node);
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push({node, cells});
      shown++;
    }
    for (const [name, members] of groups) {
      if (this.group === "worst")
        members.sort((a, b) => b.node.state.weight - a.node.state.weight || a.node.index - b.node.index);
      const grouped = this.group === "op" || this.group === "name";
      if (grouped) lines.push({name, members, cells: this.sum(members)});
      if (!grouped || this.open.has(name) || this.filter) lines.push(...members);
    }
    this.lines = lines;
    this.rows.style.height = `${lines.length * ROW}px`;
    this.count.textContent = `${plural(shown, "node")} of ${number(model.ops + (model.lost || []).length)}`;
    this.paintHead();
    this.paint();
  }

  sum(members) {
    const sums = new Map();
    for (const {cells} of members)
      for (const [key, cell] of cells) {
        const sum = sums.get(key);
        if (!sum)
          sums.set(key, {...cell, nodes: 1});
        else if (cell.weight > sum.weight)
          sums.set(key, {...cell, nodes: sum.nodes + 1});
        else
          sum.nodes++;
      }
    for (const sum of sums.values()) sum.text = number(sum.nodes), sum.title = plural(sum.nodes, "node");
    return sums;
  }

  //---- Drawing --------------------------------------------------------------

  paintHead() {
    this.head.replaceChildren(
      make("div", {class: "label", role: "columnheader"}, make("span", {class: "muted"}, "node")),
      ...this.columns.map((column) => make("div", {class: "cell", role: "columnheader"},
                            make("button", {
                              title: column.about || column.title,
                              "aria-pressed": String(this.column === column.key),
                              click: () => this.onColumn(column.key)
                            },
                              shorten(column.title, 30)))));
  }

  paint(whole) {
    if (!this.lines) return;
    const top = this.element.scrollTop, height = this.element.clientHeight || 560;
    const first = whole ? 0 : Math.max(0, Math.floor((top - 168) / ROW)),
          last = whole ? 400 : Math.ceil((top + height) / ROW);
    const lines = this.lines.slice(first, last);
    this.rows.replaceChildren(...lines.map((line, i) => this.line(line, (first + i) * ROW)));
  }

  line(line, top) {
    const cells = this.columns.map((column) => {
      const cell = line.cells.get(column.key);
      return make("div", {class: "cell", role: "cell"},
        cell && make("i", {class: `s-${cell.look}`, title: cell.title || column.title}, cell.text));
    });
    return make("div", {class: "line", role: "row", style: `top:${top}px`},
      line.members ? this.groupLabel(line) : this.label(line), cells);
  }

  groupLabel({name, members}) {
    const open = this.open.has(name);
    const toggle = () => {
      if (!this.open.delete(name)) this.open.add(name);
      this.refresh();
    };
    return make("div", {class: "label group", role: "rowheader"},
      make("button", {"aria-expanded": String(open), click: toggle}, open ? "▾ " : "▸ ", shorten(name, 36)),
      make("span", {class: "op"}, plural(members.length, "node")));
  }

  label({node}) {
    return make("div", {class: "label", role: "rowheader"},
      make("button", {title: node.name, click: () => this.onChoose(node)}, shorten(node.name, 40)),
      make("span", {class: "op"}, node.op));
  }
}
