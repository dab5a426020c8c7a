// SPDX-License-Identifier: Apache-2.0
// Finds the chip of a capture: the first of a list that agrees with all that the capture says of
// banks, cores and addresses.
#include <string.h>

#include "graph/formats/capture/capture.h"
#include "runtime/tenstorrent/device_pool.h"

// Chips and their grids, which shrink by columns that a chip has lost.
static const struct candidate {
    const char *chip;
    uint64_t grid_x, grid_y;
} candidates[] = {
    {"n150", 8, 8},   {"n300", 8, 7},   {"p150", 13, 10},
    {"p150", 12, 10}, {"p150", 11, 10}, {"p100", 11, 10},
};

static bool agrees_with(const qdq_capture_allocation *a, const qdq_device *device) {
    bool dram = a->buffer_type == QDQ_DRAM || a->buffer_type == QDQ_TRACE;
    uint64_t end = dram ? device->dram_bank_size : device->l1_size;
    if (a->address > end || a->max_size_per_bank > end - a->address) return false;
    if (a->num_cores || a->page_size == 0) return true;  // sharded: any number of banks fits
    uint64_t banks = dram ? device->dram_banks : device->grid_x * device->grid_y;
    uint64_t alignment = dram ? device->dram_alignment : device->l1_alignment;
    uint64_t pages = a->size / a->page_size;
    uint64_t per_bank = pages / banks + (pages % banks != 0);
    uint64_t slot = a->page_size > end ? a->page_size : qdq_round_up(a->page_size, alignment);
    return per_bank == 0 || a->max_size_per_bank / per_bank == slot;
}

// Reads the last corner of each range, "[0-0 - 10-9]". False if it lies outside of the grid.
static bool cores_lie_on(const char *text, const qdq_device *device) {
    for (const char *at = strstr(text, " - "); at; at = strstr(at + 1, " - ")) {
        uint64_t number[2] = {0, 0};
        const char *digit = at + 3;
        for (int i = 0; i < 2; i++, digit += *digit == '-')
            for (; *digit >= '0' && *digit <= '9' && number[i] < UINT16_MAX; digit++)
                number[i] = number[i] * 10 + (uint64_t)(*digit - '0');
        if (number[0] >= device->grid_x || number[1] >= device->grid_y) return false;
    }
    return true;
}

// True if a program that runs on every core does so on this grid.
static bool covers_the_grid(const char *text, const qdq_device *device) {
    char all[QDQ_CORE_RANGES_TEXT_BYTES];
    qdq_core_range range = {0, 0, (uint16_t)(device->grid_x - 1), (uint16_t)(device->grid_y - 1)};
    return strcmp(text, qdq_core_ranges_text(&range, 1, all)) == 0;
}

static bool agrees(const qdq_capture *c, const qdq_device *device) {
    for (size_t i = 0; i < c->allocation_count; i++)
        if (!agrees_with(&c->allocations[i], device)) return false;
    for (size_t i = 0; i < c->tensor_count; i++) {
        bool l1 = c->tensors[i].buffer_type == QDQ_L1 || c->tensors[i].buffer_type == QDQ_L1_SMALL;
        if (c->tensors[i].address >= (l1 ? device->l1_size : device->dram_bank_size)) return false;
    }
    for (size_t i = 0; i < c->program_count; i++) {
        const qdq_capture_program *p = &c->programs[i];
        bool on_all = strcmp(p->name, "BinaryNgDeviceOperation") == 0;
        for (size_t k = 0; k < p->circular_count; k++) {
            const char *cores = c->circulars[p->first_circular + k].cores;
            if (!cores_lie_on(cores, device) || (on_all && !covers_the_grid(cores, device)))
                return false;
        }
    }
    return true;
}

// The first circular buffer of a program lies at the base of L1, which moves with the firmware.
static void set_base(const qdq_capture *c, qdq_device *device) {
    uint64_t base = UINT64_MAX;
    for (size_t i = 0; i < c->circular_count; i++) {
        const qdq_capture_circular *b = &c->circulars[i];
        if (!b->globally_allocated && b->address && b->address < base) base = b->address;
    }
    if (base < device->l1_size && base % device->dram_alignment == 0) device->l1_base = base;
}

qdq_status qdq_capture_device(const qdq_graph *graph, qdq_device *out, qdq_error *err) {
    if (!graph || !graph->capture || !out)
        return qdq_fail(err, QDQ_ERR_ARGUMENT,
                        "the graph is not read from a ttnn graph capture, wanted one");
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        *out = *qdq_device_find(candidates[i].chip, NULL);
        out->grid_x = candidates[i].grid_x;
        out->grid_y = candidates[i].grid_y;
        if (!agrees(graph->capture, out)) continue;
        set_base(graph->capture, out);
        return QDQ_OK;
    }
    return qdq_fail(err, QDQ_ERR_UNSUPPORTED,
                    "no chip that qdq knows has the banks, cores and addresses of the capture; "
                    "give a description with --device");
}
