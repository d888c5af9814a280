"""Writes a module as naga takes it: wgpu's WGSL compiler lacks some of the language, and reads some of it wrongly.

| WGSL | naga (wgpu-native 29) | written instead |
|---|---|---|
| `enable` of anything but f16 | refuses it; what subgroups need it takes all the same | nothing |
| `@subgroup_size` | lacks it | nothing: who runs the kernel checks the device's size |
| `requires` | refuses most features' names | nothing: such a directive only asserts what the compiler can do |
| `bitcast` between f16 vectors and 32-bit types | takes the result to have the operand's shape | packing functions |
| `subgroupElect` | lacks it | whether no active invocation stands before |
| broadcasts and shuffles from a lane of type i32 | refuses them | the lane as u32 |
| `var x: u32;` in a loop | sets it to zero once, not in each iteration | `var x = 0u;` |
| `frexp` of f16 | takes the exponents to be of 16 bits, and refuses them | `frexp` of f32 |
| results of `modf` and `frexp` in module-scope constants | does not evaluate them | structures of their values |

How each fares was found by giving it to naga, and comparing what it computes with the interpreter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ...ir.builtins import frexp_result
from ...ir.constants import zero_constant
from ...ir.core import nodes
from ...ir.core.builder import Builder, u32
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from ...ir.ops import BinaryOp
from ...ir.types import (
    F16,
    F32,
    U32,
    Pointer,
    Scalar,
    Struct,
    Type,
    Vector,
    has_no_name,
    scalar_of,
    vector,
    walk,
)
from .editing import any_of, as_u32, module_names
from .regions import blocks_from, nested
from .retyping import mapped, retype_values
from .rewriting import Rule, rewrite

ENABLES: Final = frozenset({"f16"})
"""The extensions that naga lets a module enable."""
_WITH_LANE: Final = ("subgroupBroadcast", "subgroupShuffle", "quadBroadcast")


@dataclass(frozen=True)
class NagaDialect:
    """Leaves directives out, and replaces what naga refuses or reads wrongly; values stay the same.

    A bitcast to f16 may change the payload of a NaN, which WGSL leaves open.
    """

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "naga_dialect"

    def run(self, module: nodes.Module) -> bool:
        """Whether something was not as naga takes it."""
        enables = [name for name in module.enables if name in ENABLES]
        changed = bool(module.requires) or len(enables) < len(module.enables)
        module.enables, module.requires = enables, []
        for function in module.functions:
            changed |= function.subgroup_size is not None
            function.subgroup_size = None
        changed |= any_of(_initialise(block) for function in module.functions for block in _in_loops(function))
        changed |= _name_results(module)
        return rewrite(module, _RULES) or changed


def _in_loops(function: nodes.Function) -> Iterator[nodes.Block]:
    """The blocks inside of loops, each once."""
    seen: set[int] = set()
    for block in blocks_of(function):
        if block.branch is None or not isinstance(block.branch.target, nodes.Loop):
            continue
        for inner in (it for start in nested(block) for it in blocks_from(start)):
            if id(inner) not in seen:
                seen.add(id(inner))
                yield inner


def _initialise(block: nodes.Block) -> bool:
    """Give each variable a value; whether one had none."""
    bare = [it for it in block.instructions if isinstance(it, nodes.Var) and it.initializer is None]
    for variable in bare:
        assert isinstance(variable.type, Pointer)
        store = variable.type.store
        variable.initializer = nodes.Constant(zero_constant(store), store, None, span=variable.span)
    return bool(bare)


def _name_results(module: nodes.Module) -> bool:
    """Give results of `frexp` and `modf` types that have names, so that they can be constructed: those of f16, and of
    constants of the module; whether there are any.
    """
    variables = [it.initializer for it in module.root.instructions if isinstance(it, nodes.Var)]
    constants = [it.type for it in variables if isinstance(it, nodes.Constant)]
    results = dict.fromkeys(part for type in constants for part in walk(type))
    if "f16" in module.enables:
        results |= dict.fromkeys(frexp_result(type) for type in (F16, *(vector(width, F16) for width in (2, 3, 4))))
    nameless = [it for it in results if isinstance(it, Struct) and has_no_name(it)]
    if not nameless:
        return False
    names = module_names(module)
    named: dict[Type, Type] = {it: Struct(names.unique(it.name.strip("_")), it.members) for it in nameless}
    found = dict[Type, None]()

    def changed(type: Type) -> Type:
        other = mapped(type, named)
        found[other] = None
        return other

    retype_values(module, changed)
    parts = dict.fromkeys(part for type in found for part in walk(type))
    used = [it for it in parts if isinstance(it, Struct) and it in named.values()]
    module.structs += used
    return bool(used)


def _split_number(node: nodes.Instruction, builder: Builder) -> Value | None:
    if not isinstance(node, nodes.BuiltinCall) or node.function not in ("frexp", "modf") or has_no_name(node.type):
        return None
    (value,) = node.arguments
    is_wide = node.function == "frexp" and scalar_of(value.type) is F16
    wide = vector(value.type.width, F32) if isinstance(value.type, Vector) else F32
    split = builder.builtin_call(node.function, [builder.convert(wide, value) if is_wide else value])
    fraction, other = (builder.access(split, [u32(index)]) for index in range(2))
    return builder.construct(node.type, [builder.convert(value.type, fraction) if is_wide else fraction, other])


def _bitcast(node: nodes.Instruction, builder: Builder) -> Value | None:
    if not isinstance(node, nodes.BuiltinCall) or node.function != "bitcast":
        return None
    (value,) = node.arguments
    is_from, is_to = (scalar_of(type) is F16 for type in (value.type, node.type))
    if is_from is is_to:
        return None
    return _packed(builder, value, node.type) if is_from else _unpacked(builder, value, node.type)


def _unpacked(builder: Builder, value: Value, type: Type) -> Value:
    """The f16 vector in the bits of 32-bit components."""
    words = _cast(builder, value, U32)
    halves = [builder.builtin_call("unpack2x16float", [word]) for word in _components(builder, words)]
    return builder.convert(type, _joined(builder, F32, halves))


def _packed(builder: Builder, value: Value, type: Type) -> Value:
    """The bits of an f16 vector as 32-bit components."""
    assert isinstance(value.type, Vector)
    floats = builder.convert(vector(value.type.width, F32), value)
    pairs = [floats] if value.type.width == 2 else [builder.swizzle(floats, [0, 1]), builder.swizzle(floats, [2, 3])]
    words = _joined(builder, U32, [builder.builtin_call("pack2x16float", [pair]) for pair in pairs])
    scalar = scalar_of(type)
    assert scalar is not None
    return _cast(builder, words, scalar)


def _cast(builder: Builder, value: Value, scalar: Scalar) -> Value:
    """The bits of 32-bit components as others."""
    type = vector(value.type.width, scalar) if isinstance(value.type, Vector) else scalar
    return value if value.type is type else builder.builtin_call("bitcast", [value], template_arguments=[type])


def _components(builder: Builder, value: Value) -> list[Value]:
    if not isinstance(value.type, Vector):
        return [value]
    return [builder.access(value, [u32(index)]) for index in range(value.type.width)]


def _joined(builder: Builder, scalar: Scalar, parts: Sequence[Value]) -> Value:
    if len(parts) == 1:
        return parts[0]
    width = sum(part.type.width if isinstance(part.type, Vector) else 1 for part in parts)
    return builder.construct(vector(width, scalar), parts)


def _subgroup_elect(node: nodes.Instruction, builder: Builder) -> Value | None:
    if not isinstance(node, nodes.BuiltinCall) or node.function != "subgroupElect":
        return None
    before = builder.builtin_call("subgroupExclusiveAdd", [u32(1)])
    return builder.binary(BinaryOp.EQUAL, before, u32(0))


def _lane_number(node: nodes.Instruction, builder: Builder) -> Value | None:
    if not isinstance(node, nodes.BuiltinCall) or node.function not in _WITH_LANE:
        return None
    value, lane = node.arguments
    if lane.type is U32:
        return None
    return builder.builtin_call(node.function, [value, as_u32(builder, lane)])


_RULES: tuple[Rule, ...] = (_bitcast, _subgroup_elect, _lane_number, _split_number)
