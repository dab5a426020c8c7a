// SPDX-License-Identifier: Apache-2.0
// Finds the causes for which pairs and groups lose accuracy, and mends: each is tried on the
// outputs, as the effect of the pair is measured.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_PAIR_CAUSES_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_PAIR_CAUSES_H

#include "tools/lab/explain/accuracy/effect_ratios.h"

// Sets cause, mend, `mended` and channels of listed rows that have none yet. `folder`: for
// temporary files. EXIT_OK, or another exit code after a message.
int causes_find(effect_meter *meter, const char *folder, const size_t *list, size_t count,
                accuracy *a);

// Returns the noise that is left, in a signal of power 1, if the pairs of a list are mended up to
// index `at`, at least two.
double noise_behind(const accuracy *a, const size_t *list, size_t count, size_t at);
// True if a mend that makes `with` of the effect of a pair gives the output most of the gain of
// float, beside the noise `rest`.
bool is_most_of_float(double effect, double with, double rest);

// Describes why a group differs from its nodes: a float bias that an optimizer divides by scales so
// small that its codes leave int32, or no known cause.
int find_group_cause(const accuracy_forms *forms, const char *folder, node_accuracy *n);

#endif
