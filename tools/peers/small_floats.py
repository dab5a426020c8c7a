# SPDX-License-Identifier: Apache-2.0
"""Writes tests/runtime/numerics/small_float_golden.h: the codes that ml_dtypes gives for every
float16 and bfloat16.

    python3 small_floats.py ../../tests/runtime/numerics/small_float_golden.h

Needs numpy and ml_dtypes. For each pair of a source and a target, all 65,536 values of the source
are cast. The CRC-32 covers the codes of the results, one byte each or two, low byte first.

ml_dtypes never saturates to float8, so this is QDQ_FLOAT_OVERFLOW. For the numbers below it has
other rules than qdq: the script checks that its codes are those listed here, then writes 0 in their
place.

float4_e2m1  a NaN becomes -0 in both, but ml_dtypes turns a negative one into +0.
float8_e8m0  ml_dtypes   qdq
             NaN         2^-127    zeros
             NaN         2^127     from 1.5 * 2^127 on, and infinity
             the upper   the even  halfway between two powers of two (different where the lower is
             even)
             2^-126      2^-127    above 2^-127 and up to 1.5 * 2^-127, subnormal as bfloat16

All NaN codes of a target count as one: the greatest code without sign, 0x80 in the fnuz types.
"""

import sys
import zlib

import ml_dtypes
import numpy as np

SOURCES = {"FLOAT16": np.float16, "BFLOAT16": ml_dtypes.bfloat16}
TARGETS = {
    "FLOAT16": np.float16,
    "BFLOAT16": ml_dtypes.bfloat16,
    "FLOAT8_E4M3FN": ml_dtypes.float8_e4m3fn,
    "FLOAT8_E5M2": ml_dtypes.float8_e5m2,
    "FLOAT8_E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "FLOAT8_E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "FLOAT4_E2M1": ml_dtypes.float4_e2m1fn,
    "FLOAT8_E8M0": ml_dtypes.float8_e8m0fnu,
}
# The code that stands for NaN.
NAN_CODE = {
    "FLOAT16": 0x7FFF,
    "BFLOAT16": 0x7FFF,
    "FLOAT8_E4M3FN": 0x7F,
    "FLOAT8_E5M2": 0x7F,
    "FLOAT8_E4M3FNUZ": 0x80,
    "FLOAT8_E5M2FNUZ": 0x80,
    "FLOAT8_E8M0": 0xFF,
}


def exclude(codes, where, theirs):
    """Writes 0 for the codes where ml_dtypes is known to differ, after checking that it does."""
    assert where.any(), "nothing differs: drop the exception"
    assert (codes[where] == theirs[where]).all(), "ml_dtypes has changed"
    codes[where] = 0


def exclude_exponent(codes, x, from_float16):
    """The four exceptions of float8_e8m0. float16 has neither its extremes nor its subnormals."""
    exclude(codes, x == 0, np.full(len(x), 255))
    exclude(codes, x >= 1.5 * 2.0**127, np.full(len(x), 255))
    normal = (x >= 2.0**-126) & (x < 1.5 * 2.0**127)
    mantissa, exponent = np.frexp(np.where(normal, x, 1))
    lower = exponent - 1 + 127
    exclude(codes, normal & (mantissa == 0.75) & (lower % 2 == 0), lower + 1)
    if not from_float16:
        exclude(codes, (x > 2.0**-127) & (x <= 1.5 * 2.0**-127), np.full(len(x), 1))


def cast(source, target):
    """The codes of all values of the source, in order."""
    values = np.arange(65536, dtype=np.uint32).astype(np.uint16).view(SOURCES[source])
    wide = values.astype(np.float64)
    results = values.astype(TARGETS[target])
    codes = results.view(np.uint16 if results.itemsize == 2 else np.uint8).copy()
    if target == "FLOAT4_E2M1":
        negative_nan = np.isnan(wide) & (np.arange(65536) >= 32768)
        exclude(codes, negative_nan, np.zeros(65536))
    else:
        codes[np.isnan(results.astype(np.float32))] = NAN_CODE[target]
    if target == "FLOAT8_E8M0":
        exclude_exponent(codes, wide, source == "FLOAT16")
    return codes


def main(path):
    rows = []
    with np.errstate(all="ignore"):
        for source in SOURCES:
            for target in TARGETS:
                if target != source:
                    crc = zlib.crc32(cast(source, target).tobytes())
                    rows.append(f"    {{QDQ_{source}, QDQ_{target}, 0x{crc:08X}}},\n")
    with open(path, "w", encoding="utf-8") as out:
        out.write(
            "// SPDX-License-Identifier: Apache-2.0\n"
            f"// CRC-32 of the codes of all source values, from ml_dtypes {ml_dtypes.__version__}. "
            "tools/peers/small_floats.py\n"
            "// writes this file and says which values it leaves out.\n"
            "#ifndef QDQ_TESTS_RUNTIME_NUMERICS_SMALL_FLOAT_GOLDEN_H\n"
            "#define QDQ_TESTS_RUNTIME_NUMERICS_SMALL_FLOAT_GOLDEN_H\n\n"
            '#include "include/qdq/base.h"\n\n'
            "static const struct {\n"
            "    qdq_dtype source, target;\n"
            "    uint32_t crc;\n"
            "} small_float_golden[] = {\n" + "".join(rows) + "};\n\n#endif\n"
        )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
