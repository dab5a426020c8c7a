// SPDX-License-Identifier: Apache-2.0
// Constants whose elements stay in their .safetensors file until they are needed. The graph keeps
// the file open: replacing the file is harmless, writing to it is detected.
//
// A constant of more than 4096 elements is loaded as a place in its open file. `keep_constants`
// (graph/compile/compile.c) reads it into the plan. Packing reads it part by part
// (ops/gemm/gemm_read.h): a few k of all columns, or all k of a panel's columns, whichever lie
// closer together in the file. Ops see `stored` in place of `data`. Inputs that are needed before
// compiling (`looks_at`: scales and zero points) are read when they are connected.
#ifndef QDQ_GRAPH_CORE_HELD_CONSTANTS_H
#define QDQ_GRAPH_CORE_HELD_CONSTANTS_H

#include "graph/core/graph.h"
#include "graph/core/open_file.h"

// A file that a graph reads constants from, with its own descriptor.
typedef struct qdq_held_file {
    struct qdq_held_file *next;  // the next file of the same graph
    qdq_open_file open;
    const char *name;  // for messages
} qdq_held_file;

// The place of a constant's elements. The graph owns *failure, which keeps the first read error.
// Reads happen on the thread that uses the graph: threads that pack share the elements it has read.
typedef struct qdq_held {
    qdq_stored stored;
    const qdq_held_file *file;
    uint64_t at;       // offset in the file
    qdq_dtype packed;  // of elements that share bytes in the file; 0: each has its own bytes
    size_t first;      // elements between `at` and the constant, if they are packed
    qdq_error *failure;
} qdq_held;

// Keeps `open` for a graph until the graph is destroyed. NULL with `err` set.
const qdq_held_file *qdq_hold_file(qdq_graph *graph, const qdq_open_file *open, const char *name,
                                   qdq_error *err);
void qdq_release_files(qdq_graph *graph);

// Adds a constant whose elements are in `file` from byte `at`.
qdq_value qdq_graph_add_held(qdq_graph *graph, const char *name, qdq_type type,
                             const qdq_held_file *file, uint64_t at);

// Adds a constant of a dtype narrower than a byte, whose elements are packed in `file` as ONNX
// packs them; the constant begins `first` elements after byte `at`.
qdq_value qdq_graph_add_packed(qdq_graph *graph, const char *name, qdq_type type,
                               const qdq_held_file *file, uint64_t at, size_t first);

// Adds the same constant to another graph; both read the same file.
qdq_value qdq_graph_share_held(qdq_graph *graph, const char *name, const qdq_graph_value *from);

// True if two constants are the same place of the same file.
bool qdq_held_is_equal(const qdq_stored *a, const qdq_stored *b);

// Reads the elements into memory of the graph. On failure returns false; *failure or the pool has
// the reason.
bool qdq_graph_load_value(qdq_graph *graph, qdq_graph_value *value);

// Copies the elements of a constant to `out`. On failure returns false with the reason in *failure.
bool qdq_graph_copy_elements(const qdq_graph_value *constant, void *out);

#endif
