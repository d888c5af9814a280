"""Loads, stores and copies through designators.

Reads and Writes in the graph move scalars only; a composite is moved part by part, a long array by a fork over its
elements.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...ir import types as wgsl
from ...ir.hercules import nodes as h
from .machine import Machine
from .types import collection_type
from .values import Cell, CellTree, Designator, Snapshot, Step, Tree, is_tree_array, node_of, parts_of, place_for


def declare(machine: Machine, place: CellTree) -> None:
    """Initialise new cells with zero values."""
    if not isinstance(place, Cell):
        for part in place:
            declare(machine, part)
        return
    type = place.type
    if place.is_spread:
        for extent in machine.size:  # x innermost
            type = h.Array(type, h.DynamicLiteral(extent)) if extent > 1 else type
    zero = machine.graph.zero_collection(type) if place.is_collection else machine.graph.zero(type)
    machine.declare(place, zero)


def load(machine: Machine, source: Designator) -> Tree:
    """Load the value at a designator: scalars are read one by one, a long array is copied to a snapshot."""
    place, steps, type = source.place, source.steps, source.type
    if isinstance(place, Cell):
        return _load_from_cell(machine, place, steps, type)
    if not steps and isinstance(type, wgsl.Array) and not is_tree_array(type):
        return take_snapshot(machine, source)
    if not steps:
        return tuple(load(machine, Designator(part, (), _element(type, index))) for index, part in enumerate(place))
    step, rest = steps[0], steps[1:]
    if isinstance(step, int):
        return load(machine, Designator(place[min(step, len(place) - 1)], rest, type))
    choices = [load(machine, Designator(part, rest, type)) for part in place]
    return select_element(machine, machine.local(step), choices)


def _load_from_cell(machine: Machine, cell: Cell, steps: tuple[Step, ...], type: wgsl.Type) -> Tree:
    if not cell.is_collection:
        return machine.read(cell)
    if isinstance(type, (wgsl.Scalar, wgsl.Atomic)):
        return machine.graph.add(h.Read(machine.read(cell), indices(machine, cell, steps)))
    if isinstance(type, wgsl.Array) and not is_tree_array(type):
        at = Designator(cell, steps, type)
        return Snapshot(at) if cell.is_constant else take_snapshot(machine, at)
    count = wgsl.element_count(type)
    assert isinstance(count, int)
    return tuple(_load_from_cell(machine, cell, (*steps, index), _element(type, index)) for index in range(count))


def take_snapshot(machine: Machine, source: Designator, name: str = "copy") -> Snapshot:
    """Copy the array at a designator to storage that is never written again."""
    place = place_for(source.type, name, is_spread=machine.spreads_arrays)
    declare(machine, place)
    target = Designator(place, (), source.type)
    copy(machine, target, source)
    return Snapshot(target)


def store(machine: Machine, target: Designator, value: Tree) -> None:
    """Store a value at a designator."""
    place, steps, type = target.place, target.steps, target.type
    if isinstance(value, Snapshot):
        copy(machine, target, value.at)
    elif isinstance(place, Cell):
        _store_to_cell(machine, place, steps, type, value)
    elif not steps:
        for index, (part, item) in enumerate(zip(place, parts_of(value), strict=True)):
            store(machine, Designator(part, (), _element(type, index)), item)
    elif isinstance(steps[0], int):
        store(machine, Designator(place[min(steps[0], len(place) - 1)], steps[1:], type), value)
    else:
        _store_to_chosen(machine, place, machine.local(steps[0]), steps[1:], type, value)


def _store_to_cell(machine: Machine, cell: Cell, steps: tuple[Step, ...], type: wgsl.Type, value: Tree) -> None:
    if not cell.is_collection:
        machine.write(cell, node_of(value))
    elif isinstance(type, (wgsl.Scalar, wgsl.Atomic)):
        version = machine.read(cell)
        machine.write(cell, machine.graph.add(h.Write(version, node_of(value), indices(machine, cell, steps))))
    else:
        for index, item in enumerate(parts_of(value)):
            element = Designator(cell, (*steps, index), _element(type, index))
            store(machine, element, item)


def _store_to_chosen(
    machine: Machine, place: tuple[CellTree, ...], step: h.Node, rest: tuple[Step, ...], type: wgsl.Type, value: Tree
) -> None:
    """Store to the part that a computed step selects: every part is set to either the value or its old value."""
    for index, part in enumerate(place):
        target = Designator(part, rest, type)
        chosen = is_element(machine, step, index, len(place))
        store(machine, target, select_tree(machine, chosen, value, load(machine, target)))


def copy(machine: Machine, target: Designator, source: Designator) -> None:
    """Copy a value that holds a long array from one designator to another."""
    type = source.type
    count = wgsl.element_count(type)
    if not isinstance(type, wgsl.Array) or is_tree_array(type) or source.is_split or target.is_split:
        if isinstance(type, (wgsl.Struct, wgsl.Array)) and isinstance(count, int):
            for index in range(count):
                element = _element(type, index)
                copy(machine, target.element(index, element), source.element(index, element))
        else:
            store(machine, target, load(machine, source))
        return
    assert isinstance(count, int)
    _copy_elements(machine, target, source, count)


def _copy_elements(machine: Machine, target: Designator, source: Designator, count: int) -> None:
    """Copy elements in a fork over them, across which a Reduce carries the target's collection."""
    graph, cell = machine.graph, target.place
    assert isinstance(cell, Cell)
    machine.open_lane()
    assert machine.control is not None
    type = _element(source.type, 0)
    fork = graph.add(h.Fork(machine.control, h.DynamicLiteral(count)))
    join = h.Join(fork)
    index = graph.add(h.ThreadID(fork))
    version = machine.read(cell)
    reduce = graph.add(h.Reduce(join, version, version, label=cell.name))
    machine.control = fork
    machine.write(cell, reduce)
    copy(machine, target.element(index, type), source.element(index, type))
    reduce.update = machine.read(cell)
    machine.write(cell, reduce)
    join.control = machine.control
    machine.control = graph.add(join)


def indices(machine: Machine, cell: Cell, steps: Sequence[Step]) -> list[h.Index]:
    """The indices of a Read or Write for steps into a cell; a spread cell's begin with the lane's position."""
    result: list[h.Index] = []
    if cell.is_spread:
        result += [h.PositionIndex(identifier) for identifier in machine.open_lane().nest.thread_ids]
    type = cell.type
    for step in steps:
        if isinstance(type, h.Product):
            assert isinstance(step, int)
            result.append(h.FieldIndex(step))
            type = type.fields[step]
        else:
            assert isinstance(type, h.Array)
            result.append(h.PositionIndex(machine.graph.u64(step) if isinstance(step, int) else machine.local(step)))
            type = type.element
    return result


def select_element(machine: Machine, index: h.Node, choices: Sequence[Tree]) -> Tree:
    """The element at a u64 index; the last one if the index is past the end."""
    result = choices[-1]
    for position in range(len(choices) - 2, -1, -1):
        chosen = is_element(machine, index, position, len(choices))
        result = select_tree(machine, chosen, choices[position], result)
    return result


def is_element(machine: Machine, index: h.Node, position: int, count: int) -> h.Node:
    """Whether a u64 index selects this position; indices past the end select the last one."""
    op = h.BinaryOp.GREATER_EQUAL if position == count - 1 else h.BinaryOp.EQUAL
    return machine.graph.binary(op, index, machine.graph.u64(position))


def select_tree(machine: Machine, condition: h.Node, if_true: Tree, if_false: Tree) -> Tree:
    """Select between two values of the same type."""
    if isinstance(if_true, tuple):
        pairs = zip(if_true, parts_of(if_false), strict=True)
        return tuple(select_tree(machine, condition, left, right) for left, right in pairs)
    if isinstance(if_true, Snapshot) and isinstance(if_false, Snapshot):
        return if_true if if_true.at == if_false.at else _select_snapshot(machine, condition, if_true, if_false)
    return machine.graph.select(condition, node_of(if_true), node_of(if_false))


def _select_snapshot(machine: Machine, condition: h.Node, if_true: Snapshot, if_false: Snapshot) -> Snapshot:
    """A new array, each of whose elements is selected from the two."""
    type = if_true.at.type
    place = place_for(type, "choice", is_spread=machine.spreads_arrays)
    declare(machine, place)
    target = Designator(place, (), type)
    count = wgsl.element_count(type)
    assert isinstance(count, int)
    for index in range(count):
        element = _element(type, index)
        left = load(machine, if_true.at.element(index, element))
        right = load(machine, if_false.at.element(index, element))
        store(machine, target.element(index, element), select_tree(machine, condition, left, right))
    return Snapshot(target)


def _element(type: wgsl.Type, index: int) -> wgsl.Type:
    element = wgsl.element_type(type, index)
    assert element is not None
    return element


def constant_array(machine: Machine, constant: h.Constant, type: wgsl.Type) -> Snapshot:
    """An array constant: a collection that is never written."""
    cell = Cell("constant", collection_type(type), is_constant=True)
    machine.constants[cell] = machine.graph.constant(constant)
    return Snapshot(Designator(cell, (), type))
