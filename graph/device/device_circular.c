// SPDX-License-Identifier: Apache-2.0
// The circular buffers of a program: which ones it has, on which cores, and whether they clash with
// a buffer in L1. docs/device_memory.md, section 6, has the formulas.
#include "graph/device/device_run.h"
#include "include/qdq/ops.h"
#include "runtime/tenstorrent/matmul_program.h"
#include "runtime/tenstorrent/shard_cores.h"

enum { MOST_BUFFERS = 8 };

// The circular buffers of a program; all lie on the same cores.
typedef struct circular_list {
    qdq_core_range cores[QDQ_MAX_CORE_RANGES];
    size_t core_ranges;
    qdq_circular_buffer buffers[MOST_BUFFERS];
    size_t count;
} circular_list;

//---- Operands ---------------------------------------------------------------

static const qdq_buffer_layout *layout_of(const qdq_device_run *run, size_t buffer) {
    return &run->buffers[buffer].place->layout;
}

static const qdq_memory_config *config_of(const qdq_device_run *run, size_t buffer) {
    return &run->buffers[buffer].place->config;
}

static bool in_tiles(const qdq_device_run *run, size_t buffer) {
    return buffer == SIZE_MAX || run->buffers[buffer].tensor.layout == QDQ_LAYOUT_TILE;
}

static bool is_sharded_in_l1(const qdq_device_run *run, size_t buffer) {
    const qdq_memory_config *config = config_of(run, buffer);
    return config->buffer_type == QDQ_L1 && config->memory_layout != QDQ_INTERLEAVED;
}

// True if the tensors of an op of two operands are the circular buffers: all sharded alike in L1,
// of one shape, without padding pages.
static bool is_native(const qdq_device_run *run, size_t a, size_t b, size_t output) {
    if (b == SIZE_MAX) return false;
    const qdq_buffer_layout *layout = layout_of(run, a);
    return is_sharded_in_l1(run, a) &&
           qdq_memory_config_equal(config_of(run, a), config_of(run, b)) &&
           qdq_memory_config_equal(config_of(run, a), config_of(run, output)) &&
           qdq_shape_equal(run->buffers[a].tensor.shape, run->buffers[b].tensor.shape) &&
           layout->shards * layout->pages_per_shard == layout->pages;
}

//---- Cores ------------------------------------------------------------------

static void add_range(circular_list *list, uint64_t x0, uint64_t y0, uint64_t x1, uint64_t y1) {
    list->cores[list->core_ranges++] =
        (qdq_core_range){(uint16_t)x0, (uint16_t)y0, (uint16_t)x1, (uint16_t)y1};
}

static void on_all_cores(const qdq_device_run *run, circular_list *list) {
    const qdq_device *device = &run->memory.device;
    add_range(list, 0, 0, device->grid_x - 1, device->grid_y - 1);
}

// Takes as many cores as there are units of work, along y first (tt-metal's split_work_to_cores).
static void on_cores_of_work(const qdq_device_run *run, uint64_t units, circular_list *list) {
    uint64_t x = run->memory.device.grid_x, y = run->memory.device.grid_y;
    uint64_t cores = units < x * y ? units : x * y;
    if (cores >= y) add_range(list, 0, 0, cores / y - 1, y - 1);
    if (cores % y) add_range(list, cores / y, 0, cores / y, cores % y - 1);
}

// Takes cores along x first.
static void on_cores_in_rows(const qdq_device_run *run, uint64_t cores, circular_list *list) {
    uint64_t x = run->memory.device.grid_x;
    if (cores >= x) add_range(list, 0, 0, x - 1, cores / x - 1);
    if (cores % x) add_range(list, 0, cores / x, cores % x - 1, cores / x);
}

static void on_shards(const qdq_device_run *run, size_t buffer, circular_list *list) {
    const qdq_shard_spec *spec = &config_of(run, buffer)->shard_spec;
    for (size_t i = 0; i < spec->grid_count; i++) list->cores[i] = spec->grid[i];
    list->core_ranges = spec->grid_count;
}

//---- Programs ---------------------------------------------------------------

static void add(circular_list *list, uint64_t bytes) {
    list->buffers[list->count++] = (qdq_circular_buffer){.bytes = bytes};
}

// Adds a circular buffer that is the memory of a sharded tensor: on each core its shards.
static void add_backed(const qdq_device_run *run, size_t buffer, circular_list *list) {
    list->buffers[list->count++] =
        (qdq_circular_buffer){.bytes = layout_of(run, buffer)->bytes_per_bank,
                              .globally_allocated = true,
                              .address = run->buffers[buffer].address};
}

// tt-metal's unary program factories: a sharded tensor is worked on where it lies.
static void list_unary(const qdq_device_run *run, size_t a, size_t output, circular_list *list) {
    if (is_sharded_in_l1(run, a) && is_sharded_in_l1(run, output)) {
        on_shards(run, a, list);
        add_backed(run, a, list);
        add_backed(run, output, list);
        return;
    }
    on_cores_of_work(run, layout_of(run, a)->pages, list);
    add(list, 2 * layout_of(run, a)->page_size);
    add(list, 2 * layout_of(run, output)->page_size);
}

// tt-metal's binary_ng: on every core, whether it has work or not.
static void list_binary(const qdq_device_run *run, size_t a, size_t b, qdq_dtype scalar_dtype,
                        size_t output, circular_list *list) {
    qdq_binary_buffers op = {.a_tile_bytes = layout_of(run, a)->page_size,
                             .out_tile_bytes = layout_of(run, output)->page_size,
                             .b_is_scalar = b == SIZE_MAX,
                             .is_native = is_native(run, a, b, output),
                             .shard_bytes = layout_of(run, a)->bytes_per_bank};
    size_t const operands[] = {a, b, output};
    op.b_tile_bytes =
        b == SIZE_MAX ? qdq_tile_shape_bytes(qdq_tile_shape_or_default(run->buffers[a].tensor.tile),
                                             scalar_dtype)
                      : layout_of(run, b)->page_size;
    on_all_cores(run, list);
    list->count = qdq_binary_circular_buffers(&op, list->cores, list->core_ranges, list->buffers);
    for (size_t i = 0; op.is_native && i < 3; i++)
        list->buffers[i].address = run->buffers[operands[i]].address;
}

//---- MatMul -----------------------------------------------------------------

static uint64_t batch_of(qdq_shape shape) {
    uint64_t batch = 1;
    for (int i = 0; i + 2 < shape.rank; i++) batch *= (uint64_t)shape.dims[i];
    return batch;
}

// Returns a dim in tiles, counted from the end of a shape; dims that it lacks are 1.
static uint64_t tiles_of(qdq_shape shape, int from_end) {
    enum { TILE = 32 };
    int64_t dim = shape.rank > from_end ? shape.dims[shape.rank - 1 - from_end] : 1;
    return ((uint64_t)dim + TILE - 1) / TILE;
}

static bool is_plain(const qdq_device_run *run, size_t buffer) {
    qdq_tile_shape tile = qdq_tile_shape_or_default(run->buffers[buffer].tensor.tile);
    return in_tiles(run, buffer) && config_of(run, buffer)->memory_layout == QDQ_INTERLEAVED &&
           tile.height == 32 && tile.width == 32 && !tile.transpose;
}

static bool is_in_dram(const qdq_device_run *run, size_t buffer) {
    return config_of(run, buffer)->buffer_type == QDQ_DRAM;
}

static void list_matmul(const qdq_device_run *run, size_t a, size_t b, size_t output,
                        circular_list *list) {
    if (b == SIZE_MAX || !is_plain(run, a) || !is_plain(run, b) || !is_plain(run, output)) return;
    const qdq_matmul_attrs *attrs = run->node->attrs;
    const qdq_device *device = &run->memory.device;
    qdq_shape x = run->buffers[a].tensor.shape, w = run->buffers[b].tensor.shape;
    bool flip_a = attrs->transpose_a == QDQ_TRUE, flip_b = attrs->transpose_b == QDQ_TRUE;
    uint64_t lowest = qdq_free_list_lowest(&run->memory.lists[QDQ_L1]);
    if (lowest > device->l1_size) lowest = device->l1_size;
    qdq_matmul_problem problem = {.m = tiles_of(x, flip_a ? 0 : 1),
                                  .k = tiles_of(x, flip_a ? 1 : 0),
                                  .n = tiles_of(w, flip_b ? 1 : 0),
                                  .batch_a = batch_of(x),
                                  .batch_b = batch_of(w),
                                  .a_bytes = layout_of(run, a)->page_size,
                                  .b_bytes = layout_of(run, b)->page_size,
                                  .y_bytes = layout_of(run, output)->page_size,
                                  .transpose_a = flip_a,
                                  .fp32_dest_acc_en = attrs->fp32_dest_acc_en != QDQ_FALSE,
                                  .packer_l1_acc = run->buffers[a].tensor.dtype != QDQ_FLOAT32,
                                  .all_dram = is_in_dram(run, a) && is_in_dram(run, b) &&
                                              is_in_dram(run, output),
                                  .grid_x = device->grid_x,
                                  .grid_y = device->grid_y,
                                  .free_l1 = lowest - device->l1_base};
    if (attrs->bias.id) problem.bias_bytes = problem.y_bytes;
    qdq_matmul_program program;
    if (!qdq_matmul_program_of(&problem, &program)) return;
    if (program.place == QDQ_MATMUL_RECTANGLE)
        add_range(list, 0, 0, program.cores_x - 1, program.cores_y - 1);
    else if (program.place == QDQ_MATMUL_ROWS)
        on_cores_in_rows(run, program.cores, list);
    else
        on_cores_of_work(run, program.cores, list);
    for (size_t i = 0; i < program.count; i++) add(list, program.bytes[i]);
}

//---- Ops that move a tensor -------------------------------------------------

// Joins the last range with the one before it, if both together are a rectangle.
static bool join_last(circular_list *list) {
    if (list->core_ranges < 2) return false;
    qdq_core_range *a = &list->cores[list->core_ranges - 2], *b = a + 1;
    bool beside = a->y0 == b->y0 && a->y1 == b->y1 && b->x0 == a->x1 + 1;
    bool below = a->x0 == b->x0 && a->x1 == b->x1 && b->y0 == a->y1 + 1;
    if (!beside && !below) return false;
    a->x1 = b->x1;
    a->y1 = b->y1;
    list->core_ranges--;
    return true;
}

// Takes the cores that have shards of a tensor; all cores of its grid if they are too scattered.
static void on_used_shards(const qdq_device_run *run, size_t buffer, circular_list *list) {
    const qdq_buffer_layout *layout = layout_of(run, buffer);
    bool is_block = layout->memory_layout == QDQ_BLOCK_SHARDED;
    uint64_t used = layout->shards < layout->cores && !is_block ? layout->shards : layout->cores;
    for (uint64_t i = 0; i < used && used < layout->cores; i++) {
        uint16_t x, y;
        qdq_shard_cores_at(&layout->spec, i, &x, &y);
        if (list->core_ranges == QDQ_MAX_CORE_RANGES) break;
        add_range(list, x, y, x, y);
        while (join_last(list)) continue;
        if (i + 1 == used) return;
    }
    list->core_ranges = 0;
    on_shards(run, buffer, list);
}

// tt-metal's interleaved_to_sharded: the shards, and four rows or tiles that it aligns in DRAM.
static void list_to_shards(const qdq_device_run *run, size_t output, circular_list *list) {
    enum { TRANSFERS = 4 };
    const qdq_buffer_layout *layout = layout_of(run, output);
    uint64_t alignment = run->memory.device.dram_alignment;
    on_used_shards(run, output, list);
    add_backed(run, output, list);
    add(list, TRANSFERS * qdq_round_up(layout->page_size + alignment, alignment));
}

static bool is_2d_in_l1(const qdq_device_run *run, size_t buffer) {
    return is_sharded_in_l1(run, buffer) && config_of(run, buffer)->memory_layout != QDQ_ND_SHARDED;
}

static bool is_interleaved(const qdq_device_run *run, size_t buffer) {
    return config_of(run, buffer)->memory_layout == QDQ_INTERLEAVED;
}

// interleaved_to_sharded, sharded_to_interleaved and the generic reshard, by where the tensor lies.
static void list_move(const qdq_device_run *run, size_t a, size_t output, circular_list *list) {
    if (is_interleaved(run, a) && is_2d_in_l1(run, output)) list_to_shards(run, output, list);
    if (is_2d_in_l1(run, a) && is_interleaved(run, output)) {
        on_shards(run, a, list);
        add_backed(run, a, list);
    }
    if (is_2d_in_l1(run, a) && is_2d_in_l1(run, output)) {
        on_shards(run, output, list);
        add_backed(run, output, list);
    }
}

// tt-metal's tilize and untilize of interleaved tensors: a row of tiles in, and one out; untilize
// has them twice if a core has several. Wide tensors, which it cuts, are not known.
static void list_layout(const qdq_device_run *run, size_t a, size_t output, circular_list *list) {
    enum { MOST_TILES = 32 };
    bool to_tiles = !in_tiles(run, a) && in_tiles(run, output);
    bool to_rows = in_tiles(run, a) && !in_tiles(run, output);
    size_t tiled = to_tiles ? output : a;
    if ((!to_tiles && !to_rows) || !is_interleaved(run, a) || !is_plain(run, tiled)) return;
    uint64_t width = tiles_of(run->buffers[tiled].tensor.shape, 0);
    uint64_t rows = width ? layout_of(run, tiled)->pages / width : 0;
    if (width > MOST_TILES || rows == 0 || (to_rows && rows == 1)) return;
    uint64_t all = run->memory.device.grid_x * run->memory.device.grid_y;
    uint64_t per_core = (rows + all - 1) / all;
    uint64_t depth = to_rows && per_core > 1 ? 2 : 1;
    on_cores_in_rows(run, (rows + per_core - 1) / per_core, list);
    for (int i = 0; i < 2; i++) add(list, depth * width * layout_of(run, tiled)->page_size);
}

//---- Placing ----------------------------------------------------------------

static void record(qdq_device_run *run, const circular_list *list) {
    if (!run->records) return;
    const qdq_core_range *cores =
        qdq_mempool_copy(run->mempool, list->cores, list->core_ranges, sizeof *cores);
    for (size_t i = 0; i < list->count && cores; i++)
        qdq_run_add_event(
            run, (qdq_device_event){.kind = QDQ_EVENT_CIRCULAR_BUFFER,
                                    .buffer = SIZE_MAX,
                                    .address = list->buffers[i].address,
                                    .bytes = list->buffers[i].bytes,
                                    .globally_allocated = list->buffers[i].globally_allocated,
                                    .cores = cores,
                                    .core_ranges = list->core_ranges});
}

static void place(qdq_device_run *run, circular_list *list) {
    qdq_circular_region region;
    for (size_t i = 0; i < list->count; i++) {
        list->buffers[i].cores = list->cores;
        list->buffers[i].core_ranges = list->core_ranges;
    }
    qdq_circular_buffers_place(&run->memory.device, list->buffers, list->count, &region);
    qdq_device_step *step = &run->steps[run->step_count - 1];
    step->circular_begin = region.begin;
    step->circular_end = region.end;
    step->cores = list->cores[0];
    record(run, list);
    qdq_memory_failure failure;
    if (!run->stopped && qdq_circular_region_check(&run->memory, &region, &failure))
        qdq_run_stop_failure(run, &failure, "", QDQ_ROLE_RESULT);
}

void qdq_run_place_circular(qdq_device_run *run, qdq_program_kind kind, qdq_dtype scalar_dtype) {
    const qdq_device_step *step = &run->steps[run->step_count - 1];
    size_t a = step->inputs[0], b = step->inputs[1], output = step->output;
    circular_list list = {.count = 0};
    bool tiled = in_tiles(run, a) && in_tiles(run, b) && in_tiles(run, output);
    bool moves = run->buffers[output].view_of == SIZE_MAX;
    switch (kind) {
    case QDQ_PROGRAM_OTHER: break;
    case QDQ_PROGRAM_UNARY:
        if (tiled) list_unary(run, a, output, &list);
        break;
    case QDQ_PROGRAM_BINARY:
        if (tiled) list_binary(run, a, b, scalar_dtype, output, &list);
        break;
    case QDQ_PROGRAM_MATMUL: list_matmul(run, a, b, output, &list); break;
    case QDQ_PROGRAM_MOVE:
        if (moves) list_move(run, a, output, &list);
        break;
    case QDQ_PROGRAM_LAYOUT: list_layout(run, a, output, &list); break;
    }
    if (list.count) place(run, &list);
}
