# SPDX-License-Identifier: Apache-2.0
"""Compares the files of vectors/ with the backends themselves, and records their bits.

    peers.py ort --tool build/tools/qdq --cpu vnni [--record]     # ONNX Runtime, with and without optimizations
    peers.py onednn [--record]                                    # oneDNN Graph
    peers.py torchao [--record]                                   # torchao and PyTorch
    peers.py --recorded                                           # compares the files with all recordings; needs no backend

The first three run the release that is installed: each is a module peer_NAME.py with

    backends(given)   returns {backend: ask}, and the peer in words
    ask(group)        returns {output: (dtype, bytes)}, or raises or returns None if the backend has no such node

A backend may lack an output. A recording, peers/<backend>.json, has the words of each output by id, and why some differ.
"""

import argparse
import importlib
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE / "generator"))
sys.path.insert(0, str(HERE / "readers/python"))
from tensor import words
from test_vectors import difference, expected

FILES = sorted(HERE.glob("*.json"))


def all_groups():
    """Returns {id: group} of all files."""
    return {group["id"]: group for path in FILES for group in json.loads(path.read_text())["groups"]}


def cases():
    """Returns the groups as the generator has them."""
    names = [path.name[6:-3] for path in sorted((HERE / "generator").glob("cases_*.py"))]
    return [one for name in names for one in importlib.import_module(f"cases_{name}").groups()]


def answer(ask, group, outputs):
    """Returns the words of each output as a recording has them; None if the backend refuses the group."""
    try:
        got = ask(group)
    except Exception:  # each backend has its own
        return None
    if not got or not set(got) <= {one["name"] for one in outputs}:
        return None
    return {output: " ".join(words(dtype, data)) for output, (dtype, data) in got.items()}


def differing(groups, backend, bits):
    """Returns {id: sentence} of the groups whose row of the backend differs from recorded bits."""
    found = {}
    for key, own in bits.items():
        wanted = expected(groups[key], backend) or {}
        wanted = {output: text for output, text in wanted.items() if output in own}
        sentence = difference(groups[key], wanted, {output: text.split() for output, text in own.items()})
        if sentence:
            found[key] = sentence
    return found


def count(groups, backend, bits, found):
    """Returns how many groups are equal and how many differ; a group without bits is neither."""
    known = sum(expected(groups[key], backend) is not None for key in bits)
    return f"{backend}: {known - len(found)} groups equal, {len(found)} differ"


def recorded():
    """Compares the files with the recordings. Returns the number of groups that differ without a reason."""
    groups, wrong = all_groups(), 0
    for path in sorted((HERE / "peers").glob("*.json")):
        content = json.loads(path.read_text())
        backend, bits = content["backend"], content["bits"]
        found = differing(groups, backend, bits)
        silent = [sentence for key, sentence in found.items() if key not in content["differ"]]
        gone = [key for key in content["differ"] if key not in found]
        print("\n".join([*silent, *(f"{key}: differs no more" for key in gone), count(groups, backend, bits, found)]))
        wrong += len(silent) + len(gone)
    return wrong


def text_of(peer, backend, differ, bits):
    """Returns the text of a recording."""
    rows = ",\n".join(f"  {json.dumps(key)}: {json.dumps(one)}" for key, one in bits.items())
    parts = [f' "peer": {json.dumps(peer)}', f' "backend": {json.dumps(backend)}', f' "differ": {json.dumps(differ, indent=1)}',
             f' "bits": {{\n{rows}\n }}']  # fmt: skip
    return "{\n" + ",\n".join(parts) + "\n}\n"


def unanswered(groups, backend, bits):
    """Returns sentences about groups that only the file has bits of, and that only the backend itself gives bits of."""
    known = [key for key, group in groups.items() if expected(group, backend) is not None]
    lacking, refused = [key for key in known if key not in bits], [key for key in bits if key not in known]
    lists = {f"no answer to {len(lacking)} groups": lacking[:8], "the file has no bits": refused}
    return [f"{backend}: {text}: {', '.join(keys)}" for text, keys in lists.items() if keys]


def live(given):
    groups, wrong = all_groups(), 0
    asked, peer = importlib.import_module(f"peer_{given.peer}").backends(given)
    made = cases()
    for backend, ask in asked.items():
        answers = {group.id: answer(ask, group, groups[group.id]["outputs"]) for group in made}
        bits = {key: got for key, got in answers.items() if got}
        path = HERE / f"peers/{backend}.json"
        old = json.loads(path.read_text())["differ"] if path.exists() else {}
        found = differing(groups, backend, bits)
        print("\n".join([*found.values(), *unanswered(groups, backend, bits), count(groups, backend, bits, found)]))
        wrong += len(found.keys() - old.keys())
        if given.record:
            path.write_text(text_of(peer, backend, {key: old.get(key, "") for key in found}, bits))
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("peer", nargs="?", choices=[path.stem[5:] for path in sorted((HERE / "generator").glob("peer_*.py"))])
    parser.add_argument("--tool", help="a qdq that has the command convert, for ort")
    parser.add_argument("--cpu", default="vnni", help="the kind of CPU that this is, for ort: vnni, avx2, ...")
    parser.add_argument("--record", action="store_true", help="write peers/<backend>.json")
    parser.add_argument("--recorded", action="store_true", help="compare with the recordings")
    given = parser.parse_args()
    if given.recorded == bool(given.peer):
        parser.error("give a peer, or --recorded")
    return bool(recorded() if given.recorded else live(given))


if __name__ == "__main__":
    sys.exit(main())
