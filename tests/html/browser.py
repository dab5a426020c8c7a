# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over the WebDriver protocol with the standard library alone."""

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key of an element in the protocol
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Up": "\ue013", "Down": "\ue015", "Left": "\ue012", "Right": "\ue014"}


def missing():
    """The programs without which no browser runs."""
    return [name for name in ("chromium", "chromedriver") if not shutil.which(name)]


class Browser:
    """Opens pages, runs scripts in them, and keeps what they print on the console."""

    def __init__(self, width=1440, height=1000, dark=False):
        self.home = tempfile.TemporaryDirectory(prefix="qdq-browser-")
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "HOME": self.home.name},
        )
        lines = iter(self.driver.stdout.readline, "")
        ports = (re.search(r"successfully on port (\d+)", line) for line in lines)
        port = next((found.group(1) for found in ports if found), None)
        if not port:
            raise RuntimeError("chromedriver does not start")
        self.at = f"http://127.0.0.1:{port}"
        # A sandbox needs user namespaces, which root in a container lacks; the page is ours.
        arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            f"--window-size={width},{height}",
            f"--user-data-dir={self.home.name}/profile",
            "--lang=en-US",
        ]
        if dark:
            arguments.append("--blink-settings=preferredColorScheme=0")
        options = {
            "browserName": "chrome",
            "goog:chromeOptions": {"args": arguments, "binary": shutil.which("chromium")},
            "goog:loggingPrefs": {"browser": "ALL"},
        }
        self.session = ""
        self.session = (
            "/session/" + self.call("POST", "/session", {"capabilities": {"alwaysMatch": options}})["sessionId"]
        )

    def call(self, method, path, data=None):
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(
            self.at + self.session + path, body, {"Content-Type": "application/json"}, method=method
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"]) from None

    def open(self, path):
        self.call("POST", "/url", {"url": path.resolve().as_uri()})

    def run(self, script, *arguments):
        """Runs the body of a function in the page and returns its result."""
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def settle(self):
        """Waits until the page has drawn what it was asked for."""
        self.call(
            "POST",
            "/execute/async",
            {
                "script": "const done = arguments[0];requestAnimationFrame(() => requestAnimationFrame(() => done(0)))",
                "args": [],
            },
        )

    def find(self, selector):
        return self.call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def resize(self, width, height):
        """Gives the page a size of its own: a window of a headless browser has a least width."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": size})

    def media(self, name):
        """Shows the page as on "print", or with "" as on the screen."""
        self.call("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"media": name}})
        self.settle()

    def sheets(self):
        """How many sheets of A4 the page takes when printed."""
        size = {"paperWidth": 8.27, "paperHeight": 11.69, "printBackground": True, "preferCSSPageSize": True}
        made = self.call("POST", "/goog/cdp/execute", {"cmd": "Page.printToPDF", "params": size})
        return len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(made["data"])))

    def click(self, selector):
        self.call("POST", f"/element/{self.find(selector)}/click", {})
        self.settle()

    def type(self, selector, text):
        """Types text; a word of KEYS in angle brackets is a key."""
        keys = re.sub(r"<(\w+)>", lambda found: KEYS[found.group(1)], text)
        self.call("POST", f"/element/{self.find(selector)}/value", {"text": keys})
        self.settle()

    def console(self):
        """What the page printed since the last call, and what the browser refused to do for it."""
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})]

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.call("GET", "/screenshot")))

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.driver.stdout.close()
            self.home.cleanup()
