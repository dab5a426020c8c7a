// SPDX-License-Identifier: Apache-2.0
// For tests of movement ops on large shapes: random elements of any dtype, and the begin and end of
// a case.
#ifndef QDQ_TESTS_OPS_MOVEMENT_LARGE_MOVES_H
#define QDQ_TESTS_OPS_MOVEMENT_LARGE_MOVES_H

#include "ops/blocking.h"
#include "ops/movement/movement.h"
#include "tests/ops/large_links.h"

//---- Elements ---------------------------------------------------------------

// Random bits for dtypes in which every code is legal; with links, numbers that bfloat16 holds too.
static inline void moves_fill(tensor *t, uint64_t *state, bool whole) {
    size_t bytes = tensor_count(t) * qdq_dtype_size(t->dtype);
    if (whole && large_is_float(t->dtype)) {
        large_fill_whole(t, state, 100);
        return;
    }
    int codes = t->dtype == QDQ_BOOL ? 2 : product_codes(t->dtype);
    for (size_t i = 0; i < bytes; i++) {
        int byte = (int)large_pick(state, 256);
        if (codes) byte = product_least(t->dtype) + byte % codes;
        ((unsigned char *)t->data)[i] = (unsigned char)byte;
    }
}

static inline void moves_copy(tensor *y, size_t to, const tensor *x, size_t from) {
    size_t size = qdq_dtype_size(x->dtype);
    memcpy((char *)y->data + to * size, (const char *)x->data + from * size, size);
}

//---- Cases ------------------------------------------------------------------

// Picks one of the dtypes that can be moved.
static inline qdq_dtype moves_dtype(uint64_t *state) {
    for (;;) {
        size_t dtype = 1 + large_pick(state, QDQ_DTYPE_COUNT - 1);
        if (large_pick(state, 3) == 0) dtype = QDQ_FLOAT32;
        if (dtype != QDQ_BFLOAT8_B && dtype != QDQ_BFLOAT4_B && dtype != QDQ_FLOAT4_E2M1)
            return (qdq_dtype)dtype;
    }
}

static inline large_value moves_begin(large_graph *c, uint64_t *state, const char *what,
                                      qdq_shape shape, qdq_dtype dtype) {
    large_value v;
    tensor *x;
    large_graph_begin(c, what);
    large_say(c, " ", shape, dtype);
    c->short_numbers = !large_is_float(dtype) || large_pick(state, 2);
    v.value = large_input(c, dtype, shape, &x);
    moves_fill(x, state, c->short_numbers);
    v.numbers = large_like(x, dtype);
    memcpy(v.numbers.data, x->data, tensor_count(x) * qdq_dtype_size(dtype));
    return v;
}

// Adds at least one link if the numbers stay exact with it.
static inline void moves_finish(large_graph *c, uint64_t *state, large_value v, uint64_t seed) {
    if (c->short_numbers && large_is_float(v.numbers.dtype))
        large_links(c, state, v, 1);
    else
        large_output(c, v.value, v.numbers);
    large_graph_check(c, seed);
}

#endif
