// SPDX-License-Identifier: Apache-2.0
// Blocks of an arena in a list by address; the gaps among them are also in a search tree by size.
#include "runtime/arena/sweep.h"

#include <stdint.h>
#include <stdlib.h>

//---- Blocks -----------------------------------------------------------------

enum { NONE = 0 };  // block 0 is no block

// A slot or a gap. Gaps never touch each other. The last block is a gap without an end.
typedef struct sweep_block {
    size_t begin, bytes;
    uint32_t below, above;         // neighbours
    uint32_t left, right, parent;  // in the tree of gaps
    uint32_t priority;             // greater than below it in the tree
    bool is_gap;
} block;

typedef struct arena {
    block *blocks;
    uint32_t count, root;
    uint32_t unused;  // blocks that were merged away, linked by `above`
    uint32_t random;
} arena;

// True if gap a comes before gap b: the smaller gap first, then the lower.
static bool precedes(const block *a, const block *b) {
    return a->bytes != b->bytes ? a->bytes < b->bytes : a->begin < b->begin;
}

//---- The tree of gaps -------------------------------------------------------

// Puts `child` where `old` hangs below its parent.
static void hang(arena *a, uint32_t old, uint32_t child) {
    uint32_t parent = a->blocks[old].parent;
    if (parent == NONE)
        a->root = child;
    else if (a->blocks[parent].left == old)
        a->blocks[parent].left = child;
    else
        a->blocks[parent].right = child;
    if (child != NONE) a->blocks[child].parent = parent;
}

// Exchanges a node and its parent, and keeps the order.
static void rotate_up(arena *a, uint32_t node) {
    block *b = a->blocks;
    uint32_t parent = b[node].parent, moved;
    hang(a, parent, node);
    if (b[parent].left == node) {
        moved = b[parent].left = b[node].right;
        b[node].right = parent;
    } else {
        moved = b[parent].right = b[node].left;
        b[node].left = parent;
    }
    b[parent].parent = node;
    if (moved != NONE) b[moved].parent = parent;
}

static void add_gap(arena *a, uint32_t gap) {
    block *b = a->blocks;
    uint32_t parent = NONE, at = a->root;
    a->random = a->random * 1664525u + 1013904223u;
    b[gap].is_gap = true;
    b[gap].priority = a->random;
    b[gap].left = b[gap].right = NONE;
    while (at != NONE) parent = at, at = precedes(&b[gap], &b[at]) ? b[at].left : b[at].right;
    b[gap].parent = parent;
    if (parent == NONE)
        a->root = gap;
    else if (precedes(&b[gap], &b[parent]))
        b[parent].left = gap;
    else
        b[parent].right = gap;
    while (b[gap].parent != NONE && b[b[gap].parent].priority < b[gap].priority) rotate_up(a, gap);
}

static void remove_gap(arena *a, uint32_t gap) {
    block *b = a->blocks;
    while (b[gap].left != NONE && b[gap].right != NONE) {
        bool left = b[b[gap].left].priority > b[b[gap].right].priority;
        rotate_up(a, left ? b[gap].left : b[gap].right);
    }
    hang(a, gap, b[gap].left != NONE ? b[gap].left : b[gap].right);
    b[gap].is_gap = false;
}

// Returns the smallest gap of at least `bytes`. The endless one is always large enough.
static uint32_t smallest_gap(const arena *a, size_t bytes) {
    uint32_t best = NONE;
    for (uint32_t at = a->root; at != NONE;) {
        bool fits = a->blocks[at].bytes >= bytes;
        if (fits) best = at;
        at = fits ? a->blocks[at].left : a->blocks[at].right;
    }
    return best;
}

//---- Taking and giving back -------------------------------------------------

static void clear(arena *a) {
    a->count = 2, a->root = NONE, a->unused = NONE, a->random = 1;
    a->blocks[1] = (block){.bytes = SIZE_MAX};
    add_gap(a, 1);
}

static uint32_t new_block(arena *a) {
    uint32_t made = a->unused;
    if (made == NONE) return a->count++;
    a->unused = a->blocks[made].above;
    return made;
}

// Takes the lower end of the smallest gap that is large enough, and returns the block.
static uint32_t take(arena *a, size_t bytes) {
    block *b = a->blocks;
    uint32_t taken = smallest_gap(a, bytes);
    remove_gap(a, taken);
    if (b[taken].bytes == bytes) return taken;
    uint32_t rest = new_block(a), above = b[taken].above;
    b[rest] = (block){.begin = b[taken].begin + bytes,
                      .bytes = b[taken].bytes - bytes,
                      .below = taken,
                      .above = above};
    if (above != NONE) b[above].below = rest;
    b[taken].above = rest;
    b[taken].bytes = bytes;
    add_gap(a, rest);
    return taken;
}

// Adds the block above to `lower`.
static void merge(arena *a, uint32_t lower) {
    block *b = a->blocks;
    uint32_t gone = b[lower].above;
    b[lower].bytes += b[gone].bytes;
    b[lower].above = b[gone].above;
    if (b[gone].above != NONE) b[b[gone].above].below = lower;
    b[gone].above = a->unused;
    a->unused = gone;
}

static void give_back(arena *a, uint32_t gap) {
    block *b = a->blocks;
    uint32_t above = b[gap].above, below = b[gap].below;
    if (above != NONE && b[above].is_gap) {
        remove_gap(a, above);
        merge(a, gap);
    }
    if (below != NONE && b[below].is_gap) {
        remove_gap(a, below);
        merge(a, below);
        gap = below;
    }
    add_gap(a, gap);
}

//---- The sweep --------------------------------------------------------------

// A slot as the sweep meets it: alive from `first` to `last`, counted from the moment in which the
// sweep begins. Slots with the same `first` are placed by ascending key.
typedef struct sweep_item {
    size_t first, last, key;
    uint32_t slot;
} item;

bool qdq_sweep_init(qdq_sweep *sweep, qdq_mempool *mempool, size_t count) {
    *sweep = (qdq_sweep){0};
    if (count > UINT32_MAX / 4) return false;
    sweep->starts = qdq_mempool_array(mempool, count, sizeof *sweep->starts);
    sweep->ends = qdq_mempool_array(mempool, count, sizeof *sweep->ends);
    sweep->held = qdq_mempool_array(mempool, count, sizeof *sweep->held);
    sweep->blocks = qdq_mempool_array(mempool, 2 * count + 2, sizeof *sweep->blocks);
    return sweep->starts && sweep->ends && sweep->held && sweep->blocks;
}

static int by_number(size_t a, size_t b) { return a < b ? -1 : a > b; }

static int earlier_start(const void *a, const void *b) {
    const item *x = a, *y = b;
    if (x->first != y->first) return by_number(x->first, y->first);
    if (x->key != y->key) return by_number(x->key, y->key);
    return by_number(x->slot, y->slot);
}

static int earlier_end(const void *a, const void *b) {
    const item *x = a, *y = b;
    if (x->last != y->last) return by_number(x->last, y->last);
    return by_number(x->slot, y->slot);
}

static size_t key_of(const qdq_slot *s, qdq_sweep_order order) {
    switch (order) {
    case QDQ_SWEEP_BY_END: return s->last_moment;
    case QDQ_SWEEP_BY_LENGTH: return s->last_moment - s->first_moment;
    case QDQ_SWEEP_BY_BYTES: return SIZE_MAX - s->bytes;
    default: return 0;
    }
}

// Collects the slots that the direction meets, and returns their count. Slots alive at `moment`
// come first in both directions, in the same order, and get the same offsets.
static size_t collect(qdq_sweep *sweep, const qdq_slot *slots, size_t count, size_t moment,
                      qdq_sweep_order order, bool backward) {
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const qdq_slot *s = &slots[i];
        size_t first = backward ? s->last_moment : s->first_moment;
        size_t last = backward ? s->first_moment : s->last_moment;
        if (backward ? last > moment : last < moment) continue;
        bool is_alive = backward ? first >= moment : first <= moment;
        item *met = &sweep->starts[n];
        met->slot = (uint32_t)i;
        met->first = is_alive ? 0 : backward ? moment - first : first - moment;
        met->last = backward ? moment - last : last - moment;
        met->key = is_alive ? key_of(s, order) : SIZE_MAX - s->bytes;
        sweep->ends[n++] = *met;
    }
    qsort(sweep->starts, n, sizeof(item), earlier_start);
    qsort(sweep->ends, n, sizeof(item), earlier_end);
    return n;
}

size_t qdq_sweep_place(qdq_sweep *sweep, qdq_slot *slots, size_t count, size_t moment,
                       qdq_sweep_order order) {
    size_t end = 0;
    for (int backward = 0; backward < 2; backward++) {
        arena a = {.blocks = sweep->blocks};
        size_t n = collect(sweep, slots, count, moment, order, backward);
        clear(&a);
        for (size_t i = 0, gone = 0; i < n; i++) {
            for (; sweep->ends[gone].last < sweep->starts[i].first; gone++)
                if (slots[sweep->ends[gone].slot].bytes)
                    give_back(&a, sweep->held[sweep->ends[gone].slot]);
            uint32_t id = sweep->starts[i].slot;
            qdq_slot *s = &slots[id];
            s->offset = 0;
            if (s->bytes == 0) continue;
            sweep->held[id] = take(&a, s->bytes);
            s->offset = a.blocks[sweep->held[id]].begin;
            if (s->offset + s->bytes > end) end = s->offset + s->bytes;
        }
    }
    return end;
}
