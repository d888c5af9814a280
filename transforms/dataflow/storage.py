"""What the bindings of fused kernels become in the entry point that is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...ir.hercules.entry import Binding, EntryPoint


@dataclass(eq=False, slots=True)
class Storage:
    """An array, or another binding, of the entry point that is made.

    `is_kept`: it is a binding, else it is passed in values only, and `length` has the storage with as many elements, or
    the number of a member of the uniform structure of lengths. `is_passed`: reads after the first body that writes it
    get the values that were written.
    """

    binding: Binding
    is_kept: bool = True
    is_passed: bool = False
    length: Storage | int | None = None


@dataclass(frozen=True, slots=True)
class Body:
    """An entry point, and the storage of each of its bindings."""

    entry: EntryPoint
    storage: Mapping[str, Storage]
