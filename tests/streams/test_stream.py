"""Streams of items through graphs."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tinct
from tinct.backend.gpu import GpuDevice, shared_device
from tinct.graphs import streaming, zeros
from tinct.graphs.stream_items import kept

from .support import DEVICES, count, fill, shift

DATA = [np.arange(start, start + 6, dtype=np.uint32) for start in range(12)]


@tinct.graph
def sums(data, offset):
    params = {"width": 1, "offset": offset}
    first = shift({"src": data, "dst": zeros(data.length), "params": params}, threads=data.length)
    second = shift({"src": first["dst"], "dst": data, "params": params}, threads=data.length)
    counted = count({"src": second["dst"], "total": zeros()}, threads=data.length)
    return {"sums": second["dst"], "total": counted["total"]}


def step(data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return data + (data + 3) + 3


def host_graph(function: Callable[..., Any], **types: str) -> tinct.Graph:
    """A graph of one function: data -> out."""
    graph = tinct.Graph("hosted")
    inputs = types or {"data": "u32"}
    node = graph.node(function, inputs=inputs, outputs={"out": "u32"}, name="work")
    for name in inputs:
        graph.bind_input(name, node[name])
    graph.bind_output(node["out"], "out")
    return graph


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("depth", [1, 3])
def test_outputs_come_in_order_on_every_device(device: str, depth: int) -> None:
    found = list(sums.map(DATA, inputs={"offset": 2}, depth=depth, device=device))
    assert len(found) == len(DATA)
    for data, outputs in zip(DATA, found, strict=True):
        np.testing.assert_array_equal(outputs["sums"], step(data))
        assert outputs["total"] == 6


def test_mixed_devices() -> None:
    devices = {"shift_2": DEVICES[-1], "count": "interp"}
    items = [{"data": it, "offset": number} for number, it in enumerate(DATA)]
    for number, outputs in enumerate(sums.map(items, devices=devices)):
        np.testing.assert_array_equal(outputs["sums"], DATA[number] + (DATA[number] + number + 1) + number + 1)


def test_push_and_pop() -> None:
    with sums.stream(depth=2, inputs={"offset": 2}) as stream:
        assert [stream.push(DATA[0]), stream.push({"data": DATA[1]})] == [0, 1]
        assert stream.is_full
        np.testing.assert_array_equal(stream.pop()["sums"], step(DATA[0]))
        assert stream.push(DATA[2]) == 2
    assert repr(stream) == "<Stream: 2 of 2 items under way, closed>"
    np.testing.assert_array_equal(stream.pop()["sums"], step(DATA[1]))
    assert [it["sums"].tolist() for it in stream] == [step(DATA[2]).tolist()]
    with pytest.raises(tinct.InputError, match="the stream is closed, and all its items were popped"):
        stream.pop()
    with pytest.raises(tinct.InputError, match="the stream is closed: nothing can be pushed"):
        stream.push(DATA[0])


def test_what_is_pushed_and_popped_belongs_to_the_caller() -> None:
    """State goes on as it was, whatever the caller does with arrays."""
    frame, first = np.ones(4, np.uint32), np.zeros(4, np.uint32)
    with fading().stream(state={"last": first}, feed={"sum": "last"}) as stream:
        first[:] = 99
        for value in range(3):
            frame[:] = value + 1
            stream.push(frame)
            frame[:] = 77
            out = stream.pop()["sum"]
            np.testing.assert_array_equal(out, [[1, 3, 6][value]] * 4)
            out[:] = 55


def fading() -> tinct.Graph:
    """sum = frame + last; dim = 2 * sum, and `bright` = 3 * frame needs no state."""

    @tinct.graph
    def fading(frame, last):
        params = {"width": 0, "offset": 0}
        room = zeros(frame.length)
        n = frame.length
        bright = shift({"src": frame, "dst": room, "params": params}, threads=n, constants={"SCALE": 3})
        summed = shift({"src": frame, "dst": last, "params": params}, threads=bright["dst"].length)
        dim = shift({"src": summed["dst"], "dst": summed["dst"], "params": params}, threads=n)
        counted = count({"src": bright["dst"], "total": zeros()}, threads=n)
        marked = fill({"dst": dim["dst"], "value": 5}, threads=counted["total"])
        return {"sum": summed["dst"], "dim": marked["dst"], "bright": bright["dst"], "total": counted["total"]}

    return fading


def views_of_constants() -> dict[str, np.ndarray[Any, Any]]:
    """Read-only arrays, whose memory nobody may write, and others, by a name."""
    own = np.arange(6, dtype=np.uint32)
    own.flags.writeable = False
    written = np.arange(6, dtype=np.uint32)
    view = written[:]
    view.flags.writeable = False
    return {
        "constant": own,
        "constant view": own[:6],
        "constant bytes": np.frombuffer(own.tobytes(), np.uint32),
        "written": written,
        "view of written": view,
        "view of bytearray": np.frombuffer(bytearray(own.tobytes()), np.uint32),
    }


@pytest.mark.parametrize("name", views_of_constants())
def test_only_what_nobody_can_write_is_not_copied(name: str) -> None:
    given = views_of_constants()[name]
    assert (kept(given) is given) == name.startswith("constant")


def test_what_is_popped_may_be_written_though_the_input_is_read_only() -> None:
    frame = views_of_constants()["constant"]

    @tinct.graph
    def copied(data):
        same = shift({"src": zeros(6), "dst": data, "params": {"width": 0, "offset": 0}}, threads=6)
        return {"same": same["dst"]}

    for outputs in (*copied.map([frame]), *sums.map([frame], inputs={"offset": 2})):
        for array in outputs.values():
            np.asarray(array)[...] = 7
    np.testing.assert_array_equal(frame, np.arange(6))


@pytest.mark.parametrize("device", DEVICES)
def test_state_is_that_of_the_item_before(device: str) -> None:
    frames = [np.array([0, 1, number], np.uint32) for number in range(8)]
    graph, last = fading(), np.zeros(3, np.uint32)
    found = list(graph.map(frames, state={"last": last}, feed={"sum": "last"}, device=device))
    for frame, outputs in zip(frames, found, strict=True):
        expected = graph.run({"frame": frame, "last": last}, device=device)
        assert outputs.keys() == expected.keys()
        for name, it in expected.items():
            np.testing.assert_array_equal(outputs[name], it)
        last = expected["sum"]
    assert last.tolist() == [0, 8, 28]


def test_the_outputs_of_the_item_before_without_a_chain() -> None:
    """What is fed needs no state itself: the difference of neighbouring frames."""
    graph = tinct.Graph("difference")
    made = graph.node(lambda frame: {"grey": frame * 2}, inputs={"frame": "f32"}, outputs={"grey": "f32"}, name="grey")
    other = graph.node(
        lambda now, before: {"change": now - before},
        inputs={"now": "f32", "before": "f32"},
        outputs={"change": "f32"},
        name="change",
    )
    graph.bind_input("frame", made["frame"])
    first, second = graph.split(made["grey"])
    graph.edge(first, other["now"])
    graph.bind_output(second, "grey")
    graph.bind_input("before", other["before"])
    graph.bind_output(other["change"], "change")
    outputs = graph.map(map(float, (1, 4, 9, 16)), state={"before": 0.0}, feed={"grey": "before"})
    assert [float(it["change"]) for it in outputs] == [2, 6, 10, 14]


def test_only_nodes_that_need_state_wait() -> None:
    """Stages of different items run at the same time, but one item at a time is between states."""
    lock, active, most = threading.Lock(), {"free": 0, "state": 0}, {"free": 0, "state": 0}

    def worked(kind: str) -> None:
        with lock:
            active[kind] += 1
            most[kind] = max(most[kind], active[kind])
        time.sleep(0.05)
        with lock:
            active[kind] -= 1

    def free(data: int) -> dict[str, int]:
        worked("free")
        return {"half": data + 1}

    def with_state(half: int, total: int) -> dict[str, int]:
        worked("state")
        return {"total": half + total}

    graph = tinct.Graph("pipeline")
    one = graph.node(free, inputs={"data": "u32"}, outputs={"half": "u32"})
    two = graph.node(with_state, inputs={"half": "u32", "total": "u32"}, outputs={"total": "u32"})
    graph.bind_input("data", one["data"])
    graph.edge(one["half"], two["half"])
    graph.bind_input("total", two["total"])
    graph.bind_output(two["total"], "total")
    found = [int(it["total"]) for it in graph.map(range(8), state={"total": 0}, depth=8)]
    assert found == [1, 3, 6, 10, 15, 21, 28, 36]
    assert most["state"] == 1
    assert most["free"] == min(8, len(os.sched_getaffinity(0)))


def fails_for(number: int) -> Callable[..., dict[str, int]]:
    def work(data: int) -> dict[str, int]:
        if data == number:
            raise tinct.InputError(f"no {number} please")
        return {"out": data + 1}

    return work


def test_an_error_is_that_of_its_item_and_the_others_are_intact() -> None:
    with host_graph(fails_for(2)).stream(depth=5) as stream:
        for number in range(5):
            stream.push(number)
        found: list[object] = []
        for _ in range(5):
            try:
                found.append(int(stream.pop()["out"]))
            except tinct.InputError as error:
                found.append(str(error))
        assert found == [1, 2, "item 2: node 'work': no 2 please", 4, 5]
        stream.push(7)
        assert stream.pop()["out"] == 8
    with host_graph(lambda data: 1 // int(data - 1)).stream() as stream:
        stream.push(1)
        with pytest.raises(ZeroDivisionError) as raised:
            stream.pop()
        assert raised.value.__notes__[-1] == "raised for item 0 of a stream"
    with pytest.raises(tinct.InputError, match="item 2: "):
        list(host_graph(fails_for(2)).map(range(5)))


def test_an_error_ends_a_stream_with_state() -> None:
    are_pushed = threading.Event()

    def work(data: int, last: int) -> dict[str, int]:
        assert are_pushed.wait(60)
        return {"out": fails_for(2)(data)["out"] + last}

    graph = host_graph(work, data="u32", last="u32")
    with graph.stream(depth=5, state={"last": 0}, feed={"out": "last"}) as stream:
        for number in range(5):
            stream.push(number)
        are_pushed.set()
        assert [int(stream.pop()["out"]) for _ in range(2)] == [1, 3]
        for message in (
            "item 2: node 'work': no 2",
            "item 3: it did not run, since item 2 failed",
            "item 4: it did not",
        ):
            with pytest.raises(tinct.InputError, match=message):
                stream.pop()
        with pytest.raises(tinct.InputError, match="the stream has ended, since item 2 failed"):
            stream.push(9)


def test_a_wait_that_nobody_could_end() -> None:
    """In a process of its own, since other threads of the tests could end it."""
    import subprocess
    import sys

    program = """
import threading, tinct
from tinct.backend.alarms import ALARMS
graph = tinct.Graph()
node = graph.node(lambda data: data, inputs={"data": "u32"}, outputs={"out": "u32"}, name="same")
graph.bind_input("data", node["data"])
graph.bind_output(node["out"], "out")
with ALARMS.set(1, print):  # the thread of time limits, which uses no stream
    pass
with graph.stream(depth=2) as stream:
    for attempt in (stream.pop, lambda: next(iter(stream)), lambda: [stream.push(n) for n in range(3)]):
        try:
            attempt()
        except tinct.InputError as error:
            print(error)
    threading.Timer(0.2, stream.pop).start()
    print(stream.push(2), len(list(map(lambda _: stream.pop(), range(2)))))
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert found.stderr == ""
    nothing = "nothing is under way, so that a pop waits for ever: push first, or close"
    full = "2 items are under way, and no other thread pops one: pop before the next push"
    assert found.stdout.splitlines() == [nothing, nothing, full, "2 2"]


def test_timeouts() -> None:
    release = threading.Event()

    def work(data: int) -> dict[str, int]:
        release.wait(30)
        return {"out": data}

    with host_graph(work).stream(depth=1) as stream:
        for seconds in (0, 0.05):
            with pytest.raises(TimeoutError, match=f"pop waited for {seconds:g} s"):
                stream.pop(timeout=seconds)
        stream.push(1)
        with pytest.raises(TimeoutError, match=r"push waited for 0\.05 s"):
            stream.push(2, timeout=0.05)
        with pytest.raises(tinct.InputError, match="the time limit must be a positive number"):
            stream.pop(timeout=-1)
        release.set()
        assert stream.pop(timeout=30)["out"] == 1


def test_a_run_that_takes_too_long() -> None:
    endless = tinct.load(
        "@group(0) @binding(0) var<storage, read_write> x: array<u32>;"
        "@compute @workgroup_size(1) fn main() { while x[0] == 3u { x[1] += 1u; } x[0] += 10u; }"
    )

    @tinct.graph
    def waiting(x):
        return {"x": endless["main"]({"x": x}, threads=1)["x"]}

    with waiting.stream(depth=1, timeout=2) as stream:
        stream.push(np.array([1, 0], np.uint32))
        assert stream.pop()["x"][0] == 11
        stream.push(np.array([3, 0], np.uint32))
        with pytest.raises(tinct.DeviceError, match="item 1: node 'shader'"):
            stream.pop()
        stream.push(np.array([5, 0], np.uint32))
        assert stream.pop()["x"][0] == 15


def test_an_endless_item_beside_healthy_ones() -> None:
    endless = tinct.load(
        "@group(0) @binding(0) var<storage, read_write> x: array<u32>;"
        "@compute @workgroup_size(1) fn main() { while x[0] == 3u { x[1] += 1u; } x[0] += 10u; }"
    )

    @tinct.graph
    def waiting(x):
        return {"x": endless["main"]({"x": x}, threads=1)["x"]}

    with waiting.stream(depth=3, timeout=3) as stream:
        for first in (1, 3, 5):
            stream.push(np.array([first, 0], np.uint32))
        found = [int(stream.pop()["x"][0])]
        with pytest.raises(tinct.DeviceError, match="item 1: node 'shader'"):
            stream.pop()
        found.append(int(stream.pop()["x"][0]))
    assert found == [11, 15]


def test_several_producers_and_consumers() -> None:
    graph, found = host_graph(lambda data: data), set[int]()
    with graph.stream(depth=3) as stream:

        def push(first: int) -> None:
            for number in range(first, first + 20):
                stream.push(number)

        def pop() -> None:
            for out in stream:
                found.add(int(out["out"]))

        producers = [threading.Thread(target=push, args=(first,)) for first in (0, 100)]
        consumers = [threading.Thread(target=pop) for _ in range(3)]
        for it in (*producers, *consumers):
            it.start()
        for it in producers:
            it.join()
        stream.close()
        for it in consumers:
            it.join()
    assert found == {*range(20), *range(100, 120)}


def test_leaving_by_an_exception_cancels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what the stream's threads were running is run to its end."""
    monkeypatch.setattr(streaming, "available_processors", lambda: 3)
    done: list[int] = []
    may_end = threading.Event()

    def work(data: int) -> dict[str, int]:
        may_end.wait(60)
        done.append(data)
        return {"out": data}

    stream = host_graph(work).stream(depth=50)

    def fail() -> None:
        with stream:
            for number in range(50):
                stream.push(number)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    may_end.set()
    time.sleep(0.3)
    assert len(done) <= 3
    with pytest.raises(tinct.InputError, match="closed"):
        stream.push(1)
    for number, _ in enumerate(host_graph(work).map(range(50))):
        if number == 2:
            break
    gc.collect()


def test_nothing_is_left_of_a_stream_that_is_dropped() -> None:
    def threads() -> int:
        return sum(it.name == "tinct stream" for it in threading.enumerate())

    stream = host_graph(lambda data: data).stream()
    stream.push(1)
    assert threads() > 0
    del stream
    gc.collect()
    deadline = time.monotonic() + 20
    while threads():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_memory_stays_flat() -> None:
    import tracemalloc

    graph = host_graph(lambda data, total: {"out": data[0] + total}, data="array<u32>", total="u32")
    frame = np.ones(10_000, np.uint32)

    def run(items: int) -> int:
        outputs = graph.map((frame for _ in range(items)), state={"total": 0}, feed={"out": "total"})
        return int(max(it["out"] for it in outputs))

    run(20)
    tracemalloc.start()
    try:
        assert run(300) == 300
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] < 4 * frame.nbytes
        assert tracemalloc.get_traced_memory()[1] < 40 * frame.nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(GpuDevice.available() is None, reason="no GPU adapter answers")
def test_a_process_of_the_gpu_that_dies_loses_nothing() -> None:
    kill = iter([False, False, True, False, True])

    def ending(sums: np.ndarray[Any, Any]) -> dict[str, int]:
        if next(kill, False):
            pid = shared_device("").worker_pid
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
        return {"out": sums.max()}

    @tinct.graph
    def ended(data):
        made = sums({"data": data, "offset": 2})
        other = tinct.host(ending, inputs={"sums": "array<u32>"}, outputs={"out": "u32"})(made["sums"])
        again = shift(
            {"src": data, "dst": zeros(data.length), "params": {"width": other["out"], "offset": 0}},
            threads=data.length,
        )
        return {"last": again["dst"]}

    found = list(ended.map(DATA, device="gpu"))
    for data, outputs in zip(DATA, found, strict=True):
        np.testing.assert_array_equal(outputs["last"], data + step(data).max())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": 0}, "depth is the number of items under way, 1 or more, not 0"),
        ({"depth": "x"}, "depth must be a whole number, not 'x'"),
        ({"inputs": {"ofset": 2}}, "graph 'sums' has no input named 'ofset'; did you mean 'offset'?"),
        ({"state": {"offset": 2}}, "graph 'sums' has no output named 'offset', which could be fed to 'offset'"),
        (
            {"state": {"data": DATA[0]}, "feed": {"total": "data"}},
            "the output 'total' is of type u32, and cannot be fed",
        ),
        ({"feed": {"sums": "data"}}, "state has no value of 'data' for the first item"),
        ({"state": {"data": DATA[0]}, "feed": {}}, "0 outputs are fed to the input 'data': feed gives it one"),
        ({"state": {"data": DATA[0]}, "inputs": {"data": DATA[0]}}, "the input 'data' is given in inputs and in state"),
        ({"device": "nowhere"}, "no device is named 'nowhere'"),
        ({"devices": {"shif": "cpu"}}, "no node is named 'shif'; did you mean 'shift'?"),
        ({"timeout": 0}, "the time limit must be a positive number of seconds, not 0"),
    ],
)
def test_streams_that_cannot_be(options: dict[str, Any], message: str) -> None:
    with pytest.raises(tinct.InputError) as error:
        sums.stream(**options)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (3, "an item maps data, offset to values, but is 3"),
        ({"data": DATA[0]}, "the item has no value for the input offset of graph 'sums'"),
        ({"data": DATA[0], "offse": 3}, "graph 'sums' has no input named 'offse'; did you mean 'offset'?"),
    ],
)
def test_items_that_do_not_fit(item: object, message: str) -> None:
    with sums.stream() as stream, pytest.raises(tinct.InputError) as error:
        stream.push(item)
    assert str(error.value) == message
    with sums.stream(inputs={"offset": 1}) as stream, pytest.raises(tinct.InputError, match="is given for all items"):
        stream.push({"data": DATA[0], "offset": 3})


def test_values_that_do_not_fit_are_errors_of_their_item() -> None:
    with sums.stream() as stream:
        stream.push({"data": "x", "offset": 3})
        stream.push({"data": DATA[0], "offset": 2})
        with pytest.raises(tinct.InputError, match="item 0: data: "):
            stream.pop()
        np.testing.assert_array_equal(stream.pop()["sums"], step(DATA[0]))
