// SPDX-License-Identifier: Apache-2.0
// The free list: the worked sequences of tt-metal's allocator, a map of bytes that knows nothing
// of lists, and invariants over random allocations. QDQ_RANDOM is how many of them there are,
// QDQ_SEED repeats a run.
#include "runtime/arena/free_list.h"
#include "tests/unit.h"

static qdq_mempool mempool;

static int begin(void **state) {
    (void)state;
    qdq_mempool_init(&mempool, NULL);
    return 0;
}

static int end(void **state) {
    (void)state;
    qdq_mempool_release(&mempool);
    return 0;
}

static qdq_free_list list_of(uint64_t base, uint64_t bytes, uint64_t alignment) {
    qdq_free_list list;
    assert_true(qdq_free_list_init(&list, &mempool, base, bytes, alignment));
    return list;
}

static uint64_t take(qdq_free_list *list, uint64_t bytes, bool top_down) {
    uint64_t address = 0;
    assert_int_equal(qdq_free_list_allocate(list, bytes, top_down, 0, &address), QDQ_FITS);
    return address;
}

// The free blocks are exactly these, pairs of address and bytes.
static void check_free(const qdq_free_list *list, size_t count, uint64_t wanted[][2]) {
    assert_int_equal(list->free.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(list->free.items[i].address, wanted[i][0]);
        assert_int_equal(list->free.items[i].bytes, wanted[i][1]);
    }
}

//---- Worked sequences -------------------------------------------------------

static void l1_of_an_n150_is_taken_from_the_top(void **state) {
    (void)state;
    qdq_free_list list = list_of(103424, 1395712, 32);
    assert_int_equal(take(&list, 8192, true), 1490944);
    check_free(&list, 1, (uint64_t[][2]){{103424, 1387520}});
    assert_int_equal(take(&list, 32768, true), 1458176);
    check_free(&list, 1, (uint64_t[][2]){{103424, 1354752}});
    assert_int_equal(take(&list, 100, true), 1458048);
    check_free(&list, 1, (uint64_t[][2]){{103424, 1354624}});
    assert_true(qdq_free_list_release(&list, 1490944));
    check_free(&list, 2, (uint64_t[][2]){{103424, 1354624}, {1490944, 8192}});
    assert_int_equal(take(&list, 4096, true), 1495040);
    check_free(&list, 2, (uint64_t[][2]){{103424, 1354624}, {1490944, 4096}});
    assert_int_equal(take(&list, 8192, true), 1449856);
    check_free(&list, 2, (uint64_t[][2]){{103424, 1346432}, {1490944, 4096}});
    assert_int_equal(qdq_free_list_largest(&list), 1346432);
    assert_int_equal(list.bytes - list.allocated, 1350528);
    assert_true(qdq_free_list_release(&list, 1458176));
    check_free(&list, 2, (uint64_t[][2]){{103424, 1346432}, {1458176, 36864}});
    assert_int_equal(qdq_free_list_lowest(&list), 1449856);
}

static void dram_of_an_n150_is_taken_from_the_bottom(void **state) {
    (void)state;
    qdq_free_list list = list_of(32, 1073741824 - 32, 32);
    assert_int_equal(take(&list, 45056, false), 32);
    assert_int_equal(take(&list, 45056, false), 45088);
    assert_true(qdq_free_list_release(&list, 32));
    assert_int_equal(take(&list, 2048, false), 32);
}

// tt-metal's issue 35516: the exact hole lies lower and stays.
static void top_down_splits_the_highest_hole_and_leaves_an_exact_one(void **state) {
    (void)state;
    qdq_free_list list = list_of(0, 65536, 32);
    uint64_t high = take(&list, 16384, true);
    take(&list, 32, true);
    uint64_t exact = take(&list, 8192, true);
    take(&list, 32, true);
    assert_true(qdq_free_list_release(&list, high));
    assert_true(qdq_free_list_release(&list, exact));
    assert_int_equal(take(&list, 8192, true), high + 8192);
}

//---- Edges ------------------------------------------------------------------

static void an_address_is_given_only_within_one_free_block(void **state) {
    (void)state;
    qdq_free_list list = list_of(64, 1024, 32);
    assert_int_equal(qdq_free_list_allocate_at(&list, 100, 256), QDQ_FITS);
    check_free(&list, 2, (uint64_t[][2]){{64, 192}, {384, 704}});
    assert_int_equal(qdq_free_list_allocate_at(&list, 32, 256), QDQ_NO_ROOM);
    assert_int_equal(qdq_free_list_allocate_at(&list, 32, 352), QDQ_NO_ROOM);
    assert_int_equal(qdq_free_list_allocate_at(&list, 64, 224), QDQ_NO_ROOM);
    assert_int_equal(qdq_free_list_allocate_at(&list, 32, 32), QDQ_NO_ROOM);
    assert_int_equal(qdq_free_list_allocate_at(&list, 32, 1088), QDQ_NO_ROOM);
    assert_int_equal(qdq_free_list_allocate_at(&list, 64, 1056), QDQ_NO_ROOM);
    assert_int_equal(qdq_free_list_allocate_at(&list, UINT64_MAX, 64), QDQ_NO_ROOM);
    assert_int_equal(qdq_free_list_allocate_at(&list, 32, UINT64_MAX - 31), QDQ_NO_ROOM);
    assert_int_equal(qdq_free_list_allocate_at(&list, 32, 65), QDQ_UNALIGNED);
    assert_int_equal(qdq_free_list_allocate_at(&list, 32, 224), QDQ_FITS);
    assert_int_equal(qdq_free_list_allocate_at(&list, 192, 64), QDQ_NO_ROOM);
    assert_int_equal(qdq_free_list_allocate_at(&list, 160, 64), QDQ_FITS);
    check_free(&list, 1, (uint64_t[][2]){{384, 704}});
}

static void what_does_not_fit_changes_nothing(void **state) {
    (void)state;
    qdq_free_list list = list_of(1024, 4096, 64);
    uint64_t address = 7;
    assert_int_equal(qdq_free_list_allocate(&list, 4097, false, 0, &address), QDQ_NO_ROOM);
    assert_int_equal(qdq_free_list_allocate(&list, UINT64_MAX, true, 0, &address), QDQ_NO_ROOM);
    // Top-down the limit holds for the address found; the original has taken the block by then.
    assert_int_equal(qdq_free_list_allocate(&list, 2048, true, 3136, &address), QDQ_NO_ROOM);
    assert_int_equal(address, 7);
    check_free(&list, 1, (uint64_t[][2]){{1024, 4096}});
    assert_int_equal(list.peak, 0);
    assert_int_equal(qdq_free_list_allocate(&list, 2048, true, 3072, &address), QDQ_FITS);
    assert_int_equal(address, 3072);
    assert_int_equal(qdq_free_list_rounded(&list, 0), 64);
    assert_int_equal(qdq_free_list_rounded(&list, 65), 128);
}

static void only_an_allocation_can_be_freed_and_only_once(void **state) {
    (void)state;
    qdq_free_list list = list_of(0, 4096, 32);
    uint64_t at = take(&list, 64, false);
    assert_false(qdq_free_list_release(&list, at + 32));
    assert_false(qdq_free_list_release(&list, 64));
    assert_true(qdq_free_list_share(&list, at));
    assert_true(qdq_free_list_release(&list, at));
    assert_int_equal(list.allocated, 64);
    assert_true(qdq_free_list_release(&list, at));
    assert_int_equal(list.allocated, 0);
    assert_false(qdq_free_list_release(&list, at));
    assert_false(qdq_free_list_share(&list, at));
}

// Freed in order, each block is removed at the start, and the blocks behind it stay where they are.
static void blocks_freed_in_order_leave_the_others_in_place(void **state) {
    enum { COUNT = 1000 };
    (void)state;
    qdq_free_list list = list_of(0, 32 * COUNT, 32);
    for (uint64_t i = 0; i < COUNT; i++) assert_int_equal(take(&list, 32, false), 32 * i);
    const qdq_memory_block *first = list.taken.items;
    for (uint64_t i = 0; i + 1 < COUNT; i++) {
        assert_true(qdq_free_list_release(&list, 32 * i));
        assert_ptr_equal(list.taken.items, first + i + 1);
    }
    check_free(&list, 1, (uint64_t[][2]){{0, 32 * (COUNT - 1)}});
    for (uint64_t i = 0; i + 1 < COUNT; i++) assert_int_equal(take(&list, 32, false), 32 * i);
    assert_int_equal(list.free.count, 0);
}

static void an_empty_pool_has_no_room(void **state) {
    (void)state;
    qdq_free_list list = list_of(4096, 0, 32);
    uint64_t address;
    assert_int_equal(qdq_free_list_allocate(&list, 1, true, 0, &address), QDQ_NO_ROOM);
    assert_int_equal(qdq_free_list_allocate_at(&list, 1, 4096), QDQ_NO_ROOM);
    assert_int_equal(qdq_free_list_largest(&list), 0);
    assert_int_equal(qdq_free_list_lowest(&list), UINT64_MAX);
}

// Freeing needs no memory however many holes it makes: a list of n allocations has room for them.
static void every_other_one_of_many_can_be_freed(void **state) {
    (void)state;
    enum { MANY = 3000 };
    qdq_free_list list = list_of(0, MANY * 32, 32);
    for (size_t i = 0; i < MANY; i++) assert_int_equal(take(&list, 32, false), i * 32);
    mempool.failed = false;
    size_t capacity = list.free.capacity;
    for (size_t i = 0; i < MANY; i += 2) assert_true(qdq_free_list_release(&list, i * 32));
    assert_int_equal(list.free.count, MANY / 2);
    assert_int_equal(list.free.capacity, capacity);
    assert_true(list.free.count <= capacity);
    for (size_t i = 1; i < MANY; i += 2) assert_true(qdq_free_list_release(&list, i * 32));
    check_free(&list, 1, (uint64_t[][2]){{0, MANY * 32}});
}

static void without_memory_of_the_host_nothing_changes(void **state) {
    (void)state;
    bool fits = false;
    for (size_t fail_at = 1; !fits; fail_at++) {
        unit_memory memory;
        qdq_mempool small;
        qdq_free_list list;
        qdq_mempool_init(&small, unit_memory_init(&memory, fail_at));
        small.block_bytes = 1;
        uint64_t address, taken = 0;
        if (qdq_free_list_init(&list, &small, 0, 4096, 32)) {
            qdq_fit fit = QDQ_FITS;
            while (taken < 100 && fit == QDQ_FITS)
                if ((fit = qdq_free_list_allocate(&list, 32, true, 0, &address)) == QDQ_FITS)
                    taken++;
            fits = fit == QDQ_FITS;
            assert_true(fits || fit == QDQ_NO_MEMORY);
            assert_int_equal(list.allocated, taken * 32);
            assert_int_equal(list.taken.count, taken);
        }
        qdq_mempool_release(&small);
        unit_memory_check(&memory);
    }
}

//---- A map of units ---------------------------------------------------------

// What an allocator is at small scale: for each unit of memory who has it, 0: nobody.
enum { UNITS = 96, UNIT = 32, BASE = 64 };

typedef struct map {
    int owner[UNITS];
    int next;
} map;

static bool map_is_free(const map *m, size_t at, size_t units) {
    if (at + units > UNITS) return false;
    for (size_t i = 0; i < units; i++)
        if (m->owner[at + i]) return false;
    return true;
}

static void map_take(map *m, size_t at, size_t units) {
    m->next++;
    for (size_t i = 0; i < units; i++) m->owner[at + i] = m->next;
}

// The lowest or the highest place at which `units` are free; UNITS if there is none.
static size_t map_place(const map *m, size_t units, bool top_down) {
    for (size_t i = 0; i + units <= UNITS; i++) {
        size_t at = top_down ? UNITS - units - i : i;
        if (map_is_free(m, at, units)) return at;
    }
    return UNITS;
}

static size_t map_largest(const map *m) {
    size_t largest = 0, run = 0;
    for (size_t i = 0; i < UNITS; i++) {
        run = m->owner[i] ? 0 : run + 1;
        if (run > largest) largest = run;
    }
    return largest;
}

// The list says of each unit what the map says: walks the blocks in order.
static void map_check(const map *m, const qdq_free_list *list) {
    qdq_memory_block block;
    size_t unit = 0, lowest = UNITS, taken = 0;
    bool last_free = false;
    for (uint64_t at = BASE; unit < UNITS; at += block.bytes) {
        assert_true(qdq_free_list_block(list, at, &block));
        assert_int_equal(block.address, at);
        assert_true(block.bytes > 0 && block.bytes % UNIT == 0);
        assert_false(last_free && block.holders == 0);  // free neighbours are one block
        last_free = block.holders == 0;
        int owner = m->owner[unit];
        assert_int_equal(owner != 0, block.holders != 0);
        for (uint64_t i = 0; i < block.bytes / UNIT; i++) assert_int_equal(m->owner[unit++], owner);
        if (owner && lowest == UNITS) lowest = (at - BASE) / UNIT;
        if (owner) taken += block.bytes;
    }
    assert_int_equal(list->allocated, taken);
    assert_int_equal(qdq_free_list_largest(list), map_largest(m) * UNIT);
    assert_int_equal(qdq_free_list_lowest(list),
                     lowest == UNITS ? UINT64_MAX : BASE + lowest * UNIT);
}

static void map_free(map *m, qdq_free_list *list, size_t unit) {
    int owner = m->owner[unit];
    bool is_start = owner && (unit == 0 || m->owner[unit - 1] != owner);
    assert_int_equal(qdq_free_list_release(list, BASE + unit * UNIT), is_start);
    if (!is_start) return;
    for (size_t i = unit; i < UNITS && m->owner[i] == owner; i++) m->owner[i] = 0;
}

static void map_allocate_at(map *m, qdq_free_list *list, size_t at, size_t units) {
    bool is_free = map_is_free(m, at, units);
    assert_int_equal(qdq_free_list_allocate_at(list, units * UNIT, BASE + at * UNIT),
                     is_free ? QDQ_FITS : QDQ_NO_ROOM);
    if (is_free) map_take(m, at, units);
}

static void map_allocate(map *m, qdq_free_list *list, uint64_t bytes, bool top_down) {
    size_t units = bytes == 0 ? 1 : (bytes + UNIT - 1) / UNIT, at = map_place(m, units, top_down);
    uint64_t address;
    qdq_fit fit = qdq_free_list_allocate(list, bytes, top_down, BASE, &address);
    assert_int_equal(fit, at == UNITS ? QDQ_NO_ROOM : QDQ_FITS);
    if (at == UNITS) return;
    assert_int_equal(address, BASE + at * UNIT);
    map_take(m, at, units);
}

static uint64_t random_count = 30000, random_seed;

static void addresses_are_those_of_a_map_of_bytes(void **state) {
    (void)state;
    map m = {{0}, 0};
    qdq_free_list list = list_of(BASE, UNITS * UNIT, UNIT);
    uint64_t random = random_seed;
    for (uint64_t i = 0; i < random_count; i++) {
        uint64_t what = unit_random(&random) % 16, at = unit_random(&random) % UNITS;
        uint64_t bytes = unit_random(&random) % (unit_random(&random) % 8 ? 300 : 3500);
        if (what < 7)
            map_allocate(&m, &list, bytes, what % 2);
        else if (what < 9)
            map_allocate_at(&m, &list, at, 1 + bytes / UNIT);
        else
            map_free(&m, &list, at);
        map_check(&m, &list);
    }
}

//---- Invariants at full size ------------------------------------------------

typedef struct held {
    uint64_t address, bytes;
} held;

enum { HELD = 512 };

// Blocks cover the range in order without gaps or overlaps; free ones are merged; numbers agree.
static void check_invariants(const qdq_free_list *list, size_t holding, uint64_t bytes) {
    qdq_memory_block block;
    uint64_t at = list->base, taken = 0;
    size_t count = 0;
    bool last_free = false;
    for (; at < list->base + list->bytes; at += block.bytes) {
        assert_true(qdq_free_list_block(list, at, &block));
        assert_false(last_free && block.holders == 0);
        assert_int_equal(at % list->alignment, 0);
        last_free = block.holders == 0;
        count += block.holders != 0;
        taken += block.holders ? block.bytes : 0;
    }
    assert_int_equal(at, list->base + list->bytes);
    assert_int_equal(count, holding);
    assert_int_equal(taken, bytes);
    assert_int_equal(list->allocated, bytes);
}

static uint64_t rounded(uint64_t bytes) { return bytes < 64 ? 64 : (bytes + 63) / 64 * 64; }

static void invariants_hold_and_everything_merges_at_the_end(void **state) {
    (void)state;
    qdq_free_list list = list_of(111360, 1461504, 64);  // L1 of a p150
    held holding[HELD];
    size_t count = 0, peak = 0, bytes = 0;
    uint64_t random = random_seed;
    for (uint64_t i = 0; i < random_count; i++) {
        bool fill = unit_random(&random) % 64 < 33;
        uint64_t wanted = unit_random(&random) % (unit_random(&random) % 16 ? 8192 : 400000);
        uint64_t address;
        if (fill && count < HELD) {
            qdq_fit fit = qdq_free_list_allocate(&list, wanted, unit_random(&random) % 4 > 0,
                                                 111360, &address);
            if (fit == QDQ_NO_ROOM) assert_true(qdq_free_list_largest(&list) < rounded(wanted));
            if (fit == QDQ_NO_ROOM) continue;
            assert_int_equal(fit, QDQ_FITS);
            holding[count++] = (held){address, rounded(wanted)};
            bytes += rounded(wanted);
            if (bytes > peak) peak = bytes;
        } else if (count) {
            size_t which = unit_random(&random) % count;
            assert_true(qdq_free_list_release(&list, holding[which].address));
            bytes -= holding[which].bytes;
            holding[which] = holding[--count];
        }
        assert_int_equal(list.peak, peak);
        if (i % 16 == 0) check_invariants(&list, count, bytes);
    }
    while (count) assert_true(qdq_free_list_release(&list, holding[--count].address));
    check_free(&list, 1, (uint64_t[][2]){{111360, 1461504}});
    assert_int_equal(list.allocated, 0);
}

int main(void) {
    const char *count = getenv("QDQ_RANDOM"), *seed = getenv("QDQ_SEED");
    random_seed = (uint64_t)time(NULL);
    if (count) random_count = strtoull(count, NULL, 10);
    if (seed) random_seed = strtoull(seed, NULL, 10);
    if (random_seed == 0) random_seed = 1;
    print_message("%llu random cases, QDQ_SEED=%llu\n", (unsigned long long)random_count,
                  (unsigned long long)random_seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(l1_of_an_n150_is_taken_from_the_top),
        cmocka_unit_test(dram_of_an_n150_is_taken_from_the_bottom),
        cmocka_unit_test(top_down_splits_the_highest_hole_and_leaves_an_exact_one),
        cmocka_unit_test(an_address_is_given_only_within_one_free_block),
        cmocka_unit_test(what_does_not_fit_changes_nothing),
        cmocka_unit_test(only_an_allocation_can_be_freed_and_only_once),
        cmocka_unit_test(blocks_freed_in_order_leave_the_others_in_place),
        cmocka_unit_test(an_empty_pool_has_no_room),
        cmocka_unit_test(every_other_one_of_many_can_be_freed),
        cmocka_unit_test(without_memory_of_the_host_nothing_changes),
        cmocka_unit_test(addresses_are_those_of_a_map_of_bytes),
        cmocka_unit_test(invariants_hold_and_everything_merges_at_the_end),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
