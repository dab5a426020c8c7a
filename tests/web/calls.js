// SPDX-License-Identifier: Apache-2.0
// Runs calls of the page's tool under node: `node calls.js PAGE_FOLDER`. Each line of standard input is a list of
// words, whose files are relative to the working folder; each line of output has code, out and err.
"use strict";
const fs = require("fs"), path = require("path"), lines = require("readline");
const page = path.resolve(process.argv[2]);
const { runTool } = require(path.join(page, "engine.js")), createQdq = require(path.join(page, "qdq.js"));

async function main() {
  process.setMaxListeners(0); // each instance adds some
  const compiled = await WebAssembly.compile(fs.readFileSync(path.join(page, "qdq.wasm")));
  for await (const line of lines.createInterface({ input: process.stdin })) {
    const result = await runTool(createQdq, compiled, JSON.parse(line), ({ FS, NODEFS }) => {
      FS.mkdir("/work");
      FS.mount(NODEFS, { root: process.cwd() }, "/work");
      FS.chdir("/work");
    });
    process.stdout.write(JSON.stringify(result) + "\n");
  }
}
main();
