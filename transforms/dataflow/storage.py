"""What the bindings of fused kernels become in the entry point that is made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...ir.hercules.entry import Binding, EntryPoint
from .forms import Counter


@dataclass(eq=False, slots=True)
class Storage:
    """An array, or another binding, of the entry point that is made.

    `is_kept`: it is a binding, else it is passed in values only, and `length` has the storage with as many elements, or
    the number of a member of the uniform structure of lengths. `is_shared`: some bodies access it of which one writes
    it. `is_passed`: reads after the first body that writes it get the values that were written.
    """

    binding: Binding
    is_kept: bool = True
    is_shared: bool = False
    is_passed: bool = False
    length: Storage | int | None = None


@dataclass(frozen=True, slots=True)
class Body:
    """An entry point, the storage of each of its bindings, and the loops that run together with those of the other
    bodies, in which alone it accesses shared storage.
    """

    entry: EntryPoint
    storage: Mapping[str, Storage]
    loops: Sequence[Counter] = ()
