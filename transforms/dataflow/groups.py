"""Which leaves of a graph are fused: leaves are taken together along one one-to-one edge after another, as long as the
rules of `one_to_one` allow it, and it is found which of their bindings are one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ...ir import types as w
from ...ir.dataflow.expressions import Polynomial, difference, expressions_of, normal_form, references, variable_form
from ...ir.dataflow.nodes import (
    Access,
    Binary,
    Element,
    Endpoint,
    Expression,
    FloatLiteral,
    IntegerLiteral,
    Leaf,
    Length,
    Member,
    Reference,
    Replication,
)
from ...ir.dataflow.scope import inputs_of
from ...ir.hercules.entry import Binding
from ...ir.source import Span
from .accesses import KernelAccesses
from .flat import FlatGraph, Value, map_expressions
from .forms import GlobalId, LengthOf, NumWorkgroups, Scalar, StrideId
from .joining import Storage, check_body
from .one_to_one import LaunchTest, Use, share
from .refusal import Refused

MOST_STORAGE_BUFFERS: Final = 8
MOST_UNIFORM_BUFFERS: Final = 12
"""WebGPU's default limits for a shader stage."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Why leaves were not fused, or that they were: about the edge at `span` of the graph's text, with the place `at`
    in the shader `shader` if there is one.
    """

    message: str
    edge: str
    is_fused: bool
    span: Span | None = None
    shader: str | None = None
    at: Span | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Storing:
    """What storage of a fused kernel stands for in the graph.

    `uses` has the bindings of the kernels that share it, and `last` is the last output of the kernels that is a version
    of it. `test` is what a launch must keep, if the kernels share it by elements.
    """

    storage: Storage
    uses: tuple[tuple[str, str], ...]
    last: Endpoint | None
    test: LaunchTest | None
    length: Expression | None


@dataclass(frozen=True, eq=False, slots=True)
class Group:
    """Nodes that become one, in the order in which their kernels run, with their storage."""

    nodes: tuple[str, ...]
    storings: tuple[Storing, ...]


class Fusing:
    """Finds the groups of a flat graph. `kernels` has the accesses of a leaf, or the reason why it cannot be fused."""

    def __init__(self, flat: FlatGraph, kernels: Callable[[Leaf], KernelAccesses]) -> None:
        self.flat = flat
        self.kernels = kernels
        self.remarks: list[Remark] = []
        map_expressions(flat, self.resolved)
        self._groups: dict[str, Group] = {}

    def groups(self) -> list[Group]:
        """The groups of two nodes or more, in an order in which they can run."""
        for end, given in list(self.flat.inputs.items()):
            value = given.value
            if not isinstance(value, Endpoint) or given.replication is not Replication.ONE_TO_ONE:
                continue
            source, sink = value.node, end.node
            if sink in self._nodes_with(source):
                continue
            edge = f"{value.node}.{value.port} -> {end.node}.{end.port}"
            try:
                self._merge(source, sink)
            except Refused as refused:
                shader = self.shader_of(refused.kernel)
                self.remarks.append(
                    Remark(f"not fused: {_about(refused)}", edge, False, given.span, shader, refused.span)
                )
            else:
                self.remarks.append(Remark("fused", edge, True, given.span))
        return [it for it in dict.fromkeys(self._groups.values()) if len(it.nodes) > 1]

    def _nodes_with(self, node: str) -> tuple[str, ...]:
        return self._groups[node].nodes if node in self._groups else (node,)

    def shader_of(self, node: str) -> str | None:
        """The name of the shader of a node that executes a leaf."""
        function = self.flat.functions[self.flat.nodes[node].function] if node in self.flat.nodes else None
        return function.shader if isinstance(function, Leaf) else None

    def _merge(self, source: str, sink: str) -> None:
        """Put the groups of two nodes together. Raises Refused."""
        chosen = {*self._nodes_with(source), *self._nodes_with(sink)}
        ordered = tuple(it for it in self.flat.nodes if it in chosen)  # nodes are in the order of execution
        self._check_grids(ordered)
        self._check_order(chosen)
        first = self.accesses(ordered[0]).entry
        for name in ordered:
            try:
                check_body(self.accesses(name).entry, first)
            except Refused as refused:
                raise Refused(refused.reason, refused.span, name) from None
        group = Group(ordered, tuple(_Storings(self, ordered).find()))
        _check_limits(group)
        self._groups.update(dict.fromkeys(ordered, group))

    def accesses(self, name: str) -> KernelAccesses:
        """The accesses of a node's kernel. Raises Refused."""
        try:
            return self.kernels(self.leaf(name))
        except Refused as refused:
            raise Refused(refused.reason, refused.span, name) from None

    def leaf(self, name: str) -> Leaf:
        """The leaf that a node executes. Raises Refused for a graph."""
        function = self.flat.functions[self.flat.nodes[name].function]
        if not isinstance(function, Leaf):
            raise Refused(
                "it is no kernel, but a graph with instances or a repeat, or a Python function [grids]", None, name
            )
        return function

    def _check_grids(self, ordered: Sequence[str]) -> None:
        first = self.flat.nodes[ordered[0]].extents
        for name in ordered[1:]:
            extents = self.flat.nodes[name].extents
            if len(extents) != len(first) or any(map(difference, first, extents)):
                raise Refused("the extents of the kernels differ [grids]", None, name)
        for name in ordered:
            for extent in self.flat.nodes[name].extents:
                self._check_known(extent, name)

    def _check_known(self, expression: Expression, name: str) -> None:
        """Raise Refused for a number that is known only when a node has run."""
        for reference in references(expression):
            if reference.name in self.flat.nodes:
                raise Refused(f"its extents depend on what node {reference.name!r} gives [grids]", None, name)

    def _check_order(self, chosen: set[str]) -> None:
        """Raise Refused if a node outside runs between the chosen ones."""
        needs = {name: self._needs(name) for name in self.flat.nodes}
        behind: set[str] = set()
        for name in self.flat.nodes:
            if name not in chosen and needs[name] & (chosen | behind):
                behind.add(name)
            if name in chosen and needs[name] & behind:
                between = sorted(needs[name] & behind)[0]
                raise Refused(
                    f"node {between!r} needs a result of one, and gives another its input [order]", None, name
                )

    def _needs(self, name: str) -> set[str]:
        """The nodes whose results a node needs."""
        found = {it.name for own in expressions_of(self.flat.nodes[name]) for it in references(own)}
        for port in inputs_of(self.flat.functions[self.flat.nodes[name].function]):
            value = self.flat.inputs[Endpoint(name, port)].value
            if isinstance(value, Endpoint):
                found.add(value.node)
                continue
            for it in references(value):
                found.add(it.name)
                if it.name in self.flat.transients:
                    found |= {
                        other.name for size in self.flat.transients[it.name].extents for other in references(size)
                    }
        return found & set(self.flat.nodes)

    def is_needed(self, value: Endpoint, chosen: Iterable[str]) -> bool:
        """Whether something outside of the chosen nodes needs an output."""
        inside = set(chosen)
        if any(source == value for source, _ in self.flat.outputs.values()):
            return True
        if any(given.value == value and end.node not in inside for end, given in self.flat.inputs.items()):
            return True
        expressions = [it for node in self.flat.nodes.values() for it in expressions_of(node)]
        expressions += [it for malloc in self.flat.transients.values() for it in malloc.extents]
        expressions += [it.value for it in self.flat.inputs.values() if not isinstance(it.value, Endpoint)]
        found = (it for expression in expressions for it in references(expression))
        return any(it.name == value.node and it.selectors[:1] == (Member(value.port),) for it in found)

    def length(self, value: Value) -> Expression | None:
        """The number of elements of a value that is an array, in terms of the graph's inputs."""
        while isinstance(value, Endpoint):
            node = self.flat.nodes[value.node]
            if not isinstance(self.flat.functions[node.function], Leaf):
                return None
            value = self.flat.inputs[value].value  # a leaf's output is a version of its input of that name
        if isinstance(value, Reference) and value.name in self.flat.transients:
            extents = tuple(map(self.resolved, self.flat.transients[value.name].extents))
            known = not any(it.name in self.flat.nodes for extent in extents for it in references(extent))
            return extents[0] if extents and known else None
        is_input = isinstance(value, Reference) and value.name not in self.flat.nodes
        return Length(value) if isinstance(value, Reference) and is_input else None

    def resolved(self, expression: Expression) -> Expression:
        """The expression, where the length of a leaf's output is that of what the leaf was given."""
        match expression:
            case Length(Reference(name, [Member(port)])) if name in self.flat.nodes:
                found = self.length(Endpoint(name, port))
                return expression if found is None else found
            case Binary(op, lhs, rhs):
                return Binary(op, self.resolved(lhs), self.resolved(rhs))
            case _:
                return expression

    def number(self, name: str, symbol: Hashable) -> Expression | None:
        """A number of a node's kernel in terms of the graph's inputs."""
        if isinstance(symbol, LengthOf):
            return self.length(self.flat.inputs[Endpoint(name, symbol.binding)].value)
        if not isinstance(symbol, Scalar):
            return None
        binding = self.accesses(name).binding(symbol.binding)
        port, path = port_of(binding, symbol.path, inputs_of(self.leaf(name)))
        value = self.flat.inputs[Endpoint(name, port)].value
        if isinstance(value, (Endpoint, FloatLiteral)) or any(it.name in self.flat.nodes for it in references(value)):
            return None
        if not path:
            return value
        is_input = isinstance(value, Reference) and value.name not in self.flat.transients
        return Reference(value.name, (*value.selectors, *path)) if isinstance(value, Reference) and is_input else None

    def in_graph(self, name: str, symbol: Hashable) -> Polynomial | None:
        """A symbol of a node's kernel as a polynomial in the graph's terms."""
        if isinstance(symbol, (GlobalId, StrideId)):
            return variable_form(symbol)
        if isinstance(symbol, NumWorkgroups):
            extent = self.flat.nodes[name].extents
            size = self.accesses(name).entry.workgroup_size
            return variable_form((symbol, size[symbol.axis], extent))
        found = self.number(name, symbol)
        return None if found is None else normal_form(found)

    def use(self, end: Endpoint) -> Use:
        """How a node's kernel uses a binding that is a port, as the first of some kernels. Raises Refused."""
        return Use(0, end.node, self.accesses(end.node), end.port, lambda symbol: self.in_graph(end.node, symbol))


def _about(refused: Refused) -> str:
    return f"{refused.kernel}: {refused.reason}" if refused.kernel else refused.reason


def port_of(binding: Binding, path: tuple[int, ...], ports: Iterable[str]) -> tuple[str, tuple[Member | Element, ...]]:
    """The port that a number in a binding comes from, and the selectors from there to the number."""
    selectors: list[Member | Element] = []
    type: w.Type = binding.type
    for number in path:
        match type:
            case w.Struct(members=members):
                selectors.append(Member(members[number].name))
                type = members[number].type
            case w.Array(element=element, count=1) if isinstance(element, (w.Scalar, w.Atomic)):
                type = element  # a number by itself is an array of one element in Hercules IR
            case w.Array(element=element) | w.Vector(element=element):
                selectors.append(Element(number))
                type = element
            case _:
                selectors.append(Element(number))
    known = set(ports)
    if binding.name not in known and selectors and isinstance(selectors[0], Member):
        return f"{binding.name}.{selectors[0].name}", tuple(selectors[1:])
    return binding.name, tuple(selectors)


@dataclass(slots=True)
class _Chain:
    """A storage while the kernels are gone through in order."""

    value: Value
    """What it begins with."""
    current: Value
    """The version that it holds now."""
    uses: list[tuple[str, str]]
    binding: Binding
    is_written: bool = False
    has_members: bool = False
    """Whether the members of the binding are ports of their own, each with a value."""


class _Storings:
    """Finds the storage of a group: which bindings of its kernels are one. Raises Refused."""

    def __init__(self, fusing: Fusing, ordered: Sequence[str]) -> None:
        self.fusing = fusing
        self.ordered = ordered
        self.chains: list[_Chain] = []

    def find(self) -> list[Storing]:
        for name in self.ordered:
            for binding in self.fusing.accesses(name).entry.bindings:
                self._add(name, binding)
        return [self._storing(it) for it in self.chains]

    def _add(self, name: str, binding: Binding) -> None:
        if binding.space is w.AddressSpace.HANDLE:
            raise Refused(f"{binding.name!r} is a texture: not supported [element]", None, name)
        end = Endpoint(name, binding.name)
        if end not in self.fusing.flat.inputs:  # the members of a uniform structure
            return self._add_uniform(name, binding)
        value = self.fusing.flat.inputs[end].value
        chain = self._holding(value, name, binding)
        if chain is None:
            chain = _Chain(value, value, [], binding)
            self.chains.append(chain)
        chain.uses.append((name, binding.name))
        if binding.is_written:
            chain.binding = replace(binding, name=chain.binding.name)
            chain.current = end
            chain.is_written = True
        return None

    def _add_uniform(self, name: str, binding: Binding) -> None:
        """A uniform structure whose members are ports: one with equal members serves several kernels."""
        given = self._members(name, binding)
        for chain in self.chains:
            is_equal = chain.has_members and _is_same_struct(chain.binding.type, binding.type)
            if is_equal and self._members(*chain.uses[0]) == given:
                chain.uses.append((name, binding.name))
                return
        nothing = IntegerLiteral(0)
        self.chains.append(_Chain(nothing, nothing, [(name, binding.name)], binding, has_members=True))

    def _members(self, name: str, binding: Binding | str) -> list[tuple[str, Value]]:
        """What gives the members of a uniform structure."""
        prefix = f"{binding if isinstance(binding, str) else binding.name}."
        inputs = self.fusing.flat.inputs
        return [
            (end.port.removeprefix(prefix), it.value)
            for end, it in inputs.items()
            if end.node == name and end.port.startswith(prefix)
        ]

    def _holding(self, value: Value, name: str, binding: Binding) -> _Chain | None:
        """The storage that holds a value, for a binding of a kernel. Raises Refused if it held the value earlier."""
        is_transient = isinstance(value, Reference) and value.name in self.fusing.flat.transients
        if is_transient or not (isinstance(value, (Endpoint, Reference)) or binding.space is w.AddressSpace.UNIFORM):
            return None
        for chain in (it for it in self.chains if not it.has_members):
            if chain.current == value:
                has_old = binding.is_written and any(node == name for node, _ in chain.uses)
                if _same_kind(chain.binding, binding) and not has_old:
                    return chain
                if has_old and chain.is_written:
                    raise Refused(
                        f"it writes {binding.name!r}, and reads the old value by another binding [versions]", None, name
                    )
                if chain.is_written:
                    raise Refused(
                        f"{binding.name!r} is of another type than in the kernel before [element]", None, name
                    )
            elif chain.value == value or any(Endpoint(*it) == value for it in chain.uses):
                message = f"it needs a value of {chain.binding.name!r} that a kernel before it overwrites [versions]"
                raise Refused(message, None, name)
        return None

    def _storing(self, chain: _Chain) -> Storing:
        fusing = self.fusing
        outputs = [Endpoint(*it) for it in chain.uses if self._is_output(*it)]
        last = outputs[-1] if outputs else None
        for it in outputs[:-1]:
            if fusing.is_needed(it, self.ordered):
                raise Refused(
                    f"{it.port!r} of {it.node!r} is needed elsewhere, and a kernel after it overwrites it [versions]",
                    None,
                    it.node,
                )
        test = self._test(chain) if len(chain.uses) > 1 else None
        is_needed = last is not None and fusing.is_needed(last, self.ordered)
        first_writer = next((i for i, it in enumerate(chain.uses) if fusing.accesses(it[0]).writes(it[1])), None)
        is_passed = test is not None and first_writer is not None and first_writer < len(chain.uses) - 1
        begins_with_zeros = isinstance(chain.value, Reference) and chain.value.name in fusing.flat.transients
        is_gone = is_passed and not is_needed and (begins_with_zeros or self._is_written_first(chain))
        length = fusing.length(chain.value) if not chain.has_members else None
        length = length if isinstance(chain.binding.type, w.Array) else None
        storage = Storage(chain.binding, is_kept=not is_gone, is_passed=is_passed)
        return Storing(storage, tuple(chain.uses), last, test, length)

    def _is_output(self, name: str, binding: str) -> bool:
        return any(it.name == binding and it.access is Access.INOUT for it in self.fusing.leaf(name).ports)

    def _is_written_first(self, chain: _Chain) -> bool:
        """Whether the first kernel that has the storage only writes it, so that what it begins with is not needed."""
        name, binding = chain.uses[0]
        return all(it.kind == "write" for it in self.fusing.accesses(name).accesses[binding])

    def _test(self, chain: _Chain) -> LaunchTest | None:
        fusing = self.fusing
        numbers = {name: number for number, name in enumerate(self.ordered)}
        uses = [replace(fusing.use(Endpoint(*it)), kernel=numbers[it[0]]) for it in chain.uses]
        test = share(uses)
        if test is not None and test.strides:
            raise Refused(
                f"not supported: {chain.binding.name!r} is accessed in a grid-stride loop [position]",
                None,
                uses[0].name,
            )
        return test


def _same_kind(one: Binding, other: Binding) -> bool:
    """Whether two bindings can be one: in one address space, with types of one layout and name."""
    return one.space is other.space and (one.type is other.type or _is_plain_equal(one.type, other.type))


def _is_same_struct(one: w.Type, other: w.Type) -> bool:
    """Whether two structures have the same members, none of which is or has a structure."""
    if not isinstance(one, w.Struct) or not isinstance(other, w.Struct) or one is other:
        return one is other
    pairs = [(left, right) for left, right in zip(one.members, other.members, strict=False)]
    same = all(left.name == right.name and _is_plain_equal(left.type, right.type) for left, right in pairs)
    placed = all((left.align, left.size) == (right.align, right.size) for left, right in pairs)
    return same and placed and len(one.members) == len(other.members)


def _is_plain_equal(one: w.Type, other: w.Type) -> bool:
    """Whether two types are equal and have no structures, which are equal only to themselves."""
    return str(one) == str(other) and not any(isinstance(it, w.Struct) for it in (*w.walk(one), *w.walk(other)))


def _check_limits(group: Group) -> None:
    kept = [it.storage.binding for it in group.storings if it.storage.is_kept]
    storage = sum(it.space is w.AddressSpace.STORAGE for it in kept)
    uniform = len(kept) - storage
    if storage > MOST_STORAGE_BUFFERS or uniform >= MOST_UNIFORM_BUFFERS:
        raise Refused(
            f"the fused kernel would have {storage} storage buffers and {uniform} uniform buffers, besides one of "
            f"lengths; {MOST_STORAGE_BUFFERS} and {MOST_UNIFORM_BUFFERS} are allowed in all [limits]",
            None,
            group.nodes[-1],
        )
