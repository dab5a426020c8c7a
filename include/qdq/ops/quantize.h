// SPDX-License-Identifier: Apache-2.0
// Ops that change the codes of a tensor: Quantize, Dequantize, DynamicQuantize, Requantize, Cast.
#ifndef QDQ_OPS_QUANTIZE_H
#define QDQ_OPS_QUANTIZE_H

#include <qdq/ops/node.h>

#ifdef __cplusplus
extern "C" {
#endif

//---- Quantize, Dequantize, DynamicQuantize ----------------------------------

// Which elements share a scale and a zero point. QDQ_PER_TENSOR says nothing: an axis beside
// several scales then means per_channel; a group_shape, or a scale without axis that has the rank
// of x and divides its dims, means per_group.
typedef enum qdq_qtype {
    QDQ_PER_TENSOR = 0,
    QDQ_PER_CHANNEL,  // elements with the same index on `axis`
    QDQ_PER_GROUP,    // elements in the same block of `group_shape`
} qdq_qtype;

// The meaning of a zero point.
typedef enum qdq_domain {
    QDQ_DOMAIN_INT = 0,  // the code of real 0
    QDQ_DOMAIN_FLOAT,    // the real value of code (quant_min + quant_max + 1) / 2
    QDQ_DOMAIN_NONE,     // no zero point may be given
} qdq_domain;

// Exactly one of `scale` and `scales` gives the scale, and at most one of `zero_point` and `zps`
// the zero point, which is 0 if neither does.
typedef struct qdq_quantize_attrs {
    const char *name;      // of the node; NULL: generated
    qdq_value x;           // set by the call. Quantize: float or int32; Dequantize: any dtype that
                           // Quantize returns
    qdq_value scale;       // float; [] or [1], [dim] or the block grid, by qtype
    qdq_value zero_point;  // integer, or a float constant of whole numbers (float domain: float);
                           // one element, or the shape of the scale; 0 for float types
    qdq_qtype qtype;
    qdq_int axis;          // per_channel, in [-rank, rank - 1]; default 1
    qdq_ints group_shape;  // per_group: one entry per dim, 1..dim, -1 is the whole dim
    qdq_floats scales;     // 1, dim[axis], or one per block in row-major order of the block grid
    qdq_numbers zps;       // one (serves all) or as many as scales
    qdq_dtype dtype;       // of y; default: the target's choice (core: int8, Dequantize bfloat16)
    qdq_int quant_min;     // a narrower clamp range; default: dtype's range. Dequantize: no effect.
    qdq_int quant_max;     // Whole, for integers; target torchao: also fractions, and for float8
    qdq_bool saturate;     // float8 results: clamp to the largest value, else NaN or infinity;
                           // default: the target's choice. Dequantize and integers: no effect
    qdq_domain zero_point_domain;
    qdq_value output_tensor;  // target ttnn: the value in whose buffer y is written; it has the
                              // type of y. No result depends on it. DynamicQuantize: no effect
    qdq_int queue_id;         // has no effect
} qdq_quantize_attrs;

typedef qdq_quantize_attrs qdq_dequantize_attrs;

// y = clamp(round(x / scale) + zero_point), of x's shape.
static inline qdq_value qdq_quantize(qdq_graph *graph, qdq_value x, qdq_quantize_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "Quantize", &attrs, sizeof attrs);
}

// y = (x - zero_point) * scale, of x's shape.
static inline qdq_value qdq_dequantize(qdq_graph *graph, qdq_value x, qdq_dequantize_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "Dequantize", &attrs, sizeof attrs);
}

// How DynamicQuantize computes its parameters.
typedef enum qdq_scheme {
    QDQ_ASYMMETRIC = 0,         // lo = min(0, x), hi = max(0, x): scale (hi - lo) / (qmax - qmin)
    QDQ_SYMMETRIC,              // scale max|x| / qmax, zero point 0
    QDQ_SYMMETRIC_NO_CLIPPING,  // scale max(lo / qmin, hi / qmax), zero point 0
    // MX: a power of two (float8_e8m0) from the largest |x| of a block; y is float8 or float4.
    QDQ_MX_FLOOR,
    QDQ_MX_CEIL,
    QDQ_MX_EVEN,
    QDQ_MX_RCEIL,
    QDQ_NVFP4,  // scale max|x| / 6 / global_scale as float8_e4m3fn; y is float4_e2m1
} qdq_scheme;

typedef struct qdq_dynamic_quantize_attrs {
    qdq_quantize_attrs quantize;  // with a scale: works like Quantize and returns only y
    qdq_scheme scheme;            // without a scale: how the parameters come from the data
    qdq_float eps;                // least scale, > 0; default: the target's choice
    qdq_value global_scale;       // nvfp4: one float that scales the scales; default 1
    qdq_floats global_scales;     // the same as a constant
    qdq_dtype scale_dtype;  // without a scale: the dtype to which the computed scale is rounded,
                            // float32 (default), float16 or bfloat16; mx_... and nvfp4: only their
                            // own
} qdq_dynamic_quantize_attrs;

// Returns y, and without a given scale also: scale (of `scale_dtype` or the scheme's own dtype; [],
// [dim] or the block grid) and zero_point (of y's dtype, same shape); get them by qdq_port(g, y,
// "scale").
static inline qdq_value qdq_dynamic_quantize(qdq_graph *graph, qdq_value x,
                                             qdq_dynamic_quantize_attrs attrs) {
    attrs.quantize.x = x;
    return qdq_add_node(graph, "DynamicQuantize", &attrs, sizeof attrs);
}

//---- Requantize -------------------------------------------------------------

// A qtype that may be left out: QDQ_QTYPE(QDQ_PER_CHANNEL).
typedef struct qdq_maybe_qtype {
    float set;  // 0 or QDQ_GIVEN
    qdq_qtype value;
} qdq_maybe_qtype;

#ifndef __cplusplus
#define QDQ_QTYPE(v) ((qdq_maybe_qtype){QDQ_GIVEN, (v)})
#else
#define QDQ_QTYPE(v) (qdq_maybe_qtype{QDQ_GIVEN, (v)})
#endif

// How Requantize rounds x' * multiplier * 2^-shift, with x' = x - in_zero_point. docs/numerics.md
// has the formulas.
typedef enum qdq_fixed_rounding {
    QDQ_FIXED_SINGLE = 0,  // (x' * multiplier + 2^(shift - 1)) >> shift, in exact integers
    QDQ_FIXED_DOUBLE,      // the high half of the product, then a shift half away from zero
    QDQ_FIXED_UP,          // the high half of the product, then a shift half up
    QDQ_FIXED_FLOAT32,     // half even of fl(fl(x') * fl(multiplier * 2^-shift))
    QDQ_FIXED_FLOAT64,     // half away from zero of the same product in float64
    QDQ_FIXED_INEXACT,     // TOSA's INEXACT_ROUND leaves it to the device; computed as `single`
} qdq_fixed_rounding;

// Converts from one set of parameters to another. Each side is per tensor (one element) or per
// channel along `axis`, independently of the other. In place of both scales, `multiplier` and
// `shift` give their quotient in fixed point.
typedef struct qdq_requantize_attrs {
    const char *name;
    qdq_value x;  // an integer, or a float that holds integers (`dtype` is then required); int64
                  // with a multiplier only, which takes no float
    qdq_value in_scale, in_zero_point, out_scale, out_zero_point;
    qdq_floats in_scales;
    qdq_numbers in_zps;
    qdq_floats out_scales;
    qdq_numbers out_zps;
    qdq_int axis;           // required if a side has more than one element
    qdq_maybe_qtype qtype;  // per_tensor or per_channel; must agree with the counts
    qdq_dtype dtype;        // of y; default: the target's choice (core: the dtype of x)
    qdq_int quant_min;
    qdq_int quant_max;
    qdq_value output_tensor;  // as for Quantize
    qdq_int queue_id;         // has no effect
    qdq_numbers multiplier;   // whole numbers, 1 or dim[axis] (QDQ_ZP, QDQ_ZPS); with `shift`, in
    qdq_numbers shift;        // place of scales: the scale is multiplier * 2^-shift
    qdq_fixed_rounding rounding;  // with a multiplier
} qdq_requantize_attrs;

static inline qdq_value qdq_requantize(qdq_graph *graph, qdq_value x, qdq_requantize_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "Requantize", &attrs, sizeof attrs);
}

//---- Cast -------------------------------------------------------------------

// How a number between two powers of two is rounded to one of them.
typedef enum qdq_cast_rounding {
    QDQ_CAST_ROUND_UP = 0,   // to the greater
    QDQ_CAST_ROUND_DOWN,     // to the lesser
    QDQ_CAST_ROUND_NEAREST,  // to the nearer; halfway: to the greater
} qdq_cast_rounding;

typedef struct qdq_cast_attrs {
    const char *name;
    qdq_value x;                   // any dtype
    qdq_dtype dtype;               // of y, any; required
    qdq_bool saturate;             // float8: clamp to the largest value, else NaN or infinity;
                                   // default: the target's choice. float8_e8m0: clamp, else NaN;
                                   // default true
    qdq_cast_rounding round_mode;  // float8_e8m0 only
} qdq_cast_attrs;

// y = x converted to `dtype`, of x's shape.
static inline qdq_value qdq_cast(qdq_graph *graph, qdq_value x, qdq_cast_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "Cast", &attrs, sizeof attrs);
}

//---- Table ------------------------------------------------------------------

typedef struct qdq_table_attrs {
    const char *name;
    qdq_value x;      // int8, uint8 or int16
    qdq_value table;  // [256], the result of the least code first: int8, uint8, int16, uint16,
                      // int32 or float32. x int16: [513] of int16, for the codes -32768 + 128 * i
} qdq_table_attrs;

// y = table[x], of x's shape and the dtype of the table. x int16: 128 times the line between the
// results of the codes around x, int32.
static inline qdq_value qdq_table(qdq_graph *graph, qdq_value x, qdq_value table,
                                  qdq_table_attrs attrs) {
    attrs.x = x, attrs.table = table;
    return qdq_add_node(graph, "Table", &attrs, sizeof attrs);
}

#ifdef __cplusplus
}
#endif
#endif
