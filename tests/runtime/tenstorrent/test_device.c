// SPDX-License-Identifier: Apache-2.0
// Devices: the numbers of each chip, its pools, and what is no device.
#include "tests/runtime/tenstorrent/device_cases.h"

// tt-metal's descriptors and dev_mem_map; the allocatable L1 of Blackhole was measured as well.
static void every_chip_has_the_numbers_of_its_descriptor(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint64_t cores, dram_banks, dram_bank, dram_base, dram_align, l1, l1_base, l1_allocatable;
    } wanted[] = {
        {"n150", 64, 12, 1073741824, 32, 32, 1499136, 103424, 1395712},
        {"n300", 56, 12, 1073741824, 32, 32, 1499136, 103424, 1395712},
        {"p100", 110, 7, 4278190080, 64, 64, 1572864, 111360, 1461504},
        {"p150", 130, 8, 4278190080, 64, 64, 1572864, 111360, 1461504},
    };
    size_t count = 0;
    assert_non_null(qdq_devices(&count));
    assert_int_equal(count, UNIT_COUNT(wanted));
    for (size_t i = 0; i < count; i++) {
        const qdq_device *d = qdq_device_find(wanted[i].name, NULL);
        qdq_device_pool l1, dram;
        assert_ptr_equal(d, &qdq_devices(NULL)[i]);
        assert_int_equal(qdq_device_check(d, NULL), QDQ_OK);
        assert_true(qdq_device_pool_of(d, QDQ_L1, &l1));
        assert_true(qdq_device_pool_of(d, QDQ_DRAM, &dram));
        assert_int_equal(l1.banks, wanted[i].cores);
        assert_int_equal(l1.base, wanted[i].l1_base);
        assert_int_equal(l1.bytes, wanted[i].l1_allocatable);
        assert_int_equal(l1.base + l1.bytes, wanted[i].l1);
        assert_int_equal(l1.page_alignment, 16);
        assert_int_equal(l1.alignment, wanted[i].dram_align);
        assert_true(l1.top_down);
        assert_int_equal(dram.banks, wanted[i].dram_banks);
        assert_int_equal(dram.base, wanted[i].dram_base);
        assert_int_equal(dram.base + dram.bytes, wanted[i].dram_bank);
        assert_int_equal(dram.page_alignment, wanted[i].dram_align);
        assert_false(dram.top_down);
    }
}

// A measured out-of-memory text of a p150 has a bank size of 4,273,390,016.
static void trace_takes_the_top_of_each_dram_bank(void **state) {
    (void)state;
    qdq_device device = device_named("p150");
    qdq_device_pool dram, trace;
    device.trace_region_size = 38400000;
    assert_true(qdq_device_pool_of(&device, QDQ_DRAM, &dram));
    assert_true(qdq_device_pool_of(&device, QDQ_TRACE, &trace));
    assert_int_equal(dram.bytes, 4273390016);
    assert_int_equal(trace.bytes, 4800000);
    assert_int_equal(trace.base, dram.base + dram.bytes);
    assert_int_equal(trace.base + trace.bytes, 4278190080);
    assert_true(trace.top_down);
    device.trace_region_size = 1;  // rounded to the alignment times the banks
    assert_true(qdq_device_pool_of(&device, QDQ_TRACE, &trace));
    assert_int_equal(trace.bytes, 64);
}

static void l1_small_takes_the_top_of_each_l1_bank(void **state) {
    (void)state;
    qdq_device device = device_named("n150");
    qdq_device_pool l1, small;
    assert_true(qdq_device_pool_of(&device, QDQ_L1_SMALL, &small));
    assert_int_equal(small.bytes, 0);
    device.l1_small_size = 24570;  // rounded to 24,576
    assert_true(qdq_device_pool_of(&device, QDQ_L1, &l1));
    assert_true(qdq_device_pool_of(&device, QDQ_L1_SMALL, &small));
    assert_int_equal(l1.bytes, 1395712 - 24576);
    assert_int_equal(small.base, 1499136 - 24576);
    assert_int_equal(small.bytes, 24576);
    assert_int_equal(small.banks, 64);
}

static void the_host_has_no_pool(void **state) {
    (void)state;
    qdq_device device = device_named("n150");
    qdq_device_pool pool;
    assert_false(qdq_device_pool_of(&device, QDQ_SYSTEM_MEMORY, &pool));
    assert_false(qdq_device_pool_of(&device, (qdq_buffer_type)5, &pool));
}

static void check_refuses(qdq_device device, const char *text) {
    qdq_error err = {0};
    assert_int_equal(qdq_device_check(&device, &err), QDQ_ERR_ARGUMENT);
    assert_string_equal(err.text, text);
}

static void numbers_that_no_device_can_have_are_refused(void **state) {
    (void)state;
    qdq_device d = device_named("n150");
    d.grid_x = 0;
    check_refuses(d, "grid_x is 0, wanted 1 to 64");
    d.grid_x = UINT64_MAX;
    check_refuses(d, "grid_x is 18446744073709551615, wanted 1 to 64");
    d.grid_x = 11;
    check_refuses(d,
                  "pages cannot be interleaved over 12 DRAM banks and 88 cores: wanted powers of "
                  "two or 7, 12, 20, 48, 56, 63, 70, 72, 80, 94, 108, 110, 117, 120, 124, 126, "
                  "130, 140");
    d = device_named("n150");
    d.l1_base = 103425;
    check_refuses(d, "l1_base is 103425, wanted a multiple of the DRAM alignment, 32");
    d.l1_base = 1499136;
    check_refuses(d, "l1_base 1499136 and l1_small_size 0 leave nothing of l1_size 1499136");
    d = device_named("n150");
    d.dram_alignment = 48;
    check_refuses(d, "l1_alignment is 16 and dram_alignment 48, wanted powers of two, the first at "
                     "most the second");
    d = device_named("n150");
    d.trace_region_size = 12884901888;
    check_refuses(d, "dram_base 32 and 1073741824 bytes of trace in each bank leave nothing of "
                     "dram_bank_size 1073741824");
    d = device_named("n150");
    d.arch = QDQ_ARCH_NONE;
    check_refuses(d, "arch is 0, wanted wormhole or blackhole");
}

static void an_unknown_device_is_told_which_there_are(void **state) {
    (void)state;
    qdq_error err = {0};
    assert_null(qdq_device_find("n200", &err));
    assert_int_equal(err.status, QDQ_ERR_ARGUMENT);
    assert_string_equal(err.text,
                        "there is no device 'n200', wanted n150, n300, p100, p150 or none");
}

static void names_are_those_of_ttnn(void **state) {
    (void)state;
    assert_string_equal(qdq_buffer_type_name(QDQ_DRAM), "DRAM");
    assert_string_equal(qdq_buffer_type_name((qdq_buffer_type)3), "L1_SMALL");
    assert_string_equal(qdq_buffer_type_name((qdq_buffer_type)4), "TRACE");
    assert_string_equal(qdq_memory_layout_name(QDQ_HEIGHT_SHARDED), "HEIGHT_SHARDED");
    assert_string_equal(qdq_buffer_type_name((qdq_buffer_type)5), "none");
    assert_string_equal(qdq_memory_layout_name((qdq_memory_layout)4), "ND_SHARDED");
    assert_string_equal(qdq_memory_layout_name((qdq_memory_layout)5), "none");
    assert_string_equal(qdq_memory_layout_name(QDQ_ND_SHARDED), "ND_SHARDED");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chip_has_the_numbers_of_its_descriptor),
        cmocka_unit_test(trace_takes_the_top_of_each_dram_bank),
        cmocka_unit_test(l1_small_takes_the_top_of_each_l1_bank),
        cmocka_unit_test(the_host_has_no_pool),
        cmocka_unit_test(numbers_that_no_device_can_have_are_refused),
        cmocka_unit_test(an_unknown_device_is_told_which_there_are),
        cmocka_unit_test(names_are_those_of_ttnn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
