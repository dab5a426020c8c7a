// SPDX-License-Identifier: Apache-2.0
// The multiply-add of Tenstorrent's vector unit: SFPMAD, and SFPADD and SFPMUL, which are SFPMAD
// with a factor of 1.0 or an addend of +0. It is neither an IEEE fma nor two roundings: it keeps 26
// fraction bits of the product, and a term that alignment shifts out completely is forgotten.
//
// Numbers are patterns of float32. Denormal operands count as zero.
#ifndef QDQ_RUNTIME_TENSTORRENT_SFPMAD_H
#define QDQ_RUNTIME_TENSTORRENT_SFPMAD_H

#include "include/qdq/numerics.h"

// Returns x * y + z as Wormhole or Blackhole computes it. The chips differ in NaN, in -0, in
// results below the normal numbers, and in the last bit of few sums of short operands.
uint32_t qdq_sfpmad(qdq_multiply_add chip, uint32_t x, uint32_t y, uint32_t z);

// Return x * y, and x + y.
uint32_t qdq_sfpmul(qdq_multiply_add chip, uint32_t x, uint32_t y);
uint32_t qdq_sfpadd(qdq_multiply_add chip, uint32_t x, uint32_t y);

#endif
