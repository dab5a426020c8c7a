// SPDX-License-Identifier: Apache-2.0
// The arena of a plan and the memory of a device, over time: a rectangle is a value's place and lifetime.
const MOST_BUFFERS = 4000;

// boxes: [{name, from, to, at, size, kind}]; `most` is the end of the memory shown.
function memoryChart({boxes, steps, base, most, label, noun, onChoose}) {
  const width = chartWidth(), height = 300, left = 76, bottom = 24, right = 8, top = 8;
  const x = (step) => left + ((width - left - right) * step) / Math.max(1, steps);
  const y = (at) => height - bottom - ((height - bottom - top) * (at - base)) / Math.max(1, most - base);
  const shown = boxes.length > MOST_BUFFERS ? [...boxes].sort((a, b) => b.size - a.size).slice(0, MOST_BUFFERS) : boxes;
  const ticks = [0, 1, 2, 3, 4].map((i) => base + ((most - base) * i) / 4);
  const svg = draw("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label},
    ticks.map((at) => [draw("line", {class: "grid", x1: left, x2: width - right, y1: y(at), y2: y(at)}),
                draw("text", {x: left - 6, y: y(at) + 4, "text-anchor": "end"}, bytes(at))]),
    [0, 1, 2, 3, 4].map((i) => {
      const step = Math.round((i * steps) / 4), anchor = ["start", "middle", "middle", "middle", "end"][i];
      return draw("text", {x: x(step), y: height - 6, "text-anchor": anchor}, i ? number(step) : `${noun} 0`);
    }),
    shown.map((box, i) => {
      const wide = Math.max(1, x(box.to + 1) - x(box.from)), high = Math.max(1, y(box.at) - y(box.at + box.size));
      const look = `buffer ${box.kind || `c${i % 6}`}${wide < 5 || high < 5 ? " thin" : ""}`;
      const title = `${box.name}: ${bytes(box.size)} at ${number(box.at)}, ${noun} ${box.from} to ${box.to}`;
      const place = {x: x(box.from), y: y(box.at + box.size), width: wide, height: high};
      return draw("rect", {class: look, ...place, click: () => onChoose(box.name)}, draw("title", {}, title));
    }));
  const left_out = boxes.length - shown.length;
  return make("div", {class: "chart"},
    make(
      "p", {class: "muted"}, label, left_out ? `; the ${number(MOST_BUFFERS)} largest of ${number(boxes.length)}` : ""),
    svg);
}

// How many bytes are alive at each step, as an area. A value that takes the place of another in the step that
// reads it last counts once.
function liveChart(boxes, steps, label) {
  const change = new Float64Array(steps + 2), begins = new Set(boxes.map((box) => `${box.at} ${box.from}`));
  for (const box of boxes) {
    const replaced = box.to > box.from && begins.has(`${box.at} ${box.to}`);
    change[box.from] += box.size;
    change[replaced ? box.to : box.to + 1] -= box.size;
  }
  const width = chartWidth(), height = 90, left = 76, bottom = 6, top = 8;
  let live = 0, most = 1;
  const line = Array.from({length: steps}, (_, i) => (most = Math.max(most, (live += change[i])), live));
  const x = (i) => left + ((width - left - 8) * i) / Math.max(1, steps),
        y = (n) => height - bottom - ((height - bottom - top) * n) / most;
  const d = `M${x(0)} ${y(0)}${line.map((n, i) => `L${x(i)} ${y(n)}H${x(i + 1)}`).join("")}V${y(0)}Z`;
  return make("div", {class: "chart"}, make("p", {class: "muted"}, `${label}: at most ${bytes(most)}`),
    draw("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label}, draw("path", {class: "area", d}),
      draw("text", {x: left - 6, y: y(most) + 8, "text-anchor": "end"}, bytes(most))));
}

function arenaCharts(plan, onChoose) {
  const boxes =
    plan.values.map((v) => ({name: v.name, from: v.first_step, to: v.last_step, at: v.offset, size: v.bytes}));
  if (!boxes.length) return make("p", {class: "muted"}, "The arena is empty: every value between steps is streamed.");
  const steps = plan.steps.length;
  return [
    memoryChart({
      boxes,
      steps,
      base: 0,
      most: plan.arena_bytes,
      noun: "step",
      onChoose,
      label: `The arena, ${bytes(plan.arena_bytes)}: offsets over steps`
    }),
    liveChart(boxes, steps, "Alive at each step")
  ];
}

// The peak of a pool. In L1, the circular buffers of programs lie below the tensors, and pool.peak counts tensors alone.
const isL1 = (pool) => pool.pool.toLowerCase() === "l1";
const peakOf = (plan, pool) => (isL1(pool) ? plan.peak_l1 : pool.peak);

function peakText(plan, pool) {
  const at = pool.peak_program === null ? "" : ` at program ${pool.peak_program}`;
  return isL1(pool) ? `tensors ${bytes(pool.peak)}${at}, circular buffers ${bytes(plan.peak_circular)}` :
                      `peak ${bytes(pool.peak)}${at}`;
}

function poolChart(plan, pool, onChoose) {
  const programs = plan.programs.length, name = pool.pool;
  const boxes = plan.buffers.filter((b) => b.pool === name && b.view_of === null).map((b) => ({
    name: b.name,
    from: Math.min(b.first_program, Math.max(0, programs - 1)),
    to: b.lives_on ? programs - 1 : Math.max(b.first_program, b.last_program),
    at: b.address,
    size: b.taken
  }));
  if (isL1(pool))
    plan.programs.forEach((p, i) => {
      if (p.circular_end > p.circular_begin)
        boxes.push({
          name: p.node,
          from: i,
          to: i,
          at: p.circular_begin,
          size: p.circular_end - p.circular_begin,
          kind: "circular"
        });
    });
  if (!boxes.length) return null;
  const most = Math.max(...boxes.map((box) => box.at + box.size));
  return memoryChart({
    boxes,
    steps: programs,
    base: pool.base,
    most,
    noun: "program",
    onChoose,
    label: `${name}: the same addresses in each of ${plural(pool.banks, "bank")} of ${bytes(pool.bank_size)} from ${
             bytes(pool.base)}; ${peakText(plan, pool)}, fragmentation ${percent(pool.fragmentation, 1)}` +
      `${boxes.some((box) => box.kind) ? "; grey: circular buffers" : ""}`
  });
}

function bankBars(plan, pool) {
  const peak = peakOf(plan, pool), used = peak / pool.bank_size;
  return {
    label: pool.pool,
    value: used,
    look: used > 0.9 ? "bad" : "",
    text: `${bytes(peak)} of ${bytes(pool.bank_size)} in each of ` +
      `${plural(pool.banks, "bank")} (${percent(used, 1)})`,
    click: () => {}
  };
}

function deviceCharts(plan, onChoose) {
  if (!plan.device) return null;
  return [
    make("h3", {}, `Memory of ${plan.device.name} (${plan.device.arch})`),
    barChart([
      ...plan.pools.map((pool) => bankBars(plan, pool)),
      {label: "", value: 1, text: "a whole bank", click: () => {}}
    ]),
    plan.pools.map((pool) => poolChart(plan, pool, onChoose))
  ];
}
