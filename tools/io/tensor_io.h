// SPDX-License-Identifier: Apache-2.0
// Tensors of the command line: "[NAME=]FILE[#TENSOR]", in .npy and .safetensors.
#ifndef QDQ_TOOLS_IO_TENSOR_IO_H
#define QDQ_TOOLS_IO_TENSOR_IO_H

#include <qdq/qdq.h>

// "NAME=FILE#TENSOR" taken apart; name and tensor are "" where they are not given.
typedef struct tensor_spec {
    char name[256];
    char file[4096];
    char tensor[256];
} tensor_spec;

bool tensor_spec_parse(const char *text, tensor_spec *out);

// A tensor in memory from malloc; tensor_release gives it back.
typedef struct loaded_tensor {
    qdq_dtype dtype;
    qdq_shape shape;
    void *data;
} loaded_tensor;

// Whether a file is .safetensors, by its content, else by its name.
bool holds_named_tensors(const char *file);
// Opens such a file; NULL with `err` set, which says what the file is if it is known.
qdq_tensor_file *tensor_file_open(const char *file, qdq_error *err);

// Reads the tensor for `name`: a .npy file as it is; of a .safetensors file the tensor that the
// spec names, else `name`, else the only one there is.
qdq_status tensor_load(const tensor_spec *spec, const char *name, loaded_tensor *out,
                       qdq_error *err);
void tensor_release(loaded_tensor *tensor);
// Whether integers of a .safetensors file are codes of `dtype`, a float for which it has no word.
bool are_codes_of(qdq_dtype dtype, qdq_dtype stored, const char *file);

// Whether a file that has no NAME has a tensor called `name`.
bool tensor_file_has(const char *file, const char *name);

// Writes one tensor by the ending of the file, as .npy where a pipe has none; .npy widens what it
// has no type for to float32.
qdq_status tensor_save(const char *file, const qdq_tensor *tensor, qdq_error *err);

// n elements as doubles, exactly.
void to_doubles(qdq_dtype dtype, const void *data, size_t n, double *out);

// An element as text: integers exactly, others with nine digits.
const char *element_text(qdq_dtype dtype, double value, char out[32]);

bool has_ending(const char *text, const char *ending);

#endif
