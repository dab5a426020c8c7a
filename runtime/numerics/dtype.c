// SPDX-License-Identifier: Apache-2.0
// Element types: a row of the table for each row of QDQ_DTYPES (include/qdq/base.h), with functions
// that decode and encode it.
#include "runtime/numerics/dtype.h"

#include <math.h>

#include "runtime/base/fp_environment.h"
#include "runtime/numerics/small_float.h"

//---- Codecs: one decode and one encode per row of QDQ_DTYPES ----------------

#define NAN_BITS 0x7F800000u  // magnitudes above this are NaN

uint16_t qdq_bfloat16_encode(float value) {
    uint32_t bits = qdq_float_bits(value);
    if ((bits & 0x7FFFFFFFu) > NAN_BITS)
        return (uint16_t)(bits >> 16 | ((bits & 0x007F0000u) ? 0 : 0x40));
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

// Rounds as the device packer of ttnn does (docs/numerics.md, bfloat16_store): nearest, half away;
// denormals and -0 to +0, NaN to infinity.
static uint16_t bfloat16_encode_device(float value) {
    uint32_t bits = qdq_float_bits(value), magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > NAN_BITS) return (uint16_t)((bits & 0x80000000u) >> 16 | 0x7F80);
    if (magnitude < 0x00800000u) return 0;
    return (uint16_t)((bits + 0x8000) >> 16);
}

static uint16_t bfloat16_encode_truncate(float value) {
    uint32_t bits = qdq_float_bits(value);
    bool lost = (bits & 0x7FFFFFFFu) > NAN_BITS && !(bits & 0x007F0000u);
    return (uint16_t)(bits >> 16 | (lost ? 0x40 : 0));
}

static void decode_float32(const void *x, float *out, size_t n) { memcpy(out, x, n * 4); }

static void encode_float32(const float *in, void *y, size_t n, const qdq_numerics *numerics) {
    (void)numerics;
    memcpy(y, in, n * 4);
}

static void decode_bfloat16(const void *x, float *out, size_t n) {
    const uint16_t *codes = x;
    for (size_t i = 0; i < n; i++) out[i] = qdq_bfloat16_decode(codes[i]);
}

static void encode_bfloat16(const float *in, void *y, size_t n, const qdq_numerics *numerics) {
    uint16_t *codes = y;
    switch (numerics->bfloat16_store) {
    case QDQ_BFLOAT16_DEVICE:
        for (size_t i = 0; i < n; i++) codes[i] = bfloat16_encode_device(in[i]);
        break;
    case QDQ_BFLOAT16_TRUNCATE:
        for (size_t i = 0; i < n; i++) codes[i] = bfloat16_encode_truncate(in[i]);
        break;
    case QDQ_BFLOAT16_FLUSH:
        for (size_t i = 0; i < n; i++)
            codes[i] = qdq_bfloat16_encode(fabsf(in[i]) < 0x1p-126f ? copysignf(0, in[i]) : in[i]);
        break;
    case QDQ_BFLOAT16_HALF_EVEN:
    default:
        for (size_t i = 0; i < n; i++) codes[i] = qdq_bfloat16_encode(in[i]);
    }
}

static void decode_float16(const void *x, float *out, size_t n) {
    const uint16_t *codes = x;
    for (size_t i = 0; i < n; i++) out[i] = qdq_small_float_decode(&qdq_float16_format, codes[i]);
}

static void encode_float16(const float *in, void *y, size_t n, const qdq_numerics *numerics) {
    uint16_t *codes = y;
    (void)numerics;
    for (size_t i = 0; i < n; i++)
        codes[i] = qdq_small_float_encode(&qdq_float16_format, in[i], QDQ_FLOAT_OVERFLOW);
}

static void decode_bytes(const qdq_small_float *format, const uint8_t *x, float *out, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = qdq_small_float_decode(format, x[i]);
}

static void encode_bytes(const qdq_small_float *format, const float *in, uint8_t *y, size_t n,
                         const qdq_numerics *numerics) {
    bool through_float16 = numerics->float_overflow == QDQ_FLOAT_THROUGH_FLOAT16;
    for (size_t i = 0; i < n; i++) {
        float value = through_float16 ? qdq_round_to_dtype(QDQ_FLOAT16, in[i], NULL) : in[i];
        y[i] = (uint8_t)qdq_small_float_encode(format, value, numerics->float_overflow);
    }
}

#define BYTE_FLOAT(name)                                                                          \
    static void decode_##name(const void *x, float *out, size_t n) {                              \
        decode_bytes(&qdq_##name##_format, x, out, n);                                            \
    }                                                                                             \
    static void encode_##name(const float *in, void *y, size_t n, const qdq_numerics *numerics) { \
        encode_bytes(&qdq_##name##_format, in, y, n, numerics);                                   \
    }

BYTE_FLOAT(float8_e4m3fn)
BYTE_FLOAT(float8_e5m2)
BYTE_FLOAT(float8_e4m3fnuz)
BYTE_FLOAT(float8_e5m2fnuz)
BYTE_FLOAT(float4_e2m1)

static void decode_float8_e8m0(const void *x, float *out, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = qdq_float8_e8m0_decode(((const uint8_t *)x)[i]);
}

static void encode_float8_e8m0(const float *in, void *y, size_t n, const qdq_numerics *numerics) {
    (void)numerics;
    for (size_t i = 0; i < n; i++) ((uint8_t *)y)[i] = qdq_float8_e8m0_encode(in[i]);
}

// Integers in C's own types. An element narrower than a byte is an int8_t or uint8_t whose upper
// bits are ignored.
#define INTEGER(name, type, bits)                                               \
    static void decode_##name(const void *x, int32_t *out, size_t n) {          \
        for (size_t i = 0; i < n; i++)                                          \
            out[i] = narrow((int32_t)((const type *)x)[i], bits, (type)-1 < 0); \
    }                                                                           \
    static void encode_##name(const int32_t *in, void *y, size_t n) {           \
        for (size_t i = 0; i < n; i++) ((type *)y)[i] = (type)in[i];            \
    }

// Returns the low `bits` of a value, sign-extended if `is_signed`.
static inline int32_t narrow(int32_t value, int bits, bool is_signed) {
    if (bits >= 8) return value;
    int32_t low = value & ((1 << bits) - 1);
    return is_signed && low >> (bits - 1) ? low - (1 << bits) : low;
}

INTEGER(int8, int8_t, 8)
INTEGER(uint8, uint8_t, 8)
INTEGER(int16, int16_t, 16)
INTEGER(uint16, uint16_t, 16)
INTEGER(int32, int32_t, 32)
INTEGER(int4, int8_t, 4)
INTEGER(uint4, uint8_t, 4)
INTEGER(int2, int8_t, 2)
INTEGER(uint2, uint8_t, 2)

// int32_t registers hold values beyond them clamped; qdq_decode_wide gives all bits.
#define WIDE_INTEGER(name, type, is_signed)                                  \
    static void decode_##name(const void *x, int32_t *out, size_t n) {       \
        for (size_t i = 0; i < n; i++) {                                     \
            type v = ((const type *)x)[i];                                   \
            out[i] = (is_signed) && v < (type)INT32_MIN ? INT32_MIN          \
                     : v > (type)INT32_MAX              ? INT32_MAX          \
                                                        : (int32_t)v;                     \
        }                                                                    \
    }                                                                        \
    static void encode_##name(const int32_t *in, void *y, size_t n) {        \
        for (size_t i = 0; i < n; i++) ((type *)y)[i] = (type)in[i];         \
    }                                                                        \
    static void floats_of_##name(const void *x, float *out, size_t n) {      \
        for (size_t i = 0; i < n; i++) out[i] = (float)((const type *)x)[i]; \
    }

WIDE_INTEGER(int64, int64_t, true)
WIDE_INTEGER(uint32, uint32_t, false)
WIDE_INTEGER(uint64, uint64_t, false)

// Rounded to float32, half to even; qdq_decode_wide gives all bits.
static void decode_float64(const void *x, float *out, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = (float)((const double *)x)[i];
}

static void encode_float64(const float *in, void *y, size_t n, const qdq_numerics *numerics) {
    (void)numerics;
    for (size_t i = 0; i < n; i++) ((double *)y)[i] = (double)in[i];
}

static void decode_bool(const void *x, int32_t *out, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = ((const uint8_t *)x)[i] != 0;
}

static void encode_bool(const int32_t *in, void *y, size_t n) {
    for (size_t i = 0; i < n; i++) ((uint8_t *)y)[i] = in[i] != 0;
}

//---- The table --------------------------------------------------------------

typedef struct row {
    qdq_dtype_info info;
    void (*decode_float)(const void *x, float *out, size_t n);
    void (*encode_float)(const float *in, void *y, size_t n, const qdq_numerics *numerics);
    void (*decode_int)(const void *x, int32_t *out, size_t n);
    void (*encode_int)(const int32_t *in, void *y, size_t n);
    void (*floats_of)(const void *x, float *out, size_t n);  // of integers beyond int32_t
    const qdq_small_float *format;
} row;

#define CODEC_FLOAT(name) .decode_float = decode_##name, .encode_float = encode_##name
#define CODEC_SMALL_FLOAT(name) CODEC_FLOAT(name), .format = &qdq_##name##_format
#define CODEC_EXPONENT(name) CODEC_FLOAT(name)
// Rounding needs a whole group and is done on tiles (runtime/tenstorrent/block_float.h).
#define CODEC_BLOCK_FLOAT(name) CODEC_FLOAT(float32)
#define CODEC_INT(name) .decode_int = decode_##name, .encode_int = encode_##name
#define CODEC_BOOL(name) CODEC_INT(name)
#define CODEC_WIDE_INT(name) CODEC_INT(name), .floats_of = floats_of_##name
#define CODEC_WIDE_FLOAT(name) CODEC_FLOAT(name)
#define ROW(E, name, bits, kind, least, greatest, safetensors, npy)                 \
    [QDQ_##E] = {{#name, bits, QDQ_KIND_##kind, least, greatest, safetensors, npy}, \
                 CODEC_##kind(name)},

// One row is called bool, a macro of <stdbool.h>.
#pragma push_macro("bool")
#undef bool
static const row rows[QDQ_DTYPE_COUNT] = {QDQ_DTYPES(ROW)};
#pragma pop_macro("bool")

//---- Facts ------------------------------------------------------------------

const qdq_dtype_info *qdq_dtype_get(qdq_dtype dtype) {
    if (dtype <= QDQ_DTYPE_NONE || dtype >= QDQ_DTYPE_COUNT) return NULL;
    return &rows[dtype].info;
}

qdq_dtype qdq_dtype_from_name(const char *name) {
    for (int i = QDQ_DTYPE_NONE + 1; name && i < QDQ_DTYPE_COUNT; i++)
        if (strcmp(name, rows[i].info.name) == 0) return (qdq_dtype)i;
    return QDQ_DTYPE_NONE;
}

const char *qdq_dtype_name(qdq_dtype dtype) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    return info ? info->name : "none";
}

const qdq_small_float *qdq_small_float_of(qdq_dtype dtype) {
    if (dtype == QDQ_FLOAT16) return &qdq_float16_format;
    return qdq_dtype_get(dtype) ? rows[dtype].format : NULL;
}

size_t qdq_dtype_size(qdq_dtype dtype) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    if (!info) return 0;
    return info->kind == QDQ_KIND_BLOCK_FLOAT ? sizeof(float) : (size_t)(info->bits + 7) / 8;
}

bool qdq_dtype_is_real(qdq_dtype dtype) {
    return qdq_dtype_get(dtype) && rows[dtype].decode_float != NULL;
}

bool qdq_dtype_is_packed(qdq_dtype dtype) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    return info && info->bits < 8 && info->kind != QDQ_KIND_BLOCK_FLOAT;
}

bool qdq_dtype_is_int(qdq_dtype dtype) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    return info && info->kind == QDQ_KIND_INT;
}

bool qdq_shape_is_legal(qdq_shape shape) {
    bool legal = shape.rank >= 0 && shape.rank <= QDQ_MAX_RANK;
    for (int i = 0; legal && i < shape.rank; i++) legal = shape.dims[i] >= 1;
    return legal;
}

bool qdq_shape_equal(qdq_shape a, qdq_shape b) {
    bool same = a.rank == b.rank && a.rank >= 0 && a.rank <= QDQ_MAX_RANK;
    for (int i = 0; same && i < a.rank; i++) same = a.dims[i] == b.dims[i];
    return same;
}

size_t qdq_shape_count(qdq_shape shape) {
    size_t count = qdq_shape_is_legal(shape);
    for (int i = 0; count && i < shape.rank; i++) count *= (size_t)shape.dims[i];
    return count;
}

//---- Moving elements --------------------------------------------------------

void qdq_decode_int(qdq_dtype dtype, const void *x, int32_t *out, size_t n) {
    rows[dtype].decode_int(x, out, n);
}

void qdq_encode_int(qdq_dtype dtype, const int32_t *in, void *y, size_t n) {
    rows[dtype].encode_int(in, y, n);
}

void qdq_decode_float(qdq_dtype dtype, const void *x, float *out, size_t n) {
    if (rows[dtype].decode_float) {
        rows[dtype].decode_float(x, out, n);
        return;
    }
    if (rows[dtype].floats_of) {
        rows[dtype].floats_of(x, out, n);
        return;
    }
    int32_t ints[256];
    for (size_t at = 0; at < n; at += 256) {
        size_t part = n - at < 256 ? n - at : 256;
        rows[dtype].decode_int((const char *)x + at * qdq_dtype_size(dtype), ints, part);
        for (size_t i = 0; i < part; i++) out[at + i] = (float)ints[i];
    }
}

void qdq_encode_float(qdq_dtype dtype, const float *in, void *y, size_t n,
                      const qdq_numerics *numerics) {
    static const qdq_numerics zero;
    rows[dtype].encode_float(in, y, n, numerics ? numerics : &zero);
}

float qdq_round_to_dtype(qdq_dtype dtype, float value, const qdq_numerics *numerics) {
    _Alignas(8) unsigned char code[8];
    qdq_encode_float(dtype, &value, code, 1, numerics);
    rows[dtype].decode_float(code, &value, 1);
    return value;
}

// pack and unpack are called with a constant `bits`, so that compilers vectorize them.

static inline void pack(const uint8_t *from, uint8_t *to, size_t n, unsigned bits) {
    const size_t each = 8 / bits;
    for (size_t i = 0; i < n / each; i++) {
        unsigned byte = 0;
        for (size_t k = 0; k < each; k++)
            byte |= (from[i * each + k] & ((1u << bits) - 1)) << (k * bits);
        to[i] = (uint8_t)byte;
    }
}

// `sign` is the sign bit of a code, or 0: flipping it and subtracting it extends the sign.
static inline void unpack(const uint8_t *from, uint8_t *to, size_t n, unsigned bits,
                          unsigned sign) {
    const size_t each = 8 / bits;
    for (size_t i = 0; i < n / each; i++)
        for (size_t k = 0; k < each; k++) {
            unsigned code = (unsigned)from[i] >> (k * bits) & ((1u << bits) - 1);
            to[i * each + k] = (uint8_t)((code ^ sign) - sign);
        }
}

void qdq_pack_bits(qdq_dtype dtype, const void *elements, void *packed, size_t n) {
    if (rows[dtype].info.bits == 4)
        pack(elements, packed, n, 4);
    else
        pack(elements, packed, n, 2);
}

void qdq_unpack_bits(qdq_dtype dtype, const void *packed, void *elements, size_t n) {
    unsigned bits = (unsigned)rows[dtype].info.bits;
    unsigned sign = rows[dtype].info.least < 0 ? 1u << (bits - 1) : 0;
    if (bits == 4)
        unpack(packed, elements, n, 4, sign);
    else
        unpack(packed, elements, n, 2, sign);
}

// True if a byte, less `least`, exceeds `span`: one test for both bounds, in a loop without exits,
// which compilers turn into vectors.
static bool any_beyond(const uint8_t *bytes, size_t n, uint8_t least, uint8_t span) {
    uint8_t found = 0;
    for (size_t i = 0; i < n; i++) found |= (uint8_t)(bytes[i] - least) > span;
    return found != 0;
}

size_t qdq_first_beyond(qdq_dtype dtype, const void *elements, size_t n) {
    enum { BLOCK = 4096 };
    if (!qdq_dtype_is_packed(dtype)) return SIZE_MAX;
    const qdq_dtype_info *info = &rows[dtype].info;
    const uint8_t *bytes = elements;
    int least = info->kind == QDQ_KIND_INT ? (int)info->least : 0;
    int greatest = info->kind == QDQ_KIND_INT ? (int)info->greatest : (1 << info->bits) - 1;
    uint8_t base = (uint8_t)least, span = (uint8_t)(greatest - least);
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t end = n - at < BLOCK ? n : at + BLOCK;
        if (!any_beyond(bytes + at, end - at, base, span)) continue;
        while (!any_beyond(bytes + at, 1, base, span)) at++;
        return at;
    }
    return SIZE_MAX;
}

bool qdq_dtype_is_whole(qdq_dtype dtype) {
    return qdq_dtype_get(dtype) && !qdq_dtype_is_real(dtype);
}

void qdq_widen_float(qdq_dtype dtype, const void *data, float *out, size_t n) {
    QDQ_FIXED_ENVIRONMENT;
    if (qdq_dtype_get(dtype) && data && out) qdq_decode_float(dtype, data, out, n);
}

void qdq_widen_int(qdq_dtype dtype, const void *data, int32_t *out, size_t n) {
    QDQ_FIXED_ENVIRONMENT;
    if (qdq_dtype_is_whole(dtype) && data && out) qdq_decode_int(dtype, data, out, n);
}
