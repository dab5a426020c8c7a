// SPDX-License-Identifier: Apache-2.0
// Tenstorrent devices as numbers: memory banks, alignments, cores; and where a tensor shall lie.
//
// Names are ttnn's: buffer_type, memory_layout, shard_spec, l1_small_size.
// docs/device_memory.md has every formula.
#ifndef QDQ_DEVICE_H
#define QDQ_DEVICE_H

#include <qdq/tile.h>

#ifdef __cplusplus
extern "C" {
#endif

//---- Devices ----------------------------------------------------------------

typedef enum qdq_arch { QDQ_ARCH_NONE = 0, QDQ_WORMHOLE, QDQ_BLACKHOLE } qdq_arch;

enum { QDQ_DEVICE_NAME_BYTES = 32 };

// The numbers of a device, X(field, least, greatest). Sizes are bytes. The keys of a description in
// JSON and the checks of their ranges come from this list.
// clang-format off
#define QDQ_DEVICE_NUMBERS(X)                                                                     \
    X(grid_x,            1, 64)                /* columns of worker cores */                      \
    X(grid_y,            1, 64)                /* rows of worker cores; each core is an L1 bank */ \
    X(dram_banks,        1, 256)                                                                  \
    X(dram_bank_size,    1, INT64_C(1) << 44)                                                     \
    X(dram_base,         0, INT64_C(1) << 44)  /* first address of a bank that tensors may use */ \
    X(dram_alignment,    1, 65536)             /* of pages in DRAM, and of all allocations */     \
    X(l1_size,           1, INT64_C(1) << 44)                                                     \
    X(l1_base,           0, INT64_C(1) << 44)  /* first address of L1 that programs may use */    \
    X(l1_alignment,      1, 65536)             /* of pages in L1 */                               \
    X(l1_small_size,     0, INT64_C(1) << 44)  /* of L1_SMALL in each bank */                     \
    X(trace_region_size, 0, INT64_C(1) << 44)  /* of TRACE in all DRAM banks together */
// clang-format on

typedef struct qdq_device {
    char name[QDQ_DEVICE_NAME_BYTES];  // UTF-8, NUL-terminated
    qdq_arch arch;
#define QDQ_DEVICE_FIELD(field, least, greatest) uint64_t field;
    QDQ_DEVICE_NUMBERS(QDQ_DEVICE_FIELD)
#undef QDQ_DEVICE_FIELD
} qdq_device;

// Returns the known devices: n150, n300 (one of its two chips), p100, p150. "none", a name that
// qdq_device_find also accepts, is not in the list: it says that there is no device.
QDQ_API const qdq_device *qdq_devices(size_t *count);
// Returns the device called `name`; NULL with `err` set.
QDQ_API const qdq_device *qdq_device_find(const char *name, qdq_error *err);
// True if `device` is the device "none". False for NULL.
QDQ_API bool qdq_device_is_none(const qdq_device *device);
// Fails with QDQ_ERR_ARGUMENT unless a device can have these numbers.
QDQ_API qdq_status qdq_device_check(const qdq_device *device, qdq_error *err);
// Reads a description in JSON, docs/device_memory.md: an object with the fields above as keys. Its
// `chip` is the name of the device that it differs from. `name` is the file's, for errors.
QDQ_API qdq_status qdq_device_parse(const char *text, size_t length, const char *name,
                                    const qdq_allocator *allocator, qdq_device *out,
                                    qdq_error *err);
QDQ_API qdq_status qdq_device_load(const char *path, const qdq_allocator *allocator,
                                   qdq_device *out, qdq_error *err);

//---- The place of a tensor --------------------------------------------------

// The numbers are as in ttnn's reports.
typedef enum qdq_buffer_type {
    QDQ_DRAM = 0,
    QDQ_L1 = 1,
    QDQ_SYSTEM_MEMORY = 2,  // the host's: no device memory
    QDQ_L1_SMALL = 3,
    QDQ_TRACE = 4,
} qdq_buffer_type;

typedef enum qdq_memory_layout {
    QDQ_INTERLEAVED = 0,
    QDQ_HEIGHT_SHARDED,
    QDQ_WIDTH_SHARDED,
    QDQ_BLOCK_SHARDED,
    QDQ_ND_SHARDED,
} qdq_memory_layout;

// How elements become pages: a page is a tile, or a row.
typedef enum qdq_layout { QDQ_LAYOUT_TILE = 0, QDQ_LAYOUT_ROW_MAJOR } qdq_layout;

// A rectangle of cores; both ends belong to it.
typedef struct qdq_core_range {
    uint16_t x0, y0, x1, y1;
} qdq_core_range;

typedef enum qdq_shard_orientation {
    QDQ_SHARD_ROW_MAJOR = 0,  // cores are counted along x first
    QDQ_SHARD_COL_MAJOR,      // along y first
} qdq_shard_orientation;

typedef enum qdq_shard_distribution {
    QDQ_ROUND_ROBIN_1D = 0,  // shard i lies on core i mod cores
    QDQ_CONTIGUOUS_1D,       // each core has a run of shards, all runs of one length
} qdq_shard_distribution;

enum { QDQ_MAX_CORE_RANGES = 16 };

typedef struct qdq_shard_spec {
    qdq_core_range grid[QDQ_MAX_CORE_RANGES];  // without overlaps
    size_t grid_count;
    qdq_shape shape;  // of a shard, in elements: rank 2, or any with QDQ_ND_SHARDED
    qdq_shard_orientation orientation;
    qdq_shard_distribution distribution;  // with QDQ_ND_SHARDED only
} qdq_shard_spec;

// All zero: interleaved in DRAM. An interleaved tensor has no shard_spec.
typedef struct qdq_memory_config {
    qdq_buffer_type buffer_type;
    qdq_memory_layout memory_layout;
    qdq_shard_spec shard_spec;
} qdq_memory_config;

// The placement of a tensor on a device, ttnn's memory_config, layout and tile. All zero: in DRAM,
// interleaved, in tiles of 32x32.
typedef struct qdq_tensor_layout {
    qdq_memory_config memory_config;
    qdq_layout layout;
    qdq_tile_shape tile;  // of layout TILE
} qdq_tensor_layout;

// Returns ttnn's name: "L1", "HEIGHT_SHARDED"; "none" for other numbers.
QDQ_API const char *qdq_buffer_type_name(qdq_buffer_type type);
QDQ_API const char *qdq_memory_layout_name(qdq_memory_layout layout);

enum { QDQ_MEMORY_CONFIG_TEXT_BYTES = 4096 };
// Writes the config of a tensor as ttnn's graph capture prints it, and returns `out`. NULL stands
// for the config that is all zero; "" is returned for a NULL `out`.
QDQ_API const char *qdq_memory_config_text(const qdq_memory_config *config,
                                           char out[QDQ_MEMORY_CONFIG_TEXT_BYTES]);
enum { QDQ_CORE_RANGES_TEXT_BYTES = 512 };
// Writes ranges of cores, at most QDQ_MAX_CORE_RANGES, as ttnn prints a CoreRangeSet:
// "{[0-0 - 10-9]}". Returns `out`, "" if that is NULL.
QDQ_API const char *qdq_core_ranges_text(const qdq_core_range *ranges, size_t count,
                                         char out[QDQ_CORE_RANGES_TEXT_BYTES]);

#ifdef __cplusplus
}
#endif
#endif
