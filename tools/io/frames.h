// SPDX-License-Identifier: Apache-2.0
// Frames: runs that follow each other, each on a part of the inputs, with the state of a graph
// passed on from run to run.
#ifndef QDQ_TOOLS_IO_FRAMES_H
#define QDQ_TOOLS_IO_FRAMES_H

#include <qdq/exec.h>

typedef struct frames {
    size_t count;
    const qdq_allocator *from;  // of the inputs
    void **inputs;              // of the plan: the elements of all frames; NULL: state
    size_t input_count;
} frames;

// True if an input of the graph is state.
bool is_state_input(const qdq_graph *graph, const char *name);

// Takes memory for `count` frames of the inputs. EXIT_OK, or another exit code after a message.
int frames_open(frames *f, size_t count, const qdq_graph *graph, const qdq_plan *plan,
                const qdq_allocator *from);
void frames_close(const frames *f);

// Returns the shape of all frames together: the first dim is `count` times as large, a scalar
// becomes a list.
qdq_shape frames_shape(qdq_shape one, size_t count);

// Makes the exec read one frame of an input, or of all inputs.
qdq_status frames_bind_input(const frames *f, qdq_exec *exec, const qdq_plan *plan, size_t input,
                             size_t frame, qdq_error *err);
qdq_status frames_bind(const frames *f, qdq_exec *exec, const qdq_plan *plan, size_t frame,
                       qdq_error *err);

#endif
