// SPDX-License-Identifier: Apache-2.0
// Matrix products larger than every block, k block and panel, and random ones:
// test_large_products [COUNT [SEED]].
//
// This test and test_large_convolutions reach every branch of ops/products/gemm*.c, conv*.c and
// matmul*.c and of ops/kernels/gemm, as gcov counts them, except:
// * refused nodes (tests/rules, test_matmul.c, test_convolution.c) and failing allocations
//   (tests/graph/core/test_memory.c);
// * operands of rank 1, broadcast batches, parameters for each matrix of a batch, and a requested
//   result dtype (test_matmul.c, test_integer_products.c);
// * NaN, infinities and bfloat16 sums near 2^-126, which are no small integers (test_matmul.c,
//   test_weight_codes.c, test_gemm_bfloats.c);
// * operands unfit for integer execution (test_integer_execution.c);
// * constants read from a file, and weights shared by two nodes (tests/graph/tensor_file);
// * a depth of more than 2^32.
#include "ops/conv/conv_lowering.h"
#include "tests/ops/products/large_matrices.h"

enum {
    ROWS = QDQ_GEMM_ROWS,
    COLUMNS = QDQ_GEMM_COLUMNS,
    BLOCK_ROWS = QDQ_GEMM_BLOCK_ROWS,
    BLOCK_COLUMNS = QDQ_GEMM_BLOCK_COLUMNS,
    K_BLOCKS = QDQ_GEMM_K_BLOCKS,
    MOST_K_BLOCKS = QDQ_GEMM_MOST_K_BLOCKS,
    CACHE = QDQ_GEMM_CACHE_BYTES,
};

static const product variants[] = {
    {.name = "float32", .a = F32, .b = F32, .real = F32, .size = 4},
    {.name = "float16", .a = F16, .b = F16, .real = F16, .size = 4},
    {.name = "bfloat16", .a = BF16, .b = BF16, .real = BF16, .size = 2},
    {.name = "MatMulInteger of bytes", .kind = INTEGERS, .a = U8, .b = I8, .size = 1, .wide = true},
    {.name = "MatMulInteger",
     .kind = INTEGERS,
     .a = I8,
     .b = U8,
     .size = 2,
     .blocks = PER_COLUMN,
     .zeros = true,
     .wide = true,
     .by_row = true},
    {.name = "QLinearMatMul",
     .kind = QLINEAR,
     .a = U8,
     .b = I8,
     .size = 2,
     .blocks = PER_COLUMN,
     .zeros = true,
     .wide = true},
    {.name = "codes, of bytes",
     .kind = CODES,
     .a = U8,
     .b = I8,
     .real = F32,
     .size = 1,
     .blocks = PER_COLUMN,
     .wide = true},
    {.name = "codes, int4",
     .kind = CODES,
     .a = I8,
     .b = QDQ_INT4,
     .real = F32,
     .size = 1,
     .zeros = true},
    {.name = "codes, uint8",
     .kind = CODES,
     .a = U8,
     .b = U8,
     .real = F32,
     .size = 2,
     .zeros = true},
    {.name = "int8 weights",
     .kind = WEIGHTS,
     .a = F32,
     .b = I8,
     .real = F32,
     .size = 4,
     .blocks = PER_COLUMN},
    {.name = "uint8 weights",
     .kind = WEIGHTS,
     .a = F16,
     .b = U8,
     .real = F16,
     .size = 4,
     .zeros = true},
    {.name = "int4 weights",
     .kind = WEIGHTS,
     .a = BF16,
     .b = QDQ_INT4,
     .real = BF16,
     .size = 2,
     .blocks = PER_BLOCK,
     .zeros = true},
    {.name = "uint4 weights",
     .kind = WEIGHTS,
     .a = F32,
     .b = QDQ_UINT4,
     .real = F32,
     .size = 4,
     .blocks = PER_BLOCK,
     .zeros = true},
};

//---- One product ------------------------------------------------------------

static tensor along(const char *name, qdq_dtype dtype, size_t count) {
    return tensor_of(name, dtype, QDQ_SHAPE((int64_t)count));
}

static void fill_ports(product *p, uint64_t *state) {
    bool ports = large_is_integer(p->kind);
    if (p->bias) {
        p->in[OF_BIAS] = along("bias", p->real, p->n);
        for (size_t j = 0; j < p->n; j++)
            large_put(&p->in[OF_BIAS], j, (double)large_pick(state, 8) - 4);
    }
    if (ports && (p->zeros || p->kind == QLINEAR)) {
        p->in[A_ZERO] = along("a_zero", p->a, p->by_row ? p->m : 1);
        p->in[B_ZERO] = along("b_zero", p->b, p->count);
    }
    if (p->kind == QLINEAR) {
        p->in[A_SCALE] = along("a_scale", QDQ_FLOAT32, p->by_row ? p->m : 1);
        p->in[B_SCALE] = along("b_scale", QDQ_FLOAT32, p->count);
        p->in[Y_SCALE] = along("y_scale", QDQ_FLOAT32, 1);
        p->in[Y_ZERO] = along("y_zero", p->a, 1);
        for (size_t i = 0; i < tensor_count(&p->in[A_SCALE]); i++)
            tensor_put(&p->in[A_SCALE], i, p->by_row ? (double)(1 << (i % 13 % 2)) : 1.0);
        for (size_t i = 0; i < p->count; i++) tensor_put(&p->in[B_SCALE], i, (double)p->scales[i]);
        tensor_put(&p->in[Y_SCALE], 0, (double)p->y_scale),
            tensor_put(&p->in[Y_ZERO], 0, LARGE_ZERO);
    }
    if (!p->in[A_ZERO].name) return;
    for (size_t i = 0; i < tensor_count(&p->in[A_ZERO]); i++)
        tensor_put(&p->in[A_ZERO], i, product_row_zero(p, i));
    for (size_t i = 0; i < p->count; i++) tensor_put(&p->in[B_ZERO], i, p->zps[i]);
}

static void make(product *p, uint64_t *state) {
    p->in[B] =
        tensor_of("b", p->b, product_shape(p->b_shared ? 0 : p->batch, p->k, p->n, p->transpose_b));
    product_parameters(p, state);
    product_fill_a(p, state), product_fill_b(p, state);
    product_sum_up(p);
    size_t sums = product_batch(p) * p->m * p->stride;
    p->y_scale = large_fitting(p->sums, sums, 100);
    p->after.scale = 0.25f;
    if (p->after.link != DEQUANTIZE)
        p->after.scale = large_fitting(p->sums, sums, 200) * p->a_scale;
    fill_ports(p, state);
    product_expect(p);
}

static void run(const product *p, const char *isa, large_way way) {
    char what[200];
    snprintf(what, sizeof what, "%s, %zu of %zu x %zu x %zu%s%s%s, link %d", p->name, p->batch,
             p->m, p->k, p->n, p->transpose_a ? ", a transposed" : "",
             p->transpose_b ? ", b transposed" : "", p->bias ? ", bias" : "", (int)p->after.link);
    if (p->kind == CODES && p->wide) way.fast = true, way.materialize = false;  // sums need 32 bits
    large_run(&(large_case){what, p->in, OPERANDS, product_node, p, &p->want}, isa, &way);
}

//---- Shapes around the block sizes ------------------------------------------

enum { SHAPES = 9, PANELS_SHAPE = 7, KEPT_SHAPE = 8 };

// Each dim crosses its block size twice. Shape 0: rows in the outer loop. 1: columns in the outer
// loop, as B exceeds the cache. 2: the same, with room for the last rows only. 3: a batch. 4: few
// rows, so the row buffer holds more k blocks. 5: more k blocks than the row buffer holds for any
// number of rows. 6: B exceeds the cache, but has so few columns that rows are in the outer loop.
// PANELS_SHAPE: the same for rows of codes as columns of panels. KEPT_SHAPE: blocks that take the
// panels of the block before, in a batch, with the greatest depth for which they do.
static void set_shape(product *p, int shape) {
    size_t k_block = QDQ_GEMM_ROW_BYTES / p->size;
    p->m = 2 * BLOCK_ROWS + ROWS + 1, p->k = 2 * k_block + 5,
    p->n = 2 * BLOCK_COLUMNS + COLUMNS + 1;
    if (shape == 1) p->k = CACHE / (p->size * (p->n / COLUMNS + 1) * COLUMNS) + 3;
    if (shape == 2) {
        p->m = 2 * BLOCK_ROWS + BLOCK_ROWS * K_BLOCKS / (K_BLOCKS + 2);
        p->k = (K_BLOCKS + 1) * k_block + 9;
        p->n = CACHE / (p->size * p->k) + COLUMNS;
        if (p->n < BLOCK_COLUMNS + COLUMNS) p->n = BLOCK_COLUMNS + COLUMNS;
    }
    if (shape == 3)
        p->batch = 3, p->m = BLOCK_ROWS + 5, p->k = k_block + 3, p->n = BLOCK_COLUMNS + 5;
    if (shape == 4) p->m = 5, p->k = MOST_K_BLOCKS * k_block - 7, p->n = COLUMNS + 3;
    if (shape == 5) p->m = 2, p->k = MOST_K_BLOCKS * k_block + 3, p->n = COLUMNS + 3;
    if (shape == 6)
        p->m = 2 * BLOCK_ROWS, p->k = CACHE / (p->size * COLUMNS) + 5, p->n = COLUMNS - 9;
    if (shape == PANELS_SHAPE) {
        p->m = 2 * QDQ_CONV_PANELS_POSITIONS + COLUMNS + 1, p->k = k_block + 6;
        p->n = 2 * QDQ_CONV_PANELS_ROWS + ROWS + 1;
    }
    if (shape == KEPT_SHAPE) {
        p->batch = 3, p->m = 2 * BLOCK_ROWS + ROWS + 1, p->k = k_block;
        p->n = p->kind == FLOATS ? BLOCK_COLUMNS + COLUMNS / 2 : BLOCK_COLUMNS - COLUMNS / 2;
    }
    p->block_k = k_block / 2 + 1, p->block_n = shape % 2 ? 1 : COLUMNS / 2 + 1;
}

static void set_link(product *p, size_t choice) {
    p->after.link = large_link_after(p->kind, choice);
    p->bias = !large_is_integer(p->kind) && choice % 3;
}

// Two modes with each instruction set, different ones for each, so that a shape runs in all modes;
// the portable kernels, which are slow, run one.
static void products_cross_every_block_size(void **state) {
    (void)state;
    const char *isas[32];
    size_t isa_count = large_isas(isas), turn = 0;
    for (size_t v = 0; v < UNIT_COUNT(variants); v++)
        for (int shape = 0; shape < SHAPES; shape++) {
            if (unit_left_out(v * SHAPES + (size_t)shape)) continue;
            uint64_t random = large_state(v * SHAPES + (size_t)shape);
            product p = variants[v];
            set_shape(&p, shape);
            set_link(&p, v + (size_t)shape);
            p.b_shared = p.batch && v % 2;
            p.transpose_b = !large_is_integer(p.kind) && (v + (size_t)shape) % 3 == 0;
            make(&p, &random);
            for (size_t i = 0; i < isa_count; i++, turn++) {
                run(&p, isas[i], large_ways[turn % LARGE_WAYS]);
                if (i) run(&p, isas[i], large_ways[(turn + LARGE_WAYS / 2) % LARGE_WAYS]);
            }
            product_free(&p);
        }
}

// Products of the greatest uint8 and pairs of the least and the greatest int8 exceed 16 bits.
static void pairs_at_the_ends_of_int8_do_not_saturate(void **state) {
    (void)state;
    const char *isas[32];
    static const large_way fast[] = {
        {.threads = 1, .fast = true, .constant = ~1u},
        {.threads = 3, .fast = true, .constant = ~1u},
    };
    size_t isa_count = large_isas(isas);
    for (size_t v = 0; v < UNIT_COUNT(variants); v++)
        for (size_t turned = 0; turned < 2; turned++) {
            uint64_t random = large_state(v);
            product p = variants[v];
            if (p.kind != CODES || p.a != U8 || p.b != I8) continue;
            p.ends = true, p.transpose_b = turned;
            set_shape(&p, PANELS_SHAPE);
            set_link(&p, 1 + 3 * turned);
            make(&p, &random);
            for (size_t i = 0; i < isa_count * UNIT_COUNT(fast); i++)
                run(&p, isas[i / UNIT_COUNT(fast)], fast[i % UNIT_COUNT(fast)]);
            product_free(&p);
        }
}

//---- Random products --------------------------------------------------------

static void set_random_sizes(product *p, uint64_t *state) {
    enum { MOST = 6 << 20 };  // multiply-adds
    size_t k_block = QDQ_GEMM_ROW_BYTES / p->size, how = large_pick(state, 4);
    const size_t rows[] = {ROWS, BLOCK_ROWS}, columns[] = {COLUMNS, BLOCK_COLUMNS};
    const size_t depths[] = {1, k_block, K_BLOCKS * k_block};
    p->m = large_size(state, rows, 2, 3 * BLOCK_ROWS);
    p->n = large_size(state, columns, 2, 3 * BLOCK_COLUMNS);
    p->k = large_size(state, depths, 3, (K_BLOCKS + 4) * k_block);
    if (how == 0) p->k = CACHE / (p->size * ((p->n + COLUMNS - 1) / COLUMNS * COLUMNS)) + 1;
    if (how == 0 && p->k > (K_BLOCKS + 4) * k_block)
        p->k = K_BLOCKS * k_block + p->k % (4 * k_block);
    while (how > 1 && p->m * p->k * p->n > MOST) {
        size_t *size = large_pick(state, 2) ? &p->k : large_pick(state, 2) ? &p->m : &p->n;
        *size = *size / 2 + 1;
    }
    p->batch = p->m * p->k * p->n < MOST / 4 ? large_pick(state, 4) : 0;
    p->b_shared = p->batch && large_pick(state, 2);
    p->block_k = 1 + large_pick(state, p->k), p->block_n = 1 + large_pick(state, p->n);
    if (large_pick(state, 2)) *(large_pick(state, 2) ? &p->block_k : &p->block_n) = 1;
}

static product random_product(uint64_t *state) {
    product p = variants[large_pick(state, UNIT_COUNT(variants))];
    bool integers = large_is_integer(p.kind);
    p.zeros = large_pick(state, 2), p.wide = p.wide && large_pick(state, 2);
    p.by_row = integers && large_pick(state, 2), p.same_scales = large_pick(state, 4) == 0;
    if (p.kind == WEIGHTS)
        p.blocks = (large_blocks)large_pick(state, 3);
    else if (p.kind != FLOATS)
        p.blocks = (large_blocks)large_pick(state, 2);
    set_random_sizes(&p, state);
    set_link(&p, large_pick(state, 12));
    p.transpose_a = !integers && large_pick(state, 4) == 0;
    p.transpose_b = !integers && large_pick(state, 2);
    return p;
}

static void random_products_are_exact(void **unused) {
    (void)unused;
    const char *isas[32];
    size_t isa_count = large_isas(isas);
    for (uint64_t i = 0; i < large_cases.count; i++) {
        uint64_t seed = large_cases.seed + i, state = large_state(seed);
        product p = random_product(&state);
        char name[100];
        snprintf(name, sizeof name, "QDQ_SEED=%llu QDQ_RANDOM=1: %s", (unsigned long long)seed,
                 p.name);
        p.name = name;
        make(&p, &state);
        for (int way = 0; way < 2; way++)
            run(&p, isas[large_pick(&state, isa_count)], large_random_way(&state));
        product_free(&p);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_cross_every_block_size),
        cmocka_unit_test(pairs_at_the_ends_of_int8_do_not_saturate),
        cmocka_unit_test(random_products_are_exact),
    };
    large_begin(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
