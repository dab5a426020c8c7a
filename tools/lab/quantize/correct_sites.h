// SPDX-License-Identifier: Apache-2.0
// The quantized products of a graph whose bias or weights can be corrected, and their codes.
#ifndef QDQ_TOOLS_LAB_QUANTIZE_CORRECT_SITES_H
#define QDQ_TOOLS_LAB_QUANTIZE_CORRECT_SITES_H

#include "tools/lab/quantize/correct_rows.h"
#include "tools/lab/quantize/quantize_report.h"

// A product.
typedef struct product_site {
    size_t node;
    product_rows rows;
    size_t channels;       // of all groups
    size_t coding;         // of the weights
    bool rounds;           // the weights can be rounded again: no other product reads them
    size_t weights;        // their number
    const float *real;     // the weights of the float graph
    bool takes_bias;       // it has a bias, or may get one
    qdq_node_port reader;  // of the bias
    qdq_value bias;        // the constant; no value: there is none yet
    size_t bias_coding;    // SIZE_MAX: the bias is the constant of the float graph
    size_t result;         // the node behind the bias: the product, or the Add that reads it
} product_site;

// Describes a node. False if it is not a quantized product with a constant second operand.
bool product_site_of(quantization *q, size_t node, product_site *out);

// Returns the scale of a weight, by its index.
double site_weight_scale(const quantization *q, const product_site *site, size_t weight);

// Writes the present bias of all channels.
void site_bias_read(const quantization *q, const product_site *site, double *out);
// Replaces the bias of all channels, in float32 or in codes of the same scales. False if memory
// runs out.
bool site_bias_write(quantization *q, product_site *site, const double *bias);

// The codes of a product at one time. The list of codings keeps all codes that a product had.
typedef struct site_codes {
    const void *weights, *bias;
    size_t bias_readers;
} site_codes;

site_codes site_codes_now(const quantization *q, const product_site *site);
void site_codes_restore(quantization *q, const product_site *site, site_codes codes);

#endif
