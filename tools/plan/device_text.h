// SPDX-License-Identifier: Apache-2.0
// Prints the device plan of a plan as text and pictures.
#ifndef QDQ_TOOLS_PLAN_DEVICE_TEXT_H
#define QDQ_TOOLS_PLAN_DEVICE_TEXT_H

#include <qdq/exec.h>
#include <qdq/tile.h>

// Prints nothing if the plan has no device.
// Prints ", tiles of 16x32" unless tiles are 32x32 and not transposed.
void print_tile(qdq_tile_shape tile);
void print_device(const qdq_plan *plan);
// Prints a line for each page of a buffer.
void print_pages(const qdq_plan *plan, size_t buffer);

#endif
