"""Several entry points as one: the invocations of a grid run the bodies one after another, as one fork nest.

An array that one body writes and a later one reads is passed in values: each read becomes the value that was written.
Where nobody else needs the array, its versions have no use any more, and it is gone.

Whether that means the same is decided before (`one_to_one`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ...ir import types as w
from ...ir.hercules import nodes as h
from ...ir.hercules.copying import copied
from ...ir.hercules.entry import WORKGROUP_CONSTANTS, Binding, EntryPoint
from ...ir.hercules.graph import replace_all
from ...ir.hercules.inference import infer_types
from ...ir.hercules.types import U32, U64, array
from ..hercules.cleanup import remove_dead
from .merged_loops import LoopedBody, MergedLoop, loop_in, merge_loops
from .nests import Nest, global_ids, nest_of
from .passing import PassedValues, followed
from .storage import Body, Storage

_Chain: TypeAlias = "tuple[Storage, h.Node, list[h.Reduce]]"
"""A storage, the parameter of it in a body, and the Reduces that carry it to the body, outermost first."""


def join(name: str, parts: Sequence[Body], lengths: Binding | None) -> EntryPoint:
    """One entry point for several, in this order, on the grid of the first. `lengths` is the uniform structure of
    lengths, if there is one. Raises Refused.
    """
    return _Joining(name, parts, lengths).run()


@dataclass(slots=True)
class _State:
    """What the bodies so far have made of a storage: its version, and for a kept one its Reduces, outermost first."""

    version: h.Node
    parameter: h.Node
    reduces: list[h.Reduce]
    is_written: bool = False
    carried: list[h.Phi] = field(default_factory=list["h.Phi"])
    """Its versions in loops that the bodies have in common, outermost first."""
    inside: h.Node | None = None
    """Its version in the innermost of these, after the bodies so far."""


@dataclass(slots=True)
class _Joining:
    name: str
    parts: Sequence[Body]
    lengths: Binding | None
    nodes: list[h.Node] = field(default_factory=list[h.Node])
    states: dict[Storage, _State] = field(default_factory=dict[Storage, _State])
    dynamic_names: list[str] = field(default_factory=lambda: list(WORKGROUP_CONSTANTS))
    extents: dict[Storage, h.DynamicConstant] = field(default_factory=dict[Storage, h.DynamicConstant])
    bindings: list[Binding] = field(default_factory=list[Binding])
    types: list[h.Type] = field(default_factory=list[h.Type])
    types_of_counters: dict[h.Node, h.Type] = field(default_factory=dict["h.Node", "h.Type"])
    latches: list[int] = field(default_factory=list[int])
    passed: PassedValues = field(init=False)

    def __post_init__(self) -> None:
        self.passed = PassedValues(self.nodes)

    def run(self) -> EntryPoint:
        start = h.Start()
        self.nodes.append(start)
        first = self.parts[0].entry
        frame = self._frame(start, first)
        for storage in dict.fromkeys(it for part in self.parts for it in part.storage.values()):
            self._declare(storage, frame)
        bodies = [self._add(part, frame) for part in self.parts]
        self._close(frame, self._connect(bodies, frame.inside))
        function = h.Function(
            name=self.name,
            dynamic_constants=self.dynamic_names,
            parameter_types=self.types,
            parameter_names=[it.name for it in self.bindings],
            return_type=h.Product(tuple(self.types[it.parameter] for it in self.bindings if it.is_written)),
            nodes=self.nodes,
        )
        remove_dead(function)
        parameters = {it.parameter for it in self.bindings}
        function.nodes = [it for it in function.nodes if not isinstance(it, h.Parameter) or it.index in parameters]
        return EntryPoint(self.name, h.Module([function]), function, tuple(self.bindings), first.workgroup_size)

    def _frame(self, start: h.Start, entry: EntryPoint) -> Nest:
        """The nest around all bodies."""
        control: h.Node = start
        forks: list[h.Fork] = []
        for fork in nest_of(entry.function).forks:
            control = h.Fork(control, fork.factor)
            forks.append(control)
        joins = [h.Join(it) for it in forks]
        ids: list[h.ThreadID | None] = [h.ThreadID(it) for it in forks]
        end = h.Return(joins[0], joins[0])
        self.nodes += [*forks, *joins, *(it for it in ids if it is not None), end]
        return Nest(forks, joins, end, ids)

    # Storage

    def _declare(self, storage: Storage, frame: Nest) -> None:
        """A parameter for a storage that is kept, and its Reduces."""
        if not storage.is_kept:
            nothing = h.Parameter(-1)
            self.states[storage] = _State(nothing, nothing, [])
            return
        binding, number = storage.binding, len(self.bindings)
        length: int | None = None
        if binding.length is not None:
            length = len(self.dynamic_names)
            self.dynamic_names.append(f"len_{binding.name}")
            self.extents[storage] = h.DynamicParameter(length)
        point = w.BindingPoint(0, number)
        self.bindings.append(Binding(binding.name, point, binding.type, binding.space, binding.access, number, length))
        parameter = h.Parameter(number, label=binding.name)
        self.nodes.append(parameter)
        self.types.append(self._type(storage))
        reduces: list[h.Reduce] = []
        version: h.Node = parameter
        for it in frame.joins if binding.is_written else ():
            version = h.Reduce(it, version, version, label=binding.name)
            reduces.append(version)
        self.nodes += reduces
        self.states[storage] = _State(version, parameter, reduces)

    def _type(self, storage: Storage) -> h.Type:
        """The type of a parameter: that of the first body that has it, with the extent that it has here."""
        for part in self.parts:
            for name, it in part.storage.items():
                if it is storage:
                    binding = next(other for other in part.entry.bindings if other.name == name)
                    return _resized(part.entry.function.parameter_types[binding.parameter], self.extents.get(storage))
        raise AssertionError("a storage that no body uses")

    def _lengths_node(self) -> h.Node:
        """The parameter of the structure of lengths."""
        assert self.lengths is not None
        known = next((it for it in self.nodes if isinstance(it, h.Parameter) and it.label == "lengths"), None)
        if known is not None:
            return known
        assert isinstance(self.lengths.type, w.Struct)
        number = len(self.bindings)
        self.bindings.append(
            Binding(
                self.lengths.name,
                w.BindingPoint(0, number),
                self.lengths.type,
                self.lengths.space,
                self.lengths.access,
                number,
            )
        )
        self.types.append(h.Product(tuple(U32 for _ in self.lengths.type.members)))
        node = h.Parameter(number, label="lengths")
        self.nodes.append(node)
        return node

    # Bodies

    def _add(self, part: Body, frame: Nest) -> LoopedBody:
        """Add the body of an entry point, whose entry stands for the control before it."""
        function = part.entry.function
        constants, loaded = self._constants(part)
        nodes = copied(function.nodes, constants)
        types = infer_types(function)
        kinds = {copy: types[node] for copy, node in zip(nodes, function.nodes, strict=True) if node in types}
        body = h.Function(function.name, [], [], [], function.return_type, nodes)
        nest = nest_of(body)
        replaced = self._numbers(part, nodes, nest, frame)
        copies = dict(zip(function.nodes, nodes, strict=True))
        loops = [loop_in(it, copies) for it in part.loops]
        self.types_of_counters |= {it.counter: kinds[it.counter] for it in loops}
        chains = self._chains(part, nodes)
        dropped: set[h.Node] = {
            nodes[0],
            *nest.forks,
            *nest.joins,
            nest.end,
            *(it for it in nest.ids if it is not None),
        }
        if isinstance(nest.end.value, h.ProductNode):
            dropped.add(nest.end.value)
        passed = self._passed_versions(chains, loops)
        for storage, parameter, reduces in chains:
            version = self._version(storage, loops)
            if loops and storage.is_shared:
                dropped |= self._carry(storage, loops, nodes, {parameter, *reduces}, replaced)
            replaced |= dict.fromkeys((parameter, *reduces), version)
            dropped |= {parameter, *reduces}
        for node in nodes:
            if isinstance(node, h.DynamicConstantNode) and node.value in loaded:
                number = loaded[node.value]
                read = h.Read(self._lengths_node(), [h.FieldIndex(number)])
                cast = h.Cast(U64, read)
                self.nodes += [read, cast]
                replaced[node] = cast
                dropped.add(node)
        end = nest.joins[-1].control
        own = [(storage, reduces) for storage, _, reduces in chains if reduces and not (loops and storage.is_shared)]
        updates = {storage: reduces[-1].update for storage, reduces in own}
        final = followed(replaced)
        self.nodes += [it for it in nodes if it not in dropped]
        replace_all(h.Function("", [], [], [], function.return_type, self.nodes), replaced)
        kept = [it for it in nodes if it not in dropped]
        self.passed.replace_reads(kept, passed, kinds)
        for storage, update in updates.items():
            version = final(update)
            self.states[storage].is_written |= version is not self.states[storage].version
            self.states[storage].version = version
        return LoopedBody(nest.inside, final(end), loops)

    def _passed_versions(self, chains: Iterable[_Chain], loops: Sequence[MergedLoop]) -> list[h.Node]:
        """The versions of passed storage that a body finds."""
        passed = (it for it, _, _ in chains if it.is_passed and (self.states[it].is_written or not it.is_kept))
        return [self._version(it, loops) for it in passed]

    def _connect(self, bodies: Sequence[LoopedBody], control: h.Node) -> h.Node:
        """Let control go through all bodies; returns the control after them."""
        if any(it.loops for it in bodies):
            return self._merge(bodies, control)
        for body in bodies:
            replace_all(h.Function("", [], [], [], h.Product(()), self.nodes), {body.entry: control})
            control = control if body.end is body.entry else body.end
        return control

    # Loops that run together

    def _version(self, storage: Storage, loops: Sequence[MergedLoop]) -> h.Node:
        """The version of a storage that a body with these loops finds: in the innermost loop, for shared storage."""
        state = self.states[storage]
        if not loops or not storage.is_shared:
            return state.version
        if not state.carried:
            for loop in loops:
                state.carried.append(loop.phi(state.carried[-1] if state.carried else state.version, state.version))
            state.inside = state.carried[-1]
            self.nodes += state.carried
            self.latches = [it.latch for it in loops]
            self.passed.unwritten.add(state.inside)
        assert state.inside is not None
        return state.inside

    def _carry(
        self,
        storage: Storage,
        loops: Sequence[MergedLoop],
        nodes: Sequence[h.Node],
        firsts: set[h.Node],
        replaced: dict[h.Node, h.Node],
    ) -> set[h.Node]:
        """Let the loops carry what the loops of a body do of a shared storage, which begins with one of `firsts`;
        returns the Phis that this replaces, if the body writes the storage.
        """
        state = self.states[storage]
        own: list[h.Phi] = []
        for loop in loops:
            phis = (it for it in nodes if isinstance(it, h.Phi) and it.region is loop.header)
            own += [it for it in phis if it.values[1 - loop.latch] in firsts]
            firsts = {*own[-1:]}
        if not own:
            return set()
        assert len(own) == len(loops), "shared storage that is accessed outside of the innermost loop"
        replaced |= dict(zip(own, state.carried, strict=True))
        replaced[own[-1]] = self._version(storage, loops)
        state.inside = own[-1].values[loops[-1].latch]
        state.is_written = True
        return {*own}

    def _merge(self, bodies: Sequence[LoopedBody], control: h.Node) -> h.Node:
        """Merge the loops of the bodies, and close the Phis of shared storage."""
        for state in self.states.values():
            if state.carried:
                assert state.inside is not None
                for phi, following, latch in zip(
                    state.carried, [*state.carried[1:], state.inside], self.latches, strict=True
                ):
                    phi.values[latch] = following
                state.version = state.carried[0]
        end = merge_loops(self.nodes, bodies, self.types_of_counters.__getitem__)
        replace_all(h.Function("", [], [], [], h.Product(()), self.nodes), {bodies[0].entry: control})
        return control if end is bodies[0].entry else end

    def _constants(self, part: Body) -> tuple[list[h.DynamicConstant], dict[h.DynamicConstant, int]]:
        """The dynamic constants of a body, and those that are loaded from the structure of lengths."""
        constants: list[h.DynamicConstant] = [h.DynamicParameter(axis) for axis in range(len(WORKGROUP_CONSTANTS))]
        loaded: dict[h.DynamicConstant, int] = {}
        by_length = {it.length: it for it in part.entry.bindings if it.length is not None}
        for index in range(len(constants), len(part.entry.function.dynamic_constants)):
            storage = part.storage[by_length[index].name]
            known = storage if storage.is_kept else storage.length
            if isinstance(known, Storage):
                constants.append(self.extents[known])
                continue
            unknown = h.DynamicParameter(-1 - index)
            constants.append(unknown)
            loaded[unknown] = 0 if known is None else known
        return constants, loaded

    def _chains(self, part: Body, nodes: Iterable[h.Node]) -> list[_Chain]:
        """The storage that a body uses."""
        found: list[_Chain] = []
        storages = {it.parameter: part.storage[it.name] for it in part.entry.bindings}
        carriers = {it.init: it for it in nodes if isinstance(it, h.Reduce)}
        for node in nodes:
            if isinstance(node, h.Parameter):
                chain: list[h.Reduce] = []
                at: h.Node = node
                while at in carriers:
                    at = carriers[at]
                    assert isinstance(at, h.Reduce)
                    chain.append(at)
                found.append((storages[node.index], node, chain))
        return found

    def _numbers(self, part: Body, nodes: Sequence[h.Node], nest: Nest, frame: Nest) -> dict[h.Node, h.Node]:
        """The numbers of the threads of the frame instead of a body's own."""
        if part.entry.workgroup_size == self.parts[0].entry.workgroup_size:
            pairs = zip(nest.ids, frame.ids, strict=True)
            return {own: other for own, other in pairs if own is not None and other is not None}
        return self._global_numbers(part, nodes, frame)

    def _global_numbers(self, part: Body, nodes: Sequence[h.Node], frame: Nest) -> dict[h.Node, h.Node]:
        """The same for another size of workgroups: a body that uses only `global_invocation_id`. Raises Refused."""
        found = global_ids(part.entry)
        pairs = zip(nodes, part.entry.function.nodes, strict=True)
        return {copy: self._global_number(found[node], frame) for copy, node in pairs if node in found}

    def _global_number(self, axis: int, frame: Nest) -> h.Node:
        sizes = self.parts[0].entry.workgroup_size
        group = frame.ids[2 - axis]
        assert group is not None
        number: h.Node = h.Cast(U32, group)
        self.nodes.append(number)
        local = [it for it in (2, 1, 0) if sizes[it] > 1]
        if axis in local:
            lane = frame.ids[len(WORKGROUP_CONSTANTS) + local.index(axis)]
            assert lane is not None
            size = h.ConstantNode(h.IntegerConstant(U32, sizes[axis]))
            first = h.Binary(h.BinaryOp.MUL, number, size)
            within = h.Cast(U32, lane)
            number = h.Binary(h.BinaryOp.ADD, first, within)
            self.nodes += [size, first, within, number]
        return number

    def _close(self, frame: Nest, control: h.Node) -> None:
        for join in reversed(frame.joins):
            join.control = control
            control = join
        frame.end.control = control
        results: list[h.Node] = []
        for state in self.states.values():
            update = state.version
            for reduce in reversed(state.reduces):
                reduce.update = update
                update = reduce
            results += state.reduces[:1]
        product = h.ProductNode(results)
        frame.end.value = product
        self.nodes.append(product)


def _resized(type: h.Type, extent: h.DynamicConstant | None) -> h.Type:
    """The type of a parameter with another extent of its runtime-sized array."""
    if extent is None:
        return type
    match type:
        case h.Array(element=element):
            return array(element, extent)
        case h.Product(fields=[*fields, last]):
            return h.Product((*fields, _resized(last, extent)))
        case _:
            raise AssertionError("no runtime-sized array")
