// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/accuracy/data/channel_state.h"

#include <math.h>
#include <string.h>

#include "tools/lab/explain/accuracy/reference.h"

//---- The table --------------------------------------------------------------

const state_column channel_columns[CHANNEL_COLUMNS] = {
    [CHANNEL_NODE] = {"channels", 1, QDQ_UINT8, false},
    [CHANNEL_AT] = {"channel_places", PLACE_WIDTH, QDQ_INT64, false},
    [CHANNEL_RANGES] = {"channel_ranges", 2 * (size_t)CHANNEL_BLOCK, QDQ_FLOAT64, false},
};

// Widens a range. A negative zero never enters it, so that its bits do not depend on the order.
static void widen(double *range, double x) {
    if (x < range[0] && isfinite(x)) range[0] = x;
    if (x > range[1] && isfinite(x)) range[1] = x;
}

void channel_merge(const state_table *into, size_t row, const state_table *from, size_t from_row) {
    double *ranges = state_reals(into, CHANNEL_RANGES, row);
    const double *others = state_reals(from, CHANNEL_RANGES, from_row);
    for (size_t i = 0; i < CHANNEL_BLOCK; i++) {
        widen(&ranges[2 * i], others[2 * i]);
        widen(&ranges[2 * i], others[2 * i + 1]);
    }
}

//---- Rows -------------------------------------------------------------------

// Adds the rows of an axis, whose place has all but its length.
static bool add_axis(state_table *t, const char *name, const int64_t *place, qdq_shape shape) {
    int64_t count = shape.dims[place[PLACE_AXIS]];
    size_t rows = ((size_t)count + CHANNEL_BLOCK - 1) / CHANNEL_BLOCK;
    if (count > MOST_CHANNELS || t->rows + rows > MOST_CHANNEL_ROWS) return true;
    for (int64_t first = 0; first < count; first += CHANNEL_BLOCK) {
        size_t row = state_add_row(t, &name);
        if (row == SIZE_MAX) return false;
        int64_t *at = state_ints(t, CHANNEL_AT, row);
        memcpy(at, place, PLACE_WIDTH * sizeof *at);
        at[PLACE_COUNT] = count, at[PLACE_FIRST] = first;
    }
    return true;
}

// Finds the pair whose result a product multiplies with weights.
static int64_t met_by(const replay *r, const summed_operand *weights) {
    enum { DATA, WEIGHTS };
    if (weights->axis < 0 || weights->port != WEIGHTS) return -1;
    size_t maker = r->form.makers[qdq_graph_node_input(r->form.graph, weights->product, DATA).id];
    return is_op(r, maker, "Dequantize") ? (int64_t)maker : -1;
}

bool channel_rows_add(state_table *t, const reference *ref, const qdq_equalize_sites *sites,
                      size_t pair, int64_t node, bool all, channel_rows *out) {
    const replay *r = ref->quantized;
    const node_value *y = &r->nodes[pair].run.outputs[0];
    const char *name = qdq_graph_node(r->form.graph, pair).name;
    const summed_operand operand = summed_operand_of(r, y->value);
    int rank = y->info.shape.rank, axis = operand.axis;
    bool summed = axis >= 0, has_site = summed && pair_has_site(sites, ref, pair, &operand);
    if (!summed) axis = rank > 2 ? 1 : rank - 1;
    int64_t place[PLACE_WIDTH] = {[PLACE_NODE] = node,
                                  [PLACE_AXIS] = axis,
                                  [PLACE_SUMMED] = summed ? 1 + has_site : 0,
                                  [PLACE_PAIR] = (int64_t)pair,
                                  [PLACE_MEETS] = met_by(r, &operand)};
    *out = (channel_rows){.first = t->rows};
    bool done = axis < 0 || add_axis(t, name, place, y->info.shape);
    place[PLACE_SUMMED] = 0, place[PLACE_MEETS] = -1;
    for (int other = 0; done && all && other < rank; other++) {
        place[PLACE_AXIS] = other;
        if (other != axis && y->info.shape.dims[other] > 1)
            done = add_axis(t, name, place, y->info.shape);
    }
    out->count = t->rows - out->first;
    return done;
}

static void widen_axis(const state_table *t, size_t first, int axis, const quantized_numbers *q) {
    size_t dim = (size_t)q->shape.dims[axis], inner = 1;
    for (int i = axis + 1; i < q->shape.rank; i++) inner *= (size_t)q->shape.dims[i];
    for (size_t run = 0; run * inner < q->count; run++) {
        size_t channel = run % dim;
        double *ranges = state_reals(t, CHANNEL_RANGES, first + channel / CHANNEL_BLOCK);
        for (size_t i = 0; i < inner; i++)
            widen(&ranges[2 * (channel % CHANNEL_BLOCK)], q->x[run * inner + i]);
    }
}

void channel_rows_widen(const state_table *t, const channel_rows *rows,
                        const quantized_numbers *q) {
    for (size_t row = rows->first; row < rows->first + rows->count; row++) {
        const int64_t *place = state_ints(t, CHANNEL_AT, row);
        if (place[PLACE_FIRST] == 0) widen_axis(t, row, (int)place[PLACE_AXIS], q);
    }
}

//---- Reading ----------------------------------------------------------------

// True if a row continues the axis whose first row is `first`.
static bool continues(const state_table *t, size_t first, size_t row) {
    const int64_t *from = state_ints(t, CHANNEL_AT, first), *at = state_ints(t, CHANNEL_AT, row);
    return at[PLACE_NODE] == from[PLACE_NODE] && at[PLACE_AXIS] == from[PLACE_AXIS] &&
           at[PLACE_FIRST] == (int64_t)((row - first) * CHANNEL_BLOCK);
}

bool channel_rows_read(const state_table *t, size_t first, channel_ranges *out) {
    const int64_t *place = state_ints(t, CHANNEL_AT, first);
    int64_t count = place[PLACE_COUNT];
    *out = (channel_ranges){0};
    // A file of another program may have any rows.
    if (count < 1 || count > MOST_CHANNELS || place[PLACE_AXIS] < 0 ||
        place[PLACE_AXIS] >= QDQ_MAX_RANK ||
        !channel_ranges_zero(out, (int)place[PLACE_AXIS], (size_t)count, NULL))
        return false;
    for (size_t i = 0; i < (size_t)count; i++) {
        size_t row = first + i / CHANNEL_BLOCK;
        if (row >= t->rows || !continues(t, first, row)) return false;
        const double *range = &state_reals(t, CHANNEL_RANGES, row)[2 * (i % CHANNEL_BLOCK)];
        out->least[i] = fmin(range[0], 0), out->greatest[i] = fmax(range[1], 0);
    }
    return channel_ranges_compare(out, NULL);
}
