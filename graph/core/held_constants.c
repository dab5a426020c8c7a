// SPDX-License-Identifier: Apache-2.0
// Reads the elements of constants that stay in their .safetensors file, and checks that it is
// unchanged.
#include "graph/core/held_constants.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/posix.h"
#include "runtime/numerics/dtype.h"

const qdq_held_file *qdq_hold_file(qdq_graph *graph, const qdq_open_file *open, const char *name,
                                   qdq_error *err) {
    qdq_held_file *file = QDQ_MEMPOOL_NEW(&graph->mempool, qdq_held_file);
    if (!graph->failure) graph->failure = QDQ_MEMPOOL_NEW(&graph->mempool, qdq_error);
    char *copy = qdq_mempool_strdup(&graph->mempool, name);
    if (!file || !graph->failure || !copy) {
        qdq_fail_memory(err, sizeof *file);
        return NULL;
    }
    *file = (qdq_held_file){.next = graph->files, .open = *open, .name = copy};
    file->open.descriptor = fcntl(open->descriptor, F_DUPFD_CLOEXEC, 0);
    if (file->open.descriptor < 0) {
        qdq_fail(err, QDQ_ERR_IO, "%s: cannot be kept open: %s", name, strerror(errno));
        return NULL;
    }
    graph->files = file;
    return file;
}

void qdq_release_files(qdq_graph *graph) {
    for (const qdq_held_file *file = graph->files; file; file = file->next)
        close(file->open.descriptor);
    graph->files = NULL;
}

// Reads packed elements, and spreads them to a byte each.
static qdq_status read_packed(const qdq_held *held, size_t at, size_t count, unsigned char *out,
                              qdq_error *err) {
    enum { PART = 4096, MOST_EACH = 4 };
    unsigned char packed[PART], spread[PART * MOST_EACH];
    const size_t each = 8 / (size_t)qdq_dtype_get(held->packed)->bits;
    at += held->first;
    while (count) {
        size_t skipped = at % each, most = PART * each - skipped;
        size_t n = count < most ? count : most, bytes = (skipped + n + each - 1) / each;
        QDQ_TRY(qdq_open_file_read(held->file->open.descriptor, packed, bytes, held->at + at / each,
                                   err));
        qdq_unpack_bits(held->packed, packed, spread, bytes * each);
        memcpy(out, spread + skipped, n);
        out += n, at += n, count -= n;
    }
    return QDQ_OK;
}

static qdq_status read_bytes(const qdq_held *held, size_t at, size_t bytes, void *out,
                             qdq_error *err) {
    if (held->packed) return read_packed(held, at, bytes, out, err);
    return qdq_open_file_read(held->file->open.descriptor, out, bytes, held->at + at, err);
}

// Reads elements, then checks the time stamp: if it is unchanged, the file had these bytes when it
// was loaded.
static bool read_held(const qdq_stored *stored, size_t at, size_t bytes, void *out) {
    const qdq_held *held = (const qdq_held *)stored;
    qdq_error own = {0};
    if (read_bytes(held, at, bytes, out, &own) == QDQ_OK &&
        qdq_open_file_check(&held->file->open, &own) == QDQ_OK)
        return true;
    qdq_fail(held->failure, own.status, "%s: %s", held->file->name, own.text);
    return false;
}

static qdq_value add_held(qdq_graph *graph, const char *name, qdq_type type, qdq_held from) {
    from.stored.read = read_held;
    from.failure = graph->failure;
    qdq_held *held = qdq_mempool_copy(&graph->mempool, &from, 1, sizeof from);
    return held ? qdq_graph_declare_constant(graph, name, type, &held->stored) : (qdq_value){0};
}

qdq_value qdq_graph_add_held(qdq_graph *graph, const char *name, qdq_type type,
                             const qdq_held_file *file, uint64_t at) {
    return add_held(graph, name, type, (qdq_held){.file = file, .at = at});
}

qdq_value qdq_graph_add_packed(qdq_graph *graph, const char *name, qdq_type type,
                               const qdq_held_file *file, uint64_t at, size_t first) {
    return add_held(graph, name, type,
                    (qdq_held){.file = file, .at = at, .packed = type.dtype, .first = first});
}

// Finds a file that the graph holds already, opened at the same state of the file.
static const qdq_held_file *find_file(const qdq_graph *graph, const qdq_held_file *like) {
    const qdq_open_file *b = &like->open;
    for (const qdq_held_file *file = graph->files; file; file = file->next) {
        const qdq_open_file *a = &file->open;
        if (a->bytes == b->bytes && a->seconds == b->seconds && a->nanoseconds == b->nanoseconds &&
            strcmp(file->name, like->name) == 0)
            return file;
    }
    return NULL;
}

bool qdq_held_is_equal(const qdq_stored *a, const qdq_stored *b) {
    const qdq_held *x = (const qdq_held *)a, *y = (const qdq_held *)b;
    return x->at == y->at && x->packed == y->packed && x->first == y->first &&
           strcmp(x->file->name, y->file->name) == 0;
}

qdq_value qdq_graph_share_held(qdq_graph *graph, const char *name, const qdq_graph_value *from) {
    const qdq_held *held = (const qdq_held *)from->stored;
    const qdq_held_file *file = find_file(graph, held->file);
    if (!file) file = qdq_hold_file(graph, &held->file->open, held->file->name, &graph->broken);
    if (!file) return (qdq_value){0};
    qdq_held same = *held;
    same.file = file;
    return add_held(graph, name, from->type, same);
}
