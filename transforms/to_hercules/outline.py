"""Decides which functions are called rather than inlined: those whose inlined copies make the entry point too large.

The size of a function is estimated in Hercules nodes, before anything is translated. While the estimate for the whole
program exceeds `MOST_NODES`, the function that saves most nodes by being called is added to those that are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import assert_never

from ...base.records import dataclass
from ...ir import types as wgsl
from ...ir.core import nodes as c
from ...ir.core.structure import blocks_of
from ...ir.core.values import Value
from .effects import EffectsAnalysis
from .values import is_tree_array

MOST_NODES = 4000
"""Estimated number of nodes up to which an entry point is translated with all calls inlined. Code for gangs is compiled
at 1500 to 2000 nodes a second (AMD EPYC, Zen 4), and more slowly for larger functions.
"""
SMALLEST = 60
"""Estimated number of nodes below which a function is always inlined: a call takes as long as some 30 operations."""
MOST_SCALARS = 256
"""Number of arguments and results, in scalars, above which a function is always inlined."""
_BRANCH = 8
"""Estimated number of nodes for a branch or loop, including the Phis at its merge."""
_BUILTIN = 4
"""Estimated number of nodes for each component of a builtin function's result."""


def called_functions(entry: c.Function, effects: EffectsAnalysis) -> frozenset[c.Function]:
    """Of the functions that the entry point reaches, those to be called rather than inlined."""
    graph = _CallGraph.of(entry, effects)
    candidates = [it for it in graph.order if it is not entry and is_callable(it, effects)]
    called: set[c.Function] = set()
    while graph.total(called) > MOST_NODES:
        savings = graph.savings(called)
        best = max((it for it in candidates if it not in called), key=savings.__getitem__, default=None)
        if best is None or savings[best] <= 0:
            break
        called.add(best)
    return frozenset(called)


@dataclass(frozen=True, slots=True)
class _CallGraph:
    """The functions that an entry point reaches, callers first (`order`). For each: the functions that it calls, once
    for each call; the size of its body without them; the size of a call of it.
    """

    order: Sequence[c.Function]
    calls: Mapping[c.Function, Sequence[c.Function]]
    sizes: Mapping[c.Function, int]
    call_sizes: Mapping[c.Function, int]

    @classmethod
    def of(cls, entry: c.Function, effects: EffectsAnalysis) -> _CallGraph:
        calls: dict[c.Function, list[c.Function]] = {}
        order: list[c.Function] = []

        def visit(function: c.Function) -> None:
            calls[function] = [it.callee for it in instructions_of(function) if isinstance(it, c.Call)]
            for callee in calls[function]:
                if callee not in calls:
                    visit(callee)
            order.append(function)

        visit(entry)
        sizes = {it: own_size(it) for it in order}
        return cls(order[::-1], calls, sizes, {it: scalars_passed(it, effects) + 1 for it in order})

    def total(self, called: Collection[c.Function]) -> int:
        """The number of nodes in the entry point and all called functions."""
        copies = self._copies(called)
        sites = {it: sum(self.call_sizes[callee] for callee in self.calls[it] if callee in called) for it in self.order}
        return sum((1 if it in called else copies[it]) * (self.sizes[it] + sites[it]) for it in self.order)

    def savings(self, called: Collection[c.Function]) -> Mapping[c.Function, int]:
        """For each function, the number of nodes saved by calling it as well; 0 for functions below `SMALLEST`."""
        copies, sizes = self._copies(called), self._inlined_sizes(called)
        return {
            it: (copies[it] - 1) * sizes[it] - copies[it] * self.call_sizes[it] if sizes[it] >= SMALLEST else 0
            for it in self.order
        }

    def _copies(self, called: Collection[c.Function]) -> Mapping[c.Function, int]:
        """The number of calls of each function, including those in inlined copies of its callers; 1 for the entry."""
        copies = dict.fromkeys(self.order, 0)
        copies[self.order[0]] = 1
        for function in self.order:
            for callee in self.calls[function]:
                copies[callee] += 1 if function in called else copies[function]
        return copies

    def _inlined_sizes(self, called: Collection[c.Function]) -> Mapping[c.Function, int]:
        """The number of nodes in each function, including those of the functions inlined in it."""
        sizes: dict[c.Function, int] = {}
        for function in reversed(self.order):
            inner = (self.call_sizes[it] if it in called else sizes[it] for it in self.calls[function])
            sizes[function] = self.sizes[function] + sum(inner)
        return sizes


def instructions_of(function: c.Function) -> Iterator[c.Instruction]:
    """All instructions of a function."""
    for block in blocks_of(function):
        yield from block.instructions


# What can be called


def is_callable(function: c.Function, effects: EffectsAnalysis) -> bool:
    """Whether a function can be called: its arguments and results are at most MOST_SCALARS scalars, it writes only
    variables of the invocation, and it has no barriers, atomics or subgroup operations.
    """
    found = effects.of_function(function)
    types = [*(it.type for it in function.parameters), function.return_type]
    is_own = all(_space(it.type) in (wgsl.AddressSpace.FUNCTION, wgsl.AddressSpace.PRIVATE) for it in found.written)
    is_passed = all(map(_is_passed, types)) and scalars_passed(function, effects) <= MOST_SCALARS
    return not found.has_barrier and is_own and is_passed


def _space(type: wgsl.Type) -> wgsl.AddressSpace | None:
    return type.space if isinstance(type, wgsl.Pointer) else None


def _is_passed(type: wgsl.Type) -> bool:
    if isinstance(type, wgsl.Pointer):
        return type.space in (wgsl.AddressSpace.FUNCTION, wgsl.AddressSpace.PRIVATE)
    return type is wgsl.VOID or isinstance(type, (wgsl.Scalar, wgsl.Vector, wgsl.Matrix, wgsl.Array, wgsl.Struct))


def scalars_passed(function: c.Function, effects: EffectsAnalysis) -> int:
    """The number of scalars among the arguments and results of a call."""
    found = effects.of_function(function)
    privates = [it for it in found.used if _space(it.type) is wgsl.AddressSpace.PRIVATE]
    total = 0 if function.return_type is wgsl.VOID else scalar_count(function.return_type)
    for root in (*function.parameters, *privates):
        type = root.type.store if isinstance(root.type, wgsl.Pointer) else root.type
        total += scalar_count(type) * (2 if root in found.written else 1)
    return total


def scalar_count(type: wgsl.Type) -> int:
    """The number of scalars in a value of a type."""
    count = wgsl.element_count(type)
    if isinstance(type, (wgsl.Vector, wgsl.Matrix, wgsl.Array)) and isinstance(count, int):
        element = wgsl.element_type(type, 0)
        assert element is not None
        return count * scalar_count(element)
    return sum(scalar_count(it.type) for it in type.members) if isinstance(type, wgsl.Struct) else 1


# Sizes


def own_size(function: c.Function) -> int:
    """The estimated number of nodes in a function's body, without those of the functions that it calls."""
    total = 0
    for block in blocks_of(function):
        total += sum(map(_instruction_size, block.instructions))
        is_branch = block.branch is not None and isinstance(block.branch.target, (c.If, c.Loop, c.Switch))
        total += _BRANCH if is_branch else 0
    return total


def _instruction_size(instruction: c.Instruction) -> int:
    match instruction:
        case c.Binary(lhs=lhs, rhs=rhs):
            inner = lhs.type.columns if isinstance(lhs.type, wgsl.Matrix) else 1
            inner = max(inner, rhs.type.rows if isinstance(rhs.type, wgsl.Matrix) else 1)
            return scalar_count(instruction.type) * (2 * inner - 1)
        case c.Unary() | c.Convert():
            return scalar_count(instruction.type)
        case c.Access(object=object) if not isinstance(object.type, wgsl.Pointer):
            return (_choices(instruction) - 1) * (scalar_count(instruction.type) + 1)
        case c.Load(pointer=pointer):
            return scalar_count(instruction.type) * (2 * _choices(pointer) - 1)
        case c.Store(pointer=pointer, value=value):
            return scalar_count(value.type) * (2 * _choices(pointer) - 1)
        case c.BuiltinCall():
            return _BUILTIN * scalar_count(instruction.type)
        case c.PureInstruction() | c.Call() | c.Var() | c.Override() | c.Discard():
            return 0
        case _:
            assert_never(instruction)


def _choices(value: Value) -> int:
    """The number of scalars that the computed indices of a pointer, or of a part of a value, select from."""
    count = 1
    while isinstance(value, c.Access):
        type = value.object.type.store if isinstance(value.object.type, wgsl.Pointer) else value.object.type
        is_memory = _space(value.object.type) not in (None, wgsl.AddressSpace.FUNCTION, wgsl.AddressSpace.PRIVATE)
        for index in value.indices:
            elements = wgsl.element_count(type)
            is_chosen = not is_memory and not isinstance(index, c.Constant) and isinstance(elements, int)
            if is_chosen and (is_tree_array(type) or isinstance(type, (wgsl.Vector, wgsl.Matrix))):
                assert isinstance(elements, int)
                count *= elements
            element = wgsl.element_type(type, _number(index))
            assert element is not None
            type = element
        value = value.object
    return count


def _number(index: Value) -> int:
    """The value of an index if it is constant, as that of a structure always is; else 0."""
    return index.value.value if isinstance(index, c.Constant) and isinstance(index.value.value, int) else 0
