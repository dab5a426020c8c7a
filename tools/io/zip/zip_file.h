// SPDX-License-Identifier: Apache-2.0
// Reads the members of a zip archive as numpy writes .npz files: stored or deflated, of any size.
#ifndef QDQ_TOOLS_IO_ZIP_ZIP_FILE_H
#define QDQ_TOOLS_IO_ZIP_ZIP_FILE_H

#include "tools/io/zip/byte_source.h"

enum { ZIP_NAME = 1024 };

// An open archive, and the place of the next member in its directory. All zero before zip_open.
typedef struct zip_file {
    FILE *file;
    uint64_t bytes;  // of the file
    unsigned char *directory;
    size_t directory_bytes, at;
} zip_file;

// Reads the directory, at most 16 MiB. zip_close frees it and leaves the file open.
qdq_status zip_open(zip_file *zip, FILE *file, uint64_t bytes, qdq_error *err);
// Sets the name and the source of the next member. *more is false after the last.
qdq_status zip_next(zip_file *zip, char name[ZIP_NAME], byte_source *out, bool *more,
                    qdq_error *err);
void zip_close(zip_file *zip);

#endif
