// SPDX-License-Identifier: Apache-2.0
// Hashes names, sizes and parts of the content of files.
#include "tools/lab/dataset/data_digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/io/zip/byte_source.h"

enum { MOST_PATH = 4096 };

typedef struct reader {
    const char *folder;
    char *const *names;
    size_t count;
    uint64_t *sizes;  // bytes of each file; NULL: no memory, so the digest has no content
    size_t at;        // index of the open file
    FILE *file;       // NULL: the file cannot be read
    qdq_sha256 hash;
} reader;

void hash_number(qdq_sha256 *hash, uint64_t number) {
    unsigned char bytes[8];
    for (size_t i = 0; i < 8; i++) bytes[i] = (unsigned char)(number >> 8 * i);
    qdq_sha256_add(hash, bytes, sizeof bytes);
}

void hash_text(qdq_sha256 *hash, const char *text) {
    hash_number(hash, strlen(text));
    qdq_sha256_add(hash, text, strlen(text));
}

static void put_path(const reader *r, size_t index, char path[MOST_PATH]) {
    const char *folder = r->folder ? r->folder : "", *slash = r->folder ? "/" : "";
    snprintf(path, MOST_PATH, "%s%s%s", folder, slash, r->names[index]);
}

// Returns the size of a regular file; UINT64_MAX if it does not exist.
static uint64_t size_of(const reader *r, size_t index) {
    char path[MOST_PATH];
    struct stat facts;
    put_path(r, index, path);
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode) ? (uint64_t)facts.st_size : UINT64_MAX;
}

static void open_at(reader *r, size_t index) {
    char path[MOST_PATH];
    uint64_t size;
    qdq_error ignored = {0};
    put_path(r, index, path);
    if (r->file) fclose(r->file);
    r->at = index;
    r->file = open_regular_file(path, &size, &ignored);
}

// Hashes bytes begin .. begin + length of the content.
static void add_content(reader *r, uint64_t begin, uint64_t length) {
    unsigned char bytes[DIGEST_BLOCK];
    uint64_t first = 0;
    for (size_t i = 0; i < r->count && length; first += r->sizes[i++]) {
        if (begin >= first + r->sizes[i]) continue;
        if (r->at != i) open_at(r, i);
        bool fine = r->file && fseeko(r->file, (off_t)(begin - first), SEEK_SET) == 0;
        while (length && begin < first + r->sizes[i]) {
            uint64_t left = first + r->sizes[i] - begin, part = length < left ? length : left;
            if (part > sizeof bytes) part = sizeof bytes;
            memset(bytes, 0, (size_t)part);
            fine = fine && fread(bytes, 1, (size_t)part, r->file) == part;
            qdq_sha256_add(&r->hash, bytes, (size_t)part);
            begin += part, length -= part;
        }
    }
}

void data_digest(const char *folder, char *const *names, size_t count,
                 unsigned char digest[QDQ_SHA256_BYTES]) {
    reader r = {.folder = folder, .names = names, .count = count, .at = SIZE_MAX};
    uint64_t total = 0;
    r.sizes = calloc(count, sizeof *r.sizes);
    qdq_sha256_begin(&r.hash);
    for (size_t i = 0; i < count; i++) {
        uint64_t size = size_of(&r, i), held = size == UINT64_MAX ? 0 : size;
        hash_text(&r.hash, folder ? names[i] : "");
        hash_number(&r.hash, size);
        if (r.sizes) r.sizes[i] = held;
        total += held;
    }
    const uint64_t most = (uint64_t)DIGEST_BLOCK * DIGEST_BLOCKS;
    if (r.sizes && total <= most) add_content(&r, 0, total);
    for (uint64_t i = 0; r.sizes && total > most && i < DIGEST_BLOCKS; i++) {
        uint64_t step = (total - DIGEST_BLOCK) / (DIGEST_BLOCKS - 1);
        uint64_t rest = (total - DIGEST_BLOCK) % (DIGEST_BLOCKS - 1);
        add_content(&r, i * step + i * rest / (DIGEST_BLOCKS - 1), DIGEST_BLOCK);
    }
    qdq_sha256_end(&r.hash, digest);
    if (r.file) fclose(r.file);
    free(r.sizes);
}
