"""The order in which to resolve module-scope declarations: what is used before its user.

Declarations must not depend on themselves, functions included (WGSL, "Declaration and Scope").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...ir.diagnostics import Note
from ...ir.source import Span
from ...ir.wgsl import ast
from .context import Context, Symbol


def dependency_order(context: Context, symbols: Sequence[Symbol]) -> tuple[list[Symbol], set[Symbol]]:
    """All symbols, users after what they use, and those on a cycle, which have been reported."""
    order: list[Symbol] = []
    done: set[Symbol] = set()
    cyclic: set[Symbol] = set()
    for root in symbols:
        if root not in done:
            _visit(context, root, order, done, cyclic)
    return order, cyclic


def _visit(context: Context, root: Symbol, order: list[Symbol], done: set[Symbol], cyclic: set[Symbol]) -> None:
    """Depth first without recursion, since chains of declarations may be long."""
    path = [root]
    on_path = {root}
    pending: list[Iterator[Symbol]] = [iter(root.uses)]
    while pending:
        used = next(pending[-1], None)
        if used is None:
            pending.pop()
            symbol = path.pop()
            on_path.discard(symbol)
            done.add(symbol)
            order.append(symbol)
        elif used in on_path:
            cycle = path[path.index(used) :]
            if not cyclic.intersection(cycle):
                _report(context, cycle)
            cyclic.update(cycle)
        elif used not in done:
            path.append(used)
            on_path.add(used)
            pending.append(iter(used.uses))


_MOST_NOTES = 8


def _report(context: Context, cycle: list[Symbol]) -> None:
    names = " → ".join(symbol.name for symbol in [*cycle[:_MOST_NOTES], cycle[0]])
    if all(isinstance(symbol.node, ast.Function) for symbol in cycle):
        message = f"recursion is not allowed: {names}"
    else:
        message = f"declarations depend on each other: {names}"
    links = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
    notes = [Note(f"'{user.name}' uses '{used.name}' here", _use_place(user, used)) for user, used in links]
    context.error("cyclic-dependency", message, cycle[0].span, notes[:_MOST_NOTES])


def _use_place(user: Symbol, used: Symbol) -> Span:
    return user.uses[used]
