// SPDX-License-Identifier: Apache-2.0
// Comparing an output with a file.
#ifndef QDQ_TOOLS_COMPARE_COMPARE_H
#define QDQ_TOOLS_COMPARE_COMPARE_H

#include "tools/io/tensor_io.h"
#include "tools/options.h"

// Checks --tolerance and --rows. EXIT_OK, or another exit code after a message.
int compare_check_options(const options *opt);

// Prints how far `tensor` is from the expected one (as an object of `json`, where it is not NULL).
// Values are compared as numbers, NaN equals NaN, and without a tolerance -0 is not 0; the dtypes
// may differ, the shapes may not.
// EXIT_OK, EXIT_FINDINGS if they differ by more than --tolerance, else another exit code.
int compare_output(const qdq_tensor *tensor, const tensor_spec *spec, const options *opt,
                   qdq_json *json);

#endif
