# SPDX-License-Identifier: Apache-2.0
"""Reports how well the networks of this folder read the held-out images.

    python3 models/digits/report.py QDQ_BINARY [RUNS]

Prints how many digits each network gets right, the time of an image on one thread without and with
--fast (in RUNS runs, 41 by default), and which digits the int8 network mixes up. Needs nothing but
Python 3.
"""

import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
KINDS = {
    "float32": "float32 throughout",
    "int8": "int8 weights per channel, uint8 activations",
    "int4": "int4 weights in groups, float32 activations",
    "float8": "float8_e4m3fn weights and activations",
}
LETTERS = {"F32": "f", "U8": "B"}


def read_tensors(path):
    """The numbers of a .safetensors file by name."""
    data = path.read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    found = {}
    for name, one in json.loads(data[8:start]).items():
        if name != "__metadata__":
            begin, end = one["data_offsets"]
            letter = LETTERS[one["dtype"]]
            count = (end - begin) // struct.calcsize(letter)
            found[name] = struct.unpack(f"<{count}{letter}", data[start + begin:start + end])
    return found


def read_digits(path):
    """The digit with the highest score, for each image."""
    scores = read_tensors(path)["scores"]
    rows = [scores[i:i + 10] for i in range(0, len(scores), 10)]
    return [row.index(max(row)) for row in rows]


def run(qdq, kind, folder):
    out = Path(folder) / f"{kind}.safetensors"
    subprocess.run([qdq, "run", HERE / f"{kind}.json", "-i", HERE / "held_out.safetensors",
                    "-o", out], check=True, stdout=subprocess.DEVNULL)
    return read_digits(out)


def microseconds(qdq, kind, runs):
    """Times of a run without and with --fast: the lower quartile, which other work on the machine
    disturbs less than the median."""
    told = subprocess.run([qdq, "bench", HERE / f"{kind}.json", "--threads", "1", "--fill", "1",
                           "--repeat", runs, "--json"], check=True, stdout=subprocess.PIPE)
    literal = json.loads(told.stdout)
    return [1e6 * mode["quartile_seconds"][0] for mode in (literal, literal["other_mode"])]


def weights(kind):
    """The bytes of the constants; an int4 counts half a byte."""
    graph = json.loads((HERE / f"{kind}.json").read_text())
    bits = {"float32": 32, "int8": 8, "int4": 4, "float8_e4m3fn": 8}
    total = 0
    for constant in graph["constants"]:
        count = 1
        for dim in constant["shape"]:
            count *= dim
        total += count * bits[constant["dtype"]]
    return total // 8


def confusion(digits, labels):
    table = [[0] * 10 for _ in range(10)]
    for digit, label in zip(digits, labels):
        table[label][digit] += 1
    yield "the digit is | the int8 network says"
    yield "             |" + "".join(f"{digit:4}" for digit in range(10))
    for label, row in enumerate(table):
        yield f"{label:12} |" + "".join(f"{n or '.':>4}" for n in row)


def main(words):
    if len(words) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    qdq, runs = (words + ["41"])[:2]
    labels = read_tensors(HERE / "held_out.safetensors")["labels"]
    said = {}
    print("network                                       right      weights    "
          "an image, one thread   with --fast")
    with tempfile.TemporaryDirectory(prefix="qdq-digits-") as folder:
        for kind, about in KINDS.items():
            said[kind] = run(qdq, kind, folder)
            right = sum(map(int.__eq__, said[kind], labels))
            literal, fast = [t / len(labels) for t in microseconds(qdq, kind, runs)]
            print(f"{about:44}  {100 * right / len(labels):5.2f} %  {weights(kind):6} bytes  "
                  f"{literal:6.1f} us                {fast:6.1f} us")
    print()
    print("\n".join(confusion(said["int8"], labels)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
