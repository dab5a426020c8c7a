// SPDX-License-Identifier: Apache-2.0
// A graph on its way to C: the text so far, and the step that is being written. Each op has a
// writer (c_ops.c lists them) that reads the stages of its node, as `lower` fills them in with
// `plain`, and writes the body of a function. Its parameters are x0, x1, ..., the node's inputs,
// and y0, y1, ..., its outputs, as untyped memory. Definitions that the text names (embed.py) are
// added by c_write.c.
#ifndef QDQ_GRAPH_FORMATS_C_C_DRAFT_H
#define QDQ_GRAPH_FORMATS_C_C_DRAFT_H

#include "graph/core/graph.h"
#include "graph/core/target.h"

// A growing text; the pool's `failed` says whether something is missing.
typedef struct qdq_c_text {
    qdq_mempool *mempool;
    char *data;
    size_t length, capacity;
} qdq_c_text;

void qdq_c_put(qdq_c_text *text, const char *format, ...) QDQ_PRINTF(2, 3);

typedef struct qdq_c_step {
    qdq_c_text *body;
    qdq_mempool *mempool;
    qdq_findings *findings;
    const qdq_node *node;
    const qdq_op_context *ctx;
    const qdq_lowering *to;
    const qdq_stage *stages;
    size_t scratch;  // bytes that the step needs while it runs, as `scratch`
    bool refused;
} qdq_c_step;

typedef void qdq_c_writer(qdq_c_step *step);

// Returns the writer of an op; NULL: there is none.
qdq_c_writer *qdq_c_writer_of(const qdq_op *op);

// Adds the finding that the node cannot be written. `port` may be NULL.
void qdq_c_cannot(qdq_c_step *step, const char *port, const char *found, const char *wanted);

//---- Pieces of text ---------------------------------------------------------

// Write a number as an expression with the same bits.
void qdq_c_put_float(qdq_c_text *text, float value);
void qdq_c_put_double(qdq_c_text *text, double value);
void qdq_c_put_int(qdq_c_text *text, int32_t value);

// Writes the sum of the index of each dim times its stride, for element `index` in row-major order:
// "i / 9 % 16 * 4 + ..."; "0" if all strides are 0.
void qdq_c_put_strided(qdq_c_text *text, const char *index, int rank, const size_t *sizes,
                       const size_t *strides);

// Writes the number of the block of a grid that holds element i.
void qdq_c_put_block(qdq_c_text *text, const qdq_grid *grid);

// Declares the numbers of a parameter as an array `name`, if it has several; then writes the number
// for element i as an expression.
void qdq_c_declare_param(qdq_c_step *step, const qdq_stage_param *param, const char *name);
void qdq_c_put_param(qdq_c_step *step, const qdq_stage_param *param, const char *name);

// Declares `static const qdq_numerics n`, and a range.
void qdq_c_declare_numerics(qdq_c_text *text, const qdq_numerics *numerics);

// Writes a statement that stores a real number `value`, an expression, as element `index` of memory
// `y`, as qdq_encode_float does: "store_float8_e5m2(y0, i, v, QDQ_FLOAT_SATURATE);". NULL numerics:
// all zero.
void qdq_c_put_store(qdq_c_text *text, qdq_dtype dtype, const char *y, const char *index,
                     const char *value, const qdq_numerics *numerics);

// True if load_<dtype> gives a float or an int32_t: of other dtypes only the size is known.
bool qdq_c_loads(qdq_dtype dtype);
// The same, with a finding about an input or an output of the step.
bool qdq_c_takes(qdq_c_step *step, size_t input);
bool qdq_c_makes(qdq_c_step *step, size_t output);

// Writes the head of a loop over the elements of an output: "for (size_t i = 0; i < 20; i++)".
void qdq_c_put_each(qdq_c_step *step, size_t output);

//---- Writers ----------------------------------------------------------------

qdq_c_writer qdq_c_write_quantize, qdq_c_write_dequantize, qdq_c_write_requantize,
    qdq_c_write_dynamic_quantize, qdq_c_write_elements, qdq_c_write_product,
    qdq_c_write_convolution, qdq_c_write_pool, qdq_c_write_copy, qdq_c_write_transpose,
    qdq_c_write_runs, qdq_c_write_softmax, qdq_c_write_log_softmax, qdq_c_write_reduce,
    qdq_c_write_qlinear_binary, qdq_c_write_qlinear_pool, qdq_c_write_qlinear_softmax,
    qdq_c_write_interpolate, qdq_c_write_gather, qdq_c_write_table, qdq_c_write_multiply_shift,
    qdq_c_write_arithmetic_shift_right, qdq_c_write_clamp_integer, qdq_c_write_neg_integer,
    qdq_c_write_count_leading_zeros, qdq_c_write_reduce_integer, qdq_c_write_avg_pool_integer;

#endif
