// SPDX-License-Identifier: Apache-2.0
// Places nodes in layers: a node lies below all nodes that it reads. Four passes move each node to the
// middle of its neighbours and keep the order in a layer free of overlaps; each pass sorts the layers.
const BOX = {width: 168, height: 40, gapX: 26, gapY: 28, gutter: 48};
const WIDE = 48;  // nodes in a layer

function findLayers(nodes) {
  const waiting = new Map(nodes.map((node) => [node, node.before.length]));
  const ready = nodes.filter((node) => node.before.length === 0);
  for (const node of nodes) node.layer = 0;
  for (let i = 0; i < ready.length; i++)
    for (const next of ready[i].after) {
      next.layer = Math.max(next.layer, ready[i].layer + 1);
      waiting.set(next, waiting.get(next) - 1);
      if (waiting.get(next) === 0) ready.push(next);
    }
  // A node that reads none moves down to the first node that reads it.
  for (const node of nodes)
    if (!node.before.length && node.after.length) node.layer = Math.min(...node.after.map((next) => next.layer)) - 1;
  return splitWide(nodes);
}

// A layer with more nodes than a screen shows becomes several of about the same size.
function splitWide(nodes) {
  const layers = [], split = [];
  for (const node of nodes) (layers[node.layer] = layers[node.layer] || []).push(node);
  for (const layer of Array.from(layers, (one) => one || [])) {
    const rows = Math.max(1, Math.ceil(layer.length / WIDE)), size = Math.max(1, Math.ceil(layer.length / rows));
    for (let i = 0; i < rows; i++) split.push(layer.slice(i * size, (i + 1) * size));
  }
  split.forEach((layer, i) => layer.forEach((node) => (node.layer = i)));
  return split;
}

const middle = (nodes) => nodes.reduce((sum, node) => sum + node.x, 0) / nodes.length;

function spreadLayer(layer, wish) {
  const step = BOX.width + BOX.gapX;
  const order = layer.map((node) => ({node, at: wish(node)}));
  order.sort((a, b) => a.at - b.at || Boolean(b.node.spine) - Boolean(a.node.spine) || a.node.index - b.node.index);
  let right = -Infinity, moved = 0, count = 0;
  const spine = layer.some((node) => node.spine);
  for (const one of order) {
    one.node.x = Math.max(one.at, right + step);
    right = one.node.x;
    if (spine && !one.node.spine) continue;
    moved += one.node.x - one.at, count++;
  }
  // Pushing to the right is shared by both sides. Weights give way: a chain of products goes straight down.
  for (const one of order) one.node.x -= moved / count;
  layer.splice(0, layer.length, ...order.map((one) => one.node));
}

function orderLayers(nodes) {
  const layers = findLayers(nodes);
  for (const layer of layers) layer.forEach((node, i) => (node.x = i * (BOX.width + BOX.gapX)));
  for (let pass = 0; pass < 4; pass++) {
    const down = pass % 2 === 0;
    for (let i = 0; i < layers.length; i++) {
      const layer = layers[down ? i : layers.length - 1 - i];
      spreadLayer(layer, (node) => {
        const all = down ? node.before : node.after, spine = all.filter((one) => one.spine);
        const near = spine.length ? spine : all;
        return near.length ? middle(near) : node.x;
      });
    }
  }
  for (const node of nodes) node.at = node.x;
  return layers;
}

// The left and right end of the layers from `first` to before `end`, with the curves beside them.
function extent(layers, first, end) {
  let left = Infinity, right = -Infinity;
  for (let i = first; i < end; i++)
    for (const node of layers[i]) {
      left = Math.min(left, node.at), right = Math.max(right, node.at + BOX.width);
      for (const next of node.after)
        if (next.layer < end && bendsAside(node, next, "at")) right = Math.max(right, asideOf(node, next, "at"));
    }
  return left < right ? {left, right} : {left: 0, right: BOX.width};
}

// Cuts layers into columns of `size` layers.
function columnsOf(layers, size) {
  const columns = [];
  for (let first = 0, left = 0; first < layers.length; first += size) {
    const end = Math.min(layers.length, first + size), ends = extent(layers, first, end);
    const width = ends.right - ends.left;
    columns.push({first, end, left, right: left + width, shift: left - ends.left});
    left += width + BOX.gutter;
  }
  return columns;
}

const scaleOf = (length, room) => room / Math.max(length, 1);

// A deep graph is folded into columns, as a text is: whole if its labels can then be read in the room, else as wide
// as the room if it is a few screens deep, else so that the whole of it has the form of a screen.
function layersInColumn(layers, room, readable) {
  const step = BOX.height + BOX.gapY, all = extent(layers, 0, layers.length), width = all.right - all.left;
  let best = layers.length, most = 0, wide = layers.length;
  for (let count = 1; count <= 24 && count <= layers.length; count++) {
    const size = Math.ceil(layers.length / count), columns = columnsOf(layers, size);
    const across = scaleOf(columns[columns.length - 1].right, room.width);
    const scale = Math.min(1.2, across, scaleOf(size * step, room.height));
    if (scale > most) best = size, most = scale;
    if (across >= readable) wide = size;
  }
  if (most >= readable) return best;
  if (wide * step * readable < 4 * room.height) return wide;
  if (layers.length * step < 5 * width || layers.length < 80) return layers.length;
  const columns = Math.sqrt((1.7 * layers.length * step) / (Math.min(width, 4 * BOX.width) + BOX.gutter));
  return Math.max(40, Math.ceil(layers.length / Math.max(1, Math.round(columns))));
}

// Sets x and y of all nodes for a room {width, height}. Returns the columns with the numbers of their layers.
function fold(layers, room, readable) {
  const columns = columnsOf(layers, layersInColumn(layers, room, readable));
  columns.forEach((column, number) => {
    for (let i = column.first; i < column.end; i++)
      for (const node of layers[i]) {
        node.x = node.at + column.shift;
        node.y = (i - column.first) * (BOX.height + BOX.gapY);
        node.column = number;
      }
  });
  return columns;
}

// A curve to a node of another column goes up in the gutter on its left.
function gutterPath(x1, y1, x2, y2, to) {
  const gutter = to.x - BOX.gutter / 2, bend = 20;
  return `M${x1} ${y1}C${x1} ${y1 + bend} ${gutter} ${y1 + bend} ${gutter} ${y1}L${gutter} ${y2}` +
    `C${gutter} ${y2 - bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
}

const bendsAside = (from, to, key) => to.layer - from.layer > 1 && Math.abs(from[key] - to[key]) <= BOX.width;
// The x of a curve that passes layers beside its two nodes, which are at `key`.
const asideOf = (from, to, key) => Math.max(from[key], to[key]) + BOX.width + 14 + Math.min(30, 4 * (to.layer - from.layer));

// A curve from the bottom of one node to the top of another. One that passes layers bends aside.
function edgePath(from, to) {
  const x1 = from.x + BOX.width / 2, y1 = from.y + BOX.height, x2 = to.x + BOX.width / 2, y2 = to.y;
  if (from.column !== to.column) return gutterPath(x1, y1, x2, y2, to);
  if (!bendsAside(from, to, "x")) {
    const half = (y1 + y2) / 2;
    return `M${x1} ${y1}C${x1} ${half} ${x2} ${half} ${x2} ${y2}`;
  }
  const aside = asideOf(from, to, "x");
  return `M${x1} ${y1}C${x1} ${y1 + 22} ${aside} ${y1 + 8} ${aside} ${y1 + 34}L${aside} ${y2 - 34}` +
    `C${aside} ${y2 - 8} ${x2} ${y2 - 22} ${x2} ${y2}`;
}
