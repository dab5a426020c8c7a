// SPDX-License-Identifier: Apache-2.0
// The table of devices, the check of their numbers, and the pools that follow from them. Sources
// of the numbers: docs/device_memory.md.
#include "include/qdq/device.h"

#include <string.h>

#include "runtime/base/error.h"
#include "runtime/tenstorrent/device_pool.h"

//---- The table --------------------------------------------------------------

// The first address of L1 past the firmware's map and the ring of kernel configurations (69 KiB),
// at a multiple of the greatest alignment, which is a power of two.
#define L1_BASE(map_end, alignment) ((((map_end) + 69 * 1024 - 1) | ((alignment)-1)) + 1)

// Numbers that the chips of a generation share. The firmware's map ends at 32,752 and at 40,704.
#define WORMHOLE                                                                           \
    .arch = QDQ_WORMHOLE, .dram_banks = 12, .dram_bank_size = 1073741824, .dram_base = 32, \
    .dram_alignment = 32, .l1_size = 1499136, .l1_base = L1_BASE(32752, 32), .l1_alignment = 16
#define BLACKHOLE                                                                               \
    .arch = QDQ_BLACKHOLE, .dram_bank_size = 4278190080, .dram_base = 64, .dram_alignment = 64, \
    .l1_size = 1572864, .l1_base = L1_BASE(40704, 64), .l1_alignment = 16

static const qdq_device devices[] = {
    {.name = "n150", WORMHOLE, .grid_x = 8, .grid_y = 8},
    {.name = "n300", WORMHOLE, .grid_x = 8, .grid_y = 7},
    {.name = "p100", BLACKHOLE, .grid_x = 11, .grid_y = 10, .dram_banks = 7},
    {.name = "p150", BLACKHOLE, .grid_x = 13, .grid_y = 10, .dram_banks = 8},
};
enum { DEVICES = sizeof devices / sizeof devices[0] };

const qdq_device *qdq_devices(size_t *count) {
    if (count) *count = DEVICES;
    return devices;
}

bool qdq_device_is_none(const qdq_device *device) {
    return device && device->arch == QDQ_ARCH_NONE && strcmp(device->name, "none") == 0;
}

const qdq_device *qdq_device_find(const char *name, qdq_error *err) {
    static const qdq_device none = {.name = "none"};
    if (name && strcmp(name, none.name) == 0) return &none;
    for (size_t i = 0; name && i < DEVICES; i++)
        if (strcmp(devices[i].name, name) == 0) return &devices[i];
    qdq_fail(err, QDQ_ERR_ARGUMENT,
             "there is no device '%.64s', wanted n150, n300, p100, p150 or none", name ? name : "");
    return NULL;
}

//---- The check --------------------------------------------------------------

// Bank counts that tt-metal's bank manager can interleave over: these and the powers of two.
static bool can_interleave(uint64_t banks) {
    static const uint8_t counts[] = {7,  12,  20,  48,  56,  63,  70,  72,  80,
                                     94, 108, 110, 117, 120, 124, 126, 130, 140};
    for (size_t i = 0; i < sizeof counts; i++)
        if (counts[i] == banks) return true;
    return (banks & (banks - 1)) == 0;
}

static bool is_power_of_two(uint64_t n) { return n && (n & (n - 1)) == 0; }

static qdq_status check_ranges(const qdq_device *d, qdq_error *err) {
#define CHECK_RANGE(field, least, greatest)                                            \
    if ((int64_t)d->field < (least) || (int64_t)d->field > (greatest))                 \
        return qdq_fail(err, QDQ_ERR_ARGUMENT, #field " is %llu, wanted %lld to %lld", \
                        (unsigned long long)d->field, (long long)(least), (long long)(greatest));
    QDQ_DEVICE_NUMBERS(CHECK_RANGE)
#undef CHECK_RANGE
    return QDQ_OK;
}

static qdq_status check_multiple(const char *field, uint64_t number, uint64_t unit,
                                 qdq_error *err) {
    if (number % unit == 0) return QDQ_OK;
    return qdq_fail(err, QDQ_ERR_ARGUMENT,
                    "%s is %llu, wanted a multiple of the DRAM alignment, %llu", field,
                    (unsigned long long)number, (unsigned long long)unit);
}

static qdq_status check_alignments(const qdq_device *d, qdq_error *err) {
    uint64_t unit = d->dram_alignment;
    if (!is_power_of_two(unit) || !is_power_of_two(d->l1_alignment) || d->l1_alignment > unit)
        return qdq_fail(err, QDQ_ERR_ARGUMENT,
                        "l1_alignment is %llu and dram_alignment %llu, wanted powers of two, the "
                        "first at most the second",
                        (unsigned long long)d->l1_alignment, (unsigned long long)unit);
    QDQ_TRY(check_multiple("dram_bank_size", d->dram_bank_size, unit, err));
    QDQ_TRY(check_multiple("dram_base", d->dram_base, unit, err));
    QDQ_TRY(check_multiple("l1_size", d->l1_size, unit, err));
    return check_multiple("l1_base", d->l1_base, unit, err);
}

// Returns the part of TRACE in each bank. The region is rounded so that each bank's is aligned.
static uint64_t trace_per_bank(const qdq_device *d) {
    return qdq_round_up(d->trace_region_size, d->dram_alignment * d->dram_banks) / d->dram_banks;
}

static uint64_t l1_small(const qdq_device *d) {
    return qdq_round_up(d->l1_small_size, d->dram_alignment);
}

static qdq_status check_room(const qdq_device *d, qdq_error *err) {
    if (d->dram_base + trace_per_bank(d) >= d->dram_bank_size)
        return qdq_fail(err, QDQ_ERR_ARGUMENT,
                        "dram_base %llu and %llu bytes of trace in each bank leave nothing of "
                        "dram_bank_size %llu",
                        (unsigned long long)d->dram_base, (unsigned long long)trace_per_bank(d),
                        (unsigned long long)d->dram_bank_size);
    if (d->l1_base + l1_small(d) >= d->l1_size)
        return qdq_fail(err, QDQ_ERR_ARGUMENT,
                        "l1_base %llu and l1_small_size %llu leave nothing of l1_size %llu",
                        (unsigned long long)d->l1_base, (unsigned long long)d->l1_small_size,
                        (unsigned long long)d->l1_size);
    return QDQ_OK;
}

qdq_status qdq_device_check(const qdq_device *d, qdq_error *err) {
    if (!d) return qdq_fail(err, QDQ_ERR_ARGUMENT, "the device is NULL");
    if (!memchr(d->name, '\0', sizeof d->name))
        return qdq_fail(err, QDQ_ERR_ARGUMENT, "the name of the device does not end");
    if (d->arch != QDQ_WORMHOLE && d->arch != QDQ_BLACKHOLE)
        return qdq_fail(err, QDQ_ERR_ARGUMENT, "arch is %d, wanted wormhole or blackhole",
                        (int)d->arch);
    QDQ_TRY(check_ranges(d, err));
    QDQ_TRY(check_alignments(d, err));
    uint64_t cores = d->grid_x * d->grid_y;
    if (!can_interleave(d->dram_banks) || !can_interleave(cores))
        return qdq_fail(err, QDQ_ERR_ARGUMENT,
                        "pages cannot be interleaved over %llu DRAM banks and %llu cores: wanted "
                        "powers of two or 7, 12, 20, 48, 56, 63, 70, 72, 80, 94, 108, 110, 117, "
                        "120, 124, 126, 130, 140",
                        (unsigned long long)d->dram_banks, (unsigned long long)cores);
    return check_room(d, err);
}

//---- Pools ------------------------------------------------------------------

bool qdq_device_pool_of(const qdq_device *d, qdq_buffer_type type, qdq_device_pool *out) {
    bool in_l1 = type == QDQ_L1 || type == QDQ_L1_SMALL;
    uint64_t trace = trace_per_bank(d), small = l1_small(d);
    *out = (qdq_device_pool){
        .buffer_type = type,
        .banks = in_l1 ? d->grid_x * d->grid_y : d->dram_banks,
        .page_alignment = in_l1 ? d->l1_alignment : d->dram_alignment,
        .alignment = d->dram_alignment,
        .top_down = type != QDQ_DRAM,
    };
    switch (type) {
    case QDQ_DRAM:
        out->base = d->dram_base;
        out->bytes = d->dram_bank_size - trace - d->dram_base;
        return true;
    case QDQ_L1:
        out->base = d->l1_base;
        out->bytes = d->l1_size - small - d->l1_base;
        return true;
    case QDQ_L1_SMALL:
        out->base = d->l1_size - small;
        out->bytes = small;
        return true;
    case QDQ_TRACE:
        out->base = d->dram_bank_size - trace;
        out->bytes = trace;
        return true;
    case QDQ_SYSTEM_MEMORY: break;
    }
    return false;
}

//---- Names ------------------------------------------------------------------

const char *qdq_buffer_type_name(qdq_buffer_type type) {
    static const char *const names[] = {"DRAM", "L1", "SYSTEM_MEMORY", "L1_SMALL", "TRACE"};
    return (unsigned)type < sizeof names / sizeof names[0] ? names[type] : "none";
}

const char *qdq_memory_layout_name(qdq_memory_layout layout) {
    static const char *const names[] = {"INTERLEAVED", "HEIGHT_SHARDED", "WIDTH_SHARDED",
                                        "BLOCK_SHARDED", "ND_SHARDED"};
    return (unsigned)layout < sizeof names / sizeof names[0] ? names[layout] : "none";
}
