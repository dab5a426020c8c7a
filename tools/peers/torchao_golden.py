# SPDX-License-Identifier: Apache-2.0
"""Writes tests/graph/targets/torchao/torchao_golden.h: torchao's results for seeded inputs, as
checksums.

    python3 torchao_golden.py --venv DIR ../../tests/graph/targets/torchao/torchao_golden.h

makes the virtual environment DIR with torch and torchao if it is missing, and runs itself in it.
Without --venv it uses the current one. Needs torchao 0.18 and numpy, and takes some minutes. The
instruction set (ATEN_CPU_CAPABILITY) does not matter.

A case is a row of the table: an op, its dtypes, a grain (shape and block), the origin of scale and
zero point, a clamp range. Its inputs follow from the number of the row alone: torchao_inputs.py
makes them here, tests/graph/targets/torchao/torchao_inputs.h in C, and the row has their CRC-32.
The
other CRC-32 covers the results: y, and for DynamicQuantize then scale and zero point (only the
scale
if y is a small float), each element with its own bytes, low byte first, a 4-bit element as one
byte.
All NaN count as one code: 0x7FC00000, 0x7E00, 0x7FC0 (bfloat16), 0x7F (float8). The first three
codes of y follow in clear.

Cases that PyTorch leaves undefined are avoided, which is asserted:
  * NaN to an integer: no NaN in x or in a scale, no infinity in x of DynamicQuantize.
  * Numbers beyond int16 or int32 after the clamp: the greatest bound is one that the step dtype
    has (int32: 2147483520 in float32, 2139095040 in bfloat16; int16: 32512 in 16-bit floats).
    PyTorch rounds other bounds to the step dtype, even outwards.
  * Results of int32 in float16, whose default bounds PyTorch refuses.
  * float4 of NaN.
Cases avoid the points in which torchao 0.18 differs from the numerics that all targets share:
  * MX: no block with NaN or infinity, only zeros with the scale code 0, and in mx_rceil no float32
    maximum so little above a power of two times the largest code that log2 misses it.
  * float16 x with an eps that is 0 as float16.
Not covered: uint16, which torchao does not have; tinygemm's way to choose parameters; fp6; scales
of
0, NaN or infinity.
"""

import argparse
import subprocess
import sys
import venv
import zlib
from pathlib import Path

NEEDS = ["torch", "torchao==0.18.0", "numpy"]
MACROS = """\
#define ROW(op, how, x, y, grain, scale, ...) \\
    {op, QDQ_##how, QDQ_##x, QDQ_##y, grain, QDQ_##scale, __VA_ARGS__}
#define QU(domain, ...) ROW(QUANTIZE, DOMAIN_##domain, __VA_ARGS__)
#define DE(domain, ...) ROW(DEQUANTIZE, DOMAIN_##domain, __VA_ARGS__)
#define RE(domain, ...) ROW(REQUANTIZE, DOMAIN_##domain, __VA_ARGS__)
#define DY(scheme, ...) ROW(DYNAMIC, scheme, __VA_ARGS__)
#define NONE ZP_NONE, QDQ_DTYPE_NONE
#define SCALAR ZP_SCALAR, QDQ_DTYPE_NONE
#define LIST ZP_LIST, QDQ_DTYPE_NONE
#define PORT(dtype) ZP_PORT, QDQ_##dtype
"""


def environment(folder):
    """The Python of a virtual environment with all requirements."""
    python = Path(folder) / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", *NEEDS], check=True)
    return python


def crc_of(arrays):
    crc = 0
    for array in arrays:
        crc = zlib.crc32(array.tobytes(), crc)
    return crc


def write(path, versions, rows):
    import torchao_inputs as inputs

    def name(dtype):
        return dtype.upper() if dtype else "DTYPE_NONE"

    out = [
        "// SPDX-License-Identifier: Apache-2.0\n",
        f"// Written by tools/peers/torchao_golden.py with {versions}; the script\n",
        "// describes the rows.\n",
        "#ifndef QDQ_TESTS_GRAPH_TARGETS_TORCHAO_TORCHAO_GOLDEN_H\n",
        "#define QDQ_TESTS_GRAPH_TARGETS_TORCHAO_TORCHAO_GOLDEN_H\n\n",
        '#include "tests/graph/targets/torchao/torchao_case.h"\n\n// clang-format off\n',
        "static const torchao_grain torchao_grains[] = {\n",
    ]
    for grain in inputs.GRAINS:
        shape, block = (", ".join(map(str, side)) for side in (grain.shape, grain.block))
        axis = grain.axis if grain.qtype == "PER_CHANNEL" else 0
        rank = len(grain.shape)
        out.append(f"    {{QDQ_{grain.qtype}, {axis}, {{{rank}, {{{shape}}}}}, {{{block}}}}},\n")
    out.append("};\n\n" + MACROS + "static const torchao_case torchao_cases[] = {\n")
    for case, crcs, first in rows:
        how = case.how.removeprefix("DOMAIN_")
        zp = case.zp_from.removeprefix("ZP_")
        words = [
            how,
            name(case.x),
            name(case.y),
            case.grain,
            name(case.scale),
            f"PORT({name(case.zp)})" if zp == "PORT" else zp,
            case.qmin,
            case.qmax,
            case.eps,
            *(f"0x{crc:08X}" for crc in crcs),
        ]
        codes = ", ".join(f"0x{int(code):X}" for code in first)
        row = f"    {case.op[:2]}({', '.join(map(str, words))}, {{{codes}}}),\n"
        out.append(row.replace("-2147483648", "INT32_MIN"))
    out.append("};\n// clang-format on\n\n#endif\n")
    Path(path).write_text("".join(out), encoding="utf-8")


def main(path):
    import torch
    import torchao
    import torchao_cases
    import torchao_inputs as inputs
    import torchao_peer as peer

    torch.set_num_threads(2)
    rows, totals = [], {}
    for number, case in enumerate(torchao_cases.cases()):
        data = inputs.make(case, number)
        results = peer.run(case, data)
        rows.append((case, (crc_of(data.arrays()), crc_of(results)), results[0].reshape(-1)[:3]))
        key = case.op, case.how, case.x, case.y
        totals[key] = totals.get(key, 0) + data.x.size
    for key, total in totals.items():
        print(*key, total)
    write(path, f"torch {torch.__version__.split('+')[0]} and torchao {torchao.__version__}", rows)
    print(len(rows), "rows,", sum(totals.values()), "elements")


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("header")
    arguments.add_argument("--venv", metavar="DIR")
    asked = arguments.parse_args()
    if asked.venv:
        sys.exit(
            subprocess.run(
                [environment(asked.venv), __file__, asked.header], check=False
            ).returncode
        )
    main(asked.header)
