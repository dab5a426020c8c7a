// SPDX-License-Identifier: Apache-2.0
// The samples of --data: the files of a folder, sorted by name, the entries of the leading dim of
// one file, or a stream. A sample has every input of a graph.
#ifndef QDQ_TOOLS_LAB_DATASET_SAMPLES_H
#define QDQ_TOOLS_LAB_DATASET_SAMPLES_H

#include <qdq/exec.h>

#include "runtime/base/hash/sha256.h"
#include "tools/io/watch.h"
#include "tools/lab/dataset/listing.h"
#include "tools/lab/dataset/sample_stream.h"

typedef struct samples {
    const char *where;
    const qdq_graph *graph;
    const qdq_plan *plan;
    qdq_budget *memory;
    size_t count;                // 0: a stream, whose end is not known
    char **names;                // files of a folder; NULL: a single file, or listed
    const data_listing *listed;  // files of a shard; NULL: not given
    array_file file;             // the single file
    bool streams;
    sample_stream stream;
    void **buffers;                           // memory for each input of the plan
    unsigned char listing[QDQ_SHA256_BYTES];  // data_digest of the files; zeros for a stream
    qdq_error problem;                        // error of the first unreadable sample, with its name
} samples;

// Lists the samples for the inputs of a plan. The graph, the plan and the memory that elements are
// taken from must outlive them. EXIT_OK, or another exit code after a message; close it in either
// case.
int samples_open(samples *s, const char *where, const qdq_graph *graph, const qdq_plan *plan,
                 qdq_budget *memory);
// The same for the samples of a folder that a listing names, which must outlive them.
int samples_open_listed(samples *s, const char *folder, const data_listing *listed,
                        const qdq_graph *graph, const qdq_plan *plan, qdq_budget *memory);
// The same for the samples of standard input.
int samples_open_stream(samples *s, const qdq_graph *graph, const qdq_plan *plan,
                        qdq_budget *memory);
void samples_close(samples *s);

// Reads the next sample of a stream, for sample_load. *more is false after the last. EXIT_OK, or
// another exit code after a message.
int samples_next(samples *s, bool *more);

// Returns the name of a sample: its file in the folder, or "sample N", counted from 0.
const char *sample_name(const samples *s, size_t index, char *out, size_t capacity);

// Prints the error of a sample that could not be read on stderr.
void sample_tell(samples *s, size_t index, const qdq_error *err, watch *progress);
// Reports that none of `count` samples could be read, and the first reason. Returns the exit code.
int samples_refuse(const samples *s, size_t count);

// Writes a sample to the inputs of an exec, and a hash of its arrays to `digest`. The error does
// not begin with the sample's name.
qdq_status sample_load(samples *s, size_t index, qdq_exec *exec,
                       unsigned char digest[QDQ_SHA256_BYTES], qdq_error *err);

#endif
