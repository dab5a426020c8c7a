// SPDX-License-Identifier: Apache-2.0
// The files of a shard as another process has listed the data, --listing FILE: a machine then looks
// at the files of its own samples only.
#ifndef QDQ_TOOLS_LAB_DATASET_LISTING_H
#define QDQ_TOOLS_LAB_DATASET_LISTING_H

#include "runtime/base/hash/sha256.h"
#include "tools/lab/dataset/shard.h"
#include "tools/lab/dataset/text_list.h"

// The names of a shard's samples, in order.
typedef struct data_listing {
    text_list names;
    int64_t *sizes;                              // of the files in bytes; owned
    int64_t (*probes)[3];                        // file, first byte, bytes of parts; owned
    unsigned char (*digests)[QDQ_SHA256_BYTES];  // of the parts; owned
    size_t probe_count;
    int64_t samples;  // of the data
    shard own;
    unsigned char digest[QDQ_SHA256_BYTES];  // data_digest of all files
} data_listing;

// Reads a .safetensors file with `samples` I64 [1], `shard` I64 [2], `names` U8, `sizes` I64 [n],
// `probes` I64 [k, 3], `digests` U8 [32 k] and `listing` U8 [32], for this shard. EXIT_OK, or
// another exit code after a message; release it in either case.
int listing_read(data_listing *out, const char *path, const shard *own);
void listing_release(data_listing *l);

// Fails if a file of the folder has another size than listed, or a part other content. EXIT_OK, or
// another exit code after a message.
int listing_check(const data_listing *l, const char *folder);

// Returns the name of sample `index` of the data, which belongs to the shard.
const char *listing_name(const data_listing *l, size_t index);

#endif
