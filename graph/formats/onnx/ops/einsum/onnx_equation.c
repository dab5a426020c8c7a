// SPDX-License-Identifier: Apache-2.0
// Reads the equation of an Einsum: `...ij,jk->...ik`.
#include <ctype.h>
#include <string.h>

#include "graph/formats/onnx/ops/einsum/onnx_einsum.h"

bool qdq_onnx_has_index(const qdq_onnx_indices *indices, int index) {
    for (int i = 0; i < indices->count; i++)
        if (indices->at[i] == index) return true;
    return false;
}

static bool refuse(qdq_onnx_node *node, const char *wanted) {
    const char *text = qdq_onnx_word(node, "equation", "");
    qdq_onnx_refuse(node, "equation", ONNX_TEXT(node, "is '%.80s'", text), wanted);
    return false;
}

static bool add(qdq_onnx_indices *indices, int index) {
    if (indices->count == QDQ_MAX_RANK) return false;
    indices->at[indices->count++] = index;
    return true;
}

// Reads letters and an ellipsis, which stands for `wide` dims, up to a comma, an arrow or the end.
// NULL: they are wrong, or too many.
static const char *read_indices(const char *at, int wide, qdq_onnx_indices *out) {
    bool has_ellipsis = false;
    for (; *at && *at != ',' && *at != '-'; at++) {
        if (*at == ' ') continue;
        if (isalpha((unsigned char)*at)) {
            if (!add(out, (unsigned char)*at)) return NULL;
            continue;
        }
        if (strncmp(at, "...", 3) != 0 || has_ellipsis) return NULL;
        has_ellipsis = true;
        for (int i = wide; i > 0; i--)
            if (!add(out, QDQ_ONNX_INDICES - i)) return NULL;
        at += 2;
    }
    return at;
}

// Returns the number of dims that the ellipsis of the operand at `at` stands for.
static int width_of(const char *at, int rank) {
    for (; *at && *at != ',' && *at != '-'; at++)
        if (isalpha((unsigned char)*at)) rank--;
    return rank > 0 ? rank : 0;
}

// Sizes of the operand's dims. A dim of 1 goes with any size.
static bool set_sizes(qdq_onnx_equation *e, const qdq_onnx_indices *operand, qdq_shape shape) {
    if (operand->count != shape.rank) return false;
    for (int i = 0; i < shape.rank; i++) {
        int64_t *size = &e->sizes[operand->at[i]];
        if (*size > 1 && shape.dims[i] > 1 && *size != shape.dims[i]) return false;
        if (shape.dims[i] > *size) *size = shape.dims[i];
        for (int j = 0; j < i; j++)
            if (operand->at[i] == operand->at[j] && shape.dims[i] != shape.dims[j]) return false;
    }
    return true;
}

// Sets the result of an equation without an arrow: the dims of ellipses, then the letters that
// occur once.
static bool set_implicit(qdq_onnx_equation *e, size_t operands) {
    int found[QDQ_ONNX_INDICES] = {0};
    for (size_t k = 0; k < operands; k++)
        for (int i = 0; i < e->operands[k].count; i++) found[e->operands[k].at[i]]++;
    for (int i = QDQ_ONNX_LETTERS; i < QDQ_ONNX_INDICES; i++)
        if (found[i] && !add(&e->y, i)) return false;
    for (int i = 0; i < QDQ_ONNX_LETTERS; i++)
        if (found[i] == 1 && !add(&e->y, i)) return false;
    return true;
}

bool qdq_onnx_read_equation(qdq_onnx_node *node, qdq_onnx_equation *e) {
    const char *at = qdq_onnx_word(node, "equation", "");
    int wide = 0;
    *e = (qdq_onnx_equation){0};
    if (node->input_count > QDQ_ONNX_MOST_OPERANDS) return refuse(node, "at most 16 operands");
    for (size_t k = 0; k < node->input_count; k++) {
        qdq_shape shape = node->inputs[k]->shape;
        int width = width_of(at, shape.rank);
        at = read_indices(at, width, &e->operands[k]);
        if (!at || *at != (k + 1 < node->input_count ? ',' : *at == '-' ? '-' : '\0'))
            return refuse(node, "letters and one ellipsis for each operand, at most 8 dims");
        if (!set_sizes(e, &e->operands[k], shape))
            return refuse(node, "a letter for each dim, of one size everywhere");
        if (k + 1 < node->input_count) at++;
    }
    for (int i = QDQ_ONNX_LETTERS; i < QDQ_ONNX_INDICES; i++) wide += e->sizes[i] > 0;
    bool fine = *at ? at[1] == '>' && (at = read_indices(at + 2, wide, &e->y)) != NULL && !*at
                    : set_implicit(e, node->input_count);
    for (int i = 0; fine && i < e->y.count; i++) {
        fine = e->sizes[e->y.at[i]] > 0;
        for (int j = 0; j < i; j++) fine = fine && e->y.at[j] != e->y.at[i];
    }
    return fine || refuse(node, "a result of letters that stand in an operand, each once");
}
