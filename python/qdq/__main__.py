# SPDX-License-Identifier: Apache-2.0
"""Commands of the package: python -m qdq explain. The tool qdq has the others."""

import argparse
import json
import sys
from dataclasses import asdict

from . import _files, _library
from ._graph import load

# Exit codes of the tool (docs/command_line.md).
_CODES = [(_library.ArgumentError, 2), (_library.ParseError, 3), (_library.FileError, 3), (_library.GraphError, 4),
          (_library.UnsupportedError, 4), (_library.LimitError, 5)]  # fmt: skip


def _inputs(words):
    """{name: array} of [NAME=]FILE words."""
    made = {}
    for word in words:
        name, given, path = word.rpartition("=")
        arrays = _files.read(path)
        if given and len(arrays) != 1:
            raise _library.ArgumentError(f"{path} has {len(arrays)} arrays, wanted one for {name}")
        if not given and "" in arrays:
            raise _library.ArgumentError(f"{path} has an array without a name; write NAME={path}")
        made.update({name: next(iter(arrays.values()))} if given else arrays)
    return made


def _explain(args):
    dims = dict(word.partition("=")[::2] for word in args.dim)
    graph = load(args.model, target=args.target, dims={name: int(size) for name, size in dims.items()})
    wanted = {info.name for info in graph.compile(args.target).inputs}
    inputs = {name: array for name, array in _inputs(args.input).items() if name in wanted}
    first = args.got[0]
    alone = first.endswith(".npy") and "=" not in first  # the only output
    got = _files.read(first)[""] if alone else _inputs(args.got)
    found = graph.explain(inputs, got=got, target=args.target)
    if args.json:
        print(json.dumps({"version": 1, **asdict(found)}, indent=2))
    else:
        print(found)
    return 1 if found else 0


def main(words=None):
    parser = argparse.ArgumentParser(prog="python -m qdq", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    explain = commands.add_parser("explain", help="says why a device gave other results",
                                  description="Says which target, number format or mistake in a node gives what a device gave. "
                                              "Exits with 1 if results differ, 0 if they do not.")  # fmt: skip
    explain.add_argument("model", metavar="GRAPH", help="a qdq/1 file, oneDNN Graph JSON, or an ONNX model")
    explain.add_argument("--got", required=True, action="append", metavar="[NAME=]FILE",
                         help="what the device gave: outputs, or any values, in .npz, .npy or .safetensors")  # fmt: skip
    explain.add_argument("-i", "--input", default=[], action="append", metavar="[NAME=]FILE", help="inputs, in such files")
    explain.add_argument("-t", "--target", help="what the device should have computed as; by default the graph's own")
    explain.add_argument("--dim", default=[], action="append", metavar="NAME=N", help="the size of a dim that a model names")
    explain.add_argument("--json", action="store_true", help="print JSON")
    explain.set_defaults(run=_explain)
    args = parser.parse_args(words)
    try:
        return args.run(args)
    except _library.Error as error:
        print(f"qdq: {error}", file=sys.stderr)
        return next((code for kind, code in _CODES if isinstance(error, kind)), 2)
    except ValueError as error:
        print(f"qdq: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
