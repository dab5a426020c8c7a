// SPDX-License-Identifier: Apache-2.0
// Measures the noise of a change of a graph: the difference of its values from the same values
// before the change.
#ifndef QDQ_TOOLS_LAB_COMPARE_NOISE_H
#define QDQ_TOOLS_LAB_COMPARE_NOISE_H

#include <qdq/graph.h>

#include "runtime/base/json_writer.h"

typedef struct options options;

// Sums over elements of y^2 and of (y - changed y)^2, without elements whose difference is not
// finite.
typedef struct noise_sum {
    double signal, error;
} noise_sum;

void noise_sum_add(noise_sum *sum, const double *y, const double *changed, size_t count);
// Returns 10 log10(signal / error); infinity without an error.
double noise_sum_decibels(const noise_sum *sum);

// A float value with the same name in both graphs.
typedef struct noise {
    char name[256];
    noise_sum sum;
    double decibels;
} noise;

// Runs both graphs as target core on the inputs of the options, or on each sample of `data`, and
// measures `count` values, then the outputs. A value is left out unless it is a float in both
// graphs. Sets *out, which free() frees. EXIT_OK, or another exit code after a message.
int measure_noise(qdq_graph *before, qdq_graph *after, const options *opt, const char *const *names,
                  size_t count, noise **out, size_t *out_count);

// Returns the measured value of this name; NULL if it was left out, or `name` is NULL.
const noise *noise_find(const noise *noises, size_t count, const char *name);
// Returns the seed of the random data that stands for inputs not given; NULL: there is none.
const char *noise_seed(const options *opt);
// Print ", 12.3 dB", or nothing for NULL; write a number, or null for NULL or if nothing differs.
void noise_print(const noise *n);
void noise_json(qdq_json *json, const noise *n);
// Prints ", on random inputs (--fill 1)", or nothing; writes "fill": the seed, or null.
void noise_print_seed(const options *opt);
void noise_json_seed(qdq_json *json, const options *opt);

#endif
