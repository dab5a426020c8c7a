// SPDX-License-Identifier: Apache-2.0
// Standard input ("-") and pipes, as files that can be read anywhere and more than once: nameless
// copies, which are gone when the process ends.
#ifndef QDQ_TOOLS_IO_STREAMS_H
#define QDQ_TOOLS_IO_STREAMS_H

#include "tools/options.h"

enum { MAX_PIPES = 64 };

// Words of the options that had to be written anew: of pipes that have a name. All zero is none.
typedef struct streams {
    char *words[MAX_PIPES];
    size_t count;
    bool has_stdin;
} streams;

// Copies what the options name as graphs, inputs and expected outputs and what is no file. EXIT_OK,
// or another exit code after a message. The options hold words of `s` then.
int streams_take(streams *s, const command_row *command, options *opt);
void streams_close(streams *s);

// What to open for a word: "-" is /dev/stdin.
const char *stream_path(const char *file);

// Copies at most `most` bytes from one descriptor to another; false with errno set. Whoever reads
// the copy tells that there are too many.
bool stream_copy(int from, int to, uint64_t most);

// Reads a graph from a file, or from what streams_take has copied: its constants are then looked
// for in the working folder. NULL with `err` set.
qdq_graph *stream_read_graph(const char *path, const qdq_graph_options *graph_options,
                             qdq_error *err);

#endif
