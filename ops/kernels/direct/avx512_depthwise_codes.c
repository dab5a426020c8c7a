// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution of codes with AVX-512. A lane of int32 is a sum. The taps of a row of its
// window lie next to each other, so one permutation of bytes brings them into the lane, four at a
// time, and one instruction adds their products exactly.
#include "ops/kernels/direct/depthwise_codes.h"
#include "ops/kernels/quantize/avx512_codes.inc.h"

#define INLINE static inline __attribute__((always_inline))
#define UNROLLED _Pragma("GCC unroll 16")

enum {
    VECTORS = GROUP / REALS,  // of sums, in a group of codes
    MOST = 5,                 // size of a window
    WORD = QDQ_DEPTHWISE_WORD,
    WORDS = (MOST + WORD - 1) / WORD,
    VECTOR = 64,
    BEYOND = 2 * VECTOR,  // bytes that are read beyond a copy
    ROOM = QDQ_DEPTHWISE_ROOM,
};

// Constants of a kernel, for which the compiler unrolls all loops over them.
typedef struct form {
    size_t size, stride;
} form;

// The copies of the rows of some channels.
typedef struct copies {
    size_t before, rows, after;  // rows of padding, of x and of padding
    size_t first, bytes;         // place of the first row of x; from one channel to the next
    size_t begin;                // place of the first element of the first window
    size_t channels;             // that have room
} copies;

static inline size_t up(size_t n, size_t to) { return (n + to - 1) / to * to; }
static inline size_t least(size_t a, size_t b) { return a < b ? a : b; }

// Lays out copies. Rows of x begin at a whole vector. False: they are too long.
static bool set_copies(const qdq_depthwise_codes *p, copies *to) {
    const qdq_depthwise_windows *w = p->windows;
    size_t reach = (p->rows - 1) * w->stride + w->size, width = w->x_columns;
    to->before = p->top < 0 ? least((size_t)-p->top, reach) : 0;
    size_t from = p->top > 0 ? (size_t)p->top : 0, left = reach - to->before;
    to->rows = from < w->x_rows ? least(w->x_rows - from, left) : 0;
    to->after = left - to->rows;
    to->first = up(to->before * width + w->lead, VECTOR);
    to->begin = to->first - to->before * width - w->lead;
    to->bytes = up(to->first + (to->rows + to->after) * width, VECTOR) + BEYOND;
    to->channels = ROOM / to->bytes;
    return to->channels > 0;
}

INLINE void set_bytes(uint8_t *to, size_t n, __m512i v) {
    for (size_t i = 0; i < n; i += VECTOR) _mm512_storeu_si512(to + i, v);
}

// Copies the rows of a channel. Padding ends with a whole vector, before rows that follow it.
static void copy(const qdq_depthwise_codes *p, const copies *of, size_t channel, uint8_t *to) {
    const __m512i padding = _mm512_set1_epi8((char)p->padding);
    const __m512i flip = _mm512_set1_epi8((char)p->flip);
    size_t width = p->windows->x_columns, n = of->rows * width, stride = p->x_stride;
    size_t top = p->top > 0 ? (size_t)p->top : 0, rows = of->rows;
    const uint8_t *x = p->x + channel * p->x_next + top * stride;
    set_bytes(to, of->first, padding);
    to += of->first;
    if (stride == width) width = n, rows = n != 0;
    for (size_t r = 0; r < rows; r++, x += stride, to += width)
        for (size_t i = 0; i < width; i += VECTOR) {
            size_t left = width - i;
            __mmask64 mask = left < VECTOR ? (1ull << left) - 1 : UINT64_MAX;
            __m512i own = _mm512_maskz_loadu_epi8(mask, x + i);
            _mm512_storeu_si512(to + i, _mm512_xor_si512(own, flip));
        }
    set_bytes(to, of->after * p->windows->x_columns + BEYOND / 2, padding);
}

//---- Sums -------------------------------------------------------------------

// Numbers of all groups. places: of the taps of each lane among the bytes of a row of x.
typedef struct numbers {
    size_t width;  // of a row of x
    factors by;
    bool is_signed;
    __m512i padding, places[WORDS];
} numbers;

static inline void set_places(form f, __m512i *places) {
    for (size_t word = 0; word < WORDS; word++) {
        uint8_t bytes[VECTOR];
        for (size_t i = 0; i < VECTOR; i++)
            bytes[i] = (uint8_t)(i / WORD * f.stride + i % WORD + word * WORD);
        places[word] = _mm512_loadu_si512(bytes);
    }
}

// Loads the bytes under a row of the windows of a vector.
INLINE __m512i load_row(form f, const uint8_t *x) {
    if (f.stride > 1) return _mm512_loadu_si512(x);
    return _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(const void *)x));
}

// Adds the products of a group. x: the first element under the windows of each vector.
INLINE void add_group(form f, const numbers *of, const uint8_t *const *x, const __m512i *weights,
                      const uint64_t *masks, __m512i *sums) {
    size_t words = (f.size + WORD - 1) / WORD, width = of->width;
    UNROLLED for (size_t t = 0; t < f.size; t++) UNROLLED for (size_t i = 0; i < VECTORS; i++) {
        __m512i row = load_row(f, x[i] + t * width);
        UNROLLED for (size_t word = 0; word < words; word++) {
            __m512i taps = _mm512_mask_permutexvar_epi8(of->padding, masks[word * VECTORS + i],
                                                        of->places[word], row);
            sums[i] = _mm512_dpbusd_epi32(sums[i], taps, weights[t * words + word]);
        }
    }
}

//---- Rows of y --------------------------------------------------------------

// Stores the first `lanes` codes. `left`: bytes up to the end of all channels, whose rows are
// written in order: codes beyond n are then overwritten.
INLINE void put(size_t lanes, __m512i codes, size_t n, size_t left, uint8_t *y) {
    if (left < lanes)
        _mm512_mask_storeu_epi8(y, n < GROUP ? (1ull << n) - 1 : UINT64_MAX, codes);
    else if (lanes == GROUP)
        _mm512_storeu_si512(y, codes);
    else if (lanes == GROUP / 2)
        _mm256_storeu_si256((__m256i *)(void *)y, _mm512_castsi512_si256(codes));
    else
        _mm_storeu_si128((__m128i *)(void *)y, _mm512_castsi512_si128(codes));
}

// Stores the codes of rows of a group, each of n codes in `lanes`.
INLINE void put_rows(size_t lanes, __m512i codes, size_t rows, size_t n, size_t left, uint8_t *y) {
    size_t own = least(n, lanes);
    put(lanes, codes, own, left, y);
    for (size_t r = 1; lanes < GROUP && r < rows; r++) {
        codes = lanes == GROUP / 2 ? _mm512_shuffle_i64x2(codes, codes, 0x4E)
                                   : _mm512_shuffle_i64x2(codes, codes, 0x39);
        put(lanes, codes, own, left - r * n, y + r * n);
    }
}

// The scale and bias of a channel, and minus its zero point times the weights.
typedef struct channel_numbers {
    __m512 scale, bias;
    __m512i start;
} channel_numbers;

INLINE __m512i codes_of(const numbers *of, const channel_numbers *own, const __m512i *sums) {
    __m512i order = _mm512_loadu_si512(order_of_words), words[2];
    __m512 real[VECTORS];
    UNROLLED for (size_t i = 0; i < VECTORS; i++) real[i] =
        _mm512_add_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sums[i]), own->scale), own->bias);
    quantize_vectors(&of->by, real, words);
    return of->is_signed ? to_int8(&of->by, words, order) : to_uint8(&of->by, words, order);
}

// Computes a channel. x: the first element under its windows; left: bytes of y from its first
// result to the end of all channels.
INLINE void add_channel(form f, size_t lanes, const numbers *given, const qdq_depthwise_codes *p,
                        size_t channel, const uint8_t *x, size_t left) {
    size_t words = (f.size + WORD - 1) / WORD, at_once = GROUP / lanes;
    const numbers of = *given;
    const qdq_depthwise_windows *windows = p->windows;
    const int32_t *w = p->weights + channel * (f.size * words + 1);
    channel_numbers own = {all(p->scale[channel * p->scale_next]),
                           all(p->bias ? p->bias[channel] : 0),
                           _mm512_set1_epi32(w[f.size * words] * p->padding)};
    size_t rows = windows->flat ? 1 : p->rows, n = windows->columns;
    size_t next = f.stride * windows->x_columns;
    uint8_t *y = p->y + channel * p->y_next;
    __m512i weights[MOST * WORDS];
    if (windows->flat) n *= p->rows;
    UNROLLED for (size_t i = 0; i < f.size * words; i++) weights[i] = _mm512_set1_epi32(w[i]);
    for (size_t r = 0; r < rows; r += at_once) {
        const uint64_t *masks = windows->masks;
        size_t some = least(at_once, rows - r);
        for (size_t at = 0; at < n; at += lanes, masks += words * VECTORS) {
            const uint8_t *from[VECTORS];
            __m512i sums[VECTORS];
            UNROLLED for (size_t i = 0; i < VECTORS; i++) {
                size_t row = i * REALS / lanes, column = at + i * REALS % lanes;
                from[i] = x + (row < some ? row : 0) * next + column * f.stride;
                sums[i] = own.start;
            }
            add_group(f, &of, from, weights, masks, sums);
            put_rows(lanes, codes_of(&of, &own, sums), some, n - at, left - at, y + at);
        }
        x += at_once * next, y += some * n, left -= some * n;
    }
}

INLINE void run(form f, size_t lanes, const qdq_depthwise_codes *p, const copies *to,
                const factors *by) {
    size_t all_bytes = (p->count - 1) * p->y_next + p->rows * p->windows->columns;
    bool follow = p->y_next == p->rows * p->windows->columns;
    numbers of = {.width = p->windows->x_columns,
                  .by = *by,
                  .is_signed = p->quantize == qdq_quantize_float32_int8_channels_avx512,
                  .padding = _mm512_set1_epi8((char)p->padding)};
    set_places(f, of.places);
    for (size_t first = 0, n; first < p->count; first += n) {
        n = least(to->channels, p->count - first);
        for (size_t i = 0; i < n; i++) copy(p, to, first + i, p->room + i * to->bytes);
        for (size_t i = 0; i < n; i++) {
            size_t left =
                follow ? all_bytes - (first + i) * p->y_next : p->rows * p->windows->columns;
            add_channel(f, lanes, &of, p, first + i, p->room + i * to->bytes + to->begin, left);
        }
    }
}

#define RUN(size, stride)                                                             \
    static void run_##size##_##stride(const qdq_depthwise_codes *p, const copies *to, \
                                      const factors *by) {                            \
        form f = {size, stride};                                                      \
        if (p->windows->lanes == GROUP)                                               \
            run(f, GROUP, p, to, by);                                                 \
        else if (p->windows->lanes == GROUP / 2)                                      \
            run(f, GROUP / 2, p, to, by);                                             \
        else                                                                          \
            run(f, GROUP / 4, p, to, by);                                             \
    }
RUN(3, 1)
RUN(3, 2)
RUN(5, 1)
RUN(5, 2)

qdq_depthwise_codes_fn qdq_depthwise_codes_avx512;
bool qdq_depthwise_codes_avx512(const qdq_depthwise_codes *p) {
    float s = qdq_float_from_bits(p->views[0].data[0]);
    int32_t z = (int32_t)p->views[1].data[0];
    copies to;
    if (!qdq_may_multiply(p->params, s, z) || !set_copies(p, &to)) return false;
    factors by = factors_of(p->params, 1.0f, s, z);
    if (p->windows->size == 3)
        (p->windows->stride == 1 ? run_3_1 : run_3_2)(p, &to, &by);
    else
        (p->windows->stride == 1 ? run_5_1 : run_5_2)(p, &to, &by);
    return true;
}
