// SPDX-License-Identifier: Apache-2.0
// Lists of words in a string: "Quantize Dequantize".
#ifndef QDQ_RUNTIME_BASE_WORDS_H
#define QDQ_RUNTIME_BASE_WORDS_H

#include <stdbool.h>
#include <string.h>

// Whether `word` is one of `words`, which are parted by spaces. NULL has none.
static inline bool qdq_has_word(const char *words, const char *word) {
    size_t length = strlen(word);
    while (length && words && *words) {
        size_t size = strcspn(words, " ");
        if (size == length && strncmp(words, word, size) == 0) return true;
        words += size;
        words += strspn(words, " ");
    }
    return false;
}

#endif
