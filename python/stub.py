# SPDX-License-Identifier: Apache-2.0
"""Prints python/qdq/_ops.pyi, the signatures of Builder's methods, from what `qdq ops --json` prints.

    qdq ops --json | python3 python/stub.py > python/qdq/_ops.pyi

`./dev docs` writes the file, and a test compares it with the library's table of ops.
"""

import json
import keyword
import sys
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "qdq"))
from _op_names import NUMBERS, PLACE, method_name  # noqa: E402

HEAD = '''\
# SPDX-License-Identifier: Apache-2.0
"""Signatures of the methods that add a node. python/stub.py prints this file from the library's table of ops."""

from typing import Literal, Optional, Sequence, Tuple, Union

from ._builder import Value
from ._types import ArrayLike, DeviceLayout, Dtype, Floats, Ints, MemoryConfig

# A value of the graph under construction, or an array that becomes a constant.
Operand = Union[Value, ArrayLike]

class Op:
    name: str
    summary: str
    inputs: Sequence[str]
    outputs: Sequence[str]

class Ops:
'''

# Types of attributes in `qdq ops`; others are lists of words, "a or b".
TYPES = {"int": "int", "int[]": "Sequence[int]", "bool": "bool", "number": "float", "value": "Value", "dtype": "Dtype",
         "float32 or float32[]": "Floats", "int or int[]": "Ints"}  # fmt: skip
PLACE_TYPES = {"memory_config": "MemoryConfig", "layout": "DeviceLayout", "tile": "Sequence[int]", "transpose_tile": "bool"}


def words_of(kind):
    """The words of an attribute. Words with spaces describe its default and cannot be given."""
    return [word for word in kind.split(" or ") if " " not in word]


def type_of(kind):
    return TYPES.get(kind) or f"Literal[{', '.join(json.dumps(word) for word in words_of(kind))}]"


def default_of(attr):
    """The default in Python; None if it is no constant, or one of another type."""
    kind, text = attr["type"], attr["default"]
    if kind == "bool":
        return {"true": "True", "false": "False"}.get(text, "None")
    if kind in ("int", "number", "int or int[]", "float32 or float32[]"):
        try:
            float(text)
        except ValueError:
            return "None"
        return text
    if kind == "dtype":
        return json.dumps(text) if text and " " not in text else "None"
    return json.dumps(text) if text in words_of(kind) and kind not in TYPES else "None"


def parameter(attr):
    """An attribute as a parameter. A method drops None, so each attribute that may be left out accepts it."""
    kind = type_of(attr["type"])
    if attr["required"] and attr["name"] not in NUMBERS.values():
        return f"{attr['name']}: {kind}"
    return f"{attr['name']}: Optional[{kind}] = {default_of(attr)}"


def port(one, in_front):
    """A port as a parameter; in_front: a needed port stands behind it, so that it has no default."""
    kind = "Sequence[Operand]" if one["variadic"] else "Operand"
    if not one["optional"]:
        return f"{one['name']}: {kind}"
    return f"{one['name']}: Optional[{kind}]" + ("" if in_front else " = None")


def ports(inputs):
    return [port(one, any(not later["optional"] for later in inputs[i:])) for i, one in enumerate(inputs)]


def documented(op):
    """The lines of a docstring: the summary, then a line for each attribute."""
    lines = [f'{op["name"]}: {op["summary"]}.']
    if op["attrs"]:
        lines.append("")
    for attr in op["attrs"]:
        default = f" (default: {attr['default']})" if attr["default"] else ""
        lines += textwrap.wrap(f"{attr['name']}: {attr['summary']}{default}.", 112, subsequent_indent="    ")
    return lines


def packed(words, width):
    """Lines of parameters, each of which stays on one line."""
    lines = []
    for word in words:
        if lines and len(lines[-1]) + len(word) + 2 <= width:
            lines[-1] += f" {word},"
        else:
            lines.append(f"        {word},")
    return lines


def method(op):
    names = [one["name"] for one in [*op["inputs"], *op["attrs"]]]
    bad = [name for name in names if keyword.iskeyword(name)]
    if bad or len(set(names)) < len(names):
        sys.exit(f"{op['name']}: names that no signature can have: {bad or names}")
    words = ["self", *ports(op["inputs"]), "*", *map(parameter, op["attrs"]), "name: Optional[str] = None"]
    words += [f"{name}: Optional[{PLACE_TYPES[name]}] = None" for name in PLACE]
    count = len(op["outputs"])
    result = "Value" if count == 1 else f"Tuple[{', '.join(['Value'] * count)}]"
    lines = [f"    def {method_name(op['name'])}("]
    lines += packed(words, 112)
    lines.append(f"    ) -> {result}:")
    text = documented(op)
    if len(text) == 1:
        return [*lines, f'        """{text[0]}"""', ""]
    return [*lines, f'        """{text[0]}', *(f"        {line}".rstrip() for line in text[1:]), '        """', ""]


def stub(ops):
    """Returns the text of the file from the list of ops."""
    return HEAD + "\n".join(line for op in ops for line in method(op)).rstrip() + "\n"


if __name__ == "__main__":
    sys.stdout.write(stub(json.load(sys.stdin)["ops"]))
