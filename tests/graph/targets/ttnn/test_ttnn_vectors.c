// SPDX-License-Identifier: Apache-2.0
// Graphs of target `ttnn` give every vector of the vendor's simulator, on both chips, in both
// generations of kernels and with every instruction set. Skipped without QDQ_VECTORS.
#include "tests/device_vectors.h"
#include "tests/ops/oracle.h"

static const struct {
    const char *target, *chip, *suffix;
} versions[] = {{"ttnn@wormhole", "wormhole", ""},
                {"ttnn@blackhole", "blackhole", ""},
                {"ttnn@wormhole-rne", "wormhole", "/rne"},
                {"ttnn@blackhole-rne", "blackhole", "/rne"}};

// A dtype, as tensors are named, and how the vectors store its elements.
typedef struct stored_dtype {
    qdq_dtype dtype;
    const char *name;
    size_t bytes;
    bool is_signed;
} stored_dtype;

static const stored_dtype codes[] = {
    {QDQ_INT32, "int32", 1, true}, {QDQ_INT8, "int8", 1, true}, {QDQ_UINT8, "uint8", 1, false}};

//---- The manifest -----------------------------------------------------------

// A file of the manifest, with the numbers that its op has.
typedef struct entry {
    char file[64], op[32];
    double scale, zp, in_scale, in_zp, out_scale, out_zp;
} entry;

static double number_of(const char *object, const char *end, const char *key) {
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(object, quoted);
    return at && at < end ? strtod(at + strlen(quoted), NULL) : 0;
}

static void text_of(const char *object, const char *key, const char *until, char *out) {
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\": \"", key);
    const char *at = strstr(object, quoted);
    assert_non_null(at);
    at += strlen(quoted);
    size_t length = strcspn(at, until);
    memcpy(out, at, length), out[length] = 0;
}

// Reads the manifest; returns how many entries it has.
static size_t read_manifest(entry *entries, size_t most) {
    char path[512];
    size_t size, count = 0;
    snprintf(path, sizeof path, "%s/ttnn_device/manifest.json", getenv("QDQ_VECTORS"));
    char *bytes = unit_read(path, &size);
    char *text = memcpy(calloc(size + 1, 1), bytes, size);
    for (char *at = strchr(text, '{'); at && count < most; at = strchr(at + 1, '{')) {
        const char *end = strchr(at, '}');
        entry *e = &entries[count++];
        text_of(at, "file", ".\"", e->file);
        char op[256];
        text_of(at, "op", "\"", op);
        snprintf(e->op, sizeof e->op, "%.31s", op);
        e->scale = number_of(at, end, "scale"), e->zp = number_of(at, end, "zp");
        e->in_scale = number_of(at, end, "in_scale"), e->in_zp = number_of(at, end, "in_zp");
        e->out_scale = number_of(at, end, "out_scale"), e->out_zp = number_of(at, end, "out_zp");
    }
    free(bytes), free(text);
    return count;
}

//---- Nodes ------------------------------------------------------------------

typedef struct node {
    const entry *e;
    const float *scales;  // one for each column of 64; NULL: e->scale
    qdq_dtype from, to;
    const void *x;
    size_t count;
} node;

static qdq_value add_node(qdq_graph *g, const node *n, qdq_value x) {
    const entry *e = n->e;
    if (strcmp(e->op, "Requantize") == 0)
        return qdq_requantize(g, x,
                              (qdq_requantize_attrs){.in_scales = QDQ_SCALE((float)e->in_scale),
                                                     .in_zps = QDQ_ZP(e->in_zp),
                                                     .out_scales = QDQ_SCALE((float)e->out_scale),
                                                     .out_zps = QDQ_ZP(e->out_zp),
                                                     .dtype = n->to});
    qdq_quantize_attrs attrs = {
        .scales = QDQ_SCALE((float)e->scale), .zps = QDQ_ZP(e->zp), .dtype = n->to};
    if (n->scales) {
        attrs.scales = (qdq_floats){n->scales, 64, false};
        attrs.qtype = QDQ_PER_CHANNEL;
    }
    return strcmp(e->op, "Dequantize") == 0 ? qdq_dequantize(g, x, attrs)
                                            : qdq_quantize(g, x, attrs);
}

// The result of a node of one version with one instruction set; the caller frees it.
static void *run_node(const node *n, const char *target, const char *isa) {
    qdq_graph *g = qdq_graph_create("vectors", NULL);
    qdq_shape shape =
        n->scales ? QDQ_SHAPE((int64_t)n->count / 64, 64) : QDQ_SHAPE(1, (int64_t)n->count);
    qdq_output(g, "y", add_node(g, n, qdq_input(g, "x", n->from, shape)));
    size_t bytes = n->count * qdq_dtype_size(n->to);
    void *x = oracle_memory(n->count * qdq_dtype_size(n->from)), *y = oracle_memory(bytes);
    memcpy(x, n->x, n->count * qdq_dtype_size(n->from));
    oracle_bound bound[] = {{"x", x, n->count * qdq_dtype_size(n->from)}, {"y", y, bytes}};
    oracle_run(g, &(qdq_compile_options){.target = target, .isa = isa}, bound, 2);
    qdq_graph_destroy(g);
    free(x);
    return y;
}

static uint64_t element(const void *data, size_t i, size_t bytes, bool is_signed) {
    uint64_t v = 0;
    memcpy(&v, (const char *)data + i * bytes, bytes);
    if (is_signed && bytes == 1) v = (uint64_t)(int64_t)(int8_t)v;
    if (is_signed && bytes == 4) v = (uint64_t)(int64_t)(int32_t)v;
    return v;
}

// Runs a node with every instruction set of the machine and compares it with a tensor of the file.
// Returns the number of elements compared, 0 if the file lacks the tensor.
static size_t check_node(const vector_file *file, const node *n, size_t version, const char *name,
                         const stored_dtype *y, size_t *wrong) {
    size_t seen = 0, compared = 0;
    if (!vectors_find(file, name).data) return 0;
    void *want = vector_copy(file, name, y->bytes, &seen);
    assert_int_equal(seen, n->count);
    for (size_t isa = 0; qdq_isa_get(isa).name; isa++) {
        if (!qdq_isa_get(isa).available) continue;
        void *got = run_node(n, versions[version].target, qdq_isa_get(isa).name);
        for (size_t i = 0; i < seen; i++) {
            uint64_t w = element(want, i, y->bytes, y->is_signed);
            uint64_t g = element(got, i, qdq_dtype_size(y->dtype), y->is_signed);
            if (w == g || (*wrong)++ > 20) continue;
            print_error("%s %s, %s, element %zu: want %lld, got %lld\n", n->e->file, name,
                        qdq_isa_get(isa).name, i, (long long)w, (long long)g);
        }
        free(got);
        compared += seen;
    }
    free(want);
    return compared;
}

//---- Tests ------------------------------------------------------------------

enum { MOST_ENTRIES = 256 };
static entry entries[MOST_ENTRIES];
static size_t entry_count;

static size_t check_quantize(const entry *e, size_t *wrong) {
    static uint16_t all[65536];
    for (size_t i = 0; i < 65536; i++) all[i] = (uint16_t)i;
    vector_file file = vectors_open(e->file);
    node n = {.e = e, .from = QDQ_BFLOAT16, .x = all, .count = 65536};
    void *x = NULL, *scales = NULL;
    size_t seen = 0;
    if (vectors_find(&file, "x").data)
        n.x = x = vector_copy(&file, "x", 4, &n.count), n.from = QDQ_FLOAT32;
    if (vectors_find(&file, "scale").data) n.scales = scales = vector_copy(&file, "scale", 4, NULL);
    for (size_t v = 0; v < UNIT_COUNT(versions); v++)
        for (size_t k = 0; k < UNIT_COUNT(codes); k++) {
            char name[96];
            snprintf(name, sizeof name, "%s/%s%s", versions[v].chip, codes[k].name,
                     versions[v].suffix);
            n.to = codes[k].dtype;
            seen += check_node(&file, &n, v, name, &codes[k], wrong);
        }
    free(x), free(scales);
    vectors_close(&file);
    return seen;
}

// x of an op that takes integers: the tensor `q`, or all bytes in order.
static void *codes_of(const vector_file *file, qdq_dtype from, size_t *count) {
    if (from == QDQ_INT32) return vector_copy(file, "q", 4, count);
    uint8_t *all = malloc(256);
    for (int i = 0; i < 256; i++) all[i] = (uint8_t)(from == QDQ_INT8 ? i - 128 : i);
    *count = 256;
    return all;
}

static size_t check_integers(const entry *e, const stored_dtype *to, size_t to_count,
                             bool has_generations, size_t *wrong) {
    vector_file file = vectors_open(e->file);
    size_t seen = 0;
    for (size_t f = 0; f < UNIT_COUNT(codes); f++) {
        node n = {.e = e, .from = codes[f].dtype};
        void *x = codes_of(&file, n.from, &n.count);
        n.x = x;
        for (size_t v = 0; v < UNIT_COUNT(versions); v++)
            for (size_t k = 0; k < to_count; k++) {
                char name[96];
                snprintf(name, sizeof name, "%s/%s/%s%s", versions[v].chip, codes[f].name,
                         to[k].name, has_generations ? versions[v].suffix : "");
                n.to = to[k].dtype;
                seen += check_node(&file, &n, v, name, &to[k], wrong);
            }
        free(x);
    }
    vectors_close(&file);
    return seen;
}

static size_t check_entries(const char *op, size_t *wrong) {
    static const stored_dtype floats[] = {{QDQ_FLOAT32, "float32", 4, false},
                                          {QDQ_BFLOAT16, "bfloat16", 2, false}};
    size_t seen = 0;
    for (size_t i = 0; i < entry_count; i++) {
        const entry *e = &entries[i];
        if (strcmp(e->op, op) != 0) continue;
        size_t before = seen;
        if (strcmp(op, "Dequantize") == 0)
            seen += check_integers(e, floats, 2, false, wrong);
        else if (strcmp(op, "Requantize") == 0)
            seen += check_integers(e, codes, 3, true, wrong);
        else
            seen += check_quantize(e, wrong);
        if (seen == before) fail_msg("%s has no vectors", e->file);
    }
    return seen;
}

static void quantize_equals_the_simulator(void **state) {
    (void)state;
    size_t wrong = 0, seen = check_entries("Quantize", &wrong);
    assert_int_equal(wrong, 0);
    assert_true(seen >= 4000000);
}

static void quantize_with_a_scale_for_each_channel_equals_the_simulator(void **state) {
    (void)state;
    size_t wrong = 0, seen = check_entries("QuantizeAxis", &wrong);
    assert_int_equal(wrong, 0);
    assert_true(seen >= 80000);
}

static void requantize_equals_the_simulator(void **state) {
    (void)state;
    size_t wrong = 0, seen = check_entries("Requantize", &wrong);
    assert_int_equal(wrong, 0);
    assert_true(seen >= 500000);
}

static void dequantize_equals_the_simulator(void **state) {
    (void)state;
    size_t wrong = 0, seen = check_entries("Dequantize", &wrong);
    assert_int_equal(wrong, 0);
    assert_true(seen >= 500000);
}

int main(void) {
    if (!vectors_given()) return VECTORS_SKIP;
    entry_count = read_manifest(entries, MOST_ENTRIES);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantize_equals_the_simulator),
        cmocka_unit_test(quantize_with_a_scale_for_each_channel_equals_the_simulator),
        cmocka_unit_test(requantize_equals_the_simulator),
        cmocka_unit_test(dequantize_equals_the_simulator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
