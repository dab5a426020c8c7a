// SPDX-License-Identifier: Apache-2.0
// Runs a batch fused and materialized and compares each element with the oracle.
#ifndef QDQ_TESTS_GRAPH_TARGETS_TTNN_TTNN_CHECK_H
#define QDQ_TESTS_GRAPH_TARGETS_TTNN_TTNN_CHECK_H

#include "tests/graph/targets/ttnn/ttnn_batch.h"

// Counts of compared and wrong elements. At most TALLY_SHOWN elements are printed, three for each
// node.
enum { TALLY_SHOWN = 24 };
typedef struct tally {
    size_t seen, wrong, shown;
} tally;

static inline ttnn_side batch_side_at(const ttnn_side *p, size_t count, size_t k) {
    ttnn_side side = p[count > 1 ? k : 0];
    if (!p->zp_tensor) side.zp = p->zp;
    return side;
}

static inline void batch_report(const cell *c, double x, ttnn_side in, ttnn_side out, double want,
                                double got, const char *how) {
    static const char *const names[] = {"Quantize", "Dequantize", "Requantize"};
    print_error("%s %s -> %s%s%s: x %.9g (%08x), in %s %.9g (%08x) %s %lld", names[c->op],
                qdq_dtype_name(c->from), qdq_dtype_name(c->to), how, c->axis ? " per channel" : "",
                x, unit_bits_of_float((float)x), in.scale_tensor ? "scale tensor" : "scale",
                in.scale, unit_bits_of_float((float)in.scale), in.zp_tensor ? "zp tensor" : "zp",
                (long long)in.zp);
    if (c->op == CELL_REQUANTIZE)
        print_error(", out %s %.9g (%08x) %s %lld", out.scale_tensor ? "scale tensor" : "scale",
                    out.scale, unit_bits_of_float((float)out.scale),
                    out.zp_tensor ? "zp tensor" : "zp", (long long)out.zp);
    print_error(": want %.9g (%08x), got %.9g (%08x)\n", want, unit_bits_of_float((float)want), got,
                unit_bits_of_float((float)got));
}

static inline bool batch_equal(double a, double b) {
    return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b));
}

// Compares node n; `again` is its materialized result.
static inline void batch_compare(const batch *b, size_t n, const void *again, tally *t) {
    const cell *c = &b->cells[n];
    const oracle_bound *x = &b->bound[b->cell_x[n]], *y = &b->bound[b->cell_y[n]];
    size_t elements = qdq_shape_count(b->shape[b->cell_x[n]]), shown = 0;
    size_t channel = elements / (size_t)b->shape[b->cell_x[n]].dims[0];
    for (size_t i = 0; i < elements; i++) {
        double v = oracle_at(c->from, x->data, i), got = oracle_at(c->to, y->data, i), want;
        double tiled = oracle_at(c->to, again, i);
        ttnn_side in = batch_side_at(c->in, c->in_count, i / channel), out = {0};
        if (c->op == CELL_REQUANTIZE) {
            out = batch_side_at(c->out, c->out_count, i / channel);
            want = (double)ttnn_requantize((int64_t)v, c->from, in, out, c->axis, c->to);
        } else {
            want = c->op == CELL_QUANTIZE ? (double)ttnn_quantize(v, c->from, in, c->to)
                                          : ttnn_dequantize((int64_t)v, c->from, in, c->to);
        }
        bool same = batch_equal(want, got), same_tiled = batch_equal(want, tiled);
        if (same && same_tiled) continue;
        t->wrong++;
        if (shown++ < 3 && t->shown++ < TALLY_SHOWN)
            batch_report(c, v, in, out, want, same ? tiled : got, same ? " materialized" : "");
    }
    t->seen += elements;
}

// Runs the batch both ways, compares all nodes and frees the batch.
static inline void batch_finish(batch *b, tally *t) {
    void *again[BATCH_MOST];
    qdq_compile_options options = {.target = "ttnn@ieee", .materialize = true};
    for (size_t n = 0; n < b->count; n++) {
        oracle_bound *y = &b->bound[b->cell_y[n]];
        memset(y->data, 0x55, y->bytes);
    }
    oracle_run(b->graph, &options, b->bound, b->bound_count);
    for (size_t n = 0; n < b->count; n++) {
        oracle_bound *y = &b->bound[b->cell_y[n]];
        again[n] = memcpy(oracle_memory(y->bytes), y->data, y->bytes);
        memset(y->data, 0xAA, y->bytes);
    }
    options.materialize = false;
    oracle_run(b->graph, &options, b->bound, b->bound_count);
    for (size_t n = 0; n < b->count; n++) {
        batch_compare(b, n, again[n], t);
        free(again[n]), free(b->bound[b->cell_y[n]].data);
    }
    for (size_t i = 0; i < b->memory_count; i++) free(b->memory[i]);
    qdq_graph_destroy(b->graph);
    free(b);
}

// Ends a test: fails unless at least `at_least` elements were compared, all of them right.
static inline void tally_settle(tally t, size_t at_least) {
    if (t.wrong) fail_msg("%zu of %zu elements are wrong", t.wrong, t.seen);
    if (t.seen < (unit_slow() ? at_least / 10 : at_least))
        fail_msg("%zu elements were compared, not %zu", t.seen, at_least);
}

#endif
