// SPDX-License-Identifier: Apache-2.0
#include "tools/plan/memory_json.h"

#include "tools/common.h"
#include "tools/plan/device_view.h"

static void number_or_null(qdq_json *json, const char *key, size_t number) {
    qdq_json_key(json, key);
    if (number == SIZE_MAX)
        qdq_json_null(json);
    else
        qdq_json_uint(json, number);
}

//---- The device and its pools -----------------------------------------------

static void json_chip(qdq_json *json, const qdq_device *device) {
    qdq_json_key(json, "device");
    qdq_json_begin_object(json);
    json_string_key(json, "name", device->name);
    json_string_key(json, "arch", arch_text(device->arch));
#define NUMBER(field, least, greatest) json_uint_key(json, #field, device->field);
    QDQ_DEVICE_NUMBERS(NUMBER)
#undef NUMBER
    qdq_json_end_object(json);
}

static void json_state(qdq_json *json, const qdq_pool_state *state) {
    json_uint_key(json, "allocated", state->allocated);
    json_uint_key(json, "free", state->free);
    json_uint_key(json, "largest_free", state->largest_free);
}

static void json_pool(qdq_json *json, const qdq_device_plan *p, qdq_buffer_type type) {
    const qdq_pool_info *pool = &p->pools[type];
    if (!pool->bytes) return;
    qdq_json_begin_object(json);
    json_string_key(json, "pool", qdq_buffer_type_name(type));
    json_uint_key(json, "banks", pool->banks);
    json_uint_key(json, "base", pool->base);
    json_uint_key(json, "bank_size", pool->bytes);
    json_uint_key(json, "peak", pool->peak);
    number_or_null(json, "peak_program", pool->peak ? pool->peak_step : SIZE_MAX);
    json_state(json, &pool->end);
    qdq_json_key(json, "fragmentation");
    qdq_json_double(json, fragmentation(&pool->end) / 100);
    qdq_json_end_object(json);
}

//---- Buffers ----------------------------------------------------------------

static const char *role_text(qdq_buffer_role role) {
    static const char *const texts[] = {"input", "constant", "result", "intermediate"};
    return texts[role];
}

void json_tile(qdq_json *json, qdq_tile_shape tile) {
    bool is_default = tile.height == 32 && tile.width == 32 && !tile.transpose;
    if (!tile.height || is_default) return;
    qdq_json_key(json, "tile");
    qdq_json_begin_line(json);
    qdq_json_uint(json, tile.height);
    qdq_json_uint(json, tile.width);
    qdq_json_end_array(json);
    if (!tile.transpose) return;
    qdq_json_key(json, "transpose_tile");
    qdq_json_bool(json, true);
}

static void json_where(qdq_json *json, const qdq_device_buffer *b) {
    json_string_key(json, "pool", qdq_buffer_type_name(b->pool));
    json_uint_key(json, "address", b->address);
    json_uint_key(json, "page_bytes", b->page_bytes);
    json_uint_key(json, "pages", b->pages);
    json_uint_key(json, "banks", b->banks);
    json_string_key(json, "layout", b->layout == QDQ_LAYOUT_TILE ? "TILE" : "ROW_MAJOR");
    json_tile(json, b->tile);
    json_string_key(json, "memory_layout", qdq_memory_layout_name(b->memory_layout));
    json_uint_key(json, "slot_bytes", b->slot_bytes);
    json_uint_key(json, "bytes_per_bank", b->bytes_per_bank);
}

static void json_buffer(qdq_json *json, const qdq_device_buffer *b) {
    qdq_json_begin_object(json);
    json_string_key(json, "name", b->name);
    json_string_key(json, "role", role_text(b->role));
    json_string_key(json, "dtype", qdq_dtype_name(b->dtype));
    qdq_json_key(json, "shape");
    json_shape(json, b->shape);
    json_where(json, b);
    json_uint_key(json, "taken", b->taken);
    number_or_null(json, "view_of", b->view_of);
    json_uint_key(json, "first_program", b->first_step);
    json_uint_key(json, "last_program", b->last_step);
    json_uint_key(json, "last_use", b->last_use);
    qdq_json_key(json, "lives_on");
    qdq_json_bool(json, b->lives_on);
    qdq_json_end_object(json);
}

void json_value_buffer(qdq_json *json, const qdq_plan *plan, size_t value) {
    const qdq_device_buffer *b = qdq_plan_value_buffer(plan, value);
    if (!b) return;
    qdq_json_key(json, "buffer");
    qdq_json_begin_object(json);
    json_where(json, b);
    qdq_json_end_object(json);
}

//---- Programs and events ----------------------------------------------------

static void json_program(qdq_json *json, const qdq_device_step *s) {
    qdq_json_begin_object(json);
    json_string_key(json, "node", s->node);
    json_string_key(json, "op", s->op);
    json_string_key(json, "program", s->program);
    number_or_null(json, "output", s->output);
    json_uint_key(json, "circular_begin", s->circular_begin);
    json_uint_key(json, "circular_end", s->circular_end);
    qdq_json_key(json, "l1");
    qdq_json_begin_object(json);
    json_state(json, &s->pools[QDQ_L1]);
    qdq_json_end_object(json);
    qdq_json_key(json, "dram");
    qdq_json_begin_object(json);
    json_state(json, &s->pools[QDQ_DRAM]);
    qdq_json_end_object(json);
    qdq_json_end_object(json);
}

static const char *event_text(qdq_event_kind kind) {
    static const char *const texts[] = {"allocate", "free", "circular_buffer"};
    return texts[kind];
}

static void json_event(qdq_json *json, const qdq_device_event *e) {
    qdq_json_begin_object(json);
    json_string_key(json, "event", event_text(e->kind));
    json_uint_key(json, "program", e->step);
    if (e->buffer != SIZE_MAX) json_uint_key(json, "buffer", e->buffer);
    json_uint_key(json, "address", e->address);
    json_uint_key(json, "bytes", e->bytes);
    if (e->kind == QDQ_EVENT_CIRCULAR_BUFFER) {
        qdq_json_key(json, "globally_allocated");
        qdq_json_bool(json, e->globally_allocated);
    }
    qdq_json_end_object(json);
}

//---- The keys ---------------------------------------------------------------

void json_device(qdq_json *json, const qdq_plan *plan) {
    const qdq_device_plan *p = qdq_plan_device(plan);
    if (!p) {
        qdq_json_key(json, "device");
        qdq_json_null(json);
        return;
    }
    json_chip(json, p->device);
    qdq_json_key(json, "pools");
    qdq_json_begin_array(json);
    for (int type = 0; type < QDQ_POOLS; type++) json_pool(json, p, (qdq_buffer_type)type);
    qdq_json_end_array(json);
    json_uint_key(json, "peak_circular", p->peak_circular);
    json_uint_key(json, "peak_l1", p->peak_l1);
    qdq_json_key(json, "buffers");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < p->buffer_count; i++) json_buffer(json, &p->buffers[i]);
    qdq_json_end_array(json);
    qdq_json_key(json, "programs");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < p->step_count; i++) json_program(json, &p->steps[i]);
    qdq_json_end_array(json);
    qdq_json_key(json, "events");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < p->event_count; i++) json_event(json, &p->events[i]);
    qdq_json_end_array(json);
}

void json_pages(qdq_json *json, const qdq_plan *plan, size_t buffer) {
    const qdq_device_buffer *b = &qdq_plan_device(plan)->buffers[buffer];
    qdq_page page;
    qdq_json_key(json, "pages");
    qdq_json_begin_array(json);
    for (uint64_t i = 0; qdq_plan_buffer_page(plan, buffer, i, &page); i++) {
        qdq_json_begin_object(json);
        json_uint_key(json, "page", i);
        json_uint_key(json, "bank", page.bank);
        json_uint_key(json, "address", page.address);
        if (b->cores && b->pool == QDQ_L1) {
            json_uint_key(json, "core_x", page.core_x);
            json_uint_key(json, "core_y", page.core_y);
        }
        qdq_json_end_object(json);
    }
    qdq_json_end_array(json);
}
