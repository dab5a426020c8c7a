// SPDX-License-Identifier: Apache-2.0
// Measures what pairs and groups do to the output that suffers most (effect.h), in decibels.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_EFFECT_RATIOS_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_EFFECT_RATIOS_H

#include "tools/lab/compare/noise.h"
#include "tools/lab/explain/accuracy/effect.h"

// Ratios of the output that suffers most from a walk; NaN if no output is known.
typedef struct effect_ratio {
    double all;
    double halves[2];  // of samples with an even and with an odd index
    double alike;      // share of samples that decide alike
    size_t samples;
} effect_ratio;

typedef struct effect_meter {
    effects walks;
    effect_ratio now;  // of the present walk
    noise_sum *sums;   // [output]: the errors of single pairs, added
} effect_meter;

// Sets `err` on failure; close it in either case.
qdq_status effect_meter_open(effect_meter *m, const accuracy_forms *forms,
                             const accuracy_graphs *graphs, qdq_error *err);
void effect_meter_close(effect_meter *m);
// Runs a walk, and sets *out.
qdq_status effect_meter_run(effect_meter *m, const effect_walk *walk, effect_ratio *out,
                            qdq_error *err);

// Sets `effect` and `alike` of all rows that are pairs or groups, `without` of the worst pairs,
// `together` and `summed`.
qdq_status effects_measure(effect_meter *m, accuracy *a, qdq_error *err);

#endif
