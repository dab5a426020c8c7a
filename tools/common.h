// SPDX-License-Identifier: Apache-2.0
// Shared by the commands: exit codes, loading and compiling, and printing.
#ifndef QDQ_TOOLS_COMMON_H
#define QDQ_TOOLS_COMMON_H

#include <qdq/device.h>
#include <qdq/exec.h>
#include <stdio.h>

#include "runtime/base/json_writer.h"
#include "runtime/base/posix.h"
#include "runtime/base/shape_text.h"

typedef struct options options;

// Documented in docs/command_line.md, exit codes.
enum {
    EXIT_OK = 0,
    EXIT_FINDINGS = 1,
    EXIT_USAGE = 2,
    EXIT_BAD_FILE = 3,
    EXIT_REFUSED = 4,
    EXIT_LIMIT = 5,
};
// Meanings of the exit codes, for help and man pages; NULL ends the list.
extern const char *const exit_code_texts[];

// The version of all JSON that commands print.
enum { JSON_VERSION = 1 };

// Returns the index of an op; qdq_op_count() if there is none of the name.
size_t find_op(const char *name);

int exit_code(qdq_status status);
// Prints the error on stderr and returns its exit code.
int report_error(const qdq_error *err);

// Sets the options for loading a graph, which input_shapes_release frees, and for compiling it.
// False after a message.
bool graph_options_of(const options *opt, const char *graph, qdq_graph_options *out);
bool compile_options_of(const options *opt, qdq_compile_options *out);
// Finds the device of --device, or reads its description. False after a message, with the exit code
// in *code.
bool read_device(options *opt, int *code);
// Returns the device of --device after read_device; NULL if the option is not given.
const qdq_device *device_of(const options *opt);
// Returns the same for a plan, which has no device with --fast.
const qdq_device *device_of_plan(const options *opt);
// Returns the same for one of several targets: NULL if the target runs on no device.
const qdq_device *device_for(const options *opt, const char *target);
// Loads a graph. NULL after a message, with the exit code in *code.
qdq_graph *load_graph(const char *path, const options *opt, int *code);
// True if the ending of a path names the format of a model: ONNX or TensorFlow Lite.
bool names_model(const char *path);
// Prints all errors of the graph, or, if `path` names a model, everything that its format cannot
// express. NULL: a graph file. EXIT_OK if nothing is printed.
int check_to_write(qdq_graph *graph, const char *path);
// Writes a graph to the file of -o, `whole` with its constants inside, while signals wait unless it
// is a pipe. A signal that ends the program later says that it was written. EXIT_OK, or another
// code after a message.
int save_graph(qdq_graph *graph, bool whole, const options *opt);
// Returns the instruction set of --isa, or else of QDQ_ISA; NULL: no cap.
const char *isa_of(const options *opt);
// Compiles the graph with the options, and prints the findings. *report lasts until the next call
// with the graph. NULL after a message.
qdq_plan *compile_graph(qdq_graph *graph, const options *opt, qdq_parallel parallel,
                        const qdq_report **report, int *code);

// Begins the text "NAME (MORE)" of a node: returns "NAME (", or "ORIGINAL (NAME, " where its name
// in its file is another one.
const char *node_head(const char *name, const char *original, char *out, size_t capacity);

// Return the index of element `at` of a tensor: as a shape, and as text.
qdq_shape index_of(qdq_shape shape, size_t at);
const char *index_text(qdq_shape shape, size_t at, char *out, size_t capacity);
void json_shape(qdq_json *json, qdq_shape shape);

// Opens a writer of JSON to stdout.
void json_open(qdq_json *json);
// Begins an object on stdout whose first key is `version`. json_end adds a failure that happened
// meanwhile, and the closing brace.
void json_begin(qdq_json *json);
void json_end(qdq_json *json);
void json_string_key(qdq_json *json, const char *key, const char *text);
void json_uint_key(qdq_json *json, const char *key, uint64_t value);
// Writes the key `original`, the name of a node or value in its file, where it has another name in
// the graph.
void json_original(qdq_json *json, const char *name, const char *original);
// Returns moved_bytes / necessary_bytes of a plan; 0 if no byte is necessary.
double moved_over_necessary(const qdq_plan *plan);
// Writes moved_bytes, necessary_bytes and moved_over_necessary.
void json_traffic(qdq_json *json, const qdq_plan *plan);
// Writes an integer for integer dtypes, otherwise a float32.
void json_element(qdq_json *json, qdq_dtype dtype, double value);

// Creates a folder in TMPDIR, or else in /tmp, for temporary files; the caller removes it. EXIT_OK,
// or another exit code after a message.
int make_folder(char *out, size_t capacity);

// Returns the seconds of a monotonic clock.
double now(void);

#endif
