// SPDX-License-Identifier: Apache-2.0
// The picture of the graph. From afar it is one path for each colour; near, only the nodes in view exist.
const NEAR = 0.42;  // the scale from which nodes have text
const READABLE = 0.85;  // the least scale of a page that opens
const PAD = 10, BEND = 24, STRIP = 14, LOW = 420;  // pixels: beside and above the graph, of the strip, least height

class GraphView {
  constructor(nodes, onChoose) {
    this.nodes = nodes;
    this.onChoose = onChoose;
    this.layers = orderLayers(nodes);
    this.columns = [];
    this.long = [];
    for (const node of nodes)
      for (const next of node.after)
        if (next.layer - node.layer > 3) this.long.push([node, next]);
    this.chosen = null;
    this.hits = [];
    this.at = {x: 0, y: 0, scale: 1};
    this.edges = draw("g");
    this.boxes = draw("g");
    this.marks = draw("g");
    this.world = draw("g", {}, this.edges, this.boxes, this.marks);
    const tip = draw("marker", {id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto"},
      draw("path", {d: "M0 0.5L8 4L0 7.5z"}));
    this.svg = draw("svg", {
      tabindex: "0",
      role: "application",
      id: "graph-view",
      "aria-label":
        "The graph. Arrow keys move, plus and minus zoom, 0 shows all, n and p go to the next and previous " +
        "node with something to say; with a node chosen, arrow keys go along the graph."
    },
      tip, this.world);
    this.scaleText = make("span", {class: "scale", "aria-hidden": "true"});
    this.strip =
      draw("svg", {class: "strip", viewBox: "0 0 10 1000", preserveAspectRatio: "none", "aria-hidden": "true"});
    this.element = make("div", {class: "canvas"}, make("div", {class: "sheet"}, this.svg, this.strip, this.scaleText));
    this.listen();
    new ResizeObserver(() => this.resized()).observe(this.element);
  }

  size() { return {width: this.svg.clientWidth || 800, height: this.svg.clientHeight || 500}; }

  // The size within which the graph is shown whole, beside the strip.
  room(height = this.size().height) {
    return {width: this.size().width - STRIP - 2 * PAD, height: height - 2 * BEND};
  }

  // Makes the picture as high as the graph at the greatest scale that shows its width, within the window.
  stretch() {
    const most = Math.max(LOW, 0.85 * innerHeight), legend = this.element.clientHeight - this.size().height;
    const room = this.room(most - legend);
    this.columns = fold(this.layers, room, READABLE);
    const b = this.bounds(), scale = Math.min(1.2, room.width / b.right);
    const wanted = scale < READABLE ? most : scale * b.bottom + 2 * BEND + legend + 2;
    this.element.parentElement.style.setProperty("--tall", `${Math.max(LOW, Math.min(most, wanted))}px`);
  }

  resized() {
    if (this.paper) return;
    const turned = this.windowWidth !== innerWidth;
    this.windowWidth = innerWidth;
    if (turned) return this.open();
    if (this.chosen && !this.isSeen(this.chosen)) return this.center(this.chosen, this.at.scale);
    this.render();
  }

  isSeen(node) {
    const {x, y, scale} = this.at, size = this.size(), left = x + scale * node.x, top = y + scale * node.y;
    return left >= 0 && top >= 0 && left + scale * BOX.width <= size.width && top + scale * BOX.height <= size.height;
  }

  bounds() {
    const rows = Math.max(...this.columns.map((column) => column.end - column.first), 1);
    return {
      right: Math.max(BOX.width, this.columns[this.columns.length - 1]?.right || 0),
      bottom: rows * (BOX.height + BOX.gapY) - BOX.gapY
    };
  }

  fit() {
    const room = this.room(), b = this.bounds();
    const scale = Math.min(1.2, room.width / b.right, room.height / b.bottom);
    this.at = {scale, x: PAD + (room.width - scale * b.right) / 2, y: BEND + (room.height - scale * b.bottom) / 2};
    this.render();
  }

  // The whole graph if its labels can be read, else the part around the chosen node, the worst, or the first.
  open() {
    this.stretch();
    this.mode = "";
    this.fit();
    if (this.at.scale >= READABLE || !this.nodes.length) return;
    this.center(this.chosen || this.worst()[0] || this.layers[0][0], READABLE);
  }

  worst() {
    return this.nodes.filter((node) => node.state.weight > 0)
      .sort((a, b) => b.state.weight - a.state.weight || a.index - b.index);
  }

  // Shows a node in the middle, or as near to it as the ends of the graph allow.
  center(node, scale = Math.max(this.at.scale, NEAR * 1.6)) {
    const room = this.room(), b = this.bounds();
    const place = (middle, length, most, pad) =>
      pad + (length < most ? (most - length) / 2 : Math.min(0, Math.max(most - length, most / 2 - middle)));
    this.at = {
      scale,
      x: place(scale * (node.x + BOX.width / 2), scale * b.right, room.width, PAD),
      y: place(scale * (node.y + BOX.height / 2), scale * b.bottom, room.height, BEND)
    };
    this.render();
  }

  zoom(factor, x, y) {
    const size = this.size(), at = this.at;
    if (x === undefined) x = size.width / 2, y = size.height / 2;
    const scale = Math.max(0.002, Math.min(4, at.scale * factor));
    this.at = {scale, x: x - ((x - at.x) * scale) / at.scale, y: y - ((y - at.y) * scale) / at.scale};
    this.render();
  }

  pan(dx, dy) {
    this.at.x += dx;
    this.at.y += dy;
    this.render();
  }

  //---- Drawing --------------------------------------------------------------

  render() {
    if (this.waiting || !this.windowWidth || this.paper) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      if (!this.paper) this.paint();
    });
  }

  paint() {
    const at = this.at, size = this.size();
    this.world.setAttribute("transform", `translate(${at.x} ${at.y}) scale(${at.scale})`);
    this.scaleText.textContent = `${Math.round(at.scale * 100)} %`;
    const view = {left: -at.x / at.scale, top: -at.y / at.scale};
    view.right = view.left + size.width / at.scale;
    view.bottom = view.top + size.height / at.scale;
    if (at.scale < NEAR)
      this.paintFar();
    else
      this.paintNear(view);
    this.paintMarks();
    this.paintStrip(view);
    this.element.dataset.mode = this.mode;
    this.svg.dataset.nodes = this.boxes.childElementCount;
    this.svg.dataset.scale = at.scale.toFixed(4);
  }

  // The strip at the right edge is the whole graph, a line for each layer with the look of its worst node.
  paintStrip(view) {
    const step = 1000 / Math.max(1, this.layers.length);
    if (!this.stripLines) {
      const byLook = new Map();
      this.layers.forEach((nodes, i) => {
        const worst =
          nodes.reduce((a, b) => (b.state.weight > a.state.weight ? b : a), nodes[0] || {state: {look: "none"}});
        const look = worst.state.look;
        if (look !== "none" && look !== "ok")
          byLook.set(look, `${byLook.get(look) || ""}M0 ${i * step}h10v${Math.max(step, 1.5)}h-10z`);
      });
      this.stripLines = Array.from(byLook, ([look, d]) => draw("path", {class: `far s-${look}`, d}));
    }
    const seen = this.inView(view).map((node) => node.layer);
    const top = step * seen.reduce((a, b) => Math.min(a, b), this.layers.length);
    const bottom = step * (1 + seen.reduce((a, b) => Math.max(a, b), -1));
    const height = Math.max(seen.length && 4, bottom - top);
    this.strip.replaceChildren(
      ...this.stripLines, draw("rect", {x: 0, y: top, width: 10, height: Math.max(0, height)}));
  }

  paintFar() {
    if (this.mode === "far") return;
    this.mode = "far";
    const byLook = new Map();
    let edges = "";
    for (const node of this.nodes) {
      const look = node.state.look;
      byLook.set(look, `${byLook.get(look) || ""}M${node.x} ${node.y}h${BOX.width}v${BOX.height}h${- BOX.width}z`);
      for (const next of node.after) edges += edgePath(node, next);
    }
    this.edges.replaceChildren(draw("path", {class: "edge", d: edges, "vector-effect": "non-scaling-stroke"}));
    this.boxes.replaceChildren(...Array.from(byLook, ([look, d]) => draw("path", {class: `far s-${look}`, d})));
  }

  inView(view) {
    const step = BOX.height + BOX.gapY, found = [];
    const top = Math.max(0, Math.floor(view.top / step) - 1), bottom = Math.ceil(view.bottom / step);
    for (const column of this.columns) {
      if (column.right < view.left || column.left > view.right) continue;
      for (let i = column.first + top; i <= Math.min(column.end - 1, column.first + bottom); i++)
        for (const node of this.layers[i])
          if (node.x + BOX.width >= view.left && node.x <= view.right) found.push(node);
    }
    return found;
  }

  paintNear(view) {
    this.mode = "near";
    const nodes = this.inView(view), paths = [], told = new Set();
    const add = (from, to) => {
      const key = from.index * this.nodes.length + to.index;
      if (told.has(key)) return;
      told.add(key);
      const near = from === this.chosen || to === this.chosen;
      paths.push(draw("path", {class: near ? "edge near" : "edge", d: edgePath(from, to), "marker-end": "url(#tip)"}));
    };
    for (const node of nodes) {
      for (const before of node.before) add(before, node);
      for (const next of node.after) add(node, next);
    }
    for (const [from, to] of this.long)
      if (from.column === to.column && from.y < view.bottom && to.y > view.top) add(from, to);
    this.edges.replaceChildren(...paths);
    const hits = new Set(this.hits);
    this.boxes.replaceChildren(...nodes.map((node) => this.box(node, hits.has(node))));
  }

  box(node, hit) {
    const kind =
      `node s-${node.state.look}${node.io ? " io" : ""}${hit ? " hit" : ""}${node === this.chosen ? " chosen" : ""}`;
    const op = node.op || node.io || "not read", made = node.io ? node.value : model.values[node.outputs[0]];
    const shape = made && made.shape ? made.shape.join("×") : "";
    const scale = scaleText(node);
    const title = `${node.name}${node.op ? ` (${node.op})` : ""}${scale && `, ${scale}`}: ${node.state.text}`;
    return draw("g", {class: kind, transform: `translate(${node.x} ${node.y})`}, draw("title", {}, title),
      draw("rect", {width: BOX.width, height: BOX.height, rx: node.io ? 20 : 5}),
      draw("text", {class: "op", x: 10, y: 16}, shorten(op, 22)),
      op.length + shape.length < 20 && draw("text", {class: "shape", x: BOX.width - 8, y: 16, "text-anchor": "end"}, shape),
      draw("text", {class: "name", x: 10, y: 32}, shorten(node.name, scale ? 24 - scale.length : 22)),
      scale && draw("text", {class: "scales", x: BOX.width - 8, y: 32, "text-anchor": "end"}, scale));
  }

  // From afar, rings show the chosen node and those found.
  paintMarks() {
    const marks = [], pad = 4 / this.at.scale;
    const ring = (node, kind) => marks.push(draw("rect", {
      class: kind,
      x: node.x - pad,
      y: node.y - pad,
      rx: pad,
      width: BOX.width + 2 * pad,
      height: BOX.height + 2 * pad
    }));
    if (this.mode === "far") {
      for (const node of this.hits.slice(0, 400)) ring(node, "mark found");
      if (this.chosen) ring(this.chosen, "mark");
    }
    this.marks.replaceChildren(...marks);
  }

  recolour() {
    this.mode = "";
    this.stripLines = null;
    this.render();
  }

  //---- Choosing -------------------------------------------------------------

  choose(node, move = true) {
    this.chosen = node;
    if (node && move)
      this.center(node);
    else
      this.render();
    this.onChoose(node);
  }

  find(text) {
    const wanted = text.trim().toLowerCase();
    this.hits = wanted ?
      this.nodes.filter((node) => [node.op, ...namesOf(node)].some((name) => name.toLowerCase().includes(wanted))) :
      [];
    this.render();
    return this.hits;
  }

  nodeAt(x, y) {
    const at = this.at, wx = (x - at.x) / at.scale, wy = (y - at.y) / at.scale;
    const inside = (node) => wx >= node.x && wx <= node.x + BOX.width && wy >= node.y && wy <= node.y + BOX.height;
    return this.inView({left: wx, right: wx, top: wy, bottom: wy}).find(inside) || null;
  }

  follow(step) {
    const list = this.nodes.filter((node) => node.state.weight > 0);
    if (!list.length) return;
    const from = this.chosen ? this.chosen.index : step > 0 ? -1 : Infinity;
    const next = step > 0 ? list.find((node) => node.index > from) : list.findLast((node) => node.index < from);
    this.choose(next || (step > 0 ? list[0] : list[list.length - 1]));
  }

  walk(key) {
    const node = this.chosen, layer = this.layers[node.layer], i = layer.indexOf(node);
    const next = {ArrowUp: node.before[0],
      ArrowDown: node.after[0],
      ArrowLeft: layer[i - 1],
      ArrowRight: layer[i + 1]}[key];
    if (next) this.choose(next);
  }

  //---- Mouse and keyboard ---------------------------------------------------

  listen() {
    const svg = this.svg, pointers = new Map();
    const place = (event) => {
      const box = svg.getBoundingClientRect();
      return {x: event.clientX - box.left, y: event.clientY - box.top};
    };
    let moved = 0;
    svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      const p = place(event);
      this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), p.x, p.y);
    }, {passive: false});
    svg.addEventListener("pointerdown", (event) => {
      svg.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, place(event));
      moved = 0;
    });
    svg.addEventListener("pointermove", (event) => {
      const last = pointers.get(event.pointerId), now = place(event);
      if (!last) return;
      moved += Math.abs(now.x - last.x) + Math.abs(now.y - last.y);
      if (pointers.size === 2) {
        const [a, b] = pointers.values(), other = last === a ? b : a;
        const before = Math.hypot(last.x - other.x, last.y - other.y),
              after = Math.hypot(now.x - other.x, now.y - other.y);
        if (before && after) this.zoom(after / before, (now.x + other.x) / 2, (now.y + other.y) / 2);
      } else if (moved > 4) {
        svg.classList.add("drag");
        this.pan(now.x - last.x, now.y - last.y);
      }
      pointers.set(event.pointerId, now);
    });
    const up = (event) => {
      const p = place(event), click = pointers.delete(event.pointerId) && moved <= 4;
      svg.classList.remove("drag");
      if (click && event.type === "pointerup") this.choose(this.nodeAt(p.x, p.y), false);
    };
    svg.addEventListener("pointerup", up);
    svg.addEventListener("pointercancel", up);
    svg.addEventListener("keydown", (event) => this.press(event));
    const jump = (event) => {
      const box = this.strip.getBoundingClientRect(), share = (event.clientY - box.top) / box.height;
      const layer = this.layers[Math.min(this.layers.length - 1, Math.floor(share * this.layers.length))];
      if (event.buttons & 1 && layer && layer.length) this.center(layer[0], this.at.scale);
    };
    this.strip.addEventListener("pointerdown", jump);
    this.strip.addEventListener("pointermove", jump);
  }

  press(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const pans = {ArrowLeft: [80, 0], ArrowRight: [-80, 0], ArrowUp: [0, 80], ArrowDown: [0, -80]};
    const keys = {
      "+": () => this.zoom(1.3),
      "=": () => this.zoom(1.3),
      "-": () => this.zoom(1 / 1.3),
      0: () => this.fit(),
      n: () => this.follow(1),
      p: () => this.follow(-1),
      Escape: () => this.choose(null)
    };
    if (pans[event.key] && this.chosen && !event.shiftKey)
      this.walk(event.key);
    else if (pans[event.key])
      this.pan(...pans[event.key]);
    else if (keys[event.key])
      keys[event.key]();
    else
      return;
    event.preventDefault();
  }
}
