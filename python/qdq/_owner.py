# SPDX-License-Identifier: Apache-2.0
"""Owns objects of the library: each is destroyed once, after the last Python object and the last call that use it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable, NoReturn

from ._library import ArgumentError

if TYPE_CHECKING:
    from typing_extensions import Self


_forks = 0  # number of forks between the first process and this one


def _forked() -> None:
    global _forks
    _forks += 1


def forks() -> int:
    return _forks


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


class Owner:
    """Owns an object of the library. ctypes accepts it in place of the object, which thus lives until the call returns,
    even if another thread closes it meanwhile. Copies of an owner's object share it."""

    def __init__(self, handle: Any, destroy: Callable[[Any], Any]) -> None:
        self._as_parameter_, self._destroy = handle, destroy
        self._forks = _forks

    @property
    def forked(self) -> bool:
        """True in a child process that was forked after the object was created: the object has no threads there."""
        return self._forks != _forks

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("objects of the library cannot be pickled")

    def __del__(self) -> None:
        handle, self._as_parameter_ = getattr(self, "_as_parameter_", None), None
        if handle:
            self._destroy(handle)


class Owning:
    """A class whose objects own an object of the library: `_owner`, None once closed."""

    _owner: Any = None

    @property
    def _handle(self) -> Any:
        owner = self._owner
        if owner is None:
            raise ArgumentError(f"this qdq.{type(self).__name__} is closed")
        return owner

    def close(self) -> None:
        """Frees the memory now, or after the last call that uses it in another thread. Later calls raise ArgumentError.
        Without close, the last reference frees the memory."""
        self._owner = None

    def __copy__(self) -> Self:
        self._handle  # raises if there is nothing to share
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __deepcopy__(self, memo: Any) -> Self:
        return self.__copy__()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self._owner = None
