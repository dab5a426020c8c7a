// SPDX-License-Identifier: Apache-2.0
// The command line: one table of options from which parsing and help come.
#ifndef QDQ_TOOLS_OPTIONS_H
#define QDQ_TOOLS_OPTIONS_H

#include <qdq/qdq.h>
#include <stdio.h>

#include "tools/watch.h"

enum { MAX_LIST = 256 };

// Values of an option that may be given more than once.
typedef struct string_list {
    const char *items[MAX_LIST];
    size_t count;
} string_list;

// Everything that any command can be told. All zero is the default.
typedef struct options {
    string_list operands;  // what is no option: the graph, an op, a target
    string_list inputs, outputs, expects;
    const char *target;
    const char *targets;
    const char *float_storage;
    const char *isa;
    const char *fill;
    const char *tolerance;
    const char *threads, *repeat, *rows;
    const char *max_elements, *max_bytes, *max_file_bytes, *max_values, *max_operations;
    bool all, materialize, literal, fast, json, markdown, strict, map, dtypes, schema;
    const char *completion;
    bool vs_copy, compile, quiet, help, man;
    watch *watch;  // over the command that runs
} options;

enum { COMMAND_EXAMPLES = 2 };

typedef struct command_row {
    const char *name;
    const char *operands;  // "GRAPH", "[OP]"
    const char *summary;
    size_t least, most;  // operands
    int (*run)(const options *opt);
    const char *examples[COMMAND_EXAMPLES];  // what follows "qdq "
} command_row;

typedef struct command_list {
    const command_row *rows;
    size_t count;
} command_list;

#define TOOL_SUMMARY "Runs quantized tensor graphs the way a given backend would, bit for bit."
#define GRAPH_OPERAND_TEXT "GRAPH is a file, or - for standard input."

bool command_reads_graph(const command_row *command);

typedef struct option_info {
    const char *name;
    char letter;           // 0: none
    const char *argument;  // NULL: a flag
    const char *help;
} option_info;

// Option number `index` of a command; false: it has not so many.
bool options_get(const command_row *command, size_t index, option_info *out);

// Fills `out`; false after a message on stderr when the words do not fit `command`.
bool options_parse(const command_row *command, int argc, char **argv, options *out);

// The help of a command, with its options and examples, and the examples alone. Lines have at most
// 80 columns.
void options_help(const command_row *command);
void options_examples(FILE *out, const command_row *command);

// A whole number of at least `least`, or `fallback` where `text` is NULL. False after a message.
bool options_number(const char *name, const char *text, size_t least, size_t fallback, size_t *out);

#endif
