// SPDX-License-Identifier: Apache-2.0
// Chooses the device a graph is compiled for: the given device, or else the target's own.
#include <string.h>

#include "graph/core/target.h"
#include "graph/device/device_pass.h"
#include "runtime/base/error.h"

static const char *arch_name(qdq_arch arch) {
    return arch == QDQ_WORMHOLE ? "wormhole" : arch == QDQ_BLACKHOLE ? "blackhole" : "none";
}

qdq_status qdq_device_choose(const char *target, const qdq_device *given, const qdq_device **out,
                             qdq_error *err) {
    qdq_target_device own = qdq_target_device_of(target);
    *out = NULL;
    if (given && qdq_device_is_none(given)) return QDQ_OK;
    if (!given) {
        if (own.name) *out = qdq_device_find(own.name, err);
        return own.name && !*out ? QDQ_ERR_ARGUMENT : QDQ_OK;
    }
    QDQ_TRY(qdq_device_check(given, err));
    if (own.arch && own.arch != given->arch)
        return qdq_fail(err, QDQ_ERR_ARGUMENT,
                        "target %.64s computes as a %s chip, and device %s is a %s one; wanted "
                        "%s, another %s device, or none",
                        target, arch_name(own.arch), given->name, arch_name(given->arch), own.name,
                        arch_name(own.arch));
    *out = given;
    return QDQ_OK;
}
