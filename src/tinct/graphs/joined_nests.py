"""Joins neighbouring nests of a graph (`transforms.schedule.join`), before its leaves are fused.

Two nodes become one if the first gives the second arrays that nothing else needs, and no element is computed more often
than before. The decisions of the nest whose names stay are those of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from math import prod

from ..base.errors import InputError
from ..base.names import fresh_name
from ..ir.dataflow.expressions import references
from ..ir.dataflow.nodes import Constant as SizeValue
from ..ir.dataflow.nodes import CreateNode, Endpoint, Graph, IntegerLiteral, Leaf, Member, NestShader, Reference
from ..ir.dataflow.nodes import Shader as ShaderDeclaration
from ..ir.schedule.extents import dimension_sizes, extents_of, value_of
from ..ir.schedule.nodes import Load
from ..ir.schedule.scope import Scope, used_by
from ..ir.schedule.text import print_nest
from ..nests import LoweredNest, lowered_nest
from ..sized_kernel import SizedKernel
from ..transforms.dataflow.flat import Given, flatten, module_of, redirect
from ..transforms.dataflow.groups import Remark
from ..transforms.schedule.join import Joined, NotJoinable, is_elementwise, join
from ..transforms.schedule.substitute import name_of_plain, plain
from .linking import Links, link_graphs, link_leaves
from .program import GraphProgram
from .wgsl_types import kernel_ports

Paths = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class JoinedNests:
    """A graph in which nests are joined: the one given, if there are none. `nodes` has for each node of the root graph
    the paths of the nodes of the original that it stands for.
    """

    program: GraphProgram
    remarks: tuple[Remark, ...]
    nodes: Mapping[str, Paths]


def join_nests(program: GraphProgram) -> JoinedNests:
    """Join nests of the root graph, in which graphs without instances are inlined."""
    if not any(isinstance(it.source, NestShader) for it in program.module.shaders):
        return JoinedNests(program, (), {})
    joining = _Joining(program)
    joining.run()
    if not joining.is_changed:
        return JoinedNests(program, tuple(joining.remarks), {})
    return JoinedNests(joining.program(), tuple(joining.remarks), joining.origins)


class _Joining:
    def __init__(self, original: GraphProgram) -> None:
        self._original = original
        module = original.module
        functions = {it.name: it for it in module.functions}
        root = functions[module.root.function]
        assert isinstance(root, Graph)
        self._flat = flatten(root, functions)
        self._declared = {it.name: it for it in module.shaders}
        self._shaders = dict(original.shaders)
        self._nests: dict[str, tuple[LoweredNest, SizedKernel]] = {}
        """The nests whose sizes are known, by the names of their shaders."""
        for it in module.shaders:
            if isinstance(it.source, NestShader):
                self._add(it.name, lowered_nest(it.source))
        self._refused: set[tuple[str, str]] = set()
        self.origins: dict[str, Paths] = {name: (path,) for name, path in self._flat.paths.items()}
        self.remarks: list[Remark] = []
        self.is_changed = False

    def _add(self, shader: str, lowered: LoweredNest) -> None:
        with suppress(InputError):  # for a nest with sizes that are overrides
            sized, *others = lowered.at_sizes({})
            if not others:
                self._nests[shader] = lowered, sized

    def run(self) -> None:
        """Join pairs as long as there is one."""
        while (pair := next(self._pairs(), None)) is not None:
            edges = self._edges(*pair)
            try:
                name = self._join(*pair, edges)
            except (NotJoinable, InputError) as reason:
                self._refused.add(pair)
                self.remarks += [
                    _remark(it, self._flat.inputs[it], f"not joined: {reason}", is_fused=False) for it in edges
                ]
            else:
                self.remarks += [
                    _remark(it, given, f"joined: one nest, {name}", is_fused=True) for it, given in edges.items()
                ]
                self.is_changed = True

    def _pairs(self) -> Iterator[tuple[str, str]]:
        """Pairs of nodes that are nests, of which the first gives the second something."""
        for end, given in self._flat.inputs.items():
            if not isinstance(given.value, Endpoint) or given.streaming:
                continue
            pair = given.value.node, end.node
            if pair not in self._refused and all(map(self._nest, pair)):
                yield pair

    def _nest(self, name: str) -> LoweredNest | None:
        """The nest that a node executes as a whole."""
        node = self._flat.nodes[name]
        leaf = self._flat.functions[node.function]
        lowered, sized = self._nests.get(leaf.shader if isinstance(leaf, Leaf) else "", (None, None))
        whole = sized and CreateNode(name, node.function, tuple(map(IntegerLiteral, sized.threads)))
        return lowered if node == whole else None

    def _edges(self, first: str, second: str) -> dict[Endpoint, Given]:
        """What the second node gets of the first, by its inputs."""
        return {
            end: it
            for end, it in self._flat.inputs.items()
            if end.node == second and isinstance(it.value, Endpoint) and it.value.node == first
        }

    def _join(self, first: str, second: str, edges: Mapping[Endpoint, Given]) -> str:
        """Join two nodes; returns the name of the new one. Raises NotJoinable, and InputError for decisions."""
        arrays = {given.value.port: end.port for end, given in edges.items() if isinstance(given.value, Endpoint)}
        self._check_uses(first, second, arrays)
        one, two = self._use(first), self._use(second)
        joined = join(one.nest.ir, two.nest.ir, arrays)
        stays = two if is_elementwise(one.nest.ir) else one
        if stays is two:
            _check_work(one, two, arrays)
        sizes = tuple(SizeValue(name, IntegerLiteral(it)) for name, it in _sizes(joined, one, two).items())
        source = replace(stays.source, nest=print_nest(joined.nest), sizes=sizes)
        made = lowered_nest(source)
        if len(made.stages) > 1:
            raise NotJoinable(f"one nest of both would have {len(made.stages)} dispatches")
        return self._replace((first, second), joined, made)

    def _use(self, node: str) -> LoweredNest:
        found = self._nest(node)
        assert found is not None
        return found

    def _check_uses(self, first: str, second: str, arrays: Mapping[str, str]) -> None:
        """Raise NotJoinable where another node needs what is handed over, or comes between the two."""
        flat = self._flat
        users = [*(it.value for it in flat.inputs.values()), *(it for it, _ in flat.outputs.values())]
        named = {_end(it) for expression in flat.expressions() for it in references(expression)}
        for port in arrays:
            if users.count(Endpoint(first, port)) > 1 or Endpoint(first, port) in named:
                raise NotJoinable(f"{first}.{port} is needed elsewhere")
        before, pending = set[str](), list(flat.sources(second) - {first})
        while pending:
            node = pending.pop()
            if node not in before:
                before.add(node)
                pending += flat.sources(node)
        if first in before:
            raise NotJoinable("another node comes between the two")

    def _replace(self, pair: tuple[str, str], joined: Joined, lowered: LoweredNest) -> str:
        """Put one node in the place of two; returns its name."""
        flat = self._flat
        ends = [
            (end, new)
            for node, new in zip(pair, (joined.first, joined.second), strict=True)
            for end in self._ends(node)
        ]
        leaf = fresh_name(lowered.nest.name, {*flat.functions, *self._declared})
        self._add(leaf, lowered)
        sized = self._nests[leaf][1]
        ports = kernel_ports(sized.kernel)
        flat.functions[leaf] = Leaf(leaf, ports, leaf, sized.kernel.info.name, (), sized.kernel.workgroup_size())
        self._declared[leaf], self._shaders[leaf] = ShaderDeclaration(leaf, sized.source), sized.kernel.shader
        name = flat.fresh("_".join(pair))
        flat.nodes = {it: node for it, node in flat.nodes.items() if it not in pair}
        flat.nodes[name] = CreateNode(name, leaf, tuple(map(IntegerLiteral, sized.threads)))
        kept = {it.name for it in ports}
        changed = {end: Endpoint(name, new.array(end.port)) for end, new in ends if new.array(end.port) in kept}
        given = {changed[end]: it for end, it in flat.inputs.items() if end in changed}
        flat.inputs = {end: it for end, it in flat.inputs.items() if end.node not in pair} | given
        redirect(flat, changed)
        self.origins[name] = (*self.origins.pop(pair[0]), *self.origins.pop(pair[1]))
        return name

    def _ends(self, node: str) -> Iterator[Endpoint]:
        return (Endpoint(node, it.name) for it in self._flat.functions[self._flat.nodes[node].function].ports)

    def program(self) -> GraphProgram:
        """The graph as it is now."""
        module = module_of(self._original.module, self._flat, self._declared)
        shaders = {it.name: self._shaders[it.name] for it in module.shaders}
        links = Links(hosts=dict(self._original.links.hosts))
        wrong = link_leaves(module, shaders, links) or link_graphs(module, links)
        assert not wrong, "; ".join(it.message for it in wrong)
        return GraphProgram(module, shaders, links)


def _check_work(first: LoweredNest, second: LoweredNest, arrays: Mapping[str, str]) -> None:
    """Raise NotJoinable where elements of the first nest would be computed more often than they are."""
    extents = {it.name: prod(extents_of(it, first.sizes)) for it in first.nest.ir.arrays}
    scope = Scope(second.nest.ir)
    dimensions = dimension_sizes(scope.nest, second.sizes)
    for output, into in arrays.items():
        loads = [it for it in scope.nest.body if isinstance(it, Load) and it.array == into]
        times = sum(prod(dimensions[name] for name in _used_in(it, scope)) for it in loads)
        if times > extents[output]:
            raise NotJoinable(f"{times} elements of {output!r} would be computed instead of {extents[output]}")


def _used_in(load: Load, scope: Scope) -> set[str]:
    """The dimensions of a load, and of what uses it."""
    users = [it for it in scope.nest.body if load.name in used_by(it)]
    return {name for it in (load, *users) for name in scope.dimensions_at(it)}


def _sizes(joined: Joined, first: LoweredNest, second: LoweredNest) -> dict[str, int]:
    """The sizes of the joined nest. Raises NotJoinable where both nodes have other sizes for what is one."""
    sizes: dict[str, int] = {}
    for use, new in ((first, joined.first), (second, joined.second)):
        plain_sizes = {name: name_of_plain(new.sum(plain(name))) for name in use.sizes}
        for name, found in plain_sizes.items():
            if found is not None and sizes.setdefault(found, use.sizes[name]) != use.sizes[name]:
                raise NotJoinable(f"{name!r} is {use.sizes[name]}, not {sizes[found]}")
    for use, new in ((first, joined.first), (second, joined.second)):
        for name, size in use.sizes.items():
            other = value_of(new.sum(plain(name)), sizes)
            if other != size:
                raise NotJoinable(f"{name!r} is {size}, not {other}")
    return {it: sizes[it] for it in joined.nest.sizes}


def _end(reference: Reference) -> Endpoint | None:
    """The output of a node that a reference begins with, if it is to a node."""
    port = reference.selectors[0] if reference.selectors else None
    return Endpoint(reference.name, port.name) if isinstance(port, Member) else None


def _remark(end: Endpoint, given: Given, message: str, *, is_fused: bool) -> Remark:
    assert isinstance(given.value, Endpoint)
    edge = f"{given.value.node}.{given.value.port} -> {end.node}.{end.port}"
    return Remark(message, edge, is_fused, given.span)
