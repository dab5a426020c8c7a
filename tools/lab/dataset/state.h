// SPDX-License-Identifier: Apache-2.0
// A state: the results of a command on the samples of a shard, and the hashes of its graphs and
// data. States of shards merge into the state of all samples, byte for byte
// (docs/many_machines.md).
#ifndef QDQ_TOOLS_LAB_DATASET_STATE_H
#define QDQ_TOOLS_LAB_DATASET_STATE_H

#include <qdq/exec.h>

#include "runtime/base/hash/sha256.h"
#include "tools/lab/dataset/text_list.h"

typedef struct options options;

enum {
    STATE_VERSION = 4,
    MOST_SHARDS = 1000000,
    COMPLETE = -1,
    MOST_COLUMNS = 20,
    MOST_TABLES = 5,
};

typedef struct state state;
typedef struct state_table state_table;

//---- Kinds ------------------------------------------------------------------

// A column of a table, and a tensor of the file: [rows, width], or a list of texts.
typedef struct state_column {
    const char *name;
    size_t width;     // numbers in a row
    qdq_dtype dtype;  // QDQ_INT64, QDQ_FLOAT64; QDQ_UINT8: a text per row, equal in all shards
    bool digits;      // the numbers are the digits of an exact sum
} state_column;

// A table. Column 0 has texts. Its rows follow from the graph, or, if the table grows, from the
// samples so far: they are sorted by column 1, an integer, and then by column 0.
typedef struct state_table_kind {
    const state_column *columns;
    size_t column_count;
    bool grows;
    const char *called;  // in messages about other rows; NULL: list of values
    // Sets the numbers of a row without samples; NULL: all 0.
    void (*clear)(const state_table *table, size_t row);
    // Merges a row of other samples. The result must not depend on the order of merges.
    void (*merge)(const state_table *into, size_t row, const state_table *from, size_t from_row);
} state_table_kind;

// The state of a command; tools/lab/dataset/kinds.c lists the kinds.
typedef struct state_kind {
    const char *command;
    const char *rows;  // the name of the rows of table 0 in messages
    const state_table_kind *tables;
    size_t table_count;
    // Prints a report as text or JSON. EXIT_OK, or EXIT_FINDINGS as docs/many_machines.md says.
    int (*report)(const state *s, const options *opt);
    // Warns on stderr of uses that the state in a file does not allow; NULL: never.
    void (*warn)(const state *s, const char *file);
} state_kind;

//---- States -----------------------------------------------------------------

struct state_table {
    const state_table_kind *kind;
    size_t rows, capacity;
    text_list texts[MOST_COLUMNS];  // [column]: of columns of texts
    void *numbers[MOST_COLUMNS];    // [column]: of other columns, [capacity, width]; owned
};

struct state {
    const state_kind *kind;
    text_list fingerprints;                   // of each graph at its target
    text_list targets;                        // of each graph, with version and options
    text_list refused;                        // targets that refuse the graph
    unsigned char listing[QDQ_SHA256_BYTES];  // digest of the data, see samples.h
    unsigned char samples[QDQ_SHA256_BYTES];  // sum of the hashes of all samples, modulo 2^256
    int64_t sample_count;                     // of the data; 0: a stream
    int64_t taken;                            // samples in the tables
    int64_t next;  // sample of the shard with which a run resumes; COMPLETE: none
    int64_t shard_count;
    int64_t *shards;  // numbers 1 .. shard_count, ascending
    size_t shards_held;
    text_list unreadable;  // names of samples, in the order of the data
    state_table tables[MOST_TABLES];
};

// Opens an empty state of a kind; state_release frees it.
void state_open(state *s, const state_kind *kind);
void state_release(state *s);

// Appends a row with a text for each column of texts. SIZE_MAX if memory runs out.
size_t state_add_row(state_table *t, const char *const *texts);
// Finds a row of a growing table, or adds it. SIZE_MAX if memory runs out.
size_t state_row(state_table *t, int64_t number, const char *text);
// Return the numbers or the text of a row.
int64_t *state_ints(const state_table *t, size_t column, size_t row);
double *state_reals(const state_table *t, size_t column, size_t row);
const char *state_text(const state_table *t, size_t column, size_t row);
// Adds counts, modulo 2^64: a file of another program may have any counts.
void state_add_counts(int64_t *into, const int64_t *from, size_t count);

// Adds the fingerprint of a graph at the target that its exec computes. EXIT_OK, or another exit
// code after a message.
int state_add_graph(state *s, qdq_graph *graph, const char *target, qdq_exec *exec);

void state_add_digest(unsigned char sum[QDQ_SHA256_BYTES],
                      const unsigned char digest[QDQ_SHA256_BYTES]);
// Inserts the name of a sample in the order of the data. False if memory runs out.
bool state_add_unreadable(state *s, const char *name);

// Merges the samples of `from`, which must be a state of other shards of the same run
// (state_differs). A state with all shards becomes shard 1 of 1. False if memory runs out.
bool state_merge(state *into, const state *from);
// Names the first difference between the runs of two states ("graph", ...); NULL: none.
const char *state_differs(const state *a, const state *b);

#endif
