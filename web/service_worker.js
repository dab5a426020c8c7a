// SPDX-License-Identifier: Apache-2.0
// Keeps the files of the page, so that it works without a network. The build writes the version, a hash of them.
"use strict";
const VERSION = "@VERSION@";
const FILES = ["./", "index.html", "frame.html", "style.css", "page.js", "engine.js", "worker.js", "qdq.js", "qdq.wasm"];

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(VERSION).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  const old = (names) => Promise.all(names.filter((name) => name !== VERSION).map((name) => caches.delete(name)));
  event.waitUntil(caches.keys().then(old).then(() => self.clients.claim()));
});

// Only files of the page: models behind ?url= come from the network.
self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || url.origin !== self.location.origin) return;
  event.respondWith(
    caches.open(VERSION)
      .then((cache) => cache.match(url.origin + url.pathname))
      .then((found) => found || fetch(event.request)));
});
