// SPDX-License-Identifier: Apache-2.0
// A libFuzzer target: reads any bytes as a .safetensors file, and each of its tensors.
#include <qdq/qdq.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    qdq_error err = {0};
    fuzz_bound_growth(size, 1 << 16, 256);
    qdq_tensor_file *file = qdq_tensor_file_open(fuzz_file(data, size), NULL, &err);
    for (size_t i = 0; i < qdq_tensor_file_count(file); i++) {
        const qdq_tensor_info *info = qdq_tensor_file_at(file, i);
        void *elements = malloc(info->bytes);
        if (elements) (void)qdq_tensor_file_read(file, info, elements, &err);
        free(elements);
    }
    qdq_tensor_file_close(file);
    fuzz_free_growth();
    return 0;
}
