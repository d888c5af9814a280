"""From the values of a dispatch to ranges of memories."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ..base.errors import InputError
from ..buffers import Packed, count_of_output, is_output, pack_binding, values_by_name
from ..ir.types import BindingPoint, Sampler, Texture
from ..reflection import BindingInfo
from .arguments import Argument
from .buffer import Buffer
from .forms import check_fits
from .memory import Ledger, Memory

if TYPE_CHECKING:
    from .session import Session

Values: TypeAlias = "Mapping[str, Any] | Mapping[tuple[int, int], Any] | Mapping[str | tuple[int, int], Any]"
"""Values of bindings, by name or by `(group, binding)`."""

_MOST_CONSTANTS: Final = 256
_LARGEST_CONSTANT: Final = 1 << 12
"""Values of at most so many bytes that a kernel only reads are remembered by their content."""


@dataclass(slots=True)
class Resolved:
    """The arguments of a dispatch, the buffers that were `made` for it, and the ids of what it is bound to, as far as
    that lasts: `is_lasting` is false if a value was uploaded for this dispatch only.
    """

    arguments: list[Argument] = field(default_factory=list[Argument])
    made: dict[str, Buffer] = field(default_factory=dict[str, "Buffer"])
    ids: list[int] = field(default_factory=list[int])
    is_lasting: bool = True
    are_buffers: bool = True
    """Whether all values are buffers that were given."""

    def samplers(self) -> dict[BindingPoint, bytearray]:
        """The bytes of each sampler."""
        samplers = (it for it in self.arguments if isinstance(it.info.type, Sampler))
        return {it.info.point: bytearray(it.host()) for it in samplers}


def check_is_no_sampler(info: BindingInfo) -> None:
    """Raise InputError for the binding of a sampler, which no buffer fits."""
    if isinstance(info.type, Sampler):
        raise InputError(f"{info.name}: {info.type} takes a tinct.Sampler, not a buffer")


class Resolver:
    """Finds or makes the memories of values."""

    def __init__(self, session: Session, ledger: Ledger) -> None:
        self._session = session
        self._ledger = ledger
        self._constants: OrderedDict[tuple[bool, bytes], Memory] = OrderedDict()

    def resolved(self, bindings: Sequence[BindingInfo], given: Values, *, is_extra_ignored: bool) -> Resolved:
        """The arguments for all bindings. Raises InputError."""
        values = values_by_name(bindings, given, is_extra_ignored=is_extra_ignored)
        resolved = Resolved()
        for info in bindings:
            self._resolve(info, values[info.name], resolved)
        return resolved

    def clear(self) -> None:
        """Forget all constants."""
        self._constants.clear()

    def _resolve(self, info: BindingInfo, value: object, to: Resolved) -> None:
        if isinstance(value, Buffer):
            check_is_no_sampler(info)
            to.ids.append(id(value))
            to.arguments.append(self._bound(info, value))
            return
        to.are_buffers = False
        if info.is_written and is_output(value):
            buffer = self._session.empty(info, count_of_output(value), label=info.name)
            to.is_lasting, to.made[info.name] = False, buffer
            to.arguments.append(self._bound(info, buffer))
            return
        if info.is_written:
            raise InputError(
                f"{info.name} is written: give a buffer, such as session.buffer(array), or None for a new one"
            )
        memory = self._constant(info, pack_binding(info, value, "compact"), to)
        to.arguments.append(Argument(info, memory, 0, memory.size))

    def _bound(self, info: BindingInfo, buffer: Buffer) -> Argument:
        self._session.check_mine(buffer)
        if id(info) not in buffer.fitting:
            check_fits(buffer.form, info, buffer.nbytes, buffer.label)
            buffer.fitting[id(info)] = info
        return Argument(info, buffer.memory, buffer.offset, buffer.nbytes)

    def _constant(self, info: BindingInfo, data: Packed, to: Resolved) -> Memory:
        """A memory with these bytes: the same one for the same few bytes."""
        is_texture = isinstance(info.type, Texture)
        if is_texture or len(data) > _LARGEST_CONSTANT:
            to.is_lasting = False
            return self._uploaded(info, data)
        key = isinstance(info.type, Sampler), bytes(data)
        memory = self._constants.get(key)
        if memory is None:
            memory = self._constants[key] = self._uploaded(info, data)
            if len(self._constants) > _MOST_CONSTANTS:
                _, old = self._constants.popitem(last=False)
                self._session.forget(old)
        else:
            self._constants.move_to_end(key)
        to.ids.append(id(memory))
        return memory

    def _uploaded(self, info: BindingInfo, data: Packed) -> Memory:
        type = info.type if isinstance(info.type, Texture) else None
        memory = Memory(self._ledger, f"the value of {info.name}", len(data), type)
        memory.set_host(data)
        return memory
