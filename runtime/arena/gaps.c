// SPDX-License-Identifier: Apache-2.0
// A segment tree over moments with sets of taken byte spans, for the memory plan.
#include "runtime/arena/gaps.h"

#include <string.h>

//---- Spans ------------------------------------------------------------------

typedef struct span {
    size_t begin, end;
} span;

// Sorted spans with gaps between them.
typedef struct span_set {
    span *items;
    size_t count, capacity;
} span_set;

// Returns the number of the first span that ends at `at` or above; `count` if there is none.
static size_t first_ending(const span_set *set, size_t at) {
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->items[middle].end < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

enum { SPANS_A_LOOK = 64 };  // spans that move in the time of a look

static bool add(qdq_mempool *mempool, span_set *set, span taken, size_t *looks) {
    size_t from = first_ending(set, taken.begin), to = from;
    for (; to < set->count && set->items[to].begin <= taken.end; to++) {
        if (set->items[to].begin < taken.begin) taken.begin = set->items[to].begin;
        if (set->items[to].end > taken.end) taken.end = set->items[to].end;
    }
    if (from == to) {
        span *items =
            qdq_mempool_grow(mempool, set->items, set->count, &set->capacity, sizeof *items);
        if (!items) return false;
        set->items = items;
    }
    memmove(&set->items[from + 1], &set->items[to], (set->count - to) * sizeof *set->items);
    *looks += (set->count - to) / SPANS_A_LOOK;
    set->items[from] = taken;
    set->count = set->count + 1 - (to - from);
    return true;
}

//---- The tree ---------------------------------------------------------------

// `always`: taken in all moments of the node, unless a node above already says so. `ever`: taken
// from one of its moments on. Two ranges of moments meet where one of them begins, so that a search
// needs only first moments: `ever` finds spans that begin in its range, and `always` of the nodes
// above its first moment finds spans that had begun before.
typedef struct qdq_gaps_node {
    span_set always, ever;
} node;

bool qdq_gaps_init(qdq_gaps *gaps, qdq_mempool *mempool, size_t moments) {
    *gaps = (qdq_gaps){.mempool = mempool, .leaves = 1};
    while (gaps->leaves < moments) gaps->leaves *= 2;
    gaps->nodes = qdq_mempool_array(mempool, 2 * gaps->leaves, sizeof *gaps->nodes);
    return gaps->nodes != NULL;
}

void qdq_gaps_clear(qdq_gaps *gaps) {
    for (size_t i = 0; i < 2 * gaps->leaves; i++)
        gaps->nodes[i].always.count = gaps->nodes[i].ever.count = 0;
}

bool qdq_gaps_take(qdq_gaps *gaps, size_t first, size_t last, size_t offset, size_t bytes) {
    span taken = {offset, offset + bytes};
    if (bytes == 0) return true;
    gaps->looks++;
    size_t low = gaps->leaves + first, high = gaps->leaves + last;
    for (size_t a = low; a > 0; a /= 2)
        if (!add(gaps->mempool, &gaps->nodes[a].ever, taken, &gaps->looks)) return false;
    for (size_t a = low, b = high + 1; a < b; a /= 2, b /= 2) {
        if (a % 2 && !add(gaps->mempool, &gaps->nodes[a++].always, taken, &gaps->looks))
            return false;
        if (b % 2 && !add(gaps->mempool, &gaps->nodes[--b].always, taken, &gaps->looks))
            return false;
    }
    return true;
}

//---- Searching --------------------------------------------------------------

// Bounds the sets that describe the taken bytes of a range of moments. Each level of the tree has
// at most five: `always` of a node above the first moment, and both sets of two nodes within the
// range.
enum { MAX_SETS = 5 * 64 };

static size_t push(const span_set **sets, size_t count, const span_set *set) {
    if (set->count) sets[count++] = set;
    return count;
}

static size_t sets_of(const qdq_gaps *gaps, size_t first, size_t last, const span_set **sets) {
    size_t count = 0, low = gaps->leaves + first, high = gaps->leaves + last;
    for (size_t a = low; a > 0; a /= 2) count = push(sets, count, &gaps->nodes[a].always);
    for (size_t a = low, b = high + 1; a < b; a /= 2, b /= 2) {
        if (a % 2) {
            count = push(sets, count, &gaps->nodes[a].always);
            count = push(sets, count, &gaps->nodes[a++].ever);
        }
        if (b % 2) {
            count = push(sets, count, &gaps->nodes[--b].always);
            count = push(sets, count, &gaps->nodes[b].ever);
        }
    }
    return count;
}

size_t qdq_gaps_lowest(qdq_gaps *gaps, size_t first, size_t last, size_t bytes) {
    const span_set *sets[MAX_SETS];
    size_t count = sets_of(gaps, first, last, sets), at = 0;
    // Moves `at` up until no set is in the way; the last `good` sets were not.
    for (size_t i = 0, good = 0; good < count; i = i + 1 < count ? i + 1 : 0, good++) {
        const span_set *set = sets[i];
        gaps->looks++;
        for (size_t k = first_ending(set, at + 1); k < set->count; k++) {
            gaps->looks++;
            if (set->items[k].begin >= at + bytes) break;
            at = set->items[k].end;
            good = 0;
        }
    }
    return at;
}

size_t qdq_gaps_highest(qdq_gaps *gaps, size_t first, size_t last, size_t bytes, size_t cap) {
    const span_set *sets[MAX_SETS];
    size_t count = sets_of(gaps, first, last, sets), at = cap;
    for (size_t i = 0, good = 0; good < count && at >= bytes;
         i = i + 1 < count ? i + 1 : 0, good++) {
        const span_set *set = sets[i];
        // k stays one past the spans that begin below `at`, while `at` moves down.
        for (size_t k = first_ending(set, at); at >= bytes;) {
            gaps->looks++;
            while (k < set->count && set->items[k].begin < at) k++;
            while (k > 0 && set->items[k - 1].begin >= at) k--;
            if (k == 0 || set->items[k - 1].end <= at - bytes) break;
            at = set->items[--k].begin;
            good = 0;
        }
    }
    return at >= bytes ? at - bytes : SIZE_MAX;
}
