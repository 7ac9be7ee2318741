"""What is found out once, even if it is that it cannot be: a hostile file is not read again for every check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from sfumato.privacy.verify.verdict import CheckError

T = TypeVar("T")


class once(Generic[T]):  # noqa: N801 - it stands where `property` does
    """Owns the finding of one property; what it found lies in the object, under the property's own name."""

    def __init__(self, find: Callable[[Any], T]) -> None:
        self.find, self.__doc__ = find, find.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, asked: object, owner: type) -> T:
        """Only for the first time, and after a failure: later on the object's own entry is found before this."""
        from polars.exceptions import PanicException

        failed = f"why {self.name} is not there"
        if failed in vars(asked):
            raise CheckError(vars(asked)[failed])
        try:
            found = self.find(asked)
        except (Exception, PanicException) as error:
            known = isinstance(error, CheckError)
            words = str(error) if known else f"cannot be checked: {type(error).__name__}"
            vars(asked)[failed] = words  # the words alone: the error holds on to all that was read
            raise CheckError(words) from None
        vars(asked)[self.name] = found
        return found
