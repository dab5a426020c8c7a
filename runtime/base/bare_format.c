// SPDX-License-Identifier: Apache-2.0
// snprintf and vsnprintf for newlib, whose own know neither %zu nor %lld: the build gives these
// names to all calls of the library. Supports the conversions of its messages: d, i, u, x, c and s
// with flags, width, precision and lengths. Floats become text in number.c only, which calls
// newlib's.
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int qdq_snprintf(char *restrict out, size_t room, const char *restrict format, ...);
int qdq_vsnprintf(char *restrict out, size_t room, const char *restrict format, va_list args);

typedef struct output {
    char *at;
    size_t room, length;
} output;

// A conversion: "%-5.3lld".
typedef struct conversion {
    bool left, zeros, plus;
    int width, precision, longs;  // precision -1: none
    bool is_size;
    char letter;
} conversion;

static void put(output *o, char c) {
    if (o->length + 1 < o->room) o->at[o->length] = c;
    o->length++;
}

// Writes text, padded to the width.
static void put_padded(output *o, const conversion *c, const char *text, size_t length) {
    size_t width = c->width > 0 ? (size_t)c->width : 0, fill = width > length ? width - length : 0;
    bool zeros = c->zeros && !c->left;
    if (zeros && length && (*text == '-' || *text == '+')) put(o, *text++), length--;
    for (size_t i = 0; !c->left && i < fill; i++) put(o, zeros ? '0' : ' ');
    for (size_t i = 0; i < length; i++) put(o, text[i]);
    for (size_t i = 0; c->left && i < fill; i++) put(o, ' ');
}

static void put_number(output *o, const conversion *c, uint64_t size, bool negative) {
    char room[24], *end = room + sizeof room, *at = end;
    unsigned base = c->letter == 'x' || c->letter == 'X' ? 16 : 10;
    const char *digits = c->letter == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    for (; size || at == end; size /= base) *--at = digits[size % base];
    if (negative)
        *--at = '-';
    else if (c->plus)
        *--at = '+';
    put_padded(o, c, at, (size_t)(end - at));
}

static const char *read_number(const char *f, va_list *args, int *out) {
    if (*f == '*') {
        *out = va_arg(*args, int);
        return f + 1;
    }
    for (*out = 0; *f >= '0' && *f <= '9'; f++) *out = *out * 10 + (*f - '0');
    return f;
}

// Parses a conversion, behind its %.
static const char *read_conversion(const char *f, va_list *args, conversion *c) {
    *c = (conversion){.precision = -1};
    for (;; f++) {
        if (*f == '-')
            c->left = true;
        else if (*f == '0')
            c->zeros = true;
        else if (*f == '+')
            c->plus = true;
        else if (*f != '#' && *f != ' ')
            break;
    }
    f = read_number(f, args, &c->width);
    if (c->width < 0) c->left = true, c->width = -c->width;
    if (*f == '.') f = read_number(f + 1, args, &c->precision);
    for (; *f == 'l' || *f == 'z' || *f == 't' || *f == 'h'; f++) {
        c->longs += *f == 'l';
        c->is_size |= *f == 'z' || *f == 't';
    }
    c->letter = *f;
    return *f ? f + 1 : f;
}

static void put_signed(output *o, const conversion *c, va_list *args) {
    int64_t v = c->longs > 1 ? va_arg(*args, long long)
                : c->longs   ? va_arg(*args, long)
                : c->is_size ? (int64_t)va_arg(*args, ptrdiff_t)
                             : va_arg(*args, int);
    put_number(o, c, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, v < 0);
}

static void put_unsigned(output *o, const conversion *c, va_list *args) {
    uint64_t v = c->longs > 1 ? va_arg(*args, unsigned long long)
                 : c->longs   ? va_arg(*args, unsigned long)
                 : c->is_size ? va_arg(*args, size_t)
                              : va_arg(*args, unsigned);
    put_number(o, c, v, false);
}

static void put_text(output *o, const conversion *c, va_list *args) {
    const char *text = va_arg(*args, const char *);
    size_t length = 0, most = c->precision < 0 ? SIZE_MAX : (size_t)c->precision;
    while (length < most && text[length]) length++;
    put_padded(o, c, text, length);
}

static void put_one(output *o, const conversion *c, va_list *args) {
    switch (c->letter) {
    case 'd':
    case 'i': put_signed(o, c, args); break;
    case 'u':
    case 'x':
    case 'X': put_unsigned(o, c, args); break;
    case 's': put_text(o, c, args); break;
    case 'c': put(o, (char)va_arg(*args, int)); break;
    default: put(o, c->letter);
    }
}

int qdq_vsnprintf(char *restrict out, size_t room, const char *restrict format, va_list args) {
    output o = {out, room, 0};
    va_list own;
    va_copy(own, args);
    while (*format) {
        if (*format != '%') {
            put(&o, *format++);
            continue;
        }
        conversion c;
        format = read_conversion(format + 1, &own, &c);
        if (c.letter) put_one(&o, &c, &own);
    }
    va_end(own);
    if (room) out[o.length < room ? o.length : room - 1] = '\0';
    return (int)o.length;
}

int qdq_snprintf(char *restrict out, size_t room, const char *restrict format, ...) {
    va_list args;
    va_start(args, format);
    int length = qdq_vsnprintf(out, room, format, args);
    va_end(args);
    return length;
}
