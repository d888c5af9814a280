"""Points of a space that do not work."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Literal

from ..base.errors import CompileTimeError, TinctError


class Rejected(Exception):
    """A point that was not measured, or whose result is wrong. `is_late`: with more time it may be compiled."""

    def __init__(self, status: Literal["wrong", "failed"], why: str, *, is_late: bool = False) -> None:
        super().__init__(why)
        self.status: Literal["wrong", "failed"] = status
        self.is_late = is_late

    def __reduce__(self) -> tuple[type[Rejected], tuple[str, str], dict[str, bool]]:
        return Rejected, (self.status, str(self)), {"is_late": self.is_late}


@contextmanager
def rejecting() -> Generator[None]:
    """Any error in the body is one of the point that is tried: Rejected."""
    try:
        yield
    except Rejected:
        raise
    except TinctError as error:
        raise failed(error) from None
    except Exception as error:  # a bug of the compiler costs this point
        raise Rejected("failed", f"{type(error).__name__}: {first_line(error)}") from None


def failed(error: BaseException) -> Rejected:
    """What an error is for the point that is tried."""
    return Rejected("failed", first_line(error), is_late=isinstance(error, CompileTimeError))


def first_line(error: BaseException) -> str:
    """An error in one line."""
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
