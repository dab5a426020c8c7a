// SPDX-License-Identifier: Apache-2.0
// Loads device results (values and outputs of a graph) from files.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_GIVEN_H
#define QDQ_TOOLS_LAB_EXPLAIN_GIVEN_H

#include <qdq/exec.h>

#include "tools/io/tensor_io.h"
#include "tools/session.h"

typedef struct string_list string_list;

typedef struct given_values {
    size_t ids;          // greater than any value id of the graph
    void **data;         // [value]: row-major, in the dtype of the value; NULL: not given; owned
    void **inputs;       // [value]: elements of inputs of the graph; owned
    const char **names;  // [value]: the name of the output that gave it, or NULL
    const char **files;  // [value]: the --got that gave it, or NULL
    const char *file;    // the --got that is read
    size_t count;        // number of given values
    size_t ignored;      // tensors whose name is no value's
    char ignored_name[128];          // name of an ignored tensor
    const qdq_allocator *allocator;  // allocates elements
    tensor_source source;            // the file that is read
} given_values;

// Opens an empty set of values. EXIT_OK, or another exit code after a message; release it in either
// case.
int given_open(given_values *given, const session *s);
// Opens a set of values and reads files of --got. EXIT_OK, or another exit code after a message;
// release it in either case.
int given_read(given_values *given, const session *s, const string_list *files);
// Takes the inputs of the graph by the options, from -i or from `files` (NULL: none), and destroys
// the exec. EXIT_OK, or another exit code after a message.
int given_take_inputs(given_values *given, session *s, const options *opt,
                      const string_list *files);
// Opens a set of values for another graph, with copies of the inputs of `from`. EXIT_OK, or another
// exit code after a message; release it in either case.
int given_copy_inputs(given_values *out, const session *to, const session *from,
                      const given_values *given);
void given_release(given_values *given);

// Returns a number greater than the id of every value of a graph, inputs included.
size_t graph_ids(const qdq_graph *graph, const qdq_plan *plan);

#endif
