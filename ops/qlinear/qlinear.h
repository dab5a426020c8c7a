// SPDX-License-Identifier: Apache-2.0
// Shared by the QLinear ops: codes of one 8-bit dtype, each operand followed by its scale and zero
// point, which are one element each and are read when the op runs.
#ifndef QDQ_OPS_QLINEAR_QLINEAR_H
#define QDQ_OPS_QLINEAR_QLINEAR_H

#include "ops/infer.h"
#include "ops/spatial/window.h"
#include "runtime/numerics/qlinear_one.h"

#define QDQ_SET_BYTES (QDQ_SET(INT8) | QDQ_SET(UINT8))

// The ports of an operand, or of the result without its codes, in the tables of an op.
#define QDQ_QLINEAR_SCALE_PORTS(attrs, name)                                         \
    {#name "_scale", offsetof(attrs, name##_scale), false, QDQ_SET(FLOAT32)}, {      \
#name "_zero_point", offsetof(attrs, name##_zero_point), true, QDQ_SET_BYTES \
    }
#define QDQ_QLINEAR_PORTS(attrs, name) \
    {#name, offsetof(attrs, name), false, QDQ_SET_BYTES}, QDQ_QLINEAR_SCALE_PORTS(attrs, name)

// Reports findings about the scale at input `scale` and the zero point after it.
void qdq_qlinear_check(const qdq_op_context *ctx, size_t scale);

// The inputs that hold the parameters of an operand.
typedef struct qdq_qlinear_source {
    size_t scale, zero_point;                 // inputs
    qdq_dtype scale_dtype, zero_point_dtype;  // zero_point_dtype NONE: not given, 0
} qdq_qlinear_source;

qdq_qlinear_source qdq_qlinear_source_of(const qdq_op_context *ctx, size_t scale);

// Returns the parameters of this run.
qdq_qlinear_quant qdq_qlinear_read(const qdq_qlinear_source *source, const qdq_tensors *tensors);

qdq_qlinear_range qdq_qlinear_range_of(qdq_dtype dtype);

// Returns a code as an integer.
static inline int32_t qdq_qlinear_code(bool is_signed, uint8_t byte) {
    return is_signed ? (int8_t)byte : byte;
}

//---- Description of a stage of QLinearAdd and QLinearMul --------------------

typedef struct qdq_qlinear_operand {
    size_t port;
    qdq_qlinear_source source;
    bool whole;                    // it has the shape of y
    size_t strides[QDQ_MAX_RANK];  // along the dims of y; 0: it is repeated
} qdq_qlinear_operand;

typedef struct qdq_qlinear_shown {
    qdq_qlinear_form form;
    qdq_dtype dtype;
    bool b_repeats;            // one code of b meets a run of codes of a
    qdq_qlinear_operand a, b;  // in the order in which they are added
    qdq_qlinear_source y;
    int rank;  // of y, with neighbouring dims joined
    size_t sizes[QDQ_MAX_RANK];
} qdq_qlinear_shown;

qdq_qlinear_shown qdq_qlinear_show(const qdq_stage *stage);

//---- The parameters of stages of means and softmax ---------------------------

// A spatial dim; missing dims, which come first, have one element.
typedef struct qdq_qlinear_axis {
    size_t in, out, kernel, stride, pad;
} qdq_qlinear_axis;

typedef struct qdq_qlinear_pool_params {
    qdq_dtype dtype;
    qdq_qlinear_form form;
    qdq_qlinear_source x, y;
    qdq_image image;
    bool of_images;  // a mean is of a whole image, and `axes` are not set
    bool channels_last, exclude_pad;
    qdq_qlinear_axis axes[QDQ_MAX_SPATIAL];
    size_t windows, count;  // of a plane; codes of y
} qdq_qlinear_pool_params;

typedef struct qdq_qlinear_softmax_params {
    qdq_dtype dtype;
    qdq_qlinear_form form;
    qdq_qlinear_source x, y;
    size_t length, stride;  // of a row: its codes, and the distance from one to the next
} qdq_qlinear_softmax_params;

#endif
