# SPDX-License-Identifier: Apache-2.0
"""Writes c_items.c: the definitions of C sources as text, which `qdq plan --emit-c` copies into its files.

usage: embed.py OUT ROOT SOURCE[:NAME,NAME...] ...

A source is cut into items: functions, types, tables and macros at file level, each with the comment before
it. An item knows the names that it defines and the items whose names it uses, so that a file gets just
what it needs. If several items define a name, the last one counts: overrides come last. Prototypes,
#include and conditions are left out. With names, a source gives only the items that define them.
"""
import re
import sys

WORD = re.compile(r'[A-Za-z_]\w*')
SKIPPED = re.compile(r'\s*#\s*(include|if|ifdef|ifndef|elif|else|endif|undef|pragma|error)\b')
LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'')
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/', re.S)


def code_of(text):
    return LITERAL.sub('""', COMMENT.sub('', text))


def items_of(lines):
    """Yields the text of each item at file level."""
    item, depth, begun = [], 0, False
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if not begun:
            if not line.strip() or line.startswith('//----'):
                item = []
                continue
            if line.startswith('//'):
                item.append(line)
                continue
            if line in ('extern "C" {', '}'):
                continue
            if SKIPPED.match(line):
                while line.endswith('\\'):
                    line = lines[at]
                    at += 1
                item = []
                continue
            if line.startswith('#define'):
                item.append(line)
                while line.endswith('\\'):
                    line = lines[at]
                    item.append(line)
                    at += 1
                yield '\n'.join(item)
                item = []
                continue
        begun = True
        item.append(line)
        code = code_of(line)
        if line.lstrip().startswith('#'):
            continue
        depth += code.count('{') + code.count('(') - code.count('}') - code.count(')')
        ends = code.rstrip().endswith((';', '}'))
        if depth == 0 and (ends or re.fullmatch(r'[A-Z]\w*\(.*\)\s*', code)):
            yield '\n'.join(item)
            item, begun = [], False


def made_by_macro(macro, arguments):
    """The names of the functions that a call of a macro like #define M(R, type) ... R##_add(...) makes."""
    head, body = re.match(r'#define \w+\((.*?)\)(.*)', macro, re.S).groups()
    values = dict(zip((p.strip() for p in head.split(',')), (a.strip() for a in arguments.split(','))))
    return {values[p] + rest for p, rest in re.findall(r'\b(\w+)##(\w+)\(', body) if p in values}


def names_of(text, macros):
    code = code_of(text).strip()
    if code.startswith('#define'):
        name = re.match(r'#define (\w+)', code).group(1)
        macros[name] = code
        return {name}
    if call := re.fullmatch(r'([A-Z]\w*)\((.*)\)', code):
        macro = macros.get(call.group(1), '')
        return made_by_macro(macro, call.group(2)) if macro.startswith('#define') else set()
    names = set()
    if code.startswith('typedef'):
        function_type = re.search(r'\btypedef\b[^;{]*?(\w+)\(', code)
        names.add(WORD.findall(code)[-1] if code.rstrip(';').rstrip()[-1] != ')' else function_type.group(1))
        if tag := re.match(r'typedef (?:struct|enum|union) (\w+)', code):
            names.add(tag.group(1))
    if enum := re.match(r'(?:typedef )?enum\b[^;{(]*\{(.*)\}', code, re.S):
        entries = re.sub(r'^\s*#.*$', '', enum.group(1), flags=re.M)
        names |= {e.group(0) for part in entries.split(',') if (e := re.match(r'[A-Z]\w*(?!\w*\()', part.strip()))}
        if 'QDQ_DTYPES(' in code:
            names |= {'QDQ_DTYPE_NONE', 'QDQ_DTYPE_COUNT', 'DTYPES'}
    elif not code.startswith('typedef') and '{' in code:
        before = code.split('{')[0]
        if '=' in before:
            names |= set(re.findall(r'(\w+)(?:\[\w*\])*\s*=', code.split('{')[0] + '{'))
        elif called := re.search(r'(\w+)\(', before):
            names.add(called.group(1))
    return names


def main():
    out, root, *sources = sys.argv[1:]
    items, macros, owner = [], {}, {}
    for source in sources:
        path, _, wanted = source.partition(':')
        with open(f'{root}/{path}', encoding='utf-8') as file:
            lines = file.read().split('\n')
        for text in items_of(lines):
            names = names_of(text, macros)
            if not names or (wanted and not names & set(wanted.split(','))):
                continue
            code = code_of(text)
            first = code.lstrip()
            if not first.startswith(('typedef', 'enum', 'static', '#define', 'struct')) and \
                    not re.fullmatch(r'[A-Z]\w*\(.*\)\s*', first):
                at = text.index(first.split('\n')[0][:8])
                text = text[:at] + 'static ' + text[at:]
            for name in names:
                owner[name] = len(items)
            items.append((path, names, text))
    if dtypes := owner.get('DTYPES'):
        table = items[owner['QDQ_DTYPES']][2]
        for name in re.findall(r'X\((\w+),', table):
            owner['QDQ_' + name] = dtypes
    write(out, items, owner)


def needs_of(number, text, owner):
    words = set(WORD.findall(code_of(text)))
    return sorted({owner[w] for w in words if w in owner and owner[w] != number})


def write(out, items, owner):
    by_item = {}
    for name, item in owner.items():
        by_item.setdefault(item, []).append(name)
    kept = sorted(by_item)
    with open(out, 'w', encoding='utf-8') as file:
        file.write('// Made by graph/formats/c/embed.py.\n#include "graph/formats/c/c_items.h"\n\n')
        for i in kept:
            lines = items[i][2].split('\n')
            quoted = ',\n    '.join('"' + line.replace('\\', '\\\\').replace('"', '\\"') + '"' for line in lines)
            needs = needs_of(i, items[i][2], owner)
            file.write(f'static const char *const lines_{i}[] = {{\n    {quoted}, 0}};\n')
            file.write(f'static const unsigned short needs_{i}[] = {{'
                       + ''.join(f'{kept.index(n)}, ' for n in needs) + '65535};\n')
        file.write('\nconst qdq_c_item qdq_c_items[] = {\n')
        file.write(''.join(f'    {{lines_{i}, needs_{i}}},\n' for i in kept))
        file.write(f'}};\nconst size_t qdq_c_item_count = {len(kept)};\n\nconst qdq_c_name qdq_c_names[] = {{\n')
        for name in sorted(owner):
            file.write(f'    {{"{name}", {kept.index(owner[name])}}},\n')
        file.write(f'}};\nconst size_t qdq_c_name_count = {len(owner)};\n')


main()
