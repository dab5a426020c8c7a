# SPDX-License-Identifier: Apache-2.0
"""Writes the rows of groups as a file, in which equal evidence stands once."""

import json
from pathlib import Path

from compact import row_of
from results import BITS

PEERS = Path(__file__).resolve().parents[1] / "peers"

LICENCE = "CC0-1.0: https://creativecommons.org/publicdomain/zero/1.0/"
EVIDENCE = ("known", "kind", "against", "condition", "compared", "date")
KEPT = ("id", "op", "about", "inputs", "outputs", "results", "shape", "refused")  # also if empty


def tidy(one):
    """Drops the keys of a row without a value."""
    return {key: value for key, value in one.items() if value not in (None, [], {}) or key in KEPT}


def recordings():
    """Returns pairs of a backend and {id: {output: words}}: what the backend itself gave, as peers.py recorded it."""
    contents = [json.loads(path.read_text()) for path in sorted(PEERS.glob("*.json"))]
    return [(one["backend"], one["bits"]) for one in contents]


def agrees(got, wanted):
    """True if a backend gave the bits of its row, possibly without some outputs that it lacks."""
    return wanted is not None and wanted != "unknown" and all(wanted[output] == bits for output, bits in got.items())


def with_recordings(group, recorded):
    """Adds the backends that gave the bits of a group's rows themselves, and the bits of those that gave others."""
    rows = [(row["backends"], row.get("bits", "unknown" if "unknown" in row else None)) for row in group["results"]]
    given = {backend: (bits[group["id"]], row_of(rows, backend)) for backend, bits in recorded if group["id"] in bits}
    return {**group, "recorded": [backend for backend, (got, wanted) in given.items() if agrees(got, wanted)],
            "differing": {backend: got for backend, (got, wanted) in given.items() if wanted and not agrees(got, wanted)}}


def lines(group):
    """Returns a group as lines, one for each short key and one for each row of a long one."""
    made = []
    for key, value in tidy(group).items():
        if key in ("inputs", "results", "nodes", "outputs"):
            inner = ",\n".join(f"   {json.dumps(tidy(one) if key != 'nodes' else one)}" for one in value)
            made.append(f'  "{key}": [\n{inner}\n  ]')
        else:
            made.append(f'  "{key}": {json.dumps(value)}')
    return " {\n" + ",\n".join(made) + "\n }"


def file_text(title, names, computed):
    """Returns the text of a file. computed: pairs of a row and its evidence {row: short names}."""
    rows, profiles, groups, recorded = {}, {}, [], recordings()
    for group, known in computed:
        for row in sorted(known, key=lambda one: (BITS.index(one[0]), one)):
            rows.setdefault(row, f"e{len(rows) + 1}")
    for group, known in computed:
        profile = json.dumps({rows[row]: short for row, short in known.items()})
        groups.append({**with_recordings(group, recorded), "evidence": profiles.setdefault(profile, f"p{len(profiles) + 1}")})
    head = [f' "format": "quantization-vectors/1"', f' "licence": {json.dumps(LICENCE)}', f' "title": {json.dumps(title)}',
            f' "versions": {json.dumps(names)}']  # fmt: skip
    told = ",\n".join(f"  {json.dumps(key)}: {json.dumps(tidy(dict(zip(EVIDENCE, row))))}" for row, key in rows.items())
    kept = ",\n".join(f"  {json.dumps(key)}: {profile}" for profile, key in profiles.items())
    head += [f' "evidence": {{\n{told}\n }}', f' "profiles": {{\n{kept}\n }}']
    return "{\n" + ",\n".join([*head, ' "groups": [\n' + ",\n".join(map(lines, groups)) + "\n ]"]) + "\n}\n"
