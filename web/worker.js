// SPDX-License-Identifier: Apache-2.0
// Runs one command after another. A message { id, words, files } is answered by { id, code, out, err, written,
// seconds }: files are pairs of a name and bytes, `written` those that the command wrote.
"use strict";
importScripts("engine.js", "qdq.js");

const FOLDER = "/work";
const compiled = fetch("qdq.wasm")
  .then((answer) => answer.arrayBuffer())
  .then((bytes) => WebAssembly.compile(bytes));

// Files of the folder that are new or have changed.
function changed(fs, before) {
  const written = [];
  for (const name of fs.readdir(FOLDER)) {
    if (name === "." || name === ".." || !fs.isFile(fs.stat(`${FOLDER}/${name}`).mode)) continue;
    const bytes = fs.readFile(`${FOLDER}/${name}`);
    const old = before.get(name);
    if (!old || old.length !== bytes.length || old.some((byte, i) => byte !== bytes[i])) written.push([name, bytes]);
  }
  return written;
}

async function run({ id, words, files }) {
  const start = performance.now();
  let written = [];
  const result = await runTool(createQdq, await compiled, words,
    ({ FS }) => {
      FS.mkdir(FOLDER);
      for (const [name, bytes] of files) FS.writeFile(`${FOLDER}/${name}`, bytes);
      FS.chdir(FOLDER);
    },
    ({ FS }) => {
      written = changed(FS, new Map(files));
    });
  postMessage({ ...result, id, written, seconds: (performance.now() - start) / 1000 });
}

let last = Promise.resolve();
onmessage = ({ data }) => {
  last = last.then(() => run(data)).catch((error) => postMessage({ id: data.id, code: 5, out: "", err: `qdq: ${error}\n`, written: [] }));
};
