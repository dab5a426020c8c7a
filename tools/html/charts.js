// SPDX-License-Identifier: Apache-2.0
// Bars, and the histogram of a value.

// rows: [{label, value, look, text, click}], longest first.
function barChart(rows) {
  const most = Math.max(1, ...rows.map((row) => row.value));
  return make("div", {class: "bars"},
    rows.map(
      (row) => [make("div", {}, make("button", {title: row.about || "", click: row.click}, shorten(row.label, 60))),
        make("div", {class: "track"},
          make("div", {class: `fill ${row.look || ""}`, style: `width:${(100 * row.value) / most}%`})),
        make("div", {class: "number"}, row.text),
  ]));
}

// The bins of one side are bars; a second side is a line around its bars.
function histogram(h, names) {
  const width = 360, height = 96, base = 80, bins = h.counts[0].length;
  if (!bins) return make("p", {class: "muted"}, "no finite elements");
  const most = Math.max(1, ...h.counts.flat()), step = width / bins,
        up = (n) => (n ? base - 4 - (n / most) * (base - 12) : base);
  const first =
    h.counts[0].map((n, i) => draw("rect",
                      {class: "side1", x: i * step + 0.5, y: up(n), width: Math.max(1, step - 1), height: base - up(n)},
                      draw("title", {}, `${short(h.low + i * h.width)}: ${plural(n, "element")}`)));
  let second = null;
  if (h.counts[1]) {
    const d = h.counts[1].map((n, i) => `${i ? "L" : "M"}${i * step} ${up(n)}H${(i + 1) * step}`).join("");
    second = draw("path", {class: "side2", d});
  }
  const high = h.low + bins * h.width, digits = Number(h.low.toPrecision(4)) < Number(high.toPrecision(4)) ? 4 : 9;
  const text = (x, anchor, value) => draw("text", {x, y: 93, "text-anchor": anchor}, Number(value.toPrecision(digits)));
  return draw("svg", {
    class: "hist",
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    preserveAspectRatio: "none",
    "aria-label": `Histogram of ${names.join(" and ")}`
  },
    first, second, text(0, "start", h.low), text(width, "end", high));
}

function histogramNote(h, names, elements) {
  const notes = names.map((name, i) => {
    const parts = [];
    if (h.clipped) parts.push(`${percent(h.clipped[i], elements)} clipped`);
    if (h.not_finite[i]) parts.push(`${plural(h.not_finite[i], "element")} not finite`);
    return [
      make("span", {class: `key${i + 1}`}, i ? "▬ " : "■ "), name, parts.length ? `: ${parts.join(", ")}` : "", "  "
    ];
  });
  return make("p", {class: "muted"}, notes);
}
