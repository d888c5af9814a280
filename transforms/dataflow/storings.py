"""Which bindings of the kernels of a group are one, and what that storage stands for in the graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...ir import types as w
from ...ir.dataflow.nodes import Access, Endpoint, Expression, IntegerLiteral, Reference
from ...ir.hercules.entry import Binding
from .flat import Value
from .forms import Counter
from .kernel_graph import KernelGraph
from .one_to_one import LaunchTest, share
from .refusal import Refused
from .storage import Storage


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


def find_storings(graph: KernelGraph, ordered: Sequence[str]) -> tuple[Storing, ...]:
    """The storage of nodes whose kernels run in this order. Raises Refused if they cannot be fused."""
    found = tuple(_Storings(graph, ordered).find())
    for name in ordered:
        loops_of_node(found, name)
    return found


def loops_of_node(storings: Sequence[Storing], name: str) -> tuple[Counter, ...]:
    """The loops at whose counters a node's kernel accesses storage that others access. Raises Refused if there are
    several.
    """
    found = {use.loops for it in storings if it.test is not None for use in it.test.uses if use.name == name}
    if len(found) > 1:
        raise Refused("it accesses what it has in common with other kernels in several loops [strides]", None, name)
    return next(iter(found), ())


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
    """Goes through the bindings of the kernels in order. Raises Refused."""

    def __init__(self, graph: KernelGraph, ordered: Sequence[str]) -> None:
        self.graph = graph
        self.ordered = ordered
        self.chains: list[_Chain] = []

    def find(self) -> list[Storing]:
        for name in self.ordered:
            for binding in self.graph.accesses(name).entry.bindings:
                self._add(name, binding)
        return [self._storing(it) for it in self.chains]

    def _add(self, name: str, binding: Binding) -> None:
        if binding.space is w.AddressSpace.HANDLE:
            raise Refused(f"{binding.name!r} is a texture: not supported [element]", None, name)
        end = Endpoint(name, binding.name)
        if end not in self.graph.flat.inputs:  # the members of a uniform structure
            return self._add_uniform(name, binding)
        value = self.graph.flat.inputs[end].value
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
        inputs = self.graph.flat.inputs
        return [
            (end.port.removeprefix(prefix), it.value)
            for end, it in inputs.items()
            if end.node == name and end.port.startswith(prefix)
        ]

    def _holding(self, value: Value, name: str, binding: Binding) -> _Chain | None:
        """The storage that holds a value, for a binding of a kernel. Raises Refused if it held the value earlier."""
        is_transient = isinstance(value, Reference) and value.name in self.graph.flat.transients
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
        graph = self.graph
        outputs = [Endpoint(*it) for it in chain.uses if self._is_output(*it)]
        last = outputs[-1] if outputs else None
        for it in outputs[:-1]:
            if graph.is_needed(it, self.ordered):
                raise Refused(
                    f"{it.port!r} of {it.node!r} is needed elsewhere, and a kernel after it overwrites it [versions]",
                    None,
                    it.node,
                )
        test = self._test(chain) if len(chain.uses) > 1 else None
        is_needed = last is not None and graph.is_needed(last, self.ordered)
        first_writer = next((i for i, it in enumerate(chain.uses) if graph.accesses(it[0]).writes(it[1])), None)
        is_passed = test is not None and first_writer is not None and first_writer < len(chain.uses) - 1
        begins_with_zeros = isinstance(chain.value, Reference) and chain.value.name in graph.flat.transients
        is_gone = is_passed and not is_needed and (begins_with_zeros or self._is_written_first(chain))
        length = graph.length(chain.value) if not chain.has_members else None
        length = length if isinstance(chain.binding.type, w.Array) else None
        storage = Storage(chain.binding, is_kept=not is_gone, is_shared=test is not None, is_passed=is_passed)
        return Storing(storage, tuple(chain.uses), last, test, length)

    def _is_output(self, name: str, binding: str) -> bool:
        return any(it.name == binding and it.access is Access.INOUT for it in self.graph.leaf(name).ports)

    def _is_written_first(self, chain: _Chain) -> bool:
        """Whether the first kernel that has the storage only writes it, so that what it begins with is not needed."""
        name, binding = chain.uses[0]
        return all(it.kind == "write" for it in self.graph.accesses(name).accesses[binding])

    def _test(self, chain: _Chain) -> LaunchTest | None:
        graph = self.graph
        numbers = {name: number for number, name in enumerate(self.ordered)}
        uses = [replace(graph.use(Endpoint(*it)), kernel=numbers[it[0]]) for it in chain.uses]
        return share(uses)


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
