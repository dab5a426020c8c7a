// SPDX-License-Identifier: Apache-2.0
// The keys memory_config, layout, tile and transpose_tile of inputs, constants and nodes: each
// word, what is refused with which sentence, and that writing gives them back.
#include "graph/memory/given_layout.h"
#include "include/qdq/qdq.h"
#include "tests/unit.h"

// A graph whose input x, constant c and node q have these keys (", ..." or "").
static qdq_graph *parse(const char *of_x, const char *of_c, const char *of_q, qdq_error *err) {
    char text[4096];
    snprintf(text, sizeof text,
             "{\"format\": \"qdq/1\", \"target\": \"ttnn\","
             " \"inputs\": [{\"name\": \"x\", \"dtype\": \"float32\", \"shape\": [64, 64]%s}],"
             " \"constants\": [{\"name\": \"c\", \"dtype\": \"float32\", \"shape\": [],"
             " \"data\": 2%s}],"
             " \"nodes\": [{\"op\": \"Quantize\", \"name\": \"q\", \"inputs\": {\"x\": \"x\","
             " \"scale\": \"c\"}, \"attrs\": {\"dtype\": \"int8\"}%s}],"
             " \"outputs\": [{\"name\": \"y\", \"value\": \"q\"}]}",
             of_x, of_c, of_q);
    return qdq_graph_parse(text, strlen(text), "g.json", NULL, NULL, err);
}

static const qdq_given_layout *given(const qdq_graph *g, const char *name) {
    return qdq_graph_given_layout(g, qdq_graph_find(g, name).id);
}

//---- What can be read -------------------------------------------------------

static void each_kind_of_value_keeps_what_it_is_given(void **state) {
    (void)state;
    qdq_error err = {0};
    qdq_graph *g = parse(", \"memory_config\": {\"buffer_type\": \"L1\", \"x-why\": 1}",
                         ", \"layout\": \"ROW_MAJOR\"", ", \"tile\": [16, 32]", &err);
    assert_string_equal(err.text, "");
    assert_true(given(g, "x")->has_config && !given(g, "x")->has_layout &&
                !given(g, "x")->has_tile);
    assert_int_equal(given(g, "x")->as.memory_config.buffer_type, QDQ_L1);
    assert_true(given(g, "c")->has_layout && !given(g, "c")->has_config);
    assert_int_equal(given(g, "c")->as.layout, QDQ_LAYOUT_ROW_MAJOR);
    assert_true(given(g, "q")->has_tile);
    assert_int_equal(given(g, "q")->as.tile.height, 16);
    assert_int_equal(given(g, "q")->as.tile.width, 32);
    qdq_graph_destroy(g);
    g = parse("", "", "", &err);
    assert_null(g->given_layouts);
    qdq_graph_destroy(g);
}

static void every_word_is_read(void **state) {
    static const char *const types[] = {"DRAM", "L1", "SYSTEM_MEMORY", "L1_SMALL", "TRACE"};
    static const char *const layouts[] = {"INTERLEAVED", "HEIGHT_SHARDED", "WIDTH_SHARDED",
                                          "BLOCK_SHARDED", "ND_SHARDED"};
    (void)state;
    qdq_error err = {0};
    char keys[256];
    for (int i = 0; i < 5; i++) {
        snprintf(keys, sizeof keys,
                 ", \"memory_config\": {\"buffer_type\": \"%s\", \"memory_layout\": \"%s\"}",
                 types[i], layouts[i]);
        qdq_graph *g = parse(keys, "", "", &err);
        assert_int_equal(given(g, "x")->as.memory_config.buffer_type, i);
        assert_int_equal(given(g, "x")->as.memory_config.memory_layout, i);
        qdq_graph_destroy(g);
    }
}

static void every_constant_of_ttnn_is_the_object_it_stands_for(void **state) {
    static const struct {
        const char *name;
        qdq_buffer_type type;
        qdq_memory_layout layout;
    } constants[] = {
        {"DRAM_MEMORY_CONFIG", QDQ_DRAM, QDQ_INTERLEAVED},
        {"L1_MEMORY_CONFIG", QDQ_L1, QDQ_INTERLEAVED},
        {"L1_HEIGHT_SHARDED_MEMORY_CONFIG", QDQ_L1, QDQ_HEIGHT_SHARDED},
        {"L1_WIDTH_SHARDED_MEMORY_CONFIG", QDQ_L1, QDQ_WIDTH_SHARDED},
        {"L1_BLOCK_SHARDED_MEMORY_CONFIG", QDQ_L1, QDQ_BLOCK_SHARDED},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(constants); i++) {
        char keys[128];
        qdq_error err = {0};
        snprintf(keys, sizeof keys, ", \"memory_config\": \"%s\"", constants[i].name);
        qdq_graph *g = parse(keys, "", keys, &err);
        assert_string_equal(err.text, "");
        for (int k = 0; k < 2; k++) {
            const qdq_given_layout *it = given(g, k ? "q" : "x");
            assert_true(it->has_config && !it->as.memory_config.shard_spec.grid_count);
            assert_int_equal(it->as.memory_config.buffer_type, constants[i].type);
            assert_int_equal(it->as.memory_config.memory_layout, constants[i].layout);
        }
        qdq_graph_destroy(g);
    }
}

static void a_shard_spec_has_ranges_of_cores_a_shape_and_an_orientation(void **state) {
    (void)state;
    qdq_error err = {0};
    qdq_graph *g = parse(", \"memory_config\": {\"memory_layout\": \"WIDTH_SHARDED\","
                         " \"shard_spec\": {\"grid\": [[[0, 1], [2, 3]], [[5, 6], [5, 6]]],"
                         " \"shape\": [64, 32], \"orientation\": \"COL_MAJOR\"}}",
                         "", "", &err);
    assert_string_equal(err.text, "");
    const qdq_shard_spec *spec = &given(g, "x")->as.memory_config.shard_spec;
    const qdq_core_range ranges[] = {{0, 1, 2, 3}, {5, 6, 5, 6}};
    assert_int_equal(spec->grid_count, 2);
    assert_memory_equal(spec->grid, ranges, sizeof ranges);
    assert_true(qdq_shape_equal(spec->shape, QDQ_SHAPE(64, 32)));
    assert_int_equal(spec->orientation, QDQ_SHARD_COL_MAJOR);
    qdq_graph_destroy(g);
}

static void an_nd_shard_spec_makes_the_layout_nd_sharded(void **state) {
    (void)state;
    qdq_error err = {0};
    qdq_graph *g = parse(", \"memory_config\": {\"buffer_type\": \"L1\", \"nd_shard_spec\":"
                         " {\"grid\": [[[0, 0], [3, 0]]], \"shard_shape\": [1, 32, 64],"
                         " \"shard_distribution_strategy\": \"CONTIGUOUS_1D\"}}",
                         "", "", &err);
    assert_string_equal(err.text, "");
    const qdq_memory_config *config = &given(g, "x")->as.memory_config;
    assert_int_equal(config->memory_layout, QDQ_ND_SHARDED);
    assert_int_equal(config->shard_spec.distribution, QDQ_CONTIGUOUS_1D);
    assert_true(qdq_shape_equal(config->shard_spec.shape, QDQ_SHAPE(1, 32, 64)));
    qdq_graph_destroy(g);
}

//---- What is refused --------------------------------------------------------

#define CONFIG(inside) ", \"memory_config\": {" inside "}"
#define SPEC(inside) CONFIG("\"memory_layout\": \"HEIGHT_SHARDED\", \"shard_spec\": {" inside "}")

// Mistakes in the form of the file: reading stops.
static void a_wrong_key_or_kind_stops_reading_and_is_named(void **state) {
    static const struct {
        const char *keys, *text;
    } cases[] = {
        {", \"memory_config\": 1",
         "memory_config is a number, wanted an object, or a name such as \"L1_MEMORY_CONFIG\""},
        {CONFIG("\"buffertype\": \"L1\""),
         "memory_config: key 'buffertype' is unknown; did you mean 'buffer_type'?"},
        {CONFIG("\"buffer_type\": 1"), "memory_config.buffer_type is a number, wanted a string"},
        {CONFIG("\"shard_spec\": []"), "memory_config.shard_spec is an array, wanted an object"},
        {SPEC("\"shape\": [32, 64]"), "memory_config.shard_spec: key 'grid' is missing"},
        {SPEC("\"grid\": [[[0, 0], [1, 0]]]"), "memory_config.shard_spec: key 'shape' is missing"},
        {SPEC("\"grid\": [[0, 0], [1, 0]], \"shape\": [32, 64]"),
         "memory_config.shard_spec.grid[0] is an array, wanted a range of cores, [[x0, y0], [x1, "
         "y1]]"},
        {SPEC("\"grid\": [[[0, 0], [1, \"0\"]]], \"shape\": [32, 64]"),
         "memory_config.shard_spec.grid[0] is an array, wanted a range of cores, [[x0, y0], [x1, "
         "y1]]"},
        {SPEC("\"grid\": [[[0, 0], [1, 0]]], \"shape\": [32, 6.5]"),
         "memory_config.shard_spec.shape[1] is a number, wanted a whole number"},
        {CONFIG("\"nd_shard_spec\": {\"shape\": [32, 64]}"),
         "memory_config.nd_shard_spec: key 'shape' is unknown; keys of your own begin with 'x-'"},
        {", \"layout\": 0", "layout is a number, wanted a string"},
        {", \"tile\": 32", "tile is a number, wanted an array"},
        {", \"transpose_tile\": 1", "transpose_tile is a number, wanted true or false"},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        char wanted[512];
        qdq_error err = {0};
        assert_null(parse(cases[i].keys, "", "", &err));
        snprintf(wanted, sizeof wanted, "g.json: inputs[0].%s", cases[i].text);
        assert_string_equal(err.text, wanted);
        assert_int_equal(err.status, QDQ_ERR_PARSE);
        err = (qdq_error){0};
        assert_null(parse("", "", cases[i].keys, &err));
        snprintf(wanted, sizeof wanted, "g.json: nodes[0].%s", cases[i].text);
        assert_string_equal(err.text, wanted);
    }
}

// Mistakes in what it says: findings.
static void an_impossible_word_or_number_is_a_finding(void **state) {
    static const struct {
        const char *keys, *text;
    } cases[] = {
        {CONFIG("\"buffer_type\": \"L2\""),
         "buffer_type is 'L2', wanted one of: DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE; did you "
         "mean 'L1'?"},
        {", \"memory_config\": \"L1_MEMORY\"",
         "memory_config is 'L1_MEMORY', wanted one of: DRAM_MEMORY_CONFIG, L1_MEMORY_CONFIG, "
         "L1_HEIGHT_SHARDED_MEMORY_CONFIG, L1_WIDTH_SHARDED_MEMORY_CONFIG, "
         "L1_BLOCK_SHARDED_MEMORY_CONFIG; "},
        {CONFIG("\"memory_layout\": \"HEIGHT\""),
         "memory_layout is 'HEIGHT', wanted one of: INTERLEAVED, HEIGHT_SHARDED, WIDTH_SHARDED, "
         "BLOCK_SHARDED, ND_SHARDED; "},
        {SPEC("\"grid\": [], \"shape\": [32, 64]"),
         "grid is empty, wanted a range of cores, [[x0, y0], [x1, y1]], or several; "},
        {SPEC("\"grid\": [[[0, 0], [65536, 0]]], \"shape\": [32, 64]"),
         "grid has the coordinate 65536, wanted 0 to 65535; "},
        {SPEC("\"grid\": [[[2, 0], [1, 0]]], \"shape\": [32, 64]"),
         "memory_config cannot be: the shard's cores (2,0)-(1,0) end before they begin; "},
        {SPEC("\"grid\": [[[0, 0], [1, 0]], [[1, 0], [1, 1]]], \"shape\": [32, 64]"),
         "memory_config cannot be: the shard's cores (1,0)-(1,1) overlap those of range 0; "},
        {SPEC("\"grid\": [[[0, 0], [1, 0]]], \"shape\": []"), "shape is empty; "},
        {SPEC("\"grid\": [[[0, 0], [1, 0]]], \"shape\": [1, 32, 64]"),
         "memory_config has a shard of rank 3, wanted rank 2, or an nd_shard_spec; "},
        {SPEC("\"grid\": [[[0, 0], [1, 0]]], \"shape\": [32, 0]"),
         "memory_config has a shard with a dim of 0, wanted 1 to 2^31 - 1; "},
        {SPEC("\"grid\": [[[0, 0], [1, 0]]], \"shape\": [32, 64], \"orientation\": \"ROW\""),
         "orientation is 'ROW', wanted one of: ROW_MAJOR, COL_MAJOR; "},
        {CONFIG("\"shard_spec\": {\"grid\": [[[0, 0], [1, 0]]], \"shape\": [32, 64]}"),
         "memory_config has a shard_spec and is INTERLEAVED, wanted a memory_layout that is "
         "sharded; "},
        {CONFIG("\"memory_layout\": \"ND_SHARDED\", \"shard_spec\": {\"grid\": [[[0, 0], [1, 0]]],"
                " \"shape\": [32, 64]}"),
         "memory_layout is ND_SHARDED, wanted an nd_shard_spec; "},
        {CONFIG("\"memory_layout\": \"BLOCK_SHARDED\", \"nd_shard_spec\": {\"grid\":"
                " [[[0, 0], [1, 0]]], \"shard_shape\": [32, 64]}"),
         "memory_layout is BLOCK_SHARDED, wanted ND_SHARDED, as there is an nd_shard_spec; "},
        {", \"layout\": \"TILED\"", "layout is 'TILED', wanted one of: TILE, ROW_MAJOR; did you "
                                    "mean 'TILE'?"},
        {", \"tile\": [32]", "tile is [32], wanted [height, width], each at most 32; "},
        {", \"tile\": [64, 32]", "tile is [64, 32], wanted [height, width], each at most 32; "},
        {", \"tile\": [5, 32]",
         "tile is 5x32, wanted a height of 32, 16, 8, 4, 2 or 1 and a width of 32 or 16; "
         "transposed a height of 32 or 16; "},
        {", \"tile\": [8, 32], \"transpose_tile\": true",
         "tile is 8x32, transposed, wanted a height of 32, 16, 8, 4, 2 or 1 and a width of 32 or "
         "16; transposed a height of 32 or 16; "},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        char wanted[512];
        qdq_error err = {0};
        qdq_graph *g = parse("", cases[i].keys, "", &err);
        assert_string_equal(err.text, "");
        const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
        assert_int_equal(report->errors, 1);
        snprintf(wanted, sizeof wanted, "g.json: constant 'c': %s", cases[i].text);
        assert_memory_equal(report->findings[0].message, wanted, strlen(wanted));
        assert_string_equal(report->findings[0].rule, "core/memory-config");
        assert_null(given(g, "c"));  // nothing wrong is kept
        qdq_graph_destroy(g);
    }
}

static void only_the_first_output_of_a_node_takes_a_config(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4));
    qdq_value y = qdq_dynamic_quantize(g, x, (qdq_dynamic_quantize_attrs){.quantize.name = "d"});
    qdq_set_memory_config(g, qdq_port(g, y, "scale"), &(qdq_memory_config){.buffer_type = QDQ_L1});
    qdq_output(g, "y", y);
    assert_string_equal(qdq_graph_validate(g, NULL, NULL)->findings[0].message,
                        "node 'd.scale': DynamicQuantize: memory_config is given for another "
                        "output, wanted the first output of the node; see "
                        "docs/format.md#9-memory-of-a-device");
    qdq_graph_destroy(g);
}

static void other_targets_ignore_all_of_it_with_one_warning(void **state) {
    (void)state;
    qdq_error err = {0};
    qdq_graph *g = parse(CONFIG("\"buffer_type\": \"L1\""), ", \"layout\": \"TILE\"",
                         ", \"tile\": [32, 32]", &err);
    for (size_t t = 0; t < qdq_target_count(); t++) {
        const char *target = qdq_target_get(t).name;
        const qdq_report *report = qdq_graph_validate(g, target, &err);
        size_t count = 0;
        for (size_t i = 0; i < report->count; i++)
            count += strcmp(report->findings[i].rule, "core/memory-config-ignored") == 0;
        assert_int_equal(count, strcmp(target, "ttnn") != 0);
    }
    qdq_graph_destroy(g);
}

//---- Writing ----------------------------------------------------------------

static void a_written_graph_says_the_same(void **state) {
    static const char *const keys[] = {
        CONFIG("\"buffer_type\": \"L1_SMALL\""),
        ", \"memory_config\": \"L1_BLOCK_SHARDED_MEMORY_CONFIG\"",
        SPEC("\"grid\": [[[0, 1], [2, 3]], [[5, 6], [5, 6]]], \"shape\": [64, 32],"
             " \"orientation\": \"COL_MAJOR\""),
        CONFIG("\"nd_shard_spec\": {\"grid\": [[[0, 0], [3, 0]]], \"shard_shape\": [1, 32, 64],"
               " \"shard_distribution_strategy\": \"CONTIGUOUS_1D\"}"),
        ", \"layout\": \"ROW_MAJOR\"",
        ", \"layout\": \"TILE\", \"tile\": [16, 32]",
        ", \"transpose_tile\": true",
        ", \"tile\": [1, 16], \"transpose_tile\": false",
    };
    static const char *const names[] = {"x", "c", "q"};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(keys); i++) {
        char path[256];
        qdq_error err = {0};
        qdq_graph *g = parse(keys[i], keys[i], keys[i], &err);
        assert_string_equal(err.text, "");
        assert_int_equal(qdq_graph_write(g, unit_path(path, "g.json"), &err), QDQ_OK);
        qdq_graph *back = qdq_graph_load(path, NULL, &err);
        assert_string_equal(err.text, "");
        for (size_t k = 0; k < UNIT_COUNT(names); k++)
            assert_memory_equal(given(g, names[k]), given(back, names[k]),
                                sizeof(qdq_given_layout));
        qdq_graph_destroy(g), qdq_graph_destroy(back);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_value_keeps_what_it_is_given),
        cmocka_unit_test(every_word_is_read),
        cmocka_unit_test(every_constant_of_ttnn_is_the_object_it_stands_for),
        cmocka_unit_test(a_shard_spec_has_ranges_of_cores_a_shape_and_an_orientation),
        cmocka_unit_test(an_nd_shard_spec_makes_the_layout_nd_sharded),
        cmocka_unit_test(a_wrong_key_or_kind_stops_reading_and_is_named),
        cmocka_unit_test(an_impossible_word_or_number_is_a_finding),
        cmocka_unit_test(only_the_first_output_of_a_node_takes_a_config),
        cmocka_unit_test(other_targets_ignore_all_of_it_with_one_warning),
        cmocka_unit_test_setup_teardown(a_written_graph_says_the_same, unit_folder_begin,
                                        unit_folder_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
