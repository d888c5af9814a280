"""Builtin functions whose value depends on memory or on other invocations: arrays, atomics, barriers, subgroups and
quads.

They have no evaluators: interpreters implement them. `atomic_operation` is the arithmetic of the atomic functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..scalars import EvaluationError, wrap
from ..types import Scalar, Stage
from .registry import Check, Flags, declare

declare(
    "arrayLength",
    "[T: any, A: storage | uniform | workgroup, M: read | read_write](p: ptr<A, array<T>, M>) -> u32",
    doc="The number of elements of a runtime-sized array.",
    flags=Flags(accesses_memory=False),
)

# Atomics

_ATOMIC = Flags(
    must_use=False,
    stages=frozenset({Stage.FRAGMENT, Stage.COMPUTE}),
    is_atomic=True,
    has_side_effects=True,
)
_ATOMIC_VARIABLES = "[T: i32 | u32, A: storage | workgroup]"
_ATOMIC_POINTER = "atomic_ptr: ptr<A, atomic<T>, read_write>"

_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "atomicAdd": lambda old, v: old + v,
    "atomicSub": lambda old, v: old - v,
    "atomicMax": max,
    "atomicMin": min,
    "atomicAnd": lambda old, v: old & v,
    "atomicOr": lambda old, v: old | v,
    "atomicXor": lambda old, v: old ^ v,
    "atomicExchange": lambda old, v: v,
}


def atomic_operation(name: str, scalar: Scalar) -> Callable[[int, int], int]:
    """The function that computes, for a read-modify-write, an atomic's new value from the old one and the operand."""
    operation = _OPERATIONS[name]
    return lambda old, operand: wrap(scalar, operation(old, operand))


declare("atomicLoad", f"{_ATOMIC_VARIABLES}({_ATOMIC_POINTER}) -> T", doc="The value of an atomic.", flags=_ATOMIC)
declare("atomicStore", f"{_ATOMIC_VARIABLES}({_ATOMIC_POINTER}, v: T)", doc="Sets an atomic.", flags=_ATOMIC)
for _name, _doc in (
    ("atomicAdd", "Adds to an atomic; gives its old value."),
    ("atomicSub", "Subtracts from an atomic; gives its old value."),
    ("atomicMax", "Sets an atomic to the greater of it and a value; gives its old value."),
    ("atomicMin", "Sets an atomic to the lesser of it and a value; gives its old value."),
    ("atomicAnd", "Clears the bits of an atomic that a value lacks; gives its old value."),
    ("atomicOr", "Sets bits of an atomic; gives its old value."),
    ("atomicXor", "Flips bits of an atomic; gives its old value."),
    ("atomicExchange", "Sets an atomic; gives its old value."),
):
    declare(_name, f"{_ATOMIC_VARIABLES}({_ATOMIC_POINTER}, v: T) -> T", doc=_doc, flags=_ATOMIC)
declare(
    "atomicCompareExchangeWeak",
    f"{_ATOMIC_VARIABLES}({_ATOMIC_POINTER}, cmp: T, v: T) -> exchanged<T>",
    doc="Sets an atomic if it has a given value; gives its old value and whether it was set.",
    flags=_ATOMIC,
)

# Barriers

_COMPUTE = frozenset({Stage.COMPUTE})
_BARRIER = Flags(must_use=False, stages=_COMPUTE, is_barrier=True, has_side_effects=True, uniformity="error")
declare("storageBarrier", "()", doc="Waits for the workgroup and orders its accesses to storage.", flags=_BARRIER)
declare("textureBarrier", "()", doc="Waits for the workgroup and orders its accesses to textures.", flags=_BARRIER)
declare("workgroupBarrier", "()", doc="Waits for the workgroup and orders its accesses to its memory.", flags=_BARRIER)
declare(
    "workgroupUniformLoad",
    "[T: constructible](p: ptr<workgroup, T, read_write>) -> T",
    "[T: i32 | u32](p: ptr<workgroup, atomic<T>, read_write>) -> T",
    doc="Waits for the workgroup and gives a value of its memory to every invocation.",
    flags=Flags(
        stages=_COMPUTE,
        is_barrier=True,
        has_side_effects=True,
        uniformity="error",
        uniform_parameters=("p",),
    ),
)

# Subgroups and quads

LARGEST_SUBGROUP: Final = 128
"""The largest number of invocations in a subgroup on any device (WGSL, "Built-in Values", subgroup_size)."""
SUBGROUP_SIZE: Final = 8
"""Number of invocations in a subgroup on every device but a GPU, so that all of these devices give the same results. It
is a power of two, as WGSL requires, and a multiple of the size of a quad.
"""


def _check_lane(scalar: Scalar | None, id: int) -> None:
    del scalar
    if not 0 <= id < LARGEST_SUBGROUP:
        raise EvaluationError(f"{id} is not in the range from 0 to {LARGEST_SUBGROUP - 1}")


def _check_quad_lane(scalar: Scalar | None, id: int) -> None:
    del scalar
    if not 0 <= id < 4:
        raise EvaluationError(f"{id} is not in the range from 0 to 3")


_VALUE = "[T: concrete_numbers](e: T) -> T"
_BITS = "[T: integers](e: T) -> T"
_WITH_ID = "[T: concrete_numbers, I: integer](e: T, id: I) -> T"
_SAME_IN_SUBGROUP = frozenset(
    f"subgroup{name}"
    for name in ("Add", "All", "And", "Any", "Ballot", "Broadcast", "BroadcastFirst", "Max", "Min", "Mul", "Or", "Xor")
)
_SUBGROUP_STAGES = frozenset({Stage.FRAGMENT, Stage.COMPUTE})


def _declare_subgroup(
    name: str,
    signature: str,
    doc: str,
    *checks: Check,
    const_parameters: tuple[str, ...] = (),
    uniform_parameters: tuple[str, ...] = (),
) -> None:
    flags = Flags(
        stages=_SUBGROUP_STAGES,
        is_subgroup=True,
        uniformity="subgroup_uniformity",
        uniform_parameters=uniform_parameters,
        nonuniform_result=True,
        same_in_subgroup=name in _SAME_IN_SUBGROUP,
        const_parameters=const_parameters,
        extension="subgroups",
    )
    declare(name, signature, doc=doc, flags=flags, checks=checks)


for _name, _signature, _doc in (
    ("subgroupAdd", _VALUE, "The sum over the subgroup."),
    ("subgroupExclusiveAdd", _VALUE, "The sum over the invocations before this one."),
    ("subgroupInclusiveAdd", _VALUE, "The sum over the invocations up to this one."),
    ("subgroupMul", _VALUE, "The product over the subgroup."),
    ("subgroupExclusiveMul", _VALUE, "The product over the invocations before this one."),
    ("subgroupInclusiveMul", _VALUE, "The product over the invocations up to this one."),
    ("subgroupMax", _VALUE, "The greatest value in the subgroup."),
    ("subgroupMin", _VALUE, "The least value in the subgroup."),
    ("subgroupAnd", _BITS, "The bits that are set in every invocation."),
    ("subgroupOr", _BITS, "The bits that are set in some invocation."),
    ("subgroupXor", _BITS, "The bits that are set in an odd number of invocations."),
    ("subgroupAll", "(e: bool) -> bool", "Whether it is true in every invocation."),
    ("subgroupAny", "(e: bool) -> bool", "Whether it is true in some invocation."),
    ("subgroupBallot", "(pred: bool) -> vec4<u32>", "The invocations where it is true, one bit each."),
    ("subgroupElect", "() -> bool", "Whether this is the first active invocation."),
    ("subgroupBroadcastFirst", _VALUE, "The value of the first active invocation."),
    ("quadSwapDiagonal", _VALUE, "The value of the diagonally opposite invocation."),
    ("quadSwapX", _VALUE, "The value of the invocation beside, along x."),
    ("quadSwapY", _VALUE, "The value of the invocation beside, along y."),
):
    _declare_subgroup(_name, _signature, _doc)

_declare_subgroup(
    "subgroupBroadcast",
    _WITH_ID,
    "The value of a given invocation.",
    Check(("id",), _check_lane),
    const_parameters=("id",),
)
_declare_subgroup("subgroupShuffle", _WITH_ID, "The value of an invocation of choice.", Check(("id",), _check_lane))
for _name, _parameter, _doc in (
    ("subgroupShuffleDown", "delta", "The value of the invocation that lies a distance after this one."),
    ("subgroupShuffleUp", "delta", "The value of the invocation that lies a distance before this one."),
    ("subgroupShuffleXor", "mask", "The value of the invocation whose index differs in the bits of a mask."),
):
    _declare_subgroup(
        _name,
        f"[T: concrete_numbers](e: T, {_parameter}: u32) -> T",
        _doc,
        Check((_parameter,), _check_lane),
        uniform_parameters=(_parameter,),
    )
_declare_subgroup(
    "quadBroadcast",
    _WITH_ID,
    "The value of a given invocation of the quad.",
    Check(("id",), _check_quad_lane),
    const_parameters=("id",),
)
