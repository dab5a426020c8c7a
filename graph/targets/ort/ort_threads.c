// SPDX-License-Identifier: Apache-2.0
// Findings about nodes whose sums depend on the number of threads of ONNX Runtime: it cuts products
// of floats among threads, and each chooses the order of its sums by its rows and columns.
#include "graph/targets/checks.h"
#include "graph/targets/ort/ort_groups.h"
#include "include/qdq/ops/products.h"
#include "ops/conv/conv_lowering.h"
#include "ops/matmul/matmul.h"

enum { MOST_THREADS = 16 };  // that a product gets

// Words of the option, and the numbers that they stand for.
// clang-format off
#define COUNTS(X) \
    X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(10) X(12) X(14) X(16) X(20) X(24) X(32) X(48) X(64) X(96) X(128)
#define WORD(n) #n,
#define NUMBER(n) n,
const char *const ort_thread_words[] = {"any", COUNTS(WORD) NULL};
static const size_t counts[] = {0, COUNTS(NUMBER)};
// clang-format on

size_t ort_threads(const qdq_target_version *version) {
    return counts[version->options[ORT_THREADS]];
}

static bool depends(const qdq_op_context *ctx, size_t threads) {
    bool matmul = qdq_op_context_is(ctx, "MatMul");
    return matmul ? qdq_matmul_depends_on_threads(ctx, threads)
                  : qdq_conv_depends_on_threads(ctx, threads);
}

// True if ONNX Runtime multiplies floats: a convolution on blocks of channels and a product of
// codes do not depend on threads.
static bool is_cut(const qdq_op_context *ctx) {
    const qdq_convolution_attrs *a = ctx->attrs;
    if (ctx->inputs[0].type.dtype != QDQ_FLOAT32) return false;
    return !qdq_op_context_is(ctx, "Convolution") || a->channel_block.set == 0;
}

bool ort_match_threads(const qdq_rewriter *r, qdq_match *m) {
    size_t threads = ort_threads(r->version), most = threads ? threads : MOST_THREADS;
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_op_context ctx;
    qdq_graph_context(r->from, node, r->findings, &ctx);
    if (!r->findings || !is_cut(&ctx)) return false;
    if (qdq_rewrite_is(r, m->anchor, "ReduceSum") || qdq_rewrite_is(r, m->anchor, "ReduceMean")) {
        if (threads > 1) m->found = "may add in another order with several threads";
        return false;
    }
    if (qdq_rewrite_is(r, m->anchor, "Log")) {
        if (threads > 1) m->found = "may take last elements of each thread from the C library";
        return false;
    }
    for (size_t n = threads ? threads : 2; n <= most && !m->found; n++)
        if (depends(&ctx, n))
            m->found = qdq_text(r->findings, "adds in another order with %zu threads", n);
    if (!threads) m->rule = "ort/one-thread";
    return false;
}
