"""What a WGSL function takes and returns, as a Python function on arrays."""

from __future__ import annotations

from ..base.cached import cached_property
from ..base.records import dataclass
from ..ir.types import (
    BOOL,
    Access,
    AddressSpace,
    Array,
    Atomic,
    Matrix,
    Scalar,
    Type,
    Vector,
    scalar_of,
)
from ..ir.types import walk as walk_type


@dataclass(frozen=True, slots=True)
class Named:
    """A value of a type under a name: a parameter, what a pointer parameter points to, or a result."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Parameter(Named):
    """A parameter. `type` is that of its value, and for a pointer of what it points to. `space` is the pointer's."""

    space: AddressSpace | None = None
    access: Access | None = None

    @property
    def is_returned(self) -> bool:
        """Whether the function may change what the parameter points to."""
        return self.space is not None and self.access is not Access.READ


@dataclass(frozen=True)
class Signature:
    """A function that can be called from Python. `bound` are the bound variables that the function uses, and
    `is_cooperative` says that it has to do with other invocations of its workgroup.
    """

    name: str
    parameters: tuple[Parameter, ...]
    value: Type | None
    bound: tuple[str, ...]
    written: tuple[str, ...]
    is_cooperative: bool
    wgsl: str
    comment: str

    @cached_property
    def results(self) -> tuple[Named, ...]:
        """The results by element: the value, then what pointers point to."""
        taken = {it.name for it in self.parameters}
        name = "result" if "result" not in taken else "value_of_" + self.name
        value = () if self.value is None else (Named(name, self.value),)
        return value + tuple(Named(it.name, it.type) for it in self.parameters if it.is_returned)

    @cached_property
    def dimensions(self) -> str:
        """The own dimensions of parameters and results, as numpy writes them for a generalised ufunc."""
        given = ",".join(_dimensions(it.type) for it in self.parameters)
        return f"{given}->{','.join(_dimensions(it.type) for it in self.results)}"


def own_shape(type: Type) -> tuple[int, ...]:
    """The dimensions of one value as an array; a structure has none."""
    match type:
        case Vector(width=width):
            return (width,)
        case Matrix(columns=columns, rows=rows):
            return columns, rows
        case Array(element=element, count=int(count)):
            return count, *own_shape(element)
        case _:
            return ()


def number_type_of(type: Type) -> Scalar | None:
    """The type of all numbers of a value; None for one with structures."""
    match type:
        case Array(element=element) | Atomic(element=element):
            return number_type_of(element)
        case _:
            return scalar_of(type)


def _dimensions(type: Type) -> str:
    return f"({','.join(map(str, own_shape(type)))})"


def holds_bool(type: Type) -> bool:
    """Whether a value has a bool in it, which memory cannot hold."""
    return any(part is BOOL for part in walk_type(type))
