// SPDX-License-Identifier: Apache-2.0
// Samples that come one after another on standard input: for each the size of a file in 8 bytes,
// little-endian, and then the file, .npy, .npz or .safetensors, which its first bytes tell apart.
#ifndef QDQ_TOOLS_LAB_DATASET_SAMPLE_STREAM_H
#define QDQ_TOOLS_LAB_DATASET_SAMPLE_STREAM_H

#include "tools/io/array_file.h"

// The word of --data for standard input.
extern const char sample_stream_word[];

// The last sample lies in a file of a temporary folder.
typedef struct sample_stream {
    char folder[1024], path[1024 + 32];
    uint64_t most;  // bytes of a sample
} sample_stream;

// Makes the folder; close it in either case. EXIT_OK, or another exit code after a message.
int sample_stream_open(sample_stream *s, uint64_t most);
void sample_stream_close(sample_stream *s);

// Reads the next sample to the file `path`. *more is false at the end of the stream. EXIT_OK, or
// another exit code after a message.
int sample_stream_next(sample_stream *s, bool *more);

#endif
