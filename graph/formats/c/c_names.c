// SPDX-License-Identifier: Apache-2.0
#include "graph/formats/c/c_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "graph/formats/c/c_items.h"
#include "runtime/base/words.h"

//---- Identifiers ------------------------------------------------------------

// Keywords of C11 and C++20, macros and functions that emitted code uses, and macros of compilers
// that are not reserved. Words that begin with two underscores, or one and a capital, are below.
static const char words[] =
    "alignas alignof and and_eq arena asm auto bitand bitor bool break case catch char "
    "char16_t char32_t char8_t class co_await co_return co_yield compl concept const "
    "const_cast consteval constexpr constinit continue decltype default delete do double "
    "dynamic_cast else enum explicit export extern false float for friend goto i386 if "
    "inline int linux long math_errhandling mutable namespace new noexcept not not_eq "
    "nullptr operator or or_eq private protected public register reinterpret_cast requires "
    "restrict return short signed sizeof static static_assert static_cast struct switch "
    "template this thread_local throw true try typedef typeid typename typeof typeof_unqual "
    "union unix unsigned using virtual void volatile wchar_t while xor xor_eq memcpy "
    "offsetof size_t int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t EOF "
    "INFINITY NAN NULL";

// Families of macros in float.h, math.h, stdint.h and wchar.h.
static const char *const macros[] = {
    "DBL_",  "DECIMAL_", "FLT_",        "FP_",   "HUGE_VAL", "INT",  "LDBL_",  "M_",
    "MATH_", "PTRDIFF_", "SIG_ATOMIC_", "SIZE_", "SNAN",     "UINT", "WCHAR_", "WINT_"};

static bool is_numbered(const char *name, const char *stem) {
    size_t length = strlen(stem);
    if (strncmp(name, stem, length) != 0 || !name[length]) return false;
    return strspn(name + length, "0123456789") == strlen(name + length);
}

static bool is_in_capitals(const char *name) {
    for (; *name; name++)
        if (*name >= 'a' && *name <= 'z') return false;
    return true;
}

static bool ends_in(const char *name, const char *end) {
    size_t length = strlen(name), tail = strlen(end);
    return length >= tail && strcmp(name + length - tail, end) == 0;
}

static bool is_macro(const char *name) {
    if (!is_in_capitals(name)) return false;
    for (size_t i = 0; i < sizeof macros / sizeof macros[0]; i++)
        if (strncmp(name, macros[i], strlen(macros[i])) == 0) return true;
    return ends_in(name, "_ELEMENTS") || ends_in(name, "_ARENA_BYTES");
}

// True if an identifier means something in C, C++, the emitted file or the headers it includes.
static bool is_reserved(const char *name) {
    if (name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'))) return true;
    if (is_numbered(name, "step_") || is_numbered(name, "constant_") || is_macro(name)) return true;
    if (qdq_has_word(words, name)) return true;
    for (size_t i = 0; i < qdq_c_name_count; i++)
        if (strcmp(qdq_c_names[i].name, name) == 0) return true;
    return false;
}

const char *qdq_c_capitals(qdq_mempool *mempool, const char *name) {
    char *copy = qdq_mempool_strdup(mempool, name);
    for (char *at = copy; at && *at; at++) *at = (char)toupper((unsigned char)*at);
    return copy ? copy : name;
}

static bool is_taken(const qdq_c_identifiers *given, const char *name, uint32_t *number) {
    const char *macro = qdq_c_capitals(given->mempool, name);
    return qdq_symbols_find(given->taken, macro, strlen(macro), number);
}

bool qdq_c_give(qdq_c_identifiers *given, const char *identifier) {
    const char *macro = qdq_c_capitals(given->mempool, identifier);
    size_t count = qdq_symbols_count(given->taken);
    size_t *next =
        qdq_mempool_grow(given->mempool, given->next, count, &given->capacity, sizeof *given->next);
    if (!next) return false;
    given->next = next;
    next[count] = 2;
    return qdq_symbols_add(given->taken, macro, strlen(macro), (uint32_t)count, NULL) == QDQ_OK;
}

const char *qdq_c_identifier(qdq_c_identifiers *given, const char *from, const char *otherwise) {
    size_t length = strlen(from) + 2 * strlen(otherwise), room = length + 25;
    char *name = qdq_mempool_array(given->mempool, room, 1), *at = name;
    uint32_t first;
    if (!name) return otherwise;
    if (!*from) from = otherwise;
    if (isdigit((unsigned char)*from)) *at++ = '_';
    for (; *from; from++)
        *at++ = isalnum((unsigned char)*from) && (unsigned char)*from < 128 ? *from : '_';
    size_t stem = (size_t)(at - name), prefix = strlen(otherwise);
    if (is_reserved(name)) {
        memmove(name + prefix + 1, name, stem + 1);
        for (size_t i = 0; i < prefix; i++) name[i] = otherwise[i];
        name[prefix] = '_';
        stem += prefix + 1;
    }
    if (!is_taken(given, name, &first)) return name;
    do {
        snprintf(name + stem, room - stem, "_%zu", given->next[first]++);
    } while (is_taken(given, name, NULL));
    return name;
}

//---- Comments ---------------------------------------------------------------

// Returns the length in bytes of a UTF-8 character that changes the direction of text or ends a
// line; 0 for other characters.
static size_t hidden_bytes(const char *at) {
    const unsigned char *u = (const unsigned char *)at;
    if (u[0] == 0xD8 && u[1] == 0x9C) return 2;  // U+061C
    if (u[0] != 0xE2) return 0;
    if (u[1] == 0x80 && (u[2] == 0x8E || u[2] == 0x8F || (u[2] >= 0xA8 && u[2] <= 0xAE))) return 3;
    return u[1] == 0x81 && u[2] >= 0xA6 && u[2] <= 0xA9 ? 3 : 0;  // U+2066 to U+2069
}

const char *qdq_c_comment(qdq_mempool *mempool, const char *name) {
    char *copy = qdq_mempool_strdup(mempool, name), *to = copy;
    for (const char *at = copy; at && *at;) {
        size_t hidden = hidden_bytes(at);
        *to = *at;
        if (hidden) *to = '?';
        to++;
        at += hidden ? hidden : 1;
    }
    if (to) *to = '\0';
    return copy;
}
