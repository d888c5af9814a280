"""Keeps what one entry point needs, and drops everything else."""

from __future__ import annotations

from collections.abc import Iterator

from ...base.records import dataclass
from ...ir.core import nodes
from ...ir.core.rules import counts_in
from ...ir.core.structure import blocks_of
from ...ir.entry_points import entry_point
from ...ir.types import OverrideCount, Struct, Type, walk
from .reachability import reached_from_root, reached_functions, users_in


@dataclass(frozen=True)
class SingleEntryPoint:
    """Drops functions, variables, overrides and structures that `entry_point` does not reach. Raises InputError."""

    entry_point: str

    @property
    def name(self) -> str:
        """The name in pipelines."""
        return "single_entry_point"

    def run(self, module: nodes.Module) -> bool:
        """Whether anything was dropped."""
        entry = entry_point(module.functions, self.entry_point)
        kept = frozenset(reached_functions(entry))
        values = {id(value) for value in reached_from_root(module, entry)}
        unused = [function for function in module.functions if function not in kept]
        for function in unused:
            _erase(function)
        module.functions = [function for function in module.functions if function in kept]
        dropped = [value for value in module.root.instructions if id(value) not in values]
        module.root.instructions = [value for value in module.root.instructions if id(value) in values]
        changed = _drop_counts(module)
        for value in dropped:
            value.drop_operands()
        return _drop_structs(module) or changed or bool(unused or dropped)


def _erase(function: nodes.Function) -> None:
    """Give up all operands in a function, so that values know their uses."""
    for user in list(users_in(function)):
        user.drop_operands()


def _drop_counts(module: nodes.Module) -> bool:
    needed = {count for value in module.root.instructions for count in counts_in(value.type)}
    needed |= {it.subgroup_size for it in module.functions if isinstance(it.subgroup_size, OverrideCount)}
    dropped = [count for count in module.counts if count.count not in needed]
    for count in dropped:
        count.drop_operands()
    module.counts = [count for count in module.counts if count.count in needed]
    return bool(dropped)


def _drop_structs(module: nodes.Module) -> bool:
    used = {part for type in set(_types(module)) for part in walk(type) if isinstance(part, Struct)}
    before = len(module.structs)
    module.structs = [struct for struct in module.structs if struct in used]
    return len(module.structs) < before


def _types(module: nodes.Module) -> Iterator[Type]:
    for value in module.root.instructions:
        yield value.type
    for function in module.functions:
        yield function.return_type
        yield from (parameter.type for parameter in function.parameters)
        for block in blocks_of(function):
            yield from (value.type for value in (*block.arguments, *block.instructions))
        yield from (operand.type for user in users_in(function) for operand in user.operands)
