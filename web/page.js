// SPDX-License-Identifier: Apache-2.0
// The page: takes files, runs commands in a worker, and shows what they print. All text that comes from files is
// put into the page as text.
"use strict";

const $ = (id) => document.getElementById(id);
const GRAPHS = /\.(onnx|tflite|json)$/i, TENSORS = /\.(safetensors|npy|npz)$/i;
const MOST_BYTES = 1 << 30; // of a file of ?url=
const COMMANDS = { // what a command takes
  check: { targets: true, html: true },
  compare: { targets: true, several: true, inputs: true, html: true },
  explain: { targets: true, inputs: true, got: true, html: true },
  bisect: { targets: true, several: true, inputs: true },
  plan: { targets: true, html: true },
  run: { targets: true, inputs: true },
  inspect: {},
};
const files = new Map(); // bytes by name
let opened = null; // the words of a link that was opened, until the form changes

//---- The worker --------------------------------------------------------------

const worker = new Worker("worker.js");
const waiting = new Map();
let calls = 0;

worker.onmessage = ({ data }) => {
  waiting.get(data.id)(data);
  waiting.delete(data.id);
};
worker.onerror = (event) => say(`the worker failed: ${event.message}`);

function call(words, given = files) {
  return new Promise((done) => {
    waiting.set(++calls, done);
    worker.postMessage({ id: calls, words, files: [...given] });
  });
}

//---- The form ----------------------------------------------------------------

function say(text) {
  $("status").textContent = text;
}

function options(select, names, first) {
  const kept = select.value;
  select.replaceChildren(...(first === undefined ? [] : [new Option(first, "")]), ...names.map((name) => new Option(name)));
  if ([...select.options].some((one) => one.value === kept)) select.value = kept;
}

function size(bytes) {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function showForm() {
  const names = [...files.keys()], takes = COMMANDS[$("command").value];
  options($("graph"), names.filter((name) => GRAPHS.test(name) || (TENSORS.test(name) && $("command").value === "inspect")));
  options($("inputs"), names.filter((name) => TENSORS.test(name)), "filled at random");
  options($("got"), names.filter((name) => TENSORS.test(name)));
  $("list").replaceChildren(...names.map((name) => {
    const item = document.createElement("li");
    item.textContent = `${name} (${size(files.get(name).length)})`;
    return item;
  }));
  $("targets-label").hidden = !takes.targets;
  $("inputs-label").hidden = !takes.inputs;
  $("fill-label").hidden = !takes.inputs || $("inputs").value !== "" || takes.got;
  $("got-label").hidden = !takes.got;
  $("run").disabled = !$("graph").value;
  $("link").disabled = !$("graph").value || $("command").value === "inspect";
}

// The words behind `qdq COMMAND GRAPH` that the form asks for.
function formWords(command) {
  const takes = COMMANDS[command], words = [], targets = $("targets").value.replace(/\s/g, "");
  if (takes.targets && targets) words.push(takes.several ? "--targets" : "--target", targets);
  if (takes.got) words.push("--got", named($("got").value));
  if (takes.inputs && $("inputs").value) words.push("-i", named($("inputs").value));
  else if (takes.inputs && !takes.got) words.push("--fill", $("fill").value || "1");
  return words;
}

// An array of an .npy file has the name of the file.
function named(name) {
  return /\.npy$/i.test(name) ? `${name.replace(/\.npy$/i, "")}=${name}` : name;
}

function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}

//---- Running -----------------------------------------------------------------

function offer(written) {
  $("written").replaceChildren(...written.map(([name, bytes]) => {
    const item = document.createElement("li"), anchor = document.createElement("a");
    anchor.href = URL.createObjectURL(new Blob([bytes]));
    anchor.download = name;
    anchor.textContent = `${name} (${size(bytes.length)})`;
    item.append(anchor);
    return item;
  }));
}

// A report is a page of its own, in a frame that can reach neither this page nor the network.
function showReport(bytes) {
  const frame = document.createElement("iframe");
  $("report").replaceChildren();
  $("report").hidden = !bytes;
  if (!bytes) return;
  frame.title = "report";
  frame.sandbox = "allow-scripts";
  addEventListener("message", function send(event) {
    if (event.source !== frame.contentWindow) return;
    removeEventListener("message", send);
    frame.contentWindow.postMessage(new TextDecoder().decode(bytes), "*");
  });
  frame.src = "frame.html";
  $("report").append(frame);
}

async function run(words) {
  const takes = COMMANDS[words[0]], given = new Map(files);
  const more = takes.html && !words.includes("--fast") ? ["--html", "report.html"] : [];
  if (words[0] === "run") more.push("-o", "outputs.safetensors");
  say("running");
  $("line").firstChild.textContent = ["qdq", ...words].map(quoted).join(" ");
  let result = await call([...words, ...more], given);
  const outputs = result.written.filter(([name]) => name !== "report.html");
  // With -o a run prints no values.
  if (words[0] === "run" && result.code === 0) result = { ...result, ...(await call(words, given)), written: outputs };
  const report = result.written.find(([name]) => name === "report.html");
  $("messages").textContent = result.err;
  $("output").textContent = result.out;
  offer(outputs);
  showReport(report && report[1]);
  say(`exit code ${result.code}${result.seconds ? `, ${result.seconds.toFixed(2)} s` : ""}`);
}

$("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const command = $("command").value;
  run(opened || [command, $("graph").value, ...formWords(command)]);
});

//---- Links -------------------------------------------------------------------

$("link").addEventListener("click", async () => {
  const command = $("command").value, base = location.origin === "null" ? location.href.split("#")[0] : location.origin + location.pathname;
  const result = await call(["link", $("graph").value, "--command", command, "--base", base, ...formWords(command)]);
  $("messages").textContent = result.err;
  if (result.code !== 0) return say(`exit code ${result.code}`);
  const link = result.out.trim();
  history.replaceState(null, "", link);
  $("output").textContent = link;
  const copied = navigator.clipboard ? await navigator.clipboard.writeText(link).then(() => true, () => false) : false;
  say(`a link of ${link.length} characters${copied ? ", copied" : ""}`);
});

async function openLink(fragment) {
  say("opening the link");
  const result = await call(["open", fragment, "-o", "graph.json", "--json"], new Map());
  if (result.code !== 0) {
    $("messages").textContent = result.err;
    return say(`exit code ${result.code}`);
  }
  const { words, left_out: leftOut } = JSON.parse(result.out);
  files.clear();
  for (const [name, bytes] of result.written) files.set(name, bytes);
  $("command").value = words[0];
  showForm();
  const after = (option) => (words.includes(option) ? words[words.indexOf(option) + 1] : "");
  $("targets").value = after("--targets") || after("--target");
  $("inputs").value = after("-i");
  $("got").value = after("--got");
  if (after("--fill")) $("fill").value = after("--fill");
  showForm();
  opened = words;
  await run(words);
  if (leftOut) $("messages").textContent = `${leftOut} constants did not fit into the link and are filled at random\n` + $("messages").textContent;
}

//---- Files -------------------------------------------------------------------

async function take(list) {
  opened = null;
  for (const file of list) files.set(file.name, new Uint8Array(await file.arrayBuffer()));
  showForm();
  say(files.size ? "ready" : "drop a model");
}

async function fetchFile(address) {
  say(`reading ${address}`);
  const answer = await fetch(address, { credentials: "omit" });
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  if (Number(answer.headers.get("content-length")) > MOST_BYTES) throw new Error(`${address}: is larger than 1 GiB`);
  const name = decodeURIComponent(new URL(address, location.href).pathname.split("/").pop()) || "graph.json";
  files.set(name.replace(/[^\w.@+-]/g, "_"), new Uint8Array(await answer.arrayBuffer()));
}

$("files").addEventListener("change", () => take($("files").files));
$("form").addEventListener("change", () => {
  opened = null;
  showForm();
});
for (const kind of ["dragover", "dragleave", "drop"])
  addEventListener(kind, (event) => {
    event.preventDefault();
    $("drop").classList.toggle("over", kind === "dragover");
    if (kind === "drop") take(event.dataTransfer.files);
  });

async function start() {
  const known = await call(["targets", "--json"], new Map());
  if (known.code === 0) $("known").append(...JSON.parse(known.out).targets.map((one) => new Option(one.name)));
  showForm();
  if (location.hash.startsWith("#qdq1=")) return openLink(location.hash);
  try {
    for (const address of new URLSearchParams(location.search).getAll("url")) await fetchFile(address);
  } catch (error) {
    return say(`${error.message}; its server must allow other pages to read it`);
  }
  take([]);
}

addEventListener("hashchange", () => {
  if (location.hash.startsWith("#qdq1=")) openLink(location.hash);
});
if ("serviceWorker" in navigator && location.protocol !== "file:") navigator.serviceWorker.register("service_worker.js").catch(() => {});
start();
