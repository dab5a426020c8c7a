# SPDX-License-Identifier: Apache-2.0
"""Text tables, made of a header and a list of cells for each row."""


def markdown(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def plain(header, rows):
    """Text without Markdown: bold becomes exclamation marks."""
    table = [header] + [[cell.replace("**", "!") for cell in row] for row in rows]
    widths = [max(len(line[k]) for line in table) for k in range(len(header))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
            for line in table]
