// SPDX-License-Identifier: Apache-2.0
// Tensors of the command line: "[NAME=]FILE[#TENSOR]", in .npy, .npz and .safetensors files.
#ifndef QDQ_TOOLS_IO_TENSOR_IO_H
#define QDQ_TOOLS_IO_TENSOR_IO_H

#include <qdq/base.h>
#include <qdq/graph.h>
#include <qdq/tensor_file.h>

// The parts of "NAME=FILE#TENSOR". Name and tensor are "" if not given.
typedef struct tensor_spec {
    char name[1024];
    char file[4096];
    char tensor[1024];
} tensor_spec;

bool tensor_spec_parse(const char *text, tensor_spec *out);
// Parse the text, and translate the name of an input, or of an output or a value, in the file of
// the graph to its name in the graph.
bool tensor_spec_of_input(const qdq_graph *graph, const char *text, tensor_spec *out);
bool tensor_spec_of_result(const qdq_graph *graph, const char *text, tensor_spec *out);

// Files of tensors, of which the last stays open: many of its tensors are read without listing it
// again. Set only `from` at first, and close it.
typedef struct tensor_source {
    const qdq_allocator *from;  // of elements; NULL: the C library
    char file[4096];            // that is open; "": none
    struct npz_file *npz;
    qdq_tensor_file *tensors;
} tensor_source;

void tensor_source_close(tensor_source *source);

// A tensor in memory of the source's allocator; tensor_release frees it.
typedef struct loaded_tensor {
    qdq_dtype dtype;
    qdq_shape shape;
    void *data;
} loaded_tensor;

// True if a file is .safetensors or .npz, by content, else by name.
bool holds_named_tensors(const char *file);
// Opens a .safetensors file. NULL with `err` set, which names the kind of another file if it is
// known.
qdq_tensor_file *tensor_file_open(const char *file, qdq_error *err);

// Reads the tensor for `name`: the array of an .npy file; in other files the tensor that the spec
// names, or else `name`, or else the only tensor. If its shape is not `wanted`, `out` gets its
// shape and no data, so that a header cannot demand memory for elements of no use.
qdq_status tensor_load(tensor_source *source, const tensor_spec *spec, const char *name,
                       qdq_shape wanted, loaded_tensor *out, qdq_error *err);
// Reads only its shape.
qdq_status tensor_shape(const tensor_spec *spec, const char *name, qdq_shape *out, qdq_error *err);
void tensor_release(loaded_tensor *tensor);
// True if integers of a .safetensors file are the bits of `dtype`, a float that the format has no
// name for.
bool are_codes_of(qdq_dtype dtype, qdq_dtype stored, const char *file);

// True if a file of named tensors can be opened; otherwise sets `err`.
bool tensor_file_opens(tensor_source *source, const char *file, qdq_error *err);
// True if a file given without NAME has a tensor named `name`.
bool tensor_file_has(tensor_source *source, const char *file, const char *name);

// Writes one tensor in the format of the file's ending; pipes without an ending get .npy. For
// dtypes that .npy does not have, the tensor is widened to float32.
qdq_status tensor_save(const char *file, const qdq_tensor *tensor, qdq_error *err);

// Converts n elements to doubles, exactly.
void to_doubles(qdq_dtype dtype, const void *data, size_t n, double *out);

// Writes an element as text: integers exactly, other numbers with nine digits.
const char *element_text(qdq_dtype dtype, double value, char out[32]);

// True if a file name ends in `ending`, which is in lower case; letters of either case match.
bool has_ending(const char *text, const char *ending);

#endif
