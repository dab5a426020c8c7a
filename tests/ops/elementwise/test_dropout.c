// SPDX-License-Identifier: Apache-2.0
// Dropout: its random generator (Philox) against the known answers of Random123, its masks against
// masks of oneDNN 3.13.
#include <math.h>

#include "ops/elementwise/philox.h"
#include "tests/network.h"

// From Random123, kat_vectors: philox4x32 with 10 rounds.
static void philox_gives_the_known_answers(void **state) {
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], words[4];
    } rows[] = {
        {{0}, {0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        uint32_t counter[4];
        memcpy(counter, rows[i].counter, sizeof counter);
        qdq_philox4x32(counter, rows[i].key[0], rows[i].key[1]);
        assert_memory_equal(counter, rows[i].words, sizeof counter);
    }
}

// Which of 32 elements oneDNN 3.13.2 keeps ('1').
static const struct {
    int64_t seed, offset;
    float probability;
    const char *mask;
} observed[] = {
    {42, 0, 0.5f, "11110000111111110000111100001111"},
    {42, 0, 0.7f, "11110000111111110000111100000000"},
    {-5, 0, 0.5f, "00001111000011110000000011111111"},
    {2147483647, 0, 0.5f, "11110000111100001111111100001111"},
    {42, 7, 0.5f, "00001000011011010111111011100111"},
    {8589934597, 0, 0.5f, "00001111111111111111111100001111"},
    {8589934634, 4294967303, 0.3f, "11011111110101111001111100011111"},
};

static void random_words_keep_the_elements_that_onednn_keeps(void **state) {
    (void)state;
    for (size_t k = 0; k < UNIT_COUNT(observed); k++)
        for (size_t i = 0; i < 32; i++) {
            uint32_t words[4];
            qdq_dropout_words((uint64_t)observed[k].seed, (uint64_t)observed[k].offset, i / 4,
                              words);
            bool kept = words[i % 4] > (double)observed[k].probability * 4294967295.0;
            assert_int_equal(kept, observed[k].mask[i] == '1');
        }
}

enum { COUNT = 9973 };

typedef struct dropout_run {
    qdq_dtype dtype;
    int32_t seed, offset;
    float probability;
    void *x, *y;
    uint8_t *mask;
    size_t count;
} dropout_run;

static qdq_value add_dropout(qdq_graph *g, qdq_dtype dtype, qdq_shape shape, qdq_bool keep_mask) {
    qdq_dropout_attrs attrs = {.name = "d", .keep_mask = keep_mask};
    qdq_value x = qdq_input(g, "x", dtype, shape);
    attrs.seed = qdq_input(g, "seed", QDQ_INT32, (qdq_shape){0});
    attrs.offset = qdq_input(g, "offset", QDQ_INT32, (qdq_shape){0});
    attrs.probability = qdq_input(g, "p", QDQ_FLOAT32, (qdq_shape){0});
    return qdq_dropout(g, x, attrs);
}

// Runs with y as the only output, with both outputs, and with the mask as the only one.
static void run_dropout(dropout_run *r) {
    network_tensor inputs[] = {{"x", r->dtype, r->x, r->count},
                               {"seed", QDQ_INT32, &r->seed, 1},
                               {"offset", QDQ_INT32, &r->offset, 1},
                               {"p", QDQ_FLOAT32, &r->probability, 1}};
    network_tensor y = {"y", r->dtype, r->y, r->count};
    network_tensor mask = {"mask", QDQ_UINT8, r->mask, r->count};
    size_t bytes = r->count * qdq_dtype_size(r->dtype);
    char *alone = malloc(bytes);
    assert_non_null(alone);
    for (int form = 0; form < 3; form++) {
        qdq_graph *g = qdq_graph_create("dropout", NULL);
        qdq_value v =
            add_dropout(g, r->dtype, QDQ_SHAPE((int64_t)r->count), form ? QDQ_TRUE : QDQ_UNSET);
        if (form < 2) qdq_output(g, "y", v);
        if (form > 0) qdq_output(g, "mask", qdq_port(g, v, "mask"));
        if (form < 2) network_run(g, inputs, 4, y);
        if (form == 0) memcpy(alone, r->y, bytes);
        if (form == 1) assert_memory_equal(alone, r->y, bytes);
        if (form > 0) network_run(g, inputs, 4, mask);
        qdq_graph_destroy(g);
    }
    free(alone);
}

static void kept_elements_are_scaled(void **state) {
    (void)state;
    static const qdq_dtype dtypes[] = {QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_FLOAT16};
    static float x[COUNT], y[COUNT];
    static uint8_t mask[COUNT];
    static char narrow[COUNT * 4], result[COUNT * 4];
    for (size_t d = 0; d < UNIT_COUNT(dtypes); d++)
        for (int offset = 0; offset < 2; offset++) {
            for (size_t i = 0; i < COUNT; i++) {  // 1 to 2 in steps of 1/64: exact in every dtype
                x[i] = 1 + (float)(i % 64) / 64;
                uint32_t bits;
                memcpy(&bits, &x[i], 4);
                uint16_t half = dtypes[d] == QDQ_FLOAT16 ? (uint16_t)(0x3C00 | (bits >> 13 & 0x3FF))
                                                         : (uint16_t)(bits >> 16);
                if (dtypes[d] == QDQ_FLOAT32)
                    memcpy(narrow + i * 4, &bits, 4);
                else
                    memcpy(narrow + i * 2, &half, 2);
            }
            // The factor 1 / (1 - 0.75) is 4, exact in every dtype.
            dropout_run r = {dtypes[d], 11, offset, 0.75f, narrow, result, mask, COUNT};
            run_dropout(&r);
            qdq_widen_float(dtypes[d], result, y, COUNT);
            size_t kept = 0;
            for (size_t i = 0; i < COUNT; i++) {
                uint32_t words[4];
                qdq_dropout_words(11, (uint64_t)offset, i / 4, words);
                bool wanted = words[i % 4] > 0.75 * 4294967295.0;
                assert_int_equal(mask[i], wanted);
                assert_true(y[i] == (wanted ? 4 * x[i] : 0));
                kept += wanted;
            }
            assert_true(kept > COUNT / 5 && kept < COUNT * 3 / 10);
        }
}

// With 0.3, oneDNN multiplies by the float32 reciprocal of 1 - 0.3.
static void the_factor_is_a_float32_reciprocal(void **state) {
    (void)state;
    static float x[COUNT], y[COUNT];
    static uint8_t mask[COUNT];
    for (size_t i = 0; i < COUNT; i++) x[i] = (float)i * 0.37f;
    dropout_run r = {QDQ_FLOAT32, 11, 3, 0.3f, x, y, mask, COUNT};
    run_dropout(&r);
    volatile float factor = 1.0f - 0.3f;
    factor = 1.0f / factor;
    for (size_t i = 0; i < COUNT; i++) {
        volatile float wanted = x[i] * factor;
        assert_true(y[i] == (mask[i] ? wanted : 0));
    }
}

static void probabilities_are_clamped(void **state) {
    (void)state;
    static const struct {
        float probability;
        bool kept;
    } rows[] = {{0, true}, {-3, true}, {1, false}, {2.5f, false}, {INFINITY, false}, {NAN, true}};
    float x[7] = {1, -2, INFINITY, NAN, 5, 6, 7}, y[7];
    uint8_t mask[7];
    for (size_t k = 0; k < UNIT_COUNT(rows); k++) {
        dropout_run r = {QDQ_FLOAT32, 1, 1, rows[k].probability, x, y, mask, 7};
        run_dropout(&r);
        for (size_t i = 0; i < 7; i++) {
            assert_int_equal(mask[i], rows[k].kept);
            if (!rows[k].kept)
                assert_true(y[i] == 0 && !signbit(y[i]));
            else
                assert_true(y[i] == x[i] || (isnan(y[i]) && isnan(x[i])));
        }
    }
}

static void a_seed_that_is_no_number_is_refused(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("bad", NULL);
    qdq_dropout_attrs attrs = {.name = "d"};
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4));
    attrs.seed = qdq_input(g, "seed", QDQ_INT32, QDQ_SHAPE(1));
    attrs.offset = qdq_input(g, "offset", QDQ_INT32, (qdq_shape){0});
    attrs.probability = qdq_input(g, "p", QDQ_FLOAT32, (qdq_shape){0});
    qdq_output(g, "y", qdq_dropout(g, x, attrs));
    network_refuses(g, "core/port-shape",
                    "node 'd': Dropout: seed has the shape [1], wanted []: one number");
    g = qdq_graph_create("bad", NULL);
    x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4));
    qdq_output(g, "y", qdq_dropout(g, x, (qdq_dropout_attrs){.name = "d"}));
    network_refuses(g, "core/port-missing", "node 'd': Dropout: seed is not connected");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_known_answers),
        cmocka_unit_test(random_words_keep_the_elements_that_onednn_keeps),
        cmocka_unit_test(kept_elements_are_scaled),
        cmocka_unit_test(the_factor_is_a_float32_reciprocal),
        cmocka_unit_test(probabilities_are_clamped),
        cmocka_unit_test(a_seed_that_is_no_number_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
