// SPDX-License-Identifier: Apache-2.0
// A graph capture of ttnn (docs/format.md, section 10): the nodes that it has of buffers, tensors,
// programs and circular buffers, and the graph that they are rebuilt into.
//
// capture_read.c turns the JSON into the records below, capture_graph.c makes values and nodes of
// them, capture_device.c finds the chip, and capture_compare.c compares them with a plan.
#ifndef QDQ_GRAPH_FORMATS_CAPTURE_CAPTURE_H
#define QDQ_GRAPH_FORMATS_CAPTURE_CAPTURE_H

#include "graph/formats/json/json_item.h"
#include "include/qdq/capture.h"

// "counter" is the number of a node in the list. SIZE_MAX stands for "none" in every index.

typedef struct qdq_capture_allocation {
    size_t counter;
    size_t tensor;  // SIZE_MAX: no tensor of the capture lies there
    uint64_t address, size, page_size, num_cores, max_size_per_bank, buffer_type;
    const char *type, *layout;
} qdq_capture_allocation;

typedef struct qdq_capture_tensor {
    size_t counter;  // of its first node
    uint64_t id, address, size, buffer_type;
    const char *shape, *dtype, *layout;  // as the capture prints them
    const char *memory_config;           // NULL: a tensor of the host
    const char *buffer_layout;  // of its buffer: "HEIGHT_SHARDED"; NULL: it has no buffer node
    uint64_t buffer_size;
    size_t allocation;
    size_t death;         // the counter of its buffer_deallocate; SIZE_MAX: it outlives the capture
    uint32_t input;       // the value that it is as an input of the graph; 0: none
    qdq_tile_shape tile;  // all zero: not printed
    qdq_value value;      // that holds it now; id 0: no known op reads or writes it
    bool has_name;        // a value of the graph is called after it
    bool is_result;       // of an op that the graph has
} qdq_capture_tensor;

typedef struct qdq_capture_circular {
    size_t counter;
    uint64_t size, address;
    const char *cores;
    bool globally_allocated;
} qdq_capture_circular;

// A function that runs a program: its name ends with "DeviceOperation".
typedef struct qdq_capture_program {
    size_t counter, end;           // function_start and function_end
    const char *name, *arguments;  // the first argument: its attributes
    size_t first_input, input_count;
    size_t output;  // a tensor
    size_t first_circular, circular_count;
    size_t node;    // of the graph
    uint32_t made;  // the value of its output
} qdq_capture_program;

typedef struct qdq_capture {
    qdq_capture_tensor *tensors;
    size_t tensor_count;
    qdq_capture_program *programs;
    size_t program_count;
    size_t *inputs;  // tensors that programs read
    size_t input_count;
    qdq_capture_allocation *allocations;
    size_t allocation_count;
    qdq_capture_circular *circulars;
    size_t circular_count;
    const char **unknown;  // names of programs that qdq has no op for, each once
    size_t unknown_count;
} qdq_capture;

// True if the content is a list: a qdq/1 file and a oneDNN Graph file are objects.
bool qdq_json_is_capture(const qdq_json_item *json);
// Reads a capture into an empty graph, whose `capture` it becomes. QDQ_ERR_PARSE for a list that is
// no capture, QDQ_ERR_UNSUPPORTED for one without an op that qdq knows.
qdq_status qdq_json_read_capture(const qdq_reader *r, const qdq_json_item *json);

//---- Between the files of this reader ---------------------------------------

qdq_status qdq_capture_read_records(const qdq_reader *r, const qdq_json_item *json,
                                    qdq_capture *out);
qdq_status qdq_capture_build(const qdq_reader *r, qdq_capture *capture);
// Adds the node of a program that has operands; `into` is its output_tensor, or id 0. Only an op of
// two operands takes one.
qdq_value qdq_capture_add_op(qdq_graph *graph, const qdq_capture_program *program,
                             const qdq_value *inputs, const char *name, qdq_dtype dtype,
                             qdq_value into);
// Returns the count of a program's operands, which are its first inputs; further ones are the
// output, allocated before. 0: qdq does not have its op, or it reads a number or a tensor of the
// host.
size_t qdq_capture_operands(const qdq_capture *capture, const qdq_capture_program *program);

// Read ttnn's texts. False if they are not of this form.
bool qdq_capture_shape(const char *text, qdq_shape *out);
bool qdq_capture_dtype(const char *text, qdq_dtype *out);
bool qdq_capture_config(const char *text, qdq_memory_config *out);
bool qdq_capture_tile(const char *text, qdq_tile_shape *out);
// Returns the number behind `key`; 0 without one.
uint64_t qdq_capture_number(const char *text, const char *key);

#endif
