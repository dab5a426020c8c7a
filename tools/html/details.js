// SPDX-License-Identifier: Apache-2.0
// All that the report has about one node.

function listText(x) {
  if (Array.isArray(x)) return `[${x.map(short).join(", ")}]`;
  if (x && typeof x === "object") return `[${x.first.map(short).join(", ")}, ... ${number(x.count)} in all]`;
  return short(x);
}

function valueText(value) {
  if (!value.dtype) return value.name;
  const all = value.shape.reduce((product, dim) => product * dim, 1);
  const data = value.first ? ` = ${value.shape.length ? "[" : ""}${value.first.map(short).join(", ")}${
                               all > value.first.length ? ", ..." : ""}${value.shape.length ? "]" : ""}` :
                             "";
  return `${value.dtype} [${value.shape.join(", ")}]${data}`;
}

const valueName = ({name, original}) => (original ? `${name}, in the model ${original}` : name);
const evidenceText = (e) => [e.kind, e.against, e.compared, e.date].filter(Boolean).join("; ");
const words = (terms) => make("dl", {}, terms.map(([term, ...text]) => [make("dt", {}, term), make("dd", {}, text)]));

function nodeLink(node, choose) { return make("button", {class: "link", click: () => choose(node)}, node.name); }

function portTerms(node, choose) {
  const terms = node.inputs.map(({port, id}) => {
    const value = model.values[id], maker = model.makers.get(id);
    const name = maker && maker !== node ? nodeLink(maker, choose) : valueName(value);
    return [port || "value", name, " ", make("span", {class: "mono muted"}, valueText(value))];
  });
  for (const id of node.outputs)
    terms.push(["makes", valueName(model.values[id]), " ", make("span", {class: "mono muted"}, valueText(model.values[id]))]);
  return terms;
}

const attributeTerms = (node) =>
  Object.entries(node.attrs).map(([name, x]) => [name, make("span", {class: "mono"}, listText(x))]);

//---- Bits -------------------------------------------------------------------

const bitsTerms = (node) =>
  [...node.bits].filter(([name]) => !model.target || model.target === name).map(([name, group]) => [
    `bits of ${name}`, `${group.op && group.op !== node.op ? `${group.op}: ` : ""}${bitsText(group)} `,
    group.evidence ? make("span", {class: "muted"}, evidenceText(group.evidence)) : ""
  ]);

//---- check ------------------------------------------------------------------

function findingBox(finding) {
  const sentence = finding.message || `${finding.port} is ${finding.found}, wanted ${finding.wanted}`;
  return make("div", {class: `finding ${lookOf(finding)}`}, make("div", {}, sentence),
    make("div", {class: "muted mono"}, finding.rule),
    finding.hint && make("div", {class: "muted"}, "Mend: ", finding.hint),
    finding.source && make("div", {class: "muted"}, "Source: ", finding.source),
    finding.evidence && make("div", {class: "muted"}, "Evidence: ", evidenceText(finding.evidence)));
}

//---- compare ----------------------------------------------------------------

function firstElement(cause, targets) {
  return make("table", {class: "first"},
    make("tr", {}, make("th", {}, "element"),
      make(
        "td", {class: "mono"}, `[${cause.index.join(", ")}]`, cause.x === undefined ? "" : `, x = ${short(cause.x)}`)),
    targets.map((target, i) => make("tr", {}, make("th", {}, target),
                  make("td", {class: "mono"}, short(cause.results[i]), cause.bits ? `  ${cause.bits[i]}` : ""))));
}

function differenceText(value, pair) {
  const parts = [];
  if (pair.different) {
    const share = percent(pair.different, value.elements);
    parts.push(`${number(pair.different)} of ${number(value.elements)} differ (${share})${distanceText(pair)}`);
    if (pair.nan_count) parts.push(`, ${number(pair.nan_count)} NaN on one side`);
  } else {
    parts.push("equal from the same inputs");
  }
  if (pair.different_overall !== pair.different)
    parts.push(`; ${number(pair.different_overall)} when each runs the whole graph`);
  return parts.join("");
}

function formulaBoxes(pair) {
  if (!pair.different || pair.group || !pair.formulas || !pair.formulas.some(Boolean)) return null;
  const same = pair.formulas[0] === pair.formulas[1];
  return (same ? [pair.targets.join(" and ")] : pair.targets)
    .map(
      (name,
        i) => [make("span", {class: "muted"}, name), make("code", {class: "formula"}, pair.formulas[i] || "as ONNX")]);
}

function causeBox(cause, targets) {
  const evidence = (cause.evidence || []).map((e, i) => `${targets[i]}: ${evidenceText(e)}`).join(". ");
  return [
    make("h3", {}, `${cause.cause}: ${plural(cause.elements, "element")}, the first`), firstElement(cause, targets),
    evidence && make("p", {class: "muted"}, "Evidence: ", evidence)
  ];
}

function pairBox(value, pair) {
  const group = pair.group && `${pair.group.op} in place of ${pair.group.nodes.join(", ")}`;
  return make("div", {class: "pair"}, make("h3", {}, pair.targets.join(" and ")),
    make("p", {}, differenceText(value, pair)), group && make("p", {class: "muted"}, group), formulaBoxes(pair),
    pair.causes.map((cause) => causeBox(cause, pair.targets)),
    pair.histogram &&
      [histogram(pair.histogram, pair.targets), histogramNote(pair.histogram, pair.targets, value.elements)]);
}

const histogramBox = (title, h, names, elements) =>
  h && make("div", {class: "values"}, make("h3", {}, title), histogram(h, names), histogramNote(h, names, elements));

// The other side of a Quantize or Dequantize: the value that becomes codes, or the codes of the value.
function readBox(node) {
  if (!/^(Quantize|Dequantize|Requantize)$/.test(node.op)) return null;
  const x = node.inputs.find(({port}) => port === "x"), maker = x && model.makers.get(x.id);
  const read = maker && maker.results.find((one) => one.name === model.values[x.id].name);
  if (!read) return null;
  const codes = node.op !== "Quantize";
  return histogramBox(`${codes ? "Codes that it reads" : "What it reads"}, ${read.name}`, read.histogram,
    [report.compare.targets[0]], read.elements);
}

function resultBoxes(node, value) {
  const pairs = [...chosenPairs(value)].sort((a, b) => b.different - a.different);
  const alone = value.histogram && !pairs.some((pair) => pair.histogram);
  const first = [report.compare.targets[0]], left = value.left_out || [];
  return [
    node.results.length > 1 && make("h3", {}, value.name),
    alone && histogramBox(node.op === "Quantize" ? "Codes" : "Elements", value.histogram, first, value.elements),
    left.length > 0 && make("p", {class: "muted"}, `Left out, may differ here: ${left.join(", ")}`),
    pairs.map((pair) => pairBox(value, pair))
  ];
}

function comparisonBoxes(node, choose) {
  if (node.part && !node.results.length)
    return make("p", {}, `Part of ${node.part.op}, compared at `, nodeLink(node.part.node, choose), ".");
  return [node.results.map((value) => resultBoxes(node, value)), readBox(node)];
}

//---- plan -------------------------------------------------------------------

function planTerms(node) {
  const terms = [];
  for (const value of storedOf(node)) {
    terms.push(["arena", `${bytes(value.bytes)} at ${number(value.offset)}`],
      ["lives", `step ${value.first_step} to ${value.last_step}`]);
    const buffer = model.buffers.get(value.name);
    if (!buffer) continue;
    terms.push(
      ["device", `${buffer.pool}, address ${number(buffer.address)}, ${buffer.layout}, ${buffer.memory_layout}`],
      ["pages", `${number(buffer.pages)} of ${number(buffer.page_bytes)} bytes on ${plural(buffer.banks, "bank")}`],
      ["in a bank", `${bytes(buffer.bytes_per_bank)}, programs ${buffer.first_program} to ${buffer.last_program}`]);
  }
  return terms;
}

//---- explain ----------------------------------------------------------------

function accuracyTerms(accuracy) {
  const {effect, without, alike, own, inherited, total, elements, clipped, codes, unused, cause, mend, mended} = accuracy;
  const terms = [];
  if (effect !== null) terms.push(["effect on the output", decibels(effect)], ["samples that decide alike", percent(alike, 1)]);
  if (without !== null) terms.push(["output without it", decibels(without)]);
  if (accuracy.kind !== "group")
    terms.push(["own error", decibels(own)], ["inherited", decibels(inherited)], ["both", decibels(total)],
               ["clipped", `${number(clipped)} of ${number(elements)} elements`]);
  if (typeof unused === "number") terms.push(["codes unused", `${number(unused)} of ${number(codes)}`]);
  if (cause) terms.push(["cause", cause]);
  if (mend) terms.push(["mend", mend, typeof mended === "number" ? ` (effect ${decibels(mended)})` : ""]);
  return terms;
}

// Elements at the ends of the codes need not be clipped: `clipped` of the accuracy counts those that are.
const codesBox = ({code_histogram: codes, elements}) =>
  codes && histogramBox("Codes", {...codes, clipped: null}, ["codes"], elements);

function accuracyBoxes(accuracy) {
  return [
    words(accuracyTerms(accuracy)),
    histogramBox("Elements", accuracy.histogram, ["float model", "quantized"], accuracy.elements), codesBox(accuracy)
  ];
}

function explanationBoxes(node, choose) {
  const e = report.explain;
  if (node.accuracy) return accuracyBoxes(node.accuracy);
  if (node.codesFor) {
    return [make("p", {}, "Measured at ", nodeLink(node.codesFor, choose), "."), codesBox(node.codesFor.accuracy)];
  }
  if (node.name !== e.node) return null;
  const cell = (one, key) => make("td", {class: "mono"}, one[key] === undefined ? "" : short(one[key]), " ",
                               make("span", {class: "muted"}, one[`${key}_bits`] || ""));
  const ports = e.examples.some((one) => one.x !== undefined) ? ["given", "computed", "x"] : ["given", "computed"];
  const others = e.candidates.filter((one) => one.detail !== e.detail).map((one) => `${one.cause} (${one.detail})`);
  return make("div", {class: "pair"}, make("h3", {}, e.cause), e.detail && make("p", {}, e.detail),
    e.targets.length > 0 && make("p", {}, `Gives all bits as ${e.targets.join(", ")}.`),
    others.length > 0 && make("p", {class: "muted"}, `Also: ${others.join("; ")}`),
    make("table", {class: "first"},
      make("tr", {}, ["element", ...ports].map((text) => make("th", {}, text))),
      e.examples.map((one) => make("tr", {}, make("td", {class: "mono"}, `[${one.index.join(", ")}]`),
                        ports.map((key) => cell(one, key))))));
}

function nodeDetails(node, choose, close) {
  const findings = node.findings.filter(isChosen);
  return [
    make("div", {class: "row"}, make("h2", {}, node.name),
      make("button", {class: "close", "aria-label": "Close", click: close}, "×")),
    make("p", {class: "muted"}, node.op || (node.io ? `${node.io} of the graph` : "not read"),
      node.state.text && node.state.text !== node.io ? `; ${node.state.text}` : ""),
    node.original && make("p", {}, `In the model: ${node.original}`),
    node.lost && make("p", {}, "The file names this node, but it could not be read."),
    words([...portTerms(node, choose), ...attributeTerms(node), ...bitsTerms(node), ...(report.plan ? planTerms(node) : [])]),
    node.after.length > 0 &&
      make("p", {class: "muted"}, "read by ",
        node.after.slice(0, 8).map((next, i) => [i ? ", " : "", nodeLink(next, choose)]),
        node.after.length > 8 ? ", ..." : ""),
    findings.map(findingBox), report.compare ? comparisonBoxes(node, choose) : null,
    report.explain ? explanationBoxes(node, choose) : null
  ];
}
