// SPDX-License-Identifier: Apache-2.0
// The units of a dense float32 convolution whose positions are columns: conv_panels.c computes
// them, conv_panels_border.c mends their sums next to a border.
#ifndef QDQ_OPS_PRODUCTS_PANELS_CONV_PANELS_H
#define QDQ_OPS_PRODUCTS_PANELS_CONV_PANELS_H

#include "ops/products/conv_lowering.h"

enum {
    QDQ_PANELS_DEPTH = QDQ_GEMM_ROW_BYTES / sizeof(float),  // of a k block
    QDQ_PANELS = QDQ_CONV_PANELS_POSITIONS / QDQ_GEMM_COLUMNS,
    // From one row of sums to the next: not a power of two.
    QDQ_PANELS_STRIDE = QDQ_CONV_PANELS_POSITIONS + QDQ_GEMM_COLUMNS,
};

// The weights of all groups: a k block of all output channels, then the next k block. In the last k
// block, `ways` tiles of rows share their slots of QDQ_PANELS_DEPTH, one after the other.
typedef struct qdq_panels_weights {
    float *rows;
    bool finite;   // all of them
    double least;  // magnitude that is not 0
} qdq_panels_weights;

typedef struct qdq_panels_params {
    qdq_conv conv;             // first
    qdq_gemm transposed_gemm;  // rows are output channels, columns positions
    const qdq_panels_weights *weights;
    bool linear;         // position i begins i elements after the first
    bool leaves_out;     // products beyond the border
    size_t ways, slots;  // slots: of all k blocks of a group
    size_t row_blocks, block_rows, position_blocks;
} qdq_panels_params;

// A panel of a unit: its place in x, and which of its columns have an element under each tap.
typedef struct qdq_panel {
    size_t base;  // of its first position, modulo 2^64
    int32_t at[QDQ_GEMM_COLUMNS];
    uint32_t masks[QDQ_CONV_PANELS_TAPS];
    uint32_t inside;  // the columns whose window lies inside of x
} qdq_panel;

typedef struct qdq_panels_job {
    const qdq_panels_params *p;
    const qdq_tensors *tensors;
    const float *x;  // of the image and the group
    size_t matrix;
    qdq_gemm_block block;
    struct qdq_panels_workspace *w;
    const qdq_panel *panels;
    float *sums;
} qdq_panels_job;

static inline size_t qdq_panels_k_blocks(const qdq_conv *c) {
    return (c->gemm.depth + QDQ_PANELS_DEPTH - 1) / QDQ_PANELS_DEPTH;
}

static inline size_t qdq_panels_k(const qdq_conv *c, size_t k_block) {
    size_t left = c->gemm.depth - k_block * QDQ_PANELS_DEPTH;
    return left < QDQ_PANELS_DEPTH ? left : QDQ_PANELS_DEPTH;
}

// The k block of a row. The rows after it follow; in the last k block only the rows of its tile.
static inline float *qdq_panels_row(const qdq_panels_params *p, size_t matrix, size_t k_block,
                                    size_t row) {
    const qdq_conv *c = &p->conv;
    size_t slot = matrix * p->slots + k_block * c->group_outputs, tile = row / QDQ_GEMM_ROWS;
    if (k_block + 1 < qdq_panels_k_blocks(c))
        return p->weights->rows + (slot + row) * QDQ_PANELS_DEPTH;
    slot += tile / p->ways * QDQ_GEMM_ROWS + row % QDQ_GEMM_ROWS;
    return p->weights->rows + slot * QDQ_PANELS_DEPTH +
           tile % p->ways * (QDQ_PANELS_DEPTH / p->ways);
}

// Computes sums that are 0 next to a border again, if products that are left out there could have
// changed their sign.
void qdq_panels_mend_zeros(const qdq_panels_job *job, size_t panels);

#endif
