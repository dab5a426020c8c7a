// SPDX-License-Identifier: Apache-2.0
// Misuse of base.h, capture.h, device.h, tile.h and parallel.h, and of the tables of inspect.h.
#include "tests/api/misuse.h"

static const qdq_shape bad_shapes[] = {
    {-1, {2}}, {9, {1}}, {INT_MAX, {2}}, {INT_MIN, {2}}, {2, {3, INT64_MIN}}, {1, {0}}};
enum { BAD_SHAPES = sizeof bad_shapes / sizeof bad_shapes[0] };

CASE(qdq_version) { EXPECT(qdq_version()); }

CASE(qdq_dtype_get) {
    EXPECT(!qdq_dtype_get(QDQ_DTYPE_NONE));
    for (int i = 0; i < MISUSE_NUMBERS; i++) EXPECT(!qdq_dtype_get((qdq_dtype)misuse_numbers[i]));
}

CASE(qdq_dtype_from_name) { EXPECT(qdq_dtype_from_name(NULL) == QDQ_DTYPE_NONE); }

CASE(qdq_dtype_name) {
    for (int i = 0; i < MISUSE_NUMBERS; i++)
        EXPECT(!strcmp(qdq_dtype_name((qdq_dtype)misuse_numbers[i]), "none"));
}

CASE(qdq_dtype_size) {
    for (int i = 0; i < MISUSE_NUMBERS; i++)
        EXPECT(qdq_dtype_size((qdq_dtype)misuse_numbers[i]) == 0);
}

CASE(qdq_dtype_is_real) {
    for (int i = 0; i < MISUSE_NUMBERS; i++)
        EXPECT(!qdq_dtype_is_real((qdq_dtype)misuse_numbers[i]));
}

CASE(qdq_widen_float) {
    float out = 7, one = 1;
    qdq_widen_float(QDQ_FLOAT32, NULL, &out, 1);
    qdq_widen_float(QDQ_FLOAT32, &one, NULL, 1);
    qdq_widen_float(QDQ_DTYPE_NONE, &one, &out, 1);
    for (int i = 0; i < MISUSE_NUMBERS; i++)
        qdq_widen_float((qdq_dtype)misuse_numbers[i], &one, &out, 1);
    EXPECT(out == 7);
}

CASE(qdq_widen_int) {
    int32_t out = 7, one = 1;
    qdq_widen_int(QDQ_INT32, NULL, &out, 1);
    qdq_widen_int(QDQ_INT32, &one, NULL, 1);
    qdq_widen_int(QDQ_FLOAT32, &one, &out, 1);
    qdq_widen_int(QDQ_DTYPE_NONE, &one, &out, 1);
    for (int i = 0; i < MISUSE_NUMBERS; i++)
        qdq_widen_int((qdq_dtype)misuse_numbers[i], &one, &out, 1);
    EXPECT(out == 7);
}

CASE(qdq_widen_int64) {
    int64_t out = 7, one = 1;
    qdq_widen_int64(QDQ_INT64, NULL, &out, 1);
    qdq_widen_int64(QDQ_INT64, &one, NULL, 1);
    qdq_widen_int64(QDQ_FLOAT32, &one, &out, 1);
    qdq_widen_int64(QDQ_DTYPE_NONE, &one, &out, 1);
    for (int i = 0; i < MISUSE_NUMBERS; i++)
        qdq_widen_int64((qdq_dtype)misuse_numbers[i], &one, &out, 1);
    EXPECT(out == 7);
}

CASE(qdq_shape_equal) {
    EXPECT(!qdq_shape_equal(bad_shapes[2], bad_shapes[2]));
    EXPECT(!qdq_shape_equal(bad_shapes[0], bad_shapes[0]));
}

CASE(qdq_shape_count) {
    for (int i = 0; i < BAD_SHAPES; i++) EXPECT(qdq_shape_count(bad_shapes[i]) == 0);
}

CASE(qdq_tiling_of) {
    for (int i = 0; i < BAD_SHAPES; i++) EXPECT(qdq_tiling_of(bad_shapes[i]).tiles == 0);
}

CASE(qdq_padded_shape) {
    for (int i = 0; i < BAD_SHAPES; i++) EXPECT(qdq_padded_shape(bad_shapes[i]).rank == 0);
}

static const qdq_tile_shape bad_tiles[] = {
    {8, 32, true}, {32, 8, false}, {0, 32, false}, {UINT32_MAX, UINT32_MAX, false}};

enum { BAD_TILES = sizeof bad_tiles / sizeof bad_tiles[0] };

CASE(qdq_tile_shape_is_legal) {
    for (int i = 0; i < BAD_TILES; i++) EXPECT(!qdq_tile_shape_is_legal(bad_tiles[i]));
}

CASE(qdq_tile_shape_bytes) {
    const qdq_tile_shape low = {8, 32, false};
    for (int i = 0; i < BAD_TILES; i++)
        EXPECT(qdq_tile_shape_bytes(bad_tiles[i], QDQ_FLOAT32) == 0);
    for (int i = 0; i < MISUSE_NUMBERS; i++)
        EXPECT(qdq_tile_shape_bytes(low, (qdq_dtype)misuse_numbers[i]) == 0);
}

CASE(qdq_tile_shape_offset) {
    for (int i = 0; i < BAD_TILES; i++) EXPECT(qdq_tile_shape_offset(bad_tiles[i], 1, 1) == 0);
    EXPECT(qdq_tile_shape_offset((qdq_tile_shape){0}, 1, SIZE_MAX) == 0);
}

CASE(qdq_tiling_in) {
    for (int i = 0; i < BAD_SHAPES; i++)
        EXPECT(qdq_tiling_in(bad_shapes[i], (qdq_tile_shape){0}).tiles == 0);
    for (int i = 0; i < BAD_TILES; i++)
        EXPECT(qdq_tiling_in(QDQ_SHAPE(2, 3), bad_tiles[i]).tiles == 0);
}

CASE(qdq_padded_shape_in) {
    for (int i = 0; i < BAD_SHAPES; i++)
        EXPECT(qdq_padded_shape_in(bad_shapes[i], (qdq_tile_shape){0}).rank == 0);
    for (int i = 0; i < BAD_TILES; i++)
        EXPECT(qdq_padded_shape_in(QDQ_SHAPE(2, 3), bad_tiles[i]).rank == 0);
}

CASE(qdq_tile_bytes) {
    for (int i = 0; i < MISUSE_NUMBERS; i++)
        EXPECT(qdq_tile_bytes((qdq_dtype)misuse_numbers[i]) == 0);
}

typedef void mover(qdq_dtype dtype, qdq_shape shape, const void *from, void *to,
                   const qdq_parallel *parallel);

// Refused calls write nothing.
static void check_mover(mover *move) {
    static float from[2048], to[2048];
    to[0] = 7;
    move(QDQ_FLOAT32, QDQ_SHAPE(1), NULL, to, NULL);
    move(QDQ_FLOAT32, QDQ_SHAPE(1), from, NULL, NULL);
    move(QDQ_DTYPE_NONE, QDQ_SHAPE(1), from, to, NULL);
    for (int i = 0; i < MISUSE_NUMBERS; i++)
        move((qdq_dtype)misuse_numbers[i], QDQ_SHAPE(1), from, to, NULL);
    for (int i = 0; i < BAD_SHAPES; i++) move(QDQ_FLOAT32, bad_shapes[i], from, to, NULL);
    EXPECT(to[0] == 7);
    move(QDQ_FLOAT32, QDQ_SHAPE(1), from, to, &(qdq_parallel){0});
    EXPECT(to[0] == 0);
}

static void serial_tilize(qdq_dtype dtype, qdq_shape shape, const void *from, void *to,
                          const qdq_parallel *parallel) {
    (void)parallel;
    qdq_tilize(dtype, shape, from, to);
}

static void serial_untilize(qdq_dtype dtype, qdq_shape shape, const void *from, void *to,
                            const qdq_parallel *parallel) {
    (void)parallel;
    qdq_untilize(dtype, shape, from, to);
}

// Moves in a lower tile; tiles that do not exist take the place of 32x32 first.
static void tilize_in(qdq_dtype dtype, qdq_shape shape, const void *from, void *to,
                      const qdq_parallel *parallel) {
    for (int i = 0; i < BAD_TILES; i++)
        qdq_tilize_in(dtype, shape, bad_tiles[i], from, to, parallel);
    qdq_tilize_in(dtype, shape, (qdq_tile_shape){8, 32, false}, from, to, parallel);
}

static void untilize_in(qdq_dtype dtype, qdq_shape shape, const void *from, void *to,
                        const qdq_parallel *parallel) {
    for (int i = 0; i < BAD_TILES; i++)
        qdq_untilize_in(dtype, shape, bad_tiles[i], from, to, parallel);
    qdq_untilize_in(dtype, shape, (qdq_tile_shape){8, 32, false}, from, to, parallel);
}

CASE(qdq_tilize_in) { check_mover(tilize_in); }
CASE(qdq_untilize_in) { check_mover(untilize_in); }
CASE(qdq_tilize) { check_mover(serial_tilize); }
CASE(qdq_untilize) { check_mover(serial_untilize); }
CASE(qdq_tilize_parallel) { check_mover(qdq_tilize_parallel); }
CASE(qdq_untilize_parallel) { check_mover(qdq_untilize_parallel); }

CASE(qdq_parallel_openmp) {
    (void)qdq_parallel_openmp(-1);
    (void)qdq_parallel_openmp(INT_MIN);
}

CASE(qdq_threads_create) {
    qdq_threads_destroy(qdq_threads_create(-1, NULL, NULL));
    qdq_threads_destroy(qdq_threads_create(INT_MIN, NULL, NULL));
}
CASE(qdq_threads_destroy) { qdq_threads_destroy(NULL); }
CASE(qdq_parallel_threads) { EXPECT(!qdq_parallel_threads(NULL).run); }

//---- Tables -----------------------------------------------------------------

CASE(qdq_isa_get) { EXPECT(!qdq_isa_get(SIZE_MAX).name); }
CASE(qdq_op_meant) {
    EXPECT(!qdq_op_meant(NULL));
    EXPECT(!qdq_op_meant(""));
    EXPECT(!strcmp(qdq_op_meant("QuantizeLinear"), "Quantize"));
    EXPECT(!strcmp(qdq_op_meant("QuantizeLinea"), "Quantize"));
    EXPECT(!strcmp(qdq_op_meant("Quantise"), "Quantize"));
}
CASE(qdq_op_count) { EXPECT(qdq_op_count() > 0); }
CASE(qdq_op_get) { EXPECT(!qdq_op_get(SIZE_MAX).name); }
CASE(qdq_op_input) {
    EXPECT(!qdq_op_input(SIZE_MAX, 0).name);
    EXPECT(!qdq_op_input(0, SIZE_MAX).name);
}
CASE(qdq_op_output) {
    EXPECT(!qdq_op_output(SIZE_MAX, 0).name);
    EXPECT(!qdq_op_output(0, SIZE_MAX).name);
}
CASE(qdq_op_attr) {
    EXPECT(!qdq_op_attr(SIZE_MAX, 0).name);
    EXPECT(!qdq_op_attr(0, SIZE_MAX).name);
}
CASE(qdq_target_count) { EXPECT(qdq_target_count() > 0); }
CASE(qdq_target_get) { EXPECT(!qdq_target_get(SIZE_MAX).name); }
CASE(qdq_target_release) {
    EXPECT(!qdq_target_release(SIZE_MAX, 0));
    EXPECT(!qdq_target_release(0, SIZE_MAX));
}

CASE(qdq_target_device_name) {
    EXPECT(!qdq_target_device_name(NULL));
    EXPECT(!qdq_target_device_name(""));
    EXPECT(!qdq_target_device_name("ttnn@"));
}
CASE(qdq_target_rewrites) {
    EXPECT(!qdq_target_rewrites(NULL));
    EXPECT(!qdq_target_rewrites("ort@9"));
    EXPECT(qdq_target_rewrites("ort"));
}
CASE(qdq_target_rule) {
    EXPECT(!qdq_target_rule(SIZE_MAX, 0).id);
    EXPECT(!qdq_target_rule(0, SIZE_MAX).id);
}

CASE(qdq_target_option_get) {
    EXPECT(!qdq_target_option_get(SIZE_MAX, 0).name);
    EXPECT(!qdq_target_option_get(0, SIZE_MAX).name);
}
CASE(qdq_target_evidence) {
    EXPECT(!qdq_target_evidence(SIZE_MAX, 0).kind);
    EXPECT(!qdq_target_evidence(0, SIZE_MAX).kind);
}
CASE(qdq_evidence_at) {
    EXPECT(!qdq_evidence_at(NULL, "Add", 0).kind);
    EXPECT(!qdq_evidence_at("core", "Add", SIZE_MAX).kind);
    EXPECT(!qdq_evidence_at("onnx", NULL, 0).kind);
}
CASE(qdq_evidence_of) {
    EXPECT(!qdq_evidence_of(NULL, "Add").kind);
    EXPECT(!qdq_evidence_of("", "Add").kind);
    EXPECT(qdq_evidence_of("core", NULL).kind);
}
CASE(qdq_finding_evidence) {
    EXPECT(!qdq_finding_evidence("core", NULL).kind);
    EXPECT(!qdq_finding_evidence(NULL, &(qdq_finding){.target = "core", .op = ""}).kind);
}

CASE(qdq_devices) { EXPECT(qdq_devices(NULL)); }

CASE(qdq_device_find) {
    FAILS(QDQ_ERR_ARGUMENT, qdq_device_find(NULL, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_device_find("\xFF\xFE", err));
}

CASE(qdq_device_is_none) {
    EXPECT(!qdq_device_is_none(NULL) && !qdq_device_is_none(qdq_devices(NULL)));
    EXPECT(qdq_device_is_none(qdq_device_find("none", NULL)));
}

CASE(qdq_device_check) {
    qdq_device device = *qdq_devices(NULL);
    FAILS(QDQ_ERR_ARGUMENT, qdq_device_check(NULL, err));
    memset(device.name, 'x', sizeof device.name);
    FAILS(QDQ_ERR_ARGUMENT, qdq_device_check(&device, err));
    device = *qdq_devices(NULL);
    for (int i = 0; i < MISUSE_NUMBERS; i++) {
        device.arch = (qdq_arch)misuse_numbers[i];
        FAILS(QDQ_ERR_ARGUMENT, qdq_device_check(&device, err));
    }
}

CASE(qdq_device_parse) {
    qdq_device device;
    FAILS(QDQ_ERR_ARGUMENT, qdq_device_parse(NULL, 5, "name", NULL, &device, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_device_parse("{}", 2, "name", NULL, NULL, err));
    FAILS(QDQ_ERR_PARSE, qdq_device_parse("{}", 2, NULL, NULL, &device, err));
    FAILS(QDQ_ERR_PARSE, qdq_device_parse("{\"chip\": \"\xFF\"}", 13, "\xFF", NULL, &device, err));
}

CASE(qdq_memory_config_text) {
    char text[QDQ_MEMORY_CONFIG_TEXT_BYTES];
    qdq_memory_config config = {.shard_spec = {.grid_count = SIZE_MAX, .shape = {.rank = 1000}}};
    EXPECT(!*qdq_memory_config_text(NULL, NULL) && !*qdq_memory_config_text(&config, NULL));
    EXPECT(strstr(qdq_memory_config_text(NULL, text), "BufferType::DRAM"));
    for (int i = 0; i < MISUSE_NUMBERS; i++) {
        config.buffer_type = (qdq_buffer_type)misuse_numbers[i];
        config.memory_layout = (qdq_memory_layout)misuse_numbers[i];
        config.shard_spec.orientation = (qdq_shard_orientation)misuse_numbers[i];
        EXPECT(strlen(qdq_memory_config_text(&config, text)) < sizeof text);
    }
}

CASE(qdq_core_ranges_text) {
    char text[QDQ_CORE_RANGES_TEXT_BYTES];
    qdq_core_range ranges[QDQ_MAX_CORE_RANGES];
    memset(ranges, 0xFF, sizeof ranges);
    EXPECT(!*qdq_core_ranges_text(ranges, 1, NULL));
    EXPECT(strcmp(qdq_core_ranges_text(NULL, 5, text), "{}") == 0);
    EXPECT(strlen(qdq_core_ranges_text(ranges, SIZE_MAX, text)) < sizeof text);
}

CASE(qdq_graph_is_capture) {
    qdq_graph *g = misuse_small_graph();
    EXPECT(!qdq_graph_is_capture(NULL) && !qdq_graph_is_capture(g));
    qdq_graph_destroy(g);
}

CASE(qdq_capture_device) {
    qdq_graph *g = misuse_small_graph();
    qdq_device device;
    FAILS(QDQ_ERR_ARGUMENT, qdq_capture_device(NULL, &device, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_capture_device(g, NULL, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_capture_device(g, &device, err));
    qdq_graph_destroy(g);
}

CASE(qdq_capture_compare) {
    qdq_graph *g = misuse_small_graph();
    qdq_capture_totals totals;
    FAILS(QDQ_ERR_ARGUMENT, qdq_capture_compare(NULL, NULL, NULL, NULL, NULL, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_capture_compare(g, NULL, NULL, NULL, &totals, err));
    qdq_graph_destroy(g);
}

CASE(qdq_capture_unknown) {
    qdq_graph *g = misuse_small_graph();
    EXPECT(!qdq_capture_unknown(NULL, 0) && !qdq_capture_unknown(g, SIZE_MAX));
    qdq_graph_destroy(g);
}

CASE(qdq_device_load) {
    qdq_device device;
    FAILS(QDQ_ERR_ARGUMENT, qdq_device_load(NULL, NULL, &device, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_device_load("device.json", NULL, NULL, err));
    FAILS(QDQ_ERR_IO, qdq_device_load("", NULL, &device, err));
}

CASE(qdq_buffer_type_name) {
    for (int i = 0; i < MISUSE_NUMBERS; i++)
        EXPECT(!strcmp(qdq_buffer_type_name((qdq_buffer_type)misuse_numbers[i]), "none"));
}
CASE(qdq_widen_float64) {
    double out = 7, one = 1;
    qdq_widen_float64(QDQ_FLOAT64, NULL, &out, 1);
    qdq_widen_float64(QDQ_FLOAT64, &one, NULL, 1);
    qdq_widen_float64(QDQ_INT64, &one, &out, 1);
    qdq_widen_float64(QDQ_DTYPE_NONE, &one, &out, 1);
    for (int i = 0; i < MISUSE_NUMBERS; i++)
        qdq_widen_float64((qdq_dtype)misuse_numbers[i], &one, &out, 1);
    EXPECT(out == 7);
}

CASE(qdq_memory_layout_name) {
    for (int i = 0; i < MISUSE_NUMBERS; i++)
        EXPECT(!strcmp(qdq_memory_layout_name((qdq_memory_layout)misuse_numbers[i]), "none"));
}

const misuse_case misuse_base[] = {ROW(qdq_version),
                                   ROW(qdq_dtype_get),
                                   ROW(qdq_dtype_from_name),
                                   ROW(qdq_dtype_name),
                                   ROW(qdq_dtype_size),
                                   ROW(qdq_dtype_is_real),
                                   ROW(qdq_widen_float),
                                   ROW(qdq_widen_int),
                                   ROW(qdq_widen_int64),
                                   ROW(qdq_widen_float64),
                                   ROW(qdq_shape_equal),
                                   ROW(qdq_shape_count),
                                   ROW(qdq_devices),
                                   ROW(qdq_device_find),
                                   ROW(qdq_device_is_none),
                                   ROW(qdq_device_check),
                                   ROW(qdq_device_parse),
                                   ROW(qdq_device_load),
                                   ROW(qdq_memory_config_text),
                                   ROW(qdq_core_ranges_text),
                                   ROW(qdq_graph_is_capture),
                                   ROW(qdq_capture_device),
                                   ROW(qdq_capture_compare),
                                   ROW(qdq_capture_unknown),
                                   ROW(qdq_buffer_type_name),
                                   ROW(qdq_memory_layout_name),
                                   ROW(qdq_tiling_of),
                                   ROW(qdq_padded_shape),
                                   ROW(qdq_tile_bytes),
                                   ROW(qdq_tile_shape_is_legal),
                                   ROW(qdq_tile_shape_bytes),
                                   ROW(qdq_tile_shape_offset),
                                   ROW(qdq_tiling_in),
                                   ROW(qdq_padded_shape_in),
                                   ROW(qdq_tilize_in),
                                   ROW(qdq_untilize_in),
                                   ROW(qdq_tilize),
                                   ROW(qdq_untilize),
                                   ROW(qdq_tilize_parallel),
                                   ROW(qdq_untilize_parallel),
                                   ROW(qdq_parallel_openmp),
                                   ROW(qdq_threads_create),
                                   ROW(qdq_threads_destroy),
                                   ROW(qdq_parallel_threads),
                                   ROW(qdq_isa_get),
                                   ROW(qdq_op_count),
                                   ROW(qdq_op_get),
                                   ROW(qdq_op_input),
                                   ROW(qdq_op_output),
                                   ROW(qdq_op_attr),
                                   ROW(qdq_target_count),
                                   ROW(qdq_target_get),
                                   ROW(qdq_target_release),
                                   ROW(qdq_target_device_name),
                                   ROW(qdq_target_rewrites),
                                   ROW(qdq_target_rule),
                                   ROW(qdq_target_option_get),
                                   ROW(qdq_target_evidence),
                                   ROW(qdq_evidence_at),
                                   ROW(qdq_evidence_of),
                                   ROW(qdq_finding_evidence),
                                   ROW(qdq_op_meant),
                                   {NULL, NULL}};
