// SPDX-License-Identifier: Apache-2.0
// Convolutions with few output channels per group, for example depthwise. Each lane is an output
// channel and reads the elements of its group, 32 at a time. The order of k is the same as in
// products of matrices.
#include "ops/conv/conv_lowering.h"
#include "ops/gemm/gemm_read.h"
#include "runtime/numerics/dtype.h"

enum { LANES = QDQ_GEMM_COLUMNS, DEPTH = QDQ_CONV_LANES_DEPTH, ROWS = QDQ_GEMM_BLOCK_ROWS };
#define NOWHERE SIZE_MAX

// The elements or weights of 32 lanes, as float or int16_t.
typedef union panel {
    float floats[DEPTH * LANES];
    int16_t integers[DEPTH * LANES];
} panel;

// Up to 32 output channels, counted through all groups.
typedef struct lanes {
    size_t first, count;
    size_t x_at[LANES];  // where the group of each lane begins in an image
    bool side_by_side;   // the lanes are neighbours in memory
} lanes;

static lanes lanes_of(const qdq_conv *c, size_t first) {
    size_t left = c->gemm.columns - first;
    lanes l = {.first = first, .count = left < LANES ? left : LANES, .side_by_side = true};
    for (size_t j = 0; j < l.count; j++) {
        size_t group = (first + j) / c->group_outputs;
        l.x_at[j] = group * c->group_inputs * c->channel_stride;
        l.side_by_side &= l.x_at[j] == l.x_at[0] + j;
    }
    return l;
}

//---- Weights ----------------------------------------------------------------

static void pack(const qdq_conv *c, const void *data, const void *zeros, const lanes *l, size_t k,
                 size_t n, panel *out) {
    const qdq_gemm *g = &c->gemm;
    panel column;
    memset(out, 0,
           (n + n % 2) * LANES *
               ((g->kind == QDQ_GEMM_INTEGERS) ? sizeof(int16_t) : sizeof(float)));
    for (size_t j = 0; j < l->count; j++) {
        size_t group = (l->first + j) / c->group_outputs;
        qdq_gemm_source from = {data, zeros, group, group * g->weights.zero_stride, 0, NULL};
        qdq_gemm_column(g, &from, (l->first + j) % c->group_outputs, k, n, &column);
        for (size_t i = 0; i < n; i++) {
            if ((g->kind == QDQ_GEMM_INTEGERS))
                out->integers[i * LANES + j] = column.integers[i];
            else
                out->floats[(c->pairs ? i ^ 1 : i) * LANES + j] = column.floats[i];
        }
    }
}

static size_t block_count(const qdq_conv *c) { return (c->gemm.columns + LANES - 1) / LANES; }
static size_t depth_blocks(const qdq_conv *c) { return (c->gemm.depth + DEPTH - 1) / DEPTH; }

static size_t lanes_bytes(const qdq_conv *c) {
    return block_count(c) * depth_blocks(c) * sizeof(panel);
}

static bool pack_all(qdq_conv *c, const qdq_gemm_known *known, qdq_mempool *mempool) {
    size_t blocks = block_count(c), depths = depth_blocks(c);
    panel *packed = qdq_mempool_array(mempool, blocks * depths, sizeof *packed);
    qdq_gemm_reader w = qdq_gemm_reader_of(known, qdq_dtype_size(c->gemm.weights.dtype), mempool);
    bool done = packed && qdq_gemm_reader_read_all(&w, c->gemm.columns * c->gemm.depth);
    for (size_t b = 0; done && b < blocks; b++)
        for (size_t d = 0; d < depths; d++) {
            lanes l = lanes_of(c, b * LANES);
            size_t left = c->gemm.depth - d * DEPTH;
            pack(c, w.data, known->zeros, &l, d * DEPTH, left < DEPTH ? left : DEPTH,
                 &packed[b * depths + d]);
        }
    qdq_gemm_reader_close(&w);
    c->lanes = packed;
    return done;
}

//---- Elements of x ----------------------------------------------------------

#define GATHER(type)                      \
    for (size_t j = 0; j < l->count; j++) \
        ((type *)raw)[j] = ((const type *)(const void *)x)[l->x_at[j] + at];

// Loads the lanes of one k.
static void load(const qdq_gemm *g, const lanes *l, const char *x, size_t at, int32_t zero,
                 size_t i, panel *out) {
    size_t size = qdq_dtype_size(g->a_dtype);
    uint32_t raw[LANES];
    const void *from = raw;
    if (l->side_by_side) {
        from = x + (l->x_at[0] + at) * size;
    } else if (size == 4) {
        GATHER(uint32_t)
    } else if (size == 2) {
        GATHER(uint16_t)
    } else {
        GATHER(uint8_t)
    }
    if ((g->kind == QDQ_GEMM_INTEGERS))
        qdq_gemm_less(g->a_dtype, from, zero, out->integers + i * LANES, l->count);
    else
        g->kernel->widen(g->a_dtype, from, out->floats + i * LANES, l->count);
}

// Adds k..k + n to the sums of a row, without the k that are nowhere. In an order of ONNX Runtime
// they are zeros.
static void add(const qdq_conv *c, const size_t *from, size_t n, const panel *x, const panel *w,
                void *sums) {
    const qdq_gemm_kernel *kernel = c->gemm.kernel;
    bool all = c->gemm.order.sums != QDQ_SUM_CHAIN;
    for (size_t begin = 0, end; begin < n; begin = end) {
        end = begin + 1;
        if (from[begin] == NOWHERE && !all) continue;
        while (end < n && (all || from[end] != NOWHERE)) end++;
        if ((c->gemm.kind == QDQ_GEMM_INTEGERS))
            kernel->integer_lanes(x->integers + begin * LANES, w->integers + begin * LANES, sums,
                                  end - begin);
        else if (c->gemm.order.sums == QDQ_SUM_FOURS)
            c->gemm.orders->lane_fours(x->floats + begin * LANES, w->floats + begin * LANES, sums,
                                       end - begin);
        else
            (c->pairs ? kernel->bfloat_lanes : kernel->lanes)(
                x->floats + begin * LANES, w->floats + begin * LANES, sums, end - begin);
    }
}

// Swaps the k of each pair, which is the order of bfloat16. An odd end gets one more k, with any
// place; returns the count of k.
static size_t swap_pairs(size_t *from, size_t n) {
    if (n % 2) from[n] = 0;
    for (size_t i = 0; i < n; i += 2) {
        size_t second = from[i + 1];
        from[i + 1] = from[i], from[i] = second;
    }
    return n + n % 2;
}

//---- Units ------------------------------------------------------------------

// Adds the products of k..k + n of a row.
static void add_row(const qdq_conv *c, const lanes *l, const char *x, int32_t zero, size_t row,
                    size_t k, size_t n, const panel *w, panel *of_x, void *sums) {
    size_t from[DEPTH];
    qdq_conv_sources(c, row, k, n, from);
    size_t count = c->pairs ? swap_pairs(from, n) : n;
    for (size_t i = 0; i < count; i++)
        if (from[i] != NOWHERE)
            load(&c->gemm, l, x, from[i], zero, i, of_x);
        else if (c->gemm.order.sums)
            memset(of_x->floats + i * LANES, 0, LANES * sizeof(float));
    if (count > n) memset(of_x->floats + (n - 1) * LANES, 0, LANES * sizeof(float));
    add(c, from, count, of_x, w, sums);
}

static void run_block(const qdq_conv *c, const qdq_tensors *tensors, const qdq_gemm_block *block) {
    const qdq_gemm *g = &c->gemm;
    lanes l = lanes_of(c, block->column);
    const char *x = (const char *)tensors->x[g->a_port] +
                    qdq_gemm_at(g, g->batches.a, block->batch) * qdq_dtype_size(g->a_dtype);
    const void *zeros = g->b_zero.port == SIZE_MAX ? NULL : qdq_gemm_numbers(&g->b_zero, tensors);
    int32_t zero = 0;
    union {
        float floats[ROWS * LANES];
        int32_t integers[ROWS * LANES];
    } sums = {{0}};
    if (g->a_zero.port != SIZE_MAX)
        zero = qdq_gemm_integer_at(g->a_zero.dtype, qdq_gemm_numbers(&g->a_zero, tensors), 0);
    panel of_x, of_w;
    memset(&of_x, 0, sizeof of_x);
    for (size_t d = 0; d < depth_blocks(c); d++) {
        size_t left = g->depth - d * DEPTH, n = left < DEPTH ? left : DEPTH;
        const panel *w = &of_w;
        qdq_scratch_drop(tensors->poison, &of_w, sizeof of_w);
        if (c->lanes)
            w = (const panel *)c->lanes + block->column / LANES * depth_blocks(c) + d;
        else
            pack(c, tensors->x[g->weights.port], zeros, &l, d * DEPTH, n, &of_w);
        for (size_t r = 0; r < block->rows; r++)
            add_row(c, &l, x, zero, block->row + r, d * DEPTH, n, w, &of_x,
                    sums.integers + r * LANES);
    }
    g->epilogue(g, tensors, block, &sums, LANES);
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const qdq_conv *c = params;
    size_t row_blocks = (c->gemm.rows + ROWS - 1) / ROWS;
    for (size_t unit = begin; unit < end; unit++) {
        size_t row = unit % row_blocks * ROWS, rest = unit / row_blocks;
        size_t column = rest % block_count(c) * LANES;
        size_t rows = c->gemm.rows - row, columns = c->gemm.columns - column;
        qdq_gemm_block block = {
            .batch = rest / block_count(c),
            .row = row,
            .rows = rows < ROWS ? rows : ROWS,
            .column = column,
            .columns = columns < LANES ? columns : LANES,
        };
        run_block(c, tensors, &block);
    }
}

bool qdq_conv_lanes_stage(qdq_conv *c, const qdq_op_context *ctx, const qdq_lowering *to,
                          qdq_stage *stage) {
    qdq_gemm *g = &c->gemm;
    qdq_gemm_known known;
    c->pairs = qdq_gemm_takes_bfloats(g);
    size_t packed_bytes = 0;
    if (qdq_gemm_constant_weights(g, ctx, &known)) {
        c->lanes = qdq_gemm_find_packed(g, ctx, to, &known, QDQ_PACKED_LANES);
        if (!c->lanes) {
            packed_bytes = lanes_bytes(c);
            if (!pack_all(c, &known, to->mempool) ||
                !qdq_gemm_add_packed(g, ctx, to, &known, QDQ_PACKED_LANES, c->lanes))
                return false;
        }
    }
    *stage = (qdq_stage){.params = c,
                         .tensor_op = run,
                         .quantize = qdq_gemm_offer_quantize(g, to->mempool),
                         .chunks = true,
                         .units = g->batch * block_count(c) * ((g->rows + ROWS - 1) / ROWS),
                         .cost = g->batch * g->rows * g->columns * g->depth,
                         .packed = (uint64_t)(c->lanes != NULL) << g->weights.port,
                         .packed_bytes = packed_bytes};
    return true;
}
