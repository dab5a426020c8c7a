# SPDX-License-Identifier: Apache-2.0
"""Lets Ctrl-C interrupt a long call of the library: Python handles signals only between its own instructions."""

from __future__ import annotations

import threading
from typing import Any, Callable, List

LONG = 200_000_000  # operations of a run that a second thread costs nothing beside, some 10 ms


class Abandoned(KeyboardInterrupt):
    """The caller was interrupted, and the call goes on in a thread that holds its arguments."""


def interruptible(function: Callable[..., Any], *arguments: Any, holds: Any = None) -> None:
    """Calls a function that raises nothing, in a second thread if this is the main one. holds: objects that must live
    until the call ends. Raises Abandoned after Ctrl-C: objects that the call uses must not be used again."""
    if threading.current_thread() is not threading.main_thread():
        function(*arguments)
        return
    done, kept = threading.Event(), [holds]

    def work(kept: List[Any]) -> None:
        try:
            function(*arguments)
        finally:
            kept.clear()
            done.set()

    try:
        threading.Thread(target=work, args=(kept,), daemon=True).start()  # an interrupted start may have started it
        done.wait()
    except KeyboardInterrupt:
        raise Abandoned from None
