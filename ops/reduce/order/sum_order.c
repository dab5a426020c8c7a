// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/order/sum_order.h"

#include <string.h>

#include "runtime/numerics/dtype.h"

static void store(const qdq_part *part, float sum) {
    const qdq_slice_order *order = part->params;
    qdq_slice_store(part->tensors, 0, order->dtype, part->slice, (double)(sum / order->divisor));
}

//---- In order -----------------------------------------------------------------

// -0 + x is x for all x.
void qdq_sum_begin_rows(const qdq_part *part) { qdq_lanes_fill(&part->state->lanes, -0.0); }

static void take_in_order(const qdq_part *part) {
    float sum = (float)part->state->lanes.sums[0];
    for (size_t i = 0; i < part->n; i++) sum += part->x[i];
    part->state->lanes.sums[0] = (double)sum;
}

static void end_sum(const qdq_part *part) { store(part, (float)part->state->lanes.sums[0]); }

static const qdq_slice_op in_order = {.passes = {{qdq_sum_begin_rows, take_in_order, end_sum}},
                                      .pass_count = 1};

//---- Fours --------------------------------------------------------------------

static void begin_fours(const qdq_part *part) { qdq_lanes_fill(&part->state->lanes, 0.0); }

// All parts but the last are a multiple of four long.
static void take_fours(const qdq_part *part) {
    const float *x = part->x;
    float sum = (float)part->state->lanes.sums[0];
    size_t i = 0;
    for (; i + 4 <= part->n; i += 4) sum += ((x[i] + x[i + 1]) + x[i + 2]) + x[i + 3];
    if (i + 2 <= part->n) sum += x[i] + x[i + 1], i += 2;
    if (i < part->n) sum += x[i];
    part->state->lanes.sums[0] = (double)sum;
}

static const qdq_slice_op fours = {.passes = {{begin_fours, take_fours, end_sum}}, .pass_count = 1};

//---- Rows ---------------------------------------------------------------------

enum { LANES = QDQ_ROW_LANES, PACKET = QDQ_ROW_PACKET, HEAD = LANES, ROWS = QDQ_ROW_SUM };

qdq_sum_row qdq_sum_row_of(size_t head, size_t n) {
    size_t left = n > head ? n - head : 0;
    if (left < PACKET) return (qdq_sum_row){0, 0, 0, n};
    return (qdq_sum_row){head, head + left / LANES * LANES, head + left / PACKET * PACKET, n};
}

static qdq_sum_row row_of(const qdq_part *part, size_t number) {
    const qdq_slice_order *order = part->params;
    size_t offset = number * order->row_stride + part->slice * order->width;
    size_t head = (PACKET - offset % PACKET) % PACKET;
    return qdq_sum_row_of(head, order->width);
}

static void add_lanes(float *sums) {
    for (size_t l = 0; l < PACKET; l++) sums[l] += sums[l + PACKET];
}

static void add_packet(float *sums, const qdq_sum_row *r) {
    sums[0] = (sums[0] + sums[2]) + (sums[1] + sums[3]);
    for (size_t i = 0; i < r->head; i++) sums[0] += sums[HEAD + i];
}

// Adds `count` elements for each lane. In its own array the sums stay in registers: x might alias
// the caller's.
static void add_to_lanes(float *sums, const float *x, size_t count) {
    float own[LANES];
    memcpy(own, sums, sizeof own);
    for (size_t i = 0; i < count; i++, x += LANES)
        for (size_t l = 0; l < LANES; l++) own[l] += x[l];
    memcpy(sums, own, sizeof own);
}

void qdq_sum_row_take(float *sums, const qdq_sum_row *r, const float *x, size_t at, size_t end) {
    size_t lane = at > r->head ? (at - r->head) % LANES : 0;
    for (; at < end && at < r->head; at++) sums[HEAD + at] = *x++;
    for (; at < end && at < r->lanes && lane; at++, lane = (lane + 1) % LANES) sums[lane] += *x++;
    size_t whole = at < r->lanes ? ((end < r->lanes ? end : r->lanes) - at) / LANES : 0;
    add_to_lanes(sums, x, whole);
    at += whole * LANES, x += whole * LANES;
    for (; at < end && at < r->lanes; at++) sums[lane++] += *x++;
    if (at == r->lanes && at < end) add_lanes(sums);
    for (; at < end && at < r->packet; at++) sums[at - r->lanes] += *x++;
    if (at == r->packet && at < end) add_packet(sums, r);
    for (; at < end; at++) sums[0] += *x++;
}

void qdq_sum_row_end(float *sums, const qdq_sum_row *r) {
    if (r->lanes == r->end) add_lanes(sums);
    if (r->packet == r->end) add_packet(sums, r);
    sums[ROWS] += sums[0];
    for (size_t l = 0; l < LANES; l++) sums[l] = -0.0f;
}

void qdq_sum_take_rows(const qdq_part *part) {
    const qdq_slice_order *order = part->params;
    float sums[QDQ_SUM_LANES];
    for (size_t l = 0; l < QDQ_SUM_LANES; l++) sums[l] = (float)part->state->lanes.sums[l];
    for (size_t i = 0, n; i < part->n; i += n) {
        size_t at = (part->at + i) % order->width;
        qdq_sum_row r = row_of(part, (part->at + i) / order->width);
        n = r.end - at < part->n - i ? r.end - at : part->n - i;
        qdq_sum_row_take(sums, &r, part->x + i, at, at + n);
        if (at + n == r.end) qdq_sum_row_end(sums, &r);
    }
    for (size_t l = 0; l < QDQ_SUM_LANES; l++) part->state->lanes.sums[l] = (double)sums[l];
}

static void end_rows(const qdq_part *part) { store(part, (float)part->state->lanes.sums[ROWS]); }

static const qdq_slice_op rows = {.passes = {{qdq_sum_begin_rows, qdq_sum_take_rows, end_rows}},
                                  .pass_count = 1};

//---- Which --------------------------------------------------------------------

// Dims with neighbours of a kind merged, the first `MOST` of them; dims of size 1 have their kind.
enum { MOST = 3 };
typedef struct merged_dims {
    size_t size[MOST];
    int rank;
    bool begins_reduced;
} merged_dims;

static merged_dims merge(qdq_shape shape, uint32_t reduced) {
    merged_dims m = {.begins_reduced = reduced & 1};
    for (int i = 0; i < shape.rank; i++) {
        bool is_new = !i || (reduced >> i & 1) != (reduced >> (i - 1) & 1);
        m.rank += is_new;
        if (m.rank > MOST) return m;
        size_t *size = &m.size[m.rank - 1];
        *size = (is_new ? 1 : *size) * (size_t)shape.dims[i];
    }
    return m;
}

const qdq_slice_op *qdq_slice_order_of(qdq_shape shape, uint32_t reduced, qdq_slice_order *order) {
    merged_dims m = merge(shape, reduced);
    *order = (qdq_slice_order){0};
    if (m.rank == 1 || (m.rank == 2 && !m.begins_reduced)) {
        *order = (qdq_slice_order){.width = m.size[m.rank - 1]};
        return &rows;
    }
    if (m.rank == 3 && m.begins_reduced && m.size[1] > 1) {
        *order = (qdq_slice_order){.width = m.size[2], .row_stride = m.size[1] * m.size[2]};
        return &rows;
    }
    if (m.rank == 3 && !m.begins_reduced && m.size[0] > 1) return &fours;
    order->is_plain = true;
    return &in_order;
}
