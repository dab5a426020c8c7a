// SPDX-License-Identifier: Apache-2.0
#include "tools/shell_word.h"

#include <stdbool.h>
#include <string.h>

void print_shell_word(FILE *out, const char *word) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-";
    bool quoted = !*word || word[strspn(word, plain)];
    if (quoted) fputc('\'', out);
    for (const char *c = word; *c; c++)
        if (*c == '\'')
            fputs("'\\''", out);
        else
            fputc(*c, out);
    if (quoted) fputc('\'', out);
}
