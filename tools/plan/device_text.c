// SPDX-License-Identifier: Apache-2.0
#include "tools/plan/device_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/shape_text.h"
#include "tools/plan/device_view.h"

enum { BAR_COLUMNS = 64 };

typedef unsigned long long ull;

//---- Pools ------------------------------------------------------------------

static const char *step_name(const qdq_device_plan *p, size_t step, char out[128]) {
    if (step >= p->step_count) return "before the first";
    snprintf(out, 128, "step %zu, %.80s: %s", step, p->steps[step].node, p->steps[step].program);
    return out;
}

static void print_pool(const qdq_device_plan *p, qdq_buffer_type type) {
    const qdq_pool_info *pool = &p->pools[type];
    char name[128];
    if (!pool->bytes) return;
    printf("%-16s %llu banks of %llu bytes from %llu; peak %llu", qdq_buffer_type_name(type),
           (ull)pool->banks, (ull)pool->bytes, (ull)pool->base, (ull)pool->peak);
    if (pool->peak) printf(" (%s)", step_name(p, pool->peak_step, name));
    printf(", after the run %llu, fragmentation %.1f %%\n", (ull)pool->end.allocated,
           fragmentation(&pool->end));
}

static void print_summary(const qdq_device_plan *p) {
    const qdq_device *d = p->device;
    printf("\ndevice           %s, %s, %llux%llu cores; bytes and addresses of one bank\n", d->name,
           arch_text(d->arch), (ull)d->grid_x, (ull)d->grid_y);
    for (int type = 0; type < QDQ_POOLS; type++) print_pool(p, (qdq_buffer_type)type);
    printf("circular buffers at most %llu bytes of a core, with the tensors in L1 %llu\n",
           (ull)p->peak_circular, (ull)p->peak_l1);
}

//---- Bars -------------------------------------------------------------------

// A range of addresses as columns.
typedef struct bar {
    uint64_t base, bytes;
    char row[BAR_COLUMNS + 1];
} bar;

static size_t column_of(const bar *b, uint64_t address) {
    if (address <= b->base) return 0;
    return (size_t)((double)(address - b->base) * BAR_COLUMNS / (double)b->bytes);
}

typedef struct columns {
    size_t begin, end;
} columns;

// Returns the columns of a block, at least one, without those that are already drawn: before
// `limit` if drawing from the left, else from `limit` on.
static columns columns_of(const bar *b, const block *one, bool from_left, size_t limit) {
    size_t begin = column_of(b, one->address), end = column_of(b, one->address + one->bytes);
    if (from_left) {
        if (begin < limit) begin = limit;
        return (columns){begin, end > begin ? end : begin + 1};
    }
    if (end > limit) end = limit;
    if (begin >= end) begin = end ? end - 1 : 0;
    return (columns){begin, end};
}

// Draws the taken blocks of a pool, in the direction in which tensors are allocated: from the left
// in DRAM, from the right elsewhere. A block narrower than a column still gets a column, which
// shifts the following blocks.
static void draw(bar *b, const block *blocks, size_t count, bool from_left) {
    size_t limit = from_left ? 0 : BAR_COLUMNS;
    for (size_t k = 0; k < count; k++) {
        const block *one = &blocks[from_left ? k : count - 1 - k];
        if (one->buffer == SIZE_MAX) continue;
        columns c = columns_of(b, one, from_left, limit);
        for (size_t i = c.begin; i < c.end && i < BAR_COLUMNS; i++)
            b->row[i] = letter_of(one->buffer);
        limit = from_left ? c.end : c.begin;
    }
}

// Returns the end of the highest buffer in a pool. The bar ends there, because a bar of a whole
// DRAM bank would show nothing.
static uint64_t highest_end(const qdq_device_plan *p, qdq_buffer_type pool) {
    uint64_t end = p->pools[pool].base + BAR_COLUMNS;
    for (size_t i = 0; i < p->buffer_count; i++) {
        const qdq_device_buffer *b = &p->buffers[i];
        if (b->pool == pool && b->address + b->taken > end) end = b->address + b->taken;
    }
    return end;
}

static void print_bar(const qdq_device_plan *p, size_t step, qdq_buffer_type pool, bar *b,
                      block *blocks) {
    const qdq_device_step *s = &p->steps[step];
    uint64_t circular = pool == QDQ_L1 ? s->circular_end - s->circular_begin : 0;
    size_t count = pool_blocks(p, pool, (long)step, blocks);
    memset(b->row, '.', BAR_COLUMNS);
    b->row[BAR_COLUMNS] = '\0';
    draw(b, blocks, count, pool == QDQ_DRAM);
    for (size_t i = 0; circular && i <= column_of(b, s->circular_end - 1); i++) b->row[i] = '#';
    printf("   %-5s |%s| %llu taken, %llu free", qdq_buffer_type_name(pool), b->row,
           (ull)s->pools[pool].allocated, (ull)(s->pools[pool].free - circular));
    if (circular) printf(", circular buffers %llu", (ull)circular);
    if (fragmentation(&s->pools[pool]) >= 0.05)
        printf(", fragmentation %.1f %%", fragmentation(&s->pools[pool]));
    printf("\n");
}

static void print_live(const qdq_device_plan *p, size_t step) {
    enum { MOST = 40 };
    size_t count = 0;
    printf("; live");
    for (size_t i = 0; i < p->buffer_count; i++) {
        if (!buffer_is_live(&p->buffers[i], (long)step)) continue;
        if (count < MOST) printf("%s%c", count ? "" : " ", letter_of(i));
        count++;
    }
    if (count > MOST) printf(" and %zu more", count - MOST);
    printf("\n");
}

static void print_bars(const qdq_device_plan *p, block *blocks) {
    bar l1 = {p->pools[QDQ_L1].base, p->device->l1_size - p->pools[QDQ_L1].base, ""};
    bar dram = {p->pools[QDQ_DRAM].base, 0, ""};
    dram.bytes = highest_end(p, QDQ_DRAM) - dram.base;
    printf(
        "\non the device ('#' circular buffers, '.' free; L1 from %llu to %llu, DRAM from %llu to "
        "%llu, above which nothing ever lies)\n",
        (ull)l1.base, (ull)l1.base + l1.bytes, (ull)dram.base, (ull)dram.base + dram.bytes);
    for (size_t i = 0; i < p->step_count; i++) {
        printf(" %3zu  %s: %s", i, p->steps[i].node, p->steps[i].program);
        print_live(p, i);
        print_bar(p, i, QDQ_L1, &l1, blocks);
        print_bar(p, i, QDQ_DRAM, &dram, blocks);
    }
}

//---- Buffers ----------------------------------------------------------------

void print_tile(qdq_tile_shape tile) {
    bool is_default = tile.height == 32 && tile.width == 32 && !tile.transpose;
    if (tile.height && !is_default)
        printf(", %stiles of %ux%u", tile.transpose ? "transposed " : "", tile.height, tile.width);
}

static void print_buffer(const qdq_device_plan *p, size_t i) {
    const qdq_device_buffer *b = &p->buffers[i];
    char shape[QDQ_SHAPE_TEXT_BYTES], where[64];
    snprintf(where, sizeof where, "%s %s", qdq_buffer_type_name(b->pool),
             qdq_memory_layout_name(b->memory_layout));
    printf(" %c %-24s %-9s %-18s %-20s %11llu %6llu %6llu %10llu  %zu-%zu", letter_of(i), b->name,
           qdq_dtype_name(b->dtype), qdq_write_shape(b->shape, shape, sizeof shape), where,
           (ull)b->address, (ull)b->page_bytes, (ull)b->pages, (ull)b->taken, b->first_step,
           b->last_step);
    print_tile(b->tile);
    if (b->view_of != SIZE_MAX) printf(", a view of %s", p->buffers[b->view_of].name);
    if (b->lives_on && b->last_use < b->last_step)
        printf(", last used in %zu, lives on", b->last_use);
    else if (b->lives_on)
        printf(", lives on");
    printf("\n");
}

static void print_buffers(const qdq_device_plan *p) {
    printf("\n   %-24s %-9s %-18s %-20s %11s %6s %6s %10s  %s\n", "buffer", "dtype", "shape",
           "pool", "address", "page", "pages", "taken", "steps");
    for (size_t i = 0; i < p->buffer_count; i++) print_buffer(p, i);
}

void print_device(const qdq_plan *plan) {
    const qdq_device_plan *p = qdq_plan_device(plan);
    if (!p) return;
    block *blocks = calloc(2 * p->buffer_count + 1, sizeof *blocks);
    print_summary(p);
    if (blocks) print_bars(p, blocks);
    free(blocks);
    print_buffers(p);
}

void print_pages(const qdq_plan *plan, size_t buffer) {
    const qdq_device_buffer *b = &qdq_plan_device(plan)->buffers[buffer];
    bool sharded = b->cores && b->pool == QDQ_L1;
    qdq_page page;
    printf("\npages of %s, %llu bytes each, in slots of %llu\n   %10s %6s %11s%s\n", b->name,
           (ull)b->page_bytes, (ull)b->slot_bytes, "page", "bank", "address",
           sharded ? "  core" : "");
    for (uint64_t i = 0; qdq_plan_buffer_page(plan, buffer, i, &page); i++) {
        printf("   %10llu %6llu %11llu", (ull)i, (ull)page.bank, (ull)page.address);
        if (sharded) printf("  (%u,%u)", page.core_x, page.core_y);
        printf("\n");
    }
}
