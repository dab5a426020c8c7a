// SPDX-License-Identifier: Apache-2.0
// What a device gave: elements of values and outputs of a graph, from files.
#ifndef QDQ_TOOLS_EXPLAIN_GIVEN_H
#define QDQ_TOOLS_EXPLAIN_GIVEN_H

#include <qdq/exec.h>

#include "tools/session.h"

typedef struct given_values {
    size_t ids;          // greater than any value id of the graph
    void **data;         // [value]: row-major, in the dtype of the value; NULL: not given; owned
    void **inputs;       // [value]: elements of inputs of the graph; owned
    const char **names;  // [value]: the name of the output that gave it, or NULL
    size_t count;        // of values that are given
    size_t ignored;      // tensors with the name of no value
    char ignored_name[128];          // one of them
    const qdq_allocator *allocator;  // of elements
} given_values;

// Opens it without values. EXIT_OK, or another exit code after a message; release it in either
// case.
int given_open(given_values *given, const session *s);
// Opens it and reads files of --got. EXIT_OK, or another exit code after a message; release it in
// either case.
int given_read(given_values *given, const session *s, const string_list *files);
// Takes the inputs of the graph, as the options give them, from -i or from among the values of
// --got, and ends the exec. EXIT_OK, or another exit code after a message.
int given_take_inputs(given_values *given, session *s, const options *opt);
// Opens values of another graph with copies of the inputs of `from`. EXIT_OK, or another exit code
// after a message; release it in either case.
int given_copy_inputs(given_values *out, const session *to, const session *from,
                      const given_values *given);
void given_release(given_values *given);

// How many ids cover all values of a graph with its inputs.
size_t graph_ids(const qdq_graph *graph, const qdq_plan *plan);

#endif
