// SPDX-License-Identifier: Apache-2.0
// A digest of the files of a data set, equal on each machine, so that shards of other data are
// noticed.
#ifndef QDQ_TOOLS_DATASET_DATA_DIGEST_H
#define QDQ_TOOLS_DATASET_DATA_DIGEST_H

#include <stdint.h>

#include "runtime/base/hash/sha256.h"

// At most this many bytes of content are read: DIGEST_BLOCKS blocks of DIGEST_BLOCK bytes.
enum { DIGEST_BLOCK = 1 << 16, DIGEST_BLOCKS = 256 };

// Adds a number in 8 bytes, little-endian.
void hash_number(qdq_sha256 *hash, uint64_t number);
// Adds the length of a text, then the text.
void hash_text(qdq_sha256 *hash, const char *text);

// SHA-256 of the name and size of each file, in the order given, and of their content. The content
// is one run of bytes, all files after each other. If it is longer than all blocks, block i of
// DIGEST_BLOCKS is read at i * (length - DIGEST_BLOCK) / (DIGEST_BLOCKS - 1): the first bytes and
// the last, and with them the checksums at the end of an .npz file. `folder` comes before the
// names; NULL: there is one file, and its name does not count. A file that cannot be read has no
// content; reading its sample says why.
void data_digest(const char *folder, char *const *names, size_t count,
                 unsigned char digest[QDQ_SHA256_BYTES]);

#endif
