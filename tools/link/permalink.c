// SPDX-License-Identifier: Apache-2.0
#include "tools/link/permalink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/posix.h"
#include "runtime/base/words.h"
#include "tools/io/zip/byte_source.h"

#define LINK_FORMAT "qdq-link/1"

// The fields with words. No word needs an escape in JSON or a quote in a shell.
typedef struct word_field {
    const char *key;
    size_t offset, capacity;
} word_field;

#define WORD(field) \
    { #field, offsetof(permalink, field), sizeof((permalink *)NULL)->field }
static const word_field words[] = {WORD(command), WORD(target), WORD(targets), WORD(fill)};
enum { WORDS = sizeof words / sizeof words[0] };

static const char word_characters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._@,+-";

bool permalink_word_fits(const char *word) {
    return *word != '-' && word[strspn(word, word_characters)] == '\0';
}

//---- Writing ----------------------------------------------------------------

static void write_span(FILE *out, const char *key, json_span span) {
    if (span.length) fprintf(out, ",\"%s\":%.*s", key, (int)span.length, span.at);
}

char *permalink_write(const permalink *link) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    fprintf(out, "{\"format\":\"" LINK_FORMAT "\"");
    for (int i = 0; i < WORDS; i++) {
        const char *word = (const char *)link + words[i].offset;
        if (*word) fprintf(out, ",\"%s\":\"%s\"", words[i].key, word);
    }
    if (link->fast) fprintf(out, ",\"fast\":true");
    if (link->left_out) fprintf(out, ",\"left_out\":%zu", link->left_out);
    write_span(out, "graph", link->graph);
    write_span(out, "inputs", link->inputs);
    write_span(out, "got", link->got);
    fprintf(out, "}");
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

//---- Reading ----------------------------------------------------------------

// Reads a string of known characters into a field that is still empty.
static bool read_word(const word_field *field, json_span value, permalink *out) {
    char *word = (char *)out + field->offset;
    if (*word || value.length < 3 || value.length - 2 >= field->capacity || *value.at != '"')
        return false;
    memcpy(word, value.at + 1, value.length - 2);
    word[value.length - 2] = '\0';
    return permalink_word_fits(word);
}

static bool read_span(char first, json_span value, json_span *out) {
    if (out->length || *value.at != first) return false;
    *out = value;
    return true;
}

// Reads a member. False if the format has none of this key, or not with this value, or if it is
// given twice.
static bool read_member(const json_member *m, permalink *out) {
    for (int i = 0; i < WORDS; i++)
        if (json_is(m->key, words[i].key)) return read_word(&words[i], m->value, out);
    if (json_is(m->key, "graph")) return read_span('{', m->value, &out->graph);
    if (json_is(m->key, "inputs")) return read_span('"', m->value, &out->inputs);
    if (json_is(m->key, "got")) return read_span('"', m->value, &out->got);
    if (json_is(m->key, "fast")) {
        bool again = out->fast;
        out->fast = true;
        return !again && json_is(m->value, "true");
    }
    if (!json_is(m->key, "left_out") || out->left_out || !m->value.length || m->value.length > 7)
        return false;
    for (size_t i = 0; i < m->value.length; i++) {
        if (m->value.at[i] < '0' || m->value.at[i] > '9') return false;
        out->left_out = 10 * out->left_out + (size_t)(m->value.at[i] - '0');
    }
    return true;
}

// Returns how many characters of a key a message may show.
static size_t printable(json_span key) {
    size_t count = strspn(key.at, word_characters);
    if (count > key.length) count = key.length;
    return count < 40 ? count : 40;
}

static bool is_seed(const char *text) { return text[strspn(text, "0123456789")] == '\0'; }

bool permalink_read(const char *text, permalink *out, qdq_error *err) {
    const char *at = text;
    json_member member;
    *out = (permalink){0};
    bool known = *text == '{' && json_next(&at, &member) && json_is(member.key, "format") &&
                 json_is(member.value, "\"" LINK_FORMAT "\"");
    if (!known) {
        (void)source_fail(err, QDQ_ERR_PARSE,
                          "the text of the link is not of the format " LINK_FORMAT);
        return false;
    }
    while (json_next(&at, &member)) {
        if (read_member(&member, out)) continue;
        (void)source_fail(err, QDQ_ERR_PARSE,
                          "the key '%.*s' of the link is unknown, given twice or has a wrong value",
                          (int)printable(member.key), member.key.at);
        return false;
    }
    bool explains = strcmp(out->command, "explain") == 0;
    if (at && !*at && out->graph.length && is_seed(out->fill) &&
        qdq_has_word(LINK_COMMANDS, out->command) && explains == (out->got.length > 0))
        return true;
    (void)source_fail(
        err, QDQ_ERR_PARSE,
        "the link has no graph, no command (run, check, compare, explain, bisect or plan), "
        "text behind its end, or results without explain");
    return false;
}
