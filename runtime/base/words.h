// SPDX-License-Identifier: Apache-2.0
// Lists of words in a string: "Quantize Dequantize"; endings of file names.
#ifndef QDQ_RUNTIME_BASE_WORDS_H
#define QDQ_RUNTIME_BASE_WORDS_H

#include <stdbool.h>
#include <string.h>

// True if `word` is in `words`, a list separated by spaces. NULL has no words.
static inline bool qdq_has_word(const char *words, const char *word) {
    size_t length = strlen(word);
    const char *at = words && length ? strstr(words, word) : NULL;
    for (; at; at = strstr(at + 1, word))
        if ((at == words || at[-1] == ' ') && (!at[length] || at[length] == ' ')) return true;
    return false;
}

// True if a file name ends in `ending` (".onnx"), which is in lower case; the case of the name does
// not matter.
static inline bool qdq_has_ending(const char *name, const char *ending) {
    size_t length = strlen(name), size = strlen(ending);
    if (length < size) return false;
    for (size_t i = 0; i < size; i++) {
        char c = name[length - size + i];
        if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        if (c != ending[i]) return false;
    }
    return true;
}

#endif
