// SPDX-License-Identifier: Apache-2.0
// Converts a linear or cubic Resize to weighted sums: Gather, Multiply and Add, in ONNX Runtime's
// order. Cubic and antialiased sums go along one dim after the other, the last dim first. A linear
// Resize sums the corners around a position at once; their weights are products over the dims.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/formats/onnx/ops/resize/onnx_resize.h"
#include "runtime/numerics/dtype.h"

enum { CORNERS = 2, MOST_TEXT = 96, ONE = 1 << 10 };

typedef struct sums {
    const qdq_onnx_resize *r;
    int dims[QDQ_MAX_RANK], count;  // that are interpolated
    qdq_onnx_taps taps[QDQ_MAX_RANK];
    int elem;        // of the weights and sums
    bool last;       // the sum is the output
    qdq_value sum;   // of linear
    size_t corners;  // left
} sums;

//---- Values -----------------------------------------------------------------

// Returns numbers along `dim`, in a shape that broadcasts to the result's.
static qdq_onnx_value *along(const qdq_onnx_resize *r, int dim, const char *name, int elem,
                             const double *numbers, size_t count) {
    qdq_onnx_value *value = qdq_onnx_list_value(r->node, name, elem, numbers, count);
    for (int i = dim + 1; value && i < r->in.rank; i++) value->shape.dims[value->shape.rank++] = 1;
    return value;
}

static qdq_value gather(const sums *s, qdq_value x, int k, size_t tap) {
    const qdq_onnx_taps *taps = &s->taps[k];
    const qdq_onnx_term terms[] = {
        {.name = "from", .value = x},
        {.name = "indices",
         .input = qdq_onnx_list_value(s->r->node, "indices", ONNX_INT64,
                                      taps->index + tap * taps->size, taps->size)},
        {.name = "axis", .number = s->dims[k]}};
    return qdq_onnx_formula(s->r->node, s->r->row, "part = Gather(from, indices, axis: axis)",
                            terms, 3);
}

// Adds sum + part * weight, or sum + part * weight / divisor; the first part has no sum yet.
static qdq_value add(const sums *s, qdq_value sum, qdq_value part, qdq_onnx_term weight,
                     qdq_onnx_term divisor, bool last) {
    const char *made =
        divisor.input ? "Divide(Multiply(part, weight), divisor)" : "Multiply(part, weight)";
    char text[MOST_TEXT];
    weight.name = "weight", divisor.name = "divisor";
    const qdq_onnx_term terms[] = {
        {.name = "so_far", .value = sum}, {.name = "part", .value = part}, weight, divisor};
    snprintf(text, sizeof text, sum.id ? "%sAdd(so_far, %s)" : "%s%s", last ? "" : "sum = ", made);
    return qdq_onnx_formula(s->r->node, s->r->row, text, terms, 4);
}

static qdq_onnx_term weight_of(const sums *s, int k, size_t tap) {
    const qdq_onnx_taps *taps = &s->taps[k];
    return (qdq_onnx_term){.name = "weight",
                           .input = along(s->r, s->dims[k], "weight", s->elem,
                                          taps->weight + tap * taps->size, taps->size)};
}

//---- Sums -------------------------------------------------------------------

static qdq_value sum_along(const sums *s, qdq_value x, int k) {
    qdq_value sum = {0};
    size_t count = s->taps[k].count;
    for (size_t tap = 0; tap < count && !s->r->node->refused; tap++) {
        bool last = s->last && k == 0 && tap + 1 == count;
        qdq_onnx_term divisor = {0};
        if (s->taps[k].divisor)
            divisor.input =
                along(s->r, s->dims[k], "divisor", s->elem, s->taps[k].divisor, s->taps[k].size);
        sum = add(s, sum, gather(s, x, k, tap), weight_of(s, k, tap), divisor, last);
    }
    return sum;
}

// Adds the corners within `x`, which was gathered along the dims before dim k. `tap` has their
// taps.
static void sum_corners(sums *s, qdq_value x, int k, size_t *tap) {
    for (tap[k] = 0; tap[k] < CORNERS && !s->r->node->refused; tap[k]++) {
        qdq_value part = gather(s, x, k, tap[k]);
        if (k + 1 < s->count) {
            sum_corners(s, part, k + 1, tap);
            continue;
        }
        qdq_onnx_term weight = weight_of(s, k, tap[k]);
        for (int i = k - 1; i >= 0; i--) {
            qdq_onnx_term terms[] = {weight, weight_of(s, i, tap[i])};
            terms[0].name = "product";
            weight = (qdq_onnx_term){.name = "weight",
                                     .value = qdq_onnx_formula(s->r->node, s->r->row,
                                                               "weight = Multiply(product, weight)",
                                                               terms, 2)};
        }
        s->corners--;
        s->sum = add(s, s->sum, part, weight, (qdq_onnx_term){0}, s->last && s->corners == 0);
    }
}

//---- Nodes ------------------------------------------------------------------

static bool moves(const qdq_onnx_resize *r, int dim) {
    if (r->antialias) return r->in.dims[dim] != r->out.dims[dim];
    return qdq_onnx_moves(r, dim);
}

// True if ONNX Runtime adds the corners of codes as integers: in images whose channels are last.
static bool is_fixed(const sums *s) {
    const qdq_onnx_resize *r = s->r;
    int elem = r->node->inputs[0]->elem;
    return (elem == ONNX_INT8 || elem == ONNX_UINT8) && strcmp(r->mode, "linear") == 0 &&
           !r->antialias && s->count == 2 && s->dims[0] == 1;
}

// Turns the weights of a dim into multiples of 1 / ONE, rounded down for the element behind.
static void fix_weights(qdq_onnx_taps *taps) {
    for (size_t o = 0; o < taps->size; o++) {
        double *before = &taps->weight[o], *behind = &taps->weight[taps->size + o];
        bool twice = taps->index[o] == taps->index[taps->size + o];
        *behind = trunc(*behind * ONE);
        *before = twice ? *behind : ONE - *behind;
    }
}

// Chooses the dims of the sums: ONNX Runtime's linear Resize interpolates all dims between a first
// and a last, even unscaled dims; other forms have the scaled dims.
static void choose_dims(sums *s) {
    const qdq_onnx_resize *r = s->r;
    int rank = r->in.rank, first = rank == 4 || rank == 5 ? 2 : 0, last = rank - 1;
    bool outer = r->ratio[0] == 1.0 && r->ratio[1] == 1.0;
    if (rank == 4 && !outer && r->ratio[0] == 1.0 && r->ratio[3] == 1.0) first = 1, last = 2;
    bool usual = strcmp(r->mode, "linear") == 0 && !r->antialias && rank >= 2 && rank <= 5;
    if (first == 2) usual = usual && outer;
    for (int dim = 0; dim < rank; dim++)
        if (usual ? dim >= first && dim <= last : moves(r, dim)) s->dims[s->count++] = dim;
}

qdq_value qdq_onnx_extrapolated(const qdq_onnx_resize *r, qdq_value value, int dim, bool last) {
    size_t count = (size_t)r->out.dims[dim];
    double *inside = qdq_mempool_array(r->node->im->mempool, count, sizeof *inside);
    if (!inside) return (qdq_value){0};
    for (size_t o = 0; o < count; o++) {
        float at = qdq_onnx_position(r, dim, (int64_t)o);
        inside[o] = at >= 0.0f && at <= (float)(r->in.dims[dim] - 1);
    }
    const qdq_onnx_term terms[] = {
        {.name = "value", .value = value},
        {.name = "inside", .input = along(r, dim, "inside", ONNX_BOOL, inside, count)},
        {.name = "outside", .number = (double)r->extrapolation}};
    return qdq_onnx_formula(r->node, r->row,
                            last ? "Select(inside, value, outside)"
                                 : "kept = Select(inside, value, outside)",
                            terms, 3);
}

static qdq_value run(sums *s, qdq_value x) {
    size_t tap[QDQ_MAX_RANK];
    if (strcmp(s->r->mode, "linear") == 0 && !s->r->antialias) {
        s->corners = (size_t)1 << s->count;
        sum_corners(s, x, 0, tap);
        return s->sum;
    }
    for (int k = s->count - 1; k >= 0; k--) x = sum_along(s, x, k);
    return x;
}

// Float64 stays, codes become int32 if they are added as integers, all others float32.
void qdq_onnx_resize_by_sums(const qdq_onnx_resize *r) {
    int elem = r->node->inputs[0]->elem == ONNX_DOUBLE ? ONNX_DOUBLE : ONNX_FLOAT;
    bool same = elem == r->node->inputs[0]->elem, crops = qdq_onnx_crops(r);
    sums s = {.r = r, .elem = elem, .last = same && !crops};
    choose_dims(&s);
    bool fixed = is_fixed(&s), linear = strcmp(r->mode, "linear") == 0 && !r->antialias;
    r->node->stepwise =
        linear && (r->node->inputs[0]->elem == ONNX_FLOAT ||
                   r->node->inputs[0]->elem == ONNX_INT8 || r->node->inputs[0]->elem == ONNX_UINT8);
    if (fixed) s.elem = ONNX_INT32;
    for (int k = 0; k < s.count; k++) {
        if (!qdq_onnx_find_taps(r, s.dims[k], &s.taps[k])) return;
        if (fixed) fix_weights(&s.taps[k]);
    }
    qdq_value x = qdq_onnx_ref(r->node, r->node->inputs[0]);
    const qdq_onnx_term whole = {.name = "narrow", .value = x};
    if (!same && x.id)
        x = qdq_onnx_formula(r->node, r->row,
                             fixed ? "wide = Cast(narrow, dtype: int32)"
                                   : "wide = Cast(narrow, dtype: float32)",
                             &whole, 1);
    if (x.id) x = run(&s, x);
    const qdq_onnx_term product[] = {{.name = "sum", .value = x},
                                     {.name = "one", .number = (double)ONE * ONE}};
    if (fixed && x.id)
        x = qdq_onnx_formula(r->node, r->row, "whole = Divide(sum, one)", product, 2);
    for (int k = 0; k < s.count && crops && x.id; k++)
        x = qdq_onnx_extrapolated(r, x, s.dims[k], same && k + 1 == s.count);
    const qdq_onnx_term terms[] = {{.name = "sum", .value = x},
                                   {.name = "x", .input = r->node->inputs[0]}};
    if (!same && x.id) x = qdq_onnx_formula(r->node, r->row, "Cast(sum, dtype: x)", terms, 2);
    qdq_onnx_bind(r->node, 0, x);
}
