// SPDX-License-Identifier: Apache-2.0
// Types that every other header uses: status and errors, memory, element types, shapes, limits.
//
// Calls that read, write or compute numbers round to nearest and keep denormals in any
// floating-point environment, and restore the caller's environment before they return.
//
// Every function accepts NULL for any pointer and any number for an enum. Unless its comment says
// otherwise, a function with an `err` (which may be NULL) then fails with QDQ_ERR_ARGUMENT; other
// functions return NULL, 0, false or a struct of zeros, or do nothing.
#ifndef QDQ_BASE_H
#define QDQ_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define QDQ_API __attribute__((visibility("default")))
#else
#define QDQ_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

//---- Version ----------------------------------------------------------------

// Returns "MAJOR.MINOR.PATCH" of the running library.
QDQ_API const char *qdq_version(void);

//---- Status and errors ------------------------------------------------------

// A status says who must act.
typedef enum qdq_status {
    QDQ_OK = 0,
    QDQ_ERR_ARGUMENT,     // the caller: a wrong name, dtype, count or option
    QDQ_ERR_PARSE,        // the file does not have the format that it claims
    QDQ_ERR_GRAPH,        // the model: the graph breaks a core rule
    QDQ_ERR_UNSUPPORTED,  // the target refuses the graph, or the library lacks a feature that it
                          // needs
    QDQ_ERR_IO,           // the system: a file cannot be opened, read or written
    QDQ_ERR_MEMORY,       // an allocation failed
    QDQ_ERR_LIMIT,        // a cap of qdq_limits was hit; raise it if the input is trusted
} qdq_status;

// Why a call failed: one sentence in caller-owned memory. Initialize it to {0}. The first failure
// wins: a call that finds `status` already set leaves the text alone.
typedef struct qdq_error {
    qdq_status status;
    char text[1024];  // UTF-8, NUL-terminated, cut with "..." when too long
} qdq_error;

// Receives messages that are neither results nor errors (never called on hot paths). A NULL `write`
// drops them. `text` is one line without a newline, valid during the call.
typedef struct qdq_logger {
    void (*write)(void *self, const char *text);
    void *self;
} qdq_logger;

//---- Memory -----------------------------------------------------------------

// The source of memory. A NULL allocator, or one with NULL functions, means the C library. Any
// thread that calls into the library may call both functions, but never from inside qdq_exec_run.
// Must outlive the memory that it allocates.
typedef struct qdq_allocator {
    // Returns at least `size` bytes (never 0) aligned to `align` (a power of two), or NULL.
    void *(*alloc)(void *self, size_t size, size_t align);
    // `size` is the size that `alloc` was called with. `ptr` is never NULL.
    void (*free)(void *self, void *ptr, size_t size);
    void *self;
} qdq_allocator;

//---- Element types ----------------------------------------------------------

// One row per element type; every other list of element types is generated from this one.
// X(enumerator, name, bits, kind, least, greatest, name in safetensors, name in .npy)
// `least` and `greatest` bound integer types, as far as int64_t can: uint64 goes on to 2^64 - 1.
// Float rows leave them 0. Safetensors and .npy files
// store types narrower than a byte as one byte per element. A .npy name of "" means that the format
// lacks the type: its elements are widened to float32. Block floats are float32 except in tiles.
// clang-format off
#define QDQ_DTYPES(X)                                                                            \
    X(FLOAT32,         float32,         32, FLOAT,       0,         0,         "F32",  "<f4")    \
    X(FLOAT16,         float16,         16, FLOAT,       0,         0,         "F16",  "<f2")    \
    X(BFLOAT16,        bfloat16,        16, FLOAT,       0,         0,         "BF16", "")       \
    X(INT8,            int8,             8, INT,         -128,      127,       "I8",   "|i1")    \
    X(UINT8,           uint8,            8, INT,         0,         255,       "U8",   "|u1")    \
    X(INT4,            int4,             4, INT,         -8,        7,         "I8",   "|i1")    \
    X(UINT4,           uint4,            4, INT,         0,         15,        "U8",   "|u1")    \
    X(INT16,           int16,           16, INT,         -32768,    32767,     "I16",  "<i2")    \
    X(UINT16,          uint16,          16, INT,         0,         65535,     "U16",  "<u2")    \
    X(INT32,           int32,           32, INT,         INT32_MIN, INT32_MAX, "I32",  "<i4")    \
    X(BOOL,            bool,             8, BOOL,        0,         1,         "BOOL", "|b1")    \
    X(FLOAT8_E4M3FN,   float8_e4m3fn,    8, SMALL_FLOAT, 0,         0,         "F8_E4M3", "")    \
    X(FLOAT8_E5M2,     float8_e5m2,      8, SMALL_FLOAT, 0,         0,         "F8_E5M2", "")    \
    X(BFLOAT8_B,       bfloat8_b,        8, BLOCK_FLOAT, 0,         0,         "F32",  "")       \
    X(BFLOAT4_B,       bfloat4_b,        4, BLOCK_FLOAT, 0,         0,         "F32",  "")       \
    X(FLOAT4_E2M1,     float4_e2m1,      4, SMALL_FLOAT, 0,         0,         "U8",   "")       \
    X(FLOAT8_E8M0,     float8_e8m0,      8, EXPONENT,    0,         0,         "F8_E8M0", "")    \
    X(INT2,            int2,             2, INT,         -2,        1,         "I8",   "|i1")    \
    X(UINT2,           uint2,            2, INT,         0,         3,         "U8",   "|u1")    \
    X(FLOAT8_E4M3FNUZ, float8_e4m3fnuz,  8, SMALL_FLOAT, 0,         0,         "F8_E4M3FNUZ", "")\
    X(FLOAT8_E5M2FNUZ, float8_e5m2fnuz,  8, SMALL_FLOAT, 0,         0,         "F8_E5M2FNUZ", "")\
    X(INT64,           int64,           64, WIDE_INT,    INT64_MIN, INT64_MAX, "I64",  "<i8")    \
    X(UINT32,          uint32,          32, WIDE_INT,    0,         UINT32_MAX, "U32", "<u4")    \
    X(UINT64,          uint64,          64, WIDE_INT,    0,         INT64_MAX, "U64",  "<u8")    \
    X(FLOAT64,         float64,         64, WIDE_FLOAT,  0,         0,         "F64",  "<f8")
// clang-format on

typedef enum qdq_dtype {
    QDQ_DTYPE_NONE = 0,  // "not given": each field and call has its own default
#define QDQ_DTYPE_ENUMERATOR(E, name, bits, kind, least, greatest, safetensors, npy) QDQ_##E,
    QDQ_DTYPES(QDQ_DTYPE_ENUMERATOR)
#undef QDQ_DTYPE_ENUMERATOR
        QDQ_DTYPE_COUNT
} qdq_dtype;

typedef enum qdq_dtype_kind {
    QDQ_KIND_FLOAT,        // ops compute on these
    QDQ_KIND_SMALL_FLOAT,  // results of Quantize: float8, float4
    QDQ_KIND_BLOCK_FLOAT,  // 16 elements in a row of a tile share an exponent
    QDQ_KIND_EXPONENT,     // powers of two, used as scales
    QDQ_KIND_INT,
    QDQ_KIND_BOOL,
    QDQ_KIND_WIDE_INT,    // integers beyond int32: indices, sizes, seeds
    QDQ_KIND_WIDE_FLOAT,  // float64
} qdq_dtype_kind;

// A row of QDQ_DTYPES. `bits` is the width in memory. The API holds an element in (bits + 7) / 8
// bytes, so a type narrower than a byte takes a whole byte: an integer as an (u)int8, float4 as its
// code. For a block float, `bits` is the width of a code in a tile, and the API holds a float32.
typedef struct qdq_dtype_info {
    const char *name;
    int bits;
    qdq_dtype_kind kind;
    int64_t least, greatest;
    const char *safetensors;
    const char *npy;
} qdq_dtype_info;

// Returns the row of `dtype`; NULL for QDQ_DTYPE_NONE and for numbers that are not a dtype.
QDQ_API const qdq_dtype_info *qdq_dtype_get(qdq_dtype dtype);
// Returns the dtype called `name`; QDQ_DTYPE_NONE if no dtype has this name or `name` is NULL.
QDQ_API qdq_dtype qdq_dtype_from_name(const char *name);
// Returns the name; "none" for QDQ_DTYPE_NONE and for numbers that are not a dtype.
QDQ_API const char *qdq_dtype_name(qdq_dtype dtype);
// Returns the bytes of one element in the API: (bits + 7) / 8, or 4 for a block float; 0 if `dtype`
// is invalid.
QDQ_API size_t qdq_dtype_size(qdq_dtype dtype);

// True if elements can have a fraction (kinds FLOAT, SMALL_FLOAT, BLOCK_FLOAT, EXPONENT,
// WIDE_FLOAT).
QDQ_API bool qdq_dtype_is_real(qdq_dtype dtype);

// Convert n elements, stored in `data` as everywhere in the API. qdq_widen_float takes the dtypes
// of qdq_dtype_is_real, qdq_widen_int takes all others; a wrong dtype writes nothing. Both are
// exact, except that qdq_widen_float rounds float64, and qdq_widen_int clamps uint32, int64 and
// uint64 to int32_t.
QDQ_API void qdq_widen_float(qdq_dtype dtype, const void *data, float *out, size_t n);
QDQ_API void qdq_widen_int(qdq_dtype dtype, const void *data, int32_t *out, size_t n);
// Like qdq_widen_int, but exact for all: uint64 keeps its 64 bits, so from 2^63 on `out` is
// negative until it is converted to uint64_t.
QDQ_API void qdq_widen_int64(qdq_dtype dtype, const void *data, int64_t *out, size_t n);
// Like qdq_widen_float, but exact for float64 too.
QDQ_API void qdq_widen_float64(qdq_dtype dtype, const void *data, double *out, size_t n);

//---- Shapes -----------------------------------------------------------------

#define QDQ_MAX_RANK 8

// Dims from outermost to innermost; all zero is a scalar (rank 0, one element). Dims are >= 1.
typedef struct qdq_shape {
    int rank;  // 0..QDQ_MAX_RANK
    int64_t dims[QDQ_MAX_RANK];
} qdq_shape;

// QDQ_SHAPE(2, 3): a 2x3 shape. The empty shape is (qdq_shape){0}, in C++ qdq_shape{}.
#ifndef __cplusplus
#define QDQ_SHAPE(...) \
    ((qdq_shape){(int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), {__VA_ARGS__}})
#else
#define QDQ_SHAPE(...)                                          \
    ([](auto... qdq_dims) {                                     \
        return qdq_shape{static_cast<int>(sizeof...(qdq_dims)), \
                         {static_cast<int64_t>(qdq_dims)...}};  \
    }(__VA_ARGS__))
#endif

// True if two shapes have the same rank, in 0..QDQ_MAX_RANK, and the same dims.
QDQ_API bool qdq_shape_equal(qdq_shape a, qdq_shape b);
// Returns the number of elements in a shape (1 for a scalar), which must fit a size_t; 0 if the
// rank or a dim is illegal.
QDQ_API size_t qdq_shape_count(qdq_shape shape);

// Describes a row-major tensor: `bytes` is qdq_shape_count(shape) * qdq_dtype_size(dtype).
typedef struct qdq_tensor_info {
    const char *name;
    qdq_dtype dtype;
    qdq_shape shape;
    size_t bytes;
} qdq_tensor_info;

//---- Limits -----------------------------------------------------------------

// Limits on the resources that a graph may ask for; 0 means the default. Callers can raise them,
// files cannot.
typedef struct qdq_limits {
    size_t file_bytes;   // of a JSON file; default 64 MiB
    size_t json_values;  // JSON values in a file; default 1,000,000
    size_t elements;     // of one tensor; default 2^31
    // Storage. For a graph: inputs, outputs and constants together. For a plan: constants in their
    // stored form, arena, inputs, outputs and scratch together. Default 8 GiB, or SIZE_MAX / 2 on
    // 32-bit machines.
    size_t bytes;
    size_t findings;    // errors that a report keeps, and also warnings; default 100 of each
    size_t operations;  // in a run, as qdq_plan_stats counts them; default: unlimited
} qdq_limits;

#ifdef __cplusplus
}
#endif
#endif
