// SPDX-License-Identifier: Apache-2.0
// Target `onednn` against a model in exact arithmetic, and both against oneDNN itself:
// onednn_golden.h has checksums of oneDNN's results for the same inputs.
#include "tests/graph/targets/onednn/onednn_golden.h"
#include "tests/graph/targets/onednn/onednn_run.h"

//---- All batches ------------------------------------------------------------

static const size_t no_golden = SIZE_MAX;

// The row of a batch; oneDNN does not run every batch.
static size_t golden_of(onednn_batch b) {
    for (size_t i = 0; i < UNIT_COUNT(onednn_golden); i++)
        if (memcmp(&onednn_golden[i].batch, &b, sizeof b) == 0) return i;
    return no_golden;
}

static uint64_t hash_all(const onednn_case *c, const uint32_t *codes, uint64_t hash) {
    for (size_t i = 0; i < c->count; i++)
        hash = onednn_hash(hash, c->batch.to, onednn_canonical(c, i, codes[i]));
    return hash;
}

static void the_model_gives_the_results_of_onednn(void **state) {
    (void)state;
    for (size_t row = 0; row < UNIT_COUNT(onednn_golden); row++) {
        onednn_batch b = onednn_golden[row].batch;
        uint64_t hash = ONEDNN_HASH;
        size_t count = 0;
        for (size_t number = 0; number < onednn_case_count(b); number++) {
            onednn_case c = onednn_case_make(b, number);
            uint32_t *y = model_run(&c);
            for (size_t i = 0; number == 0 && i < 4; i++)
                assert_int_equal(onednn_canonical(&c, i, y[i]), onednn_golden[row].first[i]);
            hash = hash_all(&c, y, hash);
            count += c.count;
            free(y);
            onednn_case_free(&c);
        }
        assert_int_equal(count, onednn_golden[row].count);
        if (hash != onednn_golden[row].hash) fail_msg("row %zu of onednn_golden.h", row);
    }
}

// Runs all cases of a batch and counts elements; with `against_model` each element is compared with
// the model. Returns the checksum.
static uint64_t run_batch(onednn_batch b, bool against_model, size_t *count) {
    uint64_t hash = ONEDNN_HASH;
    for (size_t number = 0; number < onednn_case_count(b); number++) {
        onednn_case c = onednn_case_make(b, number);
        uint32_t *y = case_run(&c, number);
        if (against_model) case_check(&c, number, y);
        hash = hash_all(&c, y, hash);
        *count += c.count;
        free(y);
        onednn_case_free(&c);
    }
    return hash;
}

// oneDNN's checksum is as strict as the model, and faster; the model finds the wrong element.
static size_t check_batch(onednn_batch b) {
    size_t count = 0, again = 0, row = golden_of(b);
    uint64_t hash = run_batch(b, row == no_golden, &count);
    if (row == no_golden || hash == onednn_golden[row].hash) return count;
    (void)run_batch(b, true, &again);
    fail_msg("row %zu of onednn_golden.h: equal to the model, not to oneDNN", row);
    return 0;
}

// All batches of an op: more than a million elements for each pair of dtypes.
static void check_op(onednn_op op) {
    size_t count = 0;
    for (size_t i = 0; i < ONEDNN_BATCHES; i++) {
        onednn_batch b = onednn_batches[i];
        if (b.op != op) continue;
        count += check_batch(b);
        bool last = i + 1 == ONEDNN_BATCHES || onednn_batches[i + 1].op != op ||
                    onednn_batches[i + 1].from != b.from || onednn_batches[i + 1].to != b.to;
        if (!last) continue;
        assert_true(count >= 1000000);
        count = 0;
    }
}

static void quantize_multiplies_adds_the_zero_point_and_rounds(void **state) {
    (void)state;
    check_op(ONEDNN_QUANTIZE);
}

static void dynamic_quantize_with_a_scale_computes_as_quantize(void **state) {
    (void)state;
    check_op(ONEDNN_DYNAMIC_QUANTIZE);
}

static void dequantize_subtracts_in_float32_and_multiplies(void **state) {
    (void)state;
    check_op(ONEDNN_DEQUANTIZE);
}

static void dequantize_with_a_scale_port_rounds_to_the_dtype_of_the_result(void **state) {
    (void)state;
    check_op(ONEDNN_DYNAMIC_DEQUANTIZE);
}

//---- Requantize -------------------------------------------------------------

// The two sides of a Requantize: per tensor with zero points, or per row without.
typedef struct sides {
    onednn_case in, out;  // `in` has x and the shape, both have scales and zero points
    bool ports;           // scales are inputs
} sides;

static void sides_job(const sides *s, onednn_job *job, float *in, float *out, double zps[2]) {
    const onednn_case *a = &s->in, *b = &s->out;
    qdq_shape shape = QDQ_SHAPE((int64_t)a->rows, (int64_t)a->cols);
    qdq_shape in_shape = QDQ_SHAPE((int64_t)a->parameters);
    qdq_shape out_shape = QDQ_SHAPE((int64_t)b->parameters);
    qdq_requantize_attrs attrs = {.dtype = onednn_dtypes[b->batch.to].dtype};
    qdq_value x = job_tensor(job, "x", a->batch.from, shape, a->x, false);
    for (size_t i = 0; i < a->parameters; i++) in[i] = onednn_float(a->scales[i]);
    for (size_t i = 0; i < b->parameters; i++) out[i] = onednn_float(b->scales[i]);
    if (s->ports) {
        attrs.in_scale = job_tensor(job, "si", ONEDNN_F32, in_shape, a->scales, false);
        attrs.out_scale = job_tensor(job, "so", ONEDNN_F32, out_shape, b->scales, false);
    } else {
        attrs.in_scales = (qdq_floats){in, a->parameters, a->parameters == 1};
        attrs.out_scales = (qdq_floats){out, b->parameters, b->parameters == 1};
    }
    zps[0] = a->zps[0], zps[1] = b->zps[0];
    if (s->ports) {  // oneDNN takes both as ports, or both as attributes
        const uint32_t *zi = (const uint32_t *)a->zps, *zo = (const uint32_t *)b->zps;
        if (*zi) attrs.in_zero_point = job_tensor(job, "zi", ONEDNN_S32, QDQ_SHAPE(1), zi, false);
        if (*zo) attrs.out_zero_point = job_tensor(job, "zo", ONEDNN_S32, QDQ_SHAPE(1), zo, false);
    } else {
        if (a->zps[0]) attrs.in_zps = (qdq_numbers){&zps[0], 1, true};
        if (b->zps[0]) attrs.out_zps = (qdq_numbers){&zps[1], 1, true};
    }
    if (a->parameters > 1 || b->parameters > 1) attrs.axis = QDQ_INT(0);
    qdq_output(job->graph, "y", qdq_requantize(job->graph, x, attrs));
}

static uint32_t sides_model(const sides *s, size_t i) {
    const onednn_case *a = &s->in, *b = &s->out;
    model_parameter in = model_parameter_of(a, i), out = model_parameter_of(b, i);
    if (!s->ports && model_counts_as_one(a->scales, a->parameters)) in.scale = 1;
    if (!s->ports && model_counts_as_one(b->scales, b->parameters)) out.scale = 1;
    double x = model_dequantize(model_value(a->batch.from, a->x[i]), in);
    return model_quantize(x, out, b->batch.to);
}

// False if the target refuses the graph.
static bool sides_check(const sides *s, bool tiles) {
    const onednn_case *a = &s->in, *b = &s->out;
    onednn_job job = job_make();
    float *in = oracle_memory(a->parameters * sizeof *in);
    float *out = oracle_memory(b->parameters * sizeof *out);
    double zps[2];
    sides_job(s, &job, in, out, zps);
    bool taken = job_is_taken(&job);
    for (int way = 0; taken && way < (tiles ? 2 : 1); way++) {
        uint32_t *y = job_run(&job, way ? &onednn_tiles : &onednn_fused, b->batch.to, a->count);
        for (size_t i = 0; i < a->count; i++) {
            uint32_t want = sides_model(s, i);
            if (y[i] != want)
                fail_msg("Requantize to %d: x %#x, in %#x %d, out %#x %d, ports %d: got %#x, "
                         "want %#x",
                         b->batch.to, a->x[i], a->scales[i / a->span], a->zps[i / a->span],
                         b->scales[i / b->span], b->zps[i / b->span], s->ports, y[i], want);
        }
        free(y);
    }
    free(in), free(out);
    job_free(&job);
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what the run holds is freed
    return taken;
}

// All codes, or for int32 codes of every magnitude.
static void sides_fill(sides *s) {
    uint64_t seed = 80;
    onednn_fill_codes(&s->in);
    for (size_t i = 0; s->in.batch.from == ONEDNN_S32 && i < s->in.count; i++) {
        uint64_t r = onednn_random(&seed);
        s->in.x[i] = (uint32_t)((int32_t)(uint32_t)(r >> 32) >> (r & 31));
    }
}

static const uint32_t side_scales[] = {0x3F800000, 0x3F000000, 0x3C010204, 0x3DD1A347, 0x3E124925,
                                       0x3DCCCCCD, 0x3F800008, 0x3F800009, 0x3F7FFFF0, 0x3F7FFFEF,
                                       0x41A00000, 0x3C9374BC, 0x00200000, 0x7E967699, 0xBF000000};
enum { SIDE_SCALES = UNIT_COUNT(side_scales), SIDE_ZPS = 5 };
static const int32_t side_zps[SIDE_ZPS][2] = {{0, 0}, {1, 3}, {-7, 127}, {128, 1000}, {0, -5}};

// Every scale with every other scale, per tensor.
static bool requantize_tensors(onednn_type from, onednn_type to) {
    bool taken = true;
    for (size_t n = 0; taken && n < SIDE_SCALES * SIDE_SCALES * SIDE_ZPS; n++) {
        sides s = {.ports = n % 3 == 2};
        onednn_case *cases[2] = {&s.in, &s.out};
        for (int i = 0; i < 2; i++) {
            cases[i]->scale_type = ONEDNN_F32;
            cases[i]->batch = (onednn_batch){ONEDNN_DEQUANTIZE, from, to, ONEDNN_POWERS};
            onednn_shape(cases[i], 4, 64, 256);
            cases[i]->scales[0] = side_scales[i ? n / SIDE_SCALES % SIDE_SCALES : n % SIDE_SCALES];
            cases[i]->zps[0] = side_zps[n / SIDE_SCALES / SIDE_SCALES][i];
        }
        sides_fill(&s);
        taken = sides_check(&s, n % 8 == 0);
        onednn_case_free(&s.in), onednn_case_free(&s.out);
    }
    return taken;
}

// 1024 scales on one side, on the other side, or on both.
static bool requantize_channels(onednn_type from, onednn_type to) {
    bool taken = true;
    for (size_t n = 0; taken && n < 6; n++) {
        sides s = {.ports = n >= 3};
        onednn_case *cases[2] = {&s.in, &s.out};
        uint64_t seed = 3000 + n;
        for (int i = 0; i < 2; i++) {
            bool single = n % 3 == (size_t)i;
            cases[i]->scale_type = ONEDNN_F32;
            cases[i]->batch = (onednn_batch){ONEDNN_DEQUANTIZE, from, to, ONEDNN_CHANNELS};
            onednn_shape(cases[i], 1024, 256, single ? 1024 * 256 : 256);
            for (size_t p = 0; p < cases[i]->parameters; p++)
                cases[i]->scales[p] = onednn_any_scale(ONEDNN_F32, &seed);
            if (single) cases[i]->scales[0] = 0x3DD1A347;
        }
        sides_fill(&s);
        taken = sides_check(&s, n % 3 == 0);
        onednn_case_free(&s.in), onednn_case_free(&s.out);
    }
    return taken;
}

static void requantize_is_dequantize_and_then_quantize(void **state) {
    (void)state;
    static const onednn_type bytes[] = {ONEDNN_S8, ONEDNN_U8};
    for (size_t i = 0; i < 4; i++) {
        assert_true(requantize_tensors(bytes[i / 2], bytes[i % 2]));
        assert_true(requantize_channels(bytes[i / 2], bytes[i % 2]));
    }
}

// oneDNN's Dequantize and Quantize have no int32, so the target may refuse it; accepted graphs must
// give the right result. An int32 result ends at 2147483520.
static void requantize_of_int32_goes_through_float32_if_accepted(void **state) {
    (void)state;
    static const onednn_type pairs[][2] = {{ONEDNN_S32, ONEDNN_S8},
                                           {ONEDNN_S32, ONEDNN_U8},
                                           {ONEDNN_S8, ONEDNN_S32},
                                           {ONEDNN_S32, ONEDNN_S32}};
    for (size_t i = 0; i < UNIT_COUNT(pairs); i++)
        if (requantize_tensors(pairs[i][0], pairs[i][1]))
            assert_true(requantize_channels(pairs[i][0], pairs[i][1]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_model_gives_the_results_of_onednn),
        cmocka_unit_test(quantize_multiplies_adds_the_zero_point_and_rounds),
        cmocka_unit_test(dynamic_quantize_with_a_scale_computes_as_quantize),
        cmocka_unit_test(dequantize_subtracts_in_float32_and_multiplies),
        cmocka_unit_test(dequantize_with_a_scale_port_rounds_to_the_dtype_of_the_result),
        cmocka_unit_test(requantize_is_dequantize_and_then_quantize),
        cmocka_unit_test(requantize_of_int32_goes_through_float32_if_accepted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
