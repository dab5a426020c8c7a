// SPDX-License-Identifier: Apache-2.0
// Evidence for the numbers of a target: the backend, its vendor's model or its source that they
// were compared with.
#ifndef QDQ_EVIDENCE_H
#define QDQ_EVIDENCE_H

#include <qdq/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

// Strings are never NULL, except that all are for an index out of range or an unknown target.
typedef struct qdq_evidence {
    qdq_bits bits;  // what it shows of the nodes that it covers
    // "definition": the target is defined by what is computed here; "run": the backend computed;
    // "vendor's model": a simulator or numbers that the vendor published; "read from source": code
    // or documents were read, and nothing of the backend was run.
    const char *kind;
    const char *versions;   // "1.31-vnni 1.29-*": of the target, * for any characters; "": all
    const char *ops;        // "Quantize Dequantize", "LSTM": also ops of ONNX models; "": all ops
    const char *what;       // `ops` in words: "quantizing ops"
    const char *condition;  // "float32": that a node must meet; "": none
    const char *against;    // "ONNX Runtime 1.31.1, x86-64 with VNNI"
    const char *compared;   // "303 of 305 models"; "" if nothing was
    const char *date;       // "2026-11-24"; "" if nothing was compared
} qdq_evidence;

// Returns row `index` of the evidence of a target, counted as by qdq_target_get; qdq_target_info
// has the number of rows.
QDQ_API qdq_evidence qdq_target_evidence(size_t target, size_t index);

// Returns the first row about an op at a version ("TARGET", "TARGET@VERSION", with or without
// options); `kind` is NULL if no row names it. qdq_report has the evidence of a node, which must
// also meet the condition of its row.
QDQ_API qdq_evidence qdq_evidence_of(const char *target, const char *op);

// Returns row number `index` about an op at a version, in the order in which rows are tried: the
// first row whose condition a node meets is its evidence. `kind` is NULL after the last row.
QDQ_API qdq_evidence qdq_evidence_at(const char *target, const char *op, size_t index);

// Returns the evidence for a finding of a check for `target`. A finding of another target, whose
// rules hold too (core's always do), has the evidence of that target, at the version of the same
// name.
QDQ_API qdq_evidence qdq_finding_evidence(const char *target, const qdq_finding *finding);

#ifdef __cplusplus
}
#endif
#endif
