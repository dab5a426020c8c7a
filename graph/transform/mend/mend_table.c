// SPDX-License-Identifier: Apache-2.0
// The mends, in the order in which they are tried. A row: what it makes, the op of its anchor, the
// functions that recognize and replace it, the rules that it mends, and why results differ (NULL:
// they do not).
#include "graph/transform/mend/mend.h"

#define ROW(name, anchor, function, rules, cause)                                                \
    {                                                                                            \
        "mend", name, anchor, qdq_mend_match_##function, qdq_mend_build_##function, NULL, rules, \
            false, cause                                                                         \
    }

#define UNSIGNED_CODES                                                             \
    "tensorrt/no-uint8 tensorrt/quantized-dtype tripy/x-dtype tripy/result-dtype " \
    "ttnn/dequantize-input-dtype ttnn/quantize-output-dtype ttnn/zero-point-dtype"
#define INT32_BIAS "tensorrt/quantized-dtype onednn/dequantize-input-dtype tripy/x-dtype"
#define ZERO_POINTS "tensorrt/zero-point-is-zero tripy/no-zero-point onednn/float8-zero-point"
#define BLOCKS                                                                        \
    "tensorrt/block-rank-2 tensorrt/one-blocked-dim tensorrt/blocked-dim-is-late "    \
    "tensorrt/blocks-divide tensorrt/no-int8-blocks tripy/block-x tripy/block-dtype " \
    "tripy/blocks-divide tripy/block-columns onednn/group-op onednn/group-divides "   \
    "onednn/group-dims ttnn/no-group torchao/group-divides"

// clang-format off
const qdq_pattern qdq_mends[] = {
    ROW("no Dropout", "Dropout", dropout, "tensorrt/no-dropout", "dropped elements"),
    ROW("parameters as numbers", "Quantize", numbers, "tensorrt/scale-rank tensorrt/zero-point-shape tensorrt/zero-point-dtype tripy/per-tensor-scale tripy/per-channel-scale onednn/zero-point-count onednn/one-kind-of-parameters torchao/zero-point-count ttnn/zero-point-dtype", NULL),
    ROW("parameters as numbers", "Dequantize", numbers, "tensorrt/scale-rank tensorrt/zero-point-shape tensorrt/zero-point-dtype tripy/per-tensor-scale tripy/per-channel-scale onednn/zero-point-count onednn/one-kind-of-parameters torchao/zero-point-count ttnn/zero-point-dtype", NULL),
    ROW("Cast before it", "Quantize", float_input, "onednn/quantize-input-dtype", NULL),
    ROW("Cast behind it", "Dequantize", float_result, "onednn/dequantize-output-dtype", NULL),
    ROW("float constant", "Dequantize", float_bias, INT32_BIAS, NULL),
    ROW("signed codes", "Quantize", signed_pair, UNSIGNED_CODES, NULL),
    ROW("signed codes", "Dequantize", signed_codes, UNSIGNED_CODES, NULL),
    ROW("codes without a zero point", "Dequantize", shifted_codes, ZERO_POINTS, NULL),
    ROW("the whole range", "Quantize", full_range, "tensorrt/no-clamp-range tripy/no-clamp-range onednn/no-clamp-range", "clamp range"),
    ROW("symmetric codes", "Dequantize", symmetric_codes, ZERO_POINTS, "symmetric scale"),
    ROW("one symmetric scale", "Quantize", symmetric_pair, ZERO_POINTS " tensorrt/per-channel-is-for-weights", "symmetric scale"),
    ROW("one scale for each channel", "Dequantize", channels, BLOCKS, "scales of blocks"),
    {.name = NULL},
};
// clang-format on
