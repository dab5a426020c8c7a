// SPDX-License-Identifier: Apache-2.0
// Runs commands of the tool, each in an instance of its own: in a worker of the page, and under node in tests.
"use strict";

// Collects bytes that come one by one.
function collector() {
  let bytes = new Uint8Array(4096), count = 0;
  return {
    add(byte) {
      if (byte === null) return;
      if (count === bytes.length) {
        const more = new Uint8Array(2 * count);
        more.set(bytes);
        bytes = more;
      }
      bytes[count++] = byte;
    },
    text: () => new TextDecoder().decode(bytes.subarray(0, count)),
  };
}

// Calls the tool with words. `create` and `module` are what emscripten and WebAssembly.compile give, `prepare`
// gets the file system before the call, `finish` after it. Returns { code, out, err }.
async function runTool(create, module, words, prepare, finish) {
  const out = collector(), err = collector();
  let code = null;
  const instance = await create({
    instantiateWasm(imports, done) {
      WebAssembly.instantiate(module, imports).then((made) => done(made, module));
      return {};
    },
    thisProgram: "qdq",
    stdin: () => null,
    stdout: out.add,
    stderr: err.add,
    quit(status) {
      code = status;
    },
  });
  prepare(instance);
  try {
    const status = instance.callMain(words);
    if (code === null) code = status;
  } catch (error) {
    if (error && error.name === "ExitStatus") {
      code = error.status;
    } else {
      const text = new TextEncoder().encode(`qdq: the run ended: ${error && error.message ? error.message : error}\n`);
      for (const byte of text) err.add(byte);
      code = 5;
    }
  }
  if (finish) finish(instance);
  return { code, out: out.text(), err: err.text() };
}

if (typeof module === "object") module.exports = { runTool };
