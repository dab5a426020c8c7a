// SPDX-License-Identifier: Apache-2.0
// The formula of a quantizing node as a target computes it, in one line.
#ifndef QDQ_TOOLS_HTML_FORMULA_H
#define QDQ_TOOLS_HTML_FORMULA_H

#include <qdq/numerics.h>

// Writes "saturate(half_even(x / scale) + zero_point)" to `out`; for other ops the choices that
// differ from ONNX's, or "". `bfloat16`: the node reads or writes bfloat16. Returns `out`.
const char *formula_text(const char *op, const qdq_numerics *numerics, bool bfloat16, char *out,
                         size_t capacity);

#endif
