"""The stages of a stream through a graph: the graph as a whole, or the parts that state cuts it in. They pickle."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.errors import InputError
from ..ir.dataflow.nodes import CreateNode, Graph, Module
from ..streams import Stage
from ..streams.stages import Values
from .linking import Links, link_graphs, link_leaves
from .stream_parts import INPUT, OUTPUT, GraphPart, Key, parts_of

if TYPE_CHECKING:
    from .program import GraphProgram


@dataclass(frozen=True, slots=True)
class StageDevices:
    """The devices of a graph's nodes, as for `run`, and the time limit of each run."""

    device: str
    devices: Mapping[str, str]
    timeout: float | None

    def inside(self, module: Module) -> StageDevices:
        """The same for a part of the graph: without the nodes that the part lacks."""
        root = next(it for it in module.functions if it.name == module.root.function)
        assert isinstance(root, Graph)
        nodes = {it.name for it in root.body if isinstance(it, CreateNode)}
        devices = {path: it for path, it in self.devices.items() if path.partition(".")[0] in nodes}
        return StageDevices(self.device, devices, self.timeout)


@dataclass(frozen=True, slots=True)
class PartRun:
    """Executes a part of a graph for an item."""

    program: GraphProgram
    inputs: Mapping[str, Key]
    outputs: Mapping[str, tuple[Key, ...]]
    where: StageDevices

    def __call__(self, values: Values) -> dict[Hashable, Any]:
        """What the part makes of the values of an item. Raises what `GraphProgram.run` raises."""
        given = {name: values[key] for name, key in self.inputs.items()}
        where = self.where
        made = self.program.run(given, device=where.device, devices=where.devices, timeout=where.timeout)
        return {key: made[name] for name, keys in self.outputs.items() for key in keys}


@dataclass(frozen=True, slots=True)
class StateOf:
    """Picks the state for the next item; `feed` has inputs by output."""

    feed: Mapping[str, str]

    def __call__(self, values: Values) -> dict[Hashable, Any]:
        """Copies of the outputs that are fed, since the outputs go to the caller."""
        return {(INPUT, name): np.array(values[OUTPUT, output]) for output, name in self.feed.items()}


def stages_of(program: GraphProgram, feed: Mapping[str, str], where: StageDevices) -> list[Stage]:
    """The stages of a graph whose outputs in `feed` are inputs of the next item."""
    if not feed:
        inputs: dict[str, Key] = {name: (INPUT, name) for name in program.inputs}
        outputs: dict[str, tuple[Key, ...]] = {name: ((OUTPUT, name),) for name in program.outputs}
        return [Stage(PartRun(program, inputs, outputs, where))]
    state, parts = StateOf(feed), parts_of(program.module, feed)
    stages: list[Stage] = []
    if parts.before is not None:
        stages.append(Stage(_run(program, parts.before, where), new_state=None if parts.core else state))
    if parts.core is not None:
        stages.append(Stage(_run(program, parts.core, where), takes_state=True, new_state=state))
    if parts.after is not None:
        stages.append(Stage(_run(program, parts.after, where), takes_state=parts.core is None))
    return stages


def _run(program: GraphProgram, part: GraphPart, where: StageDevices) -> PartRun:
    links = Links(hosts=program.functions)
    wrong = link_leaves(part.module, program.shaders, links) or link_graphs(part.module, links)
    if wrong:
        raise InputError("; ".join(it.message for it in wrong))
    made = type(program)(part.module, program.shaders, links)
    return PartRun(made, part.inputs, part.outputs, where.inside(part.module))
