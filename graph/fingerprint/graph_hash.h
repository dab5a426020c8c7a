// SPDX-License-Identifier: Apache-2.0
// Hashes of graphs that do not depend on the order of nodes or on names between them: each value is
// hashed with its producers, from the inputs and constants on.
#ifndef QDQ_GRAPH_FINGERPRINT_GRAPH_HASH_H
#define QDQ_GRAPH_FINGERPRINT_GRAPH_HASH_H

#include "graph/core/graph.h"
#include "graph/core/target.h"
#include "runtime/base/hash/sha256.h"

typedef struct qdq_digest {
    unsigned char bytes[QDQ_SHA256_BYTES];
} qdq_digest;

// Adds a number as 8 bytes, little-endian; a text as the number of its bytes, and these; a dtype by
// name, and the rank and dims.
void qdq_hash_number(qdq_sha256 *hash, uint64_t number);
void qdq_hash_text(qdq_sha256 *hash, const char *text);
void qdq_hash_type(qdq_sha256 *hash, qdq_type type);

// NULL `version`: ops, attributes, constants, and names and types of inputs and outputs. Otherwise
// ops with their numerics at the version, and dtypes of inputs and constants.
qdq_status qdq_hash_graph(const qdq_graph *graph, const qdq_target_version *version,
                          qdq_digest *out, qdq_error *err);

#endif
