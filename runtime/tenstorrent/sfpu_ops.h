// SPDX-License-Identifier: Apache-2.0
// Elementary functions of ttnn as kernels of Tenstorrent's vector unit compute them, one element at
// a time (docs/device_arithmetic.md 9).
//
// A program names a function, a chip and a generation of kernels. Elements of bfloat16 go through a
// Dst of 16 bits and the packer, elements of float32 through a Dst of 32 bits.
#ifndef QDQ_RUNTIME_TENSTORRENT_SFPU_OPS_H
#define QDQ_RUNTIME_TENSTORRENT_SFPU_OPS_H

#include <stddef.h>

#include "include/qdq/numerics.h"

typedef enum qdq_sfpu_op {
    QDQ_SFPU_NONE = 0,
    QDQ_SFPU_EXP,
    QDQ_SFPU_SIGMOID,
    QDQ_SFPU_SILU,
    QDQ_SFPU_TANH,
    QDQ_SFPU_GELU,
    QDQ_SFPU_SQRT,
    QDQ_SFPU_RSQRT,
    QDQ_SFPU_RECIPROCAL,
    QDQ_SFPU_LOG,
    QDQ_SFPU_LOG1P,
    QDQ_SFPU_ELU,  // a: alpha
    QDQ_SFPU_ERF,
    QDQ_SFPU_SOFTPLUS,  // a: beta, b: threshold
    QDQ_SFPU_MISH,
    QDQ_SFPU_SQUARE,
    QDQ_SFPU_LEAKY_RELU,  // a: slope
    QDQ_SFPU_RELU,
    QDQ_SFPU_RELU6,
    QDQ_SFPU_HARD_SIGMOID,
    QDQ_SFPU_HARD_SWISH,
    QDQ_SFPU_FLOOR,
    QDQ_SFPU_CEIL,
    QDQ_SFPU_TRUNC,
    QDQ_SFPU_ROUND,
    QDQ_SFPU_ABS,
    QDQ_SFPU_NEG,
    QDQ_SFPU_SIGN,
    QDQ_SFPU_OPS_COUNT
} qdq_sfpu_op;

// How well the bits of a program are known.
typedef enum qdq_sfpu_evidence {
    QDQ_SFPU_UNKNOWN = 0,
    QDQ_SFPU_READ,     // source of the kernel, over the arithmetic of the vendor's simulator
    QDQ_SFPU_MODEL,    // and silicon agrees in part: on the other chip, or on published points
    QDQ_SFPU_SILICON,  // a published table of silicon, over all inputs, has the same counts
} qdq_sfpu_evidence;

typedef struct qdq_sfpu_program {
    qdq_sfpu_op op;
    qdq_multiply_add chip;  // of Wormhole or Blackhole
    qdq_sfpu_generation generation;
    bool approximate;  // fast_and_approximate_mode of ttnn; ignored by functions that lack it
    bool keep_nan, round_store, wide_dst, accurate;  // as in qdq_numerics
    float a, b;                                      // parameters, at the op
} qdq_sfpu_program;

// Compute y of x, which may be the same array, by a program whose arithmetic is modelled; zeros for
// others. The second pair computes one element.
void qdq_sfpu_run_bfloat16(const qdq_sfpu_program *program, const uint16_t *x, uint16_t *y,
                           size_t n);
void qdq_sfpu_run_float32(const qdq_sfpu_program *program, const uint32_t *x, uint32_t *y,
                          size_t n);
uint16_t qdq_sfpu_bfloat16(const qdq_sfpu_program *program, uint16_t x);
uint32_t qdq_sfpu_float32(const qdq_sfpu_program *program, uint32_t x);

// Fills in qdq_sfpu_bfloat16 of every pattern.
void qdq_sfpu_table(const qdq_sfpu_program *program, uint16_t table[65536]);

// True if the arithmetic of a program is modelled.
bool qdq_sfpu_modelled(const qdq_sfpu_program *program, bool is_float32);
// Returns how well a program's bits are known. A modelled program may be unknown: its kernel is not
// the one on the chip.
qdq_sfpu_evidence qdq_sfpu_evidence_of(const qdq_sfpu_program *program, bool is_float32);

#endif
