// SPDX-License-Identifier: Apache-2.0
// Products with constant dequantized weights, which are decoded during the product or when the
// graph is compiled. Each way gives the bits of the literal graph and of the model here: a weight
// is exact in double, rounded to float32 and then to its dtype; sums are those of products.h.
#include "tests/ops/fixed_row.h"
#include "tests/ops/products.h"

enum { MAX_PARAMETERS = 4096, RANK = 4 };

// Constant weights: codes, and a parameter for each block of `extents`.
typedef struct weights {
    qdq_dtype codes, real;
    qdq_shape shape;
    qdq_qtype qtype;
    int axis;
    int64_t extents[RANK];  // for per_group; -1: the whole dim
    bool has_zero_points, scale_is_cast;
    size_t count;
    float scales[MAX_PARAMETERS];
    double zps[MAX_PARAMETERS];
} weights;

static int64_t extent_of(const weights *w, int dim) {
    if (w->qtype == QDQ_PER_TENSOR) return w->shape.dims[dim];
    if (w->qtype == QDQ_PER_CHANNEL) return dim == w->axis ? 1 : w->shape.dims[dim];
    return w->extents[dim] < 0 ? w->shape.dims[dim] : w->extents[dim];
}

static size_t block_of(const weights *w, size_t element) {
    size_t block = 0, unit = 1;
    for (int d = w->shape.rank; d-- > 0;) {
        size_t dim = (size_t)w->shape.dims[d], extent = (size_t)extent_of(w, d);
        block += element % dim / extent * unit;
        unit *= (dim + extent - 1) / extent;
        element /= dim;
    }
    return block;
}

static size_t block_count(const weights *w) {
    size_t count = 1;
    for (int d = 0; d < w->shape.rank; d++)
        count *= (size_t)((w->shape.dims[d] + extent_of(w, d) - 1) / extent_of(w, d));
    assert_true(count <= MAX_PARAMETERS);
    return count;
}

static bool is_small(qdq_dtype codes) { return codes == QDQ_INT4 || codes == QDQ_UINT4; }
static int least_of(qdq_dtype codes) {
    return codes == QDQ_INT8 ? -128 : codes == QDQ_INT4 ? -8 : 0;
}

// Some scales are huge, denormal or negative; some zero points lie outside the range of the codes.
static void choose(weights *w, uint64_t *seed) {
    static const float odd[] = {0x1p126f, 0x1.fffffep120f, 0x1p-149f, 0x1.8p-140f, -0x1.5p-126f};
    w->count = block_count(w);
    for (size_t i = 0; i < w->count; i++) {
        uint64_t r = unit_random(seed) >> 20;
        w->scales[i] = 0.001f + (float)(r & 0xFFFFF) * 1e-7f;
        if (r >> 24 & 1) w->scales[i] = -w->scales[i];
        if (i % 13 == 11) w->scales[i] = odd[(r >> 26) % UNIT_COUNT(odd)];
        w->zps[i] = least_of(w->codes) + (double)((r >> 30) % (is_small(w->codes) ? 16 : 256));
        if (i % 17 == 3) w->zps[i] = r >> 40 & 1 ? 16000 : -16000;
    }
}

static tensor codes_of(const weights *w, uint64_t *seed) {
    tensor t = tensor_of("w", w->codes, w->shape);
    for (size_t i = 0; i < tensor_count(&t); i++) {
        uint64_t r = unit_random(seed) >> 20;
        int code = least_of(w->codes) + (int)(r % (is_small(w->codes) ? 16 : 256));
        ((uint8_t *)t.data)[i] = (uint8_t)code;
    }
    return t;
}

static float rounded(qdq_dtype dtype, float value) {
    const small_format *f = small_format_of(dtype);
    if (!f || !(value == value)) return value;
    return (float)small_value(f, small_encode(f, (double)value, QDQ_FLOAT_OVERFLOW));
}

static float *reals_of(const weights *w, const tensor *codes) {
    size_t count = tensor_count(codes);
    float *reals = oracle_memory(count * sizeof *reals);
    for (size_t i = 0; i < count; i++) {
        size_t block = block_of(w, i);
        const uint8_t *code = (const uint8_t *)codes->data + i;
        double q = least_of(w->codes) < 0 ? (double)*(const int8_t *)code : (double)*code;
        double exact = (q - (w->has_zero_points ? w->zps[block] : 0)) * (double)w->scales[block];
        reals[i] = rounded(w->real, (float)exact);
    }
    return reals;
}

// v holds x, codes, bias, and scales if they are cast first.
static qdq_value dequantized(qdq_graph *g, const weights *w, const qdq_value *v) {
    qdq_dequantize_attrs attrs = {
        .name = "real",
        .dtype = w->real,
        .qtype = w->qtype,
        .axis = QDQ_INT(w->axis),
        .scales = {.data = w->scales, .count = w->count},
    };
    if (w->qtype == QDQ_PER_GROUP)
        attrs.group_shape = (qdq_ints){.data = w->extents, .count = (size_t)w->shape.rank};
    if (w->has_zero_points) attrs.zps = (qdq_numbers){.data = w->zps, .count = w->count};
    if (w->scale_is_cast) {
        attrs.scales = (qdq_floats){0};
        attrs.scale = qdq_cast(g, v[3], (qdq_cast_attrs){.name = "s32", .dtype = QDQ_FLOAT32});
    }
    return qdq_dequantize(g, v[1], attrs);
}

static void put_sum(tensor *y, size_t i, float sum) {
    static const uint32_t quiet = 0x7FC00000;
    if (sum == sum) {
        tensor_put(y, i, (double)sum);
    } else if (y->dtype == QDQ_FLOAT32) {
        memcpy((char *)y->data + i * 4, &quiet, 4);
    } else {
        uint16_t half = y->dtype == QDQ_BFLOAT16 ? 0x7FC0 : 0x7E00;
        memcpy((char *)y->data + i * 2, &half, 2);
    }
}

enum { CODES = 1u << 1, SCALES = 1u << 3 };

// The first element that differs, or the count of all.
static size_t first_difference(const tensor *x, const tensor *y) {
    size_t size = qdq_dtype_size(x->dtype), count = tensor_count(x), i = 0;
    while (i < count && memcmp((char *)x->data + i * size, (char *)y->data + i * size, size) == 0)
        i++;
    return i;
}

// The graph gives `want` on every instruction set and number of threads, also with `fast`, as x is
// not quantized. If it has a single row and its weights are kept as codes, `fast` gives `scaled`;
// NULL if it has more.
static void check(const char *what, const tensor *in, product_build *build, const void *self,
                  const tensor *want, const tensor *scaled) {
    tensor out = tensor_of("out", want->dtype, want->shape);
    for (size_t isa = 0; qdq_isa_get(isa).name; isa++) {
        if (!qdq_isa_get(isa).available) continue;
        for (int way = 0; way < 4; way++) {
            qdq_compile_options options = {
                .isa = qdq_isa_get(isa).name, .fast = way == 2, .materialize = way == 3};
            product_run_as(in, 4, CODES | SCALES, build, self, &options, way == 1 ? 3 : 1, &out);
            size_t count = tensor_count(want), i = first_difference(&out, want);
            if (i < count && scaled && options.fast) i = first_difference(&out, scaled);
            if (i < count)
                fail_msg("%s: %s, way %d, element %zu of %zu: got %.9g, want %.9g", what,
                         options.isa, way, i, count, tensor_at(&out, i), tensor_at(want, i));
        }
    }
    free(out.data);
}

//---- Matrices ---------------------------------------------------------------

typedef struct matrices {
    weights w;
    size_t batch, m, k, n;
    bool transposed, vector;
} matrices;

static qdq_value build_matmul(qdq_graph *g, const qdq_value *v, const void *self) {
    const matrices *e = self;
    return qdq_matmul(g, v[0], dequantized(g, &e->w, v),
                      (qdq_matmul_attrs){.name = "m",
                                         .bias = v[2],
                                         .transpose_b = e->transposed ? QDQ_TRUE : QDQ_FALSE});
}

// --fast: a row in fixed point, or the literal sum.
static float fast_sum(const matrices *e, const tensor *codes, const float *a, const float *b,
                      size_t first, size_t j, float literal) {
    const weights *w = &e->w;
    size_t stride = e->transposed ? 1 : e->n;
    fixed_weight *of = calloc(e->k, sizeof *of);
    assert_non_null(of);
    first += e->transposed ? j * e->k : j;
    for (size_t k = 0; k < e->k; k++) {
        size_t at = first + k * stride, block = block_of(w, at);
        const uint8_t *code = (const uint8_t *)codes->data + at;
        int q = least_of(w->codes) < 0 ? *(const int8_t *)code : *code;
        int zero = w->has_zero_points ? (int)w->zps[block] : 0;
        of[k] = (fixed_weight){block, q - zero, w->scales[block], b[k]};
    }
    float sum = fixed_row_applies(of, e->k) ? fixed_row_sum(a, of, e->k) : literal;
    free(of);
    return sum;
}

static void check_matmul(matrices *e, const char *what, tensor *scales) {
    uint64_t seed = 99 + e->k * 7 + e->n;
    size_t batches = e->batch ? e->batch : 1;
    int64_t b = (int64_t)batches, m = (int64_t)e->m, k = (int64_t)e->k, n = (int64_t)e->n;
    if (!scales) choose(&e->w, &seed);
    tensor none = {0}, in[4];
    in[0] = tensor_of("x", e->w.real, QDQ_SHAPE(b, m, k));
    in[1] = codes_of(&e->w, &seed);
    in[2] = tensor_of("bias", e->w.real, QDQ_SHAPE(n));
    in[3] = scales ? *scales : none;
    tensor_fill(&in[0], &seed), tensor_fill(&in[2], &seed);
    if (e->m == 5) in[2].name = NULL;
    float *reals = reals_of(&e->w, &in[1]);
    float *of_a = calloc(2 * e->k, sizeof *of_a), *of_b = of_a + e->k;
    assert_non_null(of_a);
    tensor want = tensor_of("want", e->w.real, QDQ_SHAPE(b, m, n));
    tensor scaled = tensor_of("scaled", e->w.real, QDQ_SHAPE(b, m, n));
    if (e->vector) want.shape = scaled.shape = QDQ_SHAPE(b, m);
    for (size_t i = 0; i < batches * e->m * e->n; i++) {
        size_t j = i % e->n, row = i / e->n, first = e->batch ? row / e->m * e->k * e->n : 0;
        for (size_t d = 0; d < e->k; d++) {
            of_a[d] = (float)tensor_at(&in[0], row * e->k + d);
            of_b[d] = reals[first + (e->transposed ? j * e->k + d : d * e->n + j)];
        }
        float sum = product_sum(e->w.real, of_a, of_b, NULL, e->k);
        float fast = fast_sum(e, &in[1], of_a, of_b, first, j, sum);
        float bias = in[2].name ? (float)tensor_at(&in[2], j) : 0;
        put_sum(&want, i, in[2].name ? sum + bias : sum);
        put_sum(&scaled, i, in[2].name ? fast + bias : fast);
    }
    bool may_scale = e->m == 1 && e->w.real == QDQ_FLOAT32;
    check(what, in, build_matmul, e, &want, may_scale ? &scaled : NULL);
    tensors_free(in, 3), free(reals), free(of_a), free(want.data), free(scaled.data);
}

static const qdq_dtype code_dtypes[] = {QDQ_INT8, QDQ_UINT8, QDQ_INT4, QDQ_UINT4};
static const qdq_dtype real_dtypes[] = {QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_FLOAT16};

typedef struct blocks {
    qdq_qtype qtype;
    int axis;            // 0: along k, 1: along the columns
    int64_t k, columns;  // k, columns: elements of a group
} blocks;

static const blocks all_blocks[] = {
    {QDQ_PER_TENSOR, 0, 0, 0}, {QDQ_PER_CHANNEL, 1, 0, 0}, {QDQ_PER_CHANNEL, 0, 0, 0},
    {QDQ_PER_GROUP, 0, 32, 1}, {QDQ_PER_GROUP, 0, 5, 1},   {QDQ_PER_GROUP, 0, 1, 8},
    {QDQ_PER_GROUP, 0, 16, 7}, {QDQ_PER_GROUP, 0, -1, 1},  {QDQ_PER_GROUP, 0, 60, -1},
};

// Weights [k, n], [n, k], or a batch of them.
static void set_blocks(matrices *e, const blocks *b) {
    int64_t k = (int64_t)e->k, n = (int64_t)e->n;
    int first = e->batch ? 1 : 0, of_k = first + e->transposed, of_n = first + !e->transposed;
    weights *w = &e->w;
    w->shape.rank = first + 2;
    if (e->batch) w->shape.dims[0] = (int64_t)e->batch;
    w->shape.dims[of_k] = k, w->shape.dims[of_n] = n;
    w->qtype = b->qtype;
    w->axis = b->axis ? of_n : of_k;
    w->extents[0] = 1;
    w->extents[of_k] = b->k > k ? k : b->k, w->extents[of_n] = b->columns > n ? n : b->columns;
}

static void products_equal_those_of_dequantized_weights(void **state) {
    static matrices e;
    static const size_t sizes[][3] = {{1, 131, 47}, {5, 64, 33}, {50, 257, 3}, {2, 1, 1}};
    char what[100];
    (void)state;
    for (size_t c = 0; c < UNIT_COUNT(code_dtypes); c++)
        for (size_t g = 0; g < UNIT_COUNT(all_blocks); g++)
            for (int how = 0; how < 8; how++) {
                const size_t *size = sizes[(c + g + (size_t)how) % 4];
                e = (matrices){.m = size[0], .k = size[1], .n = size[2]};
                e.transposed = how & 1;
                e.batch = how & 2 ? 3 : 0;
                e.w.codes = code_dtypes[c];
                e.w.real = real_dtypes[(c + g + (size_t)how / 2) % 3];
                e.w.has_zero_points = how & 4;
                set_blocks(&e, &all_blocks[g]);
                snprintf(what, sizeof what, "codes %s, blocks %zu, way %d",
                         qdq_dtype_name(e.w.codes), g, how);
                check_matmul(&e, what, NULL);
            }
}

static void weights_may_have_rank_1(void **state) {
    static matrices e;
    (void)state;
    for (size_t c = 0; c < UNIT_COUNT(code_dtypes); c++) {
        e = (matrices){.m = 7, .k = 150, .n = 1, .vector = true};
        e.w.codes = code_dtypes[c], e.w.real = real_dtypes[c % 3];
        e.w.has_zero_points = true;
        e.w.qtype = QDQ_PER_GROUP;
        e.w.shape = QDQ_SHAPE(150), e.w.extents[0] = 40;
        check_matmul(&e, "a vector", NULL);
    }
}

// Scales that the graph computes may be anything. If a NaN has all bits set, adding to its bits
// carries into the sign.
static void scales_of_nan_and_infinity_give_the_same_bits(void **state) {
    static matrices e;
    static const uint32_t odd[] = {0x7FFFFFFF, 0xFFFFFFFF, 0x7F800001, 0x7F800000,
                                   0xFF800000, 0x00000001, 0x7F7FFFFF, 0x80000000};
    (void)state;
    for (size_t r = 0; r < UNIT_COUNT(real_dtypes); r++)
        for (size_t c = 0; c < UNIT_COUNT(code_dtypes); c++) {
            e = (matrices){.m = 2, .k = 40, .n = 37};
            e.w.codes = code_dtypes[c], e.w.real = real_dtypes[r];
            e.w.scale_is_cast = true;
            set_blocks(&e, &(blocks){QDQ_PER_CHANNEL, 1, 0, 0});
            e.w.count = 37;
            for (size_t i = 0; i < 37; i++) {
                uint32_t bits =
                    i % 3 ? 0x3C000000 + (uint32_t)i * 77777 : odd[i / 3 % UNIT_COUNT(odd)];
                memcpy(&e.w.scales[i], &bits, 4);
            }
            tensor scales = {"s", QDQ_FLOAT32, QDQ_SHAPE(37), e.w.scales};
            check_matmul(&e, "scales that are no numbers", &scales);
        }
}

//---- Convolutions -----------------------------------------------------------

// Two spatial dims: weights [3, 2, I, O] or [O, I, 3, 2], strides 2 and 1, padding 1.
enum { IN = 6, OUT_Y = 3, OUT_X = 7, KERNEL_Y = 3, KERNEL_X = 2 };
typedef struct image_example {
    weights w;
    size_t groups, inputs, outputs;  // inputs, outputs: channels of a group
    bool output_first;
} image_example;

static qdq_value build_convolution(qdq_graph *g, const qdq_value *v, const void *self) {
    static const int64_t strides[] = {2, 1}, ones[] = {1, 1};
    const image_example *e = self;
    return qdq_convolution(g, v[0], dequantized(g, &e->w, v),
                           (qdq_convolution_attrs){
                               .name = "c",
                               .strides = {.data = strides, .count = 2},
                               .dilations = {.data = ones, .count = 2},
                               .pads_begin = {.data = ones, .count = 2},
                               .pads_end = {.data = ones, .count = 2},
                               .groups = QDQ_INT((int64_t)e->groups),
                               .weights_format = e->output_first ? QDQ_OIX : QDQ_XIO,
                           });
}

static size_t weight_at(const image_example *e, size_t y, size_t x, size_t i, size_t o) {
    return e->output_first ? ((o * e->inputs + i) * KERNEL_Y + y) * KERNEL_X + x
                           : ((y * KERNEL_X + x) * e->inputs + i) * e->outputs * e->groups + o;
}

static float sum_of_window(const image_example *e, const tensor *x, const float *reals, size_t at) {
    enum { MOST = 1024 };
    size_t channels = e->groups * e->outputs, o = at % channels, n = 0;
    size_t ox = at / channels % OUT_X, oy = at / channels / OUT_X, group = o / e->outputs;
    float of_x[MOST], of_w[MOST];
    unsigned char has[MOST];
    assert_true(e->inputs * KERNEL_Y * KERNEL_X <= MOST);
    for (size_t i = 0; i < e->inputs; i++)
        for (size_t ky = 0; ky < KERNEL_Y; ky++)
            for (size_t kx = 0; kx < KERNEL_X; kx++, n++) {
                size_t iy = oy * 2 + ky - 1, ix = ox + kx - 1;  // wraps to a large number below 0
                size_t from = (iy * IN + ix) * e->groups * e->inputs + group * e->inputs + i;
                has[n] = iy < IN && ix < IN;
                of_x[n] = has[n] ? (float)tensor_at(x, from) : 0;
                of_w[n] = reals[weight_at(e, ky, kx, i, o)];
            }
    return product_sum(e->w.real, of_x, of_w, has, n);
}

static void check_convolution(image_example *e, const char *what) {
    uint64_t seed = 5 + e->groups;
    int64_t in = (int64_t)(e->groups * e->inputs), out = (int64_t)(e->groups * e->outputs);
    choose(&e->w, &seed);
    tensor tensors[4] = {{0}};
    tensors[0] = tensor_of("x", e->w.real, QDQ_SHAPE(1, IN, IN, in));
    tensors[1] = codes_of(&e->w, &seed);
    tensor_fill(&tensors[0], &seed);
    float *reals = reals_of(&e->w, &tensors[1]);
    tensor want = tensor_of("want", e->w.real, QDQ_SHAPE(1, OUT_Y, OUT_X, out));
    for (size_t i = 0; i < tensor_count(&want); i++)
        put_sum(&want, i, sum_of_window(e, &tensors[0], reals, i));
    check(what, tensors, build_convolution, e, &want, NULL);
    tensors_free(tensors, 2), free(reals), free(want.data);
}

// Block extents over y, x, input and output channels.
static const struct {
    qdq_qtype qtype;
    int axis;
    int64_t extents[RANK];
} image_blocks[] = {
    {QDQ_PER_TENSOR, 0, {0}},           {QDQ_PER_CHANNEL, 3, {0}},
    {QDQ_PER_CHANNEL, 2, {0}},          {QDQ_PER_CHANNEL, 0, {0}},
    {QDQ_PER_GROUP, 0, {-1, -1, 4, 1}}, {QDQ_PER_GROUP, 0, {2, 1, 3, 5}},
    {QDQ_PER_GROUP, 0, {1, -1, -1, 1}},
};

static void convolutions_equal_those_of_dequantized_weights(void **state) {
    static image_example e;
    static const size_t sizes[][3] = {{1, 10, 35}, {2, 8, 9}, {4, 5, 2}};
    char what[100];
    (void)state;
    for (size_t c = 0; c < UNIT_COUNT(code_dtypes); c++)
        for (size_t b = 0; b < UNIT_COUNT(image_blocks); b++)
            for (size_t how = 0; how < 6; how++) {
                const size_t *size = sizes[how / 2];
                e = (image_example){.groups = size[0], .inputs = size[1], .outputs = size[2]};
                e.output_first = how % 2;
                e.w.codes = code_dtypes[c], e.w.real = real_dtypes[(c + b + how) % 3];
                e.w.has_zero_points = (b + how / 2) % 2;
                e.w.qtype = image_blocks[b].qtype;
                e.w.shape.rank = 4;
                int64_t dims[] = {KERNEL_Y, KERNEL_X, (int64_t)size[1],
                                  (int64_t)(size[0] * size[2])};
                static const int first[] = {2, 3, 1, 0};  // where y, x, I, O are in [O, I, y, x]
                for (int d = 0; d < 4; d++) {
                    int at = e.output_first ? first[d] : d;
                    e.w.shape.dims[at] = dims[d];
                    e.w.extents[at] = image_blocks[b].extents[d];
                    if (d == image_blocks[b].axis) e.w.axis = at;
                }
                snprintf(what, sizeof what, "codes %s, blocks %zu, way %zu",
                         qdq_dtype_name(e.w.codes), b, how);
                check_convolution(&e, what);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_equal_those_of_dequantized_weights),
        cmocka_unit_test(weights_may_have_rank_1),
        cmocka_unit_test(scales_of_nan_and_infinity_give_the_same_bits),
        cmocka_unit_test(convolutions_equal_those_of_dequantized_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
