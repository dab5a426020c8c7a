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

// True if `word` is in a list, or fits a word of it that begins or ends in *, which stands for any
// characters: "1.29-neon" is in "1.31-vnni 1.29-*" and in "*-neon".
static inline bool qdq_has_pattern(const char *words, const char *word) {
    size_t size = strlen(word);
    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " "), rest = length - 1;
        bool fits = length == size && strncmp(at, word, length) == 0;
        if (*at == '*')
            fits = size >= rest && strncmp(at + 1, word + size - rest, rest) == 0;
        else if (at[rest] == '*')
            fits = strncmp(at, word, rest) == 0;
        if (fits) return true;
        at += length;
    }
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
