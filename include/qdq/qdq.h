// SPDX-License-Identifier: Apache-2.0
// Includes all public headers.
#ifndef QDQ_QDQ_H
#define QDQ_QDQ_H

#include <qdq/base.h>
#include <qdq/capture.h>
#include <qdq/coding.h>
#include <qdq/device.h>
#include <qdq/device_plan.h>
#include <qdq/equalize.h>
#include <qdq/evidence.h>
#include <qdq/exec.h>
#include <qdq/fingerprint.h>
#include <qdq/graph.h>
#include <qdq/inspect.h>
#include <qdq/numerics.h>
#include <qdq/ops.h>
#include <qdq/parallel.h>
#include <qdq/tensor_file.h>
#include <qdq/tile.h>
#include <qdq/values.h>

#endif
