// SPDX-License-Identifier: Apache-2.0
// The mends, in the order in which they are tried. A row: the new form, the op of the anchor, the
// functions that recognize and replace it, and why results differ (NULL: they do not). The
// description of a target (graph/core/target.h) lists which of its rules a mend answers. The
// functions are in mend_pairs.c (activations), mend_weights.c (constants) and mend_nodes.c.
#include "graph/transform/mend/mend.h"

#define ROW(name, anchor, function, cause)                                                      \
    {                                                                                           \
        "mend", name, anchor, qdq_mend_match_##function, qdq_mend_build_##function, NULL, NULL, \
            false, cause                                                                        \
    }

// clang-format off
const qdq_pattern qdq_mends[] = {
    ROW("no Dropout", "Dropout", dropout, "dropped elements"),
    ROW("parameters as numbers", "Quantize", numbers, NULL),
    ROW("parameters as numbers", "Dequantize", numbers, NULL),
    ROW("Cast before it", "Quantize", float_input, NULL),
    ROW("Cast behind it", "Dequantize", float_result, NULL),
    ROW("float32 scale", "Quantize", float_scale, NULL),
    ROW("float32 scale", "Dequantize", float_scale, NULL),
    ROW("float32 scale", "DynamicQuantize", float_scale, NULL),
    ROW("float constant", "Dequantize", float_bias, NULL),
    ROW("signed codes", "Quantize", signed_pair, NULL),
    ROW("signed codes", "Dequantize", signed_codes, NULL),
    ROW("codes without a zero point", "Dequantize", shifted_codes, NULL),
    ROW("the whole range", "Quantize", full_range, "clamp range"),
    ROW("symmetric codes", "Dequantize", symmetric_codes, "symmetric scale"),
    ROW("one symmetric scale", "Quantize", symmetric_pair, "symmetric scale"),
    ROW("one scale for each channel", "Dequantize", channels, "scales of blocks"),
    {.name = NULL},
};
// clang-format on
