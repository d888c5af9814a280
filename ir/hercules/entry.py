"""An entry point as a Hercules function: the data for a backend besides the graph.

The graph follows these conventions:

- Dynamic constants: `wg_x`, `wg_y`, `wg_z`, the numbers of workgroups, then one `len_NAME` for each binding with a
  runtime-sized array, its number of elements.
- Parameters: one for each binding the entry point uses, the whole variable as one collection. Scalars keep their
  type; vecN<T> is Array(T, N), matCxR is Array(Array(T, R), C), a struct is a Product, an atomic its element. A texture
  is a structure (`ir.textures`) with a runtime-sized array of texels.
- Control: forks over workgroups z, y, x, then, inside, forks over local invocations z, y, x of the dimensions above 1.
- The result is the product of the final versions of the writable bindings, in parameter order.
"""

from __future__ import annotations

from ...base.records import dataclass
from ..types import Access, AddressSpace, BindingPoint
from ..types import Type as WgslType
from .nodes import Function, Module

WORKGROUP_CONSTANTS = ("wg_x", "wg_y", "wg_z")


@dataclass(frozen=True, slots=True)
class Binding:
    """One binding: parameter `parameter` of the function. `length` is the index of its `len_NAME`, if it has one."""

    name: str
    point: BindingPoint
    type: WgslType
    space: AddressSpace
    access: Access
    parameter: int
    length: int | None = None

    @property
    def is_written(self) -> bool:
        """Whether the shader may write it, so that it is part of the result."""
        return self.space is not AddressSpace.UNIFORM and self.access is not Access.READ


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """A translated entry point. `workgroup_size` is (x, y, z)."""

    name: str
    module: Module
    function: Function
    bindings: tuple[Binding, ...]
    workgroup_size: tuple[int, int, int]
