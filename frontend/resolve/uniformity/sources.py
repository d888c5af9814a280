"""Where values come from that differ between invocations: inputs of entry points, and memory that can be written.

WGSL, "Uniformity Rules for Expressions".
"""

from __future__ import annotations

from ....ir.types import Access, AddressSpace, IoAttributes, Pointer, Stage, Struct
from ....ir.wgsl.program import Variable
from .graph import NON_UNIFORM, NON_UNIFORM_IN_WORKGROUP, Node

_UNIFORM = frozenset({"workgroup_id", "num_workgroups", "num_subgroups"})


def input_sink(variable: Variable, stage: Stage) -> tuple[Node | None, str]:
    """The sink of a parameter of an entry point, None where it is uniform, and a sentence that says why.

    The members of a structure are not distinguished: if one is non-uniform, the structure is.
    """
    if not isinstance(variable.type, Struct):
        return _sink(variable.io, stage), _reason(variable.io, f"input '{variable.name}'")
    worst: tuple[Node | None, str] = None, ""
    for member in variable.type.members:
        sink = _sink(member.io, stage)
        if sink is not None and worst[0] in (None, NON_UNIFORM_IN_WORKGROUP):
            worst = sink, _reason(member.io, f"input '{member.name}' in '{variable.name}'")
    return worst


def _sink(io: IoAttributes, stage: Stage) -> Node | None:
    if io.builtin in _UNIFORM or (io.builtin == "subgroup_size" and stage is Stage.COMPUTE):
        return None
    return NON_UNIFORM_IN_WORKGROUP if io.builtin == "subgroup_id" else NON_UNIFORM


def _reason(io: IoAttributes, what: str) -> str:
    if io.builtin is not None:
        what = f"builtin value '{io.builtin}'"
    return f"{what} may differ between invocations"


def is_tracked(variable: Variable) -> bool:
    """Whether the memory belongs to one function, so that its value is tracked from statement to statement."""
    if isinstance(variable.type, Pointer) and variable.kind == "parameter":
        return variable.type.space is AddressSpace.FUNCTION
    return variable.kind == "var" and variable.space is AddressSpace.FUNCTION


def is_read_only(variable: Variable) -> bool:
    """Whether memory outside functions never changes while the shader runs."""
    if isinstance(variable.type, Pointer):
        return variable.type.access is Access.READ
    return variable.space is AddressSpace.HANDLE or variable.access is Access.READ
