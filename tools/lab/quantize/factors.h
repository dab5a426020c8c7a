// SPDX-License-Identifier: Apache-2.0
// Candidates for the factors of a site: powers of two that bring the ranges of its channels
// together (docs/float_to_int8.md has the formulas and their sources).
#ifndef QDQ_TOOLS_LAB_QUANTIZE_FACTORS_H
#define QDQ_TOOLS_LAB_QUANTIZE_FACTORS_H

#include <qdq/equalize.h>

typedef enum factor_method { FACTORS_OF_WEIGHTS, FACTORS_OF_ACTIVATIONS } factor_method;
// "weights", "activations".
extern const char *const factor_method_names[];

typedef struct factor_candidate {
    factor_method method;
    double alpha;       // of FACTORS_OF_ACTIVATIONS
    const char *label;  // "weights only", "alpha 1/4"
} factor_candidate;

enum { FACTOR_CANDIDATES = 4 };
extern const factor_candidate factor_candidates[FACTOR_CANDIDATES];

// Sets the exponents of a site's channels. `greatest`: [channel], max |x| of the values that
// products read. False if the candidate does not suit the site, or changes no channel.
bool choose_factors(const qdq_equalize_site *site, const double *greatest,
                    const factor_candidate *candidate, int *exponents);

// Returns the greatest entry of `greatest` divided by the median of the entries above 0; 1 if none
// is.
double imbalance_of(const double *greatest, size_t channels);

#endif
