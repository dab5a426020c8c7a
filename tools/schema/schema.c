// SPDX-License-Identifier: Apache-2.0
// Prints the schema of graph files. It covers the rules for one node by itself; `qdq check` covers
// everything that needs shapes, counts or other nodes.
#include "tools/schema/schema.h"

#include <qdq/inspect.h>
#include <stdio.h>
#include <string.h>

#include "tools/common.h"
#include "tools/schema/json_text.h"
#include "tools/schema/memory_schema.h"

//---- The parts that no table has --------------------------------------------

static void put_scalars(qdq_json *json) {
    json_text(json, "'name': {'type': 'string', 'description': '1 to 255 bytes of UTF-8',"
                    " 'minLength': 1, 'maxLength': 255}");
    json_text(json, "'value': {'type': 'string', 'minLength': 1, 'description':"
                    " 'a value: an input, a constant, a node (its first output), or NODE.PORT'}");
    json_text(json, "'values': {'type': 'array', 'description': 'the names of one or more values',"
                    " 'minItems': 1, 'items': {'$ref': '#/$defs/value'}}");
    json_text(json,
              "'shape': {'type': 'array', 'maxItems': %d, 'items': {'type': 'integer',"
              " 'minimum': 1}, 'description':"
              " 'dims from outermost to innermost; [] is a scalar'}",
              QDQ_MAX_RANK);
    json_text(json, "'element': {'anyOf': [{'type': 'number'},"
                    " {'enum': ['NaN', 'Infinity', '-Infinity']}]}");
}

// Writes the types of attributes by their names or kinds.
static void put_attr_types(qdq_json *json) {
    json_text(json,
              "'axis': {'type': 'integer', 'description': 'in [-rank, rank - 1]',"
              " 'minimum': %d, 'maximum': %d}",
              -QDQ_MAX_RANK, QDQ_MAX_RANK - 1);
    json_text(json,
              "'group_shape': {'type': 'array', 'maxItems': %d,"
              " 'items': {'anyOf': [{'const': -1}, {'type': 'integer', 'minimum': 1}]}}",
              QDQ_MAX_RANK);
    json_text(json, "'scales': {'description': 'a float32 that is not 0, or an array of them,"
                    " nested at will', 'anyOf': [{'type': 'number', 'not': {'const': 0}},"
                    " {'type': 'array', 'minItems': 1, 'items': {'$ref': '#/$defs/scales'}}]}");
    json_text(json,
              "'zps': {'description': 'a whole number of at most 32 bits, or an array of them,"
              " nested at will', 'anyOf': [{'type': 'integer', 'minimum': %d, 'maximum': %d},"
              " {'type': 'array', 'items': {'$ref': '#/$defs/zps'}}]}",
              INT32_MIN, INT32_MAX);
    json_text(json, "'zero_points': {'description': 'a float32, or an array of them, nested at"
                    " will', 'anyOf': [{'type': 'number', 'minimum': -3.5e38, 'maximum': 3.5e38},"
                    " {'type': 'array', 'items': {'$ref': '#/$defs/zero_points'}}]}");
}

static void put_input_and_output(qdq_json *json) {
    json_text(json, "'input': {'type': 'object', 'description': 'a tensor that each run gets anew',"
                    " 'properties': {'name': {'$ref': '#/$defs/name'},"
                    " 'dtype': {'$ref': '#/$defs/dtype'}, 'shape': {'$ref': "
                    "'#/$defs/shape'}," SCHEMA_MEMORY_KEYS "},"
                    " 'required': ['name', 'dtype', 'shape'], " SCHEMA_CLOSED_BUT_FOR_NOTES "}");
    json_text(json, "'output': {'type': 'object', 'description': 'a result with its own name',"
                    " 'properties': {'name': {'$ref': '#/$defs/name'},"
                    " 'value': {'$ref': '#/$defs/value'}}, 'required': ['name', 'value'],"
                    " " SCHEMA_CLOSED_BUT_FOR_NOTES "}");
}

static void put_target(qdq_json *json) {
    json_text(json, "'target': {'description': 'rules and numerics', 'default': 'core', 'enum': [");
    for (size_t i = 0; i < qdq_target_count(); i++) {
        qdq_target_info target = qdq_target_get(i);
        qdq_json_string(json, target.name);
        for (size_t r = 0; r < target.release_count; r++)
            json_text(json, "'%s@%s'", target.name, qdq_target_release(i, r));
    }
    json_text(json, "]}");
}

//---- Constants --------------------------------------------------------------

static bool in_set(uint64_t set, int dtype) { return set >> dtype & 1; }

static void put_dtypes(qdq_json *json, uint64_t set) {
    qdq_json_key(json, "enum");
    qdq_json_begin_line(json);
    for (int d = QDQ_DTYPE_NONE + 1; d < QDQ_DTYPE_COUNT; d++)
        if (in_set(set, d)) qdq_json_string(json, qdq_dtype_name((qdq_dtype)d));
    qdq_json_end_array(json);
}

// Writes the ranges of dtypes whose numbers `data` stores unchanged. Not every int64 fits in a JSON
// number.
static void put_ranges(qdq_json *json) {
    for (int d = QDQ_DTYPE_NONE + 1; d < QDQ_DTYPE_COUNT; d++) {
        const qdq_dtype_info *info = qdq_dtype_get((qdq_dtype)d);
        if (info->kind != QDQ_KIND_INT && info->kind != QDQ_KIND_BOOL) continue;
        json_text(json,
                  "{'if': {'properties': {'dtype': {'const': '%s'}}},"
                  " 'then': {'properties': {'data': {'type': ['integer', 'array'],"
                  " 'minimum': %lld, 'maximum': %lld,"
                  " 'items': {'type': 'integer', 'minimum': %lld, 'maximum': %lld}}}}}",
                  info->name, (long long)info->least, (long long)info->greatest,
                  (long long)info->least, (long long)info->greatest);
    }
}

static void put_constant(qdq_json *json) {
    json_text(json, "'constant': {'type': 'object', 'description': 'a tensor that is known now',"
                    " 'properties': {'name': {'$ref': '#/$defs/name'},"
                    " 'dtype': {'$ref': '#/$defs/dtype'}, 'shape': {'$ref': '#/$defs/shape'},"
                    " 'data': {'anyOf': [{'type': 'array', 'maxItems': 4096,"
                    " 'items': {'$ref': '#/$defs/element'}}, {'$ref': '#/$defs/element'}],"
                    " 'description': 'the elements, flat and row-major; a scalar (shape []) may"
                    " have its number without the list'},"
                    " 'base64': {'type': 'string', 'pattern': '^([A-Za-z0-9+/]{4})*"
                    "([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',"
                    " 'description': 'the bytes of the elements, flat, row-major and"
                    " little-endian, as a .safetensors file has them'},");
    // Paths stay below the folder of the graph: no part is "", "." or "..".
    static const char path[] = "^(?!\\.{1,2}(/|$))[^/]+(/(?!\\.{1,2}(/|$))[^/]+)*$";
    json_text(
        json,
        "'file': {'type': 'string', 'pattern': '%s',"
        " 'description': 'a .safetensors file beneath the folder of this file'},"
        " 'tensor': {'type': 'string', 'description': 'its name in `file`'}," SCHEMA_MEMORY_KEYS
        "},",
        path);
    json_text(json,
              "'required': ['name', 'dtype', 'shape'], " SCHEMA_CLOSED_BUT_FOR_NOTES ", 'oneOf': ["
              "{'required': ['data']}, {'required': ['base64']}, {'required': ['file']}],"
              " 'dependentRequired': {'file': ['tensor'], 'tensor': ['file']}");
    qdq_json_key(json, "allOf");
    qdq_json_begin_array(json);
    put_ranges(json);
    json_text(json, "{'if': {'properties': {'shape': {'minItems': 1}}},"
                    " 'then': {'properties': {'data': {'type': 'array'}}}}");
    qdq_json_end_array(json);
    qdq_json_end_object(json);
}

//---- Ops: attributes --------------------------------------------------------

static size_t find_attr(size_t op, const char *name) {
    size_t i = 0, count = qdq_op_get(op).attr_count;
    while (i < count && strcmp(qdq_op_attr(op, i).name, name) != 0) i++;
    return i;
}

static bool has_attr(size_t op, const char *name) {
    return find_attr(op, name) < qdq_op_get(op).attr_count;
}

// Returns the input port that an attribute can replace: scale for scales, zero_point for zps; NULL
// if it replaces none.
static const char *port_of(size_t op, const char *attr) {
    for (size_t i = 0; i < qdq_op_get(op).input_count; i++) {
        const char *port = qdq_op_input(op, i).name, *zero_point = strstr(port, "zero_point");
        char plural[64];
        if (zero_point)
            snprintf(plural, sizeof plural, "%.*szps", (int)(zero_point - port), port);
        else
            snprintf(plural, sizeof plural, "%ss", port);
        if (strcmp(plural, attr) == 0) return port;
    }
    return NULL;
}

// Returns the dtypes that an attribute accepts: "scale_dtype" is the dtype of the output `scale`,
// "dtype" of the first output.
static uint64_t result_dtypes(size_t op, const char *attr) {
    for (size_t i = 1; i < qdq_op_get(op).output_count; i++) {
        const char *output = qdq_op_output(op, i).name;
        size_t length = strlen(output);
        if (strncmp(attr, output, length) == 0 && strcmp(attr + length, "_dtype") == 0)
            return qdq_op_output(op, i).dtypes;
    }
    return qdq_op_output(op, 0).dtypes;
}

// Returns the schema of an attribute that is neither a word nor a dtype.
static const char *type_of(size_t op, const qdq_attr_info *attr) {
    static const char *const names[][2] = {
        {"axis", "'$ref': '#/$defs/axis'"},
        {"group_shape", "'$ref': '#/$defs/group_shape'"},
    };
    static const char *const types[][2] = {
        {"int", "'type': 'integer'"},
        {"number", "'type': 'number'"},
        {"bool", "'type': 'boolean'"},
        {"int[]", "'type': 'array', 'items': {'type': 'integer'}"},
        {"float32 or float32[]", "'$ref': '#/$defs/scales'"},
        {"int or int[]", "'$ref': '#/$defs/zps'"},
        {"value", "'$ref': '#/$defs/value'"},
    };
    if (strcmp(attr->name, "zps") == 0 && has_attr(op, "zero_point_domain"))
        return "'$ref': '#/$defs/zero_points'";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(attr->name, names[i][0]) == 0) return names[i][1];
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(attr->type, types[i][0]) == 0) return types[i][1];
    return "";
}

static void put_words(qdq_json *json, const char *const *words) {
    qdq_json_key(json, "enum");
    qdq_json_begin_line(json);
    for (size_t i = 0; words[i]; i++) qdq_json_string(json, words[i]);
    qdq_json_end_array(json);
}

static bool is_dtype(const char *name) {
    int d = QDQ_DTYPE_NONE + 1;
    while (d < QDQ_DTYPE_COUNT && strcmp(qdq_dtype_name((qdq_dtype)d), name) != 0) d++;
    return d < QDQ_DTYPE_COUNT;
}

// True if a default is a JSON value; otherwise it is a description for people.
static bool is_value(const qdq_attr_info *attr) {
    const char *text = attr->default_text;
    for (size_t i = 0; attr->words && attr->words[i]; i++)
        if (strcmp(attr->words[i], text) == 0) return true;
    if (strcmp(attr->type, "dtype") == 0) return is_dtype(text);
    if (strcmp(attr->type, "bool") == 0) return *text == 't' || *text == 'f';
    return *text && text[strspn(text, "-0123456789")] == '\0';
}

static void put_default(qdq_json *json, const qdq_attr_info *attr) {
    if (!is_value(attr)) return;
    bool quoted = attr->words || strcmp(attr->type, "dtype") == 0;
    json_text(json, quoted ? "'default': '%s'" : "'default': %s", attr->default_text);
}

static void put_attr(qdq_json *json, size_t op, const qdq_attr_info *attr) {
    qdq_json_key(json, attr->name);
    qdq_json_begin_object(json);
    if (strcmp(attr->type, "dtype") == 0)
        put_dtypes(json, result_dtypes(op, attr->name));
    else if (attr->words)
        put_words(json, attr->words);
    else
        json_text(json, "%s", type_of(op, attr));
    json_string_key(json, "description", attr->summary);
    put_default(json, attr);
    qdq_json_end_object(json);
}

//---- Ops: conditions --------------------------------------------------------

#define PORT_GIVEN "{'properties': {'inputs': {'required': ['%s']}}, 'required': ['inputs']}"
#define ATTR_GIVEN "{'properties': {'attrs': {'required': ['%s']}}, 'required': ['attrs']}"

// Writes the condition of a parameter that is either an attribute or a port: at most one, and
// exactly one if it is required.
static void put_one_of(qdq_json *json, const qdq_attr_info *attr, const char *port) {
    json_text(json,
              attr->required ? "{'oneOf': [" PORT_GIVEN ", " ATTR_GIVEN "]}"
                             : "{'not': {'allOf': [" PORT_GIVEN ", " ATTR_GIVEN "]}}",
              port, attr->name);
}

static void put_conditions(qdq_json *json, size_t op) {
    qdq_json_key(json, "allOf");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < qdq_op_get(op).attr_count; i++) {
        qdq_attr_info attr = qdq_op_attr(op, i);
        const char *port = port_of(op, attr.name);
        if (port) put_one_of(json, &attr, port);
    }
    if (has_attr(op, "group_shape"))
        json_text(json,
                  "{'if': {'properties': {'attrs': {'properties': {'qtype':"
                  " {'const': 'per_group'}}, 'required': ['qtype']}}, 'required': ['attrs']},"
                  " 'then': " ATTR_GIVEN ", 'else': {'not': " ATTR_GIVEN "}}",
                  "group_shape", "group_shape");
    if (has_attr(op, "zero_point_domain"))
        json_text(json, "{'properties': {'attrs': {'anyOf': ["
                        "{'properties': {'zps': {'$ref': '#/$defs/zps'}}},"
                        " {'properties': {'zero_point_domain': {'const': 'float'}},"
                        " 'required': ['zero_point_domain']}]}}}");
    qdq_json_end_array(json);
}

//---- Ops --------------------------------------------------------------------

static void put_ports(qdq_json *json, size_t op) {
    json_text(json, "'inputs': {'type': 'object', 'properties': {");
    for (size_t i = 0; i < qdq_op_get(op).input_count; i++) {
        qdq_port_info port = qdq_op_input(op, i);
        json_text(json, "'%s': {'$ref': '#/$defs/%s'}", port.name,
                  port.variadic ? "values" : "value");
    }
    json_text(json, "}, 'required': [");
    for (size_t i = 0; i < qdq_op_get(op).input_count; i++)
        if (!qdq_op_input(op, i).optional) qdq_json_string(json, qdq_op_input(op, i).name);
    json_text(json, "], " SCHEMA_CLOSED "}");
}

// Writes the required attributes, which have neither a port nor a default. Returns their number.
static size_t put_required(qdq_json *json, size_t op) {
    size_t count = 0;
    for (size_t i = 0; i < qdq_op_get(op).attr_count; i++) {
        qdq_attr_info attr = qdq_op_attr(op, i);
        if (!attr.required || port_of(op, attr.name)) continue;
        if (count++ == 0) json_text(json, "'required': [");
        qdq_json_string(json, attr.name);
    }
    if (count) json_text(json, "]");
    return count;
}

static void put_op(qdq_json *json, size_t op) {
    qdq_op_info info = qdq_op_get(op);
    bool conditions = false;
    qdq_json_key(json, info.name);
    qdq_json_begin_object(json);
    json_string_key(json, "description", info.summary);
    json_text(json, "'properties': {");
    put_ports(json, op);
    json_text(json, "'attrs': {'type': 'object', 'properties': {");
    for (size_t i = 0; i < info.attr_count; i++) {
        qdq_attr_info attr = qdq_op_attr(op, i);
        put_attr(json, op, &attr);
        conditions |= port_of(op, attr.name) != NULL;
    }
    json_text(json, "}");
    size_t required = put_required(json, op);
    json_text(json, SCHEMA_CLOSED_BUT_FOR_NOTES "}}, 'required': ['inputs'%s]",
              required ? ", 'attrs'" : "");
    if (conditions) put_conditions(json, op);
    qdq_json_end_object(json);
}

static void put_node(qdq_json *json) {
    json_text(json, "'node': {'type': 'object', 'description': 'one op', 'properties': {"
                    "'op': {'enum': [");
    for (size_t op = 0; op < qdq_op_count(); op++) qdq_json_string(json, qdq_op_get(op).name);
    json_text(json,
              "]}, 'name': {'$ref': '#/$defs/name'}, 'inputs': {'type': 'object'},"
              " 'attrs': {'type': 'object'}," SCHEMA_MEMORY_KEYS "}, 'required': ['op', 'name'],"
              " " SCHEMA_CLOSED_BUT_FOR_NOTES);
    qdq_json_key(json, "allOf");
    qdq_json_begin_array(json);
    for (size_t op = 0; op < qdq_op_count(); op++)
        json_text(json,
                  "{'if': {'properties': {'op': {'const': '%s'}}}, 'then':"
                  " {'$ref': '#/$defs/%s'}}",
                  qdq_op_get(op).name, qdq_op_get(op).name);
    qdq_json_end_array(json);
    qdq_json_end_object(json);
}

//---- The whole --------------------------------------------------------------

static void put_graph(qdq_json *json) {
    json_text(json, "'$schema': 'https://json-schema.org/draft/2020-12/schema', 'title': 'qdq/1',"
                    " 'description': 'A graph file; docs/format.md explains it. Names, types,"
                    " counts and cycles are left to `qdq check`.', 'type': 'object',"
                    " 'properties': {'$schema': {'type': 'string',"
                    " 'description': 'where this schema is, for editors'},"
                    " 'format': {'const': 'qdq/1'},"
                    " 'name': {'type': 'string', 'description': 'of the graph'}");
    put_target(json);
    json_text(json, "'inputs': {'type': 'array', 'items': {'$ref': '#/$defs/input'}},"
                    " 'constants': {'type': 'array', 'items': {'$ref': '#/$defs/constant'}},"
                    " 'nodes': {'type': 'array', 'description': 'in any order',"
                    " 'items': {'$ref': '#/$defs/node'}},"
                    " 'outputs': {'type': 'array', 'minItems': 1,"
                    " 'items': {'$ref': '#/$defs/output'}}");
    json_text(json, "'states': {'type': 'array', 'items': {'type': 'object', 'description':"
                    " 'an input that takes the elements of an output of the run before',"
                    " 'properties': {'input': {'type': 'string'}, 'output': {'type': 'string'},"
                    " 'initial': {'type': ['array', 'null'], 'description': 'first elements; one"
                    " number: all of them'}}, 'required': ['input', 'output'],"
                    " " SCHEMA_CLOSED_BUT_FOR_NOTES "}},"
                    " 'originals': {'type': 'object', 'description':"
                    " 'names in the file that the graph was converted from', 'properties':"
                    " {'values': {'$ref': '#/$defs/originals'},"
                    " 'outputs': {'$ref': '#/$defs/originals'},"
                    " 'nodes': {'$ref': '#/$defs/originals'},"
                    " 'operators': {'$ref': '#/$defs/originals'}},"
                    " " SCHEMA_CLOSED_BUT_FOR_NOTES "}},"
                    " 'required': ['format', 'outputs'], " SCHEMA_CLOSED_BUT_FOR_NOTES);
}

static void to_stdout(void *self, const char *bytes, size_t count) {
    (void)self;
    fwrite(bytes, 1, count, stdout);
}

void print_schema(void) {
    qdq_json out, *json = &out;
    qdq_json_init(json, to_stdout, NULL, 2);
    qdq_json_begin_object(json);
    put_graph(json);
    json_text(json, "'$defs': {'dtype': {");
    put_dtypes(json, UINT64_MAX);
    json_text(json, "}");
    put_scalars(json);
    put_attr_types(json);
    schema_put_memory(json);
    put_input_and_output(json);
    json_text(json, "'originals': {'type': 'object', 'additionalProperties': {'type': 'string'}}");
    put_constant(json);
    put_node(json);
    for (size_t op = 0; op < qdq_op_count(); op++) put_op(json, op);
    json_text(json, "}}");
    putchar('\n');
}
