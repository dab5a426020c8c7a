// SPDX-License-Identifier: Apache-2.0
#include "runtime/dtype.h"

//---- Codecs: one decode and one encode per row of QDQ_DTYPES ----------------

#define NAN_BITS 0x7F800000u  // magnitudes above this are NaN

uint16_t qdq_bfloat16_encode(float value) {
    uint32_t bits = qdq_float_bits(value);
    if ((bits & 0x7FFFFFFFu) > NAN_BITS)
        return (uint16_t)(bits >> 16 | ((bits & 0x007F0000u) ? 0 : 0x40));
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

// ttnn.md 4, device packer: nearest, half away; denormals and -0 to +0, NaN to infinity.
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

static void encode_float32(const float *in, void *y, size_t n, qdq_bfloat16_store store) {
    (void)store;
    memcpy(y, in, n * 4);
}

static void decode_bfloat16(const void *x, float *out, size_t n) {
    const uint16_t *codes = x;
    for (size_t i = 0; i < n; i++) out[i] = qdq_bfloat16_decode(codes[i]);
}

static void encode_bfloat16(const float *in, void *y, size_t n, qdq_bfloat16_store store) {
    uint16_t *codes = y;
    switch (store) {
    case QDQ_BFLOAT16_DEVICE:
        for (size_t i = 0; i < n; i++) codes[i] = bfloat16_encode_device(in[i]);
        break;
    case QDQ_BFLOAT16_TRUNCATE:
        for (size_t i = 0; i < n; i++) codes[i] = bfloat16_encode_truncate(in[i]);
        break;
    case QDQ_BFLOAT16_HALF_EVEN:
    default:
        for (size_t i = 0; i < n; i++) codes[i] = qdq_bfloat16_encode(in[i]);
    }
}

static void decode_int8(const void *x, int32_t *out, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = (int)((const int8_t *)x)[i];
}

static void encode_int8(const int32_t *in, void *y, size_t n) {
    for (size_t i = 0; i < n; i++) ((int8_t *)y)[i] = (int8_t)in[i];
}

static void decode_uint8(const void *x, int32_t *out, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = ((const uint8_t *)x)[i];
}

static void encode_uint8(const int32_t *in, void *y, size_t n) {
    for (size_t i = 0; i < n; i++) ((uint8_t *)y)[i] = (uint8_t)in[i];
}

static void decode_int32(const void *x, int32_t *out, size_t n) { memcpy(out, x, n * 4); }

static void encode_int32(const int32_t *in, void *y, size_t n) { memcpy(y, in, n * 4); }

//---- The table --------------------------------------------------------------

typedef struct row {
    qdq_dtype_info info;
    void (*decode_float)(const void *x, float *out, size_t n);
    void (*encode_float)(const float *in, void *y, size_t n, qdq_bfloat16_store store);
    void (*decode_int)(const void *x, int32_t *out, size_t n);
    void (*encode_int)(const int32_t *in, void *y, size_t n);
} row;

#define CODEC_FLOAT(name) .decode_float = decode_##name, .encode_float = encode_##name
#define CODEC_INT(name) .decode_int = decode_##name, .encode_int = encode_##name
#define ROW(E, name, bits, kind, least, greatest, safetensors, npy)                 \
    [QDQ_##E] = {{#name, bits, QDQ_KIND_##kind, least, greatest, safetensors, npy}, \
                 CODEC_##kind(name)},

static const row rows[QDQ_DTYPE_COUNT] = {QDQ_DTYPES(ROW)};

//---- Facts ------------------------------------------------------------------

const qdq_dtype_info *qdq_dtype_get(qdq_dtype dtype) {
    if (dtype <= QDQ_DTYPE_NONE || dtype >= QDQ_DTYPE_COUNT) return NULL;
    return &rows[dtype].info;
}

qdq_dtype qdq_dtype_from_name(const char *name) {
    for (int i = QDQ_DTYPE_NONE + 1; i < QDQ_DTYPE_COUNT; i++)
        if (strcmp(name, rows[i].info.name) == 0) return (qdq_dtype)i;
    return QDQ_DTYPE_NONE;
}

const char *qdq_dtype_name(qdq_dtype dtype) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    return info ? info->name : "none";
}

size_t qdq_dtype_size(qdq_dtype dtype) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    return info ? (size_t)(info->bits + 7) / 8 : 0;
}

bool qdq_dtype_is_float(qdq_dtype dtype) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    return info && info->kind == QDQ_KIND_FLOAT;
}

bool qdq_dtype_is_int(qdq_dtype dtype) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    return info && info->kind == QDQ_KIND_INT;
}

size_t qdq_shape_count(qdq_shape shape) {
    size_t count = 1;
    for (int i = 0; i < shape.rank; i++) count *= (size_t)shape.dims[i];
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
    int32_t ints[256];
    for (size_t at = 0; at < n; at += 256) {
        size_t part = n - at < 256 ? n - at : 256;
        rows[dtype].decode_int((const char *)x + at * qdq_dtype_size(dtype), ints, part);
        for (size_t i = 0; i < part; i++) out[at + i] = (float)ints[i];
    }
}

void qdq_encode_float(qdq_dtype dtype, const float *in, void *y, size_t n,
                      qdq_bfloat16_store store) {
    rows[dtype].encode_float(in, y, n, store);
}

float qdq_round_to_dtype(qdq_dtype dtype, float value, qdq_bfloat16_store store) {
    unsigned char code[8];
    rows[dtype].encode_float(&value, code, 1, store);
    rows[dtype].decode_float(code, &value, 1);
    return value;
}

void qdq_widen_float(qdq_dtype dtype, const void *data, float *out, size_t n) {
    qdq_decode_float(dtype, data, out, n);
}

void qdq_widen_int(qdq_dtype dtype, const void *data, int32_t *out, size_t n) {
    qdq_decode_int(dtype, data, out, n);
}
