// SPDX-License-Identifier: Apache-2.0
// Depthwise kernels give the bits of a plain loop in the same order of sums, read nothing outside
// of the image and write nothing outside of the rows of y. All instruction sets of the machine.
#include <math.h>

#include "ops/kernels/direct/direct.h"
#include "tests/ops/oracle.h"

enum { LANES = 16, CHANNELS = 3, GAP = 3, PLANE = 1 << 16 };

typedef struct window {
    size_t size, stride;
} window;

#define WINDOW(size, stride) {size, stride},
static const window windows[] = {QDQ_DEPTHWISE_SHAPES(WINDOW)};

// x and y have a gap after each row; the last rows end with their memory.
typedef struct example {
    window w;
    qdq_depthwise p;
    void *x;
    float *plane, *y, weights[CHANNELS * 25], scales[CHANNELS], bias[CHANNELS];
    bool odd[CHANNELS];
} example;

static float number(uint64_t *seed) {
    static const float special[] = {0, -0.0f, INFINITY, -NAN, 0x1p-149f, -0x1p127f};
    uint64_t pick = unit_random(seed) % 512;
    if (pick < UNIT_COUNT(special)) return special[pick];
    return ldexpf((float)(unit_random(seed) % 8191) - 4095, (int)(unit_random(seed) % 9) - 12);
}

static size_t elements(size_t next, size_t rows, size_t stride, size_t columns) {
    return (CHANNELS - 1) * next + (rows - 1) * stride + columns;
}

static void fill_x(example *e, uint64_t *seed) {
    qdq_depthwise *p = &e->p;
    size_t count = elements(p->x_next, p->x_rows, p->x_stride, p->x_columns);
    e->x = oracle_memory(count * qdq_dtype_size(p->dtype));
    for (size_t i = 0; i < count; i++)
        if (p->dtype == QDQ_FLOAT32)
            ((float *)e->x)[i] = number(seed);
        else
            ((uint8_t *)e->x)[i] = (uint8_t)unit_random(seed);
    p->x = e->x;
}

static void make(example *e, size_t columns, uint64_t *seed) {
    qdq_depthwise *p = &e->p;
    size_t size = e->w.size, stride = e->w.stride, border = unit_random(seed) % (size + 1);
    static const qdq_dtype dtypes[] = {QDQ_FLOAT32, QDQ_FLOAT32, QDQ_UINT8, QDQ_INT8};
    p->count = CHANNELS, p->columns = columns, p->rows = 1 + unit_random(seed) % 11;
    if (unit_random(seed) % 8 == 0) p->rows += 150;  // parts of rows of codes
    p->dtype = dtypes[unit_random(seed) % 4], p->zero_point = (int32_t)(unit_random(seed) % 99);
    p->top = (ptrdiff_t)(unit_random(seed) % (size + 2)) - (ptrdiff_t)size;
    p->left = 1 - (ptrdiff_t)(unit_random(seed) % (size + 1));
    // Windows end `border` rows and columns beyond the image, or in front of its end.
    p->x_rows = p->rows * stride + 1 + unit_random(seed) % 2;
    ptrdiff_t right = p->left + (ptrdiff_t)((columns - 1) * stride + size) + 1;
    p->x_columns = right > (ptrdiff_t)border ? (size_t)right - border : 1;
    p->x_stride = p->x_columns + unit_random(seed) % 2 * GAP;
    p->x_next = p->x_rows * p->x_stride + GAP;
    p->y_stride = columns + GAP, p->y_next = p->rows * p->y_stride + GAP;
    p->fours = p->dtype == QDQ_FLOAT32 && unit_random(seed) % 2;
    p->odd = p->dtype == QDQ_FLOAT32 && !p->fours && unit_random(seed) % 2 ? e->odd : NULL;
    for (size_t i = 0; i < UNIT_COUNT(e->weights); i++)
        e->weights[i] = p->dtype == QDQ_FLOAT32 ? number(seed) : (float)(unit_random(seed) % 255);
    for (size_t c = 0; c < CHANNELS; c++) {
        e->odd[c] = unit_random(seed) % 3 == 0;
        e->scales[c] = number(seed), e->bias[c] = number(seed);
    }
    p->weights = e->weights, p->scale_next = unit_random(seed) % 2;
    p->scale = unit_random(seed) % 2 ? e->scales : NULL;
    p->bias = unit_random(seed) % 3 ? e->bias : NULL;
    p->plane = e->plane;
    assert_true(p->x_rows * p->x_columns + QDQ_DIRECT_ROOM <= PLANE);
    fill_x(e, seed);
    e->y = p->y = oracle_memory(elements(p->y_next, p->rows, p->y_stride, columns) * sizeof(float));
}

// The element under a tap; 0 beyond the border.
static float element(const qdq_depthwise *p, size_t channel, ptrdiff_t row, ptrdiff_t column) {
    if (row < 0 || row >= (ptrdiff_t)p->x_rows) return 0;
    if (column < 0 || column >= (ptrdiff_t)p->x_columns) return 0;
    size_t at = channel * p->x_next + (size_t)row * p->x_stride + (size_t)column;
    if (p->dtype == QDQ_FLOAT32) return ((const float *)p->x)[at];
    if (p->dtype == QDQ_INT8) return (float)(((const int8_t *)p->x)[at] - p->zero_point);
    return (float)(((const uint8_t *)p->x)[at] - p->zero_point);
}

static float sum_of(const example *e, size_t channel, size_t row, size_t column) {
    const qdq_depthwise *p = &e->p;
    size_t size = e->w.size, depth = size * size;
    float sum = 0, products[25];
    for (size_t k = 0; k < depth; k++) {
        float x = element(p, channel, p->top + (ptrdiff_t)(row * e->w.stride + k / size),
                          p->left + (ptrdiff_t)(column * e->w.stride + k % size));
        float w = p->weights[channel * depth + k];
        products[k] = x * w;
        if (!p->fours) sum = fmaf(x, w, sum);
    }
    for (size_t k = 0; p->fours && k + 4 < depth; k += 4)
        sum += ((products[k] + products[k + 1]) + products[k + 2]) + products[k + 3];
    return p->fours ? sum + products[depth - 1] : sum;  // depths are 9 and 25
}

// Compares the y of a channel. Returns whether it must be handed back.
static bool check_channel(const example *e, size_t channel, const char *what) {
    const qdq_depthwise *p = &e->p;
    bool back = p->odd && p->odd[channel];
    for (size_t r = 0; r < p->rows; r++)
        for (size_t i = 0; i < p->columns; i++) {
            float want = sum_of(e, channel, r, i);
            back |= p->odd && want == 0;
            if (p->scale) want = want * p->scale[channel * p->scale_next] + 0;
            if (p->bias) want += p->bias[channel];
            uint32_t bits = 0x7FC00000, got;
            memcpy(&got, e->y + channel * p->y_next + r * p->y_stride + i, sizeof got);
            if (!isnan(want)) memcpy(&bits, &want, sizeof bits);
            if (got != bits)
                fail_msg("%s: channel %zu [%zu, %zu]: %x, not %x", what, channel, r, i, got, bits);
        }
    return back;
}

// Whether all bytes are as they were that are no elements of y.
static void check_gaps(const example *e, const char *what) {
    const qdq_depthwise *p = &e->p;
    for (size_t i = 0; i < elements(p->y_next, p->rows, p->y_stride, p->columns); i++) {
        size_t at = i % p->y_next;
        bool gap = at >= p->rows * p->y_stride || at % p->y_stride >= p->columns;
        uint32_t bits;
        memcpy(&bits, e->y + i, sizeof bits);
        if (gap && bits != 0x5A5A5A5A) fail_msg("%s writes y[%zu], in a gap", what, i);
    }
}

static void check(example *e, qdq_depthwise_fn *fn, const char *what) {
    const qdq_depthwise *p = &e->p;
    size_t count = elements(p->y_next, p->rows, p->y_stride, p->columns);
    memset(e->y, 0x5A, count * sizeof *e->y);
    for (size_t at = 0, next; at < p->count; at = next + 1) {
        next = fn(p, at);
        for (size_t c = at; c < next; c++)
            if (check_channel(e, c, what)) fail_msg("%s does not return channel %zu", what, c);
        if (next < p->count && !check_channel(e, next, what))
            fail_msg("%s returns channel %zu", what, next);
    }
    check_gaps(e, what);
}

static void every_width_has_the_bits_of_a_plain_loop(void **state) {
    uint64_t seed = 5;
    uint32_t isas = qdq_cpu_isas();
    float *plane = oracle_memory(PLANE * sizeof *plane);
    (void)state;
    for (size_t i = 0; i < 3 * UNIT_COUNT(windows); i++)
        for (size_t columns = 1; columns <= 4 * LANES + 5; columns++) {
            example e = {.w = windows[i / 3], .plane = plane};
            make(&e, columns, &seed);
            for (int isa = 0; isa < 32; isa++) {
                char what[120];
                if (!(isas >> isa & 1)) continue;
                qdq_depthwise_fn *fn = qdq_depthwise_find(isas & (uint32_t)((2ull << isa) - 1),
                                                          e.w.size, e.w.stride, columns);
                snprintf(what, sizeof what, "isa %d, window %zu/%zu, %zu columns, dtype %d", isa,
                         e.w.size, e.w.stride, columns, (int)e.p.dtype);
                if (fn) check(&e, fn, what);
            }
            free(e.x), free(e.y);
        }
    free(plane);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_width_has_the_bits_of_a_plain_loop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
