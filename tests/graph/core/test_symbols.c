// SPDX-License-Identifier: Apache-2.0
// The table of names: adding and finding, failing allocations, and refused floods of colliding
// names.
#include "graph/core/symbols.h"
#include "tests/unit.h"

static const unsigned char counting_key[16] = {0, 1, 2,  3,  4,  5,  6,  7,
                                               8, 9, 10, 11, 12, 13, 14, 15};

static qdq_status add(qdq_symbols *symbols, const char *name, uint32_t value, qdq_error *err) {
    return qdq_symbols_add(symbols, name, strlen(name), value, err);
}

// From the reference vectors of SipHash's authors: the messages 00, 01, 02 ... of each length.
static void siphash_equals_the_reference(void **state) {
    (void)state;
    static const struct {
        size_t length;
        uint64_t hash;
    } cases[] = {
        {0, 0x726fdb47dd0e0e31},  {1, 0x74f839c593dc67fd},  {7, 0xab0200f58b01d137},
        {8, 0x93f5f5799a932462},  {15, 0xa129ca6149be45e5}, {16, 0x3f2acc7f57c29bdb},
        {63, 0x958a324ceb064572},
    };
    unsigned char message[63];
    for (size_t i = 0; i < sizeof message; i++) message[i] = (unsigned char)i;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++)
        assert_true(qdq_siphash(counting_key, message, cases[i].length) == cases[i].hash);
    assert_true(qdq_siphash(counting_key, NULL, 0) == cases[0].hash);
}

static void added_names_are_found(void **state) {
    (void)state;
    enum { COUNT = 50000 };
    unit_memory memory;
    qdq_error err = {0};
    char name[32];
    uint32_t value;
    qdq_symbols *symbols = qdq_symbols_create(unit_memory_init(&memory, 0), &err);
    assert_non_null(symbols);
    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "node.%u", i);
        assert_int_equal(add(symbols, name, i * 3, &err), QDQ_OK);
        assert_int_equal(qdq_symbols_count(symbols), i + 1);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "node.%u", i);
        assert_true(qdq_symbols_find(symbols, name, strlen(name), &value));
        assert_int_equal(value, i * 3);
        assert_false(qdq_symbols_find(symbols, name, strlen(name) + 1, &value));
    }
    assert_false(qdq_symbols_find(symbols, "node", 4, &value));
    assert_false(qdq_symbols_find(symbols, "NODE.1", 6, &value));
    assert_int_equal(err.status, QDQ_OK);
    qdq_symbols_destroy(symbols);
    unit_memory_check(&memory);
}

static void names_are_copied_and_may_hold_any_bytes(void **state) {
    (void)state;
    qdq_symbols *symbols = qdq_symbols_create(NULL, NULL);
    assert_non_null(symbols);
    char name[] = "a\0b";
    uint32_t value;
    assert_int_equal(qdq_symbols_add(symbols, name, 3, 1, NULL), QDQ_OK);
    assert_int_equal(qdq_symbols_add(symbols, name, 1, 2, NULL), QDQ_OK);
    assert_int_equal(qdq_symbols_add(symbols, NULL, 0, 3, NULL), QDQ_OK);
    name[2] = 'c';
    assert_false(qdq_symbols_find(symbols, name, 3, &value));
    assert_true(qdq_symbols_find(symbols, "a\0b", 3, &value));
    assert_int_equal(value, 1);
    assert_true(qdq_symbols_find(symbols, "a", 1, &value));
    assert_int_equal(value, 2);
    assert_true(qdq_symbols_find(symbols, "", 0, &value));
    assert_int_equal(value, 3);
    assert_true(qdq_symbols_find(symbols, NULL, 0, NULL));
    qdq_symbols_destroy(symbols);
    qdq_symbols_destroy(NULL);
}

static void a_name_is_added_once(void **state) {
    (void)state;
    qdq_error err = {0};
    uint32_t value;
    qdq_symbols *symbols = qdq_symbols_create(NULL, &err);
    assert_int_equal(add(symbols, "x\n", 1, &err), QDQ_OK);
    assert_int_equal(add(symbols, "x\n", 2, &err), QDQ_ERR_ARGUMENT);
    assert_int_equal(err.status, QDQ_ERR_ARGUMENT);
    assert_string_equal(err.text, "name 'x?' is there already");
    assert_int_equal(qdq_symbols_count(symbols), 1);
    assert_true(qdq_symbols_find(symbols, "x\n", 2, &value));
    assert_int_equal(value, 1);
    qdq_symbols_destroy(symbols);
}

static void names_have_a_length_limit(void **state) {
    (void)state;
    qdq_error err = {0};
    qdq_symbols *symbols = qdq_symbols_create(NULL, &err);
    size_t length = (size_t)INT32_MAX + 1;
    assert_int_equal(qdq_symbols_add(symbols, "x", length, 1, &err), QDQ_ERR_LIMIT);
    assert_string_equal(err.text, "a name of 2147483648 bytes is too long");
    assert_false(qdq_symbols_find(symbols, "x", length, NULL));
    qdq_symbols_destroy(symbols);
}

static void truncating_forgets_the_newest(void **state) {
    (void)state;
    unit_memory memory;
    char name[16];
    qdq_symbols *symbols = qdq_symbols_create(unit_memory_init(&memory, 0), NULL);
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < 1000; i++) {
            snprintf(name, sizeof name, "%u", i);
            qdq_status wanted = round > 0 && i < 10 ? QDQ_ERR_ARGUMENT : QDQ_OK;
            assert_int_equal(add(symbols, name, i, NULL), wanted);
        }
        qdq_symbols_truncate(symbols, 10);
        assert_int_equal(qdq_symbols_count(symbols), 10);
        for (uint32_t i = 0; i < 1000; i++) {
            snprintf(name, sizeof name, "%u", i);
            assert_int_equal(qdq_symbols_find(symbols, name, strlen(name), NULL), i < 10);
        }
    }
    qdq_symbols_truncate(symbols, 11);
    assert_int_equal(qdq_symbols_count(symbols), 10);
    qdq_symbols_truncate(symbols, 0);
    assert_int_equal(qdq_symbols_count(symbols), 0);
    assert_int_equal(memory.live_blocks, 1);
    qdq_symbols_destroy(symbols);
    unit_memory_check(&memory);
}

// Adds 1000 names, so that the table grows more than once.
static qdq_status build(const qdq_allocator *allocator, qdq_error *err) {
    qdq_status status = QDQ_OK;
    qdq_symbols *symbols = qdq_symbols_create_keyed(allocator, counting_key, err);
    if (!symbols) return QDQ_ERR_MEMORY;
    for (uint32_t i = 0; i < 1000 && status == QDQ_OK; i++) {
        char name[16];
        snprintf(name, sizeof name, "%u", i);
        status = add(symbols, name, i, err);
        size_t wanted = status == QDQ_OK ? i + 1 : i;
        assert_int_equal(qdq_symbols_count(symbols), wanted);
        assert_int_equal(qdq_symbols_find(symbols, name, strlen(name), NULL), status == QDQ_OK);
        assert_int_equal(qdq_symbols_find(symbols, "0", 1, NULL), wanted > 0);
    }
    qdq_symbols_destroy(symbols);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    unit_memory memory;
    assert_int_equal(build(unit_memory_init(&memory, 0), NULL), QDQ_OK);
    size_t calls = memory.calls;
    assert_true(calls > 1000);
    for (size_t n = 1; n <= 2 * calls; n++) {
        qdq_error err = {0};
        const qdq_allocator *allocator = unit_memory_init(&memory, (n + 1) / 2);
        memory.once = n % 2;
        assert_int_equal(build(allocator, &err), QDQ_ERR_MEMORY);
        assert_int_equal(err.status, QDQ_ERR_MEMORY);
        assert_int_equal(strncmp(err.text, "out of memory: ", 15), 0);
        unit_memory_check(&memory);
    }
}

// After a failed call the table still works once there is memory.
static void a_failed_add_changes_nothing(void **state) {
    (void)state;
    unit_memory memory;
    char name[16];
    qdq_symbols *symbols =
        qdq_symbols_create_keyed(unit_memory_init(&memory, 0), counting_key, NULL);
    for (uint32_t i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "%u", i);
        for (size_t n = 1;; n++) {
            memory.fail_at = memory.calls + n;
            if (add(symbols, name, i, NULL) == QDQ_OK) break;
            assert_int_equal(qdq_symbols_count(symbols), i);
        }
    }
    memory.fail_at = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t value;
        snprintf(name, sizeof name, "%u", i);
        assert_true(qdq_symbols_find(symbols, name, strlen(name), &value));
        assert_int_equal(value, i);
    }
    qdq_symbols_destroy(symbols);
    unit_memory_check(&memory);
}

// The next name whose hash ends in 12 zero bits under the counting key.
static void next_colliding(char name[16], uint32_t *number) {
    do snprintf(name, 16, "%u", (*number)++);
    while (qdq_siphash(counting_key, name, strlen(name)) & 0xFFF);
}

static void a_flood_of_colliding_names_is_refused(void **state) {
    (void)state;
    qdq_error err = {0};
    uint32_t number = 0, added = 0;
    char name[16];
    qdq_status status = QDQ_OK;
    unit_memory memory;
    double start = unit_seconds();
    qdq_symbols *symbols =
        qdq_symbols_create_keyed(unit_memory_init(&memory, 0), counting_key, &err);
    for (; status == QDQ_OK && added < 1000; added++) {
        next_colliding(name, &number);
        status = add(symbols, name, added, &err);
    }
    assert_int_equal(status, QDQ_ERR_LIMIT);
    assert_string_equal(err.text, "too many colliding names");
    assert_int_equal(qdq_symbols_count(symbols), added - 1);
    assert_false(qdq_symbols_find(symbols, name, strlen(name), NULL));
    assert_int_equal(add(symbols, "harmless", 0, NULL), QDQ_ERR_LIMIT);
    qdq_symbols_destroy(symbols);
    unit_memory_check(&memory);

    // With another key the same names do not collide.
    number = 0;
    symbols = qdq_symbols_create(NULL, NULL);
    for (uint32_t i = 0; i < added; i++) {
        next_colliding(name, &number);
        assert_int_equal(add(symbols, name, i, NULL), QDQ_OK);
    }
    qdq_symbols_destroy(symbols);
    assert_true(unit_seconds() - start < 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siphash_equals_the_reference),
        cmocka_unit_test(added_names_are_found),
        cmocka_unit_test(names_are_copied_and_may_hold_any_bytes),
        cmocka_unit_test(a_name_is_added_once),
        cmocka_unit_test(names_have_a_length_limit),
        cmocka_unit_test(truncating_forgets_the_newest),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_failed_add_changes_nothing),
        cmocka_unit_test(a_flood_of_colliding_names_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
