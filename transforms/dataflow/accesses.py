"""The accesses of a kernel to its bindings: which element, as a form over the invocations, and under which guards.

The forms are taken from Hercules IR, where functions are inlined and variables are values, so that they do not depend
on how the kernel is spelled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, assert_never

from ...ir import types as w
from ...ir.dataflow.expressions import Polynomial
from ...ir.hercules import nodes as h
from ...ir.hercules.analyses import Loop
from ...ir.hercules.entry import Binding, EntryPoint
from ...ir.hercules.placement import place_nodes
from ...ir.hercules.types import is_collection
from ...ir.source import Span
from .forms import Counter, Forms, Opaque, WorkgroupId, constant_path, counters_in, variables
from .guards import GuardFinder, Guards

Kind: TypeAlias = Literal["read", "write", "atomic"]
Part: TypeAlias = "tuple[int, ...]"
"""Where in an element: fields and constant positions; () for the whole of a scalar."""


@dataclass(frozen=True, slots=True)
class Access:
    """An access to an element of a binding that is an array.

    `index` is the element's position; None, with the reason in `why`, where it is no form over the invocations. `part`
    is None where it depends on data. The element is accessed at most where the guards hold.
    """

    binding: str
    kind: Kind
    index: Polynomial | None
    part: Part | None
    guards: Guards
    span: Span | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Cover:
    """When the kernel ends, an element at `index` has been written in its `part`, where the guards hold."""

    index: Polynomial
    part: Part
    guards: Guards


@dataclass(frozen=True, slots=True)
class KernelAccesses:
    """All accesses of an entry point, by binding, and what is surely written. `whole` has bindings that are used in a
    way that is no access to an element, each with the reason. `cooperation` is the first place where invocations depend
    on one another by barriers, workgroup memory or operations on subgroups.

    `stays` has, for each counter in an index, the guards under which its loop and those around it go on, and `strays`
    the reasons why loops of counters cannot run together with those of other kernels.
    """

    entry: EntryPoint
    accesses: Mapping[str, tuple[Access, ...]]
    covers: Mapping[str, tuple[Cover, ...]]
    whole: Mapping[str, str]
    cooperation: Span | None
    stays: Mapping[Counter, Guards] = field(default_factory=dict["Counter", Guards])
    strays: Mapping[Counter, str] = field(default_factory=dict["Counter", str])

    def binding(self, name: str) -> Binding:
        """The binding of that name."""
        return next(it for it in self.entry.bindings if it.name == name)

    def writes(self, name: str) -> bool:
        """Whether the kernel writes a binding."""
        return any(it.kind != "read" for it in self.accesses.get(name, ()))

    def parts(self, name: str) -> list[Part]:
        """The scalars in an element of a binding that is an array."""
        type = self.entry.function.parameter_types[self.binding(name).parameter]
        return list(_scalars(type.element)) if isinstance(type, h.Array) else []


def kernel_accesses(entry: EntryPoint, cooperation: Span | None) -> KernelAccesses:
    """The accesses of an entry point after its passes, which is not changed; `cooperation` as in the result."""
    return _Finder(entry).find(cooperation)


class _Finder:
    def __init__(self, entry: EntryPoint) -> None:
        self.entry = entry
        self.placed = place_nodes(entry.function)
        self.forms = Forms(entry, self.placed)
        self.guards = GuardFinder(self.forms)
        self.owners = _owners(entry, self.placed.types)

    def find(self, cooperation: Span | None) -> KernelAccesses:
        accesses: dict[str, list[Access]] = {it.name: [] for it in self.entry.bindings}
        whole: dict[str, str] = {}
        for node in self.entry.function.nodes:
            if (
                isinstance(node, (h.Read, h.Write, h.Atomic))
                and node.collection in self.owners
                and node in self.placed.live
            ):
                name = self.owners[node.collection]
                accesses[name].append(self._access(name, node))
            elif isinstance(node, h.Call):
                whole.update(
                    {
                        self.owners[it]: "a function that was not inlined uses it"
                        for it in node.arguments
                        if it in self.owners
                    }
                )
        covers = {name: tuple(self._covers(name, found)) for name, found in accesses.items()}
        found = {name: tuple(them) for name, them in accesses.items()}
        indices = [it.index for them in found.values() for it in them if it.index is not None]
        counters = {counter: None for index in indices for counter in counters_in(index)}
        stays = {it: self.guards.of(it.stay) for it in counters}
        strays = {it: why for it in counters if (why := self._why_apart(it))}
        return KernelAccesses(self.entry, found, covers, whole, cooperation, stays, strays)

    def _why_apart(self, counter: Counter) -> str:
        """Why the loop of a counter cannot run together with that of another kernel; empty if it can."""
        around = self.placed.loops.around[counter.loop.header]
        above = self._stay_of(around[-2]) if len(around) > 1 else self.placed.nest.around[counter.loop.header][-1]
        if above is None:
            return "its loop is within one that is no grid-stride loop"
        if not self.guards.is_sure(counter.loop.header, above):
            return "its loop is within a branch"
        return ""

    def _stay_of(self, loop: Loop) -> h.Node | None:
        """The block in a loop with a counter where it goes on."""
        phis = (it for it in self.entry.function.nodes if isinstance(it, h.Phi) and it.region is loop.header)
        found = (it for phi in phis for it in counters_in(self.forms.of(phi)) if it.phi is phi)
        return next((it.stay for it in found), None)

    def _access(self, name: str, node: h.Read | h.Write | h.Atomic) -> Access:
        kind: Kind = "read" if isinstance(node, h.Read) else "write" if isinstance(node, h.Write) else "atomic"
        place = self.placed.place[node]
        guards = self.guards.of(place)
        first = node.indices[0] if node.indices else None
        if not isinstance(first, h.PositionIndex) or self._is_bare(name):
            return Access(name, kind, None, None, guards, node.span, f"{name!r} is no array")
        part = constant_path(node.indices[1:])
        if is_collection(self._accessed_type(node)):
            part = None
        index = self.forms.of(first.position)
        why = _why_not(index) or self._why_outside(index, place)
        guards = guards.within(counters_in(index))
        return Access(name, kind, None if why else index, part, guards, node.span, why)

    def _why_outside(self, index: Polynomial, place: h.Node) -> str:
        """Why the counters in an index do not have the values there that their loops go through."""
        if all(self.placed.dominators.dominates(it.stay, place) for it in counters_in(index)):
            return ""
        return "its position is the counter of a loop, before its condition is tested or after its end"

    def _accessed_type(self, node: h.Read | h.Write | h.Atomic) -> h.Type | None:
        if isinstance(node, h.Atomic):
            return None
        return self.placed.types.get(node if isinstance(node, h.Read) else node.value)

    def _is_bare(self, name: str) -> bool:
        """Whether the binding is no array in WGSL: a number by itself is an array of one element in Hercules IR."""
        binding = next(it for it in self.entry.bindings if it.name == name)
        return not isinstance(binding.type, w.Array) or binding.space is w.AddressSpace.UNIFORM

    # What is surely written

    def _covers(self, name: str, accesses: Sequence[Access]) -> Iterator[Cover]:
        writes = [it for it in accesses if it.kind == "write"]
        indices = {it.index for it in writes}
        index = next(iter(indices), None)
        last, end = self._last_version(name)
        if len(indices) != 1 or index is None or last is None or end is None:
            return
        for part in dict.fromkeys(it.part for it in writes):
            if part is not None:
                found = self._covered(last, part, end, set())
                yield from (Cover(index, part, guards.within(counters_in(index))) for guards in found)

    def _last_version(self, name: str) -> tuple[h.Node | None, h.Node | None]:
        """The version of a binding at the end of an invocation, and the control there."""
        ends: list[tuple[int, h.Node, h.Node]] = []
        for node, owner in self.owners.items():
            if owner == name and isinstance(node, h.Reduce) and isinstance(node.join, h.Join):
                ends.append((len(self.placed.nest.around[node.join.control]), node.update, node.join.control))
        deepest = [it for it in ends if it[0] == max(depth for depth, _, _ in ends)]
        return deepest[0][1:] if len(deepest) == 1 else (None, None)

    def _covered(self, version: h.Node, part: Part, at: h.Node, seen: set[h.Node]) -> Iterator[Guards]:
        """Guards under which a version, which control has at `at`, has been written in that part."""
        if self._is_written(version, part, set()):
            yield self.guards.of(at)
        elif isinstance(version, h.Write):
            yield from self._covered(version.collection, part, at, seen)
        elif isinstance(version, h.Phi) and isinstance(version.region, h.Region) and version not in seen:
            seen.add(version)
            for value, way in zip(version.values, version.region.predecessors, strict=True):
                yield from self._covered(value, part, way, seen)

    def _is_written(self, version: h.Node, part: Part, seen: set[h.Node]) -> bool:
        """Whether a version has been written in that part on every way to it within an invocation."""
        if version in seen:
            return False
        seen.add(version)
        match version:
            case h.Write(collection, _, indices):
                return constant_path(indices[1:]) == part or self._is_written(collection, part, seen)
            case h.Phi(h.Region() as region, values) if region not in self.forms.loops:
                return all(self._is_written(it, part, set(seen)) for it in values)
            case _:
                return False


def _scalars(type: h.Type) -> Iterator[Part]:
    """The paths of the scalars in a value of a type."""
    match type:
        case h.Product(fields):
            yield from ((number, *rest) for number, it in enumerate(fields) for rest in _scalars(it))
        case h.Array(element, h.DynamicLiteral(extent)):
            yield from ((number, *rest) for number in range(extent) for rest in _scalars(element))
        case _:
            yield ()


def _why_not(index: Polynomial) -> str:
    """Why an index is no form that the numbers of an invocation decide; empty if it is one."""
    found = variables(index)
    for variable in found:
        if isinstance(variable, Opaque):
            return f"its position {_described(variable.node)}"
    if any(isinstance(it, WorkgroupId) for it in found):
        return "its position depends on the size of the workgroups"
    return ""


def _described(node: h.Node) -> str:
    match node:
        case h.Read() | h.Atomic():
            return "is loaded"
        case h.Phi():
            return "is the counter of a loop, or depends on a branch"
        case h.Intrinsic(function):
            return f"is computed by {function}"
        case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
            return "is not a sum of products of builtin values and numbers of the dispatch"
        case _:
            assert_never(node)


def _owners(entry: EntryPoint, types: Mapping[h.Node, h.Type]) -> dict[h.Node, str]:
    """The binding that each version of a collection belongs to."""
    names = {it.parameter: it.name for it in entry.bindings}
    owners: dict[h.Node, str] = {
        it: names[it.index] for it in entry.function.nodes if isinstance(it, h.Parameter) and it.index in names
    }
    changed = True
    while changed:
        changed = False
        for node in entry.function.nodes:
            if node in owners or not is_collection(types.get(node)):
                continue
            source = _comes_from(node, owners)
            if source is not None:
                owners[node] = source
                changed = True
    return owners


def _comes_from(node: h.Node, owners: Mapping[h.Node, str]) -> str | None:
    match node:
        case h.Write(collection) | h.Read(h.Atomic(_, collection), _):
            return owners.get(collection)
        case h.Reduce(_, init, _):
            return owners.get(init)
        case h.Phi(_, values):
            return next((owners[it] for it in values if it in owners), None)
        case h.FloatingNode() | h.PinnedNode() | h.ControlNode():
            return None
        case _:
            assert_never(node)
