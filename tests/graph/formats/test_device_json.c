// SPDX-License-Identifier: Apache-2.0
// Descriptions of devices in JSON: each key, what may be left out, and what is refused.
#include "include/qdq/device.h"
#include "tests/unit.h"

static qdq_device parse(const char *text) {
    qdq_device device;
    qdq_error err = {0};
    qdq_device_parse(text, strlen(text), "d.json", NULL, &device, &err);
    assert_string_equal(err.text, "");
    return device;
}

static void a_harvested_chip_is_its_name_and_its_grid(void **state) {
    (void)state;
    qdq_device device = parse("{\"chip\": \"p150\", \"name\": \"p150-120\", \"grid_x\": 12}");
    qdq_device p150 = *qdq_device_find("p150", NULL);
    assert_string_equal(device.name, "p150-120");
    assert_int_equal(device.grid_x, 12);
    assert_int_equal(device.grid_y, 10);
    assert_int_equal(device.arch, QDQ_BLACKHOLE);
    assert_int_equal(device.l1_base, p150.l1_base);
    assert_int_equal(device.dram_bank_size, p150.dram_bank_size);
}

static void every_number_can_be_given(void **state) {
    (void)state;
    qdq_device d =
        parse("{\"name\": \"mine\", \"arch\": \"wormhole\", \"grid_x\": 2, \"grid_y\": 4,"
              " \"dram_banks\": 7, \"dram_bank_size\": 65536, \"dram_base\": 64,"
              " \"dram_alignment\": 64, \"l1_size\": 4096, \"l1_base\": 1024,"
              " \"l1_alignment\": 16, \"l1_small_size\": 100, \"trace_region_size\": 300,"
              " \"x-note\": [1, 2]}");
    const uint64_t wanted[] = {2, 4, 7, 65536, 64, 64, 4096, 1024, 16, 100, 300};
    const uint64_t got[] = {d.grid_x,       d.grid_y,         d.dram_banks,       d.dram_bank_size,
                            d.dram_base,    d.dram_alignment, d.l1_size,          d.l1_base,
                            d.l1_alignment, d.l1_small_size,  d.trace_region_size};
    assert_string_equal(d.name, "mine");
    assert_int_equal(d.arch, QDQ_WORMHOLE);
    assert_memory_equal(got, wanted, sizeof wanted);
}

static void a_file_is_read_as_text_is(void **state) {
    (void)state;
    char path[256];
    qdq_device device;
    qdq_error err = {0};
    static const char text[] = "{\"chip\": \"n300\", \"l1_small_size\": 24576}";
    unit_write(unit_path(path, "device.json"), text, sizeof text - 1);
    assert_int_equal(qdq_device_load(path, NULL, &device, &err), QDQ_OK);
    assert_string_equal(device.name, "n300");
    assert_int_equal(device.l1_small_size, 24576);
    unit_path(path, "none.json");
    assert_int_equal(qdq_device_load(path, NULL, &device, &err), QDQ_ERR_IO);
    assert_int_equal(strncmp(err.text, path, strlen(path)), 0);
}

static void what_is_no_device_is_refused_with_a_sentence(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[]", "a device is an array, wanted an object"},
        {"{\"chip\": \"n151\"}",
         "chip: there is no device 'n151', wanted n150, n300, p100, p150 or none"},
        {"{\"chip\": \"none\"}", "chip: 'none' is no chip, wanted n150, n300, p100 or p150"},
        {"{\"chip\": 5}", "chip is a number, wanted a string"},
        {"{\"chip\": \"n150\", \"grid\": 5}", "a device has no key 'grid'"},
        {"{\"chip\": \"n150\", \"gridx\": 5}",
         "a device has no key 'gridx', did you mean 'grid_x'?"},
        {"{\"chip\": \"n150\", \"grid_x\": 1.5}",
         "grid_x is a number, wanted a whole number of 0 or more"},
        {"{\"chip\": \"n150\", \"grid_x\": -1}",
         "grid_x is a number, wanted a whole number of 0 or more"},
        {"{\"chip\": \"n150\", \"grid_x\": 65}", "grid_x is 65, wanted 1 to 64"},
        {"{\"chip\": \"n150\", \"arch\": \"grayskull\"}",
         "arch is 'grayskull', wanted wormhole or blackhole"},
        {"{\"chip\": \"n150\", \"name\": \"0123456789012345678901234567890x\"}",
         "name has 32 bytes, wanted at most 31"},
        {"{}", "arch is 0, wanted wormhole or blackhole"},
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        qdq_device device = {.grid_x = 77};
        qdq_error err = {0};
        assert_int_equal(
            qdq_device_parse(cases[i].text, strlen(cases[i].text), "d.json", NULL, &device, &err),
            QDQ_ERR_PARSE);
        unit_check_error(&err, QDQ_ERR_PARSE, "d.json", cases[i].message);
        assert_int_equal(device.grid_x, 77);
    }
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    static const char text[] = "{\"chip\": \"n300\", \"name\": \"a\", \"x-y\": [1, \"z\"]}";
    qdq_status status = QDQ_ERR_MEMORY;
    for (size_t fail_at = 1; status != QDQ_OK; fail_at++) {
        unit_memory memory;
        qdq_device device;
        qdq_error err = {0};
        status = qdq_device_parse(text, sizeof text - 1, NULL, unit_memory_init(&memory, fail_at),
                                  &device, &err);
        assert_int_equal(status, memory.calls < fail_at ? QDQ_OK : QDQ_ERR_MEMORY);
        unit_memory_check(&memory);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_harvested_chip_is_its_name_and_its_grid),
        cmocka_unit_test(every_number_can_be_given),
        cmocka_unit_test_setup_teardown(a_file_is_read_as_text_is, unit_folder_begin,
                                        unit_folder_end),
        cmocka_unit_test(what_is_no_device_is_refused_with_a_sentence),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
