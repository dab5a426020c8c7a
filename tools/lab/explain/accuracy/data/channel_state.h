// SPDX-License-Identifier: Apache-2.0
// The table of channels: the least and the greatest number that a pair of Quantize and Dequantize
// reads at each index of an axis, in all samples.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_DATA_CHANNEL_STATE_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_DATA_CHANNEL_STATE_H

#include "tools/lab/dataset/state.h"
#include "tools/lab/explain/accuracy/channels.h"
#include "tools/lab/explain/accuracy/mends.h"
#include "tools/lab/explain/accuracy/pair_sites.h"

// A row has the ranges of up to CHANNEL_BLOCK neighbouring channels.
typedef enum channel_column {
    CHANNEL_NODE,
    CHANNEL_AT,      // a channel_place each
    CHANNEL_RANGES,  // [channel]: least, greatest; both include 0
    CHANNEL_COLUMNS,
} channel_column;

typedef enum channel_place {
    PLACE_NODE,  // row of the table of nodes
    PLACE_AXIS,
    PLACE_COUNT,   // channels of the axis
    PLACE_FIRST,   // channel of the block
    PLACE_SUMMED,  // 1: a product sums over the axis; 2: and `qdq quantize --equalize` can change
                   // it
    PLACE_PAIR,    // node of the pair in the graph as written
    PLACE_MEETS,   // of weights: node of the pair that this product multiplies with them; -1: none
    PLACE_WIDTH,
} channel_place;

enum {
    CHANNEL_BLOCK = 16,
    MOST_CHANNELS = 4096,         // of an axis; a longer one has no rows
    MOST_CHANNEL_ROWS = 1 << 16,  // of all pairs; beyond, axes have no rows
};

extern const state_column channel_columns[CHANNEL_COLUMNS];
void channel_merge(const state_table *into, size_t row, const state_table *from, size_t from_row);

// The rows of a pair.
typedef struct channel_rows {
    size_t first, count;
} channel_rows;

// Adds rows for the axis along which the pair has channels; with `all`, also for its other axes.
// `node`: row of the table of nodes. False if memory runs out.
bool channel_rows_add(state_table *t, const reference *ref, const qdq_equalize_sites *sites,
                      size_t pair, int64_t node, bool all, channel_rows *out);
// Widens the ranges to the numbers of a pair.
void channel_rows_widen(const state_table *t, const channel_rows *rows, const quantized_numbers *q);

// Reads the ranges along an axis from its first row. False if memory runs out, or the rows are not
// those of an axis. Release them in either case.
bool channel_rows_read(const state_table *t, size_t first, channel_ranges *out);

#endif
