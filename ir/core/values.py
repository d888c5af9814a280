"""Values and their uses: the base classes of core IR nodes.

A `User` holds operands; a `Value` lists the operand places that hold it. Both sides are only ever changed together, by
`set_operand`, so that for all users and values

    user.operands[index] is value    if and only if    Use(user, index) in value.uses

holds at all times. A value used twice by one user has two uses, one for each index. Adding and removing a use takes
constant time however many there are, and uses are listed in the order in which they were made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, Self

from ...base.records import dataclass
from ..schema.runtime import SchemaNode, as_many
from ..types import VOID, Type

if TYPE_CHECKING:
    from ..source import Span

UNTYPED: Final[Type] = VOID
"""The type of an operation until the builder has applied its typing rule."""


@dataclass(frozen=True, slots=True)
class Use:
    """One place that holds a value: `user.operands[index]`."""

    user: User
    index: int


class User(SchemaNode):
    """A node with operands, numbered from 0 in the order of the schema's fields."""

    __slots__ = ("_operands",)

    _operands: list[Value]

    def __init__(self, operands: Iterable[Value] = ()) -> None:
        self._operands = []
        self._set_tail(0, operands)

    @classmethod
    def blank(cls) -> Self:
        """An object whose operands and fields are not set yet."""
        node = super().blank()
        node._operands = []
        return node

    def fill(self, values: Mapping[str, object]) -> None:
        """Set every field of a blank node, its operands included."""
        operands = [info for info in self.FIELDS if info.operand]
        super().fill({name: value for name, value in values.items() if all(name != it.name for it in operands)})
        found = (value for info in operands for value in as_many(info, values[info.name]))
        self._set_tail(0, (value for value in found if isinstance(value, Value)))

    @property
    def operands(self) -> tuple[Value, ...]:
        """The operands as they are now."""
        return tuple(self._operands)

    def set_operand(self, index: int, value: Value) -> None:
        """Make `value` the operand at `index`, which must exist; the value there before loses this use."""
        if not 0 <= index < len(self._operands):
            raise IndexError(f"{type(self).__name__} has {len(self._operands)} operands, no operand {index}")
        use = Use(self, index)
        self._operands[index].remove_use(use)
        self._operands[index] = value
        value.add_use(use)

    def drop_operands(self) -> None:
        """Remove all operands, so that their values no longer list this user. Required before a node is discarded."""
        self._set_tail(0, ())

    def _set_tail(self, start: int, values: Iterable[Value]) -> None:
        """Replace the operands from `start` on by `values`, however many there are."""
        if start > len(self._operands):
            raise IndexError(f"{type(self).__name__} has {len(self._operands)} operands, no operand {start}")
        tail = tuple(values)
        for index in range(start, len(self._operands)):
            self._operands[index].remove_use(Use(self, index))
        self._operands[start:] = tail
        for index, value in enumerate(tail, start):
            value.add_use(Use(self, index))


class Value(User):
    """A node that others can hold as an operand. Every value has a type, and may have a name and a source span."""

    __slots__ = ("_uses", "name", "span", "type")

    _uses: dict[Use, None]
    type: Type
    name: str | None
    span: Span | None

    def __init__(self, operands: Iterable[Value] = ()) -> None:
        self._uses = {}
        super().__init__(operands)

    @classmethod
    def blank(cls) -> Self:
        """An object whose operands and fields are not set yet; it can already be an operand."""
        node = super().blank()
        node._uses = {}
        return node

    @property
    def uses(self) -> list[Use]:
        """A new list of all uses: it does not change while uses are added or removed."""
        return list(self._uses)

    @property
    def users(self) -> list[User]:
        """The users of this value, each once, in the order of their first use."""
        return list(dict.fromkeys(use.user for use in self._uses))

    @property
    def use_count(self) -> int:
        """The number of uses; a user that holds the value twice counts twice."""
        return len(self._uses)

    def replace_all_uses_with(self, value: Value) -> None:
        """Replace this value by `value` wherever it is an operand, including the operands of `value` itself."""
        if value is self:
            return
        for use in self.uses:
            use.user.set_operand(use.index, value)

    def add_use(self, use: Use) -> None:
        """For `User` alone: record that `use` holds this value."""
        self._uses[use] = None

    def remove_use(self, use: Use) -> None:
        """For `User` alone: record that `use` no longer holds this value."""
        del self._uses[use]
