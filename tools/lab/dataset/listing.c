// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/dataset/listing.h"

#include <inttypes.h>
#include <qdq/tensor_file.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/common.h"
#include "tools/failure.h"

enum { MOST_PATH = 4096, MOST_LISTING = 1 << 30, MOST_PROBE = 1 << 16 };

// Reads a tensor into memory from malloc and sets *count. NULL if the file has none of this dtype.
static void *read_tensor(const qdq_tensor_file *file, const char *name, qdq_dtype dtype,
                         size_t *count) {
    const qdq_tensor_info *info = qdq_tensor_file_find(file, name);
    qdq_error err = {0};
    if (!info || info->dtype != dtype || info->bytes > MOST_LISTING) return NULL;
    void *data = malloc(info->bytes + 1);
    if (data && qdq_tensor_file_read(file, info, data, &err) == QDQ_OK) {
        *count = qdq_shape_count(info->shape);
        return data;
    }
    free(data);
    return NULL;
}

static bool read_numbers(const qdq_tensor_file *file, const char *name, size_t wanted,
                         int64_t *out) {
    size_t count = 0;
    int64_t *numbers = read_tensor(file, name, QDQ_INT64, &count);
    bool fits = numbers && count == wanted;
    if (fits) memcpy(out, numbers, wanted * sizeof *out);
    free(numbers);
    return fits;
}

static bool read_names(const qdq_tensor_file *file, data_listing *out) {
    size_t bytes = 0, sizes = 0;
    char *packed = read_tensor(file, "names", QDQ_UINT8, &bytes);
    out->sizes = read_tensor(file, "sizes", QDQ_INT64, &sizes);
    bool fits = packed && bytes && packed[bytes - 1] == '\0' && out->sizes &&
                text_list_unpack(&out->names, packed, bytes) && out->names.count == sizes;
    free(packed);
    return fits;
}

static bool read_probes(const qdq_tensor_file *file, data_listing *out) {
    size_t numbers = 0, bytes = 0;
    if (!qdq_tensor_file_find(file, "probes")) return true;
    out->probes = read_tensor(file, "probes", QDQ_INT64, &numbers);
    out->digests = read_tensor(file, "digests", QDQ_UINT8, &bytes);
    out->probe_count = numbers / 3;
    bool fits = out->probes && out->digests && numbers % 3 == 0 &&
                bytes == out->probe_count * sizeof *out->digests;
    for (size_t i = 0; fits && i < out->probe_count; i++) {
        const int64_t *p = out->probes[i];
        fits = p[0] >= 0 && (size_t)p[0] < out->names.count && p[1] >= 0 && p[2] >= 0 &&
               p[2] <= MOST_PROBE;
    }
    return fits;
}

static bool read_digest(const qdq_tensor_file *file, data_listing *out) {
    size_t count = 0;
    unsigned char *digest = read_tensor(file, "listing", QDQ_UINT8, &count);
    bool fits = digest && count == sizeof out->digest;
    if (fits) memcpy(out->digest, digest, sizeof out->digest);
    free(digest);
    return fits;
}

static int check_shard(const data_listing *l, const char *path, const shard *own) {
    int64_t first = own->number - 1, rest = l->samples > first ? l->samples - first - 1 : -1;
    int64_t count = rest < 0 ? 0 : rest / own->count + 1;
    if (l->own.number == own->number && l->own.count == own->count &&
        count == (int64_t)l->names.count)
        return EXIT_OK;
    return tell_failure(QDQ_ERR_PARSE,
                        "%s: lists %zu samples of shard %" PRId64 "/%" PRId64 ", wanted %" PRId64
                        " of shard %" PRId64 "/%" PRId64,
                        path, l->names.count, l->own.number, l->own.count, count, own->number,
                        own->count);
}

int listing_read(data_listing *out, const char *path, const shard *own) {
    int64_t numbers[2];
    qdq_error err = {0};
    *out = (data_listing){.samples = 0};
    qdq_tensor_file *file = qdq_tensor_file_open(path, NULL, &err);
    if (!file) return report_error(&err);
    bool fits = read_numbers(file, "samples", 1, &out->samples) && out->samples > 0 &&
                read_numbers(file, "shard", 2, numbers) && read_digest(file, out) &&
                read_names(file, out) && read_probes(file, out);
    qdq_tensor_file_close(file);
    if (!fits)
        return tell_failure(QDQ_ERR_PARSE,
                            "%s: is no listing, wanted tensors samples, shard, names, sizes and "
                            "listing (docs/many_machines.md)",
                            path);
    out->own = (shard){numbers[0], numbers[1]};
    return check_shard(out, path, own);
}

void listing_release(data_listing *l) {
    text_list_release(&l->names);
    free(l->sizes);
    free(l->probes);
    free(l->digests);
    *l = (data_listing){.samples = 0};
}

// True if a part of a file has the listed content.
static bool has_content(const data_listing *l, size_t probe, const char *folder) {
    char path[MOST_PATH];
    unsigned char part[MOST_PROBE], digest[QDQ_SHA256_BYTES];
    const int64_t *p = l->probes[probe];
    qdq_sha256 hash;
    snprintf(path, sizeof path, "%s/%s", folder, l->names.items[p[0]]);
    FILE *file = fopen(path, "rb");
    bool read = file && fseeko(file, (off_t)p[1], SEEK_SET) == 0 &&
                fread(part, 1, (size_t)p[2], file) == (size_t)p[2];
    if (file) (void)fclose(file);
    if (!read) return false;
    qdq_sha256_begin(&hash);
    qdq_sha256_add(&hash, part, (size_t)p[2]);
    qdq_sha256_end(&hash, digest);
    return memcmp(digest, l->digests[probe], sizeof digest) == 0;
}

static int check_content(const data_listing *l, const char *folder) {
    char shown[SHOWN_BYTES];
    for (size_t i = 0; i < l->probe_count; i++)
        if (!has_content(l, i, folder))
            return tell_failure(QDQ_ERR_IO, "%s: '%s' has other content than in the listing",
                                folder,
                                shown_name(l->names.items[l->probes[i][0]], shown, sizeof shown));
    return EXIT_OK;
}

int listing_check(const data_listing *l, const char *folder) {
    char path[MOST_PATH], shown[SHOWN_BYTES];
    struct stat facts;
    for (size_t i = 0; i < l->names.count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, l->names.items[i]);
        bool exists = stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
        int64_t size = exists ? (int64_t)facts.st_size : -1;
        if (size == l->sizes[i]) continue;
        const char *name = shown_name(l->names.items[i], shown, sizeof shown);
        if (!exists)
            return tell_failure(QDQ_ERR_IO, "%s: '%s' is listed, but there is no such file", folder,
                                name);
        return tell_failure(QDQ_ERR_IO,
                            "%s: '%s' has %" PRId64 " bytes, and %" PRId64 " in the listing",
                            folder, name, size, l->sizes[i]);
    }
    return check_content(l, folder);
}

const char *listing_name(const data_listing *l, size_t index) {
    return l->names.items[(index - (size_t)(l->own.number - 1)) / (size_t)l->own.count];
}
