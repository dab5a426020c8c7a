// SPDX-License-Identifier: Apache-2.0
// A libFuzzer target: reads any bytes as the text of a permalink.
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tools/link/permalink.h"

// Aborts if a span is not in the text.
static void check_span(const char *text, json_span span) {
    if (span.length && (span.at < text || span.at + span.length > text + strlen(text))) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    permalink link;
    qdq_error err = {0};
    fuzz_bound_growth(size, 1 << 12, 4);
    char *text = calloc(size + 1, 1);
    memcpy(text, data, size);
    if (permalink_read(text, &link, &err)) {
        check_span(text, link.graph);
        check_span(text, link.inputs);
        check_span(text, link.got);
    } else if (err.status == QDQ_OK) {
        abort();
    }
    json_squeeze(text);
    (void)permalink_read(text, &link, &err);
    free(text);
    fuzz_free_growth();
    return 0;
}
