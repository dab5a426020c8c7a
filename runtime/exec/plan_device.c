// SPDX-License-Identifier: Apache-2.0
// The public functions that show the device plan of a plan.
#include "runtime/exec/plan_device.h"

#include "runtime/exec/plan.h"

static const qdq_device_record *record_of(const qdq_plan *plan) {
    return plan ? plan->device : NULL;
}

const qdq_device_plan *qdq_plan_device(const qdq_plan *plan) {
    const qdq_device_record *record = record_of(plan);
    return record ? &record->shown : NULL;
}

static size_t buffer_of(const qdq_plan *plan, size_t value) {
    const qdq_device_record *record = record_of(plan);
    return record && value < plan->value_count ? record->buffer_of_slot[value] : SIZE_MAX;
}

const qdq_device_buffer *qdq_plan_value_buffer(const qdq_plan *plan, size_t value) {
    size_t buffer = buffer_of(plan, value);
    return buffer == SIZE_MAX ? NULL : &plan->device->shown.buffers[buffer];
}

bool qdq_plan_buffer_page(const qdq_plan *plan, size_t buffer, uint64_t page, qdq_page *out) {
    const qdq_device_record *record = record_of(plan);
    qdq_page_place place;
    if (!record || !out || buffer >= record->shown.buffer_count ||
        !qdq_page_place_of(&record->layouts[buffer], record->shown.buffers[buffer].address, page,
                           &place))
        return false;
    *out = (qdq_page){place.bank, place.address, place.core_x, place.core_y};
    return true;
}

bool qdq_plan_value_page(const qdq_plan *plan, size_t value, uint64_t page, qdq_page *out) {
    return qdq_plan_buffer_page(plan, buffer_of(plan, value), page, out);
}
