// SPDX-License-Identifier: Apache-2.0
// Prints the help of commands.
#include <stdio.h>
#include <string.h>

#include "tools/manual/manual.h"

enum { HELP_COLUMNS = 80, HELP_INDENT = 28 };

// Prints words from column `indent` on; the cursor is at column `at`.
static void print_wrapped(const char *text, int at, int indent) {
    for (bool first = true; *text; first = false) {
        int length = (int)strcspn(text, " ");
        bool fits = at + 1 + length <= HELP_COLUMNS;
        if (!fits) printf("\n");
        if (!fits) at = 0;
        at += first || !fits ? printf("%*s", indent - at, "") : printf(" ");
        at += printf("%.*s", length, text);
        text += length;
        text += strspn(text, " ");
    }
    printf("\n");
}

static void print_option(const option_info *info) {
    char left[64];
    int at = snprintf(left, sizeof left, "  %c%c%s--%s%s%s", info->letter ? '-' : ' ',
                      info->letter ? info->letter : ' ', info->letter ? ", " : "  ", info->name,
                      info->argument ? " " : "", info->argument ? info->argument : "");
    printf("%s", left);
    if (at >= HELP_INDENT - 1) printf("\n");
    print_wrapped(info->help, at >= HELP_INDENT - 1 ? 0 : at, HELP_INDENT);
}

void print_examples(FILE *out, const command_row *command) {
    fprintf(out, "\nexamples:\n");
    for (int i = 0; i < COMMAND_EXAMPLES; i++) fprintf(out, "  qdq %s\n", command->examples[i]);
}

void print_help(const command_row *command) {
    printf("usage: qdq %s %s%s[options]\n\n%s%s\n", command->name, command->operands,
           *command->operands ? " " : "", command->summary,
           command_reads_graph(command) ? "\n" GRAPH_OPERAND_TEXT : "");
    if (command->details) {
        printf("\n");
        print_wrapped(command->details, 0, 0);
    }
    printf("\noptions:\n");
    option_info info;
    for (size_t i = 0; options_get(command, i, &info); i++) print_option(&info);
    print_examples(stdout, command);
}
