"""The header of a loop at either level of the walk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ir.hercules import nodes as h
from .machine import Edge, Restart
from .values import Cell, PerLane, Tree, leaves_of, map_tree

if TYPE_CHECKING:
    from .walk import Walk


class LoopHeader:
    """The header of a loop: a region with a Phi for each cell it may write and each scalar of its arguments."""

    def __init__(self, walk: Walk, cells: list[Cell], arguments: tuple[Tree, ...], *, is_workgroup: bool) -> None:
        machine = walk.machine
        assert machine.control is not None
        self.walk = walk
        self.number = walk.number_loop() if is_workgroup else None
        self.phis: list[tuple[h.Phi, bool]] = []
        entry = machine.edge()
        machine.control = entry.control
        self.region = h.Region([])
        self.cells = cells
        for cell in cells:
            machine.state[cell] = self._phi(entry, machine.state[cell], cell)
        self.arguments = tuple(map_tree(value, lambda scalar: self._phi(entry, scalar, None)) for value in arguments)
        self.region.predecessors.append(entry.control)
        machine.control = walk.graph.add(self.region)

    def _phi(self, entry: Edge, value: h.Node | PerLane, cell: Cell | None) -> h.Node | PerLane:
        machine, graph = self.walk.machine, self.walk.graph
        label = cell.name if cell is not None else ""
        is_array = self._is_per_lane(value, cell)
        first = machine.spread(entry, value) if is_array else machine.seen(cell, value)
        phi = graph.add(h.Phi(self.region, [first], label=label))
        self.phis.append((phi, is_array))
        return PerLane(phi) if is_array else phi

    def _is_per_lane(self, value: h.Node | PerLane, cell: Cell | None) -> bool:
        if self.number is None or _is_collection(cell):
            return False
        key = (self.number, len(self.phis))
        if not self.walk.machine.is_uniform(value):
            self.walk.per_lane.add(key)
        return key in self.walk.per_lane

    def close(self, arguments: tuple[Tree, ...]) -> None:
        """Add the back edge from the current control."""
        machine = self.walk.machine
        values: list[tuple[h.Node | PerLane, Cell | None]] = [(machine.state[cell], cell) for cell in self.cells]
        values += [(scalar, None) for argument in arguments for scalar in leaves_of(argument)]
        back = machine.edge()
        restart = False
        for index, ((phi, is_array), (value, cell)) in enumerate(zip(self.phis, values, strict=True)):
            if is_array:
                phi.values.append(machine.spread(back, value))
            elif (
                self.number is not None
                and not (cell is not None and cell.is_collection)
                and not machine.is_uniform(value)
            ):
                self.walk.per_lane.add((self.number, index))
                restart = True
            else:
                phi.values.append(machine.seen(cell, value))
        if restart:
            raise Restart
        self.region.predecessors.append(back.control)


def _is_collection(cell: Cell | None) -> bool:
    return cell is not None and cell.is_collection
