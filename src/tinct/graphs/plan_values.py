"""What ports hold while a plan is made: contents, which are in buffers or known, and numbers that nodes write."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

from ..ir import types as wgsl
from ..ir.dataflow.expressions import LaterNumber
from ..ir.dataflow.nodes import BinaryOp
from ..ir.dataflow.text import SYMBOLS
from .plan import Handle


class Unplannable(Exception):
    """What no plan can hold, so that the graph is walked in each run. The message is the reason, about the graph."""


@dataclass(eq=False, slots=True)
class PlannedContent:
    """What values share: a number, zeros, an input, or bytes that nodes made. `buffers` are those that have it, by
    device; `widened` is one of the host that has the texels of a storage texture in the format of a sampled one. It
    has the dtype and shape of the input `like`. `type` is None for a number, `handle` for all but textures and
    samplers.
    """

    type: wgsl.Type | None
    size: int
    label: str
    number: float | PlannedNumber | None = None
    is_zero: bool = False
    input: str = ""
    like: str = ""
    handle: Handle | None = None
    holders: int = 1
    buffers: dict[str, int] = field(default_factory=dict[str, int])
    widened: int | None = None


@dataclass(eq=False, slots=True)
class PlannedValue:
    """What one port holds."""

    content: PlannedContent
    is_dropped: bool = False


class _Unknown(LaterNumber):
    """A number that is known only when the plan is followed."""

    @property
    @abstractmethod
    def key(self) -> object:
        """Equal for equal numbers."""

    @property
    @abstractmethod
    def contents(self) -> tuple[PlannedContent, ...]:
        """The contents that it comes from."""

    def combined(self, op: BinaryOp, lhs: int | LaterNumber, rhs: int | LaterNumber) -> LaterNumber:
        """The computed number."""
        assert isinstance(lhs, (int, DataNumber, ComputedNumber))
        assert isinstance(rhs, (int, DataNumber, ComputedNumber))
        return ComputedNumber(op, lhs, rhs)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _Unknown) and other.key == self.key:
            return True
        return self._refuse()

    def __hash__(self) -> int:
        return hash(self.key)

    def _refuse(self, *_: object) -> NoReturn:
        label = self.contents[0].label
        raise Unplannable(f"its steps depend on a number in {label!r}, which a node writes")

    __index__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse


class DataNumber(_Unknown):
    """A whole number that a node wrote: `type` at `offset` in a content, to which `path` leads."""

    def __init__(self, content: PlannedContent, offset: int, type: wgsl.Type, path: tuple[str | int, ...]) -> None:
        self.content, self.offset, self.type, self.path = content, offset, type, path

    @property
    def key(self) -> object:
        """Equal for equal numbers."""
        return id(self.content), self.offset

    @property
    def contents(self) -> tuple[PlannedContent, ...]:
        """The content that it is in."""
        return (self.content,)

    def __str__(self) -> str:
        return self.content.label + "".join(f".{it}" if isinstance(it, str) else f"[{it}]" for it in self.path)


class ComputedNumber(_Unknown):
    """The result of an operation on numbers of which a node wrote one."""

    def __init__(self, op: BinaryOp, lhs: int | DataNumber | ComputedNumber, rhs: int | DataNumber | ComputedNumber):
        self.op, self.lhs, self.rhs = op, lhs, rhs

    @property
    def key(self) -> object:
        """Equal for equal numbers."""
        return self.op, *(it if isinstance(it, int) else it.key for it in (self.lhs, self.rhs))

    @property
    def contents(self) -> tuple[PlannedContent, ...]:
        """The contents of its operands."""
        return tuple(part for it in (self.lhs, self.rhs) if not isinstance(it, int) for part in it.contents)

    def __str__(self) -> str:
        lhs, rhs = (f"({it})" if isinstance(it, ComputedNumber) else str(it) for it in (self.lhs, self.rhs))
        symbol = SYMBOLS.get(self.op)
        return f"{self.op.value}({lhs}, {rhs})" if symbol is None else f"{lhs} {symbol} {rhs}"


PlannedNumber: TypeAlias = DataNumber | ComputedNumber
