// SPDX-License-Identifier: Apache-2.0
// The units of a dense convolution whose positions are columns: conv_panels.c computes them by a
// form, for float32 (conv_panels_floats.c) or for codes (conv_panels_codes.c), and
// conv_panels_border.c mends sums of floats next to a border. The rows of a matrix A of codes are
// positions too, of a kernel of 1.
#ifndef QDQ_OPS_CONV_PANELS_CONV_PANELS_H
#define QDQ_OPS_CONV_PANELS_CONV_PANELS_H

#include "ops/conv/conv_lowering.h"
#include "ops/kernels/direct/direct.h"

struct qdq_gemm_known;
struct qdq_weight_codes;
struct qdq_gemm_part_of_b;

enum {
    QDQ_PANELS = QDQ_CONV_PANELS_POSITIONS / QDQ_GEMM_COLUMNS,
    QDQ_PANELS_FEW = 4,  // columns of the last panel that are dot products along k
    QDQ_PANELS_GROUP = QDQ_GEMM_BLOCK_ROWS,  // rows whose k block stays in L1
    QDQ_PANELS_CODE_ROW_BYTES = QDQ_GEMM_ROW_BYTES / sizeof(float),  // a k block of weight codes
    QDQ_PANELS_CODE_PARTS = QDQ_PANELS_CODE_ROW_BYTES / QDQ_GEMM_COLUMNS,
    QDQ_PANELS_SUMS = QDQ_CONV_PANELS_ROWS * (QDQ_PANELS + 1) * QDQ_GEMM_COLUMNS,
};

// The weights of all groups: a k block of all output channels, then the next k block. In the last k
// block, `ways` tiles of rows share their slots of `row_bytes`, one after the other.
typedef struct qdq_panels_weights {
    char *rows;
    // If rows are weight codes: the scale and zero point of each output channel, once for each 32 k
    // of a row, which then takes a whole k block. Else NULL.
    const float *scales, *zeros;
    uint32_t *first_sums;  // of each output channel, int32_t; NULL: zeros
    // The steps that split rows leave out, by output channel and k block. rest_ends[i + 1] is the
    // end of the steps of block i of all channels. NULL: rows are not split.
    const qdq_gemm_rest_step *rest;
    const uint32_t *rest_ends;
    bool finite;   // all of them
    double least;  // magnitude that is not 0
} qdq_panels_weights;

// Facts about the weights of an output channel, found while they are packed.
typedef struct qdq_panels_seen {
    uint32_t first_sum;  // int32_t, of bytes
    bool finite;
    double least;
} qdq_panels_seen;

// Adds the facts about n weights of an output channel.
void qdq_panels_see(qdq_panels_seen *to, const float *weights, size_t n);

struct qdq_panels_job;

// How the elements of a kind become rows and panels.
typedef struct qdq_panels_form {
    // Packs a k block of all panels of a unit.
    void (*pack)(const struct qdq_panels_job *job, size_t k_block, size_t panels);
    // Packs a k block of the weights of some output channels, and adds the facts about them to
    // `of_rows`.
    void (*pack_rows)(const qdq_gemm *gemm, const struct qdq_gemm_part_of_b *channels,
                      const qdq_gemm_source *from, char *const *rows, qdq_panels_seen *of_rows);
    size_t least_positions;
    bool stages;  // does not read qdq_panel unless positions are neighbours
} qdq_panels_form;

// code_rows: the k of a position are neighbours in memory.
extern const qdq_panels_form qdq_panels_floats, qdq_panels_codes, qdq_panels_code_rows;

// The positions of the last dim that have an element under a tap.
typedef struct qdq_panels_ends {
    size_t begin, end;
} qdq_panels_ends;

// Planes that tiles read in place of panels (conv_panels_planes.c).
typedef struct qdq_panels_planes {
    const size_t *at;  // each k, from the first position on; NULL: no planes
    size_t phases, rows, pitch;
    qdq_direct_fill_fn *fill;
} qdq_panels_planes;

typedef struct qdq_panels_params {
    qdq_conv conv;             // first
    qdq_gemm transposed_gemm;  // rows are output channels, columns positions
    const qdq_panels_form *form;
    const qdq_panels_weights *weights;
    size_t x_count;   // elements of x
    bool linear;      // position i begins i elements after the first
    bool bordered;    // some windows reach beyond the border
    bool leaves_out;  // products beyond the border
    bool picks;       // columns may be picked from two stretches of x
    bool in_place;    // a k of a whole panel is a line of x, which tiles read in place
    qdq_panels_planes planes;
    size_t ways, slots;  // slots: of all k blocks of a group
    size_t row_bytes;    // of a slot
    size_t row_blocks, block_rows, position_blocks;
    size_t together;                             // row blocks that fit
    size_t stride;                               // from one row of sums to the next
    qdq_panels_ends ends[QDQ_CONV_PANELS_TAPS];  // of each tap of the last dim
} qdq_panels_params;

// A panel of a unit: its place in x, and which of its columns have an element under each tap.
typedef struct qdq_panel {
    size_t base;  // of its first position, modulo 2^64
    int32_t at[QDQ_GEMM_COLUMNS];
    uint8_t steps[QDQ_GEMM_COLUMNS / QDQ_GEMM_STEPPED];  // as in qdq_gemm_lines_panel
    uint32_t masks[QDQ_CONV_PANELS_TAPS];
    uint32_t inside;  // the columns whose window lies inside of x
} qdq_panel;

typedef struct qdq_panels_workspace {
    _Alignas(64) char b[QDQ_PANELS][QDQ_GEMM_ROW_BYTES * QDQ_GEMM_COLUMNS];  // or planes
    _Alignas(64) float sums[QDQ_PANELS_SUMS + QDQ_GEMM_COLUMNS];             // or int32_t
    float bias[QDQ_PANELS_SUMS / QDQ_GEMM_COLUMNS];  // of each row of the block
    float scale[QDQ_PANELS_SUMS / QDQ_GEMM_COLUMNS];
    _Alignas(64) float decoded[QDQ_PANELS_GROUP * QDQ_PANELS_CODE_ROW_BYTES];  // rows of a group
    _Alignas(64) uint32_t few[QDQ_PANELS_FEW][QDQ_GEMM_ROW_BYTES / QDQ_GEMM_STEP_BYTES];
    qdq_panel panels[QDQ_PANELS];
    qdq_gemm_code_factors factors;  // of the codes of a job
} qdq_panels_workspace;

typedef struct qdq_panels_job {
    const qdq_panels_params *p;
    const qdq_tensors *tensors;
    const char *x;   // of the image and the group
    size_t x_bytes;  // from there to the end of x
    size_t matrix;
    qdq_gemm_block block;
    bool is_packed;            // the panels of the unit before are reused
    qdq_gemm_results results;  // of the whole block; y is NULL if tiles store none
    qdq_gemm_code_rows codes;  // likewise; out is NULL if tiles store none
    qdq_panels_workspace *w;
} qdq_panels_job;

static inline size_t qdq_panels_k_blocks(const qdq_conv *c) {
    size_t most = qdq_gemm_depth(&c->gemm);
    return (c->gemm.depth + most - 1) / most;
}

static inline size_t qdq_panels_k(const qdq_conv *c, size_t k_block) {
    size_t most = qdq_gemm_depth(&c->gemm), left = c->gemm.depth - k_block * most;
    return left < most ? left : most;
}

// Returns the k block of a row. The rows after it follow; in the last k block only the rows of its
// tile.
static inline char *qdq_panels_row(const qdq_panels_params *p, size_t matrix, size_t k_block,
                                   size_t row) {
    const qdq_conv *c = &p->conv;
    size_t slot = matrix * p->slots + k_block * c->group_outputs, tile = row / QDQ_GEMM_ROWS;
    if (k_block + 1 < qdq_panels_k_blocks(c)) return p->weights->rows + (slot + row) * p->row_bytes;
    slot += tile / p->ways * QDQ_GEMM_ROWS + row % QDQ_GEMM_ROWS;
    return p->weights->rows + slot * p->row_bytes + tile % p->ways * (p->row_bytes / p->ways);
}

// Returns the number of columns of a panel that are positions.
static inline size_t qdq_panels_columns(const qdq_panels_job *j, size_t panel) {
    size_t left = j->block.columns - panel * QDQ_GEMM_COLUMNS;
    return left < QDQ_GEMM_COLUMNS ? left : QDQ_GEMM_COLUMNS;
}

// Lays out planes, if the shape suits them. False when memory runs out.
bool qdq_panels_set_planes(qdq_panels_params *params, const qdq_lowering *to);
// Fills the planes of a k block.
void qdq_panels_fill_planes(const qdq_panels_job *job, size_t k_block);
// Returns how many positions from a column of the block on lie in one row of y. Sets *first to the
// planes of the first position.
size_t qdq_panels_plane_run(const qdq_panels_job *job, size_t column, const float **first);

// True if tiles read a panel in x.
static inline bool qdq_panels_in_place(const qdq_panels_job *j, size_t panel) {
    return j->p->in_place && (panel + 1) * QDQ_GEMM_COLUMNS <= j->block.columns;
}

// Returns the index in dim d of x under tap t, modulo 2^64.
static inline size_t qdq_panels_index(const qdq_conv *c, int d, size_t o, size_t t) {
    return o * c->stride[d] + t * c->dilation[d] - c->pad[d];
}

// Weights that are read later.
typedef struct qdq_panels_ahead {
    const char *at;
    size_t bytes;
} qdq_panels_ahead;

// Returns how many panels of floats, from `panel` on, the kernel takes in a call.
size_t qdq_panels_at_once(const qdq_panels_job *job, size_t panel, size_t k_block, size_t panels);
// Adds a k block to the sums of some rows and of `count` panels of floats, or turns them into
// results.
void qdq_panels_add_floats(const qdq_panels_job *job, size_t panel, size_t count, size_t k_block,
                           size_t row, size_t rows, qdq_panels_ahead ahead);
// Sets the scale and the bias of each row of the block.
void qdq_panels_set_reals(const qdq_panels_job *job, bool scaled, bool biased);
// True if tiles compute results of floats. They need the `results` of a job, and mended sums need
// qdq_panels_finish.
bool qdq_panels_makes_results(const qdq_panels_job *job);
void qdq_panels_set_results(qdq_panels_job *job);
void qdq_panels_finish(const qdq_panels_job *job, size_t panels);

// True if tiles turn sums into codes. They need the `codes` of a job.
bool qdq_panels_makes_codes(const qdq_panels_job *job);
void qdq_panels_set_codes(qdq_panels_job *job);
// Computes the codes of rows of a panel, `columns` wide, with the last k block.
void qdq_panels_add_codes(const qdq_panels_job *job, size_t panel, size_t row, size_t columns,
                          const qdq_gemm_part *part);

// Computes the codes of a block without panels. False: no kernel supports it, and nothing is done.
bool qdq_panels_run_few(const qdq_panels_job *job);

qdq_tensor_op_fn qdq_panels_run;
// Packs bytes of weight codes with one scale and zero point for each output channel, and adds their
// bytes to *bytes. False when memory runs out or the codes cannot be read.
bool qdq_panels_pack_codes(const qdq_panels_params *params, const struct qdq_weight_codes *codes,
                           const qdq_lowering *to, qdq_panels_weights *weights,
                           qdq_panels_seen *seen, size_t *bytes);
// Decodes a k block of rows of codes to floats, QDQ_GEMM_ROW_BYTES apart. Rows end with any values.
void qdq_panels_decode(const qdq_panels_params *params, size_t matrix, size_t k_block, size_t row,
                       size_t rows, float *to);

// Splits the packed rows so that no pair of weights can saturate, and adds the bytes of the rest to
// *bytes. False when memory runs out.
bool qdq_panels_split(const qdq_panels_params *params, qdq_panels_weights *weights,
                      qdq_mempool *mempool, size_t *bytes);

// Computes sums of 0 next to a border again if products left out there may have changed their sign.
void qdq_panels_mend_zeros(const qdq_panels_job *job, size_t panels);

#endif
