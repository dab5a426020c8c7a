// SPDX-License-Identifier: Apache-2.0
// SipHash-2-4 (Aumasson, Bernstein 2012): a keyed hash. Without the key nobody can construct
// collisions.
#ifndef QDQ_GRAPH_CORE_SIPHASH_H
#define QDQ_GRAPH_CORE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

enum { QDQ_SIPHASH_KEY_BYTES = 16 };

// Returns the 64-bit hash of `length` bytes. `data` may be NULL if length is 0.
uint64_t qdq_siphash(const unsigned char key[QDQ_SIPHASH_KEY_BYTES], const void *data,
                     size_t length);

#endif
