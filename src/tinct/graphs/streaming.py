"""Streams of items through graphs: `stream` and `map`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from ..arguments import count_of, seconds_of
from ..backend.cpu.threads import available_processors
from ..base.errors import DeviceError, InputError
from ..streams import Stream
from ..streams.stages import Values
from .devices import NodeDevices, node_devices
from .stream_items import ItemForm
from .stream_parts import INPUT, OUTPUT
from .stream_stages import StageDevices, stages_of

if TYPE_CHECKING:
    from .program import GraphProgram

_FINAL: Final = ("timeout", "unavailable", "invalid", "limit")
"""The kinds of a GPU's errors that another try would meet again."""


class Streamable:
    """What graphs do with streams."""

    @property
    @abstractmethod
    def program(self) -> GraphProgram:
        """The graph."""

    def stream(
        self,
        *,
        depth: int = 4,
        inputs: Mapping[str, Any] | None = None,
        state: Mapping[str, Any] | None = None,
        feed: Mapping[str, str] | None = None,
        device: str = "cpu",
        devices: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Stream:
        """Open a stream of items through the graph, which executes it once for each; see docs/streams.md.

        An item is a mapping of inputs as for `run`, without those in `inputs`, which are the same for all items, and in
        `state`; if one input is left, an item may be its value. At most `depth` items are under way.

        `state` has inputs whose values are outputs of the item before, with the values for the first item. The output
        is the one of the same name, or `feed` says which: `feed={"next": "state"}`, output to input.

        `device` and `devices` are as for `run`; `timeout` is for each run of a part, where state cuts the graph in
        parts.

        Raises InputError.
        """
        program, most = self.program, depth_of(depth)
        form = ItemForm(program, inputs or {}, state or {}, feed)
        where = StageDevices(device, devices or {}, seconds_of(timeout))
        gpus = _gpus(node_devices(program.module, device, where.devices))
        shared: Values = {(INPUT, name): it for name, it in form.shared.items()}
        memory = program.runner.memory
        return Stream(
            stages_of(program, form.feed, where),
            depth=most,
            workers=min(most, available_processors() + len(gpus)),
            state={(INPUT, name): it for name, it in form.state.items()},
            can_retry=_is_lost if gpus else _never,
            prepare=lambda item: {**shared, **{(INPUT, name): it for name, it in form.values(item, memory).items()}},
            finish=lambda values: {name: values[OUTPUT, name] for name in program.outputs},
        )

    def map(
        self,
        items: Iterable[Any],
        *,
        depth: int = 4,
        inputs: Mapping[str, Any] | None = None,
        state: Mapping[str, Any] | None = None,
        feed: Mapping[str, str] | None = None,
        device: str = "cpu",
        devices: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Iterator[dict[str, Any]]:
        """The outputs for each of the items, in order, with `depth` of them under way. The options are as for `stream`.

        An error ends the iteration. Raises InputError, and what `run` raises, with the number of the item.
        """
        opened = self.stream(
            depth=depth, inputs=inputs, state=state, feed=feed, device=device, devices=devices, timeout=timeout
        )
        return _mapped(opened, items)


def _mapped(stream: Stream, items: Iterable[Any]) -> Iterator[dict[str, Any]]:
    with stream:
        for item in items:
            while stream.is_full or stream.is_ready:
                yield stream.pop()
            stream.push(item)
        stream.close()
        yield from stream


def depth_of(depth: object) -> int:
    """The number of items under way. Raises InputError."""
    most = count_of(depth, "depth")
    if most < 1:
        raise InputError(f"depth is the number of items under way, 1 or more, not {most}")
    return most


def _gpus(devices: NodeDevices) -> set[str]:
    return {it for it in (devices.default, *devices.by_path.values()) if it.partition(":")[0] == "gpu"}


def _never(error: BaseException) -> bool:
    return False


def _is_lost(error: BaseException) -> bool:
    """Whether a run failed since a GPU's process died, perhaps by what another run did, so that it may succeed now."""
    from ..backend.gpu import GpuError

    found: BaseException | None = error
    while found is not None:
        if isinstance(found, GpuError) and found.kind in _FINAL:
            return False
        found = found.__cause__
    return isinstance(error, DeviceError)
