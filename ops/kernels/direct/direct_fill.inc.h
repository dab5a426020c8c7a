// SPDX-License-Identifier: Apache-2.0
// Fills planes of direct convolution with elements of x. Vectors never read beyond the elements
// that they need: x may end there.
#ifndef QDQ_OPS_KERNELS_DIRECT_DIRECT_FILL_INC_H
#define QDQ_OPS_KERNELS_DIRECT_DIRECT_FILL_INC_H

#include "ops/kernels/direct/direct.h"
#include "ops/kernels/direct/direct_vectors.inc.h"

// For each step, 1 and 2: all lanes, and n of them with zeros after. The elements of step 2 lie two
// apart, and `all` reads one more after the last. Codes are bytes whose first bit `flip` turns into
// that of uint8.
#if defined(__AVX512F__)
typedef struct direct_codes {
    __m512i zero;
    __m128i flip;
} direct_codes;
static inline direct_codes direct_codes_of(int32_t zero, int flip) {
    return (direct_codes){_mm512_set1_epi32(zero + flip), _mm_set1_epi8((char)flip)};
}
static inline direct_floats direct_widen(const direct_codes *c, __m128i bytes) {
    __m512i wide = _mm512_cvtepu8_epi32(_mm_xor_si128(bytes, c->flip));
    return _mm512_cvtepi32_ps(_mm512_sub_epi32(wide, c->zero));
}
static inline direct_floats direct_first(direct_floats v, size_t n) {
    return _mm512_maskz_mov_ps((__mmask16)((1u << n) - 1), v);
}
static inline __m128i direct_bytes(const uint8_t *x, size_t n) {
    return _mm_maskz_loadu_epi8((__mmask16)((1u << n) - 1), x);
}
static inline __m128i direct_even_bytes(const uint8_t *x, size_t n) {
    return _mm256_cvtepi16_epi8(_mm256_maskz_loadu_epi8((uint32_t)((1ull << n) - 1), x));
}
static inline direct_floats direct_floats_1(const float *x, size_t n) {
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), x);
}
static inline direct_floats direct_floats_2(const float *x, size_t n) {
    uint32_t mask = (uint32_t)((1ull << n) - 1);
    __m512 low = _mm512_maskz_loadu_ps((__mmask16)mask, x);
    __m512 high = _mm512_maskz_loadu_ps((__mmask16)(mask >> 16), x + DIRECT_LANES);
    return direct_even(low, high);
}
static inline direct_floats direct_and(direct_floats v, const uint32_t *mask) {
    return _mm512_and_ps(v, _mm512_loadu_ps((const float *)mask));
}
#elif defined(__AVX2__)
typedef struct direct_codes {
    __m256i zero;
    __m128i flip;
} direct_codes;
static inline direct_codes direct_codes_of(int32_t zero, int flip) {
    return (direct_codes){_mm256_set1_epi32(zero + flip), _mm_set1_epi8((char)flip)};
}
static inline direct_floats direct_widen(const direct_codes *c, __m128i bytes) {
    __m256i wide = _mm256_cvtepu8_epi32(_mm_xor_si128(bytes, c->flip));
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(wide, c->zero));
}
static inline __m256i direct_lanes(size_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
static inline direct_floats direct_first(direct_floats v, size_t n) {
    return _mm256_and_ps(v, _mm256_castsi256_ps(direct_lanes(n)));
}
// Loads n bytes, up to 16, from their two ends.
static inline __m128i direct_bytes(const uint8_t *x, size_t n) {
    uint64_t low = 0, high = 0;
    if (n == 16) return _mm_loadu_si128((const __m128i *)x);
    if (n >= 8) {
        memcpy(&low, x, 8), memcpy(&high, x + n - 8, 8);
        return _mm_set_epi64x((int64_t)(n > 8 ? high >> 8 * (16 - n) : 0), (int64_t)low);
    }
    if (n >= 4) {
        uint32_t first, last;
        memcpy(&first, x, 4), memcpy(&last, x + n - 4, 4);
        low = first | (uint64_t)last << 8 * (n - 4);
    } else {
        low = x[0] | (uint64_t)x[n / 2] << 8 * (n / 2) | (uint64_t)x[n - 1] << 8 * (n - 1);
    }
    return _mm_cvtsi64_si128((int64_t)low);
}
static inline __m128i direct_even_bytes(const uint8_t *x, size_t n) {
    const __m128i even = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, -1, -1, -1, -1, -1, -1, -1, -1);
    return _mm_shuffle_epi8(direct_bytes(x, n), even);
}
static inline direct_floats direct_floats_1(const float *x, size_t n) {
    return _mm256_maskload_ps(x, direct_lanes(n));
}
static inline direct_floats direct_floats_2(const float *x, size_t n) {
    size_t more = n > DIRECT_LANES ? n - DIRECT_LANES : 0;
    __m256 low = _mm256_maskload_ps(x, direct_lanes(n));
    __m256 high = _mm256_maskload_ps(x + DIRECT_LANES, direct_lanes(more));
    return direct_even(low, high);
}
static inline direct_floats direct_and(direct_floats v, const uint32_t *mask) {
    return _mm256_and_ps(v, _mm256_loadu_ps((const float *)mask));
}
#endif

#if defined(__AVX2__)
#define DIRECT_SOME_1(x, n) direct_first(direct_widen(&codes, direct_bytes(x, n)), n)
#define DIRECT_SOME_2(x, n) direct_first(direct_widen(&codes, direct_even_bytes(x, 2 * (n)-1)), n)
#define DIRECT_ALL_1(x) direct_widen(&codes, direct_bytes(x, DIRECT_LANES))
#define DIRECT_ALL_2(x) direct_widen(&codes, direct_even_bytes(x, 2 * DIRECT_LANES))
#define DIRECT_FLOATS_2(x, n) direct_floats_2(x, 2 * (n)-1)
#define DIRECT_ALL_FLOATS_2(x) direct_floats_2(x, 2 * DIRECT_LANES)

#define DIRECT_ROWS(type, some, all, n_steps)                              \
    {                                                                      \
        const type *x = (const type *)from;                                \
        float *y = p->plane;                                               \
        size_t n = p->n, x_next = p->row_stride, y_next = p->plane_stride; \
        for (size_t r = p->rows; r > 0; r--, x += x_next, y += y_next) {   \
            size_t i = 0;                                                  \
            for (; i + DIRECT_LANES < n; i += DIRECT_LANES)                \
                direct_store(y + i, all(x + i * (n_steps)));               \
            direct_store(y + i, some(x + i * (n_steps), n - i));           \
        }                                                                  \
    }

// Fills rows of steps 1 and 2. False: another step.
static inline bool direct_fill_vectors(const qdq_direct_rows *p, const void *from) {
    direct_codes codes = direct_codes_of(p->zero_point, p->dtype == QDQ_INT8 ? 0x80 : 0);
    bool floats = p->dtype == QDQ_FLOAT32;
    if (p->step > 2) return false;
    if (floats && p->step == 1)
        DIRECT_ROWS(float, direct_floats_1, direct_load, 1)
    else if (floats)
        DIRECT_ROWS(float, DIRECT_FLOATS_2, DIRECT_ALL_FLOATS_2, 2)
    else if (p->step == 1)
        DIRECT_ROWS(uint8_t, DIRECT_SOME_1, DIRECT_ALL_1, 1)
    else
        DIRECT_ROWS(uint8_t, DIRECT_SOME_2, DIRECT_ALL_2, 2)
    return true;
}

// Vectors are stored through pointers of any type, so fields are read before the loop.
#define DIRECT_FLAT(type, some, all, n_taps)                                              \
    {                                                                                     \
        const type *x = (const type *)from;                                               \
        const uint32_t *masks = p->masks;                                                 \
        float *planes = p->planes;                                                        \
        size_t n = p->n, taps = (n_taps), next = p->plane_stride;                         \
        for (size_t i = 0; i < n; i += DIRECT_LANES) {                                    \
            direct_floats v = i + DIRECT_LANES <= n ? all(x + i) : some(x + i, n - i);    \
            DIRECT_UNROLLED for (size_t t = 0; t < taps; t++)                             \
                direct_store(planes + t * next + i, direct_and(v, masks + t * next + i)); \
        }                                                                                 \
    }

#define DIRECT_FLATS(type, some, all)              \
    switch (p->taps) {                             \
    case 3: DIRECT_FLAT(type, some, all, 3) break; \
    case 5: DIRECT_FLAT(type, some, all, 5) break; \
    default: DIRECT_FLAT(type, some, all, p->taps) \
    }

static inline void direct_flat_from(const qdq_direct_flat *p, const void *from) {
    direct_codes codes = direct_codes_of(p->zero_point, p->dtype == QDQ_INT8 ? 0x80 : 0);
    if (p->dtype == QDQ_FLOAT32)
        DIRECT_FLATS(float, direct_floats_1, direct_load)
    else
        DIRECT_FLATS(uint8_t, DIRECT_SOME_1, DIRECT_ALL_1)
}
#else
static inline bool direct_fill_vectors(const qdq_direct_rows *p, const void *from) {
    (void)p, (void)from;
    return false;
}

static inline void direct_flat_from(const qdq_direct_flat *p, const void *from) {
    const float *floats = from;
    const int8_t *signs = from;
    const uint8_t *bytes = from;
    for (size_t t = 0; t < p->taps; t++) {
        const uint32_t *mask = p->masks + t * p->plane_stride;
        float *y = p->planes + t * p->plane_stride;
        for (size_t i = 0; i < p->n; i++) {
            float v = p->dtype == QDQ_FLOAT32 ? floats[i]
                      : p->dtype == QDQ_INT8  ? (float)(signs[i] - p->zero_point)
                                              : (float)(bytes[i] - p->zero_point);
            y[i] = mask[i] ? v : 0;
        }
    }
}
#endif

#define DIRECT_GATHER(type, zero)                                                  \
    for (size_t r = 0; r < p->rows; r++) {                                         \
        const type *restrict x = (const type *)from + r * p->row_stride;           \
        float *restrict y = p->plane + r * p->plane_stride;                        \
        for (size_t i = 0; i < p->n; i++) y[i] = (float)(x[i * p->step] - (zero)); \
    }

static inline void direct_fill_from(const qdq_direct_rows *p, const void *from) {
    if (direct_fill_vectors(p, from)) return;
    if (p->dtype == QDQ_UINT8)
        DIRECT_GATHER(uint8_t, p->zero_point)
    else if (p->dtype == QDQ_INT8)
        DIRECT_GATHER(int8_t, p->zero_point)
    else
        for (size_t r = 0; r < p->rows; r++) {
            const float *restrict x = (const float *)from + r * p->row_stride;
            float *restrict y = p->plane + r * p->plane_stride;
            for (size_t i = 0; i < p->n; i++) y[i] = x[i * p->step];
        }
}

static void QDQ_ISA_NAME(direct_fill)(const qdq_direct_rows *p) { direct_fill_from(p, p->x); }
static void QDQ_ISA_NAME(direct_flat)(const qdq_direct_flat *p) { direct_flat_from(p, p->x); }

#endif
