// SPDX-License-Identifier: Apache-2.0
// Copies standard input ("-") and pipes to nameless files, so that they can be read at any offset
// and more than once. The files vanish when the process ends.
#ifndef QDQ_TOOLS_IO_STREAMS_H
#define QDQ_TOOLS_IO_STREAMS_H

#include <qdq/graph.h>

typedef struct options options;
typedef struct command_row command_row;
typedef struct string_list string_list;

// Words that replace names of pipes in the options. All zero is none.
typedef struct streams {
    char **words;
    size_t count;
    bool has_stdin;
} streams;

// Copies the graphs, inputs and expected outputs of the options that are not regular files. The
// options then hold words of `s`. EXIT_OK, or another exit code after a message.
int streams_take(streams *s, const command_row *command, options *opt);
void streams_close(streams *s);

// Returns the path to open for a word: /dev/stdin for "-".
const char *stream_path(const char *file);

// Copies at most `most` bytes between descriptors. False with errno set. A longer input is cut off,
// and the reader of the copy reports it.
bool stream_copy(int from, int to, uint64_t most);

// Loads a graph from a file or from a copy of streams_take. Constant files of a copied graph are in
// the working folder. NULL with `err` set.
qdq_graph *stream_read_graph(const char *path, const qdq_graph_options *graph_options,
                             qdq_error *err);

#endif
