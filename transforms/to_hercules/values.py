"""The representation of core IR values during the translation of a function.

Hercules nodes are scalars or whole collections. A vector, matrix, structure or short array of WGSL is a *tree*: a
tuple of its components' trees. A variable is decomposed in the same way into *cells*, each holding one scalar or one
collection; the translator's state maps each cell to its current version. Longer arrays are collections; the value of
such an array is a snapshot: a cell that is never written again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from ...ir import types as wgsl
from ...ir.hercules import nodes as h
from . import types as t

LONGEST_ARRAY_TREE = 8
"""Number of elements up to which a function-scope array becomes a tree, so that it can be kept in registers."""


@dataclass(eq=False, slots=True)
class Cell:
    """Storage that is versioned as a unit.

    `is_shared`: all lanes share it (storage, workgroup), and Reduces carry it across lane forks. `is_constant`: it is
    never written. `is_spread`: it is shared, but each lane has its own slice, which its ThreadIDs index; this is how
    an array of a lane lives across barriers.
    """

    name: str
    type: h.Type
    is_shared: bool = False
    is_constant: bool = False
    is_spread: bool = False

    @property
    def is_collection(self) -> bool:
        """Whether versions are collections rather than scalars."""
        return isinstance(self.type, (h.Array, h.Product))


CellTree: TypeAlias = "Cell | tuple[CellTree, ...]"
"""A variable's cells, shaped like its type as far as it is decomposed."""

Step: TypeAlias = "int | h.Node"
"""One index of an access: a constant, or a u64 node."""


@dataclass(frozen=True, slots=True)
class Designator:
    """The memory that a pointer points to: `steps` into a tree of cells; `type` is the WGSL type found there."""

    place: CellTree
    steps: tuple[Step, ...]
    type: wgsl.Type

    @property
    def is_split(self) -> bool:
        """Whether it designates cells of its own for the parts of the value."""
        return isinstance(self.place, tuple) and not self.steps

    def element(self, step: Step, type: wgsl.Type) -> Designator:
        """The designator of an element. A constant step into a tuple is resolved at once."""
        if isinstance(self.place, tuple) and not self.steps and isinstance(step, int):
            return Designator(self.place[min(step, len(self.place) - 1)], (), type)
        return Designator(self.place, (*self.steps, step), type)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An array value: the contents of cells that are never written again."""

    at: Designator


@dataclass(frozen=True, slots=True)
class PerLane:
    """A scalar that may differ between lanes, as an array over the lanes that exists outside of lane forks."""

    array: h.Node


Tree: TypeAlias = "h.Node | PerLane | Designator | Snapshot | tuple[Tree, ...]"
"""A value: a scalar, a pointer, an array value, or the values of the components."""


def map_tree(tree: Tree, scalar: Callable[[h.Node | PerLane], Tree]) -> Tree:
    """The tree with each scalar replaced, the steps of designators included."""
    match tree:
        case tuple():
            return tuple(map_tree(part, scalar) for part in tree)
        case Designator(place=place, steps=steps, type=type):
            return Designator(place, tuple(_map_step(step, scalar) for step in steps), type)
        case Snapshot(at=at):
            mapped = map_tree(at, scalar)
            assert isinstance(mapped, Designator)
            return Snapshot(mapped)
        case _:
            return scalar(tree)


def map_snapshots(tree: Tree, change: Callable[[Snapshot], Snapshot]) -> Tree:
    """The tree with each array value in it replaced, in order."""
    if isinstance(tree, tuple):
        return tuple(map_snapshots(part, change) for part in tree)
    return change(tree) if isinstance(tree, Snapshot) else tree


def _map_step(step: Step, scalar: Callable[[h.Node | PerLane], Tree]) -> Step:
    if isinstance(step, int):
        return step
    return node_of(scalar(step))


def node_of(tree: Tree) -> h.Node:
    """The node of a tree that is a scalar."""
    assert not isinstance(tree, (tuple, PerLane, Designator, Snapshot)), f"a scalar was expected, not {tree}"
    return tree


def parts_of(tree: Tree) -> tuple[Tree, ...]:
    """The parts of a tree that is a composite."""
    assert isinstance(tree, tuple), f"a composite was expected, not {tree}"
    return tree


def leaves_of(tree: Tree) -> Iterator[h.Node | PerLane]:
    """The scalars of a tree of scalars, PerLane ones included, in the order of `map_tree`."""
    if isinstance(tree, tuple):
        for part in tree:
            yield from leaves_of(part)
    elif not isinstance(tree, (Designator, Snapshot)):
        yield tree


def scalars_of(tree: Tree) -> Iterator[h.Node]:
    """The scalars of a scalar, vector or matrix, in order."""
    if isinstance(tree, tuple):
        for part in tree:
            yield from scalars_of(part)
    else:
        yield node_of(tree)


def place_for(type: wgsl.Type, name: str, *, is_spread: bool = False, longest: int = LONGEST_ARRAY_TREE) -> CellTree:
    """New cells for a variable of function or private space. `is_spread`: its arrays must live across barriers.

    `longest` is the number of elements up to which an array is decomposed.
    """

    def part(type: wgsl.Type, name: str) -> CellTree:
        return place_for(type, name, is_spread=is_spread, longest=longest)

    match type:
        case wgsl.Scalar():
            return Cell(name, t.scalar_type(type))
        case wgsl.Vector(width=width, element=element):
            return tuple(place_for(element, f"{name}.{'xyzw'[index]}") for index in range(width))
        case wgsl.Matrix(columns=columns):
            return tuple(place_for(type.column, f"{name}.{index}") for index in range(columns))
        case wgsl.Struct(members=members):
            return tuple(part(member.type, f"{name}.{member.name}") for member in members)
        case wgsl.Array(element=element, count=int() as count) if count <= longest:
            return tuple(part(element, f"{name}.{index}") for index in range(count))
        case _:
            return Cell(name, t.collection_type(type), is_shared=is_spread, is_spread=is_spread)


def cells_of(place: CellTree) -> Iterator[Cell]:
    """All cells of a tree."""
    if isinstance(place, Cell):
        yield place
    else:
        for part in place:
            yield from cells_of(part)


def is_tree_array(type: wgsl.Type) -> bool:
    """Whether values of this array type are trees rather than snapshots."""
    return isinstance(type, wgsl.Array) and isinstance(type.count, int) and type.count <= LONGEST_ARRAY_TREE


def long_arrays(type: wgsl.Type) -> Iterator[wgsl.Array]:
    """The types of the snapshots in a value of this type, in order."""
    match type:
        case wgsl.Array(element=element, count=int() as count) if is_tree_array(type):
            for _ in range(count):
                yield from long_arrays(element)
        case wgsl.Array():
            yield type
        case wgsl.Struct(members=members):
            for member in members:
                yield from long_arrays(member.type)
        case _:
            return


def holds_long_array(type: wgsl.Type) -> bool:
    """Whether a value of this type contains an array that is a collection rather than a tree."""
    return any(isinstance(part, wgsl.Array) and not is_tree_array(part) for part in wgsl.walk(type))
