// SPDX-License-Identifier: Apache-2.0
// Prints completion scripts for bash, zsh and fish.
#include <qdq/inspect.h>
#include <string.h>

#include "tools/manual/manual.h"

//---- Candidates ------------------------------------------------------------

typedef enum operand_kind { IS_FILE, IS_WORD, IS_FREE } operand_kind;

static operand_kind kind_of_argument(const option_info *option) {
    if (strstr(option->argument, "FILE")) return IS_FILE;
    bool words = strcmp(option->name, "target") == 0 || strchr(option->argument, '|');
    return words ? IS_WORD : IS_FREE;
}

static void put_targets(void) {
    for (size_t i = 0; i < qdq_target_count(); i++)
        printf("%s%s", i ? " " : "", qdq_target_get(i).name);
}

// Prints the words that an option of kind IS_WORD takes, separated by spaces.
static void put_argument_words(const command_row *command, const option_info *option) {
    if (strcmp(option->name, "target") == 0) {
        put_targets();
        if (strcmp(command->name, "check") == 0) printf(" all");
        return;
    }
    for (const char *c = option->argument; *c; c++) putchar(*c == '|' ? ' ' : *c);
}

static void put_commands(const command_list *commands) {
    for (size_t i = 0; i < commands->count; i++)
        printf("%s%s", i ? " " : "", commands->rows[i].name);
}

static operand_kind kind_of_operand(const command_row *command) {
    return command_reads_graph(command) ? IS_FILE : IS_WORD;
}

static void put_operand_words(const command_list *commands, const command_row *command) {
    if (strcmp(command->operands, "[TARGET]") == 0) put_targets();
    if (strcmp(command->operands, "[COMMAND]") == 0) put_commands(commands);
    if (strcmp(command->operands, "[OP]") != 0) return;
    for (size_t i = 0; i < qdq_op_count(); i++) printf("%s%s", i ? " " : "", qdq_op_get(i).name);
}

// Prints a text in single quotes, with a backslash before each character of `special`. `quote` is
// the shell's form of a single quote inside such a text.
static void put_escaped(const char *text, const char *special, const char *quote) {
    for (; *text; text++) {
        if (strchr(special, *text)) putchar('\\');
        if (*text == '\'')
            printf("%s", quote);
        else
            putchar(*text);
    }
}

//---- bash -------------------------------------------------------------------

static void put_bash_command(const command_list *commands, const command_row *command) {
    option_info option;
    printf("    *:%s)\n        words='", command->name);
    put_operand_words(commands, command);
    printf("'\n        options='");
    for (size_t i = 0; options_get(command, i, &option); i++)
        printf("%s--%s", i ? " " : "", option.name);
    printf("'\n        case $previous in\n");
    for (size_t i = 0; options_get(command, i, &option); i++) {
        if (!option.argument) continue;
        operand_kind kind = kind_of_argument(&option);
        printf("        ");
        if (option.letter) printf("-%c | ", option.letter);
        printf("--%s) options='' words='", option.name);
        if (kind == IS_WORD) put_argument_words(command, &option);
        printf(kind == IS_FILE ? "' files=yes ;;\n" : "' files='' ;;\n");
    }
    printf("        esac\n        ;;\n");
}

// Prints the script for bash. With `complete -o default`, bash offers file names if no word fits.
static void put_bash(const command_list *commands) {
    printf("# Printed by `qdq help --completion bash`; do not edit.\n"
           "_qdq() {\n"
           "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    local words='' options='' files=yes\n"
           "    COMPREPLY=()\n"
           "    case $COMP_CWORD:${COMP_WORDS[1]} in\n"
           "    1:*)\n        words='");
    put_commands(commands);
    printf("'\n        options='--help --version'\n        ;;\n");
    for (size_t i = 0; i < commands->count; i++) put_bash_command(commands, &commands->rows[i]);
    printf("    esac\n"
           "    [[ $current == -* ]] && words=$options\n"
           "    [ -n \"$files\" ] || compopt +o default\n"
           "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
           "}\n"
           "complete -o default -F _qdq qdq\n");
}

//---- zsh --------------------------------------------------------------------

static void put_zsh_text(const char *text) { put_escaped(text, "[]:\\", "'\\''"); }

static void put_zsh_option(const command_row *command, const option_info *option) {
    if (option->letter)
        printf(" \\\n            '*'{-%c,--%s}'[", option->letter, option->name);
    else
        printf(" \\\n            '*--%s[", option->name);
    put_zsh_text(option->help);
    printf("]");
    if (option->argument) {
        operand_kind kind = kind_of_argument(option);
        printf(":");
        put_zsh_text(option->argument);
        printf(kind == IS_FILE ? ":_files" : kind == IS_WORD ? ":(" : ":");
        if (kind == IS_WORD) put_argument_words(command, option);
        if (kind == IS_WORD) printf(")");
    }
    printf("'");
}

static void put_zsh_command(const command_list *commands, const command_row *command) {
    option_info option;
    printf("    %s)\n        _arguments", command->name);
    for (size_t i = 0; options_get(command, i, &option); i++) put_zsh_option(command, &option);
    printf(" \\\n            '*:");
    put_zsh_text(command->operands);
    printf(kind_of_operand(command) == IS_FILE ? ":_files" : ":(");
    put_operand_words(commands, command);
    printf(kind_of_operand(command) == IS_FILE ? "'\n        ;;\n" : ")'\n        ;;\n");
}

static void put_zsh(const command_list *commands) {
    printf("#compdef qdq\n"
           "# Printed by `qdq help --completion zsh`; do not edit.\n"
           "_qdq() {\n"
           "    local -a commands=(");
    for (size_t i = 0; i < commands->count; i++) {
        printf("\n        '%s:", commands->rows[i].name);
        put_zsh_text(commands->rows[i].summary);
        printf("'");
    }
    printf("\n    )\n"
           "    if (( CURRENT == 2 )); then\n"
           "        _describe command commands\n"
           "        return\n"
           "    fi\n"
           "    shift words\n"
           "    (( CURRENT-- ))\n"
           "    case $words[1] in\n");
    for (size_t i = 0; i < commands->count; i++) put_zsh_command(commands, &commands->rows[i]);
    printf("    esac\n}\n_qdq \"$@\"\n");
}

//---- fish -------------------------------------------------------------------

static void put_fish_text(const char *text) {
    putchar('\'');
    put_escaped(text, "\\", "\\'");
    putchar('\'');
}

static void put_fish_option(const command_row *command, const option_info *option) {
    printf("complete -c qdq -n '__fish_seen_subcommand_from %s' -l %s", command->name,
           option->name);
    if (option->letter) printf(" -s %c", option->letter);
    if (option->argument) {
        operand_kind kind = kind_of_argument(option);
        printf(kind == IS_FILE ? " -r -F" : " -x");
        if (kind == IS_WORD) printf(" -a '");
        if (kind == IS_WORD) put_argument_words(command, option);
        if (kind == IS_WORD) printf("'");
    }
    printf(" -d ");
    put_fish_text(option->help);
    printf("\n");
}

static void put_fish_command(const command_list *commands, const command_row *command) {
    option_info option;
    printf("complete -c qdq -n __fish_use_subcommand -f -a %s -d ", command->name);
    put_fish_text(command->summary);
    printf("\n");
    if (kind_of_operand(command) == IS_WORD) {
        printf("complete -c qdq -n '__fish_seen_subcommand_from %s' -f -a '", command->name);
        put_operand_words(commands, command);
        printf("'\n");
    }
    for (size_t i = 0; options_get(command, i, &option); i++) put_fish_option(command, &option);
}

static void put_fish(const command_list *commands) {
    printf("# Printed by `qdq help --completion fish`; do not edit.\n");
    for (size_t i = 0; i < commands->count; i++) put_fish_command(commands, &commands->rows[i]);
}

bool print_completion(const command_list *commands, const char *shell) {
    static const struct {
        const char *shell;
        void (*put)(const command_list *commands);
    } shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
        if (strcmp(shells[i].shell, shell) != 0) continue;
        shells[i].put(commands);
        return true;
    }
    return false;
}
