// SPDX-License-Identifier: Apache-2.0
// Writes the result of a product as rows of inputs times a matrix of weights: a product of matrices
// as it is, a convolution by its windows (im2col), for each group of channels.
#ifndef QDQ_TOOLS_LAB_QUANTIZE_CORRECT_ROWS_H
#define QDQ_TOOLS_LAB_QUANTIZE_CORRECT_ROWS_H

#include <qdq/graph.h>

// A MatMul with one matrix of weights, Convolution or ConvTranspose. A MatMul counts as a
// convolution with windows of one element.
typedef struct product_rows {
    bool backwards;                  // ConvTranspose
    int spatial;                     // dims of a window
    size_t groups, depth, channels;  // columns of a row, output channels of a group
    size_t rows;                     // batches times positions
    size_t positions, window, x_batch, x_channel;
    size_t in[QDQ_MAX_RANK], out[QDQ_MAX_RANK], kernel[QDQ_MAX_RANK];
    int64_t strides[QDQ_MAX_RANK], dilations[QDQ_MAX_RANK], pads[QDQ_MAX_RANK];
    size_t x_step[QDQ_MAX_RANK];
    bool channels_last;                            // in the result
    size_t w_group, w_channel, w_input, w_window;  // strides of weights
} product_rows;

// Describes a node. False if its op or a dim is another one, or it pads itself in a way that is not
// covered here.
bool product_rows_of(const qdq_graph *graph, size_t node, product_rows *out);

// Writes row `row` of a group: `depth` elements of x, 0 where a window lies outside.
void product_row(const product_rows *p, const float *x, size_t row, size_t group, double *out);

// Returns the index of the weight at column `column` of output channel `channel` of a group.
size_t product_weight(const product_rows *p, size_t group, size_t channel, size_t column);

// Returns the index in the result of an output channel of all groups.
size_t product_result(const product_rows *p, size_t row, size_t channel);

#endif
