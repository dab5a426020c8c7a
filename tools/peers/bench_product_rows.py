# SPDX-License-Identifier: Apache-2.0
"""The tables of the timings of bench_product_cases.py."""

from bench_product_cases import multiplications, size_of

TITLE = "Products, "
PEERS = ["qdq without AMX", "ORT without AMX", "ORT", "oneDNN without AMX", "oneDNN"]
HEADER = ["work", "rows x depth x columns", "qdq", "limit", "of the limit", *PEERS]
RESULTS = ["work", "rows x depth x columns", "qdq and exact",
           *(f"{name} and qdq" for name in PEERS), "oneDNN ran"]


class Row:
    """The timings of a case with a number of threads."""

    def __init__(self, case, threads, found):
        self.case, self.threads = case, threads
        self.unsure = {name for name, (_, sure, _) in found.items() if not sure}
        self.seconds = {name: seconds for name, (seconds, _, _) in found.items()}
        self.said = {name: said or {} for name, (_, _, said) in found.items()}
        limits = [name for name in found if name.startswith("limit")]
        self.limit = min(limits, key=self.seconds.get, default=None)

    def amount(self, name):
        """The time, and the operations or the bytes of weights done in it."""
        seconds = self.seconds[name]
        text = f"{seconds * 1e3:.3g} ms{'~' if name in self.unsure else ''}"
        if self.case.limit == "read":
            return f"{text}, {self.case.depth * self.case.columns / seconds * 1e-9:.1f} GB/s"
        operations = 2 * multiplications(self.case)
        return f"{text}, {operations / seconds * 1e-9:.0f} Gop/s"

    def cells(self):
        case, seconds = self.case, self.seconds
        limit = of_limit = "-"
        if self.limit:
            limit = f"{self.amount(self.limit)} ({self.limit.removeprefix('limit: ')})"
            of_limit = f"{seconds[self.limit] / seconds['qdq']:.2f}"
        peers = [f"{seconds[name] * 1e3:.3g} ms{'~' if name in self.unsure else ''}, "
                 f"{seconds[name] / seconds['qdq']:.2f}x" if name in seconds else "-"
                 for name in PEERS]
        return [case.name, size_of(case), self.amount("qdq"), limit, of_limit, *peers]

    def difference(self, name):
        found = self.said.get(name, {}).get("difference")
        if not found:
            return "-"
        if "part" in found:
            return f"{found['part']:.1e} of the greatest"
        if not found["differ"]:
            return "equal"
        return f"{found['differ']} of {found['elements']} differ, {found['far']} by more than 1"

    def results(self):
        kernels = [self.said[name]["kernel"] for name in PEERS
                   if "kernel" in self.said.get(name, {})]
        return [self.case.name, size_of(self.case),
                *(self.difference(name) for name in ["qdq", *PEERS]),
                ", ".join(dict.fromkeys(kernels)) or "-"]


def more(rows, table):
    """The lines after the tables: how results differ."""
    return ["### Products, the results", "", *table(RESULTS, [row.results() for row in rows])]
