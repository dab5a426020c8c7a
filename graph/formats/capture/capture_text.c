// SPDX-License-Identifier: Apache-2.0
// Reads the texts that ttnn prints of shapes, dtypes and memory configs.
#include <ctype.h>
#include <string.h>

#include "graph/formats/capture/capture.h"

// Returns the text behind `key`; NULL: it does not occur.
static const char *behind(const char *text, const char *key) {
    const char *at = text ? strstr(text, key) : NULL;
    return at ? at + strlen(key) : NULL;
}

static bool read_number(const char **at, uint64_t *out) {
    uint64_t number = 0;
    const char *digit = *at;
    for (; isdigit((unsigned char)*digit); digit++) {
        if (number > (UINT64_MAX - 9) / 10) return false;
        number = number * 10 + (uint64_t)(*digit - '0');
    }
    if (digit == *at) return false;
    *out = number;
    *at = digit;
    return true;
}

uint64_t qdq_capture_number(const char *text, const char *key) {
    const char *at = behind(text, key);
    uint64_t number;
    return at && read_number(&at, &number) ? number : 0;
}

// Reads "[1, 1, 2048, 512]".
static bool read_dims(const char *at, qdq_shape *out) {
    *out = (qdq_shape){0};
    if (!at || *at != '[') return false;
    at++;
    while (*at != ']') {
        uint64_t dim;
        if (out->rank == QDQ_MAX_RANK || !read_number(&at, &dim) || dim > INT32_MAX) return false;
        out->dims[out->rank++] = (int64_t)dim;
        if (at[0] == ',' && at[1] == ' ') at += 2;
    }
    return true;
}

bool qdq_capture_shape(const char *text, qdq_shape *out) {
    return read_dims(behind(text, "Shape("), out);
}

bool qdq_capture_dtype(const char *text, qdq_dtype *out) {
    char name[32];
    const char *at = behind(text, "DataType::");
    size_t length = 0;
    if (!at) return false;
    for (; at[length] && length + 1 < sizeof name; length++)
        name[length] = (char)tolower((unsigned char)at[length]);
    name[length] = '\0';
    *out = qdq_dtype_from_name(name);
    return *out != QDQ_DTYPE_NONE;
}

bool qdq_capture_tile(const char *text, qdq_tile_shape *out) {
    const char *at = behind(text, "tile_shape={");
    uint64_t height, width;
    if (!at || !read_number(&at, &height) || strncmp(at, ", ", 2) != 0) return false;
    at += 2;
    if (!read_number(&at, &width) || height > 32 || width > 32) return false;
    *out = (qdq_tile_shape){.height = (uint32_t)height, .width = (uint32_t)width};
    return true;
}

//---- Memory configs ---------------------------------------------------------

// Finds the number of the word behind `key` in the names of an enum. False if it is none of them.
static bool read_word(const char *text, const char *key, const char *(*name)(int), int count,
                      int *out) {
    const char *at = behind(text, key);
    for (int i = 0; at && i < count; i++) {
        size_t length = strlen(name(i));
        if (strncmp(at, name(i), length) != 0) continue;
        if (isalnum((unsigned char)at[length]) || at[length] == '_') continue;
        *out = i;
        return true;
    }
    return false;
}

static const char *layout_name(int i) { return qdq_memory_layout_name((qdq_memory_layout)i); }
static const char *type_name(int i) { return qdq_buffer_type_name((qdq_buffer_type)i); }

static bool read_coordinate(const char **at, const char *key, uint16_t *out) {
    uint64_t number;
    *at = behind(*at, key);
    if (!*at || !read_number(at, &number) || number > UINT16_MAX) return false;
    *out = (uint16_t)number;
    return true;
}

// Reads ranges of cores up to the bracket that ends the list; no text in it has another one.
static bool read_grid(const char *at, qdq_shard_spec *out) {
    const char *end = at ? strchr(at, ']') : NULL;
    if (!end) return false;
    for (const char *next = strstr(at, "\"start\""); next && next < end;
         next = strstr(next, "\"start\"")) {
        qdq_core_range range;
        if (out->grid_count == QDQ_MAX_CORE_RANGES ||
            !read_coordinate(&next, "\"x\":", &range.x0) ||
            !read_coordinate(&next, "\"y\":", &range.y0) ||
            !read_coordinate(&next, "\"x\":", &range.x1) ||
            !read_coordinate(&next, "\"y\":", &range.y1) || next > end)
            return false;
        out->grid[out->grid_count++] = range;
    }
    return out->grid_count > 0;
}

static bool read_spec(const char *text, bool nd, qdq_shard_spec *out) {
    const char *at = behind(text, nd ? "nd_shard_spec={" : ",shard_spec=ShardSpec{");
    if (!at || !read_grid(behind(at, nd ? "\"grid\":[" : "grid=["), out) ||
        !read_dims(behind(at, nd ? "\"shard_shape\":" : ", shape="), &out->shape))
        return false;
    const char *word = behind(at, "ShardOrientation::");
    if (word && strncmp(word, "COL_MAJOR", 9) == 0) out->orientation = QDQ_SHARD_COL_MAJOR;
    word = nd ? behind(at, "ShardDistributionStrategy::") : NULL;
    if (word && strncmp(word, "CONTIGUOUS_1D", 13) == 0) out->distribution = QDQ_CONTIGUOUS_1D;
    return true;
}

bool qdq_capture_config(const char *text, qdq_memory_config *out) {
    int layout, type;
    *out = (qdq_memory_config){0};
    bool nd = behind(text, "created_with_nd_shard_spec=1") != NULL;
    if (!read_word(text, "buffer_type=BufferType::", type_name, QDQ_TRACE + 1, &type)) return false;
    if (nd)
        layout = QDQ_ND_SHARDED;
    else if (!read_word(text, "memory_layout=TensorMemoryLayout::", layout_name, QDQ_ND_SHARDED + 1,
                        &layout))
        return false;
    out->buffer_type = (qdq_buffer_type)type;
    out->memory_layout = (qdq_memory_layout)layout;
    return layout == QDQ_INTERLEAVED || read_spec(text, nd, &out->shard_spec);
}
