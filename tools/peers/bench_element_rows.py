# SPDX-License-Identifier: Apache-2.0
"""The table of the timings of bench_cases.py."""

import bench_cases

TITLE = ""
HEADER = ["work", "elements", "qdq", "limit", "of the limit (aim)", "best peer",
          "times the best peer (aim)", "other peers"]



class Row:
    """The timings of a case with a number of threads."""

    def __init__(self, case, threads, found):
        self.case, self.threads = case, threads
        self.unsure = {seconds for seconds, sure, _ in found.values() if not sure}
        self.seconds, _, digest = found["qdq"]
        # A copy moves other bytes: a row is compared with the stream of its own bytes.
        self.limit = min((one[0] for name, one in found.items() if name.startswith("stream")),
                         default=None)
        others = {name: one for name, one in found.items()
                  if name != "qdq" and not name.startswith(("copy", "stream"))}
        self.peers = {name: seconds for name, (seconds, _, _) in others.items()}
        self.other_bits = {name for name, (_, _, other) in others.items()
                           if digest is not None and other not in (None, digest)}
        self.best = min(self.peers, key=self.peers.get, default=None)

    def rate(self, seconds):
        return bench_cases.moved_bytes(self.case) / seconds * 1e-9 if seconds else None

    def of_limit(self):
        return self.limit / self.seconds if self.limit else None

    def times_best(self):
        return self.peers[self.best] / self.seconds if self.best else None

    def limit_times_best(self):
        return self.peers[self.best] / self.limit if self.best and self.limit else None

    def cells(self):
        return cells_of(self)

    def misses(self):
        """The targets that are missed."""
        limit_aim, *peer_aims = self.case.aim
        peer_aim, short = peer_aims[min(self.threads, 2) - 1], []
        if self.case.small and self.seconds * 1e6 > limit_aim:
            short.append("time")
        if self.of_limit() is not None and self.of_limit() < limit_aim - 0.005:
            short.append("limit")
        if self.best and self.times_best() < peer_aim * 0.995:
            short.append("peer")
        return short


def number(value, form="{:.1f}"):
    return form.format(value) if value is not None else "-"


def cells_of(row):
    """qdq, limit, fraction of the limit (aim), best peer, multiple of it (aim), other peers."""
    case = row.case
    limit_aim, *peer_aims = case.aim
    peer_aim = peer_aims[min(row.threads, 2) - 1]
    short = row.misses()

    def amount(seconds):
        text = f"{seconds * 1e6:.2f} us" if case.small else number(row.rate(seconds))
        return text + ("~" if seconds in row.unsure else "")

    def marked(text, kind):
        return f"**{text}**" if kind in short else text

    def named(name):
        return f"{name}{' (other bits)' if name in row.other_bits else ''}"

    ours = amount(row.seconds)
    limit = amount(row.limit) if row.limit else "-"
    of_limit = "-"
    if case.small:
        ours = marked(ours, "time") + f" ({limit_aim:g} us)"
    elif row.limit:
        of_limit = f"{marked(number(row.of_limit(), '{:.2f}'), 'limit')} ({limit_aim:.2f})"
    best = f"{amount(row.peers[row.best])} {named(row.best)}" if row.best else "-"
    times = f"{marked(number(row.times_best()) + 'x', 'peer')} ({peer_aim:g}x" if row.best else "-"
    if row.best:
        bound = row.limit_times_best()
        times += f", limit {bound:.1f}x)" if bound and bound < peer_aim else ")"
    others = ", ".join(f"{amount(seconds)} {named(name)}" for name, seconds in
                       sorted(row.peers.items(), key=lambda one: one[1]) if name != row.best)
    return [case.name, case.size, ours, limit, of_limit, best, times, others or "-"]


def size_of(case):
    return case.size


def more(_rows, _table):
    """The lines after the tables."""
    return []
