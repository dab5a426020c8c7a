// SPDX-License-Identifier: Apache-2.0
#include "graph/device/device_run.h"

#include <stdio.h>

#include "graph/memory/given_layout.h"
#include "runtime/base/error.h"

static size_t current_step(const qdq_device_run *run) {
    return run->step_count ? run->step_count - 1 : 0;
}

//---- Stopping ---------------------------------------------------------------

static size_t stop(qdq_device_run *run, qdq_status status) {
    run->stopped = true;
    run->status = status;
    return SIZE_MAX;
}

static size_t stop_memory(qdq_device_run *run) {
    return stop(run, qdq_fail_memory(run->err, sizeof(qdq_run_buffer)));
}

size_t qdq_run_stop_failure(qdq_device_run *run, const qdq_memory_failure *failure,
                            const char *value, qdq_buffer_role role) {
    if (failure->kind == QDQ_HOST_MEMORY) return stop_memory(run);
    const qdq_node *node = run->node;
    *run->trouble = (qdq_device_trouble){.failure = *failure, .program = ""};
    if (node) {
        run->trouble->subject = (qdq_subject){.node = node->name, .op = node->op->name};
        run->trouble->program = run->steps[current_step(run)].program;
    } else {
        run->trouble->subject =
            (qdq_subject){.node = value, .kind = role == QDQ_ROLE_INPUT ? "input" : "constant"};
    }
    return stop(run, QDQ_OK);
}

//---- Records ----------------------------------------------------------------

void qdq_run_add_event(qdq_device_run *run, qdq_device_event event) {
    if (!run->records) return;
    qdq_device_event *events = qdq_mempool_grow(run->scratch, run->events, run->event_count,
                                                &run->event_capacity, sizeof *events);
    if (!events) {
        stop_memory(run);
        return;
    }
    run->events = events;
    event.step = current_step(run);
    events[run->event_count++] = event;
    if (run->step_count) run->steps[run->step_count - 1].event_count++;
}

static void note_peaks(qdq_device_run *run, qdq_buffer_type pool, uint64_t before) {
    const qdq_free_list *list = &run->memory.lists[pool];
    if (list->peak > before) run->peak_step[pool] = current_step(run);
    uint64_t l1 = run->memory.lists[QDQ_L1].allocated + run->memory.lists[QDQ_L1_SMALL].allocated;
    if (l1 > run->peak_l1) run->peak_l1 = l1;
}

// Returns a buffer as the memory of the device sees it.
static qdq_buffer held_of(const qdq_run_buffer *b) {
    return (qdq_buffer){b->place->layout, b->address, b->is_allocated};
}

static uint64_t taken_at(const qdq_device_run *run, const qdq_buffer *held) {
    const qdq_free_list *list = &run->memory.lists[held->layout.buffer_type];
    const qdq_memory_block *block =
        held->layout.bytes_per_bank ? qdq_free_list_find(list, held->address) : NULL;
    return block ? block->bytes : 0;
}

// Fills in a buffer in its public form, which it has only if there is a record.
static void show(const qdq_device_run *run, qdq_run_buffer *b, const char *name,
                 qdq_buffer_role role, uint64_t taken) {
    if (!b->shown) return;
    const qdq_buffer_layout *layout = &b->place->layout;
    qdq_device_buffer *s = b->shown;
    s->name = name;
    s->role = role;
    s->view_of = b->view_of;
    s->first_step = s->last_step = s->last_use = current_step(run);
    s->dtype = b->tensor.dtype;
    s->shape = b->tensor.shape;
    s->layout = b->tensor.layout;
    if (s->layout == QDQ_LAYOUT_TILE) s->tile = qdq_tile_shape_or_default(b->tensor.tile);
    s->pool = layout->buffer_type;
    s->memory_layout = layout->memory_layout;
    s->memory_config = &b->place->config;
    s->address = b->address;
    s->page_bytes = layout->page_size;
    s->pages = layout->pages;
    s->size = qdq_buffer_layout_size(layout);
    s->slot_bytes = layout->slot;
    s->banks = layout->banks;
    s->bytes_per_bank = layout->bytes_per_bank;
    s->cores = (size_t)layout->cores;
    s->taken = taken;
}

//---- Buffers ----------------------------------------------------------------

static qdq_run_buffer *add_buffer(qdq_device_run *run) {
    qdq_run_buffer *buffers = qdq_mempool_grow(run->scratch, run->buffers, run->buffer_count,
                                               &run->buffer_capacity, sizeof *buffers);
    if (!buffers) {
        stop_memory(run);
        return NULL;
    }
    run->buffers = buffers;
    qdq_run_buffer *b = &buffers[run->buffer_count];
    *b = (qdq_run_buffer){.view_of = SIZE_MAX};
    if (run->records) b->shown = QDQ_MEMPOOL_NEW(run->scratch, qdq_device_buffer);
    if (!run->records || b->shown) return b;
    stop_memory(run);
    return NULL;
}

static qdq_status layout_of(qdq_device_run *run, const qdq_run_buffer *b,
                            const qdq_memory_config *config, const char *name,
                            qdq_buffer_layout *out) {
    qdq_error why = {0};
    if (qdq_buffer_layout_of(&run->memory.device, &b->tensor, config, out, &why) == QDQ_MEMORY_FINE)
        return QDQ_OK;
    return qdq_fail(run->err, QDQ_ERR_UNSUPPORTED, "'%s' cannot lie on the device %s: %s", name,
                    run->memory.device.name, why.text);
}

// Returns the last place if it is the same, else a new one; NULL: no memory.
static const qdq_run_place *place_of(qdq_device_run *run, const qdq_memory_config *config,
                                     const qdq_buffer_layout *layout) {
    const qdq_run_place *last = run->last_place, place = {*config, *layout};
    if (!last || !qdq_memory_config_equal(&last->config, config) ||
        !qdq_buffer_layout_equal(&last->layout, layout))
        run->last_place = qdq_mempool_copy(run->scratch, &place, 1, sizeof place);
    return run->last_place;
}

// Takes the address that is given for an input.
static qdq_status take_address(qdq_device_run *run, const qdq_buffer_layout *layout,
                               uint64_t address, const char *name, qdq_buffer *held) {
    if (qdq_buffer_allocate_at(&run->memory, layout, address, held, NULL) == QDQ_FAILURE_NONE)
        return QDQ_OK;
    return qdq_fail(run->err, QDQ_ERR_UNSUPPORTED,
                    "'%s' cannot lie at address %llu of %s on the device %s: its %llu bytes are "
                    "not free there in each bank",
                    name, (unsigned long long)address, qdq_buffer_type_name(layout->buffer_type),
                    run->memory.device.name, (unsigned long long)layout->bytes_per_bank);
}

// Allocates a buffer, at the address of `given`, which may be NULL, if it has one.
static size_t allocate(qdq_device_run *run, qdq_device_tensor tensor,
                       const qdq_memory_config *config, const qdq_given_layout *given,
                       const char *name, qdq_buffer_role role) {
    if (run->stopped) return SIZE_MAX;
    qdq_run_buffer *b = add_buffer(run);
    if (!b || !name) return stop_memory(run);
    b->tensor = tensor;
    qdq_buffer_layout layout;
    qdq_status status = layout_of(run, b, config, name, &layout);
    if (status != QDQ_OK) return stop(run, status);
    b->place = place_of(run, config, &layout);
    if (!b->place) return stop_memory(run);
    qdq_buffer held;
    qdq_memory_failure failure;
    uint64_t before = run->memory.lists[layout.buffer_type].peak;
    bool has_address = given && given->has_address;
    if (has_address && given->is_late)
        has_address = qdq_buffer_allocate_at(&run->memory, &layout, given->address, &held, NULL) ==
                      QDQ_FAILURE_NONE;
    else if (has_address)
        status = take_address(run, &layout, given->address, name, &held);
    if (status != QDQ_OK) return stop(run, status);
    if (!has_address && qdq_buffer_allocate(&run->memory, &layout, QDQ_DIRECTION_DEFAULT, &held,
                                            &failure) != QDQ_FAILURE_NONE)
        return qdq_run_stop_failure(run, &failure, name, role);
    b->address = held.address, b->is_allocated = held.is_allocated;
    note_peaks(run, layout.buffer_type, before);
    uint64_t taken = taken_at(run, &held);
    show(run, b, name, role, taken);
    size_t index = run->buffer_count++;
    qdq_run_add_event(run, (qdq_device_event){.kind = QDQ_EVENT_ALLOCATE,
                                              .buffer = index,
                                              .address = b->address,
                                              .bytes = taken});
    return run->stopped ? SIZE_MAX : index;
}

// Returns a name that lives as long as the plan if there is a record of it.
static const char *name_of(qdq_device_run *run, const char *name) {
    return run->records ? qdq_mempool_strdup(run->mempool, name) : name;
}

static const char *joined(qdq_device_run *run, const char *node, const char *what) {
    char text[2 * QDQ_MAX_NAME_BYTES];
    snprintf(text, sizeof text, "%s.%s", node, what);
    return qdq_mempool_strdup(run->mempool, text);
}

qdq_dtype qdq_stored_dtype(const qdq_graph *graph, uint32_t id, qdq_float_storage storage) {
    const qdq_graph_value *v = &graph->values[id];
    bool narrows = storage == QDQ_FLOAT_BFLOAT16 && v->kind == QDQ_VALUE_MADE && !v->returned &&
                   qdq_dtype_get(v->type.dtype)->kind == QDQ_KIND_FLOAT;
    return narrows ? QDQ_BFLOAT16 : v->type.dtype;
}

// Returns the buffer of the output_tensor that value `id` is written to; SIZE_MAX: there is none.
static size_t buffer_to_reuse(const qdq_device_run *run, uint32_t id) {
    bool is_first = run->node && run->node->outputs[0] == id && !run->own_outputs;
    uint32_t into = is_first ? qdq_output_tensor_of(run->node) : 0;
    return into ? run->buffer_of[into] : SIZE_MAX;
}

size_t qdq_run_allocate_value(qdq_device_run *run, uint32_t id, qdq_buffer_role role) {
    if (run->stopped) return SIZE_MAX;
    size_t reused = buffer_to_reuse(run, id);
    if (reused != SIZE_MAX) return qdq_run_view(run, id, reused);
    qdq_dtype dtype = qdq_stored_dtype(run->graph, id, run->request->float_storage);
    const char *name = name_of(run, run->graph->values[id].name);
    const qdq_tensor_layout *as = qdq_tensor_layout_of(&run->layouts, id);
    const qdq_conv_weights *weights = &run->weights[id];
    qdq_shape shape = weights->shape.rank ? weights->shape : run->graph->values[id].type.shape;
    qdq_device_tensor tensor = {dtype, shape, as->layout, as->tile};
    run->buffer_of[id] = allocate(run, tensor, &as->memory_config,
                                  qdq_graph_given_layout(run->graph, id), name, role);
    return run->buffer_of[id];
}

size_t qdq_run_allocate_list(qdq_device_run *run, const qdq_node *node, const char *attribute,
                             qdq_dtype dtype, qdq_shape shape) {
    return allocate(run, (qdq_device_tensor){.dtype = dtype, .shape = shape},
                    &(qdq_memory_config){0}, NULL, joined(run, node->name, attribute),
                    QDQ_ROLE_CONSTANT);
}

size_t qdq_run_allocate_intermediate(qdq_device_run *run, const char *program, qdq_dtype dtype,
                                     qdq_shape shape, size_t like) {
    if (run->stopped) return SIZE_MAX;
    qdq_device_tensor tensor = run->buffers[like].tensor;
    tensor.dtype = dtype;
    tensor.shape = shape;
    return allocate(run, tensor, &run->buffers[like].place->config, NULL,
                    joined(run, run->node->name, program), QDQ_ROLE_INTERMEDIATE);
}

size_t qdq_run_view(qdq_device_run *run, uint32_t id, size_t root) {
    if (run->stopped) return SIZE_MAX;
    qdq_run_buffer *b = add_buffer(run);
    if (!b) return SIZE_MAX;
    const qdq_run_buffer *from = &run->buffers[root];
    b->tensor = from->tensor;
    b->tensor.shape = run->graph->values[id].type.shape;
    b->place = from->place;
    b->view_of = from->view_of == SIZE_MAX ? root : from->view_of;
    qdq_buffer held, root_held = held_of(from);
    if (!qdq_buffer_view(&run->memory, &root_held, NULL, &held)) return stop_memory(run);
    b->address = held.address, b->is_allocated = held.is_allocated;
    show(run, b, name_of(run, run->graph->values[id].name), QDQ_ROLE_RESULT,
         from->shown ? from->shown->taken : 0);
    run->buffer_of[id] = run->buffer_count++;
    qdq_run_add_event(run, (qdq_device_event){.kind = QDQ_EVENT_ALLOCATE,
                                              .buffer = run->buffer_of[id],
                                              .address = b->address});
    return run->buffer_of[id];
}

void qdq_run_free(qdq_device_run *run, size_t buffer) {
    if (run->stopped || buffer == SIZE_MAX) return;
    qdq_run_buffer *b = &run->buffers[buffer];
    qdq_buffer held = held_of(b);
    qdq_free_list *list = &run->memory.lists[held.layout.buffer_type];
    uint64_t before = list->allocated;
    if (b->shown) b->shown->last_step = current_step(run);
    qdq_buffer_free(&run->memory, &held);
    b->is_allocated = held.is_allocated;
    qdq_run_add_event(run, (qdq_device_event){.kind = QDQ_EVENT_FREE,
                                              .buffer = buffer,
                                              .address = b->address,
                                              .bytes = before - list->allocated});
}

//---- Programs ---------------------------------------------------------------

void qdq_run_begin(qdq_device_run *run, const char *program) {
    if (run->stopped) return;
    if (!run->records) run->step_count = 0;
    qdq_device_step *steps = qdq_mempool_grow(run->scratch, run->steps, run->step_count,
                                              &run->step_capacity, sizeof *steps);
    if (!steps) {
        stop_memory(run);
        return;
    }
    run->steps = steps;
    steps[run->step_count++] = (qdq_device_step){
        .node = name_of(run, run->node->name),
        .op = run->node->op->name,
        .program = program,
        .node_index = run->node_index,
        .output = SIZE_MAX,
        .inputs = {SIZE_MAX, SIZE_MAX},
        .first_event = run->event_count,
    };
}

void qdq_run_note_use(qdq_device_run *run, size_t buffer) {
    if (buffer != SIZE_MAX && run->records)
        run->buffers[buffer].shown->last_use = current_step(run);
}

void qdq_run_launch(qdq_device_run *run, qdq_program_kind kind, size_t a, size_t b,
                    qdq_dtype scalar_dtype, size_t output) {
    if (run->stopped) return;
    qdq_device_step *step = &run->steps[run->step_count - 1];
    step->output = output;
    step->inputs[0] = a;
    step->inputs[1] = b;
    qdq_run_note_use(run, a);
    qdq_run_note_use(run, b);
    if (kind != QDQ_PROGRAM_OTHER) qdq_run_place_circular(run, kind, scalar_dtype);
    if (run->stopped) return;
    uint64_t circular = step->circular_end - step->circular_begin;
    uint64_t l1 = run->memory.lists[QDQ_L1].allocated + run->memory.lists[QDQ_L1_SMALL].allocated;
    for (int type = 0; run->records && type < QDQ_POOLS; type++) {
        qdq_memory_view view = qdq_device_memory_view(&run->memory, (qdq_buffer_type)type);
        step->pools[type] =
            (qdq_pool_state){view.total_bytes_allocated_per_bank, view.total_bytes_free_per_bank,
                             view.largest_contiguous_bytes_free_per_bank};
    }
    if (circular > run->peak_circular) run->peak_circular = circular;
    if (circular + l1 > run->peak_l1) run->peak_l1 = circular + l1;
}
