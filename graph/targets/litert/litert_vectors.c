// SPDX-License-Identifier: Apache-2.0
// Which elements the vectors of the optimized kernels compute.
#include "graph/targets/litert/litert_vectors.h"

#include <string.h>

#include "include/qdq/ops/products.h"

//---- Runs of elements -------------------------------------------------------

enum { A, B };  // ports of sums

enum { CODE_BLOCK = 16, BYTE_BLOCK = 8 };  // elements

static int64_t dim_behind(const qdq_shape *s, int i) {
    return i < s->rank ? s->dims[s->rank - 1 - i] : 1;
}

// Returns the run of elements that vectors of the optimized ADD go through for two shapes, with
// `scalar` set if one operand is a single element there; 0: they do not.
static int64_t run_of(const qdq_shape *a, const qdq_shape *b, bool *scalar) {
    int rank = a->rank > b->rank ? a->rank : b->rank, i = 0;
    int64_t same = 1, spread = 1;
    while (i < rank && dim_behind(a, i) == dim_behind(b, i)) same *= dim_behind(a, i++);
    *scalar = i < rank && same == 1;
    if (i == rank) return same;
    const qdq_shape *one = dim_behind(a, i) == 1 ? a : b, *more = one == a ? b : a;
    while (i < rank && dim_behind(one, i) == 1) spread *= dim_behind(more, i++);
    while (i < rank && dim_behind(a, i) == dim_behind(b, i)) i++;
    while (i < rank && dim_behind(more, i) == 1) i++;
    while (i < rank && dim_behind(a, i) == dim_behind(b, i)) i++;
    return i < rank ? 0 : *scalar ? spread : same;
}

litert_blocks litert_blocks_of_sum(const qdq_rewriter *r, const litert_unit *u,
                                   litert_engine engine) {
    bool scalar;
    litert_blocks blocks = {.run = 0};
    if (engine != LITERT_BUILTIN || strcmp(u->qdq.node->op->name, "Add") != 0) return blocks;
    blocks.run = run_of(&r->from->values[u->qdq.x[A].codes].type.shape,
                        &r->from->values[u->qdq.x[B].codes].type.shape, &scalar);
    bool spread =
        blocks.run != (int64_t)qdq_shape_count(r->from->values[u->qdq.node->outputs[0]].type.shape);
    if (u->qdq.y.dtype == QDQ_INT16 && spread) blocks.run = 0;
    blocks.floors = scalar || u->qdq.y.dtype == QDQ_UINT8;
    int64_t block = blocks.floors ? BYTE_BLOCK : CODE_BLOCK;
    blocks.split = blocks.run / block * block;
    return blocks;
}

qdq_value litert_join_blocks(const qdq_rewriter *r, const char *name, qdq_value blocks,
                             qdq_value rest, int64_t run, int64_t split) {
    qdq_shape shape = litert_shape(r->to, blocks);
    qdq_shape runs = {2, {(int64_t)qdq_shape_count(shape) / run, run}};
    qdq_value a = litert_reshape(r, litert_part(r, name, "/block_runs"), blocks, runs),
              b = litert_reshape(r, litert_part(r, name, "/rest_runs"), rest, runs);
    a = litert_part_of(r, litert_part(r, name, "/head"), a, 1, 0, split);
    b = litert_part_of(r, litert_part(r, name, "/tail"), b, 1, split, run);
    a = litert_join(r, litert_part(r, name, "/joined"), a, b, 1);
    return litert_reshape(r, name, a, shape);
}

//---- Windows ----------------------------------------------------------------

enum { X, W };  // ports of Convolution

static int64_t at(const qdq_ints *numbers, int i, int64_t otherwise) {
    return numbers->count ? numbers->data[i] : otherwise;
}

enum { SPATIAL = 2, SIDE = 3 };

bool litert_is_3x3_kernel(const qdq_rewriter *r, const litert_unit *u) {
    const qdq_convolution_attrs *a = u->qdq.node->attrs;
    const qdq_shape *x = &r->from->values[u->qdq.x[X].codes].type.shape,
                    *w = &r->from->values[u->qdq.x[W].codes].type.shape,
                    *y = &r->from->values[u->qdq.node->outputs[0]].type.shape;
    bool last = a->data_format == QDQ_NXC;
    int64_t channels = x->dims[last ? x->rank - 1 : 1];
    int first = last ? 1 : 2;
    int64_t stride = at(&a->strides, 0, 1), pad = at(&a->pads_begin, 0, 0);
    if (!litert_is_arm(r->version) || channels != w->dims[0] || channels % BYTE_BLOCK) return false;
    if (stride > 2 || pad > 1) return false;
    for (int i = 0; i < SPATIAL; i++) {
        if (w->dims[2 + i] != SIDE || at(&a->dilations, i, 1) != 1) return false;
        if (at(&a->strides, i, 1) != stride || at(&a->pads_begin, i, 0) != pad) return false;
        if ((y->dims[first + i] - 1) * stride + SIDE > x->dims[first + i] + 2 * pad) return false;
    }
    return pad == 0 || (x->dims[first] == 1) == (x->dims[first + 1] == 1);
}
