// SPDX-License-Identifier: Apache-2.0
// Checks an implementation against the bits of a backend:
//   node vectors.mjs quantize.json --backend onnx@1.32-vnni --implementation ./mine.mjs
// The module exports `implement(group)`, which returns {output: [a word for each element]}, or null for a group that it does
// not implement. A word is the bits of an element in hexadecimal; any NaN is "nan".
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

// True if `short` is `name`, or its beginning before @ or -.
const covers = (short, name) => name === short || name.startsWith(`${short}@`) || name.startsWith(`${short}-`);

// Returns {output: words} of the row with the longest name that covers the backend; null if that has no bits.
export function expected(group, backend) {
  let length = 0, best = null;
  for (const row of group.results)
    for (const short of row.backends)
      if (covers(short, backend) && short.length > length) [length, best] = [short.length, row];
  return best?.bits ? Object.fromEntries(Object.entries(best.bits).map(([output, bits]) => [output, bits.split(" ")])) : null;
}

// Returns a sentence about the first element that differs; "" if none does.
export function difference(group, words, found) {
  for (const [output, wanted] of Object.entries(words)) {
    const got = found[output] ?? [];
    if (got.length !== wanted.length) return `${group.id}: ${output} has ${got.length} elements, wanted ${wanted.length}`;
    const i = wanted.findIndex((word, at) => word !== got[at]);
    if (i >= 0) return `${group.id}: ${output}[${i}] is ${got[i]}, wanted ${wanted[i]} (${group.about})`;
  }
  return "";
}

const [file, ...options] = process.argv.slice(2);
const option = (name, otherwise) => (options.includes(name) ? options[options.indexOf(name) + 1] : otherwise);
const backend = option("--backend", "core");
const module = option("--implementation", new URL("onnx_quantize.mjs", import.meta.url));
const { implement } = await import(module instanceof URL ? module : pathToFileURL(resolve(module)));
const content = JSON.parse(readFileSync(file, "utf8"));
if (!content.versions.includes(backend)) {
  console.error(`${file}: no backend ${backend}; it has ${content.versions.join(", ")}`);
  process.exit(2);
}
const count = { equal: 0, differ: 0, skipped: 0 };
for (const group of content.groups) {
  const words = expected(group, backend), found = words && implement(group);
  const wrong = found ? difference(group, words, found) : "";
  if (wrong) console.log(wrong);
  if (words) count[!found ? "skipped" : wrong ? "differ" : "equal"]++;
}
console.log(`${backend}: ${count.equal} groups equal, ${count.differ} differ, ${count.skipped} not implemented`);
process.exitCode = count.equal + count.differ === 0 ? 2 : count.differ > 0 ? 1 : 0;
