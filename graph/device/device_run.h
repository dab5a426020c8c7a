// SPDX-License-Identifier: Apache-2.0
// A simulated run on a device: allocates and frees buffers, launches programs, and records both.
//
// The first failure stops the run: every later call does nothing and returns SIZE_MAX.
#ifndef QDQ_GRAPH_DEVICE_DEVICE_RUN_H
#define QDQ_GRAPH_DEVICE_DEVICE_RUN_H

#include "graph/device/device_pass.h"
#include "graph/memory/conv_weights.h"
#include "graph/memory/tensor_layouts.h"

// Where buffers lie. Consecutive buffers with the same place share it, since it takes most of their
// memory.
typedef struct qdq_run_place {
    qdq_memory_config config;
    qdq_buffer_layout layout;
} qdq_run_place;

typedef struct qdq_run_buffer {
    qdq_device_buffer *shown;  // NULL: no record
    size_t view_of;            // the buffer whose memory it shares; SIZE_MAX: it has its own
    qdq_device_tensor tensor;
    const qdq_run_place *place;
    uint64_t address;
    bool is_allocated;
} qdq_run_buffer;

typedef struct qdq_device_run {
    const qdq_graph *graph;
    const qdq_device_request *request;
    qdq_mempool *mempool;  // of the plan: names of the record
    qdq_mempool *scratch;  // everything else
    qdq_error *err;
    qdq_status status;  // of stopping
    qdq_device_trouble *trouble;
    bool stopped;
    qdq_device_memory memory;
    qdq_tensor_layouts layouts;
    qdq_conv_weights *weights;  // per graph value
    bool records;               // buffers, steps and events become a record
    const qdq_run_place *last_place;
    qdq_run_buffer *buffers;
    size_t buffer_count, buffer_capacity;
    qdq_device_step *steps;  // only the last one if there is no record
    size_t step_count, step_capacity;
    qdq_device_event *events;
    size_t event_count, event_capacity;
    size_t peak_step[QDQ_POOLS];
    uint64_t peak_circular, peak_l1;
    const qdq_node *node;  // that runs; NULL before the first
    size_t node_index;
    bool own_outputs;     // its output_tensor is not where its result goes
    size_t *buffer_of;    // per graph value
    size_t *last_reader;  // per graph value: the last live node that reads it; SIZE_MAX: none
    bool *live;           // per node: an output of the graph depends on it
    // The values whose tensors die in a graph capture, a list for each node. 0: the end; NULL: the
    // graph is not read from a capture.
    uint32_t *deaths, *next_death;
    // Buffers of lists of numbers in attributes, QDQ_NODE_LISTS per node; SIZE_MAX: none.
    size_t *lists;
} qdq_device_run;

enum { QDQ_NODE_LISTS = 4 };

//---- Buffers ----------------------------------------------------------------

// Allocates the buffer of value `id`, or takes the buffer of its output_tensor. Called once.
size_t qdq_run_allocate_value(qdq_device_run *run, uint32_t id, qdq_buffer_role role);
// Allocates the list of an attribute of `node`.
size_t qdq_run_allocate_list(qdq_device_run *run, const qdq_node *node, const char *attribute,
                             qdq_dtype dtype, qdq_shape shape);
// Allocates an intermediate of the program that runs, with the memory config of buffer `like`.
size_t qdq_run_allocate_intermediate(qdq_device_run *run, const char *program, qdq_dtype dtype,
                                     qdq_shape shape, size_t like);
// Adds value `id` as a view of a buffer.
size_t qdq_run_view(qdq_device_run *run, uint32_t id, size_t root);
void qdq_run_free(qdq_device_run *run, size_t buffer);
// Records that the last program reads or writes a buffer; SIZE_MAX: none.
void qdq_run_note_use(qdq_device_run *run, size_t buffer);

//---- Records ----------------------------------------------------------------

// Appends an event of the program that runs, if there is a record.
void qdq_run_add_event(qdq_device_run *run, qdq_device_event event);
// Stops the run by a failure of the allocator: at the node that runs, or at `value` before the
// first. Returns SIZE_MAX.
size_t qdq_run_stop_failure(qdq_device_run *run, const qdq_memory_failure *failure,
                            const char *value, qdq_buffer_role role);

//---- Programs ---------------------------------------------------------------

// How a program uses circular buffers.
typedef enum qdq_program_kind {
    QDQ_PROGRAM_OTHER = 0,  // not known
    QDQ_PROGRAM_UNARY,      // two tiles of the input, two of the output; or the shards of both
    QDQ_PROGRAM_BINARY,     // see qdq_binary_circular_buffers
    QDQ_PROGRAM_MATMUL,     // see qdq_matmul_program_of
    QDQ_PROGRAM_MOVE,       // to shards, from shards, or to other shards
    QDQ_PROGRAM_LAYOUT,     // rows to tiles, or tiles to rows
} qdq_program_kind;

// Begins a program of the node that runs; its output is allocated next. `program` lives as long as
// the plan.
void qdq_run_begin(qdq_device_run *run, const char *program);
// Places its circular buffers and runs it. b is SIZE_MAX for a number of `scalar_dtype`, and for
// programs that are not binary.
void qdq_run_launch(qdq_device_run *run, qdq_program_kind kind, size_t a, size_t b,
                    qdq_dtype scalar_dtype, size_t output);

// Places the circular buffers of the program that runs, whose inputs and output are known
// (graph/device/device_circular.c).
void qdq_run_place_circular(qdq_device_run *run, qdq_program_kind kind, qdq_dtype scalar_dtype);

//---- Nodes ------------------------------------------------------------------

// Runs the programs of run->node (graph/device/device_nodes.c).
void qdq_run_node(qdq_device_run *run);
// True if the node reads the constant as a number, so that the device holds no tensor of it.
bool qdq_run_takes_number(const qdq_device_run *run, const qdq_node *node, size_t input);
// Allocates the lists in the attributes of a node.
void qdq_run_node_lists(qdq_device_run *run, const qdq_node *node, size_t index);

#endif
