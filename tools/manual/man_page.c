// SPDX-License-Identifier: Apache-2.0
// Prints man pages in roff.
#include <ctype.h>
#include <string.h>

#include "tools/common.h"
#include "tools/manual/manual.h"

// Prints text escaped for roff: hyphens stay hyphens, and no line becomes a request.
static void put(const char *text) {
    if (*text == '.' || *text == '\'') printf("\\&");
    for (; *text; text++) {
        if (*text == '-')
            printf("\\-");
        else if (*text == '\\')
            printf("\\e");
        else
            putchar(*text);
    }
}

static void put_line(const char *text) {
    put(text);
    putchar('\n');
}

static void put_bold(const char *text) {
    printf("\\fB");
    put(text);
    printf("\\fR");
}

static void put_italic(const char *text) {
    printf("\\fI");
    put(text);
    printf("\\fR");
}

// Prints the section NAME: the summary begins in lower case and has no full stop.
static void put_name(const char *name, const char *summary) {
    printf(".SH NAME\n");
    put(name);
    printf(" \\- %c", tolower((unsigned char)*summary));
    size_t length = strlen(summary);
    for (size_t i = 1; i + 1 < length; i++) {
        char letter[] = {summary[i], '\0'};
        put(letter);
    }
    putchar('\n');
}

static void put_title(const char *name) {
    printf(".\\\" Printed by `qdq help --man`; do not edit.\n.TH \"");
    for (const char *c = name; *c; c++) putchar(toupper((unsigned char)*c));
    printf("\" 1 \"\" \"qdq %s\" \"qdq manual\"\n", qdq_version());
}

static void put_exit_codes(void) {
    printf(".SH EXIT STATUS\n");
    for (int i = 0; exit_code_texts[i]; i++) {
        printf(".TP\n.B %d\n", i);
        put_line(exit_code_texts[i]);
    }
}

static void put_option(const option_info *option) {
    printf(".TP\n");
    if (option->letter) {
        put_bold((const char[]){'-', option->letter, '\0'});
        printf(", ");
    }
    printf("\\fB\\-\\-");
    put(option->name);
    printf("\\fR");
    if (option->argument) {
        putchar(' ');
        put_italic(option->argument);
    }
    putchar('\n');
    put_line(option->help);
}

static void put_examples(const command_row *command) {
    printf(".SH EXAMPLES\n.nf\n");
    for (int i = 0; i < COMMAND_EXAMPLES; i++) {
        printf("qdq ");
        put_line(command->examples[i]);
    }
    printf(".fi\n");
}

static void put_command_page(const command_row *command) {
    char name[32];
    snprintf(name, sizeof name, "qdq-%s", command->name);
    put_title(name);
    put_name(name, command->summary);
    printf(".SH SYNOPSIS\n");
    put_bold("qdq");
    putchar(' ');
    put_bold(command->name);
    putchar(' ');
    put_italic(command->operands);
    printf(" [\\fIoptions\\fR]\n.SH DESCRIPTION\n");
    put_line(command->summary);
    if (command_reads_graph(command)) put_line(GRAPH_OPERAND_TEXT);
    if (command->details) {
        printf(".PP\n");
        put_line(command->details);
    }
    printf(".SH OPTIONS\n");
    option_info option;
    for (size_t i = 0; options_get(command, i, &option); i++) put_option(&option);
    put_exit_codes();
    put_examples(command);
    printf(".SH SEE ALSO\n.BR qdq (1)\n");
}

static void put_tool_page(const command_list *commands) {
    put_title("qdq");
    put_name("qdq", TOOL_SUMMARY);
    printf(".SH SYNOPSIS\n\\fBqdq\\fR \\fICOMMAND\\fR ...\n.SH DESCRIPTION\n");
    put_line(TOOL_SUMMARY);
    printf(".SH COMMANDS\n");
    for (size_t i = 0; i < commands->count; i++) {
        printf(".TP\n");
        put_bold(commands->rows[i].name);
        putchar(' ');
        put_italic(commands->rows[i].operands);
        putchar('\n');
        put_line(commands->rows[i].summary);
    }
    put_exit_codes();
    printf(
        ".SH ENVIRONMENT\n.TP\n.B QDQ_ISA\nCaps the instruction set, as \\fB\\-\\-isa\\fR does.\n"
        ".SH SEE ALSO\n");
    for (size_t i = 0; i < commands->count; i++) {
        printf(".BR qdq\\-%s (1)%s\n", commands->rows[i].name, i + 1 < commands->count ? "," : "");
    }
}

void print_man_page(const command_list *commands, const command_row *command) {
    if (command)
        put_command_page(command);
    else
        put_tool_page(commands);
}
