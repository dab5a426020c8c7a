// SPDX-License-Identifier: Apache-2.0
// The profile: how far results are off along the depth of the graph, on a logarithmic scale.

const LEAST_ERROR = 1e-9;  // smaller errors are drawn at the base line

const asNumber = (x) => (x === "Infinity" ? Infinity : typeof x === "number" ? x : null);
const greatest = (numbers) => {
  const known = numbers.filter((x) => x !== null);
  return known.length ? Math.max(...known) : null;
};

// For a node {error, own, aside}: the error of its results when each target runs the whole graph; true if the node
// adds to it; true for a constant, which is beside the line. null: not compared.
function comparedPoint(node) {
  const values = node.results.filter((value) => chosenPairs(value).length);
  const pairs = values.flatMap(chosenPairs);
  if (!pairs.length) return null;
  const own = pairs.some((pair) => pair.different > 0), share = (value) => (pair) => pair.different_overall / value.elements;
  const errors = model.realErrors ? pairs.map((pair) => asNumber(pair.relative_error_overall)) :
                                    values.flatMap((value) => chosenPairs(value).map(share(value)));
  return {error: greatest(errors), own, aside: !node.spine};
}

const errorOf = (ratio) => (ratio === "Infinity" ? 0 : typeof ratio === "number" ? 10 ** (-ratio / 20) : null);

const WORST_LOOKS = ["heat3", "heat4", "heat5"];

function explainedPoint(node) {
  if (!node.accuracy || errorOf(node.accuracy.total) === null) return null;
  return {error: errorOf(node.accuracy.total), own: WORST_LOOKS.includes(node.state.look), aside: node.accuracy.kind === "weights"};
}

const PROFILES = {
  compare: {
    title: "Differences along the depth",
    point: comparedPoint,
    label: () => (model.realErrors ? "relative error" : "share of elements that differ"),
    marks: "differs by itself",
  },
  explain: {
    title: "Error along the depth",
    point: explainedPoint,
    label: () => "relative error",
    marks: "costs most",
  },
};

// True if a float value differs: codes have no relative error, and are then left out.
const hasRealErrors = () => report.compare.values.some(
  (value) => value.pairs.some((pair) => asNumber(pair.relative_error_overall) > 0));

class Profile {
  constructor(layers, onChoose) {
    this.kind = PROFILES[report.command];
    this.onChoose = onChoose;
    this.nodes = layers.flat();
    this.place = new Map(this.nodes.map((node, i) => [node, i]));
    this.chosen = null;
    if (report.compare) model.realErrors = hasRealErrors();
    this.element = make("div", {class: "chart profile"});
    new ResizeObserver(() => this.paint()).observe(this.element);
  }

  // The points of the chosen target, by place.
  points() {
    return this.nodes.map((node, i) => ({node, i, ...this.kind.point(node)}))
      .filter((one) => one.error !== null && one.error !== undefined || one.own);
  }

  mark(node) {
    this.chosen = node;
    this.paint();
  }

  nearest(x) {
    const at = ((x - this.left) / (this.right - this.left)) * (this.nodes.length - 1);
    return this.told.reduce((best, one) => (Math.abs(one.i - at) < Math.abs(best.i - at) ? one : best), this.told[0]);
  }

  paint(width = this.element.clientWidth - 20) {
    const height = 132, top = 10, base = 96;
    if (width <= 0) return;
    const points = this.points(), errors = points.map((one) => one.error).filter((x) => x > 0 && x < Infinity);
    const low = Math.floor(Math.log10(Math.max(LEAST_ERROR, Math.min(...errors, 0.1)))), high =
      Math.max(low + 1, Math.ceil(Math.log10(Math.max(LEAST_ERROR, ...errors))));
    this.left = 46, this.right = width - 8, this.told = points;
    const across = (i) => this.left + (i / Math.max(1, this.nodes.length - 1)) * (this.right - this.left);
    const up = (error) => {
      const share = error > 0 ? (Math.log10(Math.min(error, 10 ** high)) - low) / (high - low) : 0;
      return base - Math.max(0, share) * (base - top);
    };
    const every = Math.ceil((high - low) / 4), grid = [];
    for (let e = high; e >= low; e -= every)
      grid.push(draw("line", {class: "grid", x1: this.left, x2: this.right, y1: up(10 ** e), y2: up(10 ** e)}),
        draw("text", {x: this.left - 6, y: up(10 ** e) + 4, "text-anchor": "end"}, e === 0 ? "1" : `1e${e}`));
    const label = this.kind.label();
    this.element.replaceChildren(draw("svg", {
      viewBox: `0 0 ${width} ${height}`,
      height,
      role: "img",
      "aria-label": `${label} of ${plural(points.length, "node")} in the order of the graph`,
      click: (event) => this.press(event),
    },
      grid, this.line(points, across, up), this.dots(points, across, up, base), this.cursor(across, top, base + 14),
      draw("text", {x: this.left, y: height - 6}, "input"),
      draw("text", {x: (this.left + this.right) / 2, y: height - 6, "text-anchor": "middle"}, `${label}, by node`),
      draw("text", {x: this.right, y: height - 6, "text-anchor": "end"}, "output")));
  }

  // At most a point for each pixel: the greatest error there.
  line(points, across, up) {
    const columns = new Map();
    for (const {i, error, aside} of points) {
      if (error === null || error === undefined || aside) continue;
      const x = Math.round(across(i));
      columns.set(x, Math.max(error, columns.get(x) ?? 0));
    }
    const path = Array.from(columns, ([x, error], k) => `${k ? "L" : "M"}${x} ${up(error).toFixed(1)}`);
    return draw("path", {class: "steps", d: path.join("")});
  }

  // A mark for each node that differs by itself, below the line, and a dot on the line where few nodes have room.
  dots(points, across, up, base) {
    const step = (this.right - this.left) / Math.max(1, this.nodes.length), wide = Math.max(1, Math.min(4, step)), made = [];
    for (const {node, i, error, own} of points) {
      const x = across(i), known = error !== null && error !== undefined;
      const title = () => draw("title", {}, `${node.name} (${node.op}): ${known ? `${this.kind.label()} ${round3(error)}; ` : ""}${
                                              node.state.text}`);
      if (known && step >= 4)
        made.push(draw("circle", {class: "point", cx: x.toFixed(1), cy: up(error).toFixed(1), r: own ? 4 : 2.5}, title()));
      if (own)
        made.push(draw("rect", {class: "own", x: (x - wide / 2).toFixed(1), y: base + 4, width: wide.toFixed(1), height: 10}, title()));
    }
    return made;
  }

  cursor(across, top, bottom) {
    if (!this.chosen || !this.place.has(this.chosen)) return null;
    const x = across(this.place.get(this.chosen));
    return draw("line", {class: "cursor", x1: x, x2: x, y1: top, y2: bottom});
  }

  press(event) {
    const svg = this.element.firstChild, box = svg.getBoundingClientRect();
    const one = this.told.length && this.nearest(event.clientX - box.left);
    if (one) this.onChoose(one.node);
  }
}

function showProfile(layers, onChoose) {
  const kind = PROFILES[report.command];
  if (!kind || (report.explain && !hasAccuracy())) return null;
  const profile = new Profile(layers, onChoose);
  if (!profile.points().some((one) => one.error > 0)) return null;
  section("profile", kind.title, profile.element,
    make("p", {class: "muted"}, make("i", {class: "own-mark"}), ` ${kind.marks}. `,
      make("span", {class: "hint"}, "A click chooses the node in the graph.")));
  model.listeners.push(() => profile.paint());
  return profile;
}
