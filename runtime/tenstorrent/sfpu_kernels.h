// SPDX-License-Identifier: Apache-2.0
// Kernels of the vector unit (sfpu_ops.c has their table): functions of a register, before the
// result is rounded and stored. Names that end with _float32 are of kernels for a Dst of 32 bits.
#ifndef QDQ_RUNTIME_TENSTORRENT_SFPU_KERNELS_H
#define QDQ_RUNTIME_TENSTORRENT_SFPU_KERNELS_H

#include "runtime/tenstorrent/sfpu_ops.h"

typedef uint32_t qdq_sfpu_kernel(const qdq_sfpu_program *program, uint32_t x);

// sfpu_exp.c
qdq_sfpu_kernel qdq_sfpu_exp, qdq_sfpu_exp_approximate, qdq_sfpu_exp_float32;
// sfpu_activations.c
qdq_sfpu_kernel qdq_sfpu_sigmoid, qdq_sfpu_sigmoid_float32, qdq_sfpu_silu, qdq_sfpu_silu_float32;
qdq_sfpu_kernel qdq_sfpu_elu, qdq_sfpu_elu_from_exp, qdq_sfpu_elu_float32;
qdq_sfpu_kernel qdq_sfpu_tanh_from_sigmoid_float32, qdq_sfpu_mish;
qdq_sfpu_kernel qdq_sfpu_softplus, qdq_sfpu_softplus_tail;
// sfpu_tanh.c
qdq_sfpu_kernel qdq_sfpu_tanh, qdq_sfpu_tanh_float32, qdq_sfpu_tanh_six_segments;
qdq_sfpu_kernel qdq_sfpu_tanh_three_segments, qdq_sfpu_gelu_segments;
qdq_sfpu_kernel qdq_sfpu_sigmoid_three_segments, qdq_sfpu_sigmoid_six_segments;
// sfpu_erf.c
qdq_sfpu_kernel qdq_sfpu_erf, qdq_sfpu_erf_float32, qdq_sfpu_gelu, qdq_sfpu_gelu_float32;
// sfpu_roots.c
qdq_sfpu_kernel qdq_sfpu_sqrt, qdq_sfpu_sqrt_approximate;
qdq_sfpu_kernel qdq_sfpu_rsqrt, qdq_sfpu_rsqrt_approximate;
qdq_sfpu_kernel qdq_sfpu_reciprocal, qdq_sfpu_reciprocal_rounded, qdq_sfpu_reciprocal_float32;
// sfpu_log.c
qdq_sfpu_kernel qdq_sfpu_log, qdq_sfpu_log_of_normal, qdq_sfpu_log_from_1;
qdq_sfpu_kernel qdq_sfpu_log_from_1_approximate, qdq_sfpu_log_float32;
qdq_sfpu_kernel qdq_sfpu_log_approximate_float32, qdq_sfpu_log1p, qdq_sfpu_log1p_float32;
// sfpu_simple.c
qdq_sfpu_kernel qdq_sfpu_square, qdq_sfpu_leaky_relu, qdq_sfpu_relu, qdq_sfpu_relu6;
qdq_sfpu_kernel qdq_sfpu_hard_sigmoid, qdq_sfpu_hard_swish;
qdq_sfpu_kernel qdq_sfpu_trunc, qdq_sfpu_floor, qdq_sfpu_ceil, qdq_sfpu_round;
qdq_sfpu_kernel qdq_sfpu_abs, qdq_sfpu_neg, qdq_sfpu_sign;

#endif
