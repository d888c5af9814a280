"""Fuses leaves along one-to-one edges: a graph in which several leaves are one, with a shader of its own.

The fused leaf runs the kernels of a group (`groups`) one after another in each invocation. An array between them that
nobody else needs is gone; a kernel that asks for its length gets it from another array, or from a uniform structure.

What only the numbers of a launch decide is left to a `GroupTest`. A launch that fails one must run the graph as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from ...base.names import fresh_name
from ...ir import types as w
from ...ir.core.nodes import Module as CoreModule
from ...ir.core.nodes import Var
from ...ir.dataflow.expressions import Facts, evaluate, normal_form
from ...ir.dataflow.nodes import (
    Access,
    CreateNode,
    EmbeddedShader,
    Endpoint,
    Expression,
    Function,
    Graph,
    Leaf,
    Module,
    Port,
    Shader,
)
from ...ir.dataflow.types import U32
from ...ir.hercules import nodes as h
from ...ir.hercules.entry import Binding
from ..from_hercules import entry_module
from ..hercules import TO_CORE
from ..passes import apply_passes
from ..pipelines import O1
from .accesses import KernelAccesses
from .flat import FlatGraph, Given, flatten, graph_of, module_of, redirect
from .groups import Group, Remark, find_groups
from .inner_numbers import InnerNumbers
from .joining import join
from .kernel_graph import KernelGraph
from .launch_conditions import GroupTest
from .merge_branches import merge_branches
from .storage import Body, Storage
from .storings import Storing, loops_of_node

_LENGTHS: Final = "lengths"
Path: TypeAlias = "tuple[str, ...]"
"""The names on the way to a node."""


@dataclass(frozen=True, slots=True)
class Fused:
    """A module in which leaves are fused, the tests that a launch must pass, and what was fused and what not.

    `nodes` has for each node of the root graph, and of graphs in it that changed, the nodes that it stands for: both by
    their paths. `root` is the root graph as it was.
    """

    module: Module
    tests: tuple[GroupTest, ...]
    remarks: tuple[Remark, ...]
    nodes: Mapping[Path, tuple[Path, ...]]
    root: KernelGraph

    def output_length(self, name: str, facts: Facts) -> int | None:
        """The number of elements of an output; None if it is not known before the launch."""
        length = self.root.length(self.root.flat.outputs[name][0])
        return None if length is None else evaluate(length, facts)


def fuse(module: Module, kernels: Callable[[Leaf], KernelAccesses], text_of: Callable[[CoreModule], str]) -> Fused:
    """Fuse leaves of a verified module, in whose graphs those without instances are inlined.

    `kernels` has the accesses of a leaf, or raises Refused; `text_of` prints WGSL. Without anything to fuse, the module
    is the one given.
    """
    functions = {it.name: it for it in module.functions}
    root = functions[module.root.function]
    assert isinstance(root, Graph)
    shaders = {it.name: it for it in module.shaders}
    fused = _Levels(kernels, text_of, functions, shaders).fused(root)
    found = module_of(module, fused.flat, shaders) if fused.tests else module
    return Fused(found, fused.tests, fused.remarks, fused.nodes if fused.tests else {}, fused.graph)


@dataclass(frozen=True, slots=True)
class _Level:
    """A graph as it was, and in which leaves are fused if there are tests; the rest as in `Fused`."""

    graph: KernelGraph
    flat: FlatGraph
    tests: tuple[GroupTest, ...]
    remarks: tuple[Remark, ...]
    nodes: Mapping[Path, tuple[Path, ...]]


@dataclass(slots=True)
class _Levels:
    """Fuses the leaves of graphs, and of the graphs that their nodes execute. `functions` and `shaders` grow."""

    kernels: Callable[[Leaf], KernelAccesses]
    text_of: Callable[[CoreModule], str]
    functions: dict[str, Function]
    shaders: dict[str, Shader]
    _known: dict[str, _Level] = field(default_factory=dict[str, "_Level"])
    _made: dict[str, str] = field(default_factory=dict[str, str])
    """The names of graphs in which leaves are fused, by those of the graphs as they were."""

    def fused(self, function: Graph) -> _Level:
        """A graph with its leaves fused, and those of the graphs in it."""
        if function.name not in self._known:
            self._known[function.name] = self._fused(function)
        return self._known[function.name]

    def _fused(self, function: Graph) -> _Level:
        graph = KernelGraph(flatten(function, self.functions), self.kernels)
        groups, remarks = find_groups(graph)
        flat = replace(
            graph.flat, nodes=dict(graph.flat.nodes), inputs=dict(graph.flat.inputs), functions=self.functions
        )
        flat = replace(flat, outputs=dict(flat.outputs), transients=dict(flat.transients), taken=set(graph.flat.taken))
        for group in groups:
            _Rewriting(graph, group, flat, self.shaders, self.text_of).run()
        nodes = _origins(graph, groups, flat)
        tests = [GroupTest(it, graph) for it in groups]
        for name in [it for it in flat.nodes if it in graph.flat.nodes]:
            inner = self.functions[graph.flat.nodes[name].function]
            if isinstance(inner, Graph):
                level = self._inner(name, self.fused(inner), graph, flat)
                tests += level.tests
                remarks += level.remarks
                nodes |= level.nodes
        return _Level(graph, flat, tuple(tests), tuple(remarks), nodes)

    def _inner(self, name: str, inner: _Level, graph: KernelGraph, flat: FlatGraph) -> _Level:
        """Let a node execute a graph in which leaves are fused, if a launch knows the numbers that its tests need."""
        numbers = InnerNumbers(inner.graph, graph, name)
        tests = tuple(GroupTest(it.group, it.graph, _chained(it.outside, numbers.outside)) for it in inner.tests)
        path = graph.flat.paths[name]
        if not tests or not all(it.is_known for it in tests):
            return replace(inner, tests=(), remarks=tuple(_inside(it, name) for it in inner.remarks), nodes={})
        flat.nodes[name] = replace(flat.nodes[name], function=self._declared(inner))
        remarks = tuple(replace(it, edge=_edge_in(it.edge, name)) for it in inner.remarks)
        nodes = {(name, *new): tuple((*path, *it) for it in old) for new, old in inner.nodes.items()}
        return replace(inner, tests=tests, remarks=remarks, nodes=nodes)

    def _declared(self, level: _Level) -> str:
        """The name of the graph of a level, in which leaves are fused."""
        before = level.graph.flat.graph.name
        if before not in self._made:
            self._made[before] = name = fresh_name(before, {*self.functions, *self.shaders})
            self.functions[name] = replace(graph_of(level.flat), name=name)
        return self._made[before]


def _chained(
    inner: Callable[[Expression], Expression | None], outer: Callable[[Expression], Expression | None]
) -> Callable[[Expression], Expression | None]:
    def outside(expression: Expression) -> Expression | None:
        found = inner(expression)
        return None if found is None else outer(found)

    return outside


def _inside(remark: Remark, name: str) -> Remark:
    """A remark about a graph that a node executes as it was."""
    edge = _edge_in(remark.edge, name)
    if not remark.is_fused:
        return replace(remark, edge=edge)
    message = f"not fused: the numbers that decide it are known only when {name!r} runs [levels]"
    return replace(remark, message=message, edge=edge, is_fused=False)


def _edge_in(edge: str, name: str) -> str:
    return " -> ".join(f"{name}.{it}" for it in edge.split(" -> "))


def _origins(graph: KernelGraph, groups: Sequence[Group], flat: FlatGraph) -> dict[Path, tuple[Path, ...]]:
    paths = graph.flat.paths
    found: dict[Path, tuple[Path, ...]] = {(name,): (paths[name],) for name in flat.nodes if name in paths}
    fused = [name for name in flat.nodes if name not in paths]
    return found | {(name,): tuple(paths[it] for it in group.nodes) for name, group in zip(fused, groups, strict=True)}


@dataclass(slots=True)
class _Rewriting:
    """Replaces the nodes of a group by one."""

    graph: KernelGraph
    group: Group
    flat: FlatGraph
    shaders: dict[str, Shader]
    text_of: Callable[[CoreModule], str]
    lengths: list[Expression] = field(default_factory=list[Expression])

    def run(self) -> None:
        """Add the fused leaf with its shader and its node."""
        first = self.graph.leaf(self.group.nodes[0])
        stem = "_".join(dict.fromkeys(self.graph.leaf(it).name for it in self.group.nodes))
        name = fresh_name(
            stem if len(stem) < _LONGEST else f"{first.name}_fused", {*self.flat.functions, *self.shaders}
        )
        storings = _with_names(self.group.storings)
        self._find_lengths(storings)
        lengths = (
            _lengths_binding(len(self.lengths), {it.storage.binding.name for it in storings}) if self.lengths else None
        )
        core = self._core(name, storings, lengths)
        names = _names_by_number(core)
        kept = [it for it in storings if it.storage.is_kept]
        entry = next(it for it in core.functions if it.stage is not None)
        ports = [port for storing, made in zip(kept, names, strict=False) for port in self._ports(storing, made)]
        if lengths is not None:
            ports += [Port(Access.IN, f"{names[-1]}.{member.name}", U32) for member in _members(lengths)]
        sizes = self.graph.accesses(self.group.nodes[0]).entry.workgroup_size
        self.flat.functions[name] = Leaf(name, tuple(ports), name, entry.name, (), sizes)
        self.shaders[name] = Shader(name, EmbeddedShader(self.text_of(core)))
        self._replace_nodes(name, kept, names)

    def _core(self, name: str, storings: Sequence[Storing], lengths: Binding | None) -> CoreModule:
        """The kernels as one entry point, tidied as on the way from a shader to a GPU by Hercules IR."""
        used = {use: it.storage for it in storings for use in it.uses}
        bodies: list[Body] = []
        for node in self.group.nodes:
            entry = self.graph.accesses(node).entry
            loops = loops_of_node(self.group.storings, node)
            bodies.append(Body(entry, {it.name: used[node, it.name] for it in entry.bindings}, loops))
        entry = join(name, bodies, lengths)
        apply_passes(entry.module, TO_CORE.passes)
        if merge_branches(entry.function):
            apply_passes(entry.module, TO_CORE.passes)
        return apply_passes(entry_module(entry), O1.passes)

    # Lengths of arrays that are gone

    def _find_lengths(self, storings: Sequence[Storing]) -> None:
        """Where kernels get the lengths of arrays that are gone from."""
        known = {
            normal_form(it.length): it.storage for it in storings if it.length is not None and _has_length(it.storage)
        }
        for storing in storings:
            if storing.storage.is_kept or not any(self._asks_length(*it) for it in storing.uses):
                continue
            assert storing.length is not None
            same = known.get(normal_form(storing.length))
            if same is None and storing.length not in self.lengths:
                self.lengths.append(storing.length)
            storing.storage.length = self.lengths.index(storing.length) if same is None else same

    def _asks_length(self, node: str, binding: str) -> bool:
        accesses = self.graph.accesses(node)
        index = accesses.binding(binding).length
        asked = (it.value for it in accesses.entry.function.nodes if isinstance(it, h.DynamicConstantNode))
        return index is not None and h.DynamicParameter(index) in asked

    # The graph

    def _ports(self, storing: Storing, name: str) -> list[Port]:
        """The ports of a binding."""
        node, binding = storing.uses[0]
        access = Access.INOUT if storing.storage.binding.is_written else Access.IN
        own = [it for it in self.graph.leaf(node).ports if it.name.partition(".")[0] == binding]
        return [Port(access, it.name.replace(binding, name, 1), it.type) for it in own]

    def _replace_nodes(self, function: str, kept: Sequence[Storing], names: Sequence[str]) -> None:
        flat, inside = self.flat, set(self.group.nodes)
        extents = flat.nodes[self.group.nodes[0]].extents
        node = flat.fresh(
            "_".join(self.group.nodes) if sum(map(len, inside)) < _LONGEST else f"{self.group.nodes[0]}_fused"
        )
        flat.nodes = {name: it for name, it in flat.nodes.items() if name not in inside}
        flat.nodes[node] = CreateNode(node, function, extents)
        given = {end: it for end, it in flat.inputs.items() if end.node in inside}
        flat.inputs = {end: it for end, it in flat.inputs.items() if end.node not in inside}
        changed: dict[Endpoint, Endpoint] = {}
        for storing, name in zip(kept, names, strict=False):
            first, binding = storing.uses[0]
            for end, it in given.items():
                if end.node == first and end.port.partition(".")[0] == binding:
                    flat.inputs[Endpoint(node, end.port.replace(binding, name, 1))] = it
            if storing.last is not None:
                changed[storing.last] = Endpoint(node, name)
        for number, length in enumerate(self.lengths):
            flat.inputs[Endpoint(node, f"{names[-1]}.n{number}")] = Given(length)
        redirect(flat, changed)


_LONGEST: Final = 60
"""Characters in the name of a fused node that is made of the names of its parts."""


def _has_length(storage: Storage) -> bool:
    return storage.is_kept and storage.binding.length is not None


def _with_names(storings: Sequence[Storing]) -> list[Storing]:
    """Storage whose bindings, and structures of uniforms, have names of their own."""
    taken: set[str] = set()
    structs: dict[str, w.Struct] = {}
    named: list[Storing] = []
    for it in storings:
        binding = it.storage.binding
        name = fresh_name(binding.name, taken)
        taken.add(name)
        storage = replace(it.storage, binding=replace(binding, name=name, type=_own_struct(binding.type, structs)))
        named.append(replace(it, storage=storage))
    return named


def _own_struct(type: w.Type, structs: dict[str, w.Struct]) -> w.Type:
    """The type, its structure under another name if another one has that."""
    if not isinstance(type, w.Struct) or structs.setdefault(type.name, type) is type:
        return type
    name = fresh_name(type.name, structs)
    structs[name] = w.Struct(name, type.members)
    return structs[name]


def _lengths_binding(number: int, taken: set[str]) -> Binding:
    """The uniform structure of lengths."""
    members = tuple(w.StructMember(f"n{it}", w.U32) for it in range(number))
    type = w.Struct("Lengths", members)
    return Binding(fresh_name(_LENGTHS, taken), w.BindingPoint(0, 0), type, w.AddressSpace.UNIFORM, w.Access.READ, 0)


def _members(binding: Binding) -> tuple[w.StructMember, ...]:
    assert isinstance(binding.type, w.Struct)
    return binding.type.members


def _names_by_number(core: CoreModule) -> list[str]:
    """The names of the bindings, by their numbers."""
    found = [it for it in core.root.instructions if isinstance(it, Var) and it.binding is not None]
    found.sort(key=lambda it: 0 if it.binding is None else it.binding.binding)
    return [it.name or "" for it in found]
