// SPDX-License-Identifier: Apache-2.0
// Writes and reads states. A table has a row for each tensor; both go through it.
#include "tools/calibrate/state_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/io/zip/byte_source.h"

// Numbers of a state that are stored in one tensor, in this order.
enum { NUMBER_VERSION, NUMBER_SAMPLES, NUMBER_TAKEN, NUMBER_NEXT, NUMBER_SHARDS, NUMBERS };

enum { MOST_ROWS = 15, TEXT_BYTES = 1 << 28 };

// A tensor of the file: [rows, columns], or [columns] if `rows` is 0.
typedef struct state_row {
    const char *name;
    qdq_dtype dtype;
    size_t rows, columns;
    const void *data;
} state_row;

// Lists the tensors of a state. Those without an element are not written.
static size_t list_rows(const state *s, const int64_t *numbers, const unsigned char *hash,
                        state_row rows[MOST_ROWS]) {
    size_t n = s->values.count;
    const state_row all[] = {
        {"numbers", QDQ_INT64, 0, NUMBERS, numbers},
        {"fingerprint", QDQ_UINT8, 0, strlen(s->fingerprint), s->fingerprint},
        {"target", QDQ_UINT8, 0, strlen(s->target), s->target},
        {"listing", QDQ_UINT8, 0, sizeof s->listing, s->listing},
        {"samples", QDQ_UINT8, 0, sizeof s->samples, s->samples},
        {"shards", QDQ_INT64, 0, s->shards_held, s->shards},
        {"unreadable", QDQ_UINT8, 0, s->unreadable.size, s->unreadable.bytes},
        {"values", QDQ_UINT8, 0, s->values.size, s->values.bytes},
        {"dtypes", QDQ_UINT8, 0, s->dtypes.size, s->dtypes.bytes},
        {"ranges", QDQ_FLOAT64, n, 2, s->ranges},
        {"counts", QDQ_INT64, n, COUNTS, s->counts},
        {"sums", QDQ_INT64, n, SUM_DIGITS, s->sums},
        {"squares", QDQ_INT64, n, SQUARE_DIGITS, s->squares},
        {"histograms", QDQ_INT64, n, HISTOGRAM_BINS, s->histograms},
        {"sha256", QDQ_UINT8, 0, QDQ_SHA256_BYTES, hash},
    };
    size_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].columns) rows[count++] = all[i];
    return count;
}

// The hash of all tensors before the last.
static void hash_rows(const state_row *rows, size_t count, unsigned char out[QDQ_SHA256_BYTES]) {
    qdq_sha256 hash;
    qdq_sha256_begin(&hash);
    for (size_t i = 0; i + 1 < count; i++) {
        qdq_sha256_add(&hash, rows[i].name, strlen(rows[i].name) + 1);
        size_t elements = (rows[i].rows ? rows[i].rows : 1) * rows[i].columns;
        qdq_sha256_add(&hash, rows[i].data, elements * qdq_dtype_size(rows[i].dtype));
    }
    qdq_sha256_end(&hash, out);
}

qdq_status state_write(const state *s, const char *path, qdq_error *err) {
    int64_t numbers[NUMBERS] = {STATE_VERSION, s->sample_count, s->taken, s->next, s->shard_count};
    unsigned char hash[QDQ_SHA256_BYTES] = {0};
    state_row rows[MOST_ROWS];
    qdq_tensor tensors[MOST_ROWS];
    size_t count = list_rows(s, numbers, hash, rows);
    hash_rows(rows, count, hash);
    for (size_t i = 0; i < count; i++) {
        int64_t columns = (int64_t)rows[i].columns;
        qdq_shape shape = QDQ_SHAPE(columns);
        if (rows[i].rows) shape = QDQ_SHAPE((int64_t)rows[i].rows, columns);
        tensors[i] = (qdq_tensor){rows[i].name, rows[i].dtype, shape, rows[i].data};
    }
    return qdq_tensor_file_write(path, tensors, count, NULL, err);
}

//---- Reading ----------------------------------------------------------------

typedef struct reader {
    qdq_tensor_file *file;
    qdq_error *err;
} reader;

static bool is_wrong(const reader *r, const char *tensor) {
    (void)source_fail(r->err, QDQ_ERR_PARSE,
                      "is no calibration state, or a damaged one: tensor '%s' is missing or wrong",
                      tensor);
    return false;
}

// Reads a tensor of `count` elements; of any number up to TEXT_BYTES if `count` is 0, with a NUL
// behind it, into memory from malloc. `found` gets the number.
static void *read_tensor(const reader *r, const char *name, qdq_dtype dtype, size_t count,
                         size_t *found) {
    const qdq_tensor_info *info = qdq_tensor_file_find(r->file, name);
    size_t has = info ? qdq_shape_count(info->shape) : 0;
    if (found) *found = has;
    if (!info || info->dtype != dtype || (count ? has != count : has > TEXT_BYTES)) {
        is_wrong(r, name);
        return NULL;
    }
    char *data = malloc(info->bytes + 1);
    if (!data) {
        (void)source_fail(r->err, QDQ_ERR_MEMORY, "out of memory: %zu bytes", info->bytes);
        return NULL;
    }
    data[info->bytes] = '\0';
    if (qdq_tensor_file_read(r->file, info, data, r->err) == QDQ_OK) return data;
    free(data);
    return NULL;
}

static bool read_into(const reader *r, const char *name, qdq_dtype dtype, void *out, size_t count) {
    void *data = read_tensor(r, name, dtype, count, NULL);
    if (data) memcpy(out, data, count * qdq_dtype_size(dtype));
    free(data);
    return data != NULL;
}

static bool read_word(const reader *r, const char *name, char *out, size_t capacity) {
    size_t count = 0;
    char *data = read_tensor(r, name, QDQ_UINT8, 0, &count);
    bool fits = data && count < capacity && strlen(data) == count;
    if (fits) memcpy(out, data, count + 1);
    free(data);
    return fits || is_wrong(r, name);
}

static bool read_list(const reader *r, const char *name, bool optional, text_list *out) {
    if (optional && !qdq_tensor_file_find(r->file, name)) return true;
    out->bytes = read_tensor(r, name, QDQ_UINT8, 0, &out->size);
    if (!out->bytes) return false;
    if (out->bytes[out->size - 1] != '\0') return is_wrong(r, name);
    for (size_t i = 0; i < out->size; i++) out->count += out->bytes[i] == '\0';
    return true;
}

static bool read_numbers(const reader *r, state *s) {
    int64_t numbers[NUMBERS];
    if (!read_into(r, "numbers", QDQ_INT64, numbers, NUMBERS)) return false;
    if (numbers[NUMBER_VERSION] != STATE_VERSION) {
        (void)source_fail(r->err, QDQ_ERR_UNSUPPORTED,
                          "is a state of version %" PRId64
                          ", wanted %d: write it again with this qdq",
                          numbers[NUMBER_VERSION], (int)STATE_VERSION);
        return false;
    }
    s->sample_count = numbers[NUMBER_SAMPLES];
    s->taken = numbers[NUMBER_TAKEN];
    s->next = numbers[NUMBER_NEXT];
    s->shard_count = numbers[NUMBER_SHARDS];
    bool good = s->sample_count >= 0 && s->taken >= 0 && s->taken <= s->sample_count &&
                s->next >= COMPLETE && s->next <= s->sample_count && s->shard_count >= 1 &&
                s->shard_count <= MOST_SHARDS;
    return good || is_wrong(r, "numbers");
}

static bool read_shards(const reader *r, state *s) {
    s->shards = read_tensor(r, "shards", QDQ_INT64, 0, &s->shards_held);
    if (!s->shards) return false;
    for (size_t i = 0; i < s->shards_held; i++)
        if (s->shards[i] < 1 || s->shards[i] > s->shard_count ||
            (i > 0 && s->shards[i] <= s->shards[i - 1]))
            return is_wrong(r, "shards");
    return true;
}

static bool read_values(const reader *r, state *s) {
    size_t n;
    if (!read_list(r, "values", false, &s->values) || !read_list(r, "dtypes", false, &s->dtypes))
        return false;
    n = s->values.count;
    if (s->dtypes.count != n) return is_wrong(r, "dtypes");
    s->ranges = read_tensor(r, "ranges", QDQ_FLOAT64, 2 * n, NULL);
    s->counts = s->ranges ? read_tensor(r, "counts", QDQ_INT64, COUNTS * n, NULL) : NULL;
    s->sums = s->counts ? read_tensor(r, "sums", QDQ_INT64, SUM_DIGITS * n, NULL) : NULL;
    s->squares = s->sums ? read_tensor(r, "squares", QDQ_INT64, SQUARE_DIGITS * n, NULL) : NULL;
    if (s->squares)
        s->histograms = read_tensor(r, "histograms", QDQ_INT64, HISTOGRAM_BINS * n, NULL);
    return s->histograms != NULL;
}

static bool check_hash(const reader *r, const state *s) {
    int64_t numbers[NUMBERS] = {STATE_VERSION, s->sample_count, s->taken, s->next, s->shard_count};
    unsigned char hash[QDQ_SHA256_BYTES] = {0}, stored[QDQ_SHA256_BYTES];
    state_row rows[MOST_ROWS];
    if (!read_into(r, "sha256", QDQ_UINT8, stored, sizeof stored)) return false;
    hash_rows(rows, list_rows(s, numbers, hash, rows), hash);
    return memcmp(hash, stored, sizeof hash) == 0 || is_wrong(r, "sha256");
}

static bool read_all(const reader *r, state *s) {
    return read_numbers(r, s) &&
           read_word(r, "fingerprint", s->fingerprint, sizeof s->fingerprint) &&
           read_word(r, "target", s->target, sizeof s->target) &&
           read_into(r, "listing", QDQ_UINT8, s->listing, sizeof s->listing) &&
           read_into(r, "samples", QDQ_UINT8, s->samples, sizeof s->samples) && read_shards(r, s) &&
           read_list(r, "unreadable", true, &s->unreadable) && read_values(r, s) &&
           check_hash(r, s) && (strchr(s->fingerprint, '-') || is_wrong(r, "fingerprint"));
}

qdq_status state_read(state *out, const char *path, qdq_error *err) {
    qdq_error own = {0};
    *out = (state){0};
    reader r = {qdq_tensor_file_open(path, NULL, err), &own};
    if (!r.file) return err->status;
    bool good = read_all(&r, out);
    qdq_tensor_file_close(r.file);
    if (good) return QDQ_OK;
    state_release(out);
    return source_fail(err, own.status, "%.500s: %.500s", path, own.text);
}
