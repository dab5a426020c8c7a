// SPDX-License-Identifier: Apache-2.0
// Shared by unit tests: cmocka, an allocator that fails on demand, a temporary folder, checks of
// errors, random numbers.
#ifndef QDQ_TESTS_UNIT_H
#define QDQ_TESTS_UNIT_H

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "include/qdq/base.h"

// True where sanitizers or an emulator run the tests: .ci/run and tests/cross/run set QDQ_SLOW.
// Long loops over values or random cases take a part of them there; other runs take all.
static inline bool unit_slow(void) { return getenv("QDQ_SLOW") != NULL; }

// True if a slow run leaves out this turn of a loop: it takes a quarter of the turns, others for
// each value of QDQ_SLOW, a number.
static inline bool unit_left_out(uint64_t turn) {
    const char *slow = getenv("QDQ_SLOW");
    if (!slow) return false;
    uint64_t mixed = (turn + 1 + 1000003 * strtoull(slow, NULL, 10)) * 0x9E3779B97F4A7C15u;
    return mixed >> 62 != 0;
}

//---- Allocation -------------------------------------------------------------

// An allocator that fails from call `fail_at` on (counted from 1; 0: never), or at that call only
// with `once`. It counts the memory that has not been freed.
typedef struct unit_memory {
    qdq_allocator allocator;
    size_t calls, fail_at, live_blocks, live_bytes;
    bool once;
} unit_memory;

static void *unit_alloc(void *self, size_t size, size_t align) {
    unit_memory *memory = self;
    memory->calls++;
    if (memory->fail_at && memory->calls >= memory->fail_at &&
        !(memory->once && memory->calls > memory->fail_at))
        return NULL;
    assert_true(align > 0 && (align & (align - 1)) == 0);
    if (align < sizeof(void *)) align = sizeof(void *);
    void *ptr = NULL;
    assert_int_not_equal(size, 0);
    assert_int_equal(posix_memalign(&ptr, align, size), 0);
    memory->live_blocks++;
    memory->live_bytes += size;
    return memset(ptr, 0xA5, size);
}

static void unit_free(void *self, void *ptr, size_t size) {
    unit_memory *memory = self;
    assert_non_null(ptr);
    memset(ptr, 0x5A, size);
    free(ptr);
    memory->live_blocks--;
    memory->live_bytes -= size;
}

// The allocator points to `memory`, which must not move.
static inline const qdq_allocator *unit_memory_init(unit_memory *memory, size_t fail_at) {
    *memory = (unit_memory){.allocator = {unit_alloc, unit_free, memory}, .fail_at = fail_at};
    return &memory->allocator;
}

static inline void unit_memory_check(const unit_memory *memory) {
    assert_int_equal(memory->live_blocks, 0);
    assert_int_equal(memory->live_bytes, 0);
}

//---- Files ------------------------------------------------------------------

static char unit_folder[64];  // set between unit_folder_begin and unit_folder_end

static inline int unit_folder_begin(void **state) {
    (void)state;
    strcpy(unit_folder, "/tmp/qdq-unit-XXXXXX");
    return mkdtemp(unit_folder) ? 0 : -1;
}

static inline void unit_remove(int parent, const char *name) {
    struct stat facts;
    assert_int_equal(fstatat(parent, name, &facts, AT_SYMLINK_NOFOLLOW), 0);
    if (!S_ISDIR(facts.st_mode)) {
        assert_int_equal(unlinkat(parent, name, 0), 0);
        return;
    }
    DIR *dir = fdopendir(openat(parent, name, O_RDONLY | O_DIRECTORY));
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unit_remove(dirfd(dir), entry->d_name);
    closedir(dir);
    assert_int_equal(unlinkat(parent, name, AT_REMOVEDIR), 0);
}

static inline int unit_folder_end(void **state) {
    (void)state;
    unit_remove(AT_FDCWD, unit_folder);
    return 0;
}

// How many files and folders unit_folder has, for tests that must leave none.
static inline size_t unit_folder_count(void) {
    size_t count = 0;
    DIR *dir = opendir(unit_folder);
    assert_non_null(dir);
    while (readdir(dir)) count++;
    closedir(dir);
    return count - 2;
}

static inline const char *unit_path(char out[256], const char *name) {
    snprintf(out, 256, "%s/%s", unit_folder, name);
    return out;
}

static inline void unit_write(const char *path, const void *bytes, size_t count) {
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    if (count) assert_int_equal(fwrite(bytes, count, 1, stream), 1);
    assert_int_equal(fclose(stream), 0);
}

// The content of a file with a 0 at its end; the caller frees it.
static inline char *unit_read(const char *path, size_t *count) {
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    assert_int_equal(fseek(stream, 0, SEEK_END), 0);
    *count = (size_t)ftell(stream);
    rewind(stream);
    char *bytes = malloc(*count + 1);
    assert_non_null(bytes);
    if (*count) assert_int_equal(fread(bytes, *count, 1, stream), 1);
    bytes[*count] = '\0';
    fclose(stream);
    return bytes;
}

//---- Errors -----------------------------------------------------------------

// Checks that `err` has this status and the text "prefix: message".
static inline void unit_check_error(const qdq_error *err, qdq_status status, const char *prefix,
                                    const char *message) {
    char wanted[sizeof err->text + 300];
    snprintf(wanted, sizeof wanted, "%s: %s", prefix, message);
    assert_string_equal(err->text, wanted);
    assert_int_equal(err->status, status);
}

//---- Others -----------------------------------------------------------------

#define UNIT_COUNT(array) (sizeof(array) / sizeof((array)[0]))

static inline double unit_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline float unit_float_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t unit_bits_of_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// Marsaglia's xorshift64: the same numbers in each run. `state` must not be 0.
static inline uint64_t unit_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

#endif
