"""What the items of a stream have: values of a graph's inputs, but for those that all items share, and the state."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..arguments import mapping_of, name_of
from ..backend.cpu.reused_memory import ReusedMemory
from ..base.errors import InputError
from ..ir.dataflow.scope import inputs_of, outputs_of
from ..ir.dataflow.text import type_text
from ..ir.dataflow.types import takes
from ..ir.hints import unknown_name
from ..ir.layout_numbers import shown
from ..sessions import Buffer

if TYPE_CHECKING:
    from .program import GraphProgram


class ItemForm:
    """The inputs of a graph that items have, and those that are the same for all; see `Streamable.stream`.

    Raises InputError for names that do not fit.
    """

    def __init__(
        self, program: GraphProgram, shared: Mapping[str, Any], state: Mapping[str, Any], feed: Mapping[str, str] | None
    ) -> None:
        root = next(it for it in program.module.functions if it.name == program.module.root.function)
        self._name = program.name
        self._known = {name: it.type for name, it in inputs_of(root).items()}
        self._made = {name: it.type for name, it in outputs_of(root).items()}
        for what, given in (("inputs", shared), ("state", state)):
            for name in mapping_of(given, what, self._known):
                self._check_input(name)
        twice = shared.keys() & state.keys()
        if twice:
            raise InputError(f"the input {min(twice)!r} is given in inputs and in state")
        self.feed = self._fed(state, feed)
        """The inputs that outputs are fed to, by output."""
        self.shared = {name: kept(it) for name, it in shared.items()}
        self.state = {name: kept(it) for name, it in state.items()}
        self.names = [name for name in self._known if name not in shared and name not in state]
        """The inputs that each item has."""

    def values(self, item: Any, memory: ReusedMemory | None = None) -> dict[str, Any]:
        """Copies of the values of an item, by input; those of arrays in `memory`. Raises InputError."""
        if not isinstance(item, Mapping):
            if len(self.names) != 1:
                raise InputError(f"an item maps {', '.join(self.names) or 'no input'} to values, but is {shown(item)}")
            return {self.names[0]: kept(item, memory)}
        given = cast("Mapping[str, Any]", item)
        for name in given:
            self._check_input(name)
            if name not in self.names:
                raise InputError(f"the input {name!r} is given for all items, and an item has none of its own")
        missing = [name for name in self.names if name not in given]
        if missing:
            raise InputError(f"the item has no value for the input {', '.join(missing)} of graph {self._name!r}")
        return {name: kept(it, memory) for name, it in given.items()}

    def _check_input(self, name: object) -> None:
        if name not in self._known:
            raise InputError(unknown_name(f"graph {self._name!r} has no input named {shown(name)}", name, self._known))

    def _fed(self, state: Mapping[str, Any], feed: Mapping[str, str] | None) -> dict[str, str]:
        found = {name: name for name in state} if feed is None else dict(mapping_of(feed, "feed", self._made))
        for output, name in found.items():
            self._check_input(name_of(name, "an input that is fed", "state"))
            if output not in self._made:
                message = f"graph {self._name!r} has no output named {shown(output)}, which could be fed to {name!r}"
                raise InputError(unknown_name(message, output, self._made))
            self._check_type(output, name)
        fed = list(found.values())
        for name in (*state, *fed):
            if name not in state:
                raise InputError(f"state has no value of {name!r} for the first item")
            if fed.count(name) != 1:
                raise InputError(f"{fed.count(name)} outputs are fed to the input {name!r}: feed gives it one")
        return found

    def _check_type(self, output: str, name: str) -> None:
        made, wanted = self._made[output], self._known[name]
        if not takes(wanted, made):
            types = f"{type_text(made)}, and cannot be fed to {name!r} of {type_text(wanted)}"
            raise InputError(f"the output {output!r} is of type {types}")


def kept(value: Any, memory: ReusedMemory | None = None) -> Any:
    """A value that does not change with the caller's, and may be used again."""
    if _is_constant(value):
        return value
    if memory is not None and type(value) is np.ndarray and not value.dtype.hasobject:
        return memory.copy(value)
    if isinstance(value, Buffer):
        return value.numpy()
    if isinstance(value, (memoryview, bytearray)):
        return bytes(cast("memoryview[int] | bytearray", value))
    return copy.deepcopy(value)


def _is_constant(value: Any) -> bool:
    """Whether this is an array that is read-only, as are all arrays that share its memory through it, which they own.

    The memory of a mapped file, or of another library, may change all the same.
    """
    owner = value
    while type(owner) is np.ndarray and not owner.flags.writeable and not owner.dtype.hasobject:
        if owner.base is None:
            return True
        owner = owner.base
    return owner is not value and type(owner) is bytes
