// SPDX-License-Identifier: Apache-2.0
// The program that ttnn.matmul chooses without a program_config: how much of the product a core
// computes at once, and the circular buffers that follow.
#ifndef QDQ_RUNTIME_TENSTORRENT_MATMUL_PROGRAM_H
#define QDQ_RUNTIME_TENSTORRENT_MATMUL_PROGRAM_H

#include "include/qdq/device.h"

// A product of interleaved tensors in tiles of 32 x 32, [m, k] x [k, n] in tiles.
typedef struct qdq_matmul_problem {
    uint64_t m, k, n, batch_a, batch_b;
    uint64_t a_bytes, b_bytes, y_bytes, bias_bytes;  // of a tile; bias_bytes 0: none
    bool transpose_a;
    bool fp32_dest_acc_en, packer_l1_acc;
    bool all_dram;  // a, b and y
    uint64_t grid_x, grid_y;
    uint64_t free_l1;  // of a core, below its lowest buffer
} qdq_matmul_problem;

typedef enum qdq_matmul_cores {
    QDQ_MATMUL_RECTANGLE = 0,  // cores_x times cores_y, from (0, 0)
    QDQ_MATMUL_ROWS,           // `cores`, along x first
    QDQ_MATMUL_COLUMNS,        // `cores`, along y first
} qdq_matmul_cores;

enum { QDQ_MATMUL_BUFFERS = 6 };

typedef struct qdq_matmul_program {
    qdq_matmul_cores place;
    uint64_t cores_x, cores_y, cores;
    uint64_t bytes[QDQ_MATMUL_BUFFERS];  // of circular buffers in their order
    size_t count;
} qdq_matmul_program;

// Chooses the program. False if it is not known: a batch of b with one a, or numbers of tiles that
// have too many divisors.
bool qdq_matmul_program_of(const qdq_matmul_problem *problem, qdq_matmul_program *out);

#endif
