// SPDX-License-Identifier: Apache-2.0
// Elements and numbers. Text of the report is only ever text, never markup.
const SVG = "http://www.w3.org/2000/svg";

function fillIn(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function")
      element.addEventListener(name, value);
    else
      element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

const make = (tag, attributes, ...children) => fillIn(document.createElement(tag), attributes, children);
const draw = (tag, attributes, ...children) => fillIn(document.createElementNS(SVG, tag), attributes, children);

const number = (n) => Number(n).toLocaleString("en-US");
const plural = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : "s"}`;
const percent = (part, all) => {
  const p = all ? (100 * part) / all : 0;
  return `${p === 0 || p >= 10 ? p.toFixed(0) : p >= 0.1 ? p.toFixed(1) : p.toPrecision(1)} %`;
};

function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (n >= 1024 && unit < 3) n /= 1024, unit++;
  return `${unit === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${units[unit]}`;
}

// The middle of a long name is left out.
function shorten(text, most) {
  if (text.length <= most) return text;
  const tail = Math.floor((most - 1) / 2);
  return `${text.slice(0, most - 1 - tail)}…${text.slice(text.length - tail)}`;
}

function short(x) {
  if (typeof x !== "number") return String(x);
  return Number.isInteger(x) && Math.abs(x) < 1e7 ? String(x) : String(Number(x.toPrecision(9)));
}

// 1 to 5 for a share of a whole, on a logarithmic scale: 0.01 % and less is 1, 30 % and more is 5.
function heat(share) {
  if (!(share > 0)) return 0;
  return Math.max(1, Math.min(5, Math.round(5 + (Math.log10(share / 0.3) * 4) / 3.5)));
}
