"""Items of a stream through a graph on the workers of a cluster."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from ..arguments import seconds_of
from ..base.errors import InputError
from ..graphs import Graph, GraphProgram
from ..graphs.devices import node_devices
from ..graphs.stream_items import ItemForm
from ..graphs.stream_parts import INPUT, OUTPUT
from ..graphs.stream_stages import StageDevices, stages_of
from ..graphs.streaming import depth_of
from ..ir.layout_numbers import shown
from ..streams import Stage
from ..streams.flow import named_error
from ..streams.stages import Values


class Future(Protocol):
    """A `distributed.Future`."""

    def result(self) -> Any:
        """The result, or what the task raised."""
        ...

    def cancel(self) -> object:
        """Forget the task."""
        ...


class Client(Protocol):
    """A `distributed.Client`."""

    def submit(self, function: Callable[..., object], *arguments: object, pure: bool) -> Future:
        """Run a function on a worker; futures among the arguments are results."""
        ...


def stream(
    client: Client,
    graph: Graph | GraphProgram,
    items: Iterable[Any],
    *,
    depth: int = 16,
    inputs: Mapping[str, Any] | None = None,
    state: Mapping[str, Any] | None = None,
    feed: Mapping[str, str] | None = None,
    device: str = "cpu",
    devices: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> Iterator[dict[str, Any]]:
    """The outputs of a graph for each of the items, in order, computed on the workers of a `distributed.Client`.

    At most `depth` items are under way; results wait on the workers until they are asked for. An item of a worker that
    dies runs on another one. All else is as for `Graph.map`: state goes from worker to worker, and only what needs it
    waits. An error ends the iteration. Raises InputError, and what `run` raises, with the number of the item.
    """
    program, most = _program(graph), depth_of(depth)
    form = ItemForm(program, inputs or {}, state or {}, feed)
    node_devices(program.module, device, devices or {})
    stages = stages_of(program, form.feed, StageDevices(device, devices or {}, seconds_of(timeout)))
    return _outputs(_Cluster(client, stages, form), program, items, most)


def _program(graph: object) -> GraphProgram:
    if isinstance(graph, (Graph, GraphProgram)):
        return graph.program
    raise InputError(f"a stream is of a graph, not {shown(graph)}")


def _outputs(cluster: _Cluster, program: GraphProgram, items: Iterable[Any], most: int) -> Iterator[dict[str, Any]]:
    under_way: deque[tuple[int, Future]] = deque()
    try:
        for number, item in enumerate(items):
            if len(under_way) == most:
                yield _result(*under_way.popleft(), program)
            under_way.append((number, cluster.submit(item)))
        while under_way:
            yield _result(*under_way.popleft(), program)
    finally:
        for _, future in under_way:
            future.cancel()


class _Cluster:
    """Submits the stages of items."""

    def __init__(self, client: Client, stages: Sequence[Stage], form: ItemForm) -> None:
        self._client, self._stages, self._form = client, stages, form
        self._shared = {(INPUT, name): it for name, it in form.shared.items()}
        self._state: Future | Values = {(INPUT, name): it for name, it in form.state.items()}

    def submit(self, item: Any) -> Future:
        """The future of an item's values."""
        values: Future | Values = {(INPUT, name): it for name, it in self._form.values(item).items()}
        state, nothing = self._state, dict[Hashable, Any]()
        for stage in self._stages:
            given = state if stage.takes_state else nothing
            values = self._client.submit(_run, stage.run, values, self._shared, given, pure=False)
            if stage.new_state is not None:
                self._state = self._client.submit(_call, stage.new_state, values, pure=False)
        assert not isinstance(values, Mapping)
        return values


def _run(function: Callable[[Values], Values], values: Values, shared: Values, state: Values) -> Values:
    """A stage on a worker."""
    merged = {**shared, **values, **state}
    return {**merged, **function(merged)}


def _call(function: Callable[[Values], Values], values: Values) -> Values:
    return function(values)


def _result(number: int, future: Future, program: GraphProgram) -> dict[str, Any]:
    try:
        values = future.result()
    except Exception as error:  # whatever the item's run raises
        raise named_error(error, number) from error.__cause__
    return {name: values[OUTPUT, name] for name in program.outputs}
