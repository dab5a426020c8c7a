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

const round3 = (x) => short(Number(x.toPrecision(3)));

// The width of a chart that fills its section, in pixels.
const chartWidth = () => Math.max(300, Math.min(1100, document.documentElement.clientWidth - 72));

// Steps over points [x, y] in order; y is a number of decibels or "Infinity", which is drawn at the top.
function stepCurve(points, label) {
  const width = chartWidth(), height = 170, left = 8, top = 26, base = 132;
  const known = points.map(([, y]) => y).filter((y) => typeof y === "number");
  const low = Math.min(...known), high = Math.max(...known, low + 1), step = (width - 2 * left) / points.length;
  const up = (y) => (typeof y === "number" ? base - ((y - low) / (high - low)) * (base - top - 18) : top);
  const path = points.map(([, y], i) => `${i ? "V" : "M"}${i ? up(y) : `${left} ${up(y)}`}H${left + (i + 1) * step}`);
  const every = Math.ceil(44 / step);
  const texts = points.map(([x, y], i) => i % every && i !== points.length - 1 ? null : [
    draw("text", {x: left + (i + 0.5) * step, y: up(y) - 6, "text-anchor": "middle", class: "strong"},
      typeof y === "number" ? y.toFixed(1) : "exact"),
    draw("text", {x: left + (i + 0.5) * step, y: base + 16, "text-anchor": "middle"}, number(x))
  ]);
  return draw("svg", {class: "curve", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label},
    draw("line", {class: "grid", x1: left, x2: width - left, y1: base, y2: base}),
    draw("path", {class: "steps", d: path.join("")}), texts,
    draw("text", {x: width / 2, y: base + 34, "text-anchor": "middle"}, label));
}

// A bar from the least to the greatest number of each channel, with lines at the median reach.
function channelStrip({least, greatest, median, ratio, worst, quietest}) {
  const width = chartWidth(), height = 110, count = least.length, base = 92;
  const low = Math.min(0, ...least), high = Math.max(0, ...greatest, low + 1e-30);
  const up = (y) => base - ((y - low) / (high - low)) * (base - 16), step = width / count;
  const bar = (from, to, look) => {
    const part = (list, pick) => pick(...list.slice(from, to));
    const bottom = up(part(least, Math.min)), head = up(part(greatest, Math.max));
    return draw("rect", {
      class: look,
      x: from * step,
      y: head,
      width: Math.max(1, (to - from) * step - (step > 3 ? 1 : 0)),
      height: Math.max(1, bottom - head)
    },
      draw("title", {}, `channel ${from}: ${short(least[from])} to ${short(greatest[from])}`));
  };
  // At most a bar for each pixel.
  const each = Math.max(1, Math.ceil(1 / step)), bars = [];
  for (let i = 0; i < count; i += each) bars.push(bar(i, Math.min(count, i + each), "side1"));
  const [far] = median > ratio * quietest[1] ? quietest : worst[0];
  const line = (y) => y >= low && y <= high ?
    draw("line", {class: "median", x1: 0, x2: width, y1: up(y), y2: up(y)}) : null;
  const at = (far + 0.5) * step;
  return draw("svg", {class: "strip-chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Ranges of channels"},
    bars, bar(far, far + 1, "far-channel"), line(median), median ? line(-median) : null,
    draw("text", {x: at, y: 11, "text-anchor": at < 60 ? "start" : at > width - 60 ? "end" : "middle", class: "strong"},
      `channel ${far}`),
    draw("text", {x: 0, y: 107}, `${round3(low)} to ${round3(high)}`),
    draw("text", {x: width, y: 107, "text-anchor": "end"}, plural(count, "channel")));
}
