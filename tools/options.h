// SPDX-License-Identifier: Apache-2.0
// The command line: the options of commands, parsed by one table.
#ifndef QDQ_TOOLS_OPTIONS_H
#define QDQ_TOOLS_OPTIONS_H

#include <stdio.h>

#include "runtime/base/budget.h"
#include "tools/options/compile.h"
#include "tools/options/data.h"
#include "tools/options/load.h"

// The options that several commands have. All zero is the default.
typedef struct options {
    string_list operands;  // words other than options: graphs, an op, a target
    string_list inputs, outputs;
    const string_list *results;  // files of values, and of inputs that `inputs` lacks; NULL: none
    const char *fill, *targets, *threads, *html, *spill_folder;
    bool json, markdown, all, quiet, help;
    load_options load;
    compile_options compile;
    data_options data;
    const struct frames *frames;  // of the inputs; NULL: one run
    void *own;            // the options of one command, in its struct <command>_options; NULL: none
    struct watch *watch;  // watches the running command
    struct spill *spill;  // memory in files of `spill_folder`; NULL: none
    qdq_budget *memory;   // budget of graphs, plans, execs and elements
    const char *call;     // the command line as a shell reads it
} options;

enum { COMMAND_EXAMPLES = 2 };

typedef struct command_row {
    const char *name;
    const char *operands;  // "GRAPH", "[OP]"
    const char *summary;
    size_t least, most;  // how many operands; SIZE_MAX: any number
    int (*run)(const options *opt);
    const char *examples[COMMAND_EXAMPLES];  // text after "qdq "
    const char *details;                     // more for its help; NULL: nothing
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

// Sets `out` to option `index` of a command. False if the command has fewer options.
bool options_get(const command_row *command, size_t index, option_info *out);

// Parses a command line into `out`. False after a message on stderr if it is wrong for `command`.
// The caller releases `out` in either case.
bool options_parse(const command_row *command, int argc, char **argv, options *out);
void options_release(const command_row *command, options *opt);

// Returns list number `index` of the files of tensors that the command line gives to read. NULL:
// the command has fewer such options.
string_list *options_files(const command_row *command, options *opt, size_t index);

typedef struct option_file {
    const char *option, *file;
    bool read;     // else written
    bool renamed;  // written under another name
} option_file;

// Sets `out` to file number `index` of the options that take a single file and are given. False if
// there are fewer.
bool options_file(const command_row *command, options *opt, size_t index, option_file *out);

#endif
