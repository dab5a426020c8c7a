// SPDX-License-Identifier: Apache-2.0
// A template: the functions that join packed elements of one form. pool.inc.h includes it for each
// form, with POOL_FORM (keys, bytes, floats or doubles), POOL_TYPE, the type of its elements, and
// POOL_HALVED, the type of rows whose elements are split into even and odd ones. Forms of maxima
// have POOL_OUT, the type of x and y, POOL_KEY and POOL_FINISH, which turn an element into a key
// and back, POOL_GREATER, the greater key, and POOL_EACH, their loop; others have POOL_MEANS.
#define POOL_PASTE(name, form) name##_##form
#define POOL_PASTE_VALUE(name, form) POOL_PASTE(name, form)
#define POOL_OF(name) POOL_PASTE_VALUE(pool_##name, POOL_FORM)
#define POOL_NAME(name) POOL_NAME_VALUE(POOL_OF(name))
#define POOL_NAME_VALUE(name) QDQ_ISA_NAME(name)
#define POOL_LANES POOL_PASTE_VALUE(POOL_LANES, POOL_FORM)

// Both phases of a stride of 2 at once, so that no load skips elements.
static void POOL_NAME(pairs)(const void *restrict x, void *restrict to, void *restrict other,
                             size_t n) {
    const POOL_HALVED *restrict v = x;
    POOL_TYPE *restrict y = to, *restrict z = other;
#define LOAD_PAIR(i) y[i] = v[2 * (i)], z[i] = v[2 * (i) + 1];
    QDQ_EACH(n, LOAD_PAIR)
#undef LOAD_PAIR
}

#if POOL_HAS_VECTORS
// All taps of some vectors at once, in registers.
static void POOL_NAME(join)(const void *from, const size_t *at, size_t taps, bool fresh, void *to,
                            size_t n) {
    enum { STEP = POOL_VECTORS * POOL_LANES };
    const POOL_TYPE *x = from;
    POOL_TYPE *y = to;
    for (size_t i = 0; i < n; i += STEP, x += STEP, y += STEP) {
        POOL_OF(vector) all[POOL_VECTORS];
        POOL_UNROLLED for (size_t v = 0; v < POOL_VECTORS; v++) all[v] =
            fresh ? POOL_OF(zero)() : POOL_OF(load)(y + v * POOL_LANES);
        for (size_t k = 0; k < taps; k++)
            POOL_UNROLLED for (size_t v = 0; v < POOL_VECTORS; v++) all[v] =
                POOL_OF(with)(all[v], POOL_OF(load)(x + at[k] + v * POOL_LANES));
        POOL_UNROLLED for (size_t v = 0; v < POOL_VECTORS; v++)
            POOL_OF(store)(y + v * POOL_LANES, all[v]);
    }
}
#else
// Up to four taps at a time, whose results are loaded and stored once. Compilers vectorize loops
// with one array each for y and the taps.
static inline void POOL_OF(join_1)(POOL_TYPE *restrict y, size_t n, const POOL_TYPE *restrict a) {
    for (size_t i = 0; i < n; i++) y[i] = POOL_OF(with)(y[i], a[i]);
}

static inline void POOL_OF(join_2)(POOL_TYPE *restrict y, size_t n, const POOL_TYPE *restrict a,
                                   const POOL_TYPE *restrict b) {
    for (size_t i = 0; i < n; i++) y[i] = POOL_OF(with)(POOL_OF(with)(y[i], a[i]), b[i]);
}

static inline void POOL_OF(join_4)(POOL_TYPE *restrict y, size_t n, const POOL_TYPE *restrict a,
                                   const POOL_TYPE *restrict b, const POOL_TYPE *restrict c,
                                   const POOL_TYPE *restrict d) {
    for (size_t i = 0; i < n; i++)
        y[i] = POOL_OF(with)(POOL_OF(with)(POOL_OF(with)(POOL_OF(with)(y[i], a[i]), b[i]), c[i]),
                             d[i]);
}

static void POOL_NAME(join)(const void *from, const size_t *at, size_t taps, bool fresh, void *to,
                            size_t n) {
    const POOL_TYPE *x = from;
    POOL_TYPE *y = to;
    n = (n + 31) / 32 * 32;
    if (fresh) memset(y, 0, n * sizeof *y);
    for (; taps >= 4; taps -= 4, at += 4)
        POOL_OF(join_4)(y, n, x + at[0], x + at[1], x + at[2], x + at[3]);
    for (; taps >= 2; taps -= 2, at += 2) POOL_OF(join_2)(y, n, x + at[0], x + at[1]);
    if (taps) POOL_OF(join_1)(y, n, x + at[0]);
}
#endif

#ifdef POOL_OUT
// Up to three rows at a time, so that y is loaded and stored once for them.
static void POOL_NAME(rows)(const void *const *x, size_t count, uint8_t sign, bool fresh, void *to,
                            size_t n) {
#define KEY_1(i) POOL_KEY(a[i])
#define KEY_2(i) POOL_GREATER(KEY_1(i), POOL_KEY(b[i]))
#define KEY_3(i) POOL_GREATER(KEY_2(i), POOL_KEY(c[i]))
#define FIRST_1(i) y[i] = KEY_1(i);
#define FIRST_2(i) y[i] = KEY_2(i);
#define FIRST_3(i) y[i] = KEY_3(i);
#define JOIN_1(i) y[i] = POOL_GREATER(y[i], KEY_1(i));
#define JOIN_3(i) y[i] = POOL_GREATER(y[i], KEY_3(i));
    POOL_TYPE *restrict y = to;
    (void)sign;
    for (size_t some; count; x += some, count -= some, fresh = false) {
        some = count >= 3 ? 3 : fresh ? count : 1;
        const POOL_OUT *restrict a = x[0];
        const POOL_OUT *restrict b = x[some > 1], *restrict c = x[some > 2 ? 2 : 0];
        if (fresh && some == 3)
            POOL_EACH(n, FIRST_3)
        else if (fresh && some == 2)
            POOL_EACH(n, FIRST_2)
        else if (fresh)
            POOL_EACH(n, FIRST_1)
        else if (some == 3)
            POOL_EACH(n, JOIN_3)
        else
            POOL_EACH(n, JOIN_1)
    }
#undef KEY_1
#undef KEY_2
#undef KEY_3
#undef FIRST_1
#undef FIRST_2
#undef FIRST_3
#undef JOIN_1
#undef JOIN_3
}

static inline POOL_OF(vector) POOL_OF(peak)(const POOL_TYPE *x, size_t stride, size_t most) {
    POOL_OF(vector) a = POOL_OF(load)(x), b = POOL_OF(load)(x + 1), c = POOL_OF(load)(x + 2);
    if (stride == 2) {
        POOL_OF(vector) d = POOL_OF(load)(x + POOL_LANES), e = POOL_OF(load)(x + POOL_LANES + 2);
        b = POOL_OF(odds)(a, d), a = POOL_OF(evens)(a, d), c = POOL_OF(evens)(c, e);
    }
    a = POOL_OF(with)(a, b);
    return most == 2 ? a : POOL_OF(with)(a, c);
}

// Windows of `most` neighbours, `stride` elements apart: inline, as both decide its loops. Whole
// vectors: the last vector overlaps the vector before, or exceeds the row.
static inline __attribute__((always_inline)) void POOL_OF(peaks)(const POOL_TYPE *x, uint8_t sign,
                                                                 POOL_OUT *y, size_t n,
                                                                 size_t stride, size_t most) {
    POOL_TYPE peaks[POOL_LANES];
    POOL_OUT spare[POOL_LANES];
    (void)sign;
    for (size_t i = 0; i < n; i += POOL_LANES) {
        if (i && n - i < POOL_LANES) i = n - POOL_LANES;
        POOL_OUT *room = n < POOL_LANES ? spare : y + i;
        POOL_OF(store)(peaks, POOL_OF(peak)(x + stride * i, stride, most));
        for (size_t k = 0; k < POOL_LANES; k++) room[k] = POOL_FINISH(peaks[k]);
    }
    if (n < POOL_LANES) memcpy(y, spare, n * sizeof *y);
}

static void POOL_NAME(peaks_1_2)(const void *x, uint8_t sign, void *y, size_t n) {
    POOL_OF(peaks)(x, sign, y, n, 1, 2);
}

static void POOL_NAME(peaks_1_3)(const void *x, uint8_t sign, void *y, size_t n) {
    POOL_OF(peaks)(x, sign, y, n, 1, 3);
}

static void POOL_NAME(peaks_2_2)(const void *x, uint8_t sign, void *y, size_t n) {
    POOL_OF(peaks)(x, sign, y, n, 2, 2);
}

static void POOL_NAME(peaks_2_3)(const void *x, uint8_t sign, void *y, size_t n) {
    POOL_OF(peaks)(x, sign, y, n, 2, 3);
}
#endif

#ifdef POOL_MEANS
static void POOL_NAME(load)(const float *restrict x, size_t step, void *restrict to, size_t n) {
    POOL_TYPE *restrict y = to;
#define LOAD_NEXT(i) y[i] = x[i];
    if (step == 1)
        QDQ_EACH(n, LOAD_NEXT)
    else
        for (size_t i = 0; i < n; i++) y[i] = x[step * i];
#undef LOAD_NEXT
}
#endif

#if defined(POOL_MEANS) && POOL_HAS_VECTORS
// Two rows of y share the loads of the rows of x that both see. `rows` and `count` are constant for
// the usual windows.
static inline void POOL_OF(mean_of)(const POOL_TYPE *x, const qdq_pool_taps *t, size_t rows,
                                    size_t count, POOL_OF(vector) * sums, bool both) {
    POOL_OF(vector) a = POOL_OF(zero)(), b = POOL_OF(zero)();
    for (size_t j = 0; j < count; j++) a = POOL_OF(with)(a, POOL_OF(load)(x + t->columns[j]));
    for (size_t i = 1; i < rows; i++)
        for (size_t j = 0; j < count; j++) {
            POOL_OF(vector) v = POOL_OF(load)(x + i * t->pitch + t->columns[j]);
            a = POOL_OF(with)(a, v);
            if (both) b = POOL_OF(with)(b, v);
        }
    for (size_t j = 0; both && j < count; j++)
        b = POOL_OF(with)(b, POOL_OF(load)(x + rows * t->pitch + t->columns[j]));
    sums[0] = a, sums[1] = b;
}

// Whole vectors: the last vector overlaps the vector before, or is cut.
static inline void POOL_OF(means)(const POOL_TYPE *x, const qdq_pool_taps *t, size_t rows,
                                  size_t count, const POOL_TYPE *divisors, float *y, float *z,
                                  size_t n) {
    POOL_OF(vector) sums[2];
    float spare[2 * POOL_LANES];
    bool few = n < POOL_LANES;
    for (size_t i = 0; i < n; i += POOL_LANES) {
        if (i && n - i < POOL_LANES) i = n - POOL_LANES;
        POOL_OF(mean_of)(x + i, t, rows, count, sums, z);
        POOL_OF(quotient)(sums[0], divisors + i, few ? spare : y + i);
        if (z) POOL_OF(quotient)(sums[1], divisors + i, few ? spare + POOL_LANES : z + i);
    }
    if (few) memcpy(y, spare, n * sizeof *y);
    if (few && z) memcpy(z, spare + POOL_LANES, n * sizeof *z);
}

static void POOL_NAME(mean)(const void *x, const qdq_pool_taps *t, const void *by, float *y,
                            float *z, size_t n) {
    if (t->rows == 3 && t->count == 3)
        POOL_OF(means)(x, t, 3, 3, by, y, z, n);
    else if (t->rows == 2 && t->count == 2)
        POOL_OF(means)(x, t, 2, 2, by, y, z, n);
    else
        POOL_OF(means)(x, t, t->rows, t->count, by, y, z, n);
}
#endif

#undef POOL_PASTE
#undef POOL_PASTE_VALUE
#undef POOL_OF
#undef POOL_NAME
#undef POOL_NAME_VALUE
#undef POOL_LANES
#undef POOL_FORM
#undef POOL_TYPE
#undef POOL_HALVED
#undef POOL_EACH
#undef POOL_KEY
#undef POOL_GREATER
#undef POOL_OUT
#undef POOL_FINISH
#undef POOL_MEANS
