// SPDX-License-Identifier: Apache-2.0
// Writes .mem files, which $readmemh of Verilog loads into an array: a line of hexadecimal digits
// for each element.
#ifndef QDQ_TOOLS_IO_MEMORY_FILE_H
#define QDQ_TOOLS_IO_MEMORY_FILE_H

#include <qdq/tensor_file.h>

// Writes the bits of a tensor, row-major, with a digit for each four bits of its dtype, behind a
// comment that names it. Errors begin with the path.
qdq_status memory_file_write(const char *path, const qdq_tensor *tensor, qdq_error *err);

#endif
