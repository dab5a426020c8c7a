// SPDX-License-Identifier: Apache-2.0
// Misuse of graph.h and the op headers, and of the functions of inspect.h about graphs.
#include "ops/op.h"
#include "tests/api/misuse.h"

static const char not_utf8[] = "a\xFF";

CASE(qdq_graph_create) {
    const qdq_allocator none = {0};
    qdq_graph *g = qdq_graph_create(NULL, &(qdq_graph_options){.allocator = &none});
    EXPECT(g && !strcmp(qdq_graph_name(g), ""));
    qdq_graph_destroy(g);
    g = qdq_graph_create(not_utf8, NULL);
    EXPECT(misuse_is_broken(g));
    qdq_graph_destroy(g);
}

CASE(qdq_graph_destroy) { qdq_graph_destroy(NULL); }

CASE(qdq_input) {
    static const char *const names[] = {NULL, "", not_utf8, "a\nb"};
    EXPECT(!qdq_input(NULL, "x", QDQ_FLOAT32, QDQ_SHAPE(1)).id);
    for (int i = 0; i < 4; i++) {
        qdq_graph *g = misuse_small_graph();
        EXPECT(!misuse_is_broken(g));
        (void)qdq_input(g, names[i], QDQ_FLOAT32, QDQ_SHAPE(1));
        EXPECT(misuse_is_broken(g));
        FAILS(QDQ_ERR_GRAPH, qdq_graph_write(g, "/dev/null/none", err));
        qdq_graph_destroy(g);
    }
    for (int i = 0; i < MISUSE_NUMBERS; i++) {
        qdq_graph *g = misuse_small_graph();
        (void)qdq_input(g, "a", (qdq_dtype)misuse_numbers[i], QDQ_SHAPE(1));
        (void)qdq_input(g, "b", QDQ_FLOAT32, (qdq_shape){(int)misuse_numbers[i], {1}});
        const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
        EXPECT(report && report->errors == 2);
        qdq_graph_destroy(g);
    }
}

CASE(qdq_constant) {
    static const uint8_t codes[2] = {7, 8};
    EXPECT(!qdq_constant(NULL, "c", QDQ_INT4, QDQ_SHAPE(2), codes).id);
    qdq_graph *g = misuse_small_graph();
    (void)qdq_constant(g, "null", QDQ_FLOAT32, QDQ_SHAPE(2), NULL);
    (void)qdq_constant(g, "beyond", QDQ_INT4, QDQ_SHAPE(2), codes);
    (void)qdq_constant(g, "none", (qdq_dtype)77, QDQ_SHAPE(2), codes);
    (void)qdq_constant(g, NULL, QDQ_UINT4, QDQ_SHAPE(2), codes);
    const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
    EXPECT(report && report->errors == 4);
    EXPECT(strstr(report->findings[0].message, "data is NULL"));
    EXPECT(strstr(report->findings[1].message, "byte 8 at index 1"));
    qdq_graph_destroy(g);
}

CASE(qdq_output) {
    qdq_output(NULL, "y", (qdq_value){1});
    qdq_graph *g = misuse_small_graph();
    qdq_output(g, NULL, (qdq_value){1});
    qdq_output(g, not_utf8, (qdq_value){1});
    qdq_output(g, "z", (qdq_value){UINT32_MAX});
    const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
    EXPECT(report && report->errors == 3);
    qdq_graph_destroy(g);
}

CASE(qdq_state) {
    qdq_state(NULL, (qdq_value){1}, "y", NULL);
    qdq_graph *g = misuse_small_graph();
    qdq_state(g, (qdq_value){0}, "y", NULL);
    qdq_state(g, (qdq_value){UINT32_MAX}, "y", NULL);
    qdq_state(g, qdq_graph_find(g, "x"), NULL, NULL);
    qdq_state(g, qdq_graph_find(g, "x"), not_utf8, NULL);
    qdq_state(g, qdq_graph_find(g, "x"), "y", NULL);  // of another dtype
    const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
    EXPECT(report && report->errors == 5);
    EXPECT(qdq_graph_state_count(g) == 0);
    qdq_graph_destroy(g);
}

CASE(qdq_graph_state_count) { EXPECT(qdq_graph_state_count(NULL) == 0); }
CASE(qdq_graph_state) { EXPECT(!qdq_graph_state(NULL, 0)); }

CASE(qdq_port) {
    qdq_graph *g = misuse_small_graph();
    EXPECT(!qdq_port(NULL, (qdq_value){1}, "y").id);
    EXPECT(!qdq_port(g, (qdq_value){2}, NULL).id);
    EXPECT(!qdq_port(g, (qdq_value){UINT32_MAX}, "y").id);
    qdq_graph_destroy(g);
}

CASE(qdq_graph_find) {
    qdq_graph *g = misuse_small_graph();
    EXPECT(!qdq_graph_find(NULL, "x").id);
    EXPECT(!qdq_graph_find(g, NULL).id);
    EXPECT(!qdq_graph_find(g, not_utf8).id);
    qdq_graph_destroy(g);
}

CASE(qdq_output_value) {
    qdq_graph *g = misuse_small_graph();
    EXPECT(!qdq_output_value(NULL, "y").id);
    EXPECT(!qdq_output_value(g, NULL).id);
    EXPECT(!qdq_output_value(g, not_utf8).id);
    EXPECT(!qdq_output_value(g, "no such output").id);
    qdq_graph_destroy(g);
}

CASE(qdq_value_type) {
    qdq_dtype dtype = QDQ_BOOL;
    qdq_shape shape = {0};
    qdq_graph *g = misuse_small_graph();
    EXPECT(!qdq_value_type(NULL, (qdq_value){1}, &dtype, &shape));
    EXPECT(!qdq_value_type(g, (qdq_value){UINT32_MAX}, &dtype, &shape));
    EXPECT(dtype == QDQ_BOOL);
    EXPECT(qdq_value_type(g, (qdq_value){1}, NULL, NULL));
    qdq_graph_destroy(g);
}

CASE(qdq_set_memory_config) {
    const qdq_memory_config l1 = {.buffer_type = QDQ_L1};
    qdq_set_memory_config(NULL, (qdq_value){1}, &l1);
    for (int i = 0; i < 5 + 4 * MISUSE_NUMBERS; i++) {
        qdq_graph *g = misuse_small_graph();
        qdq_memory_config bad = {.memory_layout = QDQ_HEIGHT_SHARDED,
                                 .shard_spec = {.grid_count = 1, .shape = QDQ_SHAPE(1, 1)}};
        const unsigned number = misuse_numbers[i % MISUSE_NUMBERS];
        qdq_value value = {i == 0 ? UINT32_MAX : 1};
        switch (i < 5 ? -i : (i - 5) / MISUSE_NUMBERS) {
        case 0: bad.buffer_type = (qdq_buffer_type)number; break;
        case 1: bad.memory_layout = (qdq_memory_layout)number; break;
        case 2: bad.shard_spec.orientation = (qdq_shard_orientation)number; break;
        case 3: bad.shard_spec.distribution = (qdq_shard_distribution)number; break;
        case -2: bad.shard_spec.grid_count = SIZE_MAX; break;
        case -3: bad.shard_spec.shape.rank = INT_MAX; break;
        case -4: bad.shard_spec.shape.dims[1] = INT64_MIN; break;
        }
        qdq_set_memory_config(g, value, i == 1 ? NULL : &bad);
        EXPECT(misuse_is_broken(g));
        qdq_graph_destroy(g);
    }
}

CASE(qdq_set_layout) {
    qdq_set_layout(NULL, (qdq_value){1}, QDQ_LAYOUT_TILE);
    for (int i = 0; i < MISUSE_NUMBERS; i++) {
        qdq_graph *g = misuse_small_graph();
        qdq_set_layout(g, (qdq_value){1}, (qdq_layout)misuse_numbers[i]);
        qdq_set_layout(g, (qdq_value){misuse_numbers[i]}, QDQ_LAYOUT_TILE);
        const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
        EXPECT(report && report->errors == 2);
        qdq_graph_destroy(g);
    }
}

CASE(qdq_set_tile) {
    qdq_set_tile(NULL, (qdq_value){1}, (qdq_tile_shape){0});
    for (int i = 0; i < MISUSE_NUMBERS; i++) {
        qdq_graph *g = misuse_small_graph();
        qdq_set_tile(g, (qdq_value){1}, (qdq_tile_shape){misuse_numbers[i], 32, false});
        qdq_set_tile(g, (qdq_value){1}, (qdq_tile_shape){32, misuse_numbers[i], true});
        qdq_set_tile(g, (qdq_value){0}, (qdq_tile_shape){32, 32, false});
        const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
        EXPECT(report && report->errors == 3);
        qdq_graph_destroy(g);
    }
}

// Every op without attributes, and with each enum attribute out of range.
CASE(qdq_add_node) {
    EXPECT(!qdq_add_node(NULL, "Quantize", NULL, 0).id);
    for (size_t i = 0; i < qdq_op_count(); i++) {
        const qdq_op *op = qdq_op_find(qdq_op_get(i).name);
        for (size_t a = 0; a <= op->attr_count; a++) {
            for (int k = 0; k < MISUSE_NUMBERS; k++) {
                qdq_graph *g = qdq_graph_create(NULL, NULL);
                qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2, 2, 2));
                char *attrs = calloc(1, op->attrs_size);
                if (a == op->attr_count) {
                    (void)qdq_add_node(g, op->name, NULL, k ? 1024 : 0);
                } else if (op->attrs[a].kind == QDQ_ATTR_MAYBE_WORD) {
                    const qdq_maybe_word word = {QDQ_GIVEN, (int)misuse_numbers[k]};
                    memcpy(attrs + op->attrs[a].offset, &word, sizeof word);
                } else if (op->attrs[a].kind == QDQ_ATTR_WORD ||
                           op->attrs[a].kind == QDQ_ATTR_DTYPE ||
                           op->attrs[a].kind == QDQ_ATTR_BOOL) {
                    memcpy(attrs + op->attrs[a].offset, &misuse_numbers[k], sizeof(int));
                }
                memcpy(attrs + op->inputs[0].offset, &x, op->variadic ? 0 : sizeof x);
                (void)qdq_add_node(g, op->name, attrs, op->attrs_size);
                EXPECT(misuse_is_broken(g));
                free(attrs), qdq_graph_destroy(g);
            }
        }
    }
    qdq_graph *g = misuse_small_graph();
    (void)qdq_add_node(g, NULL, NULL, 0);
    (void)qdq_add_node(g, not_utf8, NULL, SIZE_MAX);
    (void)qdq_quantize(g, (qdq_value){1},
                       (qdq_quantize_attrs){.name = not_utf8, .scales = QDQ_SCALE(1)});
    const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
    EXPECT(report && report->errors == 3);
    qdq_graph_destroy(g);
}

CASE(qdq_graph_load) {
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_load(NULL, NULL, err));
    FAILS(QDQ_ERR_IO, qdq_graph_load("/dev/null/none", NULL, err));
}

CASE(qdq_graph_parse) {
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_parse(NULL, 10, NULL, NULL, NULL, err));
    FAILS(QDQ_ERR_PARSE, qdq_graph_parse("", 0, NULL, NULL, NULL, err));
    const qdq_graph_options options = {.target = "ttnn@nope"};
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_parse("{}", 2, NULL, NULL, &options, err));
}

CASE(qdq_graph_write) {
    qdq_graph *g = misuse_small_graph();
    FAILS(QDQ_ERR_MEMORY, qdq_graph_write(NULL, "/dev/null/none", err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_write(g, NULL, err));
    FAILS(QDQ_ERR_IO, qdq_graph_write(g, "/dev/null/none", err));
    qdq_graph_destroy(g);
    g = qdq_graph_create(NULL, &(qdq_graph_options){.target = not_utf8});
    qdq_output(g, "y", qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(1)));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_write(g, "/dev/null/none", err));
    qdq_graph_destroy(g);
}

CASE(qdq_graph_write_whole) {
    qdq_graph *g = misuse_small_graph();
    FAILS(QDQ_ERR_MEMORY, qdq_graph_write_whole(NULL, "/dev/null/none", 0, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_write_whole(g, NULL, 0, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_write_whole(g, "none.onnx", 0, err));
    FAILS(QDQ_ERR_IO, qdq_graph_write_whole(g, "/dev/null/none", 0, err));
    qdq_graph_destroy(g);
}

CASE(qdq_graph_open_dims) {
    const qdq_open_dim *dims;
    size_t count;
    FAILS(QDQ_ERR_MEMORY, qdq_graph_open_dims(NULL, &dims, &count, err));
    qdq_graph *g = misuse_small_graph();
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_open_dims(g, NULL, &count, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_open_dims(g, &dims, NULL, err));
    qdq_graph_destroy(g);
}

CASE(qdq_graph_validate_on) {
    qdq_graph *g = misuse_small_graph();
    qdq_device device = *qdq_devices(NULL);
    device.grid_x = 0;
    FAILS(QDQ_ERR_MEMORY, qdq_graph_validate_on(NULL, NULL, NULL, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_validate_on(g, "\xFF", &device, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_validate_on(g, NULL, &device, err));
    EXPECT(qdq_graph_validate_on(g, NULL, qdq_device_find("none", NULL), NULL));
    qdq_graph_destroy(g);
}

CASE(qdq_graph_validate_c) { FAILS(QDQ_ERR_MEMORY, qdq_graph_validate_c(NULL, err)); }

CASE(qdq_graph_write_c) {
    qdq_graph *g = misuse_small_graph();
    FAILS(QDQ_ERR_MEMORY, qdq_graph_write_c(NULL, "out.c", err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_write_c(g, NULL, err));
    FAILS(QDQ_ERR_IO, qdq_graph_write_c(g, "/nowhere/at/all/out.c", err));
    qdq_graph_destroy(g);
}

CASE(qdq_graph_validate_onnx) { FAILS(QDQ_ERR_MEMORY, qdq_graph_validate_onnx(NULL, err)); }
CASE(qdq_graph_validate_tflite) { FAILS(QDQ_ERR_MEMORY, qdq_graph_validate_tflite(NULL, err)); }

CASE(qdq_graph_validate) {
    qdq_graph *g = misuse_small_graph();
    FAILS(QDQ_ERR_MEMORY, qdq_graph_validate(NULL, NULL, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_validate(g, not_utf8, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_validate(g, "", err));
    qdq_graph_destroy(g);
}

CASE(qdq_graph_name) { EXPECT(!strcmp(qdq_graph_name(NULL), "")); }
CASE(qdq_graph_target) { EXPECT(!strcmp(qdq_graph_target(NULL), "core")); }
CASE(qdq_graph_node_count) { EXPECT(qdq_graph_node_count(NULL) == 0); }
CASE(qdq_graph_value_count) { EXPECT(qdq_graph_value_count(NULL) == 0); }
CASE(qdq_graph_output_count) { EXPECT(qdq_graph_output_count(NULL) == 0); }

CASE(qdq_graph_get_value) {
    qdq_graph *g = misuse_small_graph();
    EXPECT(!qdq_graph_get_value(NULL, 0).id);
    EXPECT(!qdq_graph_get_value(g, SIZE_MAX).id);
    EXPECT(!qdq_graph_get_value(g, qdq_graph_value_count(g)).id);
    qdq_graph_destroy(g);
}

CASE(qdq_graph_get_output) {
    qdq_graph *g = misuse_small_graph();
    EXPECT(!qdq_graph_get_output(NULL, 0));
    EXPECT(!qdq_graph_get_output(g, SIZE_MAX));
    qdq_graph_destroy(g);
}

CASE(qdq_value_is_input) {
    qdq_graph *g = misuse_small_graph();
    EXPECT(!qdq_value_is_input(NULL, (qdq_value){1}));
    EXPECT(!qdq_value_is_input(g, (qdq_value){0}));
    EXPECT(!qdq_value_is_input(g, (qdq_value){UINT32_MAX}));
    qdq_graph_destroy(g);
}

CASE(qdq_graph_node) {
    qdq_graph *g = misuse_small_graph();
    EXPECT(!qdq_graph_node(NULL, 0).name);
    EXPECT(!qdq_graph_node(g, SIZE_MAX).name);
    qdq_graph_destroy(g);
}

CASE(qdq_graph_node_input) {
    qdq_graph *g = misuse_small_graph();
    EXPECT(!qdq_graph_node_input(NULL, 0, 0).id);
    EXPECT(!qdq_graph_node_input(g, SIZE_MAX, 0).id);
    EXPECT(!qdq_graph_node_input(g, 0, SIZE_MAX).id);
    qdq_graph_destroy(g);
}

CASE(qdq_graph_node_output) {
    qdq_graph *g = misuse_small_graph();
    EXPECT(!qdq_graph_node_output(NULL, 0, 0).id);
    EXPECT(!qdq_graph_node_output(g, SIZE_MAX, 0).id);
    EXPECT(!qdq_graph_node_output(g, 0, SIZE_MAX).id);
    qdq_graph_destroy(g);
}

CASE(qdq_value_name) {
    qdq_graph *g = misuse_small_graph();
    EXPECT(!strcmp(qdq_value_name(NULL, (qdq_value){1}), ""));
    EXPECT(!strcmp(qdq_value_name(g, (qdq_value){UINT32_MAX}), ""));
    qdq_graph_destroy(g);
}

// Names of no file are returned as they are.
CASE(qdq_value_name_of) {
    EXPECT(!strcmp(qdq_value_name_of(NULL, "z"), "z") && !qdq_value_name_of(NULL, NULL));
}
CASE(qdq_output_name_of) {
    EXPECT(!strcmp(qdq_output_name_of(NULL, "z"), "z") && !qdq_output_name_of(NULL, NULL));
}
CASE(qdq_value_original) {
    EXPECT(!strcmp(qdq_value_original(NULL, "z"), "z") && !qdq_value_original(NULL, NULL));
}
CASE(qdq_output_original) {
    EXPECT(!strcmp(qdq_output_original(NULL, "z"), "z") && !qdq_output_original(NULL, NULL));
}

CASE(qdq_value_is_constant) {
    qdq_graph *g = misuse_small_graph();
    EXPECT(!qdq_value_is_constant(NULL, (qdq_value){1}));
    EXPECT(!qdq_value_is_constant(g, (qdq_value){UINT32_MAX}));
    qdq_graph_destroy(g);
}

CASE(qdq_value_data) {
    qdq_graph *g = misuse_small_graph();
    EXPECT(!qdq_value_data(NULL, (qdq_value){1}));
    EXPECT(!qdq_value_data(g, (qdq_value){UINT32_MAX}));
    qdq_graph_destroy(g);
}

CASE(qdq_graph_numerics) {
    qdq_numerics n;
    qdq_graph *g = misuse_small_graph();
    FAILS(QDQ_ERR_MEMORY, qdq_graph_numerics(NULL, NULL, 0, &n, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_numerics(g, not_utf8, 0, &n, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_numerics(g, NULL, SIZE_MAX, &n, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_numerics(g, NULL, 0, NULL, err));
    qdq_graph_destroy(g);
}

CASE(qdq_graph_extract) {
    qdq_graph *g = misuse_small_graph();
    FAILS(QDQ_ERR_MEMORY, qdq_graph_extract(NULL, 0, NULL, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_extract(g, SIZE_MAX, NULL, err));
    qdq_graph_destroy(g);
}

CASE(qdq_graph_deployed) {
    qdq_graph *g = misuse_small_graph();
    FAILS(QDQ_ERR_MEMORY, qdq_graph_deployed(NULL, NULL, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_deployed(g, not_utf8, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_deployed(g, "ort:", err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_deployed(g, "ort:level", err));
    qdq_graph_destroy(g);
}

CASE(qdq_graph_mended) {
    qdq_graph *g = misuse_small_graph();
    FAILS(QDQ_ERR_MEMORY, qdq_graph_mended(NULL, NULL, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_mended(g, not_utf8, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_mended(g, "tensort", err));
    qdq_graph_destroy(g);
}

CASE(qdq_target_quantized_form) {
    EXPECT(!qdq_target_quantized_form(NULL));
    EXPECT(!qdq_target_quantized_form("nowhere"));
    EXPECT(!qdq_target_quantized_form("tosa"));
    EXPECT(qdq_target_quantized_form("ttnn") == qdq_target_quantized_form("ttnn@blackhole"));
}

CASE(qdq_graph_quantized) {
    qdq_graph *g = misuse_small_graph();
    const qdq_value x = qdq_graph_node_input(g, 0, 0);
    const qdq_node_port readers[] = {{0, 0}, {0, 0}, {SIZE_MAX, 0}, {0, SIZE_MAX}};
    const qdq_quantize_attrs attrs = {.scales = QDQ_SCALE(0.5F), .dtype = QDQ_INT8};
    qdq_coding coding = {.value = x, .attrs = attrs};
    FAILS(QDQ_ERR_MEMORY, qdq_graph_quantized(NULL, NULL, 0, err));
    qdq_graph *copy = qdq_graph_quantized(g, NULL, 0, NULL);
    EXPECT(copy && qdq_graph_node_count(copy) == qdq_graph_node_count(g));
    qdq_graph_destroy(copy);
    for (size_t i = 2; i < 4; i++) {
        coding.readers = &readers[i], coding.reader_count = 1;
        FAILS(QDQ_ERR_ARGUMENT, qdq_graph_quantized(g, &coding, 1, err));
    }
    coding.readers = readers, coding.reader_count = 2;
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_quantized(g, &coding, 1, err));
    coding.value.id = UINT32_MAX, coding.reader_count = 0;
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_quantized(g, &coding, 1, err));
    coding.value = x, coding.codes = readers;
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_quantized(g, &coding, 1, err));
    qdq_graph_destroy(g);
}

CASE(qdq_graph_channels_last) {
    qdq_graph *g = misuse_small_graph();
    FAILS(QDQ_ERR_MEMORY, qdq_graph_channels_last(NULL, err));
    qdq_graph *turned = qdq_graph_channels_last(g, NULL);
    EXPECT(turned && qdq_graph_node_count(turned) == qdq_graph_node_count(g));
    qdq_graph_destroy(turned);
    qdq_graph_destroy(g);
}

CASE(qdq_graph_equalize_sites) { FAILS(QDQ_ERR_MEMORY, qdq_graph_equalize_sites(NULL, err)); }

CASE(qdq_equalize_sites_destroy) { qdq_equalize_sites_destroy(NULL); }

CASE(qdq_equalize_site_count) { EXPECT(!qdq_equalize_site_count(NULL)); }

CASE(qdq_equalize_site_get) {
    qdq_graph *g = misuse_small_graph();
    qdq_equalize_sites *sites = qdq_graph_equalize_sites(g, NULL);
    EXPECT(sites && qdq_equalize_site_count(sites) == 0);
    EXPECT(!qdq_equalize_site_get(NULL, 0));
    EXPECT(!qdq_equalize_site_get(sites, 0));
    EXPECT(!qdq_equalize_site_get(sites, SIZE_MAX));
    qdq_equalize_sites_destroy(sites);
    qdq_graph_destroy(g);
}

CASE(qdq_graph_equalized) {
    const qdq_equalize_factors none = {0};
    qdq_graph *g = misuse_small_graph();
    qdq_equalize_sites *sites = qdq_graph_equalize_sites(g, NULL);
    FAILS(QDQ_ERR_MEMORY, qdq_graph_equalized(NULL, NULL, 0, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_equalized(sites, &none, 1, err));
    qdq_graph *copy = qdq_graph_equalized(sites, NULL, 0, NULL);
    EXPECT(copy && qdq_graph_node_count(copy) == qdq_graph_node_count(g));
    qdq_graph_destroy(copy);
    qdq_equalize_sites_destroy(sites);
    qdq_graph_destroy(g);
}

static const float *no_constant(void *self, qdq_value constant) {
    (void)self, (void)constant;
    return NULL;
}

CASE(qdq_graph_equalized_like) {
    qdq_error none = {0};
    qdq_graph *g = misuse_small_graph();
    qdq_equalize_sites *sites = qdq_graph_equalize_sites(g, NULL);
    FAILS(QDQ_ERR_MEMORY, qdq_graph_equalized_like(NULL, no_constant, NULL, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_equalized_like(sites, NULL, NULL, err));
    EXPECT(!qdq_graph_equalized_like(sites, no_constant, NULL, &none) && none.status == QDQ_OK);
    qdq_equalize_sites_destroy(sites);
    qdq_graph_destroy(g);
}

CASE(qdq_graph_deployed_between) {
    qdq_graph *g = misuse_small_graph();
    FAILS(QDQ_ERR_MEMORY, qdq_graph_deployed_between(NULL, NULL, NULL, NULL, 0, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_deployed_between(g, not_utf8, "ort", NULL, 0, err));
    FAILS(QDQ_ERR_ARGUMENT, qdq_graph_deployed_between(g, "ort", "ort:", NULL, 0, err));
    qdq_graph *between = qdq_graph_deployed_between(g, "onnx", "ort", NULL, SIZE_MAX, NULL);
    EXPECT(between);
    qdq_graph_destroy(between);
    qdq_graph_destroy(g);
}

CASE(qdq_graph_source) {
    qdq_graph *g = misuse_small_graph();
    EXPECT(!qdq_graph_source(NULL, (qdq_value){1}).value.id);
    EXPECT(!qdq_graph_source(g, (qdq_value){0}).value.id);
    EXPECT(!qdq_graph_source(g, (qdq_value){1}).value.id);
    EXPECT(!qdq_graph_source(g, (qdq_value){UINT32_MAX}).value.id);
    qdq_graph_destroy(g);
}

CASE(qdq_graph_rewrite_count) { EXPECT(qdq_graph_rewrite_count(NULL) == 0); }

CASE(qdq_graph_rewrite) {
    qdq_graph *g = misuse_small_graph();
    EXPECT(!qdq_graph_rewrite(NULL, 0).pass);
    EXPECT(!qdq_graph_rewrite(g, 0).pass);
    EXPECT(!qdq_graph_rewrite(g, SIZE_MAX).pass);
    qdq_graph_destroy(g);
}

CASE(qdq_graph_node_attrs) {
    char text[8] = "?";
    qdq_graph *g = misuse_small_graph();
    EXPECT(qdq_graph_node_attrs(NULL, 0, 0, text, sizeof text) == 0 && !*text);
    EXPECT(qdq_graph_node_attrs(g, SIZE_MAX, 0, text, sizeof text) == 0 && !*text);
    size_t length = qdq_graph_node_attrs(g, 0, SIZE_MAX, NULL, SIZE_MAX);
    EXPECT(length >= 2);
    EXPECT(qdq_graph_node_attrs(g, 0, 0, text, 0) == length);
    EXPECT(qdq_graph_node_attrs(g, 0, 0, text, 2) == length && !strcmp(text, "{"));
    qdq_graph_destroy(g);
}

CASE(qdq_graph_node_struct) {
    qdq_graph *g = misuse_small_graph();
    EXPECT(!qdq_graph_node_struct(NULL, 0));
    EXPECT(!qdq_graph_node_struct(g, SIZE_MAX));
    EXPECT(qdq_graph_node_struct(g, 0));
    qdq_graph_destroy(g);
}

const misuse_case misuse_graph[] = {ROW(qdq_graph_create),
                                    ROW(qdq_graph_destroy),
                                    ROW(qdq_input),
                                    ROW(qdq_constant),
                                    ROW(qdq_output),
                                    ROW(qdq_state),
                                    ROW(qdq_graph_state_count),
                                    ROW(qdq_graph_state),
                                    ROW(qdq_port),
                                    ROW(qdq_graph_find),
                                    ROW(qdq_output_value),
                                    ROW(qdq_value_type),
                                    ROW(qdq_set_memory_config),
                                    ROW(qdq_set_layout),
                                    ROW(qdq_set_tile),
                                    ROW(qdq_add_node),
                                    ROW(qdq_graph_load),
                                    ROW(qdq_graph_parse),
                                    ROW(qdq_graph_write),
                                    ROW(qdq_graph_write_whole),
                                    ROW(qdq_graph_validate),
                                    ROW(qdq_graph_validate_onnx),
                                    ROW(qdq_graph_validate_tflite),
                                    ROW(qdq_graph_open_dims),
                                    ROW(qdq_graph_validate_c),
                                    ROW(qdq_graph_write_c),
                                    ROW(qdq_graph_validate_on),
                                    ROW(qdq_graph_name),
                                    ROW(qdq_graph_target),
                                    ROW(qdq_graph_node_count),
                                    ROW(qdq_graph_value_count),
                                    ROW(qdq_graph_get_value),
                                    ROW(qdq_graph_output_count),
                                    ROW(qdq_graph_get_output),
                                    ROW(qdq_graph_node),
                                    ROW(qdq_graph_node_input),
                                    ROW(qdq_graph_node_output),
                                    ROW(qdq_graph_node_attrs),
                                    ROW(qdq_graph_node_struct),
                                    ROW(qdq_value_name),
                                    ROW(qdq_value_name_of),
                                    ROW(qdq_output_name_of),
                                    ROW(qdq_value_original),
                                    ROW(qdq_output_original),
                                    ROW(qdq_value_data),
                                    ROW(qdq_graph_numerics),
                                    ROW(qdq_graph_extract),
                                    ROW(qdq_graph_mended),
                                    ROW(qdq_graph_quantized),
                                    ROW(qdq_graph_channels_last),
                                    ROW(qdq_target_quantized_form),
                                    ROW(qdq_graph_equalize_sites),
                                    ROW(qdq_equalize_sites_destroy),
                                    ROW(qdq_equalize_site_count),
                                    ROW(qdq_equalize_site_get),
                                    ROW(qdq_graph_equalized),
                                    ROW(qdq_graph_equalized_like),
                                    ROW(qdq_graph_deployed),
                                    ROW(qdq_graph_deployed_between),
                                    ROW(qdq_graph_source),
                                    ROW(qdq_graph_rewrite_count),
                                    ROW(qdq_graph_rewrite),
                                    ROW(qdq_value_is_constant),
                                    ROW(qdq_value_is_input),
                                    {NULL, NULL}};
