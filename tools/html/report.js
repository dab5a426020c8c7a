// SPDX-License-Identifier: Apache-2.0
// The page: a section for each kind of data that the report has.
const main = document.getElementById("main");
const WORDS = {
  bad: "refused",
  warn: "warnings",
  unknown: "unknown ops",
  ok: "ok"
};

function section(id, title, ...content) {
  const made = make("section", {id, "aria-labelledby": `${id}-title`}, make("h2", {id: `${id}-title`}, title), content);
  main.append(made);
  return made;
}

function card(look, name, word, lines, target) {
  const content =
    [make("b", {}, name), make("span", {class: "word"}, word), lines.map((line) => make("span", {}, line))];
  if (target === undefined) return make("div", {class: `card ${look}`}, content);
  return make("button", {
    class: `card ${look}`,
    "data-target": target,
    "aria-pressed": "false",
    title: `Show ${name} alone`,
    click: () => chooseTarget(target)
  },
    content);
}

//---- Verdicts ---------------------------------------------------------------

function checkCards() {
  const many = report.check.targets.length > 1;
  return report.check.targets.map((target) => {
    const findings = target.rules.flatMap((rule) => rule.findings.map(() => rule));
    const look = target.errors ? "bad" : worstLook(findings);
    return card(look, target.name, WORDS[look],
      [`${plural(target.errors, "error")}, ${plural(target.warnings, "warning")}`, ...bitsLines([target.name])],
      many ? target.name : undefined);
  });
}

function compareCards() {
  const {targets, refused, values} = report.compare;
  const cards = targets.slice(1).map((target) => {
    let own = 0, given = 0, equal = 0;
    for (const value of values)
      for (const pair of value.pairs)
        if (pair.targets[1] !== target)
          continue;
        else if (pair.different)
          own++;
        else if (pair.different_overall)
          given++;
        else
          equal++;
    const word = own ? `${plural(own, "value")} differ${own === 1 ? "s" : ""}` : "no node differs";
    return card(own ? "warn" : "ok", `${targets[0]} and ${target}`, word,
      [`${number(given)} by what they are given, ${number(equal)} equal`, ...bitsLines([targets[0], target])],
      targets.length > 2 ? target : undefined);
  });
  return [...cards, ...refused.map((target) => card("bad", target, "refuses the graph", ["left out"]))];
}

const allBits = () => bitsLines(bitsTargets.map((target) => target.name));

function planCards() {
  const p = report.plan;
  return [
    card("", "arena", bytes(p.arena_bytes), [`peak of live values ${bytes(p.peak_live_bytes)}`]),
    card("", "moved", bytes(p.moved_bytes), [`${p.moved_over_necessary.toFixed(2)} times the necessary`]),
    card("", "constants", bytes(p.constant_bytes), [`inputs and outputs ${bytes(p.io_bytes)}`]),
    card("", "steps", number(p.steps.length), [`${plural(p.operations, "operation")}`, ...allBits()]),
    ...(p.pools || [])
      .map((pool) => card("", `${pool.pool} of ${p.device.name}`, `peak ${bytes(peakOf(p, pool))}`,
             [`of ${bytes(pool.bank_size)} in each bank`, ...(isL1(pool) ? [peakText(p, pool)] : [])]))
  ];
}

const samplesLines = ({median, alike}) =>
  typeof alike === "number" ? [`median sample ${decibels(median)}, ${percent(alike, 1)} decide alike`] : [];

// What the output has with --labels, and inputs that are no samples.
function labelLines({labels, fill}, name) {
  const lines = fill ? [`on random inputs (--fill ${fill})`] : [];
  if (labels && labels.output === name)
    lines.push(`${number(labels.quantized)} of ${number(labels.rows)} right, in float ${number(labels.float)}`);
  return lines;
}

function explainCards() {
  const e = report.explain;
  const bits = allBits();
  if (hasAccuracy())
    return e.outputs.map((one) => card(noiseLevel(one.total) > 2 ? "warn" : "ok", `output ${one.name}`,
                           decibels(one.total),
                           [...samplesLines(one), ...labelLines(e, one.name), `against ${e.against}`, ...bits]));
  if (!e.node)
    return [card("ok", `against ${e.against}`, "no element differs", [`${plural(e.tried, "trial")}`, ...bits])];
  const which = e.target ? `as ${e.target}` : e.detail || "";
  return [
    card("bad", `${e.op} ${e.node}`, e.cause, [which]),
    card("", `value ${e.value}`, `${number(e.differing)} of ${number(e.elements)} differ`, [`against ${e.against}`, ...bits]),
    card(e.left ? "warn" : "ok", "with the cause", e.left ? `${number(e.left)} elements left` : "all bits given",
      [`${plural(e.tried, "trial")}${e.later ? `, ${plural(e.later, "later value")} differ too` : ""}`])
  ];
}

function showVerdict() {
  const cards = {check: checkCards, compare: compareCards, plan: planCards, explain: explainCards, bisect: explainCards}[report.command];
  if (cards)
    section("verdict", report.command === "plan" ? "Figures" : "Verdict", make("div", {class: "cards"}, cards()));
  model.listeners.push(() => {
    for (const one of document.querySelectorAll("[data-target]"))
      one.setAttribute("aria-pressed", String(one.dataset.target === model.target));
  });
}

//---- Columns of the matrix, and bars ----------------------------------------

function ruleColumns() {
  const columns = new Map();
  for (const target of report.check.targets)
    for (const rule of target.rules) {
      if (model.target && target.name !== model.target) continue;
      const column = columns.get(rule.rule) ||
        {key: rule.rule, title: rule.rule, about: `${rule.rule}: ${rule.hint}`, look: lookOf(rule), nodes: 0};
      column.nodes += rule.findings.length;
      columns.set(rule.rule, column);
    }
  return [...columns.values()].sort((a, b) => WORST[b.look] - WORST[a.look] || b.nodes - a.nodes);
}

function ruleCells(node) {
  const cells = new Map();
  for (const finding of node.findings) {
    if (!isChosen(finding)) continue;
    const cell = cells.get(finding.rule) ||
      {look: lookOf(finding), weight: WORST[lookOf(finding)], count: 0, title: finding.message};
    cell.text = ++cell.count === 1 ? {bad: "✕", warn: "!", unknown: "?"}[cell.look] : cell.count;
    cells.set(finding.rule, cell);
  }
  return cells;
}

function eachCause(node, call) {
  for (const value of node.results)
    for (const pair of chosenPairs(value))
      for (const cause of pair.causes) call(cause, value, pair);
}

function causeColumns() {
  const columns = new Map();
  for (const node of model.nodes)
    eachCause(node, (cause) => {
      const column = columns.get(cause.cause) || {key: cause.cause, title: cause.cause, elements: 0, nodes: new Set()};
      column.elements += cause.elements;
      column.nodes.add(node);
      columns.set(cause.cause, column);
    });
  return [...columns.values()].sort((a, b) => b.elements - a.elements);
}

// A share in percent, as short as a cell.
function cellText(share) {
  const p = 100 * share;
  if (p < 0.01) return "<.01";
  return p >= 10 ? p.toFixed(0) : p >= 0.1 ? p.toFixed(1) : p.toFixed(2).slice(1);
}

function causeCells(node) {
  const cells = new Map();
  eachCause(node, (cause, value, pair) => {
    const share = cause.elements / value.elements, cell = cells.get(cause.cause);
    if (cell && cell.weight >= share) return;
    cells.set(cause.cause, {
      look: `heat${heat(share)}`,
      weight: share,
      text: cellText(share),
      title: `${pair.targets.join(" and ")}: ${number(cause.elements)} of ${number(value.elements)} elements (${
        percent(share, 1)})`
    });
  });
  return cells;
}

const tableColumns = (kind) => [...kind.columns(), ...bitsColumns()];

const KINDS = {
  check:
    {columns: ruleColumns, cells: ruleCells, bars: "Findings by rule", table: "Rules and nodes", none: "No findings."},
  compare: {
    columns: causeColumns,
    cells: causeCells,
    bars: "Differences by cause",
    table: "Causes and nodes, % of elements",
    none: "No element differs from the same inputs."
  },
};

function barRows(columns, onColumn) {
  return columns.slice(0, 30).map((column) => report.check ?
      {
        label: column.title,
        about: column.about,
        value: column.nodes,
        look: column.look,
        text: plural(column.nodes, "finding"),
        click: () => onColumn(column.key)
      } :
      {
        label: column.title,
        value: column.elements,
        text: `${plural(column.elements, "element")} in ${plural(column.nodes.size, "node")}`,
        click: () => onColumn(column.key)
      });
}

function showBars(kind, onColumn) {
  const place = make("div");
  const fill = () => {
    const columns = kind.columns();
    place.replaceChildren(
      columns.length ? barChart(barRows(columns, onColumn)) : make("p", {class: "muted"}, kind.none));
  };
  section("bars", kind.bars, place);
  model.listeners.push(fill);
  fill();
}

//---- The graph --------------------------------------------------------------

const LEGENDS = {
  check: [["bad", "refused"], ["warn", "warning"], ["unknown", "unknown op"], ["ok", "ok"]],
  compare: [
    ["heat1", "own difference: few"], ["heat3", ""], ["heat5", "many elements"], ["inherit", "by what it is given"],
    ["ok", "equal"], ["none", "not compared"]
  ],
  plan:
    [["cool1", "stored: few bytes"], ["cool3", ""], ["cool5", "many bytes"], ["none", "not stored: fused or streamed"]],
  explain: [["bad", "first difference"], ["heat1", "error: small"], ["heat3", ""], ["heat5", "large"], ["ok", "exact"]],
  bisect: [["bad", "first difference"]]
};

function showGraph() {
  let profile = null;
  const details = make("aside", {id: "details", "aria-live": "polite", hidden: true, "aria-label": "The chosen node"});
  const view = new GraphView(model.nodes, (node) => {
    details.hidden = !node;
    if (profile) profile.mark(node);
    details.scrollTop = 0;
    details.replaceChildren(...(node ?
        fillIn(make("div"), {}, [nodeDetails(node, (next) => view.choose(next), () => view.choose(null))]).childNodes :
        []));
  });
  view.element.append(make("div", {class: "legend"},
    (LEGENDS[report.command] || []).map(([look, text]) => make("span", {}, make("i", {class: `s-${look}`}), text))));
  const count = make("span", {class: "muted", id: "search-count", role: "status"});
  let next = -1;
  const go = (step) => {
    if (!view.hits.length) return;
    next = (next + step + view.hits.length) % view.hits.length;
    count.textContent = `${next + 1} of ${number(view.hits.length)}`;
    view.choose(view.hits[next]);
  };
  const search = make("input", {
    type: "search",
    id: "search",
    placeholder: "Search nodes and ops ( / )",
    "aria-label": "Search the graph",
    input: () => {
      next = -1;
      const found = view.find(search.value).length;
      count.textContent = search.value.trim() ? `${number(found)} found` : "";
    },
    keydown: (event) => event.key === "Enter" && go(event.shiftKey ? -1 : 1)
  });
  const button = (id, text, label, click) => make("button", {id, "aria-label": label, title: label, click}, text);
  const tools = make("div", {class: "bar"}, search, button("found", "Next", "Next node found", () => go(1)), count,
    make("span", {class: "space"}),
    button("worst", report.plan ? "Largest value" : "Worst node", "Go to the node with most to say",
      () => view.worst()[0] && view.choose(view.worst()[0])),
    button("before", "‹", "Previous node with something to say (p)", () => view.follow(-1)),
    button("after", "›", "Next node with something to say (n)", () => view.follow(1)),
    button("zoom-out", "−", "Zoom out (-)", () => view.zoom(1 / 1.4)),
    button("zoom-in", "+", "Zoom in (+)", () => view.zoom(1.4)),
    button("fit", "All", "Show the whole graph (0)", () => view.fit()));
  profile = view.profile = showProfile(view.layers, (node) => view.choose(node));
  section("graph", "Graph", tools, make("div", {class: "stage"}, view.element, details));
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
    event.preventDefault();
    search.focus();
  });
  model.listeners.push(() => {
    view.recolour();
    if (view.chosen) view.choose(view.chosen, false);
  });
  return view;
}

//---- The rest ---------------------------------------------------------------

function showTop() {
  document.title = `${report.file} - qdq ${report.command}`;
  const nodes = report.graph.nodes.length, name = report.graph.name;
  document.getElementById("top").append(make("h1", {}, report.file || name),
    make("p", {class: "muted"},
      `qdq ${report.command}; ${name && name !== report.file ? `graph ${name}, ` : ""}${plural(nodes, "node")}`),
    make("nav", {id: "sections", "aria-label": "Sections"}));
}

function showSteps(onChoose) {
  const rows =
    report.plan.steps.map((step, i) => ({step, i}))
      .sort((a, b) => b.step.read_bytes + b.step.write_bytes - a.step.read_bytes - a.step.write_bytes || a.i - b.i);
  const last = (chain) => [...chain.matchAll(/-> \S+ (\S+)/g)].map((m) => model.byName.get(m[1])).filter(Boolean).pop();
  section("steps", "Steps that move most", barChart(rows.slice(0, 20).map(({step, i}) => ({
    label: `${i}  ${step.chain}`,
    about: step.chain + (step.not_fused ? `; not fused: ${step.not_fused.because}` : ""),
    value: step.read_bytes + step.write_bytes,
    text: `reads ${bytes(step.read_bytes)}, writes ${bytes(step.write_bytes)}; ${step.shape}`,
    click: () => onChoose(last(step.chain))
  }))));
}

function showMatrix(kind, choose) {
  const matrix = new Matrix({
    columns: tableColumns(kind),
    cells: (node) => new Map([...kind.cells(node), ...bitsCells(node)]),
    onChoose: choose,
    onColumn: (key) => matrix.set({column: matrix.column === key ? null : key})
  });
  section("table", kind.table, matrix.tools(), matrix.element);
  model.listeners.push(() => matrix.set({columns: tableColumns(kind), column: null}));
  return matrix;
}

function showCall() {
  const call = make("code", {id: "call"}, report.call || "");
  const copy = make("button", {
    click: () => {
      getSelection().selectAllChildren(call);
      if (navigator.clipboard) navigator.clipboard.writeText(report.call).catch(() => {});
    }
  },
    "Copy");
  section("reproduce", "Reproduce", report.call && make("div", {class: "call"}, call, copy),
    make("p", {class: "muted"}, report.seed ? `Inputs that no file gives are made from seed ${report.seed}. ` : "",
      `qdq ${report.qdq}.`));
}

function show() {
  showTop();
  showVerdict();
  const kind = KINDS[report.command];
  let view, matrix;
  const scroll = (id) => document.getElementById(id).scrollIntoView({block: "start"});
  const choose = (node) => {
    if (!node) return;
    view.choose(node);
    scroll("graph");
  };
  view = showGraph();
  showWorst(view);
  printWhole(view, view.profile);
  if (kind)
    showBars(kind, (key) => {
      if (matrix.column !== key) matrix.onColumn(key);
      scroll("table");
    });
  if (kind) matrix = showMatrix(kind, choose);
  if (report.explain && hasAccuracy()) showNoise(choose);
  if (report.explain && report.explain.node) view.choose(model.byName.get(report.explain.node) || null);
  if (report.plan) {
    showSteps(choose);
    const byName = (name) => choose(
      model.byName.get(name) || model.nodes.find((node) => node.outputs.some((id) => model.values[id].name === name)));
    section("memory", "Memory over time", arenaCharts(report.plan, byName), deviceCharts(report.plan, byName));
  }
  showCall();
  document.getElementById("sections")
    .append(...[...main.querySelectorAll("section:not(.paper)")].map((one) => make("a", {href: `#${one.id}`}, one.querySelector("h2").textContent)));
  document.documentElement.dataset.ready = Math.round(performance.now());
}

show();
