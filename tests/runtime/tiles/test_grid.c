// SPDX-License-Identifier: Apache-2.0
// Which parameter goes with which element, against the definition with one division for each dim.
#include "runtime/tiles/grid.h"
#include "tests/unit.h"

// The parameter of element `at`: each index divided by its extent, row-major over the blocks.
static size_t block_of(qdq_shape shape, const int64_t *extents, size_t at) {
    size_t block = 0, stride = 1;
    for (int i = shape.rank - 1; i >= 0; i--) {
        size_t dim = (size_t)shape.dims[i], extent = (size_t)extents[i];
        block += at % dim / extent * stride;
        stride *= (dim + extent - 1) / extent;
        at /= dim;
    }
    return block;
}

// Walks in steps of at most `most` elements, which may end within a run.
static void check_walk(const qdq_grid *grid, qdq_shape shape, const int64_t *extents, size_t at,
                       size_t most) {
    size_t count = qdq_shape_count(shape);
    qdq_grid_walk walk = qdq_grid_walk_from(grid, at);
    while (at < count) {
        assert_true(walk.run >= 1);
        size_t n = walk.run < most ? walk.run : most;
        for (size_t i = 0; i < n && at + i < count; i++)
            assert_int_equal(walk.block + i * walk.step, block_of(shape, extents, at + i));
        qdq_grid_walk_on(&walk, n);
        at += n;
    }
}

// Tiles that are cut from the same elements in `tiled` shape: the tensor's, or that of a matrix
// with all planes one below the other.
static void check_tiles(const qdq_grid *grid, qdq_shape shape, const int64_t *extents,
                        qdq_shape tiled, const uint32_t *values) {
    uint32_t scratch[1024];
    qdq_tiling t = qdq_tiling_of(tiled);
    for (size_t tile = 0; tile < t.tiles; tile++) {
        qdq_view view = qdq_grid_tile(grid, (qdq_grid_values){.data = values}, &t, tile, scratch);
        qdq_tile_at at = qdq_tile_locate(&t, tile);
        for (size_t r = 0; r < at.rows; r++)
            for (size_t c = 0; c < at.cols; c++) {
                size_t element = at.first + r * t.cols + c;
                assert_int_equal(view.data[qdq_tile_offset(r, c) * view.step],
                                 values[block_of(shape, extents, element)]);
            }
    }
}

static void check_grid(qdq_shape shape, const int64_t *extents) {
    size_t count = qdq_shape_count(shape), run;
    qdq_grid grid = qdq_grid_of(shape, extents);
    uint32_t values[4096], scratch[1024];
    assert_true(grid.count <= 4096);
    for (size_t i = 0; i < grid.count; i++) values[i] = (uint32_t)(i * 3 + 1);
    for (size_t at = 0; at < count; at++) {
        size_t block = qdq_grid_block(&grid, at, &run);
        assert_int_equal(block, block_of(shape, extents, at));
        assert_true(run >= 1);
        for (size_t k = 0; k < run && at + k < count; k++)
            assert_int_equal(block_of(shape, extents, at + k), block);
    }
    size_t period = qdq_grid_period(&grid);
    for (size_t at = period; at < count; at++)
        assert_int_equal(block_of(shape, extents, at), block_of(shape, extents, at - period));
    for (size_t at = 0; at < count; at += 1024) {
        size_t n = count - at < 1024 ? count - at : 1024;
        qdq_view view = qdq_grid_strip(&grid, (qdq_grid_values){.data = values}, at, n, scratch);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(view.data[i * view.step], values[block_of(shape, extents, at + i)]);
    }
    for (size_t start = 0; start < count; start += 1 + count / 7)
        for (size_t most = 1; most <= 64; most += 21)
            check_walk(&grid, shape, extents, start, most);
    int64_t cols = shape.rank ? shape.dims[shape.rank - 1] : 1;
    check_tiles(&grid, shape, extents, shape, values);
    check_tiles(&grid, shape, extents, QDQ_SHAPE((int64_t)count / cols, cols), values);
}

static void per_tensor_is_one_block(void **state) {
    (void)state;
    qdq_shape shape = QDQ_SHAPE(3, 33, 65);
    check_grid(shape, (int64_t[]){3, 33, 65});
    check_grid((qdq_shape){0}, (int64_t[]){0});
    assert_int_equal(qdq_grid_of(shape, (int64_t[]){3, 33, 65}).rank, 1);
}

static void per_channel_works_on_every_axis(void **state) {
    (void)state;
    qdq_shape shapes[] = {QDQ_SHAPE(7), QDQ_SHAPE(5, 37), QDQ_SHAPE(3, 33, 65),
                          QDQ_SHAPE(2, 3, 1, 40), QDQ_SHAPE(2, 1, 3, 5, 9)};
    for (size_t i = 0; i < UNIT_COUNT(shapes); i++)
        for (int axis = 0; axis < shapes[i].rank; axis++) {
            int64_t extents[QDQ_MAX_RANK];
            for (int k = 0; k < shapes[i].rank; k++) extents[k] = k == axis ? 1 : shapes[i].dims[k];
            check_grid(shapes[i], extents);
        }
}

static void groups_may_be_ragged_in_every_dim(void **state) {
    (void)state;
    check_grid(QDQ_SHAPE(10), (int64_t[]){4});
    check_grid(QDQ_SHAPE(33, 65), (int64_t[]){32, 32});
    check_grid(QDQ_SHAPE(33, 65), (int64_t[]){1, 16});
    check_grid(QDQ_SHAPE(33, 65), (int64_t[]){5, 65});
    check_grid(QDQ_SHAPE(3, 7, 11), (int64_t[]){2, 3, 4});
    check_grid(QDQ_SHAPE(3, 7, 11), (int64_t[]){3, 3, 1});
    check_grid(QDQ_SHAPE(2, 2, 2, 2, 2, 2, 3, 5), (int64_t[]){1, 2, 1, 2, 1, 2, 2, 3});
}

static void parameters_repeat_where_the_first_dim_is_one_block(void **state) {
    (void)state;
    qdq_grid columns = qdq_grid_of(QDQ_SHAPE(3, 7, 5), (int64_t[]){3, 7, 1});
    qdq_grid planes = qdq_grid_of(QDQ_SHAPE(3, 7, 5), (int64_t[]){3, 1, 5});
    qdq_grid rows = qdq_grid_of(QDQ_SHAPE(3, 7, 5), (int64_t[]){1, 1, 5});
    assert_int_equal(qdq_grid_period(&columns), 5);
    assert_int_equal(qdq_grid_period(&planes), 35);
    assert_int_equal(qdq_grid_period(&rows), 105);
}

// A walk asks for the place of an element once for each row: what has a parameter for each element
// is a run up to the end of its row, and blocks of several elements say how much of the row is
// left.
static void a_walk_knows_the_rest_of_its_row(void **state) {
    (void)state;
    qdq_grid columns = qdq_grid_of(QDQ_SHAPE(2, 40), (int64_t[]){2, 1});
    qdq_grid groups = qdq_grid_of(QDQ_SHAPE(2, 40), (int64_t[]){1, 16});
    qdq_grid_walk walk = qdq_grid_walk_from(&columns, 40 + 5);
    assert_int_equal(walk.block, 5);
    assert_int_equal(walk.run, 35);
    assert_int_equal(walk.step, 1);
    assert_int_equal(walk.left, 0);
    walk = qdq_grid_walk_from(&groups, 40 + 5);
    assert_int_equal(walk.block, 3);
    assert_int_equal(walk.run, 11);
    assert_int_equal(walk.step, 0);
    assert_int_equal(walk.left, 24);
}

static void long_rows_need_no_copy(void **state) {
    (void)state;
    uint32_t values[4096] = {0}, scratch[1024];
    qdq_grid columns = qdq_grid_of(QDQ_SHAPE(2, 4096), (int64_t[]){2, 1});
    assert_ptr_equal(
        qdq_grid_strip(&columns, (qdq_grid_values){.data = values}, 4096 + 1024, 1024, scratch)
            .data,
        values + 1024);
    qdq_grid rows = qdq_grid_of(QDQ_SHAPE(2, 4096), (int64_t[]){1, 4096});
    qdq_view view = qdq_grid_strip(&rows, (qdq_grid_values){.data = values}, 4096, 1024, scratch);
    assert_ptr_equal(view.data, values + 1);
    assert_int_equal(view.step, 0);
}

static void whole_tiles_have_the_parameters_of_their_rows(void **state) {
    (void)state;
    static const int64_t flat[][2] = {{1, 96}, {70, 1},  {7, 1}, {7, 32},
                                      {3, 48}, {40, 64}, {1, 31}};
    static const int64_t deep[][3] = {{1, 40, 1}, {2, 40, 1},  {1, 3, 64}, {1, 1, 32},
                                      {2, 5, 64}, {1, 33, 32}, {2, 1, 64}, {1, 40, 64}};
    for (size_t i = 0; i < UNIT_COUNT(flat); i++) check_grid(QDQ_SHAPE(70, 96), flat[i]);
    for (size_t i = 0; i < UNIT_COUNT(deep); i++) check_grid(QDQ_SHAPE(2, 40, 64), deep[i]);
    check_grid(QDQ_SHAPE(3, 5, 1, 64), (int64_t[]){1, 2, 1, 1});
    check_grid(QDQ_SHAPE(64, 64), (int64_t[]){1, 1});
    check_grid(QDQ_SHAPE(64), (int64_t[]){1});
    check_grid(QDQ_SHAPE(64), (int64_t[]){16});
}

static void one_block_is_shared_and_more_are_copied(void **state) {
    (void)state;
    unit_memory memory;
    qdq_mempool mempool;
    qdq_mempool_init(&mempool, unit_memory_init(&memory, 0));
    mempool.block_bytes = 1;
    qdq_grid one = qdq_grid_of(QDQ_SHAPE(4, 6), (int64_t[]){4, 6});
    qdq_grid two = qdq_grid_of(QDQ_SHAPE(4, 6), (int64_t[]){2, 6});
    assert_ptr_equal(qdq_grid_copy(&one, &mempool), &qdq_grid_whole);
    assert_int_equal(memory.calls, 0);
    const qdq_grid *copy = qdq_grid_copy(&two, &mempool);
    assert_non_null(copy);
    assert_ptr_not_equal(copy, &two);
    assert_in_range(memory.live_bytes, sizeof two, 2 * sizeof two - 1);
    assert_int_equal(copy->count, 2);
    assert_int_equal(qdq_grid_walk_from(copy, 12).block, 1);
    qdq_mempool_release(&mempool);
    unit_memory_check(&memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(per_tensor_is_one_block),
        cmocka_unit_test(per_channel_works_on_every_axis),
        cmocka_unit_test(groups_may_be_ragged_in_every_dim),
        cmocka_unit_test(parameters_repeat_where_the_first_dim_is_one_block),
        cmocka_unit_test(a_walk_knows_the_rest_of_its_row),
        cmocka_unit_test(long_rows_need_no_copy),
        cmocka_unit_test(whole_tiles_have_the_parameters_of_their_rows),
        cmocka_unit_test(one_block_is_shared_and_more_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
