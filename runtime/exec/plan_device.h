// SPDX-License-Identifier: Apache-2.0
// The device plan of a plan, with fields that its public part leaves out.
#ifndef QDQ_RUNTIME_EXEC_PLAN_DEVICE_H
#define QDQ_RUNTIME_EXEC_PLAN_DEVICE_H

#include "include/qdq/device_plan.h"
#include "runtime/tenstorrent/buffer_layout.h"

typedef struct qdq_device_record {
    qdq_device_plan shown;
    qdq_device device;
    const qdq_buffer_layout *layouts;  // per buffer
    const size_t *buffer_of;           // value of the graph -> buffer; SIZE_MAX: it has none
    const size_t *buffer_of_slot;      // value of the plan -> buffer
} qdq_device_record;

#endif
