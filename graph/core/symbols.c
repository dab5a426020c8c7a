// SPDX-License-Identifier: Apache-2.0
// The symbol table: a uthash table with a keyed hash.
#include "graph/core/symbols.h"

#include <string.h>
#if !defined(QDQ_BARE)
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#endif

#include "runtime/base/error.h"
#include "runtime/base/mempool.h"
#include "runtime/base/posix.h"
#include "runtime/base/utf8.h"

// uthash expands these macros where a variable `symbols` is the current table.
#define HASH_NONFATAL_OOM 1
#define HASH_FUNCTION(name, length, hash) ((hash) = hash_of(symbols, (name), (length)))
#define uthash_malloc(bytes) take(symbols, (bytes))
#define uthash_free(ptr, bytes) give(symbols, (ptr), (bytes))
#define uthash_noexpand_fyi(table) (symbols->flooded = true)
#include <uthash.h>

// uthash links entries by address, so each is a separate allocation that never moves.
typedef struct entry {
    UT_hash_handle hh;
    uint32_t value;
    char name[];  // hh.keylen bytes
} entry;

struct qdq_symbols {
    const qdq_allocator *allocator;
    entry *head;  // the oldest entry; the list keeps the order of adding
    bool flooded;
    unsigned char key[QDQ_SIPHASH_KEY_BYTES];
};

enum { MOST_NAMES = 1 << 27 };  // uthash counts entries in 32 bits

static unsigned hash_of(const qdq_symbols *symbols, const void *name, size_t length) {
    return (unsigned)(qdq_siphash(symbols->key, name, length) & 0xFFFFFFFF);
}

static void *take(const qdq_symbols *symbols, size_t bytes) {
    return symbols->allocator->alloc(symbols->allocator->self, bytes, _Alignof(max_align_t));
}

static void give(const qdq_symbols *symbols, void *ptr, size_t bytes) {
    symbols->allocator->free(symbols->allocator->self, ptr, bytes);
}

static size_t entry_bytes(size_t length) { return sizeof(entry) + length; }

static entry *find(const qdq_symbols *symbols, const char *name, unsigned length, unsigned hash) {
    entry *found;
    HASH_FIND_BYHASHVALUE(hh, symbols->head, name, length, hash, found);
    return found;
}

static void drop(qdq_symbols *symbols, entry *old) {
    HASH_DELETE(hh, symbols->head, old);
    give(symbols, old, entry_bytes(old->hh.keylen));
}

#if defined(QDQ_BARE)
// Fills the key when the system has no randomness. Names come from the program itself, so nobody
// chooses them to collide.
static void make_key(unsigned char key[QDQ_SIPHASH_KEY_BYTES]) {
    memset(key, 0, QDQ_SIPHASH_KEY_BYTES);
}
#else
static void make_key(unsigned char key[QDQ_SIPHASH_KEY_BYTES]) {
    if (getentropy(key, QDQ_SIPHASH_KEY_BYTES) == 0) return;
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    uint64_t words[2] = {((uint64_t)now.tv_sec << 30) ^ (uint64_t)now.tv_nsec,
                         (uint64_t)(uintptr_t)key};
    memcpy(key, words, sizeof words);
}
#endif

qdq_symbols *qdq_symbols_create(const qdq_allocator *allocator, qdq_error *err) {
    unsigned char key[QDQ_SIPHASH_KEY_BYTES];
    make_key(key);
    return qdq_symbols_create_keyed(allocator, key, err);
}

qdq_symbols *qdq_symbols_create_keyed(const qdq_allocator *allocator,
                                      const unsigned char key[QDQ_SIPHASH_KEY_BYTES],
                                      qdq_error *err) {
    allocator = qdq_allocator_or_default(allocator);
    qdq_symbols *symbols = qdq_alloc_array(allocator, 1, sizeof *symbols, _Alignof(max_align_t));
    if (!symbols) {
        qdq_fail_memory(err, sizeof *symbols);
        return NULL;
    }
    *symbols = (qdq_symbols){.allocator = allocator};
    memcpy(symbols->key, key, sizeof symbols->key);
    return symbols;
}

void qdq_symbols_destroy(qdq_symbols *symbols) {
    if (!symbols) return;
    qdq_symbols_truncate(symbols, 0);
    give(symbols, symbols, sizeof *symbols);
}

qdq_status qdq_symbols_add(qdq_symbols *symbols, const char *name, size_t length, uint32_t value,
                           qdq_error *err) {
    if (length > INT32_MAX)
        return qdq_fail(err, QDQ_ERR_LIMIT, "a name of %zu bytes is too long", length);
    if (length == 0) name = "";
    unsigned hash, bytes = (unsigned)length;
    HASH_VALUE(name, length, hash);
    if (find(symbols, name, bytes, hash)) {
        char shown[80];
        qdq_utf8_show(shown, sizeof shown, name, length);
        return qdq_fail(err, QDQ_ERR_ARGUMENT, "name '%s' is there already", shown);
    }
    if (symbols->flooded) return qdq_fail(err, QDQ_ERR_LIMIT, "too many colliding names");
    if (HASH_COUNT(symbols->head) >= MOST_NAMES)
        return qdq_fail(err, QDQ_ERR_LIMIT, "more than %d names", (int)MOST_NAMES);

    entry *added = take(symbols, entry_bytes(length));
    if (!added) return qdq_fail_memory(err, entry_bytes(length));
    memset(added, 0, sizeof *added);
    added->value = value;
    memcpy(added->name, name, length);
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, symbols->head, added->name, bytes, hash, added);
    if (!added->hh.tbl) {
        give(symbols, added, entry_bytes(length));
        return qdq_fail(err, QDQ_ERR_MEMORY, "out of memory: a table of names could not grow");
    }
    if (!symbols->flooded) return QDQ_OK;
    drop(symbols, added);
    return qdq_fail(err, QDQ_ERR_LIMIT, "too many colliding names");
}

bool qdq_symbols_find(const qdq_symbols *symbols, const char *name, size_t length,
                      uint32_t *value) {
    if (length > INT32_MAX) return false;
    if (length == 0) name = "";
    unsigned hash;
    HASH_VALUE(name, length, hash);
    const entry *found = find(symbols, name, (unsigned)length, hash);
    if (found && value) *value = found->value;
    return found != NULL;
}

size_t qdq_symbols_count(const qdq_symbols *symbols) { return HASH_COUNT(symbols->head); }

void qdq_symbols_truncate(qdq_symbols *symbols, size_t count) {
    while (HASH_COUNT(symbols->head) > count)
        drop(symbols, ELMT_FROM_HH(symbols->head->hh.tbl, symbols->head->hh.tbl->tail));
}
