// SPDX-License-Identifier: Apache-2.0
// Generates the inputs of a case from its number. tools/peers/torchao_inputs.py does the same in
// Python and explains it; both must draw the same values from the same bits, which a CRC-32 checks.
#ifndef QDQ_TESTS_GRAPH_TARGETS_TORCHAO_TORCHAO_INPUTS_H
#define QDQ_TESTS_GRAPH_TARGETS_TORCHAO_TORCHAO_INPUTS_H

#include "tests/graph/targets/torchao/torchao_codes.h"

enum { TORCHAO_ELEMENTS = 132608, TORCHAO_BLOCKS = 33008 };

// Random choices for a block: its parameters, or the range of its values.
typedef struct torchao_block {
    uint64_t r;
    double scale, zp;
    int exponent;
    double size, lo, hi;
} torchao_block;

// The input codes in memory as the API holds them, and the random choices for each block.
typedef struct torchao_data {
    const torchao_case *c;
    const torchao_grain *grain;
    uint64_t number;
    size_t count, blocks, zp_count;
    uint32_t x[TORCHAO_ELEMENTS];
    uint32_t scales[TORCHAO_BLOCKS], zps[TORCHAO_BLOCKS];
    torchao_block block[TORCHAO_BLOCKS];
    double out_scale, out_zp;
} torchao_data;

//---- Parameters -------------------------------------------------------------

static inline uint32_t torchao_scale(qdq_dtype dtype, uint64_t r, bool wild, bool negative) {
    torchao_float f = torchao_float_of(dtype);
    int64_t fraction = r & 1 ? 0 : torchao_field(r, 8, (int64_t)1 << f.mantissa);
    int64_t exponent = torchao_field(r, 32, 12) - 8;
    if (wild && (r >> 1 & 7) == 0)
        exponent =
            dtype == QDQ_FLOAT16 ? torchao_field(r, 32, 29) - 14 : torchao_field(r, 32, 201) - 100;
    uint32_t sign = negative && (r >> 4 & 15) == 0 ? torchao_sign(dtype) : 0;
    return sign | (uint32_t)(((exponent + f.bias) << f.mantissa) | fraction);
}

static inline int64_t torchao_zero_point(const torchao_case *c, uint64_t r) {
    const int64_t most = (int64_t)1 << 28;
    int64_t qmin = c->qmin > -most ? c->qmin : -most, qmax = c->qmax < most ? c->qmax : most;
    int64_t drawn = qmin + torchao_field(r, 16, qmax - qmin + 1);
    qdq_dtype quantized = c->op == DEQUANTIZE ? c->x : c->y;
    bool far = c->zp_from == ZP_PORT && c->zp == QDQ_INT32 &&
               !(c->x == QDQ_FLOAT16 && c->scale == QDQ_FLOAT16);
    if ((r & 7) == 7) {
        if (quantized == QDQ_INT32 && qmax == most) return 0x1010001;
        if (far) return r & 8 ? 1000003 : -1000003;
        return r & 8 ? qmax : qmin;
    }
    int64_t picks[7] = {0, 1, -1, 3, -7, drawn | 1, drawn}, z = picks[r & 7];
    return z < qmin ? qmin : z > qmax ? qmax : z;
}

static inline void torchao_make_parameters(torchao_data *d) {
    const torchao_case *c = d->c;
    d->zp_count = 0, d->out_scale = 1;
    uint64_t drawn = torchao_mix(d->number, 3, 0);
    if (c->op == REQUANTIZE) drawn &= ~(uint64_t)1;
    uint32_t once = torchao_scale(QDQ_FLOAT32, drawn, false, false);
    if (c->op == REQUANTIZE || (c->op == DYNAMIC && c->how == QDQ_NVFP4 && c->zp_from != ZP_NONE))
        d->out_scale = torchao_decode(QDQ_FLOAT32, once);
    d->out_zp = (double)(torchao_field(torchao_mix(d->number, 3, 1), 8, 9) + 1);
    for (size_t b = 0; b < d->blocks; b++) d->block[b].r = torchao_mix(d->number, 0, b);
    d->scales[0] = once;
    if (c->op == DYNAMIC) return;
    bool floats = c->how == QDQ_DOMAIN_FLOAT, calm = floats || c->op == REQUANTIZE;
    qdq_dtype dtype = c->scale ? c->scale : QDQ_FLOAT32, zp_dtype = c->zp ? c->zp : QDQ_FLOAT32;
    d->zp_count = c->zp_from == ZP_NONE ? 0 : c->zp_from == ZP_SCALAR ? 1 : d->blocks;
    for (size_t b = 0; b < d->blocks; b++) {
        d->scales[b] = torchao_scale(dtype, d->block[b].r, !calm, c->scale != QDQ_DTYPE_NONE);
        if (c->op == REQUANTIZE && d->block[b].r & 32)
            d->scales[b] = torchao_encode(QDQ_FLOAT32, d->out_scale * 0.5);
        d->block[b].scale = torchao_decode(dtype, d->scales[b]);
        d->block[b].zp = d->zp_count ? d->block[0].zp : 0;
        if (b >= d->zp_count) continue;
        uint64_t r = torchao_mix(d->number, 1, b);
        int64_t whole = floats ? 0 : torchao_zero_point(c, r);
        d->zps[b] = (uint32_t)whole, d->block[b].zp = (double)whole;
        if (!floats) continue;
        double part = (double)(torchao_field(r, 8, 4001) - 2000) * 0.01;
        d->zps[b] = torchao_encode(zp_dtype, part * d->block[b].scale);
        d->block[b].zp = torchao_decode(zp_dtype, d->zps[b]);
    }
}

//---- Elements ---------------------------------------------------------------

static inline uint32_t torchao_float_x(const torchao_data *d, const torchao_block *b, uint64_t r) {
    const torchao_case *c = d->c;
    int64_t span = c->qmax - c->qmin + 5, t = torchao_field(r, 16, span), k;
    int kind = (int)(r & 7);
    bool floats = c->how == QDQ_DOMAIN_FLOAT;
    if (kind == 6) return torchao_any(c->x, r, false);
    if (kind == 7) return torchao_special(c->x, r, false);
    if (span > 1000) {
        t >>= torchao_field(r, 4, 32) % (c->qmax < 65536 ? 16 : 32);
        k = r & 8 ? -t : t;
    } else {
        k = c->qmin - (floats ? 0 : (int64_t)b->zp) - 2 + t;
    }
    double part = kind < 4 ? 0.5 : kind == 4 ? 0 : (double)torchao_field(r, 3, 8192) / 8192;
    double v = ((double)k + part) * b->scale;
    if (floats) v = (b->zp - b->scale * ((double)(c->qmax + c->qmin + 1) / 2)) + v;
    uint32_t code = torchao_encode(c->x, v);
    return kind < 5 ? torchao_nudge(c->x, code, torchao_jitter(r)) : code;
}

static inline double torchao_small_tie(torchao_small s, uint64_t r) {
    int64_t odd = 2 * torchao_field(r, 8, 1 << s.mantissa) + 1;
    if ((r >> 32 & 3) == 0) return ldexp((double)odd, s.least - s.mantissa - 1);
    int64_t down = torchao_field(r, 16, s.greatest - s.least + s.mantissa + 4);
    return ldexp((double)(odd + (2 << s.mantissa)), s.greatest - s.mantissa - (int)down);
}

static inline uint32_t torchao_small_x(const torchao_data *d, const torchao_block *b, uint64_t r) {
    const torchao_case *c = d->c;
    torchao_small s = torchao_small_of(c->y);
    int kind = (int)(r & 7);
    if (kind == 6) return torchao_any(c->x, r, true);
    if (kind == 7) return torchao_special(c->x, r, true);
    double part = (double)torchao_field(r, 3, 8192) / 8192 * s.largest * 1.125;
    double v = (kind < 5 ? torchao_small_tie(s, r) : part) * b->scale;
    if (r >> 40 & 1) v = -v;
    return torchao_nudge(c->x, torchao_encode(c->x, v), kind < 5 ? torchao_jitter(r) : 0);
}

static inline uint32_t torchao_integer_x(qdq_dtype dtype, uint64_t r) {
    static const int digits[3] = {9, 12, 25}, shifts[3] = {22, 19, 6};
    if (dtype == QDQ_INT16) return (uint32_t)(r >> 8) & 0xFFFF;
    if (dtype == QDQ_UINT4) return (uint32_t)(r >> 8) & 15;
    if (dtype == QDQ_INT4) return ((uint32_t)(r >> 8 & 15) - 8) & 0xFF;
    if (dtype != QDQ_INT32) return (uint32_t)(r >> 8) & 0xFF;
    int kind = (int)(r & 3), size = (int)(r >> 40 & 31);
    int64_t q = torchao_field(r, 8, (int64_t)1 << 31) >> size;
    if (kind < 3) {
        q = torchao_field(r, 8, 1 << digits[kind]) | 1;
        q = (q << (size % shifts[kind])) + torchao_jitter(r);
    }
    return (uint32_t)(r >> 55 & 1 ? -q : q);
}

// One infinity or NaN in some blocks.
static inline uint32_t torchao_odd_one(const torchao_case *c, uint64_t block, uint64_t r,
                                       uint32_t code) {
    uint32_t inf = torchao_infinity(c->x), kind = (uint32_t)(r >> 8) & 63;
    if ((block >> 28 & 15) == 2 && kind == 0) return inf | torchao_signed(c->x, r, 16);
    if ((block >> 28 & 15) == 3 && kind == 1) return c->how == QDQ_NVFP4 ? inf : inf + 1;
    return code;
}

static inline bool torchao_is_mx(const torchao_case *c) {
    return c->op == DYNAMIC && c->how >= QDQ_MX_FLOOR && c->how <= QDQ_MX_RCEIL;
}

// For a block of DynamicQuantize: the largest magnitude, or for the affine schemes the range.
static inline void torchao_make_range(const torchao_data *d, torchao_block *b) {
    static const double fractions[6] = {0, 0.5, 0.75, 0.875, 0.9375, 0.25};
    static const double low[8] = {0, -1, 0, -1, -1, -0.25, -0.5, -1};
    static const double high[8] = {0, -1, 1, 0, 1, 1, 1, 0.5};
    const torchao_case *c = d->c;
    torchao_float f = torchao_float_of(c->x);
    uint64_t r = b->r;
    double fraction = r & 8 ? 0 : (double)torchao_field(r, 8, 128) / 128;
    int64_t exponent = torchao_field(r, 32, 24) - 16;
    if (torchao_is_mx(c)) {
        f.least = -70, f.greatest = 100;
        double drawn = (double)torchao_field(r, 8, 1 << 23) / (1 << 23);
        fraction = (r & 7) < 6 ? fractions[r & 7] : drawn;
    } else if (c->how == QDQ_NVFP4) {
        f.least = -12, f.greatest = 12;
        exponent = torchao_field(r, 32, 14) - 5;
        double drawn = (double)torchao_field(r, 8, 1 << 20) / (1 << 20);
        fraction = r & 8 ? (double)torchao_field(r, 8, 8) / 8 : drawn;
    }
    if ((r >> 4 & 7) == 0) exponent = f.least + torchao_field(r, 32, f.greatest - f.least + 1);
    b->exponent = (int)exponent;
    b->size = ldexp(1 + fraction, (int)exponent);
    b->lo = b->size * low[r & 7], b->hi = b->size * high[r & 7];
    if (c->how == QDQ_NVFP4) b->size = b->size * 6 * d->out_scale;
    int64_t step = c->how == QDQ_MX_RCEIL && c->x == QDQ_FLOAT32 ? 256 : 1;
    if (c->how < QDQ_MX_FLOOR) return;
    uint32_t top = torchao_nudge(c->x, torchao_encode(c->x, b->size), torchao_jitter(r) * step);
    b->size = torchao_decode(c->x, top);
}

static inline uint32_t torchao_dynamic_x(const torchao_data *d, const torchao_block *b,
                                         uint64_t r) {
    const torchao_case *c = d->c;
    torchao_small s = torchao_small_of(c->y);
    int kind = (int)(r & 7);
    double v, most = -b->lo > b->hi ? -b->lo : b->hi;
    if (s.mantissa) {
        v = torchao_small_tie(s, r) * (most / s.largest);
        if (r >> 40 & 1) v = -v;
    } else {
        double n = (double)(c->qmax - c->qmin), step = most / (n / 2);
        if (c->how == QDQ_ASYMMETRIC) step = (b->hi - b->lo) / n;
        if (c->how == QDQ_SYMMETRIC_NO_CLIPPING) {
            double below = c->qmin < 0 ? b->lo / (double)c->qmin : 0,
                   above = b->hi / (double)c->qmax;
            step = below > above ? below : above;
        }
        v = ((double)torchao_field(r, 16, 2 * (c->qmax - c->qmin) + 1) - n + 0.5) * step;
    }
    if (kind == 7) v = b->lo + (b->hi - b->lo) * ((double)torchao_field(r, 3, 8192) / 8192);
    v = v < b->lo ? b->lo : v > b->hi ? b->hi : v;
    if (kind < 2) v = kind ? b->lo : b->hi;
    uint32_t code = torchao_encode(c->x, v);
    if (v > b->lo && v < b->hi && kind != 7) code = torchao_nudge(c->x, code, torchao_jitter(r));
    if ((b->r & 7) == 0) code = torchao_signed(c->x, r, 11);
    return s.mantissa ? torchao_odd_one(c, b->r, r, code) : code;
}

static inline uint32_t torchao_scaled_x(const torchao_data *d, const torchao_block *b, uint64_t r) {
    static const double ties[8] = {0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 0.5};
    const torchao_case *c = d->c;
    torchao_small s = torchao_small_of(c->y);
    int kind = (int)(r & 7);
    int64_t step = c->how == QDQ_MX_RCEIL && c->x == QDQ_FLOAT32 ? 256 : 1;
    int64_t odd = 2 * torchao_field(r, 8, 1 << s.mantissa) + 1;
    double v;
    if (kind == 6)
        v = b->size * ((double)torchao_field(r, 3, 8192) / 8192);
    else if (c->how == QDQ_NVFP4)
        v = ties[r >> 8 & 7] * (b->size / 6);
    else if (kind < 5)
        v = ldexp((double)(odd + (2 << s.mantissa)),
                  b->exponent - s.mantissa - 1 - (int)torchao_field(r, 16, 20));
    else
        v = ldexp((double)odd, b->exponent - s.greatest + s.least - s.mantissa - 1);
    if (v > b->size) v *= 0.5;
    if (kind == 7) v = b->size;
    uint32_t code = torchao_encode(c->x, v);
    if (v < b->size) code = torchao_nudge(c->x, code, torchao_jitter(r) * step);
    code |= torchao_signed(c->x, r, 40);
    if ((b->r >> 28 & 15) == 1) code = torchao_signed(c->x, r, 11);
    return c->how == QDQ_NVFP4 ? torchao_odd_one(c, b->r, r, code) : code;
}

static inline uint32_t torchao_element(const torchao_data *d, const torchao_block *b, uint64_t r) {
    const torchao_case *c = d->c;
    if (c->op == DEQUANTIZE || c->op == REQUANTIZE) return torchao_integer_x(c->x, r);
    if (c->op == QUANTIZE && torchao_small_of(c->y).mantissa) return torchao_small_x(d, b, r);
    if (c->op == QUANTIZE) return torchao_float_x(d, b, r);
    return c->how >= QDQ_MX_FLOOR ? torchao_scaled_x(d, b, r) : torchao_dynamic_x(d, b, r);
}

static inline void torchao_make(torchao_data *d, const torchao_case *c, const torchao_grain *grain,
                                uint64_t number) {
    d->c = c, d->grain = grain, d->number = number;
    d->count = d->blocks = 1;
    int rank = grain->shape.rank;
    for (int i = 0; i < rank; i++) {
        d->count *= (size_t)grain->shape.dims[i];
        d->blocks *= (size_t)(grain->shape.dims[i] / grain->block[i]);
    }
    assert_true(d->count <= TORCHAO_ELEMENTS && d->blocks <= TORCHAO_BLOCKS);
    torchao_make_parameters(d);
    for (size_t b = 0; b < d->blocks && c->op == DYNAMIC; b++) torchao_make_range(d, &d->block[b]);
    int64_t at[QDQ_MAX_RANK] = {0};
    size_t size = qdq_dtype_size(c->x);
    for (size_t e = 0; e < d->count; e++) {
        int64_t b = 0;
        for (int i = 0; i < rank; i++)
            b = b * (grain->shape.dims[i] / grain->block[i]) + at[i] / grain->block[i];
        uint64_t r = torchao_mix(number, 2, e);
        torchao_store(d->x, size, e, torchao_element(d, &d->block[b], r));
        for (int i = rank - 1; i >= 0 && ++at[i] == grain->shape.dims[i]; i--) at[i] = 0;
    }
}

#endif
