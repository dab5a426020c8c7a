// SPDX-License-Identifier: Apache-2.0
// The fingerprint of a graph at a target: hashes of the graph, of the target, of the numerics of
// the nodes that it runs, and of outputs on seeded inputs.
#include "include/qdq/fingerprint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/fingerprint/graph_hash.h"
#include "runtime/base/fp_environment.h"
#include "runtime/exec/exec.h"
#include "runtime/numerics/dtype.h"

static void write_part(const qdq_digest *digest, char out[QDQ_FINGERPRINT_PART]) {
    for (size_t i = 0; i < QDQ_FINGERPRINT_PART / 2; i++)
        snprintf(out + 2 * i, 3, "%02x", digest->bytes[i]);
}

//---- The target -------------------------------------------------------------

// Appends to a text; a text that is too long ends early.
static void append(char *text, size_t capacity, const char *before, const char *word) {
    size_t length = strlen(text);
    snprintf(text + length, capacity - length, "%s%s", before, word);
}

// Writes "TARGET@VERSION" with the options that differ from their default, in the order of their
// table.
static void name_target(const qdq_target_version *version, char *out, size_t capacity) {
    const qdq_target *target = version->target;
    snprintf(out, capacity, "%s", target->name);
    if (version->name) append(out, capacity, "@", version->name);
    for (size_t i = 0; i < target->option_count; i++) {
        if (!version->options[i]) continue;
        append(out, capacity, ":", target->options[i].name);
        append(out, capacity, "=", target->options[i].words[version->options[i]]);
    }
}

static qdq_digest hash_target(const char *name) {
    qdq_sha256 hash;
    qdq_digest digest;
    qdq_sha256_begin(&hash);
    qdq_hash_text(&hash, name);
    qdq_sha256_end(&hash, digest.bytes);
    return digest;
}

//---- Numerics ---------------------------------------------------------------

static qdq_status hash_numerics(qdq_graph *graph, const char *target,
                                const qdq_target_version *version, qdq_digest *out,
                                qdq_error *err) {
    if (!version->target->patterns) return qdq_hash_graph(graph, version, out, err);
    qdq_graph *deployed = qdq_graph_deployed(graph, target, err);
    if (!deployed) return err ? err->status : QDQ_ERR_UNSUPPORTED;
    qdq_status status = qdq_hash_graph(deployed, version, out, err);
    qdq_graph_destroy(deployed);
    return status;
}

//---- Outputs ----------------------------------------------------------------

// Gives every NaN of a dtype the bits of the positive quiet NaN: sign and payload of a computed NaN
// depend on the processor.
static void unify_nans(qdq_dtype dtype, unsigned char *elements, size_t count) {
    const float nan_value = NAN;
    size_t size = qdq_dtype_size(dtype);
    if (!qdq_dtype_is_real(dtype)) return;
    for (size_t i = 0; i < count; i++) {
        float real;
        qdq_decode_float(dtype, elements + i * size, &real, 1);
        if (!isnan(real)) continue;
        const double wide = (double)nan_value;
        if (dtype == QDQ_FLOAT64)
            memcpy(elements + i * size, &wide, sizeof wide);
        else
            qdq_encode_float(dtype, &nan_value, elements + i * size, 1, NULL);
    }
}

static qdq_status hash_output(qdq_sha256 *hash, const qdq_exec *exec, const qdq_tensor_info *info,
                              qdq_error *err) {
    size_t count = qdq_shape_count(info->shape), size = qdq_dtype_size(info->dtype);
    unsigned char *data = qdq_alloc_array(exec->allocator, count, size, 64);
    if (!data) return qdq_fail(err, QDQ_ERR_MEMORY, "no memory for output '%s'", info->name);
    qdq_status status = qdq_exec_read(exec, info->name, info->dtype, data, count, err);
    if (status == QDQ_OK) {
        unify_nans(info->dtype, data, count);
        qdq_hash_text(hash, info->name);
        qdq_hash_type(hash, (qdq_type){info->dtype, info->shape});
        qdq_sha256_add(hash, data, count * size);
    }
    qdq_free_array(exec->allocator, data, count, size);
    return status;
}

static qdq_status hash_outputs(const qdq_graph *graph, qdq_exec *exec, uint64_t seed,
                               qdq_digest *out, qdq_error *err) {
    qdq_sha256 hash;
    QDQ_TRY(qdq_exec_fill(exec, graph, seed, err));
    qdq_exec_run(exec);
    qdq_sha256_begin(&hash);
    for (size_t i = 0; i < exec->plan->output_count; i++)
        QDQ_TRY(hash_output(&hash, exec, exec->plan->outputs_by_name[i], err));
    qdq_sha256_end(&hash, out->bytes);
    return QDQ_OK;
}

//---- Entry ------------------------------------------------------------------

qdq_status qdq_graph_fingerprint(qdq_graph *graph, const char *target, qdq_exec *exec,
                                 uint64_t seed, qdq_fingerprint *out, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    qdq_target_version version = {0};
    qdq_digest whole, numerics, outputs;
    if (!out) return qdq_fail(err, QDQ_ERR_ARGUMENT, "there is no qdq_fingerprint to write to");
    if (!graph) return qdq_fail(err, QDQ_ERR_MEMORY, "there is no graph: no memory");
    if (!exec) return qdq_fail(err, QDQ_ERR_ARGUMENT, "there is no exec to run");
    if (!target) target = qdq_graph_target(graph);
    if (!qdq_target_version_find(target, &version, err)) return QDQ_ERR_ARGUMENT;
    QDQ_TRY(qdq_hash_graph(graph, NULL, &whole, err));
    QDQ_TRY(hash_numerics(graph, target, &version, &numerics, err));
    QDQ_TRY(hash_outputs(graph, exec, seed, &outputs, err));
    *out = (qdq_fingerprint){.target_name = ""};
    name_target(&version, out->target_name, sizeof out->target_name);
    const qdq_digest of_target = hash_target(out->target_name);
    write_part(&whole, out->graph);
    write_part(&of_target, out->target);
    write_part(&numerics, out->numerics);
    write_part(&outputs, out->outputs);
    snprintf(out->text, sizeof out->text, "qdq1-%s-%s-%s-%s", out->graph, out->target,
             out->numerics, out->outputs);
    return QDQ_OK;
}
