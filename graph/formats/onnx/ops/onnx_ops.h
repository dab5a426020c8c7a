// SPDX-License-Identifier: Apache-2.0
// The table of ONNX's ops, and the functions that convert ops which differ in more than the name.
#ifndef QDQ_GRAPH_FORMATS_ONNX_OPS_ONNX_OPS_H
#define QDQ_GRAPH_FORMATS_ONNX_OPS_ONNX_OPS_H

#include "graph/formats/onnx/onnx_tensor.h"
#include "graph/formats/onnx/ops/onnx_call.h"

enum {
    QDQ_ONNX_MOST_PORTS = 10,
    QDQ_ONNX_MOST_ATTRS = 3,
    QDQ_ONNX_ALL = 255,
    QDQ_ONNX_FIRST = 7,
    QDQ_ONNX_LAST = 27
};

// An attribute that ONNX and qdq share: a float, an int, an int that is a bool here, or a word.
typedef struct qdq_onnx_attr_row {
    const char *name, *ours;  // ours NULL: the same
    char kind;                // 'f', 'i', 'b', 'w'; 0: no row
    double otherwise;         // a word that is not given is our default
} qdq_onnx_attr_row;

// One op of a domain, from version `since` on. The last row that fits a node wins. `convert` NULL:
// the op is ours with these ports and attributes.
typedef struct qdq_onnx_op {
    const char *domain, *name;  // "" is ai.onnx
    int since;
    size_t least;      // inputs that must be given; QDQ_ONNX_ALL: each
    const char *ours;  // our op, or a formula of our ops (onnx_formula.h)
    void (*convert)(qdq_onnx_node *node, const struct qdq_onnx_op *row);
    const char *ports[QDQ_ONNX_MOST_PORTS];  // of input 0, 1, ...
    qdq_onnx_attr_row attrs[QDQ_ONNX_MOST_ATTRS];
} qdq_onnx_op;

// Returns the row of an op, or NULL; then *exists is true if other versions have a row.
const qdq_onnx_op *qdq_onnx_find_op(const char *domain, const char *name, int64_t version,
                                    bool *exists);

// Returns the first row of ai.onnx that is our op `ours`, or NULL: ONNX's name for it.
const qdq_onnx_op *qdq_onnx_row_of(const char *ours);

typedef void qdq_onnx_convert(qdq_onnx_node *node, const qdq_onnx_op *row);

#define QDQ_ONNX_TENSORRT "trt"  // the domain of TensorRT's own ops

// A quantizing op of TensorRT: what its name says.
typedef struct qdq_onnx_trt_form {
    const char *name, *ours;
    qdq_dtype codes;
    const char *scheme;  // of computed scales; NULL: they are given
    int64_t block;       // block_size without the attribute; 0: none
    bool powers;         // scales are float8_e8m0
} qdq_onnx_trt_form;

// Returns the form of our op `ours` with these codes, of computed scales by their scheme, else with
// scales of float8_e8m0. NULL: there is none.
const qdq_onnx_trt_form *qdq_onnx_trt_form_of(const char *ours, qdq_dtype codes,
                                              const char *scheme);

// onnx_trt.c
qdq_onnx_convert qdq_onnx_trt_quantize, qdq_onnx_trt_dequantize, qdq_onnx_trt_dynamic_quantize;
// onnx_quantize.c
qdq_onnx_convert qdq_onnx_quantize, qdq_onnx_dequantize, qdq_onnx_dynamic_quantize, qdq_onnx_cast,
    qdq_onnx_cast_like, qdq_onnx_matmul_integer, qdq_onnx_conv_integer, qdq_onnx_scaled_matmul,
    qdq_onnx_dynamic_matmul;
// onnx_network.c
qdq_onnx_convert qdq_onnx_pairs, qdq_onnx_mean, qdq_onnx_where, qdq_onnx_pow, qdq_onnx_bit_shift,
    qdq_onnx_clip, qdq_onnx_gelu, qdq_onnx_prelu, qdq_onnx_gemm, qdq_onnx_qlinear_where;
// onnx_slices.c
qdq_onnx_convert qdq_onnx_softmax, qdq_onnx_reduce, qdq_onnx_global_pool, qdq_onnx_top_k,
    qdq_onnx_hardmax;
// onnx_composed.c
qdq_onnx_convert qdq_onnx_lp_norm, qdq_onnx_global_lp_pool, qdq_onnx_instance_norm,
    qdq_onnx_mean_variance, qdq_onnx_lrn, qdq_onnx_skip_norm, qdq_onnx_qlinear_global_pool,
    qdq_onnx_qlinear_softmax, qdq_onnx_qlinear_concat, qdq_onnx_fused_matmul;
// onnx_nbits.c
qdq_onnx_convert qdq_onnx_matmul_nbits;
// onnx_recurrent.c
qdq_onnx_convert qdq_onnx_recurrent;
// onnx_norm.c
qdq_onnx_convert qdq_onnx_layer_norm, qdq_onnx_rms_norm, qdq_onnx_group_norm, qdq_onnx_batch_norm;
// onnx_move.c
qdq_onnx_convert qdq_onnx_concat, qdq_onnx_reshape, qdq_onnx_transpose, qdq_onnx_identity,
    qdq_onnx_dropout;
// onnx_index.c
qdq_onnx_convert qdq_onnx_slice, qdq_onnx_split, qdq_onnx_pad, qdq_onnx_expand, qdq_onnx_tile,
    qdq_onnx_space_to_depth, qdq_onnx_trilu, qdq_onnx_eye_like, qdq_onnx_one_hot, qdq_onnx_cum_sum,
    qdq_onnx_constant_of_shape, qdq_onnx_range;
// onnx_windows.c
qdq_onnx_convert qdq_onnx_conv, qdq_onnx_fused_conv, qdq_onnx_conv_transpose, qdq_onnx_max_pool,
    qdq_onnx_average_pool, qdq_onnx_lp_pool, qdq_onnx_qlinear_average_pool;
// onnx_attention.c
qdq_onnx_convert qdq_onnx_attention;
// onnx_rotary.c
qdq_onnx_convert qdq_onnx_rotary_embedding;
// onnx_einsum.c
qdq_onnx_convert qdq_onnx_einsum;
// onnx_grid_sample.c
qdq_onnx_convert qdq_onnx_grid_sample;
// onnx_resize.c
qdq_onnx_convert qdq_onnx_resize_node, qdq_onnx_upsample;

// Begins a call of the row's op with its name, ports and attributes.
void qdq_onnx_begin_row(qdq_onnx_call *call, qdq_onnx_node *node, const qdq_onnx_op *row);

// Strides, dilations, padding and, where asked, groups of a window. False after a refusal.
bool qdq_onnx_set_windows(qdq_onnx_call *call, bool groups);

// Reads a list of int64 at input i, or else of attribute `name`: axes, shapes. False after a
// refusal, if the input is not constant; count 0 if neither is given.
bool qdq_onnx_list_of(qdq_onnx_node *node, size_t i, const char *name, qdq_ints *out);

// Reads the integer at input i; *out stays if it is not given. False after a refusal.
bool qdq_onnx_int_at_input(qdq_onnx_node *node, size_t i, const char *name, int64_t *out);

// Counts `axis` from the front; refuses an axis outside of [-rank, rank).
bool qdq_onnx_axis(qdq_onnx_node *node, int64_t axis, int rank, int *out);

// Finds the shapes that Reshape, Flatten, Squeeze and Unsqueeze give to `x`. False after a refusal.
bool qdq_onnx_new_shape(qdq_onnx_node *node, qdq_shape *out);

#endif
