// SPDX-License-Identifier: Apache-2.0
#include "graph/formats/json/json_base64.h"

#include <string.h>

#include "runtime/base/base64.h"
#include "runtime/numerics/dtype.h"

static void bad_text(qdq_graph *graph, const char *name, const char *found, const char *wanted) {
    qdq_graph_report_core(graph, QDQ_RULE_CONSTANT_DATA,
                          (qdq_subject){name, NULL, "base64", "constant"}, found, wanted);
}

// Returns how many digits are before the padding of a text of ceil(bytes / 3) * 4 characters.
static size_t digits_of(size_t bytes) { return bytes / 3 * 4 + (bytes % 3 ? bytes % 3 + 1 : 0); }

// Decodes a text of the right length. False after a finding.
static bool decode(qdq_graph *graph, const char *name, const char *text, size_t bytes,
                   unsigned char *out) {
    qdq_findings *f = &graph->findings;
    size_t digits = digits_of(bytes), same = qdq_base64_span("+/", text, digits);
    const char *padding = bytes % 3 == 1 ? "==" : bytes % 3 == 2 ? "=" : "";
    if (same < digits)
        bad_text(graph, name, qdq_text(f, "has another character at index %zu", same),
                 "A-Z, a-z, 0-9, + and /");
    else if (strcmp(text + digits, padding) != 0)
        bad_text(graph, name, "has no padding", qdq_text(f, "'%s' at its end", padding));
    else if (qdq_base64_decode("+/", text, digits, out) != bytes)
        bad_text(graph, name, "has bits behind its last byte", "zeros there");
    else
        return true;
    return false;
}

void qdq_json_add_base64(qdq_graph *graph, const char *name, qdq_type type, size_t count,
                         const char *text) {
    qdq_findings *f = &graph->findings;
    size_t bytes, length = strlen(text);
    bool countable = !__builtin_mul_overflow(count, qdq_dtype_size(type.dtype), &bytes);
    size_t groups = bytes / 3 + (bytes % 3 != 0);
    if (count != SIZE_MAX && countable && (length % 4 != 0 || length / 4 != groups)) {
        bad_text(
            graph, name, qdq_text(f, "has %zu characters", length),
            qdq_text(f, "4 for each 3 of the %zu bytes of dtype and shape, with padding", bytes));
        (void)qdq_graph_add_invalid(graph, name);
        return;
    }
    qdq_value value;
    char *memory = qdq_graph_add_constant(graph, name, type.dtype, type.shape, &value);
    if (!memory || !decode(graph, name, text, bytes, (unsigned char *)memory)) return;
    (void)qdq_graph_check_data(graph, name, type.dtype, memory, count);
}
