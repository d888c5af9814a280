"""The devices of a graph's nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from ..arguments import mapping_of, name_of
from ..base.errors import InputError
from ..devices import device_named
from ..ir.dataflow.nodes import CreateNode, Graph, Module
from ..ir.hints import unknown_name

Path = tuple[str, ...]


NodeChoice: TypeAlias = "Mapping[str, str] | Literal['auto'] | None"
"""Devices for some nodes, or "auto"."""


@dataclass(frozen=True, slots=True)
class Where:
    """The devices and the time limit of a run, as they were given."""

    device: str
    devices: NodeChoice
    timeout: float | None


@dataclass(frozen=True, slots=True)
class NodeDevices:
    """The device of each node: its own, or that of the nearest node around it that has one, or the default."""

    default: str
    by_path: dict[Path, str] = field(default_factory=dict[Path, str])

    def of(self, path: Path) -> str:
        """The device of a node, which is given by the names of its ancestors and its own."""
        ends = range(len(path), 0, -1)
        return next((self.by_path[path[:end]] for end in ends if path[:end] in self.by_path), self.default)


def node_devices(module: Module, default: str, given: Mapping[str, str]) -> NodeDevices:
    """The devices of a verified module's nodes, where `given` has those of some by their paths, such as `a.b`.

    Raises InputError for a path that leads to no node, and for a device that does not exist.
    """
    device_named(name_of(default, "a device", "cpu"))
    found = NodeDevices(default)
    for name, device in mapping_of(given, "devices", ("node",)).items():
        path = _path(module, name_of(name, "a node", "a.b"))
        device_named(name_of(device, f"the device of node {name!r}", "cpu"))
        found.by_path[path] = device
    return found


def _path(module: Module, name: str) -> Path:
    """The names on the way to a node."""
    functions = {it.name: it for it in module.functions}
    around, path = functions[module.root.function], tuple(name.split("."))
    for depth, part in enumerate(path):
        body = around.body if isinstance(around, Graph) else ()
        children = {it.name: it for it in body if isinstance(it, CreateNode)}
        if part not in children:
            prefix = "".join(f"{it}." for it in path[:depth])
            raise InputError(
                unknown_name(f"no node is named {name!r}", prefix + part, [prefix + child for child in children])
            )
        around = functions[children[part].function]
    return path
