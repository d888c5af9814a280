"""What ports hold while a plan is made: contents, which are in buffers or known, and numbers that nodes write."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn

from ..ir import types as wgsl


class Unplannable(Exception):
    """What no plan can hold, so that the graph is walked in each run. The message is the reason, about the graph."""


@dataclass(eq=False, slots=True)
class PlannedContent:
    """What values share: a number, zeros, an input, or bytes that nodes made. `buffers` are those that have it, by
    device, `constants` those that have it and may not be written. It has the dtype and shape of the input `like`.
    `type` is None for a number.
    """

    type: wgsl.Type | None
    size: int
    label: str
    number: float | DataNumber | None = None
    is_zero: bool = False
    input: str = ""
    like: str = ""
    holders: int = 1
    buffers: dict[str, int] = field(default_factory=dict[str, int])
    constants: dict[tuple[str, wgsl.Type], int] = field(default_factory=dict["tuple[str, wgsl.Type]", int])


@dataclass(eq=False, slots=True)
class PlannedValue:
    """What one port holds."""

    content: PlannedContent
    is_dropped: bool = False


class DataNumber:
    """A whole number that a node wrote: `type` at `offset` in a content."""

    def __init__(self, content: PlannedContent, offset: int, type: wgsl.Type) -> None:
        self.content, self.offset, self.type = content, offset, type

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DataNumber) and (other.content, other.offset) == (self.content, self.offset):
            return True
        return self._refuse()

    def __hash__(self) -> int:
        return hash((id(self.content), self.offset))

    def _refuse(self, *_: object) -> NoReturn:
        raise Unplannable(f"it computes with a number in {self.content.label!r}, which a node writes")

    __index__ = __neg__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _refuse
