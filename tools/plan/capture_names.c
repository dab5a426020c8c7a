// SPDX-License-Identifier: Apache-2.0
#include "tools/plan/capture_names.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

//---- Names ------------------------------------------------------------------

#define BINARY "BinaryNgDeviceOperation"
#define UNARY "UnaryDeviceOperation"

// Programs whose names do not follow from the op's.
static const struct name_row {
    const char *program, *function, *device, *word;
} rows[] = {
    {"Add", "add", BINARY, "BinaryOpType::ADD"},
    {"Subtract", "subtract", BINARY, "BinaryOpType::SUB"},
    {"Multiply", "multiply", BINARY, "BinaryOpType::MUL"},
    {"Divide", "divide", BINARY, "BinaryOpType::DIV"},
    {"Maximum", "maximum", BINARY, "BinaryOpType::MAXIMUM"},
    {"Minimum", "minimum", BINARY, "BinaryOpType::MINIMUM"},
    {"add", "add", BINARY, "BinaryOpType::ADD"},
    {"subtract", "subtract", BINARY, "BinaryOpType::SUB"},
    {"multiply", "multiply", BINARY, "BinaryOpType::MUL"},
    {"divide", "divide", BINARY, "BinaryOpType::DIV"},
    {"quantize", "quantize", BINARY, "BinaryOpType::QUANT"},
    {"requantize", "requantize", BINARY, "BinaryOpType::REQUANT"},
    {"dequantize", "dequantize", BINARY, "BinaryOpType::DEQUANT"},
    {"reciprocal", "reciprocal", UNARY, "UnaryOpType::RECIP"},
    {"Reciprocal", "reciprocal", UNARY, "UnaryOpType::RECIP"},
    {"Abs", "abs", UNARY, "UnaryOpType::ABS"},
    {"Exp", "exp", UNARY, "UnaryOpType::EXP"},
    {"Log", "log", UNARY, "UnaryOpType::LOG"},
    {"Sqrt", "sqrt", UNARY, "UnaryOpType::SQRT"},
    {"Square", "square", UNARY, "UnaryOpType::SQUARE"},
    {"Sigmoid", "sigmoid", UNARY, "UnaryOpType::SIGMOID"},
    {"ReLU", "relu", UNARY, "UnaryOpType::RELU"},
    {"Neg", "neg", UNARY, "UnaryOpType::NEG"},
    {"SiLU", "silu", UNARY, "UnaryOpType::SILU"},
    {"Rsqrt", "rsqrt", UNARY, "UnaryOpType::RSQRT"},
    {"ReLU6", "relu6", UNARY, "UnaryOpType::RELU6"},
    {"Trunc", "trunc", UNARY, "UnaryOpType::TRUNC"},
    {"Log1p", "log1p", UNARY, "UnaryOpType::LOG1P"},
    {"typecast", "typecast", "TypecastDeviceOperation", NULL},
    {"Cast", "typecast", "TypecastDeviceOperation", NULL},
    {"MatMul", "matmul", "MatmulDeviceOperation", NULL},
    {"StaticReshape", "reshape", "ReshapeViewDeviceOperation", NULL},
    {"reshape", "reshape", "ReshapeViewDeviceOperation", NULL},
};

// "InterleavedToSharded" becomes "interleaved_to_sharded".
static void snake(const char *name, char *out, size_t capacity) {
    size_t length = 0;
    for (size_t i = 0; name[i] && length + 2 < capacity; i++) {
        if (i && isupper((unsigned char)name[i])) out[length++] = '_';
        out[length++] = (char)tolower((unsigned char)name[i]);
    }
    out[length] = '\0';
}

static bool ends_in_tiles(const qdq_device_plan *plan, const qdq_device_step *step) {
    return step->output != SIZE_MAX && plan->buffers[step->output].layout == QDQ_LAYOUT_TILE;
}

capture_names capture_names_of(const qdq_device_plan *plan, const qdq_device_step *step) {
    capture_names out = {.attributes = "operation_attributes_t"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].program, step->program) != 0) continue;
        snprintf(out.function, sizeof out.function, "ttnn.%s", rows[i].function);
        snprintf(out.device, sizeof out.device, "%s", rows[i].device);
        out.word = rows[i].word;
        return out;
    }
    char name[CAPTURE_NAME_BYTES - 32];
    snake(step->program, name, sizeof name);
    snprintf(out.function, sizeof out.function, "ttnn.%s", name);
    if (strcmp(step->program, "ToLayout") == 0)
        snprintf(out.device, sizeof out.device, "%sDeviceOperation",
                 ends_in_tiles(plan, step) ? "Tilize" : "Untilize");
    else
        snprintf(out.device, sizeof out.device, "%.60sDeviceOperation", step->program);
    return out;
}

//---- Texts ------------------------------------------------------------------

const char *capture_shape(const qdq_device_buffer *buffer, char out[CAPTURE_SHAPE_BYTES]) {
    size_t length = (size_t)snprintf(out, CAPTURE_SHAPE_BYTES, "Shape([");
    for (int i = 0; i < buffer->shape.rank; i++)
        length += (size_t)snprintf(out + length, CAPTURE_SHAPE_BYTES - length, "%s%" PRId64,
                                   i ? ", " : "", buffer->shape.dims[i]);
    snprintf(out + length, CAPTURE_SHAPE_BYTES - length, "])");
    return out;
}

const char *capture_dtype(const qdq_device_buffer *buffer, char out[CAPTURE_DTYPE_BYTES]) {
    size_t length = (size_t)snprintf(out, CAPTURE_DTYPE_BYTES, "DataType::");
    const char *name = qdq_dtype_name(buffer->dtype);
    for (; *name && length + 1 < CAPTURE_DTYPE_BYTES; name++)
        out[length++] = (char)toupper((unsigned char)*name);
    out[length] = '\0';
    return out;
}

const char *capture_layout(const qdq_device_buffer *buffer) {
    return buffer->layout == QDQ_LAYOUT_TILE ? "Layout::TILE" : "Layout::ROW_MAJOR";
}

//---- Arguments --------------------------------------------------------------

enum { TENSOR_BYTES = QDQ_MEMORY_CONFIG_TEXT_BYTES + 512 };

// Writes a tensor as ttnn prints its spec.
static void print_tensor(const qdq_device_buffer *b, char out[TENSOR_BYTES]) {
    char shape[CAPTURE_SHAPE_BYTES], dtype[CAPTURE_DTYPE_BYTES], page[160] = "RowMajorPageConfig()";
    char config[QDQ_MEMORY_CONFIG_TEXT_BYTES], alignment[48] = "1";
    unsigned h = b->tile.height ? b->tile.height : 32, w = b->tile.width ? b->tile.width : 32;
    if (b->layout == QDQ_LAYOUT_TILE) {
        snprintf(page, sizeof page,
                 "TilePageConfig(tile=Tile(tile_shape={%u, %u},face_shape={%u, 16},num_faces=%u))",
                 h, w, h < 16 ? h : 16, (h > 16 ? 2 : 1) * (w / 16));
        snprintf(alignment, sizeof alignment, "%u, %u", h, w);
    } else if (b->cores && b->memory_config->shard_spec.shape.rank == 2) {
        const int64_t *dims = b->memory_config->shard_spec.shape.dims;
        snprintf(alignment, sizeof alignment, "%" PRId64 ", %" PRId64, dims[0], dims[1]);
    }
    snprintf(out, TENSOR_BYTES,
             "Tensor(storage=DeviceStorage(),tensor_spec=TensorSpec(logical_shape=%s,"
             "tensor_layout=TensorLayout(dtype=%s,page_config=PageConfig(config=%s),"
             "memory_config=%s,alignment=Alignment([%s]))))",
             capture_shape(b, shape), capture_dtype(b, dtype), page,
             qdq_memory_config_text(b->memory_config, config), alignment);
}

static void print_attributes(const qdq_device_plan *plan, const qdq_device_step *step,
                             char out[TENSOR_BYTES]) {
    char config[QDQ_MEMORY_CONFIG_TEXT_BYTES] = "std::nullopt", dtype[CAPTURE_DTYPE_BYTES] = "";
    capture_names names = capture_names_of(plan, step);
    if (step->output != SIZE_MAX) {
        const qdq_device_buffer *y = &plan->buffers[step->output];
        qdq_memory_config_text(y->memory_config, config);
        capture_dtype(y, dtype);
    }
    bool is_binary = strcmp(names.device, BINARY) == 0;
    if (strcmp(names.device, "MatmulDeviceOperation") == 0)
        snprintf(out, TENSOR_BYTES, "MatmulParams(<variant>, 1, %s, %s)", config, dtype);
    else if (is_binary)
        snprintf(
            out, TENSOR_BYTES,
            "operation_attributes_t(%s, SmallVector([]), SmallVector([]), SmallVector([]), %s, "
            "%s, %s)",
            names.word, step->inputs[1] == SIZE_MAX ? "<number>" : "std::nullopt", config, dtype);
    else
        snprintf(out, TENSOR_BYTES, "operation_attributes_t(%s%s%s, %s)",
                 names.word ? names.word : "", names.word ? ", " : "", config, dtype);
}

void capture_arguments(qdq_json *json, const qdq_device_plan *plan, const qdq_device_step *step) {
    char attributes[TENSOR_BYTES], tensors[2 * TENSOR_BYTES + 8] = "{";
    size_t length = 1;
    print_attributes(plan, step, attributes);
    qdq_json_string(json, attributes);
    for (int i = 0; i < 2; i++) {
        if (step->inputs[i] == SIZE_MAX) continue;
        if (length > 1) length += (size_t)snprintf(tensors + length, 3, ", ");
        print_tensor(&plan->buffers[step->inputs[i]], tensors + length);
        length += strlen(tensors + length);
    }
    snprintf(tensors + length, 2, "}");
    qdq_json_string(json, tensors);
}

void capture_tensor_arguments(qdq_json *json, const qdq_device_buffer *buffer) {
    char shape[CAPTURE_SHAPE_BYTES], dtype[CAPTURE_DTYPE_BYTES];
    char config[QDQ_MEMORY_CONFIG_TEXT_BYTES];
    qdq_json_string(json, capture_shape(buffer, shape));
    qdq_json_string(json, capture_dtype(buffer, dtype));
    qdq_json_string(json, capture_layout(buffer));
    qdq_json_string(json, qdq_memory_config_text(buffer->memory_config, config));
}
