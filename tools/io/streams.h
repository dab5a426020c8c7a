// SPDX-License-Identifier: Apache-2.0
// Makes standard input ("-") and pipes readable anywhere and more than once: copies them to
// nameless files, which vanish when the process ends.
#ifndef QDQ_TOOLS_IO_STREAMS_H
#define QDQ_TOOLS_IO_STREAMS_H

#include <qdq/graph.h>

#include "tools/options.h"

enum { MAX_PIPES = 64 };

// Replaced words of the options, for named pipes. All zero is none.
typedef struct streams {
    char *words[MAX_PIPES];
    size_t count;
    bool has_stdin;
} streams;

// Copies the graphs, inputs and expected outputs of the options that are no regular files. The
// options then hold words of `s`. EXIT_OK, or another exit code after a message.
int streams_take(streams *s, const command_row *command, options *opt);
void streams_close(streams *s);

// The path to open for a word: "-" is /dev/stdin.
const char *stream_path(const char *file);

// Copies at most `most` bytes between descriptors. False with errno set. The reader of the copy
// reports an input that is too long.
bool stream_copy(int from, int to, uint64_t most);

// Reads a graph from a file or from a copy of streams_take. A copied graph has its constants in the
// working folder. NULL with `err` set.
qdq_graph *stream_read_graph(const char *path, const qdq_graph_options *graph_options,
                             qdq_error *err);

#endif
