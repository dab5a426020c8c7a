// SPDX-License-Identifier: Apache-2.0
// Computes a digest of the files of a data set, equal on every machine, by which a merge notices
// shards of other data.
#ifndef QDQ_TOOLS_LAB_DATASET_DATA_DIGEST_H
#define QDQ_TOOLS_LAB_DATASET_DATA_DIGEST_H

#include <stdint.h>

#include "runtime/base/hash/sha256.h"

// The most bytes of content that are read: DIGEST_BLOCKS blocks of DIGEST_BLOCK bytes.
enum { DIGEST_BLOCK = 1 << 16, DIGEST_BLOCKS = 256 };

// Hashes a number as 8 bytes, little-endian.
void hash_number(qdq_sha256 *hash, uint64_t number);
// Hashes the length of a text, then the text.
void hash_text(qdq_sha256 *hash, const char *text);

// Computes the SHA-256 of the name and size of each file, in the given order, and of their content.
// The content is the concatenation of all files. If it is longer than all blocks together, block i
// of DIGEST_BLOCKS is read at i * (length - DIGEST_BLOCK) / (DIGEST_BLOCKS - 1): this includes the
// first and the last bytes, and with them the checksums at the end of an .npz file. `folder`:
// prefix of the names; NULL: a single file, whose name does not count. A file that cannot be read
// has no content; loading its sample reports the reason.
void data_digest(const char *folder, char *const *names, size_t count,
                 unsigned char digest[QDQ_SHA256_BYTES]);

#endif
