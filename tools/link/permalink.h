// SPDX-License-Identifier: Apache-2.0
// The text of a permalink, format qdq-link/1: a command, its options, a graph and its inputs.
#ifndef QDQ_TOOLS_LINK_PERMALINK_H
#define QDQ_TOOLS_LINK_PERMALINK_H

#include <qdq/base.h>

#include "tools/link/json_span.h"

#define LINK_COMMANDS "run check compare explain bisect plan"

typedef struct permalink {
    char command[16];    // "run", "check", "compare", "explain", "bisect" or "plan"
    char target[128];    // "": the graph's
    char targets[1024];  // of compare and bisect; "": the default
    char fill[24];       // the seed of inputs that are not given; "": none
    bool fast;
    size_t left_out;   // constants of the graph that became inputs, which `fill` fills
    json_span graph;   // a graph file
    json_span inputs;  // a .safetensors file in base64url, quoted; length 0: none
    json_span got;     // such a file with the results that explain explains; only of explain
} permalink;

// True if a name of a target, a list of names or a seed has only characters that links may have.
bool permalink_word_fits(const char *word);

// Returns the text of a link without white space, from malloc; NULL if memory runs out.
char *permalink_write(const permalink *link);

// Reads the text of a link, to which spans of `out` point. False with `err` set.
bool permalink_read(const char *text, permalink *out, qdq_error *err);

#endif
