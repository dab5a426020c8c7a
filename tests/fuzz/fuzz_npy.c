// SPDX-License-Identifier: Apache-2.0
// A libFuzzer target: reads any bytes as a .npy file.
#include "tests/fuzz/fuzz.h"
#include "tools/io/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    npy_tensor tensor;
    qdq_error err = {0};
    fuzz_bound_growth(size, 1 << 17, 2);
    (void)npy_read(fuzz_file(data, size), &tensor, &err);
    npy_release(&tensor);
    fuzz_free_growth();
    return 0;
}
