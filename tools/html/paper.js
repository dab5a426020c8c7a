// SPDX-License-Identifier: Apache-2.0
// The page on paper: the whole graph, and a table of the worst nodes in place of the matrix.

const ON_PAPER = 8;  // rows of the table

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

function printWhole(view, profile) {
  addEventListener("beforeprint", () => {
    view.toPaper();
    if (profile) profile.paint(PAPER.width);
  });
  addEventListener("afterprint", () => {
    view.toScreen();
    if (profile) profile.paint();
  });
}
