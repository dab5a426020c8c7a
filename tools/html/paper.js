// SPDX-License-Identifier: Apache-2.0
// The page on paper: the whole graph, and a table of the worst nodes in place of the matrix.

const ON_PAPER = 8;  // rows of the table
const PAPER = {width: 680, height: 250};  // of the graph, in pixels
const PRINTED = 0.55;  // the least scale at which labels are read on paper

// The reason for a node's place in the table, in a sentence.
function reasonOf(node) {
  const finding = node.findings.filter(isChosen).sort((a, b) => WORST[lookOf(b)] - WORST[lookOf(a)])[0];
  const own = (text) => text.slice(Math.max(0, text.indexOf(`'${node.name}': `) + node.name.length + 4));
  if (finding) return `${finding.rule}: ${finding.message ? own(finding.message) : `${finding.port} is ${finding.found}`}`;
  return [node.state.text, node.accuracy && node.accuracy.mend].filter(Boolean).join("; ");
}

function showWorst(view) {
  const place = make("div");
  const made = section("worst-nodes", report.plan ? "Largest values" : "Worst nodes", place);
  made.classList.add("paper");
  const fill = () => {
    const worst = view.worst(), rest = worst.length - ON_PAPER;
    const cells = (tag, texts) => make("tr", {}, texts.map((text) => make(tag, {}, text)));
    made.classList.toggle("empty", !worst.length);
    place.replaceChildren(
      make("table", {}, cells("th", ["node", "op", ""]),
        worst.slice(0, ON_PAPER).map((node) => cells("td", [node.name, node.op, reasonOf(node)]))),
      rest > 0 ? make("p", {class: "muted"}, `and ${plural(rest, "node")} more`) : "");
  };
  model.listeners.push(fill);
  fill();
}

// Draws the whole graph in a view box, which takes the width of the paper.
function toPaper(view) {
  view.columns = fold(view.layers, PAPER, PRINTED);
  view.mode = "";
  view.paper = true;
  const b = view.bounds(), scale = Math.min(1.2, PAPER.width / b.right, PAPER.height / b.bottom);
  const width = b.right + 2 * PAD, height = b.bottom + 2 * BEND;
  view.svg.setAttribute("viewBox", `${-PAD} ${-BEND} ${width} ${height}`);
  view.svg.style.setProperty("--paper", `${scale * width}px`);
  view.world.setAttribute("transform", "");
  if (scale < NEAR)
    view.paintFar();
  else
    view.paintNear({left: -1e9, right: 1e9, top: -1e9, bottom: 1e9});
  view.paintMarks();
  view.element.dataset.mode = view.mode;
}

function toScreen(view) {
  view.paper = false;
  view.svg.removeAttribute("viewBox");
  view.mode = "";
  view.stretch();
  view.render();
}

function printWhole(view, profile) {
  addEventListener("beforeprint", () => {
    toPaper(view);
    if (profile) profile.paint(PAPER.width);
  });
  addEventListener("afterprint", () => {
    toScreen(view);
    if (profile) profile.paint();
  });
}
