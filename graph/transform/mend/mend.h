// SPDX-License-Identifier: Apache-2.0
// Mending: changes a graph where a target refuses it, until no error is left that has a mend. A
// mend is a pattern of graph/rewrite/ that considers only nodes where a rule that it answers has an
// error; a target lists these rules (`mended`). mend_table.c has the table.
#ifndef QDQ_GRAPH_TRANSFORM_MEND_MEND_H
#define QDQ_GRAPH_TRANSFORM_MEND_MEND_H

#include "graph/rewrite/coder_params.h"

// In the order in which they are tried. Ends with a row without a name.
extern const qdq_pattern qdq_mends[];

// True if a rule of the mend at hand has an error about a node. Notes the rule.
bool qdq_mend_is_asked(const qdq_rewriter *r, qdq_match *m, size_t node);

//---- Pairs of Quantize and Dequantize (mend_pairs.c) -------------------------

bool qdq_mend_match_signed_pair(const qdq_rewriter *r, qdq_match *m);
void qdq_mend_build_signed_pair(qdq_rewriter *r, qdq_match *m);
bool qdq_mend_match_symmetric_pair(const qdq_rewriter *r, qdq_match *m);
void qdq_mend_build_symmetric_pair(qdq_rewriter *r, qdq_match *m);

//---- Dequantize of constants (mend_weights.c) --------------------------------

bool qdq_mend_match_signed_codes(const qdq_rewriter *r, qdq_match *m);
void qdq_mend_build_signed_codes(qdq_rewriter *r, qdq_match *m);
bool qdq_mend_match_shifted_codes(const qdq_rewriter *r, qdq_match *m);
void qdq_mend_build_shifted_codes(qdq_rewriter *r, qdq_match *m);
bool qdq_mend_match_symmetric_codes(const qdq_rewriter *r, qdq_match *m);
void qdq_mend_build_symmetric_codes(qdq_rewriter *r, qdq_match *m);
bool qdq_mend_match_channels(const qdq_rewriter *r, qdq_match *m);
void qdq_mend_build_channels(qdq_rewriter *r, qdq_match *m);
bool qdq_mend_match_float_bias(const qdq_rewriter *r, qdq_match *m);
void qdq_mend_build_float_bias(qdq_rewriter *r, qdq_match *m);

//---- Single nodes (mend_nodes.c) ---------------------------------------------

bool qdq_mend_match_numbers(const qdq_rewriter *r, qdq_match *m);
void qdq_mend_build_numbers(qdq_rewriter *r, qdq_match *m);
bool qdq_mend_match_float_input(const qdq_rewriter *r, qdq_match *m);
void qdq_mend_build_float_input(qdq_rewriter *r, qdq_match *m);
bool qdq_mend_match_float_result(const qdq_rewriter *r, qdq_match *m);
void qdq_mend_build_float_result(qdq_rewriter *r, qdq_match *m);
bool qdq_mend_match_float_scale(const qdq_rewriter *r, qdq_match *m);
void qdq_mend_build_float_scale(qdq_rewriter *r, qdq_match *m);
bool qdq_mend_match_dropout(const qdq_rewriter *r, qdq_match *m);
void qdq_mend_build_dropout(qdq_rewriter *r, qdq_match *m);
bool qdq_mend_match_full_range(const qdq_rewriter *r, qdq_match *m);
void qdq_mend_build_full_range(qdq_rewriter *r, qdq_match *m);

#endif
