// SPDX-License-Identifier: Apache-2.0
// Counts the bytes that a step moves between its blocks and memory. A value counts once for each
// step that reads it, however often the step comes back to it; scratch does not count.
#include "graph/compile/plan_traffic.h"

#include "runtime/base/size.h"

enum { ROW_MAJOR = 1, TILES = 2 };

typedef struct counter {
    const qdq_draft *of;
    qdq_traffic *total;
    qdq_plan_step *info;
    unsigned read, written;  // ROW_MAJOR and TILES
} counter;

static unsigned kind_of(qdq_place place) {
    if (place.kind == QDQ_PLACE_NONE) return 0;
    return place.kind == QDQ_PLACE_ARENA ? TILES : ROW_MAJOR;
}

static const char *words_of(unsigned kinds) {
    static const char *const words[] = {"nothing", "row-major", "tiles", "row-major and tiles"};
    return words[kinds];
}

// Returns the bytes of a value in memory. Padding counts where it is computed: on a device, and
// with elements that share bytes or an exponent.
static size_t bytes_in(const qdq_draft *of, qdq_place place, qdq_dtype dtype, qdq_shape shape,
                       qdq_tile_shape tile) {
    if (place.kind == QDQ_PLACE_NONE) return 0;
    if (place.kind == QDQ_PLACE_ARENA && (of->storage.on_device || !qdq_tile_is_plain(dtype)))
        return qdq_tiling_in(shape, tile).tiles * qdq_tile_shape_bytes(tile, dtype);
    return qdq_shape_count(shape) * qdq_dtype_size(dtype);
}

// Returns the bytes of a packed input: the bits of its elements, not the bytes of the packed form.
static size_t bytes_packed(const qdq_draft *of, uint32_t id) {
    const qdq_type *type = &of->values[id].type;
    return (qdq_shape_count(type->shape) * (size_t)qdq_dtype_get(type->dtype)->bits + 7) / 8;
}

static void add_read(counter *c, uint32_t id, size_t bytes, bool from_outside) {
    size_t *last_reader = &c->total->last_reader[id];
    if (id && *last_reader == c->total->step) return;
    if (!*last_reader && from_outside)
        c->total->necessary_bytes = qdq_size_add(c->total->necessary_bytes, bytes);
    *last_reader = c->total->step;
    c->info->read_bytes = qdq_size_add(c->info->read_bytes, bytes);
}

static void read_value(counter *c, uint32_t id, const qdq_located *value) {
    qdq_place_kind kind = value->place.kind;
    c->read |= kind_of(value->place);
    add_read(c, id, bytes_in(c->of, value->place, value->dtype, value->shape, value->tile),
             kind == QDQ_PLACE_INPUT || kind == QDQ_PLACE_CONSTANT);
}

static void write_value(counter *c, const qdq_located *value) {
    size_t bytes = bytes_in(c->of, value->place, value->dtype, value->shape, value->tile);
    c->written |= kind_of(value->place);
    c->info->write_bytes = qdq_size_add(c->info->write_bytes, bytes);
}

static void read_params(counter *c, const qdq_param *params, size_t count,
                        const uint32_t *sources) {
    for (size_t k = 0; k < count; k++)
        if (params[k].fetch != QDQ_FETCH_KNOWN) read_value(c, sources[k], &params[k].source);
}

static void count_tensor_op(counter *c, const qdq_draft_step *draft, const qdq_tensor_op *op) {
    for (size_t i = 0; i < op->x_count; i++) {
        uint32_t id = draft->tensor_op_inputs[i].id;
        if (qdq_draft_step_packs(draft, i)) {
            c->read |= ROW_MAJOR;
            add_read(c, id, bytes_packed(c->of, id), true);
        } else if (id) {
            read_value(c, id, &op->x[i]);
        }
    }
    for (size_t i = 0; i < op->y_count; i++) write_value(c, &op->y[i]);
}

void qdq_count_traffic(const qdq_draft *of, const qdq_draft_step *draft, const qdq_step *step,
                       qdq_plan_step *info, qdq_traffic *total) {
    counter c = {.of = of, .total = total, .info = info};
    total->step++;
    if (step->tensor_op)
        count_tensor_op(&c, draft, step->tensor_op);
    else
        read_value(&c, draft->x, &step->x);
    for (size_t i = 0; i < step->link_count; i++) {
        const qdq_link *link = &step->links[i];
        read_params(&c, link->stage_params, link->stage_param_count, draft->links[i].sources);
        write_value(&c, &(qdq_located){.dtype = link->y_dtype,
                                       .shape = step->x.shape,
                                       .place = link->store,
                                       .tile = link->tiling.tile});
    }
    if (step->reduce) {
        read_params(&c, step->reduce->stage_params, step->reduce->stage_param_count,
                    draft->reduce_sources);
        for (size_t k = 0; k < step->reduce->result_count; k++)
            write_value(&c, &step->reduce->results[k]);
    }
    info->reads = words_of(c.read), info->writes = words_of(c.written);
    info->streamed = !step->tensor_op && !step->tiled && !((c.read | c.written) & TILES);
    total->moved_bytes =
        qdq_size_add(total->moved_bytes, qdq_size_add(info->read_bytes, info->write_bytes));
}
