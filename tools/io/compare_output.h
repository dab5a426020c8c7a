// SPDX-License-Identifier: Apache-2.0
// Compares an output with a file.
#ifndef QDQ_TOOLS_IO_COMPARE_OUTPUT_H
#define QDQ_TOOLS_IO_COMPARE_OUTPUT_H

#include <qdq/tensor_file.h>

#include "runtime/base/json_writer.h"
#include "tools/io/tensor_io.h"

typedef struct run_options run_options;

// Checks --tolerance and --worst. EXIT_OK, or another exit code after a message.
int compare_check_options(const run_options *own);

// Prints the difference between `tensor` and the expected tensor, as text or, if `json` is not
// NULL, as an object. Values are compared as numbers: NaN equals NaN, and -0 differs from 0 unless
// a tolerance is given. Dtypes may differ, shapes may not. EXIT_OK, EXIT_FINDINGS if they differ by
// more than --tolerance, or another exit code.
int compare_output(tensor_source *source, const qdq_tensor *tensor, const tensor_spec *spec,
                   const run_options *own, qdq_json *json);

#endif
