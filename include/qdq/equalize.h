// SPDX-License-Identifier: Apache-2.0
// Equalizing: channels of computed values multiplied by powers of two, which the constants of the
// nodes around them take back, so that the results of the graph keep every bit. Channels of similar
// ranges lose less when they share a scale (docs/float_to_int8.md).
#ifndef QDQ_EQUALIZE_H
#define QDQ_EQUALIZE_H

#include <qdq/coding.h>

#ifdef __cplusplus
extern "C" {
#endif

// A computed value whose channels are multiplied: row-major element i belongs to channel
// i / stride % channels.
typedef struct qdq_site_value {
    qdq_value value;
    size_t stride;
} qdq_site_value;

// A node whose float32 result reaches only products with constant weights, through nodes that hand
// on factors of channels: ReLU, pooling, reshapes, transposes, slices, sums with constants.
typedef struct qdq_equalize_site {
    size_t producer;  // a product with constant weights, a norm, or a product with a constant
    bool weighted;    // the producer is a product of matrices or a convolution
    size_t channels;
    const qdq_site_value *values;  // the producer's result first, in the order of nodes
    size_t value_count;
    const qdq_node_port *readers;  // the products, at the port that reads the value
    size_t reader_count;
    const float *made;  // [channel]: greatest |weight| of the producer for this channel
    const float *read;  // [channel]: greatest |weight| that a reader multiplies with this channel
} qdq_equalize_site;

typedef struct qdq_equalize_sites qdq_equalize_sites;

// Lists the sites of a graph, in the order of their producers. The list must not outlive the graph;
// qdq_equalize_sites_destroy frees it. Returns NULL with `err` set: QDQ_ERR_GRAPH if the graph has
// errors, or memory runs out (also for a NULL graph).
QDQ_API qdq_equalize_sites *qdq_graph_equalize_sites(qdq_graph *graph, qdq_error *err);
QDQ_API void qdq_equalize_sites_destroy(qdq_equalize_sites *sites);
// 0 for NULL.
QDQ_API size_t qdq_equalize_site_count(const qdq_equalize_sites *sites);
// NULL for an index out of range.
QDQ_API const qdq_equalize_site *qdq_equalize_site_get(const qdq_equalize_sites *sites,
                                                       size_t index);

enum { QDQ_MOST_EXPONENT = 64 };

// The factors of a site: its channel c is multiplied by 2^exponents[c].
typedef struct qdq_equalize_factors {
    size_t site;
    const int *exponents;  // [channels], each from -QDQ_MOST_EXPONENT to QDQ_MOST_EXPONENT
} qdq_equalize_factors;

// Returns a new graph with the same names, nodes and results, in which the channels of sites are
// multiplied and the constants around them changed. Results keep their bits unless a number on the
// way under- or overflows. Returns NULL with `err` set: QDQ_ERR_ARGUMENT for a site or an exponent
// out of range, QDQ_ERR_UNSUPPORTED if an element of a constant would leave the range of normal
// float32 numbers, QDQ_ERR_IO if constants cannot be read, or memory runs out (also for NULL).
QDQ_API qdq_graph *qdq_graph_equalized(const qdq_equalize_sites *sites,
                                       const qdq_equalize_factors *factors, size_t count,
                                       qdq_error *err);

// Returns the elements that another network has for a constant of the graph, as many as it has.
// NULL: none.
typedef const float *(*qdq_other_constant)(void *self, qdq_value constant);

// Returns a new graph, as qdq_graph_equalized does, with the channels that another network has: an
// equalized one, whose weights may be rounded to codes. Returns NULL without an error if no channel
// differs by a power of two, or a channel of a site by another factor; with `err` set as
// qdq_graph_equalized sets it.
QDQ_API qdq_graph *qdq_graph_equalized_like(const qdq_equalize_sites *sites,
                                            qdq_other_constant other, void *self, qdq_error *err);

#ifdef __cplusplus
}
#endif
#endif
