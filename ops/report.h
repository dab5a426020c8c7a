// SPDX-License-Identifier: Apache-2.0
// Collects the findings of a check. It counts all of them and keeps a limited number.
#ifndef QDQ_OPS_REPORT_H
#define QDQ_OPS_REPORT_H

#include "ops/rule.h"
#include "runtime/base/error.h"
#include "runtime/base/mempool.h"

struct qdq_graph;

// A node with a finding of a rule that limits what is known of its bits.
typedef struct qdq_bits_limit {
    const char *node;
    const qdq_rule *rule;
} qdq_bits_limit;

// A report that is being collected. Strings live in the pool.
typedef struct qdq_findings {
    qdq_mempool *mempool;
    const char *file;  // in front of every sentence; "" for none
    qdq_finding *items;
    size_t count, capacity;
    size_t most;  // errors kept, and warnings kept; 0: none
    size_t errors, warnings;
    qdq_status status;  // of the first error
    // Of all findings, kept or not, in the order found.
    qdq_bits_limit *bits_limits;
    size_t bits_limit_count, bits_limit_capacity;
    // The name of a value or output in the file that the graph was read from, for sentences; NULL:
    // the same everywhere.
    const char *(*original)(const struct qdq_graph *graph, const char *name);
    const char *(*output_original)(const struct qdq_graph *graph, const char *name);
    const struct qdq_graph *graph;
} qdq_findings;

// The subject of a finding. All may be NULL; strings are copied.
typedef struct qdq_subject {
    const char *node;  // a node, or another named thing of the kind `kind`
    const char *op;
    const char *port;
    const char *kind;  // "input", "constant", "output"; NULL: a node
} qdq_subject;

// Adds a finding. The sentence is "FILE: node 'N': OP: PORT FOUND, wanted WANTED; HINT", without
// parts that are NULL or empty. `hint` NULL: the hint of the rule.
void qdq_report_add(qdq_findings *findings, const char *target, const qdq_rule *rule,
                    qdq_subject subject, const char *found, const char *wanted, const char *hint);

// The same for a rule of the core.
void qdq_report_core(qdq_findings *findings, qdq_core_rule rule, qdq_subject subject,
                     const char *found, const char *wanted);

// The same with the hint "did you mean 'NEAREST'?", where `nearest` is not NULL.
void qdq_report_near(qdq_findings *findings, qdq_core_rule rule, qdq_subject subject,
                     const char *found, const char *wanted, const char *nearest);

// The same about a name that is not in `known`. The hint is our word for a backend's word, or else
// the nearest known name.
void qdq_find_unknown(qdq_findings *findings, qdq_core_rule rule, qdq_subject subject,
                      const char *found, const char *name, const char *const *known, size_t count);

// True if a further finding would be kept. If not, callers can skip work that serves its text only.
bool qdq_findings_have_room(const qdq_findings *findings);

// Returns a formatted string in the pool, with control bytes and broken UTF-8 shown as '?'. "" if
// there is no room for another finding, or no memory.
const char *qdq_text(qdq_findings *findings, const char *format, ...) QDQ_PRINTF(2, 3);

// Returns "has 0.1 at index 3": the shortest number that reads back as the same float32
// (`is_float32`) or double.
const char *qdq_text_number(qdq_findings *findings, double value, size_t index, bool is_float32);
// Returns "is 0.1", of a double.
const char *qdq_text_is(qdq_findings *findings, double value);

// Returns "[2, 3]"
const char *qdq_shape_text(qdq_findings *findings, qdq_shape shape);

#endif
