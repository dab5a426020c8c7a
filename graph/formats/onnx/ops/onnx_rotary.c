// SPDX-License-Identifier: Apache-2.0
// Converts RotaryEmbedding: pairs of elements of each head are turned by an angle that depends on
// their place.
#include <stdio.h>

#include "graph/formats/onnx/ops/onnx_formula.h"

enum { MOST_TEXT = 640 };

enum { X, COSINES, SINES, PLACES };  // the inputs

typedef struct rotary {
    bool flat;  // x is [batch, sequence, heads * depth], not [batch, heads, sequence, depth]
    int64_t batch, heads, sequence, depth, turned;
} rotary;

static bool refuse(qdq_onnx_node *node, const char *port, qdq_shape shape, const char *wanted) {
    qdq_findings *f = &node->im->graph->findings;
    qdq_onnx_refuse(node, port, qdq_text(f, "is %s", qdq_shape_text(f, shape)), wanted);
    return false;
}

static bool read_shapes(qdq_onnx_node *node, rotary *r) {
    qdq_shape x = node->inputs[X]->shape, c = node->inputs[COSINES]->shape;
    r->flat = x.rank == 3;
    if (x.rank != 3 && x.rank != 4) return refuse(node, "X", x, "3 or 4 dims");
    r->batch = x.dims[0], r->sequence = x.dims[r->flat ? 1 : 2];
    r->heads = r->flat ? qdq_onnx_int(node, "num_heads", 0) : x.dims[1];
    if (r->heads < 1 || (r->flat && x.dims[2] % r->heads != 0))
        return refuse(node, "X", x, "a multiple of num_heads as its last dim");
    r->depth = r->flat ? x.dims[2] / r->heads : x.dims[3];
    r->turned = qdq_onnx_int(node, "rotary_embedding_dim", 0);
    if (r->turned == 0) r->turned = r->depth;
    if (r->turned < 2 || r->turned % 2 != 0 || r->turned > r->depth)
        return refuse(node, "X", x, "an even rotary_embedding_dim, at most the elements of a head");
    bool has_places = qdq_onnx_input(node, PLACES) != NULL;
    if (c.rank != (has_places ? 2 : 3) || c.dims[c.rank - 1] != r->turned / 2)
        return refuse(node, "cos_cache", c,
                      has_places ? "2 dims, the last one rotary_embedding_dim / 2"
                                 : "3 dims, the last one rotary_embedding_dim / 2");
    return true;
}

// Writes the formula of y; `rest` is true if a part of each head stays.
static void write_formula(char text[MOST_TEXT], const rotary *r, bool interleaved, bool rest) {
    static const char *const split[] = {
        "x1 = Slice(x, starts: none, ends: half, axes: [3]); x2 = Slice(x, starts: half, ends: "
        "turned, axes: [3])",
        "x1 = Slice(x, starts: [0], ends: turned, axes: [3], steps: [2]); x2 = Slice(x, starts: "
        "[1], ends: turned, axes: [3], steps: [2])"};
    static const char *const join[] = {
        "Concat(real, imag, axis: 3)",
        "StaticReshape(Concat(StaticReshape(real, shape: pairs, special_zero: 0), "
        "StaticReshape(imag, shape: pairs, special_zero: 0), axis: 4), shape: joined, "
        "special_zero: 0)"};
    snprintf(text, MOST_TEXT,
             "%s; real = Subtract(Multiply(cos, x1), Multiply(sin, x2)); imag = "
             "Add(Multiply(sin, x1), Multiply(cos, x2)); %s%s%s%s%s",
             split[interleaved], r->flat ? "StaticReshape(" : "", rest ? "Concat(" : "",
             join[interleaved],
             rest ? ", Slice(x, starts: turned, ends: depth, axes: [3]), axis: 3)" : "",
             r->flat ? ", shape: flat, special_zero: 0)" : "");
}

// Returns the formula of the angles of each place, in a shape that broadcasts over the heads.
static const char *angles(bool places) {
    return places ? "angles = StaticReshape(Gather(cache, places, axis: 0), shape: angles, "
                    "special_zero: 0)"
                  : "angles = StaticReshape(cache, shape: angles, special_zero: 0)";
}

void qdq_onnx_rotary_embedding(qdq_onnx_node *node, const qdq_onnx_op *row) {
    rotary r;
    char text[MOST_TEXT];
    if (!read_shapes(node, &r)) return;
    int64_t half = r.turned / 2, none = 0, heads = r.flat ? r.heads : 1;
    int64_t outer[] = {r.batch, r.flat ? r.sequence : r.heads, r.flat ? r.heads : r.sequence};
    int64_t x[] = {outer[0], outer[1], outer[2], r.depth};
    int64_t pairs[] = {outer[0], outer[1], outer[2], half, 1};
    int64_t joined[] = {outer[0], outer[1], outer[2], r.turned};
    int64_t flat[] = {r.batch, r.sequence, heads * r.depth};
    int64_t shape[] = {r.batch, r.flat ? r.sequence : 1, r.flat ? 1 : r.sequence, half};
    qdq_onnx_term terms[] = {{.name = "x", .input = node->inputs[X]},
                             {.name = "cos"},
                             {.name = "sin"},
                             {.name = "half", .ints = {&half, 1}},
                             {.name = "none", .ints = {&none, 1}},
                             {.name = "turned", .ints = {&r.turned, 1}},
                             {.name = "depth", .ints = {&r.depth, 1}},
                             {.name = "pairs", .ints = {pairs, 5}},
                             {.name = "joined", .ints = {joined, 4}},
                             {.name = "flat", .ints = {flat, 3}},
                             {.name = "heads", .ints = {x, 4}}};
    for (size_t i = COSINES; i <= SINES; i++) {
        const qdq_onnx_term more[] = {{.name = "cache", .input = node->inputs[i]},
                                      {.name = "places", .input = qdq_onnx_input(node, PLACES)},
                                      {.name = "angles", .ints = {shape, 4}}};
        terms[i].value =
            qdq_onnx_formula(node, row, angles(qdq_onnx_input(node, PLACES) != NULL), more, 3);
        if (!terms[i].value.id) return;
    }
    if (r.flat)
        terms[0].value = qdq_onnx_formula(
            node, row, "x = StaticReshape(x, shape: heads, special_zero: 0)", terms, 11);
    write_formula(text, &r, qdq_onnx_int(node, "interleaved", 0) != 0, r.turned < r.depth);
    qdq_onnx_bind(node, 0, qdq_onnx_formula(node, row, text, terms, 11));
}
