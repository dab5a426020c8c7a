// SPDX-License-Identifier: Apache-2.0
// Makes names for oneDNN Graph's numbers: a tensor is t<ID>; an op has its own name, or op<ID> if
// that name is empty, not legal, or taken.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/names.h"
#include "graph/formats/onednn/json_onednn.h"

// True if a name consists of `letters` and a number printed in the usual way.
static bool is_numbered(const char *name, const char *letters, uint64_t *id) {
    size_t length = strlen(letters);
    char again[32];
    if (strncmp(name, letters, length) != 0 || name[length] < '0' || name[length] > '9')
        return false;
    *id = strtoull(name + length, NULL, 10);
    snprintf(again, sizeof again, "%s%" PRIu64, letters, *id);
    return strcmp(again, name) == 0;
}

// True if the name belongs to an input, or could be the generated name of another op.
static bool is_anothers(const qdq_onednn *file, const qdq_onednn_op *op) {
    uint64_t id;
    if (is_numbered(op->given, "t", &id)) {
        uint32_t tensor = qdq_onednn_find(file->tensor_ids, id);
        return tensor != QDQ_ONEDNN_NOTHING && file->tensors[tensor].maker == QDQ_ONEDNN_NOTHING;
    }
    return is_numbered(op->given, "op", &id) &&
           qdq_onednn_find(file->op_ids, id) != QDQ_ONEDNN_NOTHING;
}

qdq_status qdq_onednn_name_ops(qdq_onednn *file) {
    const qdq_reader *r = file->r;
    bool *shared = qdq_mempool_array(r->mempool, file->op_count, sizeof *shared);
    if (!shared) return qdq_fail_memory(r->err, file->op_count);
    for (size_t i = 0; i < file->op_count; i++) {
        const char *given = file->ops[i].given;
        uint32_t first;
        if (file->ops[i].is_end) continue;
        if (qdq_symbols_find(file->names, given, strlen(given), &first))
            shared[first] = shared[i] = true;
        else
            QDQ_TRY(qdq_symbols_add(file->names, given, strlen(given), (uint32_t)i, r->err));
    }
    for (size_t i = 0; i < file->op_count; i++) {
        qdq_onednn_op *op = &file->ops[i];
        char name[32];
        op->name = op->given;
        if (!shared[i] && qdq_graph_name_is_legal(op->given) && !is_anothers(file, op)) continue;
        snprintf(name, sizeof name, "op%" PRIu64, op->id);
        op->name = qdq_mempool_strdup(r->mempool, name);
        if (!op->name) return qdq_fail_memory(r->err, sizeof name);
    }
    return QDQ_OK;
}
