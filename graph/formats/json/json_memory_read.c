// SPDX-License-Identifier: Apache-2.0
// Keys and words are the names in ttnn's MemoryConfig, ShardSpec and NdShardSpec.
#include "graph/formats/json/json_memory_read.h"

#include <stdio.h>
#include <string.h>

#include "runtime/base/did_you_mean.h"

typedef struct memory_reader {
    const qdq_reader *r;
    qdq_subject subject;
    bool failed;  // a finding was added
} memory_reader;

//---- Findings ---------------------------------------------------------------

static void impossible(memory_reader *m, const char *port, const char *found, const char *wanted) {
    qdq_subject subject = m->subject;
    subject.port = port;
    qdq_graph_report_core(m->r->graph, QDQ_RULE_MEMORY_CONFIG, subject, found, wanted);
    m->failed = true;
}

// Finds `text` in a list that ends with NULL; its number, or 0 after a finding.
static void find_word(memory_reader *m, const char *key, const char *text, const char *const *words,
                      int *out) {
    size_t count = 0;
    char known[256] = "";
    for (; words[count]; count++) {
        if (strcmp(words[count], text) == 0) {
            *out = (int)count;
            return;
        }
        strncat(known, count ? ", " : "", sizeof known - strlen(known) - 1);
        strncat(known, words[count], sizeof known - strlen(known) - 1);
    }
    qdq_findings *f = &m->r->graph->findings;
    qdq_subject subject = m->subject;
    subject.port = key;
    qdq_report_near(f, QDQ_RULE_MEMORY_CONFIG, subject, qdq_text(f, "is '%.128s'", text),
                    qdq_text(f, "one of: %s", known), qdq_did_you_mean(text, words, count));
    m->failed = true;
}

// Reads a word of a list that ends with NULL; its number, or 0 after a finding.
static qdq_status read_word(memory_reader *m, const qdq_item *object, const char *key,
                            const char *const *words, int *out) {
    qdq_item at;
    QDQ_TRY(qdq_item_member(m->r, object, key, false, &at));
    if (!at.json) return QDQ_OK;
    const char *text = qdq_json_text(at.json);
    if (!text) return qdq_item_wrong_kind(m->r, &at, "a string");
    find_word(m, key, text, words, out);
    return QDQ_OK;
}

//---- Shard specs ------------------------------------------------------------

static bool read_coordinate(memory_reader *m, const qdq_json_item *json, uint16_t *out) {
    int64_t number;
    if (!qdq_json_whole(json, &number)) return false;
    if (number < 0 || number > UINT16_MAX)
        impossible(m, "grid",
                   qdq_text(&m->r->graph->findings, "has the coordinate %lld", (long long)number),
                   "0 to 65535");
    *out = (uint16_t)number;
    return true;
}

// Reads the corner [x, y] of a range.
static bool read_corner(memory_reader *m, const qdq_json_item *json, uint16_t *x, uint16_t *y) {
    if (!qdq_json_is_array(json) || qdq_json_count(json) != 2) return false;
    const qdq_json_item *first = qdq_json_first(json);
    return read_coordinate(m, first, x) && read_coordinate(m, qdq_json_next(first), y);
}

static qdq_status read_range(memory_reader *m, const qdq_item *at, qdq_core_range *out) {
    bool is_pair = qdq_json_is_array(at->json) && qdq_json_count(at->json) == 2;
    const qdq_json_item *begin = is_pair ? qdq_json_first(at->json) : NULL;
    if (begin && read_corner(m, begin, &out->x0, &out->y0) &&
        read_corner(m, qdq_json_next(begin), &out->x1, &out->y1))
        return QDQ_OK;
    return qdq_item_wrong_kind(m->r, at, "a range of cores, [[x0, y0], [x1, y1]]");
}

static qdq_status read_grid(memory_reader *m, const qdq_item *spec, qdq_shard_spec *out) {
    qdq_item list, at;
    QDQ_TRY(qdq_item_array(m->r, spec, "grid", true, &list));
    size_t count = 0;
    QDQ_JSON_EACH(json, list.json) {
        qdq_core_range range = {0};
        at.json = json;
        snprintf(at.where, sizeof at.where, "%.80s[%zu]", list.where, count);
        QDQ_TRY(read_range(m, &at, &range));
        if (count < QDQ_MAX_CORE_RANGES) out->grid[count] = range;
        count++;
    }
    out->grid_count = count;
    if (count == 0)
        impossible(m, "grid", "is empty", "a range of cores, [[x0, y0], [x1, y1]], or several");
    return QDQ_OK;
}

// Reads a shard_spec, or an nd_shard_spec, whose shape has the key "shard_shape".
static qdq_status read_spec(memory_reader *m, const qdq_item *at, bool nd, qdq_shard_spec *out) {
    static const char *const keys[] = {"grid", "shape", "orientation", NULL};
    static const char *const nd_keys[] = {"grid", "shard_shape", "orientation",
                                          "shard_distribution_strategy", NULL};
    static const char *const orientations[] = {"ROW_MAJOR", "COL_MAJOR", NULL};
    static const char *const strategies[] = {"ROUND_ROBIN_1D", "CONTIGUOUS_1D", NULL};
    int orientation = 0, strategy = 0;
    QDQ_TRY(qdq_item_check_keys(m->r, at, nd ? nd_keys : keys));
    QDQ_TRY(read_grid(m, at, out));
    QDQ_TRY(qdq_item_shape(m->r, at, nd ? "shard_shape" : "shape", &out->shape));
    QDQ_TRY(read_word(m, at, "orientation", orientations, &orientation));
    if (nd) QDQ_TRY(read_word(m, at, "shard_distribution_strategy", strategies, &strategy));
    out->orientation = (qdq_shard_orientation)orientation;
    out->distribution = (qdq_shard_distribution)strategy;
    if (out->shape.rank == 0) impossible(m, nd ? "shard_shape" : "shape", "is empty", NULL);
    return QDQ_OK;
}

//---- Configs ----------------------------------------------------------------

// Reads the name of a constant of ttnn. The sharded constants have no shard_spec.
static void read_constant(memory_reader *m, const char *text, qdq_memory_config *out) {
    static const char *const names[] = {
        "DRAM_MEMORY_CONFIG",
        "L1_MEMORY_CONFIG",
        "L1_HEIGHT_SHARDED_MEMORY_CONFIG",
        "L1_WIDTH_SHARDED_MEMORY_CONFIG",
        "L1_BLOCK_SHARDED_MEMORY_CONFIG",
        NULL,
    };
    static const qdq_memory_config configs[] = {
        {QDQ_DRAM, QDQ_INTERLEAVED, {.grid_count = 0}},
        {QDQ_L1, QDQ_INTERLEAVED, {.grid_count = 0}},
        {QDQ_L1, QDQ_HEIGHT_SHARDED, {.grid_count = 0}},
        {QDQ_L1, QDQ_WIDTH_SHARDED, {.grid_count = 0}},
        {QDQ_L1, QDQ_BLOCK_SHARDED, {.grid_count = 0}},
    };
    int number = 0;
    find_word(m, "memory_config", text, names, &number);
    *out = configs[number];
}

static qdq_status read_config(memory_reader *m, const qdq_item *at, qdq_memory_config *out) {
    static const char *const keys[] = {"buffer_type", "memory_layout", "shard_spec",
                                       "nd_shard_spec", NULL};
    enum { TYPES = QDQ_TRACE + 1, LAYOUTS = QDQ_ND_SHARDED + 1 };
    const char *types[TYPES + 1] = {NULL}, *layouts[LAYOUTS + 1] = {NULL};
    int type = 0, layout = 0;
    qdq_item spec, nd;
    if (qdq_json_text(at->json)) {
        read_constant(m, qdq_json_text(at->json), out);
        return QDQ_OK;
    }
    if (!qdq_json_is_object(at->json))
        return qdq_item_wrong_kind(m->r, at, "an object, or a name such as \"L1_MEMORY_CONFIG\"");
    for (int i = 0; i < TYPES; i++) types[i] = qdq_buffer_type_name((qdq_buffer_type)i);
    for (int i = 0; i < LAYOUTS; i++) layouts[i] = qdq_memory_layout_name((qdq_memory_layout)i);
    QDQ_TRY(qdq_item_check_keys(m->r, at, keys));
    QDQ_TRY(read_word(m, at, "buffer_type", types, &type));
    QDQ_TRY(qdq_item_member(m->r, at, "shard_spec", false, &spec));
    QDQ_TRY(qdq_item_member(m->r, at, "nd_shard_spec", false, &nd));
    if (nd.json) layout = QDQ_ND_SHARDED;
    QDQ_TRY(read_word(m, at, "memory_layout", layouts, &layout));
    *out = (qdq_memory_config){(qdq_buffer_type)type, (qdq_memory_layout)layout, {.grid_count = 0}};
    if (spec.json) QDQ_TRY(read_spec(m, &spec, false, &out->shard_spec));
    if (nd.json) QDQ_TRY(read_spec(m, &nd, true, &out->shard_spec));
    bool is_nd = layout == QDQ_ND_SHARDED;
    if (spec.json && nd.json)
        impossible(m, "memory_config", "has a shard_spec and an nd_shard_spec", "one of them");
    else if ((spec.json && is_nd) || (nd.json && !is_nd))
        impossible(m, "memory_layout", qdq_text(&m->r->graph->findings, "is %s", layouts[layout]),
                   is_nd ? "an nd_shard_spec" : "ND_SHARDED, as there is an nd_shard_spec");
    return QDQ_OK;
}

static qdq_status read_tile(memory_reader *m, const qdq_item *object, qdq_given_layout *out) {
    qdq_item tile, transpose;
    qdq_shape shape = {0};
    QDQ_TRY(qdq_item_member(m->r, object, "transpose_tile", false, &transpose));
    if (transpose.json && !qdq_json_is_bool(transpose.json))
        return qdq_item_wrong_kind(m->r, &transpose, "true or false");
    QDQ_TRY(qdq_item_member(m->r, object, "tile", false, &tile));
    out->has_tile = tile.json || transpose.json;
    if (tile.json) {
        QDQ_TRY(qdq_item_shape(m->r, object, "tile", &shape));
        bool fits = shape.rank == 2 && shape.dims[0] > 0 && shape.dims[0] <= 32 &&
                    shape.dims[1] > 0 && shape.dims[1] <= 32;
        if (!fits)
            impossible(m, "tile",
                       qdq_text(&m->r->graph->findings, "is %s",
                                shape.rank > QDQ_MAX_RANK
                                    ? "longer"
                                    : qdq_shape_text(&m->r->graph->findings, shape)),
                       "[height, width], each at most 32");
    }
    bool is_transposed = transpose.json && qdq_json_is_true(transpose.json);
    if (out->has_tile)
        out->as.tile = (qdq_tile_shape){tile.json ? (uint32_t)shape.dims[0] : 32,
                                        tile.json ? (uint32_t)shape.dims[1] : 32, is_transposed};
    return QDQ_OK;
}

qdq_status qdq_json_read_memory(const qdq_reader *r, const qdq_item *at, qdq_subject subject,
                                qdq_given_layout *out) {
    static const char *const layouts[] = {"TILE", "ROW_MAJOR", NULL};
    memory_reader m = {r, subject, false};
    qdq_item config, layout;
    int word = 0;
    *out = (qdq_given_layout){.has_config = false};
    QDQ_TRY(qdq_item_member(r, at, "memory_config", false, &config));
    if (config.json) QDQ_TRY(read_config(&m, &config, &out->as.memory_config));
    out->has_config = config.json && !m.failed;
    m.failed = false;
    QDQ_TRY(qdq_item_member(r, at, "layout", false, &layout));
    QDQ_TRY(read_word(&m, at, "layout", layouts, &word));
    out->has_layout = layout.json && !m.failed;
    out->as.layout = (qdq_layout)word;
    m.failed = false;
    QDQ_TRY(read_tile(&m, at, out));
    if (m.failed) out->has_tile = false;
    return QDQ_OK;
}

void qdq_json_give_memory(qdq_graph *graph, qdq_value value, const qdq_given_layout *given) {
    if (!value.id) return;
    if (given->has_config) qdq_set_memory_config(graph, value, &given->as.memory_config);
    if (given->has_layout) qdq_set_layout(graph, value, given->as.layout);
    if (given->has_tile) qdq_set_tile(graph, value, given->as.tile);
}
