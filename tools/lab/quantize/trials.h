// SPDX-License-Identifier: Apache-2.0
// Runs changed graphs on samples, as their target deploys them, and judges their outputs against
// the outputs of the float graph as target core.
#ifndef QDQ_TOOLS_LAB_QUANTIZE_TRIALS_H
#define QDQ_TOOLS_LAB_QUANTIZE_TRIALS_H

#include "tools/lab/compare/noise.h"
#include "tools/lab/dataset/samples.h"
#include "tools/lab/quantize/places.h"
#include "tools/options.h"
#include "tools/session.h"

// An output of the graph.
typedef struct trial_output {
    const char *name;
    qdq_dtype dtype;
    qdq_shape shape;
    size_t count, bytes;  // elements, and their bytes
    size_t offset;        // bytes of the outputs before it
    size_t samples;       // of a run: the first dim
    size_t first;         // its first entry in the arrays of a trial, which has samples of all runs
    bool judged;          // a float, or no output is a float
} trial_output;

// The setting that trials share: the float graph, its inputs and outputs.
typedef struct trials {
    options opt;
    const session *real;  // the float graph as target core
    samples data;         // of --data; else the inputs of -i or --fill are a single run
    size_t runs;
    trial_output *outputs;
    size_t output_count, samples, run_bytes;
    bool *unreadable;  // [run]: its sample cannot be read
    char **kept;       // [run]: outputs of the float graph, one after another; NULL: not run yet,
                       // or beyond half of --max-bytes
    char *elements;    // the outputs of two runs
    double *numbers;   // two outputs
} trials;

// Begins trials for the graph of a session, which must outlive them. EXIT_OK, or another exit code
// after a message; close it in either case.
int trials_open(trials *t, const session *real, const options *opt);
void trials_close(trials *t);

// Runs a graph with the outputs of the float graph on a sample, and compares their bits. *ran:
// false if the sample cannot be read. EXIT_OK, or another exit code after a message.
int trials_compare(trials *t, size_t run, const session *s, bool *ran, bool *same);

// Fills the inputs of a session for a run, or notes in `unreadable` that its sample cannot be read.
// EXIT_OK, or another exit code after a message.
int trials_give(trials *t, size_t run, const session *s);

// The results of one or more graphs that run on different samples. A run with a batch, the first
// dim of an output, counts as so many samples.
typedef struct trial {
    trials *of;
    noise_sum *sums;       // [sample of an output]
    unsigned char *fates;  // [sample of an output]: a trial_fate
    size_t runs, same;     // runs; runs with the float graph's bits in all outputs
    bool refused;          // the target refuses a graph, so nothing is known
} trial;

typedef enum trial_fate { NOT_RUN, DECIDES_OTHERWISE, DECIDES_ALIKE } trial_fate;

// EXIT_OK, or another exit code after a message; close it in either case.
int trial_open(trial *t, trials *of);
void trial_close(trial *t);

// The runs of a graph. All zero: all runs.
typedef struct trial_view {
    bool (*takes)(void *with, size_t run);  // true if the graph runs on this sample of --data
    // Sees an output of a run, of the float graph and of the changed one.
    void (*sees)(void *with, size_t run, const trial_output *output, const double *real,
                 const double *changed);
    void *with;
} trial_view;

// Runs a graph, which has the inputs and outputs of the float graph, for a target. Samples that
// cannot be read are left out. EXIT_OK, or another exit code after a message.
int trial_add(trial *t, qdq_graph *graph, const char *target, const trial_view *view);

// Places codes in a float graph by statistics and a choice, and runs the result for a target.
int trial_add_quantized(trial *t, qdq_graph *graph, const state *s, const quantize_choice *choice,
                        const char *target, const trial_view *view);

// Of the output with the least ratio over all samples.
typedef struct verdict {
    size_t output;  // index in trials
    size_t samples,
        alike;        // samples that ran, and those that decide as the float graph (decisions.h)
    double decibels;  // of all samples; infinite without an error
    double median;    // of the samples' ratios; NaN if memory runs out
} verdict;

// All zero if no sample ran, or the target refuses a graph.
verdict trial_judge(const trial *t);

#endif
