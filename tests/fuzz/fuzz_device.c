// SPDX-License-Identifier: Apache-2.0
// A libFuzzer target: reads any bytes as the description of a device.
#include <qdq/qdq.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    qdq_device device;
    fuzz_bound_growth(size, 1 << 16, 256);
    (void)qdq_device_parse((const char *)data, size, "fuzz.json", NULL, &device, NULL);
    fuzz_free_growth();
    return 0;
}
