// SPDX-License-Identifier: Apache-2.0
// Where the accuracy goes: pairs by their effect, and the channels of the worst.

// The nodes by the noise that they add: a bar is the noise in a signal of power 1, on a logarithmic scale.
function noiseBars(onChoose) {
  const key = hasEffects() ? "effect" : "own";
  const rows = model.nodes.filter((node) => node.accuracy && typeof node.accuracy[key] === "number")
                 .sort((a, b) => a.accuracy[key] - b.accuracy[key]);
  return barChart(rows.slice(0, 20).map((node) => {
    const {own, inherited, without, cause, mend} = node.accuracy, noise = node.accuracy[key];
    const beside = !hasEffects() ? `, inherited ${decibels(inherited)}`
                   : without === null ? "" : `, without it ${decibels(without)}, own ${decibels(own)}`;
    return {
      label: node.name,
      about: mend || "",
      value: Math.max(1, 150 - noise),
      text: `${decibels(noise)}${beside}${cause ? `; ${cause}` : ""}`,
      click: () => onChoose(node)
    };
  }));
}

// The channels of the pairs that have all ranges, the worst effect first.
function channelStrips(onChoose) {
  const rows = model.nodes.filter((node) => node.accuracy && node.accuracy.channels && node.accuracy.channels.least)
                 .sort((a, b) => a.accuracy.effect - b.accuracy.effect);
  return rows.map((node) => {
    const {channels, cause, mend} = node.accuracy;
    const text = `: axis ${channels.axis}, the farthest channel reaches ${round3(channels.worst[0][1])}, the median ${
      round3(channels.median)} (dashed), the least ${round3(channels.quietest[1])}`;
    return make("div", {class: "chart strip-of"}, make("p", {}, nodeLink(node, onChoose), text), channelStrip(channels),
      cause && make("p", {class: "muted"}, `${cause}: ${mend}`));
  });
}

function showNoise(onChoose) {
  if (!hasEffects()) return section("noise", "Nodes by their own error", noiseBars(onChoose));
  const {curve, summed, outputs} = report.explain, strips = channelStrips(onChoose);
  const together = Math.min(...outputs.map((one) => (typeof one.total === "number" ? one.total : Infinity)));
  const title = (text) => make("h3", {}, text);
  return section("noise", "Where the accuracy goes",
    make("p", {class: "muted"}, `All pairs together give ${decibels(together === Infinity ? "Infinity" : together)}; ` +
      `the errors of single pairs add up to ${decibels(summed)}.`),
    title("Pairs by their effect on the output"), noiseBars(onChoose),
    curve && curve.length > 1 && [title("Pairs in float, and the worst output"),
      make("div", {class: "chart"}, stepCurve(curve, "worst pairs in float together; output in dB"))],
    strips.length > 0 && [title("Channels of the worst pairs"), strips]);
}
