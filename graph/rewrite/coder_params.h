// SPDX-License-Identifier: Apache-2.0
// The parameters of a coder as arrays, the reals that its constant codes stand for, and attributes
// for a node that takes its place.
#ifndef QDQ_GRAPH_REWRITE_CODER_PARAMS_H
#define QDQ_GRAPH_REWRITE_CODER_PARAMS_H

#include "graph/rewrite/node_unit.h"
#include "include/qdq/ops/quantize.h"

// Scales and zero points of a coder that is `known`, one of each for each block of its grid.
typedef struct qdq_coder_params {
    float *scales;
    int32_t *zeros;
    size_t count;
} qdq_coder_params;

// False if memory runs out.
bool qdq_coder_read_params(const qdq_rewriter *r, const qdq_coder *c, qdq_coder_params *out);

// Returns the attributes of a coder in the new graph, except x, and with these parameters: as
// numbers if there is one of each, as constants otherwise; zero points that are all 0 are left out.
// `codes`: the dtype of the codes from now on.
qdq_quantize_attrs qdq_coder_attrs(const qdq_rewriter *r, const qdq_coder *c, qdq_dtype codes,
                                   const qdq_coder_params *p);

// Return the numbers that constant codes stand for: codes minus zero points, and reals. NULL: no
// memory, or the codes cannot be read.
int64_t *qdq_coder_steps(const qdq_rewriter *r, const qdq_coder *c, const qdq_coder_params *p);
float *qdq_coder_reals(const qdq_rewriter *r, const qdq_coder *c, const qdq_coder_params *p);

// Returns the codes to which a Quantize with the numerics of the target turns a float constant.
// NULL if memory runs out, or if the constant cannot be read.
void *qdq_coder_codes(const qdq_rewriter *r, const qdq_coder *c, const qdq_coder_params *p);

// Returns, for each element of the codes, the number of its parameter. NULL if memory runs out.
uint32_t *qdq_coder_blocks(const qdq_rewriter *r, const qdq_coder *c);

#endif
