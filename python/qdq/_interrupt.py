# SPDX-License-Identifier: Apache-2.0
"""Lets Ctrl-C interrupt a long call of the library: Python handles signals only between its own instructions."""

from __future__ import annotations

import threading
from typing import Any, Callable, List, TypeVar

Result = TypeVar("Result")

LONG = 200_000_000  # operations of a run that a second thread costs nothing beside, some 10 ms


class Abandoned(KeyboardInterrupt):
    """The caller was interrupted, and the call goes on in a thread that holds its arguments."""


def interruptible(function: Callable[..., Result], *arguments: Any, holds: Any = None) -> Result:
    """Returns the result of a function, which runs in a second thread if this is the main one. holds: objects that must
    live until the call ends. Raises Abandoned after Ctrl-C: the call goes on, and its result is dropped. Objects that it
    uses must then not be used again, unless it holds their lock."""
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments)
    done, kept = threading.Event(), [holds]
    made: List[Result] = []
    failed: List[BaseException] = []

    def work(kept: List[Any], made: List[Result], failed: List[BaseException]) -> None:
        try:
            made.append(function(*arguments))
        except BaseException as failure:
            failed.append(failure)
        finally:
            kept.clear()
            done.set()

    try:
        threading.Thread(target=work, args=(kept, made, failed), daemon=True).start()  # an interrupted start may have started it
        done.wait()
    except KeyboardInterrupt:
        raise Abandoned from None
    except RuntimeError:  # an interpreter that ends starts no threads
        return function(*arguments)
    if failed:
        raise failed.pop()
    return made.pop()
