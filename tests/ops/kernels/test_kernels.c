// SPDX-License-Identifier: Apache-2.0
// Every row of the kernel table that this machine can run gives the bits of the portable kernel of
// its family: at every length and alignment, with one parameter for all elements, a list of them,
// or a mix. It writes its n elements and nothing else.
#include "ops/kernels/kernel.h"
#include "runtime/numerics/dtype.h"
#include "tests/ops/oracle.h"

enum { MOST = 1024, GUARD = 64, LENGTHS = 9 };

static const size_t lengths[LENGTHS] = {1, 7, 15, 16, 31, 64, 65, 257, MOST};

static qdq_tile_fn *portable_of(qdq_family family) {
    return qdq_kernel_find(family, QDQ_DTYPE_NONE, QDQ_DTYPE_NONE, NULL, 1u << QDQ_ISA_PORTABLE);
}

// Ties of the scale and their neighbours, extremes, signed zeros, denormals, infinities, NaN.
static float make_float(uint64_t r, float scale) {
    static const uint32_t odd[16] = {0,          0x80000000, 0x7F800000, 0xFF800000,
                                     0x7FC00000, 0xFFC12345, 0x00000001, 0x80000001,
                                     0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF,
                                     0x4F000000, 0xCF000000, 0x3F7FFFFF, 0x7FA00001};
    if (r % 16 == 0) return qdq_float_from_bits(odd[r >> 8 & 15]);
    if (r % 16 == 1) return qdq_float_from_bits((uint32_t)(r >> 16));
    float x = ((float)((int)(r >> 20 & 1023) - 512) + (r >> 8 & 1 ? 0.5f : 0.0f)) * scale;
    uint32_t bits = qdq_float_bits(x) + (uint32_t)((int)(r >> 9 & 3) - 1);
    return r % 16 < 9 ? qdq_float_from_bits(bits) : x;
}

static float make_scale(uint64_t r) {
    static const float odd[8] = {0, -0.0f, INFINITY, NAN, -0.25f, 1e-40f, 0x1p-126f, 3e38f};
    if (r % 64 == 0) return odd[r >> 8 & 7];
    if (r % 4 == 1) return ldexpf(1.0f, (int)(r >> 8 & 15) - 8);
    return (float)((r >> 8 & 127) + 1) / 127.0f;
}

static int32_t make_zero_point(uint64_t r, qdq_dtype quantized) {
    static const int32_t odd[4] = {INT32_MAX, INT32_MIN, 1 << 20, -(1 << 20) - 1};
    const qdq_dtype_info *info = qdq_dtype_get(quantized);
    if (r % 128 == 0) return odd[r >> 8 & 3];
    if (r % 4 == 0) return 0;
    return (int32_t)(r >> 8 & 255) + (info->least < -128 ? 0 : (int32_t)info->least);
}

typedef struct work {
    uint32_t params[4][MOST];
    _Alignas(64) unsigned char x[MOST * 4 + 64], y[2][MOST * 4 + 2 * GUARD + 64];
} work;

static void make_x(work *w, qdq_dtype dtype, size_t offset, uint64_t *seed) {
    size_t size = qdq_dtype_size(dtype);
    for (size_t i = 0; i < MOST; i++) {
        uint64_t r = unit_random(seed);
        float scale = qdq_float_from_bits(w->params[0][i]);
        float real = make_float(r, scale);
        uint32_t bits = (uint32_t)(r >> 13);
        if (dtype == QDQ_FLOAT32) bits = qdq_float_bits(real);
        if (dtype == QDQ_BFLOAT16) bits = qdq_float_bits(real) >> 16;
        if (dtype == QDQ_FLOAT16 && r >> 50 & 1) qdq_encode_float(dtype, &real, &bits, 1, NULL);
        memcpy(w->x + offset + i * size, &bits, size);
    }
}

static void make_params(work *w, qdq_dtype quantized, uint64_t *seed) {
    for (size_t i = 0; i < MOST; i++)
        for (int k = 0; k < 4; k++) {
            uint64_t r = unit_random(seed);
            float scale = make_scale(r);
            int32_t z = make_zero_point(r >> 1, quantized);
            memcpy(&w->params[k][i], k % 2 ? (const void *)&z : &scale, 4);
        }
}

static qdq_quant_params params_for(const qdq_kernel *k, uint64_t r) {
    qdq_quant_params p = {.numerics = *k->numerics, .x_dtype = k->x_dtype, .y_dtype = k->y_dtype};
    qdq_dtype quantized = qdq_dtype_is_int(k->y_dtype) ? k->y_dtype : k->x_dtype;
    int64_t least = -100, most = 77;
    bool wide = quantized == QDQ_INT32 && k->family != QDQ_FAMILY_DEQUANTIZE && r % 2;
    if (wide) p.numerics.narrow = true, p.numerics.quant_min = -127, p.numerics.quant_max = 127;
    if (qdq_dtype_is_int(quantized))
        p.range = qdq_range_of(quantized, r % 5 == 1 ? &least : NULL, r % 5 == 2 ? &most : NULL,
                               &p.numerics);
    return p;
}

static void make_views(work *w, unsigned round, qdq_view *views) {
    for (unsigned i = 0; i < 4; i++) {
        bool alike = round % 4 == 0 || round % 4 == i + 1;
        views[i] = (qdq_view){w->params[i], alike ? 0 : 1};
        if (alike)
            for (size_t j = 1; j < MOST; j++) w->params[i][j] = w->params[i][0];
    }
}

// Compares y[1], made by this row, with y[0], byte by byte; at: where the elements begin.
static void compare_bytes(const qdq_kernel *k, const work *w, size_t at, size_t n, unsigned round) {
    size_t size = qdq_dtype_size(k->y_dtype);
    if (memcmp(w->y[0], w->y[1], at + n * size + GUARD) == 0) return;
    for (size_t i = 0; i < at + n * size + GUARD; i++) {
        if (w->y[0][i] == w->y[1][i]) continue;
        uint32_t got = 0, want = 0;
        size_t element = (i - at) / size;
        if (i < at || element >= n) fail_msg("%s: writes beside its %zu elements", k->name, n);
        memcpy(&want, w->y[0] + at + element * size, size);
        memcpy(&got, w->y[1] + at + element * size, size);
        fail_msg("%s, round %u, n %zu, element %zu: got %#x, want %#x", k->name, round, n, element,
                 got, want);
    }
}

// Whether two rows compute the same, with other instructions.
static bool is_twin(const qdq_kernel *a, const qdq_kernel *b) {
    return a->family == b->family && a->x_dtype == b->x_dtype && a->y_dtype == b->y_dtype &&
           qdq_numerics_equal(a->numerics, b->numerics);
}

// Compares rows[0] and its twins among `count` rows with the portable kernel.
static void check_twins(const qdq_kernel *const *rows, size_t count, unsigned round, work *w) {
    uint64_t seed = round * 7919 + 1;
    for (int i = 0; i < 4; i++) (void)unit_random(&seed);
    const qdq_kernel *k = rows[0];
    qdq_quant_params p = params_for(k, round / 2);
    size_t n = lengths[round % LENGTHS], x_at = round % 3 * qdq_dtype_size(k->x_dtype);
    size_t y_at = GUARD + round % 5 * qdq_dtype_size(k->y_dtype);
    make_params(w, qdq_dtype_is_int(k->y_dtype) ? k->y_dtype : k->x_dtype, &seed);
    qdq_view views[4];
    make_views(w, round, views);
    make_x(w, k->x_dtype, x_at, &seed);
    memset(w->y[0], 0xA5, sizeof w->y[0]);
    portable_of(k->family)(&p, views, w->x + x_at, w->y[0] + y_at, n);
    for (size_t i = 0; i < count; i++) {
        if (!is_twin(k, rows[i])) continue;
        memset(w->y[1], 0xA5, sizeof w->y[1]);
        rows[i]->fn(&p, views, w->x + x_at, w->y[1] + y_at, n);
        compare_bytes(rows[i], w, y_at, n, round);
    }
}

static bool has_twin(const qdq_kernel *const *rows, size_t count, const qdq_kernel *k) {
    for (size_t i = 0; i < count; i++)
        if (is_twin(rows[i], k)) return true;
    return false;
}

static void every_kernel_gives_the_bits_of_the_portable_one(void **state) {
    enum { MOST_ROWS = 1024 };
    static work w;
    const qdq_kernel *rows[MOST_ROWS];  // that this machine can run
    size_t total, count = 0;
    const qdq_kernel *kernels = qdq_kernels(&total);
    uint32_t isas = qdq_cpu_isas();
    (void)state;
    for (size_t i = 0; i < total; i++) {
        if (!kernels[i].numerics || !(isas >> kernels[i].isa & 1)) continue;
        assert_true(count < MOST_ROWS);
        rows[count++] = &kernels[i];
    }
    for (size_t i = 0; i < count; i++) {
        if (has_twin(rows, i, rows[i])) continue;  // checked with it
        // 180 rounds have every length with every offset and form of the parameters. Slow runs take
        // other ones for each kernel.
        unsigned rounds = unit_slow() ? 180 : 720;
        for (unsigned round = 0; round < rounds; round++)
            if (!unit_left_out(i * 720 + round)) check_twins(rows + i, count - i, round, &w);
    }
    print_message("%zu of %zu kernels\n", count, total);
}

//---- Quotients next to ties --------------------------------------------------

typedef struct tie_case {
    float scale;
    int32_t zero_point;
    qdq_quant_params params;
} tie_case;

// Fails unless y[1] is y[0].
static void same_codes(const char *name, const tie_case *c, const work *w, size_t n, size_t size,
                       size_t x_size) {
    for (size_t i = 0; i < n && memcmp(w->y[0], w->y[1], n * size) != 0; i++) {
        uint32_t x = 0;
        memcpy(&x, w->x + i * x_size, x_size);
        if (memcmp(w->y[0] + i * size, w->y[1] + i * size, size) != 0)
            fail_msg("%s: x %#x, s %a, z %d: got %#x, want %#x", name, x, (double)c->scale,
                     (int)c->zero_point, w->y[1][i * size], w->y[0][i * size]);
    }
}

// The form of a kernel that takes constant scales, or one without functions; views[2] and views[3]
// become what it reads besides.
static qdq_link prepared_form(const qdq_kernel *k, const qdq_quant_params *p, qdq_view *views,
                              size_t n, qdq_mempool *mempool) {
    qdq_param given[2] = {
        {.count = n, .values = views[0].data},
        {.is_int = true, .count = views[1].step ? n : 1, .values = views[1].data}};
    qdq_link link = {.fn = k->fn, .params = p, .stage_param_count = 2, .stage_params = given};
    if (!views[0].step) return (qdq_link){0};
    assert_true(qdq_quantize_prepare(&link, mempool));
    if (link.fn == k->fn) return (qdq_link){0};
    for (int i = 2; i < 4; i++) views[i] = (qdq_view){link.stage_params[i].values, 1};
    return link;
}

enum { ROWS = 3 };

// Checks that the kernel gives the portable bits for the first n elements of w->x, with parameters
// as single numbers and as lists, also as its form for constant scales. Elements repeat after
// `period`. For Requantize `scale` is the scale of y; x has scale 1.
static void same_as_portable(const qdq_kernel *k, const tie_case *c, work *w, size_t n,
                             size_t period) {
    uint32_t s = qdq_float_bits(c->scale), z = (uint32_t)c->zero_point;
    bool two = k->family == QDQ_FAMILY_REQUANTIZE;
    uint32_t numbers[4] = {two ? qdq_float_bits(1.0f) : s, two ? 0 : z, s, z};
    size_t size = qdq_dtype_size(k->y_dtype), x_size = qdq_dtype_size(k->x_dtype);
    for (int lists = 0; lists < 3; lists++) {  // none, scales, scales and zero points
        qdq_view views[4];
        for (int i = 0; i < 4; i++) {
            views[i] = (qdq_view){w->params[i], lists > i % 2 ? 1 : 0};
            for (size_t j = 0; j < n; j++) w->params[i][j] = numbers[i];
        }
        if (!lists) {
            portable_of(k->family)(&c->params, views, w->x, w->y[0], period);
            for (size_t i = period; i < n; i += period)
                memcpy(w->y[0] + i * size, w->y[0], (n - i < period ? n - i : period) * size);
        }
        k->fn(&c->params, views, w->x, w->y[1], n);
        same_codes(k->name, c, w, n, size, x_size);
        qdq_mempool mempool;
        qdq_mempool_init(&mempool, NULL);
        qdq_link prepared = prepared_form(k, &c->params, views, n, &mempool);
        if (prepared.fn) {
            memset(w->y[1], 0xA5, n * size);
            prepared.fn(&c->params, views, w->x, w->y[1], n);
            same_codes(k->name, c, w, n, size, x_size);
            memset(w->y[1], 0xA5, n * size);
            size_t each = n / ROWS;
            prepared.rows_fn(&c->params, views,
                             &(qdq_rows){w->x, w->y[1], ROWS, each, each * x_size, each * size, 0});
            same_codes(k->name, c, w, each * ROWS, size, x_size);
        }
        qdq_mempool_release(&mempool);
    }
}

static void put_real(work *w, qdq_dtype dtype, size_t i, float v) {
    uint32_t bits = qdq_float_bits(v);
    if (dtype == QDQ_FLOAT16) qdq_encode_float(dtype, &v, &bits, 1, NULL);
    if (dtype == QDQ_BFLOAT16) bits >>= 16;
    if (dtype == QDQ_INT32)
        bits = fabsf(v) < 0x1p31f ? (uint32_t)(int32_t)v : (uint32_t)INT32_MIN + (v > 0);
    memcpy(w->x + i * qdq_dtype_size(dtype), &bits, qdq_dtype_size(dtype));
}

enum { LEAST = 2 << 4 | 1 };  // of the least zero point, where ties up to 255 matter

static tie_case tie_case_of(const qdq_kernel *k, float scale, uint64_t r) {
    static const int64_t least = -100, most = 77;
    bool odd = r % 8 == 0;
    qdq_dtype dtype = k->y_dtype;  // or a narrow code, held in a byte
    if (r % 8 == 2 && k->family == QDQ_FAMILY_QUANTIZE)
        dtype = dtype == QDQ_INT8 ? QDQ_INT4 : QDQ_UINT4;
    tie_case c = {.scale = scale, .params = {.x_dtype = k->x_dtype, .y_dtype = dtype}};
    const qdq_dtype_info *y = qdq_dtype_get(dtype);
    int64_t zs[5] = {0, 3, y->least, y->greatest, y->greatest + 1};
    if (k->numerics) c.params.numerics = *k->numerics;
    c.zero_point = (int32_t)zs[(r >> 4) % 5];
    c.params.range =
        qdq_range_of(dtype, odd ? &least : NULL, odd ? &most : NULL, &c.params.numerics);
    return c;
}

// Kernels that write bytes.
static bool makes_bytes(const qdq_kernel *k) {
    bool bytes = k->y_dtype == QDQ_INT8 || k->y_dtype == QDQ_UINT8;
    return bytes && k->numerics && k->family != QDQ_FAMILY_LOOKUP && (qdq_cpu_isas() >> k->isa & 1);
}

// 1024 numbers: consecutive ties, each with seven neighbours in its dtype.
static void fill_ties(work *w, qdq_dtype dtype, float scale, int first) {
    uint32_t ulp = dtype == QDQ_BFLOAT16 ? 1u << 16 : 1;
    for (int i = 0; i < MOST; i++) {
        double tie = ((double)(first + i / 8) + 0.5) * (double)scale;
        float v = qdq_float_from_bits(qdq_float_bits((float)tie) + (uint32_t)(i % 8 - 3) * ulp);
        if (i % 64 == 7) v = (float[]){NAN, INFINITY, -INFINITY, 0x1p-130f}[i / 64 % 4];
        if (i % 64 == 15) v = (float[]){3e38f, -3e38f, -NAN, 0x1p20f}[i / 64 % 4] * scale;
        put_real(w, dtype, (size_t)i, v);
    }
}

static void kernels_to_bytes_are_exact_next_to_ties(void **state) {
    static work w;
    uint64_t seed = 17;
    size_t count;
    const qdq_kernel *kernels = qdq_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (int round = 0; makes_bytes(&kernels[i]) && round < 80; round++) {
            uint64_t r = unit_random(&seed);
            int first = (int)(r >> 40) % 5 * 128 - 320;
            float scale = (float)(r >> 8 & 0xFFFFFF) * 0x1p-24f + 0x1p-24f;
            if (round % 4 == 1) scale = (float)(r >> 8 & 255) / 127.0f + 0x1p-7f;
            if (round % 4 == 2)  // with 8 significant bits whose quotient is a tie
                scale = (float)((r >> 8 & 127) + 128) / ((float)(r >> 16 & 127) + 0.5f);
            if (round % 4 == 3) scale = ldexpf(scale, (int)(r >> 50 & 255) - 127);
            if (round % 8 == 7) scale = ldexpf(1.0f, (int)(r >> 50 & 127) - 63);
            if (round % 16 == 5)  // the reciprocal is denormal
                scale = ldexpf(scale + 1, 124 + (int)(r & 3)), first = -64;
            if (kernels[i].x_dtype == QDQ_INT32) scale *= (float)(1 << (r & 15));
            tie_case c = tie_case_of(&kernels[i], scale, r >> 3);
            fill_ties(&w, kernels[i].x_dtype, scale, first);
            same_as_portable(&kernels[i], &c, &w, MOST, MOST);
        }
}

// Forms for constant scales, with other scales and zero points for each element, at every length.
// Both instruction sets have one for each dtype of x and y.
static void kernels_for_constant_scales_give_the_portable_bits(void **state) {
    static work w;
    uint64_t seed = 23;
    size_t count, forms = 0;
    const qdq_kernel *kernels = qdq_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (unsigned round = 0; makes_bytes(&kernels[i]) && round < 8 * LENGTHS; round++) {
            const qdq_kernel *k = &kernels[i];
            if (k->family != QDQ_FAMILY_QUANTIZE) continue;
            tie_case c = tie_case_of(k, 1.0f, unit_random(&seed) >> 3);
            size_t n = lengths[round % LENGTHS], size = qdq_dtype_size(k->x_dtype);
            qdq_view views[4] = {{w.params[0], 1}, {w.params[1], round & 1}};
            for (size_t j = 0; j < MOST; j++) {
                uint64_t r = unit_random(&seed);
                float scale = ldexpf((float)(r >> 40 | 1), (int)(r & 63) - 60);
                w.params[0][j] = qdq_float_bits(scale);
                w.params[1][j] = (uint32_t)((int32_t)c.params.range.least + (int32_t)(r >> 8 & 15));
                put_real(&w, k->x_dtype, j, make_float(r >> 3, scale));
            }
            qdq_mempool mempool;
            qdq_mempool_init(&mempool, NULL);
            qdq_link prepared = prepared_form(k, &c.params, views, n, &mempool);
            memset(w.y, 0xA5, sizeof w.y);
            if (prepared.fn) {
                size_t at = round % 3;
                memmove(w.x + at * size, w.x, n * size);
                portable_of(k->family)(&c.params, views, w.x + at * size, w.y[0] + GUARD + at, n);
                prepared.fn(&c.params, views, w.x + at * size, w.y[1] + GUARD + at, n);
                compare_bytes(k, &w, GUARD + at, n, round);
                memset(w.y[1] + GUARD + at, 0xA5, n);
                prepared.rows_fn(&c.params, views,
                                 &(qdq_rows){w.x + at * size, w.y[1] + GUARD + at, 2, n, 0, 0, 0});
                compare_bytes(k, &w, GUARD + at, n, round);
                forms += round == 0;
            }
            qdq_mempool_release(&mempool);
        }
    bool avx2 = qdq_cpu_has_avx2(), avx512 = qdq_cpu_has_avx512();
    assert_int_equal(forms, 4 * (avx2 + avx512));
}

// The inverse of odd m modulo 2^64.
static uint64_t inverse_of(uint64_t m) {
    uint64_t y = m;
    for (int i = 0; i < 6; i++) y *= 2 - m * y;
    return y;
}

// The middle between k + 1/2 and its neighbouring float above (side 1) or below (-1); the tie
// itself for 0.
static double middle_beside(int k, int side) {
    double tie = k + 0.5;
    int exponent = ilogb(tie) - (side < 0 && tie == 0.5);  // below a power of two floats lie closer
    return tie + side * ldexp(1.0, exponent - 24);
}

// Finds x and s of 24 bits with x / s = middle + rest / s, up to powers of two. No quotient is
// harder to round.
static void check_hardest(double middle, int64_t rest, const qdq_kernel *kernel, work *w) {
    uint64_t m = (uint64_t)ldexp(middle, 24 - ilogb(middle));
    for (unsigned shift = 23; shift <= 26; shift++) {
        uint64_t low = ((uint64_t)1 << shift) - 1;
        uint64_t s = (0 - (uint64_t)rest) * inverse_of(m) & low;
        uint64_t x = (s * m + (uint64_t)rest) >> shift;
        if (s < 1 << 23 || s >= 1 << 24 || x < 1 << 23 || x >= 1 << 24) continue;
        int to = (int)lround(log2(middle * (double)s / (double)x));
        tie_case c = tie_case_of(kernel, (float)s, LEAST);
        for (size_t i = 0; i < 64; i++)
            put_real(w, QDQ_FLOAT32, i, ldexpf((float)x, to) * (i % 2 ? -1.0f : 1.0f));
        same_as_portable(kernel, &c, w, 64, 2);
    }
}

static void kernels_to_bytes_are_exact_for_the_hardest_quotients(void **state) {
    static work w;
    size_t count;
    const qdq_kernel *kernels = qdq_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        if (!makes_bytes(&kernels[i]) || kernels[i].x_dtype != QDQ_FLOAT32) continue;
        for (int k = 0; k < 256; k++)
            for (int64_t rest = -8; rest <= 8; rest++)
                for (int side = -1; side <= 1 && rest; side += 2)
                    check_hardest(middle_beside(k, side), rest, &kernels[i], &w);
    }
}

// bfloat16 has few significands: tries all of them, each with the scale that brings the quotient
// nearest to a middle.
static void kernels_of_bfloat16_are_exact_for_the_hardest_quotients(void **state) {
    static work w;
    size_t count;
    const qdq_kernel *kernels = qdq_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        if (!makes_bytes(&kernels[i]) || kernels[i].x_dtype != QDQ_BFLOAT16) continue;
        for (int x = 128; x < 256; x += unit_slow() ? 5 : 1)
            for (int k = 0; k < 256; k++)
                for (int side = -1; side <= 1; side++) {
                    float scale = (float)(x / middle_beside(k, side));
                    tie_case c = tie_case_of(&kernels[i], scale, LEAST);
                    for (size_t j = 0; j < 64; j++)
                        put_real(&w, QDQ_BFLOAT16, j, (float)(j % 2 ? -x : x));
                    same_as_portable(&kernels[i], &c, &w, 64, 2);
                }
    }
}

// Table lookups: every code of every table, one table or a mix, with results of 1, 2 and 4 bytes.
static void check_lookup(const qdq_kernel *k, size_t size, uint64_t *seed) {
    static uint8_t tables[4 * 256 * 4], x[MOST], y[2][MOST * 4 + GUARD];
    static uint32_t numbers[MOST];
    qdq_lookup_params p = {.tables = tables};
    for (size_t i = 0; i < sizeof tables; i++) tables[i] = (uint8_t)unit_random(seed);
    for (unsigned round = 0; round < 4 * LENGTHS; round++) {
        size_t n = lengths[round % LENGTHS], step = round / LENGTHS % 2;
        memset(y, 0xA5, sizeof y);
        for (size_t i = 0; i < MOST; i++) {
            x[i] = (uint8_t)(round < LENGTHS ? i : unit_random(seed));
            numbers[i] = (uint32_t)(unit_random(seed) % 4);
        }
        for (size_t i = 0; i < n; i++)
            memcpy(y[0] + i * size, tables + (numbers[i * step] * 256 + x[i]) * size, size);
        k->fn(&p, &(qdq_view){numbers, step}, x, y[1], n);
        if (memcmp(y[0], y[1], sizeof y[0]) != 0) fail_msg("%s, n %zu", k->name, n);
    }
}

static void every_lookup_gives_the_results_of_the_tables(void **state) {
    static const qdq_family families[] = {QDQ_FAMILY_LOOKUP, QDQ_FAMILY_LOOKUP_HALVES,
                                          QDQ_FAMILY_LOOKUP_WORDS};
    uint64_t seed = 99;
    size_t count;
    const qdq_kernel *kernels = qdq_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (int f = 0; f < 3; f++)
            if (kernels[i].family == families[f] && qdq_cpu_isas() >> kernels[i].isa & 1)
                check_lookup(&kernels[i], (size_t)1 << f, &seed);
}

static void check_range(uint32_t isa, qdq_dtype dtype, const void *x, size_t n) {
    qdq_block_range want = {0, 0, false}, got = want;
    qdq_range_portable(dtype, x, n, &want);
    qdq_range_find(dtype, 1u << isa | 1)(dtype, x, n, &got);
    if (want.low != got.low || want.high != got.high || want.nan != got.nan ||
        signbit(want.low) != signbit(got.low) || signbit(want.high) != signbit(got.high))
        fail_msg("isa %u, %s, n %zu: [%a, %a] %d, want [%a, %a] %d", isa, qdq_dtype_name(dtype), n,
                 (double)got.low, (double)got.high, got.nan, (double)want.low, (double)want.high,
                 want.nan);
}

// Lengths beyond what a kernel takes at once: numbers of one sign, or one NaN, of either sign.
static void every_long_range_equals_the_portable_one(void **state) {
    enum { LONG = 10001 };
    static uint32_t x[LONG];
    static const qdq_dtype dtypes[] = {QDQ_FLOAT32, QDQ_BFLOAT16};
    uint64_t seed = 17;
    (void)state;
    for (uint32_t isa = 0; isa < QDQ_ISA_COUNT; isa++)
        for (unsigned round = 0; round < 48; round++) {
            qdq_dtype dtype = dtypes[round % 2];
            size_t size = qdq_dtype_size(dtype), from = round % 7;
            if (!(qdq_cpu_isas() >> isa & 1)) continue;
            for (size_t i = 0; i < LONG; i++) {
                uint32_t bits = (uint32_t)unit_random(&seed) & 0xBFFFFFFF;  // finite
                bits = round / 2 % 3 == 0 ? bits : round / 2 % 3 == 1 ? bits >> 1 : bits | 1u << 31;
                bits >>= 32 - 8 * size;
                memcpy((char *)x + i * size, &bits, size);
            }
            if (round / 6 % 3) {
                uint32_t nan = (round / 6 % 3 == 1 ? 0x7F810000u : 0xFF810000u) >> (32 - 8 * size);
                memcpy((char *)x + unit_random(&seed) % LONG * size, &nan, size);
            }
            check_range(isa, dtype, (char *)x + from * size, LONG - from);
        }
}

// Minimum and maximum: numbers of every kind, at every length, with a NaN at every place.
static void every_range_equals_the_portable_one(void **state) {
    static const qdq_dtype dtypes[] = {QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_FLOAT16, QDQ_INT32};
    static work w;
    uint64_t seed = 5;
    (void)state;
    for (int i = 0; i < MOST; i++) w.params[0][i] = qdq_float_bits(1.0f / 3);
    for (uint32_t isa = 0; isa < QDQ_ISA_COUNT; isa++)
        for (unsigned round = 0; round < 400; round++) {
            qdq_dtype dtype = dtypes[round % 4];
            size_t n = lengths[round / 4 % LENGTHS], size = qdq_dtype_size(dtype);
            if (!(qdq_cpu_isas() >> isa & 1)) continue;
            make_x(&w, dtype, 0, &seed);
            if (round % 3) {
                for (size_t i = 0; i < n; i++) {  // one NaN in all
                    float v;
                    qdq_decode_float(dtype, w.x + i * size, &v, 1);
                    if (isnan(v) || isinf(v)) memset(w.x + i * size, 0, size);
                }
                if (round % 3 == 2 && dtype == QDQ_FLOAT32)
                    memcpy(w.x + round % n * 4, &(float){NAN}, 4);
            }
            check_range(isa, dtype, w.x, n);
        }
}

// The table returns a row that fits, of the best instruction set allowed.
static void the_best_allowed_kernel_is_found(void **state) {
    (void)state;
    qdq_quant_params p = {.x_dtype = QDQ_FLOAT32, .y_dtype = QDQ_INT8};
    qdq_tile_fn *plain = portable_of(QDQ_FAMILY_QUANTIZE);
    assert_ptr_equal(qdq_quant_kernel(QDQ_FAMILY_QUANTIZE, &p, 1u << QDQ_ISA_PORTABLE), plain);
    qdq_tile_fn *best = qdq_quant_kernel(QDQ_FAMILY_QUANTIZE, &p, qdq_cpu_isas());
    assert_true(qdq_cpu_isas() == 1 ? best == plain : best != plain);
    p.numerics.nan = QDQ_NAN_ZERO_POINT;  // only the kernel for all numerics handles this
    qdq_tile_fn *general = qdq_quant_kernel(QDQ_FAMILY_QUANTIZE, &p, qdq_cpu_isas());
    assert_true(qdq_cpu_isas() == 1 ? general == plain : general != plain && general != best);
    p.numerics.fold_128 = true;  // a chip's
    assert_ptr_equal(qdq_quant_kernel(QDQ_FAMILY_QUANTIZE, &p, qdq_cpu_isas()), plain);
    p.numerics = (qdq_numerics){.subtraction = QDQ_SUBTRACT_FLOAT};  // irrelevant to Quantize
    assert_ptr_equal(qdq_quant_kernel(QDQ_FAMILY_QUANTIZE, &p, qdq_cpu_isas()), best);
    p.float_zero_point = true;
    assert_ptr_equal(qdq_quant_kernel(QDQ_FAMILY_QUANTIZE, &p, qdq_cpu_isas()), plain);
    p = (qdq_quant_params){.x_dtype = QDQ_FLOAT32, .y_dtype = QDQ_FLOAT8_E4M3FN};
    best = qdq_quant_kernel(QDQ_FAMILY_QUANTIZE, &p, qdq_cpu_isas());
    assert_true(qdq_cpu_isas() == 1 ? best == plain : best != plain);
    p.bounded = true;
    assert_ptr_equal(qdq_quant_kernel(QDQ_FAMILY_QUANTIZE, &p, qdq_cpu_isas()), plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_gives_the_bits_of_the_portable_one),
        cmocka_unit_test(kernels_to_bytes_are_exact_next_to_ties),
        cmocka_unit_test(kernels_for_constant_scales_give_the_portable_bits),
        cmocka_unit_test(kernels_to_bytes_are_exact_for_the_hardest_quotients),
        cmocka_unit_test(kernels_of_bfloat16_are_exact_for_the_hardest_quotients),
        cmocka_unit_test(every_lookup_gives_the_results_of_the_tables),
        cmocka_unit_test(every_range_equals_the_portable_one),
        cmocka_unit_test(every_long_range_equals_the_portable_one),
        cmocka_unit_test(the_best_allowed_kernel_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
