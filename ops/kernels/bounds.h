// SPDX-License-Identifier: Apache-2.0
// Bounds of float results.
#ifndef QDQ_OPS_KERNELS_BOUNDS_H
#define QDQ_OPS_KERNELS_BOUNDS_H

#include <stdbool.h>

// v < least ? least : v, then v > most ? most : v. With `no_minus` -0 becomes 0. NaN stays.
typedef struct qdq_bounds {
    float least, most;
    bool no_minus;
} qdq_bounds;

#endif
