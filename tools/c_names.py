# SPDX-License-Identifier: Apache-2.0
"""Reads C as far as tools/amalgamate.py needs it: tokens, the declarations of a file, and the names that they give."""
import collections
import re

TOKEN = re.compile(r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<directive>^[ \t]*\#(?:\\\n|//[^\n]*|[^\n])*)"""
                   r"""|(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?P<word>[A-Za-z_]\w*)"""
                   r"""|(?P<space>\s+)|(?P<other>\d[\w.]*|.)""", re.S | re.M)


# ---- Names at the level of a file --------------------------------------------


def tokens(text):
    return [(found.lastgroup, found.group()) for found in TOKEN.finditer(text)]


def declarations(text):
    """Lists of (kind, word, index) of each declaration at the level of a file, without comments and directives."""
    parts, part, depth = [], [], 0
    for index, (kind, word) in enumerate(tokens(text)):
        if kind in ("comment", "space", "directive"):
            continue
        part.append((kind, word, index))
        depth += (word in "({[") - (word in ")}]") if kind == "other" else 0
        if depth or kind != "other":
            continue
        names = flat(part)
        ends_function = word == "}" and names[0] != "typedef" and "=" not in names and "(" in names
        is_call = word == ")" and re.fullmatch(r"[A-Z][A-Z0-9_]*", names[0]) and names[1] == "("
        if word == ";" and len(part) > 1 or ends_function or is_call:
            parts.append(part)
            part = []
        elif word == ";":
            part = []
    return parts


def flat(part):
    """The words of a declaration outside of all brackets; a pair of brackets is one word."""
    words, depth = [], 0
    for kind, word, _ in part:
        depth -= kind == "other" and word in ")}]"
        if not depth and not (kind == "other" and word in ")}]"):
            words.append(word)
        depth += kind == "other" and word in "({["
    return words


def names_of(part):
    """{name: kind} that a declaration gives, kind of function, data, type or constant."""
    words, found = flat(part), {}
    everything = [(kind, word) for kind, word, _ in part]
    if words[0] == "_Static_assert" or re.fullmatch(r"[A-Z][A-Z0-9_]*", words[0]) and words[1:2] == ["("]:
        return {}
    for i, word in enumerate(words[:-1]):
        is_tag = word in ("struct", "union", "enum") and words[i + 1] not in "{;"
        if is_tag and words[i + 2:i + 3] in (["{"], [";"]):
            found[words[i + 1]] = "type"
    if "enum" in words and "{" in words:
        found.update(dict.fromkeys(constants_of(everything), "constant"))
    if words[0] == "typedef":
        last = [w for w in words if re.match(r"[A-Za-z_]", w)][-1]
        pointer = re.search(r"\( \* (\w+) \)", " ".join(w for _, w in everything))
        found[pointer[1] if pointer and words[-2:] == ["(", ";"] and last in words[:-3] else last] = "type"
        return found
    if words[0] in ("struct", "union", "enum") and words[-2:] in (["{", ";"], [words[1], ";"]):
        return found
    if "(" in words and ("=" not in words or words.index("(") < words.index("=")):
        name = words[words.index("(") - 1]
        return found if name.isupper() else found | {name: "function"}
    for i, word in enumerate(words):
        if re.match(r"[A-Za-z_]\w*$", word) and words[i + 1:i + 2] and words[i + 1] in ("=", "[", ";", ","):
            found[word] = "data"
            break
    return found


def constants_of(part):
    """The constants of an enumeration: the first word of each entry."""
    names, depth, fresh = [], 0, False
    for kind, word in part:
        if kind == "other" and word in "({[":
            depth += 1
            fresh = depth == 1 and word == "{"
        elif kind == "other" and word in ")}]":
            depth -= 1
        elif depth == 1 and word == ",":
            fresh = True
        elif fresh and kind == "word":
            names.append(word)
            fresh = False
    return names


def all_names(text):
    found = {}
    for part in declarations(text):
        found.update(names_of(part))
    return found


def macros_of(text):
    return re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.M)


# ---- Renaming ----------------------------------------------------------------


def renamed(text, names):
    """The text with these words renamed, but not members of structs, strings and comments."""
    words, before, out = tokens(text), "", []
    fields = field_places(words)
    for index, (kind, word) in enumerate(words):
        if kind == "directive":
            word = re.sub(r'"(?:\\.|[^"\\])*"|(?<![\w.>#])[A-Za-z_]\w*|//[^\n]*',
                          lambda found: names.get(found[0], found[0]), word)
        elif kind == "word" and word in names and before not in (".", "->") and index not in fields:
            word = names[word]
        if kind not in ("space", "comment"):
            before = "->" if word == ">" and before == "-" else word
        out.append(word)
    return "".join(out)


def field_places(words):
    """Indices of the words that name a member in the body of a struct."""
    places, stack, last = set(), [], ""
    code = [(i, kind, word) for i, (kind, word) in enumerate(words) if kind not in ("space", "comment", "directive")]
    for at, (i, kind, word) in enumerate(code):
        if kind == "other" and word == "{":
            back = [w for _, _, w in code[max(0, at - 2):at]]
            stack.append(bool({"struct", "union"} & set(back)))
        elif kind == "other" and word == "}" and stack:
            stack.pop()
        elif kind == "word" and stack and stack[-1] and at + 1 < len(code):
            following = code[at + 1][2]
            if following in (";", ",", "[", ":") or following == ")" and last == "*":
                places.add(i)
        last = word
    return places


# ---- Static functions ----------------------------------------------------------


def internal_functions(text):
    """Functions with a written prototype and a written definition: none by a macro, or of a type with a name."""
    pairs = [pair for part in declarations(text) for pair in names_of(part).items()]
    counts = collections.Counter(name for name, kind in pairs if kind == "function")
    return {name for name, count in counts.items() if count > 1} - {name for name, kind in pairs if kind == "data"}


def made_static(text, names):
    """Declarations and definitions of these functions, static."""
    words = tokens(text)
    for part in declarations(text):
        kind, first, at = part[0]
        functions = {name for name, given in names_of(part).items() if given == "function"}
        if functions & names and first not in ("static", "typedef"):
            words[at] = (kind, "static" if first == "extern" else f"static {first}")
    return "".join(word for _, word in words)


# ---- What nothing uses -------------------------------------------------------


def pasted(macro, names):
    """The names that a macro may paste together: take_##kernel is any name with take_ in it."""
    parameters = re.match(r"\(([^)]*)\)", macro)
    parameters = set(re.findall(r"\w+", parameters[1])) | {"__VA_ARGS__"} if parameters else set()
    found = set()
    for chain in re.findall(r"\w+(?:\s*##\s*\w+)+", macro):
        literals = [piece for piece in re.split(r"\s*##\s*", chain) if piece not in parameters]
        found |= {name for name in names if literals and all(piece in name for piece in literals)}
    return found


def shaken(text, roots):
    """The text without the functions and data that neither roots nor what they use name."""
    words = tokens(text)
    users, spans, live = collections.defaultdict(set), [], set(roots)
    for part in declarations(text):
        given = names_of(part)
        inner = {w for kind, word in words[part[0][2]:part[-1][2] + 1] if kind in ("word", "directive")
                 for w in re.findall(r"[A-Za-z_]\w*", word)}
        if set(given.values()) <= {"function", "data"} and given:
            spans.append((set(given), part[0][2], part[-1][2]))
            for name in given:
                users[name] |= inner
        else:
            live |= inner
    names = set(users)
    for kind, word in words:
        macro = re.match(r"\s*#\s*define\s+(\w+)(.*)", word, re.S) if kind == "directive" else None
        if macro:
            users[macro[1]] |= set(re.findall(r"[A-Za-z_]\w*", macro[2])) | pasted(macro[2], names)
    left, seen = list(live), set()
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left += users.get(name, ())
    for given, first, last in spans:
        if not given & seen:
            for i in range(first, last + 1):
                words[i] = ("space", "")
    return "".join(word for _, word in words)


def without_comments(text):
    kept = [("space", "\n" if "\n" in word else " ") if kind == "comment" else
            (kind, re.sub(r"\s*//[^\n]*", "", word)) if kind == "directive" else (kind, word)
            for kind, word in tokens(text)]
    return re.sub(r"[ \t]+\n", "\n", "".join(word for _, word in kept))
