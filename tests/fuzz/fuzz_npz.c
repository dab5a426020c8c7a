// SPDX-License-Identifier: Apache-2.0
// A libFuzzer target: reads any bytes as a .npz file, and each of its arrays. A deflated byte
// becomes at most 1,032.
#include "tests/fuzz/fuzz.h"
#include "tools/io/npz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    qdq_error err = {0};
    fuzz_bound_growth(size, 1 << 18, 1200);
    npz_file *file = npz_open(fuzz_file(data, size), &err);
    for (size_t i = 0; file && i < npz_count(file); i++) {
        npy_tensor tensor;
        (void)npz_read(file, i, NULL, NULL, &tensor, &err);
        npy_release(&tensor);
    }
    npz_close(file);
    fuzz_free_growth();
    return 0;
}
