// SPDX-License-Identifier: Apache-2.0
#include "tools/colour.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// True if a stream is a terminal whose user wants colours (no-color.org).
static bool takes_colours(FILE *out) {
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if ((none && *none) || !terminal || strcmp(terminal, "dumb") == 0) return false;
    int file = fileno(out);  // negative: the stream is in memory
    return file >= 0 && isatty(file);
}

void colour_print(FILE *out, colour which, const char *text, size_t length) {
    static const char *const begins[] = {"", "\033[1;31m", "\033[1;33m", "\033[2m"};
    bool coloured = which != COLOUR_NONE && takes_colours(out);
    fprintf(out, "%s%.*s%s", coloured ? begins[which] : "", (int)length, text,
            coloured ? "\033[0m" : "");
}
