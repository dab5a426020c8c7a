// SPDX-License-Identifier: Apache-2.0
// Dropped scratch memory is poisoned if the exec asks for poison, and untouched otherwise.
#include "ops/chunks.h"
#include "tests/unit.h"

enum { N = 100 };

// The scratch as it was when the last chunk was handed over.
static unsigned char seen[N];

static void sink(void *self, const qdq_chunk *chunk) {
    (void)self;
    assert_int_equal(chunk->n * chunk->count, N);
    memcpy(seen, chunk->data, N);
}

static void hand_over(bool poison, unsigned char *after) {
    qdq_tensors tensors = {.sink = sink, .poison = poison};
    qdq_chunks chunks;
    qdq_chunks_begin(&chunks, &tensors, QDQ_UINT8);
    memset(qdq_chunks_room(&chunks, 0, N), 7, N);
    qdq_chunks_end(&chunks);
    memcpy(after, chunks.buffer, N);
}

static void chunks_are_poisoned_after_they_are_handed_over(void **state) {
    (void)state;
    for (int poison = 0; poison < 2; poison++) {
        unsigned char after[N];
        hand_over(poison, after);
        for (size_t i = 0; i < N; i++) {
            assert_int_equal(seen[i], 7);
            assert_int_equal(after[i], poison ? 0xFF : 7);
        }
    }
}

static void dropping_without_poison_keeps_the_bytes(void **state) {
    (void)state;
    uint32_t scratch[4] = {1, 2, 3, 4};
    qdq_scratch_drop(false, scratch, sizeof scratch);
    assert_int_equal(scratch[3], 4);
    qdq_scratch_drop(true, scratch, 2 * sizeof *scratch);
    assert_int_equal(scratch[1], UINT32_MAX);
    assert_int_equal(scratch[2], 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_are_poisoned_after_they_are_handed_over),
        cmocka_unit_test(dropping_without_poison_keeps_the_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
