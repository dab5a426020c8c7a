// SPDX-License-Identifier: Apache-2.0
#include "tools/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/base/threads/thread_pool.h"
#include "tools/failure.h"

enum {
    LEAST_BYTES = 1 << 20,  // smaller allocations use the C library
    PIECES = 32,            // of a parallel loop; memory is checked after each
};

typedef struct mapping {
    void *data;
    size_t bytes;
} mapping;

struct spill {
    const char *folder;
    size_t limit;
    qdq_allocator allocator;
    qdq_parallel inner;
    mapping *mappings;
    size_t count, capacity;
    bool told;  // the message about a full folder is printed
};

//---- Files ------------------------------------------------------------------

// Opens a file without a name and reserves `bytes` in it. -1 with `errno` set.
static int make_file(const spill *s, size_t bytes) {
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/qdq-XXXXXX", s->folder) >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int file = mkstemp(path);
    if (file < 0) return -1;
    unlink(path);
    // Reserve the space now: on a full disk, writing a page later would end the process.
    errno = posix_fallocate(file, 0, (off_t)bytes);
    if (errno == 0) return file;
    int failure = errno;
    close(file);
    errno = failure;
    return -1;
}

static void *map_file(const spill *s, size_t bytes) {
    int file = make_file(s, bytes);
    if (file < 0) return NULL;
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    int failure = errno;
    close(file);
    errno = failure;
    return data == MAP_FAILED ? NULL : data;
}

//---- Giving memory back -----------------------------------------------------

// Returns the resident bytes of the process; SIZE_MAX on systems that do not tell.
static size_t resident(void) {
    unsigned long long all, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return SIZE_MAX;
    bool read = fscanf(file, "%llu %llu", &all, &pages) == 2;
    fclose(file);
    return read ? (size_t)pages * (size_t)sysconf(_SC_PAGESIZE) : SIZE_MAX;
}

void spill_trim(const spill *s) {
    if (!s->count || resident() <= s->limit) return;
    for (size_t i = 0; i < s->count; i++) {
        const mapping *m = &s->mappings[i];
        if (msync(m->data, m->bytes, MS_SYNC) == 0) madvise(m->data, m->bytes, MADV_DONTNEED);
    }
}

//---- Allocations ------------------------------------------------------------

static bool has_room(spill *s) {
    if (s->count < s->capacity) return true;
    size_t capacity = 2 * s->capacity + 16;
    mapping *more = realloc(s->mappings, capacity * sizeof *more);
    if (!more) return false;
    s->mappings = more;
    s->capacity = capacity;
    return true;
}

static void *take_mapped(spill *s, size_t bytes) {
    if (!has_room(s)) return NULL;
    spill_trim(s);
    void *data = map_file(s, bytes);
    if (data) {
        s->mappings[s->count++] = (mapping){data, bytes};
    } else if (!s->told) {
        fprintf(stderr, "qdq: %s: cannot hold %zu bytes more: %s\n", s->folder, bytes,
                strerror(errno));
        s->told = true;
    }
    return data;
}

// Frees memory if it is a mapping. True if it was.
static bool free_mapped(spill *s, void *ptr) {
    for (size_t i = s->count; i-- > 0;) {
        if (s->mappings[i].data != ptr) continue;
        munmap(ptr, s->mappings[i].bytes);
        s->mappings[i] = s->mappings[--s->count];
        return true;
    }
    return false;
}

// Maps large allocations: a mapping has the alignment of a page. Others use the C library.
static void *alloc(void *self, size_t size, size_t align) {
    spill *s = self;
    if (size >= LEAST_BYTES && align <= (size_t)sysconf(_SC_PAGESIZE)) return take_mapped(s, size);
    return aligned_alloc(align, (size + align - 1) / align * align);
}

static void release(void *self, void *ptr, size_t size) {
    if (size < LEAST_BYTES || !free_mapped(self, ptr)) free(ptr);  // only large ones need a search
}

const qdq_allocator *spill_allocator(spill *s) { return &s->allocator; }

//---- Threads ----------------------------------------------------------------

typedef struct piece {
    size_t begin;
    void (*task)(void *context, size_t begin, size_t end);
    void *context;
} piece;

static void run_piece(void *context, size_t begin, size_t end) {
    const piece *p = context;
    p->task(p->context, p->begin + begin, p->begin + end);
}

static void run(void *self, size_t count, void (*task)(void *context, size_t begin, size_t end),
                void *context) {
    const spill *s = self;
    size_t pieces = count < PIECES ? count : PIECES;
    for (size_t i = 0; i < pieces; i++) {
        piece p = {count / pieces * i + (i < count % pieces ? i : count % pieces), task, context};
        size_t n = count / pieces + (i < count % pieces);
        if (s->inner.run)
            s->inner.run(s->inner.self, n, run_piece, &p);
        else
            run_piece(&p, 0, n);
        spill_trim(s);
    }
}

qdq_parallel spill_parallel(spill *s, qdq_parallel inner) {
    s->inner = inner;
    return (qdq_parallel){run, s, inner.run ? inner.least : QDQ_PARALLEL_LEAST};
}

//---- Opening ----------------------------------------------------------------

spill *spill_open(const char *folder, size_t limit) {
    spill *s = calloc(1, sizeof *s);
    if (!s) {
        (void)tell_failure(QDQ_ERR_MEMORY, "no memory for --spill");
        return NULL;
    }
    *s = (spill){.folder = folder, .limit = limit, .allocator = {alloc, release, s}};
    int file = make_file(s, LEAST_BYTES);
    if (file >= 0) {
        close(file);
        return s;
    }
    (void)tell_failure(QDQ_ERR_IO, "--spill %s: no file can be made there: %s", folder,
                       strerror(errno));
    free(s);
    return NULL;
}

void spill_close(spill *s) {
    if (s) free(s->mappings);
    free(s);
}
