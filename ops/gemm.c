// SPDX-License-Identifier: Apache-2.0
// Blocks of a product: panels of A and B, tiles of sums.
#include "ops/gemm.h"

#include "runtime/dtype.h"

enum {
    ROWS = QDQ_GEMM_ROWS,
    COLUMNS = QDQ_GEMM_COLUMNS,
    DEPTH = QDQ_GEMM_DEPTH,
    BLOCK_ROWS = QDQ_GEMM_BLOCK_ROWS,
    BLOCK_COLUMNS = QDQ_GEMM_BLOCK_COLUMNS,
};

size_t qdq_gemm_at(const qdq_gemm *gemm, const size_t *strides, size_t batch) {
    const qdq_gemm_batches *b = &gemm->batches;
    size_t at = 0;
    for (int i = b->rank; i-- > 0; batch /= b->dims[i]) at += batch % b->dims[i] * strides[i];
    return at;
}

//---- Elements ---------------------------------------------------------------

static size_t element_size(const qdq_gemm *g) {
    return g->bytes ? 1 : g->integer ? sizeof(int16_t) : sizeof(float);
}

// k as the kernel takes them: two or four at a time.
static size_t padded(const qdq_gemm *g, size_t depth) {
    size_t step = g->bytes ? 4 : 2;
    return (depth + step - 1) / step * step;
}

void qdq_gemm_gather(qdq_dtype dtype, const void *x, size_t stride, size_t n, void *out) {
    size_t size = qdq_dtype_size(dtype);
    if (stride == 1) {
        memcpy(out, x, n * size);
    } else if (size == 4) {
        for (size_t i = 0; i < n; i++) ((uint32_t *)out)[i] = ((const uint32_t *)x)[i * stride];
    } else if (size == 2) {
        for (size_t i = 0; i < n; i++) ((uint16_t *)out)[i] = ((const uint16_t *)x)[i * stride];
    } else {
        for (size_t i = 0; i < n; i++) ((uint8_t *)out)[i] = ((const uint8_t *)x)[i * stride];
    }
}

// The codes of int8 with 128 added, as those of uint8 are.
static void unsign(qdq_dtype dtype, const void *x, uint8_t *out, size_t n) {
    memcpy(out, x, n);
    for (size_t i = 0; dtype == QDQ_INT8 && i < n; i++) out[i] ^= 0x80;
}

void qdq_gemm_less(qdq_dtype dtype, const void *x, int32_t zero_point, int16_t *out, size_t n) {
    if (dtype == QDQ_INT8)
        for (size_t i = 0; i < n; i++) out[i] = (int16_t)(((const int8_t *)x)[i] - zero_point);
    else
        for (size_t i = 0; i < n; i++) out[i] = (int16_t)(((const uint8_t *)x)[i] - zero_point);
}

int32_t qdq_gemm_integer_at(qdq_dtype dtype, const void *x, size_t at) {
    int32_t value;
    qdq_decode_int(dtype, (const char *)x + at * qdq_dtype_size(dtype), &value, 1);
    return value;
}

//---- B ----------------------------------------------------------------------

// A column: k..k + n, in runs that lie evenly apart.
static void gather_column(const qdq_gemm_weights *w, const qdq_gemm_source *from, size_t column,
                          size_t k, size_t n, void *out) {
    size_t size = qdq_dtype_size(w->dtype);
    bool even = w->depth_stride == w->taps * w->tap_stride;
    for (size_t done = 0; done < n;) {
        size_t left = w->taps - (k + done) % w->taps;
        size_t run = even || left > n - done ? n - done : left;
        size_t stride = w->tap_stride;
        if (w->taps == 1) run = n - done, stride = w->depth_stride;
        qdq_gemm_gather(w->dtype,
                        (const char *)from->data +
                            qdq_gemm_element(w, from->matrix, k + done, column) * size,
                        stride, run, (char *)out + done * size);
        done += run;
    }
}

int32_t qdq_gemm_column_zero(const qdq_gemm *g, const qdq_gemm_source *from, size_t column) {
    if (!from->zeros) return 0;
    return qdq_gemm_integer_at(g->b_zero.dtype, from->zeros,
                               from->zero_at + column * g->b_zero.column_stride);
}

void qdq_gemm_column(const qdq_gemm *g, const qdq_gemm_source *from, size_t column, size_t k,
                     size_t n, void *out) {
    uint32_t raw[DEPTH];
    gather_column(&g->weights, from, column, k, n, raw);
    if (g->integer)
        qdq_gemm_less(g->weights.dtype, raw, qdq_gemm_column_zero(g, from, column), out, n);
    else
        g->kernel->widen(g->weights.dtype, raw, out, n);
}

// Two rows of k, which lie in memory as columns do.
static void pack_pair(const qdq_gemm *g, const qdq_gemm_source *from, const qdq_gemm_block *part,
                      size_t k, size_t rows, int16_t *pairs) {
    int16_t row[2][COLUMNS] = {{0}};
    const qdq_gemm_weights *w = &g->weights;
    bool alike = !from->zeros || !g->b_zero.column_stride;
    int32_t zero = alike ? qdq_gemm_column_zero(g, from, 0) : 0;
    for (size_t i = 0; i < rows; i++)
        qdq_gemm_less(w->dtype,
                      (const char *)from->data +
                          qdq_gemm_element(w, from->matrix, k + i, part->column),
                      zero, row[i], part->columns);
    for (size_t j = 0; !alike && j < part->columns; j++) {
        int16_t own = (int16_t)qdq_gemm_column_zero(g, from, part->column + j);
        for (size_t i = 0; i < rows; i++) row[i][j] = (int16_t)(row[i][j] - own);
    }
    for (size_t j = 0; j < COLUMNS; j++) pairs[j * 2] = row[0][j], pairs[j * 2 + 1] = row[1][j];
}

static void pack_integers(const qdq_gemm *g, const qdq_gemm_source *from,
                          const qdq_gemm_block *part, size_t k, size_t n, int16_t *panel) {
    if (g->weights.column_stride == 1 && part->columns > 1) {
        for (size_t i = 0; i < n; i += 2)
            pack_pair(g, from, part, k + i, n - i < 2 ? 1 : 2, panel + i * COLUMNS);
        return;
    }
    int16_t column[DEPTH + 1];
    for (size_t j = 0; j < part->columns; j++) {
        qdq_gemm_column(g, from, part->column + j, k, n, column);
        column[n] = 0;
        for (size_t i = 0; i < n; i += 2) {
            panel[i * COLUMNS + j * 2] = column[i];
            panel[i * COLUMNS + j * 2 + 1] = column[i + 1];
        }
    }
}

static void pack_floats(const qdq_gemm *g, const qdq_gemm_source *from, const qdq_gemm_block *part,
                        size_t k, size_t n, float *panel) {
    const qdq_gemm_weights *w = &g->weights;
    size_t size = qdq_dtype_size(w->dtype);
    if (w->column_stride == 1 && part->columns > 1) {
        for (size_t i = 0; i < n; i++)
            g->kernel->widen(w->dtype,
                             (const char *)from->data +
                                 qdq_gemm_element(w, from->matrix, k + i, part->column) * size,
                             panel + i * COLUMNS, part->columns);
        return;
    }
    float column[DEPTH];
    for (size_t j = 0; j < part->columns; j++) {
        qdq_gemm_column(g, from, part->column + j, k, n, column);
        for (size_t i = 0; i < n; i++) panel[i * COLUMNS + j] = column[i];
    }
}

// Columns that are not there are zeros.
static void pack(const qdq_gemm *g, const qdq_gemm_source *from, size_t column, size_t k, size_t n,
                 void *panel) {
    size_t left = g->columns - column;
    qdq_gemm_block part = {.column = column, .columns = left < COLUMNS ? left : COLUMNS};
    size_t size = g->integer ? sizeof(int16_t) : sizeof(float);
    if (part.columns < COLUMNS) memset(panel, 0, (n + n % 2) * COLUMNS * size);
    if (g->integer)
        pack_integers(g, from, &part, k, n, panel);
    else
        pack_floats(g, from, &part, k, n, panel);
}

size_t qdq_gemm_panels(const qdq_gemm *g) { return (g->columns + COLUMNS - 1) / COLUMNS; }

size_t qdq_gemm_panel_bytes(const qdq_gemm *g) {
    return padded(g, g->depth) * COLUMNS * element_size(g);
}

static bool pack_all(qdq_gemm *g, const void *data, const void *zeros, qdq_pool *pool) {
    size_t panels = qdq_gemm_panels(g), bytes = qdq_gemm_panel_bytes(g), size = element_size(g);
    char *packed = qdq_pool_array(pool, g->weights.matrices * panels, bytes);
    if (!packed) return false;
    for (size_t matrix = 0; matrix < g->weights.matrices; matrix++) {
        qdq_gemm_source from = {data, zeros, matrix, matrix * g->weights.zero_stride};
        for (size_t p = 0; p < panels; p++)
            for (size_t k = 0; k < g->depth; k += DEPTH)
                pack(g, &from, p * COLUMNS, k, g->depth - k < DEPTH ? g->depth - k : DEPTH,
                     packed + (matrix * panels + p) * bytes + k * COLUMNS * size);
    }
    g->packed = packed;
    g->packed_bytes = g->weights.matrices * panels * bytes;
    return true;
}

//---- A ----------------------------------------------------------------------

void qdq_gemm_put_row(const qdq_gemm *g, int32_t zero, const void *raw, size_t n, size_t row,
                      void *a) {
    size_t end = padded(g, n);
    if (g->bytes) {
        uint8_t *to = (uint8_t *)a + row * DEPTH;
        unsign(g->a_dtype, raw, to, n);
        memset(to + n, 0, end - n);
    } else if (g->integer) {
        int16_t *to = (int16_t *)a + row * DEPTH;
        qdq_gemm_less(g->a_dtype, raw, zero, to, n);
        if (end > n) to[n] = 0;
    } else {
        g->kernel->widen(g->a_dtype, raw, (float *)a + row * DEPTH, n);
    }
}

unsigned qdq_gemm_fill_rows(const qdq_gemm *g, const qdq_tensors *tensors,
                            const qdq_gemm_block *block, size_t k, size_t n, void *a,
                            uint16_t (*keep)[DEPTH]) {
    (void)keep;
    size_t size = qdq_dtype_size(g->a_dtype);
    const char *x = (const char *)tensors->x[g->a_port] +
                    (qdq_gemm_at(g, g->batches.a, block->batch) + k * g->a_depth_stride) * size;
    size_t zeros = qdq_gemm_at(g, g->batches.a_zero, block->batch);
    for (size_t r = 0; r < block->rows; r++) {
        size_t row = block->row + r;
        const void *from = x + row * g->a_row_stride * size;
        uint32_t raw[DEPTH];
        if (g->a_depth_stride != 1) {
            qdq_gemm_gather(g->a_dtype, from, g->a_depth_stride, n, raw);
            from = raw;
        }
        int32_t zero = 0;
        if (g->a_zero.port != SIZE_MAX)
            zero = qdq_gemm_integer_at(g->a_zero.dtype, qdq_gemm_numbers(&g->a_zero, tensors),
                                       zeros + row * g->a_zero.row_stride);
        qdq_gemm_put_row(g, zero, from, n, r, a);
    }
    return 0;
}

//---- A block ----------------------------------------------------------------

// Floats, or integers in the same memory.
typedef union panels {
    float floats[DEPTH * BLOCK_ROWS];
    int16_t integers[DEPTH * BLOCK_ROWS];
    uint8_t bytes[DEPTH * BLOCK_ROWS];
} panels;

typedef struct workspace {
    _Alignas(64) panels a;
    union {
        float floats[BLOCK_COLUMNS * BLOCK_ROWS];
        int32_t integers[BLOCK_COLUMNS * BLOCK_ROWS];
    } sums;
    float b[DEPTH * COLUMNS];
    uint16_t keep[QDQ_GEMM_TILES][DEPTH];
} workspace;

// A panel of B times all rows of the block.
static void add_panel(const qdq_gemm *g, const qdq_gemm_block *block, workspace *w, size_t p,
                      const void *b, size_t n, unsigned skips) {
    for (size_t t = 0; t * ROWS < block->rows; t++) {
        size_t rows = block->rows - t * ROWS < ROWS ? block->rows - t * ROWS : ROWS;
        size_t at = p * BLOCK_ROWS * COLUMNS + t * ROWS * COLUMNS;
        if (g->bytes)
            g->kernel->bytes(w->a.bytes + t * ROWS * DEPTH, b, w->sums.integers + at, rows,
                             padded(g, n));
        else if (g->integer)
            g->kernel->integer(w->a.integers + t * ROWS * DEPTH, b, w->sums.integers + at, rows,
                               padded(g, n));
        else
            g->kernel->tile(w->a.floats + t * ROWS * DEPTH, b, w->sums.floats + at, rows, n,
                            skips >> t & 1 ? w->keep[t] : NULL);
    }
}

// Where the sums of a block begin: at 0, or at those of the columns.
static void start_sums(const qdq_gemm *g, const qdq_gemm_block *block, size_t first_panel,
                       workspace *w) {
    for (size_t p = 0; p * COLUMNS < block->columns; p++) {
        int32_t *sums = w->sums.integers + p * BLOCK_ROWS * COLUMNS;
        if (!g->bytes) {
            memset(sums, 0, block->rows * COLUMNS * sizeof *sums);
            continue;
        }
        const int32_t *first = g->first_sums + (first_panel + p) * COLUMNS;
        for (size_t r = 0; r < block->rows; r++)
            memcpy(sums + r * COLUMNS, first, COLUMNS * sizeof *sums);
    }
}

static void run_block(const qdq_gemm *g, const qdq_tensors *tensors, const qdq_gemm_block *block) {
    workspace w;
    size_t count = (block->columns + COLUMNS - 1) / COLUMNS;
    size_t size = element_size(g);
    bool has_zeros = g->b_zero.port != SIZE_MAX;
    size_t matrix = qdq_gemm_at(g, g->batches.b, block->batch);
    qdq_gemm_source from = {tensors->x[g->weights.port],
                            has_zeros ? qdq_gemm_numbers(&g->b_zero, tensors) : NULL, matrix,
                            matrix * g->weights.zero_stride};
    size_t first_panel = matrix * qdq_gemm_panels(g) + block->column / COLUMNS;
    const char *packed = g->packed;
    if (packed) packed += first_panel * qdq_gemm_panel_bytes(g);
    start_sums(g, block, first_panel, &w);
    for (size_t k = 0; k < g->depth; k += DEPTH) {
        size_t n = g->depth - k < DEPTH ? g->depth - k : DEPTH;
        memset(w.keep, 0xFF, sizeof w.keep);
        unsigned skips = g->fill(g, tensors, block, k, n, &w.a, w.keep);
        for (size_t p = 0; p < count; p++) {
            const void *b = w.b;
            if (packed)
                b = packed + p * qdq_gemm_panel_bytes(g) + k * COLUMNS * size;
            else if (g->coded)
                qdq_gemm_decode(g, first_panel + p, k, n, w.b);
            else
                pack(g, &from, block->column + p * COLUMNS, k, n, w.b);
            add_panel(g, block, &w, p, b, n, skips);
        }
    }
    g->finish(g, tensors, block, &w.sums);
}

//---- Units ------------------------------------------------------------------

static size_t row_blocks(const qdq_gemm *g) { return (g->rows + BLOCK_ROWS - 1) / BLOCK_ROWS; }
static size_t column_blocks(const qdq_gemm *g) {
    return (g->columns + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS;
}

// Rows go first: a panel of B serves them all while it is in cache.
static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const qdq_gemm *g = params;
    for (size_t unit = begin; unit < end; unit++) {
        size_t row = unit % row_blocks(g) * BLOCK_ROWS, rest = unit / row_blocks(g);
        size_t column = rest % column_blocks(g) * BLOCK_COLUMNS;
        qdq_gemm_block block = {
            .batch = rest / column_blocks(g),
            .row = row,
            .rows = g->rows - row < BLOCK_ROWS ? g->rows - row : BLOCK_ROWS,
            .column = column,
            .columns = g->columns - column < BLOCK_COLUMNS ? g->columns - column : BLOCK_COLUMNS,
        };
        run_block(g, tensors, &block);
    }
}

void qdq_gemm_init(qdq_gemm *g, const qdq_lowering *to, bool integer) {
    const qdq_gemm_along none = {.port = SIZE_MAX};
    g->kernel = qdq_gemm_kernel_find(to->isas);
    g->integer = integer;
    g->batch = 1;
    g->weights.taps = g->weights.matrices = 1;
    g->y = g->bias = g->a_zero = g->b_zero = none;
    g->a_scale = g->b_scale = g->y_scale = g->y_zero = none;
}

bool qdq_gemm_constant_weights(const qdq_gemm *g, const qdq_call *call, const void **data,
                               const void **zeros) {
    const qdq_operand *b = &call->inputs[g->weights.port];
    bool has_zeros = g->b_zero.port != SIZE_MAX;
    *data = b->codes ? b->codes->data : b->data;
    *zeros = g->b_zero.known;
    if (has_zeros && !*zeros) *zeros = call->inputs[g->b_zero.port].data;
    return *data && (*zeros || !has_zeros);
}

bool qdq_gemm_stage(qdq_gemm *g, const qdq_call *call, const qdq_lowering *to, qdq_stage *stage) {
    const void *data, *zeros;
    const qdq_coded *coded = call->inputs[g->weights.port].coded;
    if (coded && !qdq_gemm_pack_coded(g, coded, to->pool)) return false;
    if (qdq_gemm_constant_weights(g, call, &data, &zeros)) {
        g->bytes = qdq_gemm_takes_bytes(g, zeros);
        if (!(g->bytes ? qdq_gemm_pack_bytes : pack_all)(g, data, zeros, to->pool)) return false;
    }
    *stage = (qdq_stage){.params = g,
                         .whole = run,
                         .units = g->batch * row_blocks(g) * column_blocks(g),
                         .cost = g->batch * g->rows * g->columns * g->depth,
                         .packed = (uint64_t)(g->packed || g->coded) << g->weights.port,
                         .packed_bytes = g->packed_bytes};
    return true;
}
