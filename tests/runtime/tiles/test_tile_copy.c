// SPDX-License-Identifier: Apache-2.0
// Copying tiles in groups, by cache lines, past the cache and on threads, against the formula of
// include/qdq/tile.h applied element by element. Guards around the memory catch stray writes.
#include "include/qdq/tile.h"
#include "runtime/tiles/kernels/nontemporal.h"
#include "runtime/tiles/kernels/tile_copy.h"
#include "tests/unit.h"

enum { GUARD = 192, UNTOUCHED = 0xE7 };

// Memory that starts `skew` bytes after a cache line boundary, with guards around it.
typedef struct guarded {
    unsigned char *all, *data;
    size_t bytes;
} guarded;

static guarded guarded_alloc(size_t bytes, size_t skew) {
    guarded g = {.bytes = bytes};
    size_t whole = (bytes + 2 * GUARD + 64 + 63) / 64 * 64;
    g.all = aligned_alloc(64, whole);
    assert_non_null(g.all);
    memset(g.all, UNTOUCHED, whole);
    g.data = g.all + GUARD + skew;
    return g;
}

static void guarded_free(guarded *g) {
    for (unsigned char *at = g->all; at < g->data; at++) assert_int_equal(*at, UNTOUCHED);
    for (size_t i = 0; i < GUARD; i++) assert_int_equal(g->data[g->bytes + i], UNTOUCHED);
    free(g->all);
}

static void fill(unsigned char *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) data[i] = (unsigned char)(i * 7 + i / 251 + i / 65521 + 1);
}

static size_t offset_of(size_t r, size_t c) {
    return ((r >> 4) * 2 + (c >> 4)) * 256 + (r & 15) * 16 + (c & 15);
}

// `count` tiles next to each other, in rows with room for `more` elements.
static void check_group(size_t size, size_t count, size_t more, size_t skew, bool past_cache) {
    size_t width = count * 32 * size, pitch = width + more;
    guarded from = guarded_alloc(32 * pitch, 0), rows = guarded_alloc(32 * pitch, skew),
            tiles = guarded_alloc(count * 1024 * size, skew);
    fill(from.data, from.bytes);
    qdq_tiles_from_rows(size, count, from.data, pitch, tiles.data, past_cache);
    qdq_rows_from_tiles(size, count, tiles.data, rows.data, pitch, past_cache);
    qdq_stream_fence();
    for (size_t r = 0; r < 32; r++) {
        for (size_t c = 0; c < count * 32; c++)
            assert_memory_equal(tiles.data + (c / 32 * 1024 + offset_of(r, c % 32)) * size,
                                from.data + r * pitch + c * size, size);
        assert_memory_equal(rows.data + r * pitch, from.data + r * pitch, width);
        for (size_t i = width; i < pitch; i++)
            assert_int_equal(rows.data[r * pitch + i], UNTOUCHED);
    }
    guarded_free(&from), guarded_free(&rows), guarded_free(&tiles);
}

static void groups_of_any_width_pitch_and_alignment_land_where_the_formula_says(void **state) {
    (void)state;
    static const size_t more[] = {0, 1, 16, 32, 64, 4096 - 1024}, skews[] = {0, 1, 16, 32, 48};
    for (size_t size = 1; size <= 8; size *= 2)
        for (size_t count = 1; count <= 10; count++)
            for (size_t m = 0; m < UNIT_COUNT(more); m++)
                for (size_t k = 0; k < UNIT_COUNT(skews); k++) {
                    check_group(size, count, more[m], skews[k], false);
                    check_group(size, count, more[m], skews[k], true);
                }
}

//---- Tensor ops -------------------------------------------------------------

// Cuts a range into parts of 1, 2, 3, ... and runs the last part first.
static void run_in_parts(void *self, size_t count,
                         void (*task)(void *context, size_t begin, size_t end), void *context) {
    size_t end = count;
    for (size_t part = 1; end > 0; part++) {
        size_t begin = end > part ? end - part : 0;
        task(context, begin, end);
        end = begin;
        ++*(size_t *)self;
    }
}

// Padding keeps its bytes, and nothing outside is touched.
static void check_tensor(qdq_dtype dtype, qdq_shape shape, size_t skew,
                         const qdq_parallel *parallel) {
    size_t size = qdq_dtype_size(dtype);
    qdq_tiling t = qdq_tiling_of(shape);
    size_t count = t.planes * t.rows * t.cols, bytes = t.tiles * 1024 * size;
    guarded from = guarded_alloc(count * size, 0), rows = guarded_alloc(count * size, skew),
            tiles = guarded_alloc(bytes, skew), wanted = guarded_alloc(bytes, 0);
    fill(from.data, from.bytes);
    memset(wanted.data, UNTOUCHED, bytes);
    for (size_t i = 0; i < count; i++) {
        size_t col = i % t.cols, row = i / t.cols % t.rows, plane = i / t.cols / t.rows;
        size_t tile = (plane * t.tile_rows + row / 32) * t.tile_cols + col / 32;
        unsigned char *to = wanted.data + (tile * 1024 + offset_of(row % 32, col % 32)) * size;
        for (size_t k = 0; k < size; k++) to[k] = from.data[i * size + k];
    }
    qdq_tilize_parallel(dtype, shape, from.data, tiles.data, parallel);
    assert_true(memcmp(tiles.data, wanted.data, bytes) == 0);
    qdq_untilize_parallel(dtype, shape, tiles.data, rows.data, parallel);
    assert_true(memcmp(rows.data, from.data, count * size) == 0);
    guarded_free(&from), guarded_free(&rows), guarded_free(&tiles), guarded_free(&wanted);
}

static void tensors_with_every_edge_up_to_70_are_copied_as_the_formula_says(void **state) {
    (void)state;
    static const qdq_dtype dtypes[] = {QDQ_INT8, QDQ_BFLOAT16, QDQ_FLOAT32};
    for (int64_t r = 1; r <= 70; r++)
        for (int64_t c = 1; c <= 70; c++)
            check_tensor(dtypes[(r + c) % 3], QDQ_SHAPE(r, c), (size_t)(r * c % 3) * 16, NULL);
}

static void many_planes_and_wide_rows_are_copied_as_the_formula_says(void **state) {
    (void)state;
    static const qdq_dtype dtypes[] = {QDQ_UINT8, QDQ_FLOAT16, QDQ_INT32};
    for (size_t i = 0; i < UNIT_COUNT(dtypes); i++) {
        check_tensor(dtypes[i], QDQ_SHAPE(5, 3, 64, 96), 0, NULL);
        check_tensor(dtypes[i], QDQ_SHAPE(2, 7, 33, 31), 16, NULL);
        check_tensor(dtypes[i], QDQ_SHAPE(3, 40, 1000), 0, NULL);
        check_tensor(dtypes[i], QDQ_SHAPE(35, 1024), 1, NULL);
    }
}

// QDQ_STREAM_BYTES and more. Rows of the first shape are full cache lines, rows of the last ones
// are not.
static void results_beyond_the_cache_are_copied_as_the_formula_says(void **state) {
    (void)state;
    check_tensor(QDQ_INT8, QDQ_SHAPE(2050, 8192 + 32), 0, NULL);
    check_tensor(QDQ_BFLOAT16, QDQ_SHAPE(2050, 4096), 0, NULL);
    check_tensor(QDQ_FLOAT32, QDQ_SHAPE(2, 1030, 2080), 0, NULL);
    check_tensor(QDQ_BFLOAT16, QDQ_SHAPE(2050, 4100), 0, NULL);
    check_tensor(QDQ_BFLOAT16, QDQ_SHAPE(2050, 4128), 16, NULL);
}

static void parts_on_threads_make_the_same_bytes_and_small_tensors_have_no_parts(void **state) {
    (void)state;
    size_t parts = 0;
    qdq_parallel parallel = {run_in_parts, &parts, 0};
    check_tensor(QDQ_INT8, QDQ_SHAPE(3, 100, 333), 0, &parallel);
    check_tensor(QDQ_BFLOAT16, QDQ_SHAPE(100, 333), 0, &parallel);
    check_tensor(QDQ_INT8, QDQ_SHAPE(2050, 8192 + 32), 0, &parallel);
    assert_true(parts > 30);
    parts = 0;
    parallel.least = 100 * 333 + 1;
    check_tensor(QDQ_BFLOAT16, QDQ_SHAPE(100, 333), 0, &parallel);
    assert_int_equal(parts, 0);
    parallel.least--;
    check_tensor(QDQ_BFLOAT16, QDQ_SHAPE(100, 333), 0, &parallel);
    assert_true(parts > 0);
    check_tensor(QDQ_BFLOAT16, QDQ_SHAPE(100, 333), 0, &(qdq_parallel){0});
    qdq_parallel threads = qdq_parallel_openmp(3);
    threads.least = 0;
    check_tensor(QDQ_FLOAT32, QDQ_SHAPE(3, 100, 333), 0, &threads);
}

// Packed types and block floats go through a buffer: in parts or at once, the bytes are the same.
static void packed_tiles_and_block_floats_do_not_depend_on_the_parts(void **state) {
    (void)state;
    static const qdq_dtype dtypes[] = {QDQ_INT4, QDQ_UINT2, QDQ_FLOAT4_E2M1, QDQ_BFLOAT8_B};
    qdq_shape shape = QDQ_SHAPE(2, 70, 101);
    size_t parts = 0, count = 2 * 70 * 101, tiles = qdq_tiling_of(shape).tiles;
    qdq_parallel parallel = {run_in_parts, &parts, 0};
    for (size_t i = 0; i < UNIT_COUNT(dtypes); i++) {
        size_t size = qdq_dtype_size(dtypes[i]), bytes = tiles * qdq_tile_bytes(dtypes[i]);
        unsigned char *rows = malloc(count * size), *back = malloc(count * size);
        guarded one = guarded_alloc(bytes, 0), many = guarded_alloc(bytes, 0);
        uint64_t random = 5;
        for (size_t k = 0; k < count; k++) {
            float value = (float)(unit_random(&random) % 64) / 16;
            rows[k * size] = (unsigned char)(unit_random(&random) % 2);  // any code of any type
            if (size == sizeof value) memcpy(rows + k * size, &value, size);
        }
        qdq_tilize(dtypes[i], shape, rows, one.data);
        qdq_tilize_parallel(dtypes[i], shape, rows, many.data, &parallel);
        assert_memory_equal(one.data, many.data, bytes);
        qdq_untilize_parallel(dtypes[i], shape, many.data, back, &parallel);
        assert_memory_equal(back, rows, count * size);
        guarded_free(&one), guarded_free(&many), free(rows), free(back);
    }
    assert_true(parts > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_of_any_width_pitch_and_alignment_land_where_the_formula_says),
        cmocka_unit_test(tensors_with_every_edge_up_to_70_are_copied_as_the_formula_says),
        cmocka_unit_test(many_planes_and_wide_rows_are_copied_as_the_formula_says),
        cmocka_unit_test(results_beyond_the_cache_are_copied_as_the_formula_says),
        cmocka_unit_test(parts_on_threads_make_the_same_bytes_and_small_tensors_have_no_parts),
        cmocka_unit_test(packed_tiles_and_block_floats_do_not_depend_on_the_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
