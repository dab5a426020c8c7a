// SPDX-License-Identifier: Apache-2.0
// The functions that ttnn calls for a program of a device plan, and what it prints of them.
#ifndef QDQ_TOOLS_PLAN_CAPTURE_NAMES_H
#define QDQ_TOOLS_PLAN_CAPTURE_NAMES_H

#include <qdq/device_plan.h>

#include "runtime/base/json_writer.h"

enum { CAPTURE_NAME_BYTES = 96 };

typedef struct capture_names {
    char function[CAPTURE_NAME_BYTES];  // "ttnn.add"
    char device[CAPTURE_NAME_BYTES];    // "BinaryNgDeviceOperation"
    const char *word;                   // "BinaryOpType::ADD"; NULL: the attributes have none
    const char *attributes;             // the name of their struct
} capture_names;

// Finds the names of the program of a step.
capture_names capture_names_of(const qdq_device_plan *plan, const qdq_device_step *step);

// Writes the list of arguments of the program: its attributes, as far as the plan has them, and its
// tensors.
void capture_arguments(qdq_json *json, const qdq_device_plan *plan, const qdq_device_step *step);
// Writes the arguments of create_device_tensor; a capture also has an address of the process.
void capture_tensor_arguments(qdq_json *json, const qdq_device_buffer *buffer);

enum { CAPTURE_SHAPE_BYTES = QDQ_MAX_RANK * 24 + 16, CAPTURE_DTYPE_BYTES = 64 };
const char *capture_shape(const qdq_device_buffer *buffer, char out[CAPTURE_SHAPE_BYTES]);
const char *capture_dtype(const qdq_device_buffer *buffer, char out[CAPTURE_DTYPE_BYTES]);
const char *capture_layout(const qdq_device_buffer *buffer);

#endif
