// SPDX-License-Identifier: Apache-2.0
// The report: the graph, and what the command found about each node.
const report = JSON.parse(document.getElementById("qdq-report").textContent);

const model = {
  values: report.graph.values,
  nodes: [],
  byName: new Map(),
  target: null,  // the chosen target; null: all
  listeners: [],
};

function parseAttributes(text) {
  try {
    return text ? JSON.parse(text) : {};
  } catch {
    return {};
  }
}

function addNode(name, op, more) {
  const node = {
    index: model.nodes.length,
    name,
    op,
    inputs: [],
    outputs: [],
    attrs: {},
    before: [],
    after: [],
    findings: [],
    results: [],
    bits: new Map(),  // target: the group with the least known bits
    part: null,
    state: {look: "none", text: ""},
    ...more
  };
  model.nodes.push(node);
  if (!model.byName.has(name)) model.byName.set(name, node);
  return node;
}

// Inputs of the graph, and values that no node reads, are nodes of the picture without an op.
function addEnds(readers, makers) {
  model.values.forEach((value, id) => {
    if (!value.name || value.constant) return;
    if (!makers.has(id) && readers.has(id)) {
      const input = addNode(value.name, "", {io: "input", value, outputs: [id]});
      makers.set(id, input);
    }
  });
  model.values.forEach((value, id) => {
    if (!value.name || value.constant || readers.has(id) || !makers.has(id) || makers.get(id).io) return;
    if (makers.get(id).outputs[0] !== id && makers.get(id).outputs.some((other) => readers.has(other))) return;
    addNode(value.name, "", {io: "output", value, inputs: [{port: "", id}]});
  });
}

// All names of a node and of its results, ours and those of the file.
function namesOf(node) {
  const values = node.outputs.map((id) => model.values[id]);
  return [node, ...values].flatMap((one) => [one.name, one.original]).filter(Boolean);
}

// Marks the nodes that compute from inputs of the graph; other nodes compute from constants, such as weights. Without
// inputs all nodes are marked.
function markSpine() {
  const inputs = model.nodes.filter((node) => node.io === "input"), reached = inputs.length ? [...inputs] : [...model.nodes];
  for (const node of reached) node.spine = true;
  for (let i = 0; i < reached.length; i++)
    for (const next of reached[i].after)
      if (!next.spine) {
        next.spine = true;
        reached.push(next);
      }
}

function readGraph() {
  const makers = new Map(), readers = new Map();
  for (const one of report.graph.nodes) {
    const inputs = Object.entries(one.inputs).map(([port, id]) => ({port, id}));
    const more = {inputs, outputs: one.outputs, attrs: parseAttributes(one.attrs), original: one.original};
    const node = addNode(one.name, one.op, more);
    for (const id of one.outputs) makers.set(id, node);
    for (const {id} of inputs) readers.set(id, true);
  }
  model.ops = model.nodes.length;
  addEnds(readers, makers);
  for (const node of model.nodes)
    for (const {id} of node.inputs) {
      const maker = makers.get(id);
      if (!maker || maker === node || node.before.includes(maker)) continue;
      node.before.push(maker);
      maker.after.push(node);
    }
  markSpine();
  model.makers = makers;
}

const SCALED = {Quantize: "scale", Dequantize: "scale", Requantize: "out_scale"};

// What a box says of its scales: "scale 0.02353" or "64 scales"; "" for other ops, and if a node computes them.
function scaleText(node) {
  const port = SCALED[node.op], input = node.inputs.find((one) => one.port === port);
  const value = input ? model.values[input.id] : null;
  const given = value ? value.constant && {count: value.shape.reduce((a, b) => a * b, 1), first: value.first} : node.attrs[`${port}s`];
  if (!port || !given) return "";
  const list = given.count ? given : {count: [given].flat().length, first: [given].flat()};
  if (list.count > 1) return `${list.count} scales`;
  return list.first ? `scale ${Number(Number(list.first[0]).toPrecision(4))}` : "";
}

//---- check ------------------------------------------------------------------

function readFindings() {
  model.lost = [];  // nodes that could not be read, which only findings name
  for (const target of report.check.targets)
    for (const rule of target.rules)
      for (const one of rule.findings) {
        const finding = {...rule, ...one, asked: target.name, about: rule};
        delete finding.findings;
        let node = model.byName.get(one.node);
        if (!node && one.node) {
          node = addNode(one.node, finding.op, {lost: true});
          model.lost.push(node);
        }
        if (node) node.findings.push(finding);
      }
}

const isUnknown = (finding) => finding.rule.endsWith("/op-unknown");
const lookOf = (finding) => (finding.severity === "error" ? "bad" : isUnknown(finding) ? "unknown" : "warn");
const WORST = {
  bad: 3,
  unknown: 2,
  warn: 1,
  ok: 0
};
const worstLook = (findings) =>
  findings.reduce((worst, one) => (WORST[lookOf(one)] > WORST[worst] ? lookOf(one) : worst), "ok");
const isChosen = (finding) => !model.target || finding.asked === model.target;

function judgeFindings(node) {
  const findings = node.findings.filter(isChosen);
  const look = worstLook(findings);
  const words = {bad: "refused", unknown: "unknown op", warn: "warning", ok: "ok"};
  return {look, weight: findings.length, text: words[look]};
}

//---- Bits -------------------------------------------------------------------

const KNOWN = ["exact", "read", "close", "unknown"];
const bitsTargets = ((report.check || report).targets || []).filter((target) => target.bits);

function readBits() {
  for (const target of bitsTargets)
    for (const group of target.bits.groups)
      for (const name of group.nodes) {
        const node = model.byName.get(name), known = node && node.bits.get(target.name);
        if (node && (!known || KNOWN.indexOf(known.bits) < KNOWN.indexOf(group.bits)))
          node.bits.set(target.name, group);
      }
}

// The count of the line of `qdq check`; empty if all bits are exact.
function bitsLine({name, bits}) {
  const all = KNOWN.reduce((sum, word) => sum + bits[word], 0);
  if (bits.exact === all) return "";
  const others = KNOWN.slice(1).filter((word) => bits[word]).map((word) => `, ${number(bits[word])} ${word}`);
  return `bits of ${name}: ${number(bits.exact)} of ${plural(all, "node")} exact${others.join("")}`;
}

function bitsText(group) {
  const from = group.from_same_inputs ? " from the same inputs" : "";
  return `${group.bits}${from}${group.rule ? `, by ${group.rule}` : ""}`;
}

const bitsLines = (names) =>
  bitsTargets.filter((target) => names.includes(target.name)).map(bitsLine).filter(Boolean);

// A column for each target that does not have all bits exact.
const bitsColumns = () =>
  bitsTargets.filter((target) => bitsLine(target) && (!model.target || model.target === target.name))
    .map((target) => ({key: `bits ${target.name}`, title: `bits ${target.name}`, about: bitsLine(target)}));

function bitsCells(node) {
  const looks = {read: ["none", "r"], close: ["warn", "~"], unknown: ["unknown", "?"]};
  const cells = new Map();
  for (const [name, group] of node.bits) {
    if (group.bits === "exact" || (model.target && model.target !== name)) continue;
    const [look, text] = looks[group.bits], weight = KNOWN.indexOf(group.bits);
    cells.set(`bits ${name}`, {look, text, weight, title: `${name}: ${bitsText(group)}`});
  }
  return cells;
}

//---- compare ----------------------------------------------------------------

// The nodes that a target fuses are compared at the node that makes the result.
function noteGroup(group, node) {
  for (const name of group.nodes) {
    const inner = model.byName.get(name);
    if (inner && inner !== node && !inner.part) inner.part = {op: group.op, node};
  }
}

function readComparison() {
  const rows = report.compare.evidence || [];
  for (const value of report.compare.values) {
    const node = model.byName.get(value.node);
    if (!node) continue;
    node.results.push(value);
    for (const pair of value.pairs) {
      for (const cause of pair.causes) cause.evidence = (cause.evidence || []).map((row) => rows[row] || {});
      if (pair.group) noteGroup(pair.group, node);
    }
  }
}

const chosenPairs = (value) => value.pairs.filter((pair) => !model.target || pair.targets[1] === model.target);

const closeText = (x) => (typeof x === "number" ? String(Number(x.toPrecision(3))) : String(x).toLowerCase());

// The distance of elements that differ: steps of codes and of near floats, relative error and cosine of floats.
function distanceText({different, nan_count, steps, relative_error, cosine}) {
  const parts = [], real = relative_error !== null && relative_error !== undefined;
  if (different === nan_count) return "";
  if (!real || steps < 1000) parts.push(`at most ${plural(steps, "step")}`);
  if (real && relative_error !== 0) {
    parts.push(`relative error ${closeText(relative_error)}`);
    if (typeof cosine === "number") parts.push(`cosine ${Number(cosine.toPrecision(6))}`);
  } else if (real && steps >= 1000) {
    parts.push("infinite on one side");
  }
  return parts.map((part) => `, ${part}`).join("");
}

function judgeComparison(node) {
  let own = 0, overall = 0, worst = null, compared = false;
  for (const value of node.results)
    for (const pair of chosenPairs(value)) {
      compared = true;
      if (pair.different / value.elements > own) worst = pair, own = pair.different / value.elements;
      overall = Math.max(overall, pair.different_overall / value.elements);
    }
  if (own) return {look: `heat${heat(own)}`, weight: own, text: `${percent(own, 1)} differ${distanceText(worst)}`};
  if (overall)
    return {look: "inherit", weight: overall / 1e6, text: `${percent(overall, 1)} differ by what it is given`};
  if (compared) return {look: "ok", weight: 0, text: "equal"};
  return {look: "none", weight: 0, text: node.part ? `part of ${node.part.op}` : "not compared"};
}

//---- plan -------------------------------------------------------------------

function readPlan() {
  model.stored = new Map(report.plan.values.map((value) => [value.name, value]));
  model.buffers = new Map((report.plan.buffers || []).map((buffer) => [buffer.name, buffer]));
  model.largest = Math.max(1, ...report.plan.values.map((value) => value.bytes));
}

const storedOf = (node) => node.outputs.map((id) => model.stored.get(model.values[id].name)).filter(Boolean);

function judgePlan(node) {
  const size = storedOf(node).reduce((sum, value) => sum + value.bytes, 0);
  if (!size) return {look: "none", weight: 0, text: "not stored in the arena"};
  return {look: `cool${heat(size / model.largest / 2)}`, weight: size, text: `${bytes(size)} in the arena`};
}

//---- explain ----------------------------------------------------------------

const hasAccuracy = () => Array.isArray(report.explain.nodes);

function readExplanation() {
  for (const one of hasAccuracy() ? report.explain.nodes : []) {
    const node = model.byName.get(one.node);
    if (node) node.accuracy = one;
    const quantize = node && one.codes_of && model.byName.get(one.codes_of);
    if (quantize && !quantize.accuracy) quantize.codesFor = node;
  }
}

const decibels = (x) => (x === null ? "unknown" : x === "Infinity" ? "exact" : `${x.toFixed(1)} dB`);
// From 0 for no noise to 5 for a signal that is no louder.
const noiseLevel = (x) => (typeof x === "number" ? Math.min(5, Math.max(1, 5 - Math.floor(x / 12))) : 0);

// The noise that ranks a node: its effect on the output, or its own error where no effect is measured.
const noiseOf = ({effect, own}) => (effect === null || effect === undefined ? own : effect);
const hasEffects = () => hasAccuracy() && report.explain.nodes.some((one) => typeof one.effect === "number");

function judgeExplanation(node) {
  if (!hasAccuracy()) {
    const {node: guilty, cause} = report.explain;
    return node.name === guilty ? {look: "bad", weight: 1, text: cause} : {look: "none", weight: 0, text: ""};
  }
  if (!node.accuracy) return {look: "none", weight: 0, text: "not measured"};
  const {effect, cause} = node.accuracy, noise = noiseOf(node.accuracy);
  if (hasEffects() && typeof effect !== "number" && effect !== "Infinity")
    return {look: "none", weight: 0, text: `own error ${decibels(node.accuracy.own)}`};
  const level = noiseLevel(noise), what = hasEffects() ? "effect on the output" : "own error";
  const text = `${what} ${decibels(noise)}${cause ? `, ${cause}` : ""}`;
  return {look: level ? `heat${level}` : "ok", weight: level ? Math.max(1, 400 - noise) : 0, text};
}

//---- All --------------------------------------------------------------------

const JUDGES = {
  check: judgeFindings,
  compare: judgeComparison,
  plan: judgePlan,
  explain: judgeExplanation,
  bisect: judgeExplanation
};

function judgeAll() {
  const judge = JUDGES[report.command];
  for (const node of model.nodes)
    node.state = node.io || !judge ? {look: "none", weight: 0, text: node.io || ""} : judge(node);
}

function chooseTarget(name) {
  model.target = model.target === name ? null : name;
  judgeAll();
  for (const listener of model.listeners) listener();
}

readGraph();
if (report.check) readFindings();
readBits();
if (report.compare) readComparison();
if (report.plan) readPlan();
if (report.bisect) report.explain = report.bisect;  // it finds what explain finds
if (report.explain) readExplanation();
judgeAll();
