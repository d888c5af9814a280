"""Dispatches on buffers of a session: what they compute, what is copied, and what is refused."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import tinct

from .conftest import skip_without_gpu

STEP = tinct.load("""
struct Params { scale: f32, n: u32 }
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@group(1) @binding(0) var<uniform> params: Params;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x < params.n { b[id.x] = a[id.x] * params.scale + f32(id.x); }
}
""")["main"]
ADD = tinct.load("""
@group(0) @binding(0) var<storage, read_write> a: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&a) { a[id.x] += 1; }
}
""")["main"]
N = 100
START = np.arange(N, dtype=np.float32)
PARAMS = {"scale": 0.5, "n": N}


def by_hand(steps: int) -> np.ndarray:
    """The buffer that was written last, one dispatch at a time by `Kernel.run`."""
    now = START
    for _ in range(steps):
        now = STEP.run({"a": now, "b": np.zeros(N, np.float32), "params": PARAMS}, threads=N)["b"]
    return now


def test_a_sequence_gives_what_its_dispatches_give_one_by_one(device: str) -> None:
    with tinct.Session(device) as session:
        a, b = session.buffer(START), session.empty(np.float32, N)
        for _ in range(5):
            assert session.run(STEP, {"a": a, "b": b, "params": PARAMS}, threads=N) == {}
            a, b = b, a
        np.testing.assert_allclose(a.numpy(), by_hand(5), rtol=1e-6)


@pytest.mark.parametrize("devices", list(product(("cpu", "gpu", "interp"), repeat=3)), ids="-".join)
def test_devices_mix(devices: tuple[str, ...]) -> None:
    for device in devices:
        skip_without_gpu(device)
    with tinct.Session() as session:
        a, b = session.buffer(START, label="a"), session.empty(np.float32, N, label="b")
        for device in devices:
            session.run(STEP, {"a": a, "b": b, "params": PARAMS}, threads=N, device=device)
            a, b = b, a
        np.testing.assert_allclose(a.numpy(), by_hand(3), rtol=1e-6)


def test_bytes_are_copied_once_and_only_when_stale(gpu: str) -> None:
    with tinct.Session() as session:
        a = session.buffer(START, label="a")
        session.run(ADD, {"a": a}, threads=N)
        assert list(session.copies) == []
        for _ in range(3):
            session.run(ADD, {"a": a}, threads=N, device=gpu)
        assert a.device == "gpu"
        for _ in range(2):
            np.testing.assert_array_equal(a.numpy(), START + 4)
        session.run(ADD, {"a": a}, threads=N)
        assert a.device == "cpu"
        assert [(it.buffer, it.bytes, it.source, it.target) for it in session.copies] == [
            ("a", 4 * N, "cpu", "gpu"),
            ("a", 4 * N, "gpu", "cpu"),
        ]
        assert "'main' needs it as a" in session.copies[0].why
        assert str(session.copies[1]) == "a: 400 bytes from gpu to cpu, since the program reads it"
        np.testing.assert_array_equal(a.numpy(), START + 5)


def test_a_buffer_that_is_only_read_stays_fresh_on_both_sides(gpu: str) -> None:
    with tinct.Session() as session:
        a, b = session.buffer(START, label="a"), session.empty(np.float32, N, label="b")
        for device in ("cpu", gpu, "cpu", gpu):
            session.run(STEP, {"a": a, "b": b, "params": PARAMS}, threads=N, device=device)
        assert [it.buffer for it in session.copies].count("a") == 1


def test_an_output_is_not_uploaded(gpu: str) -> None:
    with tinct.Session(gpu) as session:
        a = session.buffer(START)
        made = session.run(STEP, {"a": a, "b": (None, N), "params": PARAMS}, threads=N)
        np.testing.assert_allclose(made["b"].numpy(), by_hand(1))
        assert {it.buffer for it in session.copies if it.target == gpu} == {a.label, "the value of params"}
        again = session.run(STEP, {"a": made["b"], "b": (None, N), "params": PARAMS}, threads=N)
        assert again["b"] is not made["b"]
        np.testing.assert_allclose(again["b"].numpy(), by_hand(2))


def test_uniform_values_between_recorded_dispatches_are_each_seen(device: str) -> None:
    with tinct.Session(device) as session:
        zeros, outputs = session.empty(np.float32, 4), [session.empty(np.float32, 4) for _ in range(40)]
        for number, output in enumerate(outputs):
            session.run(ADD, {"a": output}, threads=4)
            session.run(STEP, {"a": output, "b": zeros, "params": {"scale": number, "n": 4}}, threads=4)
            session.run(STEP, {"a": zeros, "b": output, "params": {"scale": 1, "n": 4}}, threads=4)
        expected = [np.arange(4) * 2 + number for number in range(40)]
        np.testing.assert_array_equal([it.numpy() for it in outputs], expected)


def test_more_uniform_values_than_are_remembered(device: str) -> None:
    with tinct.Session(device) as session:
        one, sums = session.buffer(np.ones(4, np.float32)), session.empty(np.float32, 4)
        for number in (*range(300), 0, 299, 7):
            session.run(STEP, {"a": one, "b": sums, "params": {"scale": number, "n": 4}}, threads=4)
        np.testing.assert_array_equal(sums.numpy(), np.arange(4) + 7)


def test_a_large_array_is_uploaded_for_its_dispatch(device: str) -> None:
    with tinct.Session(device) as session:
        b = session.empty(np.float32, 5000)
        for factor in (1, 2):
            given = np.full(5000, factor, np.float32)
            session.run(STEP, {"a": given, "b": b, "params": {"scale": 1, "n": 5000}}, threads=5000)
            given[:] = -1
        np.testing.assert_array_equal(b.numpy(), 2 + np.arange(5000, dtype=np.float32))


def test_keys_may_be_binding_points(device: str) -> None:
    with tinct.Session(device) as session:
        a, b = session.buffer(START), session.empty(np.float32, N)
        session.run(STEP, {(0, 0): a, "b": b, (1, 0): PARAMS}, threads=N)
        np.testing.assert_allclose(b.numpy(), by_hand(1))
    by_point = STEP.run({(0, 0): START, (0, 1): (None, N), (1, 0): PARAMS}, threads=N, device=device)
    np.testing.assert_allclose(by_point["b"], by_hand(1))


def test_one_mapping_serves_several_kernels() -> None:
    with tinct.Session() as session:
        shared = {"a": session.buffer(START), "b": session.empty(np.float32, N), "params": PARAMS, "other": 3}
        for _ in range(2):
            session.run(ADD, shared, threads=N, extra="ignore")
            session.run(STEP, shared, threads=N, extra="ignore")
            with pytest.raises(tinct.InputError, match="no buffer named 'b'"):
                session.run(ADD, shared, threads=N)
        np.testing.assert_allclose(shared["b"].numpy(), (START + 2) * 0.5 + START)


def test_options_are_those_of_kernel_run(device: str) -> None:
    shader = tinct.load("""
    override factor: f32 = 1;
    @group(0) @binding(0) var<storage, read_write> a: array<f32>;
    @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) { a[id.x] = factor * f32(id.x); }
    """)
    with tinct.Session(device) as session:
        a = session.empty(np.float32, 8)
        for factor in (2, 3, 2):
            session.run(shader["main"], {"a": a}, workgroups=(2, 1), constants={"factor": factor})
            np.testing.assert_array_equal(a.numpy(), factor * np.arange(8))
        session.run(shader["main"], {"a": a}, threads=5, constants={"factor": 9}, timeout=60)
        np.testing.assert_array_equal(a.numpy(), 9 * np.arange(8))
        session.run(shader["main"], {"a": a}, workgroups=0)
        np.testing.assert_array_equal(a.numpy(), 9 * np.arange(8))
        if device in ("cpu", "gpu"):
            session.run(shader["main"], {"a": a}, workgroups=1, via="hercules")
            np.testing.assert_array_equal(a.numpy()[:4], np.arange(4))
        if device == "cpu":
            session.run(shader["main"], {"a": a}, workgroups=2, contract=True, constants={"factor": 5})
            np.testing.assert_array_equal(a.numpy(), 5 * np.arange(8))


def test_an_empty_runtime_sized_array_is_refused_as_kernel_run_refuses_it(device: str) -> None:
    with pytest.raises(tinct.InputError) as expected:
        ADD.run({"a": np.zeros(0, np.float32)}, threads=1, device=device)
    with tinct.Session(device) as session:
        for empty in (session.buffer(np.zeros(0, np.float32)), session.empty(np.float32, 0)):
            assert empty.numpy().shape == (0,)
            with pytest.raises(tinct.InputError) as found:
                session.run(ADD, {"a": empty}, threads=1)
            assert str(found.value) == str(expected.value)


# Views


def test_views_are_parts(device: str) -> None:
    with tinct.Session(device) as session:
        whole = session.buffer(np.zeros(192, np.float32))
        second = whole.view(256, shape=64)
        session.run(ADD, {"a": second}, threads=64)
        session.run(ADD, {"a": whole.view(512)}, threads=64)
        session.run(ADD, {"a": second}, threads=64)
        np.testing.assert_array_equal(whole.numpy(), np.repeat(np.float32([0, 2, 1]), 64))
        second.write(np.full(64, 7, np.float32))
        session.run(ADD, {"a": whole}, threads=192)
        np.testing.assert_array_equal(whole.numpy(), np.repeat(np.float32([1, 8, 2]), 64))
        assert second.view().offset == 256
        assert second.view(dtype=np.uint32).numpy()[0] == np.float32(8).view(np.uint32)


def test_views_that_lie_apart_may_be_read_and_written(device: str) -> None:
    with tinct.Session(device) as session:
        whole = session.buffer(np.arange(128, dtype=np.float32))
        parts = {"a": whole.view(0, shape=64), "b": whole.view(256), "params": {"scale": 2, "n": 64}}
        for _ in range(2):
            session.run(STEP, parts, threads=64)
        first = np.arange(64, dtype=np.float32)
        np.testing.assert_array_equal(whole.numpy(), np.concatenate([first, 3 * first]))


@pytest.mark.parametrize(
    ("offset", "shape"), [(4, None), (128, 1), (256, 65), (512, 1), (-256, 1), (256, (8, 9)), (10**30, 1)]
)
def test_views_keep_the_rules(offset: int, shape: object) -> None:
    with tinct.Session() as session, pytest.raises(tinct.InputError, match="a multiple of 256"):
        session.buffer(np.zeros(128, np.float32)).view(offset, shape=shape)


PAIR = tinct.load("""
@group(0) @binding(0) var<storage, read_write> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> b: array<f32>;
@group(0) @binding(2) var<storage, read> c: array<f32>;
@group(0) @binding(3) var<storage, read> d: array<f32>;
@compute @workgroup_size(1) fn main() { a[0] += c[0]; b[0] += d[0]; }
""")["main"]


def test_overlaps_with_a_write_are_refused_on_every_device(device: str) -> None:
    with tinct.Session(device) as session:
        x, y, z = (session.buffer(np.ones(256, np.float32)) for _ in range(3))
        session.run(PAIR, {"a": x, "b": y, "c": z, "d": z.view(256)}, threads=1)
        overlapping = [
            {"a": x, "b": x, "c": z, "d": z},
            {"a": x, "b": y, "c": x, "d": z},
            {"a": x.view(0, shape=65), "b": x.view(256), "c": z, "d": z},
            {"a": x, "b": y, "c": z, "d": y.view(768)},
        ]
        for values in overlapping:
            with pytest.raises(tinct.InputError, match="overlap in buffer"):
                session.run(PAIR, values, threads=1)
        halves = {"a": x.view(0, shape=64), "b": x.view(256), "c": z, "d": z}
        session.run(PAIR, halves, threads=1)
        np.testing.assert_array_equal(x.numpy()[[0, 64]], [3, 2])


# Kernel.run


def test_kernel_run_changes_buffers_in_place_and_returns_arrays(device: str) -> None:
    with tinct.Session() as session:
        a, given = session.buffer(np.ones(4, np.float32)), np.full(4, 5, np.float32)
        out = PAIR.run({"a": a, "b": given, "c": a.numpy(), "d": given}, threads=1, device=device)
        assert out.keys() == {"b"}
        np.testing.assert_array_equal(out["b"], [10, 5, 5, 5])
        np.testing.assert_array_equal(given, 5)
        np.testing.assert_array_equal(a.numpy(), [2, 1, 1, 1])
        assert PAIR.run({"a": a, "b": (None, 4), "c": given, "d": given}, threads=1, device=device)["b"][0] == 5
        np.testing.assert_array_equal(a.numpy(), [7, 1, 1, 1])
        assert ADD.run_timed({"a": a}, threads=4, device=device, trial=False).outputs == {}
        np.testing.assert_array_equal(a.numpy(), [8, 2, 2, 2])


def test_kernel_run_takes_outputs_without_an_array(device: str) -> None:
    out = STEP.run({"a": START, "b": (None, N), "params": PARAMS}, threads=N, device=device)
    np.testing.assert_allclose(out["b"], by_hand(1))
    with pytest.raises(tinct.InputError, match="needs a number of elements"):
        STEP.run({"a": START, "b": None, "params": PARAMS}, threads=N)
    for nothing in (None, (None, 3)):
        with pytest.raises(tinct.InputError, match="params"):
            STEP.run({"a": START, "b": (None, N), "params": nothing}, threads=N)
        with pytest.raises(tinct.InputError, match="params"), tinct.Session(device) as session:
            session.run(STEP, {"a": START, "b": (None, N), "params": nothing}, threads=N)


def test_kernel_run_takes_buffers_of_one_session() -> None:
    with tinct.Session() as one, tinct.Session() as other:
        a, b = one.buffer(START), other.buffer(START)
        with pytest.raises(tinct.InputError, match="several sessions"):
            STEP.run({"a": a, "b": b, "params": PARAMS}, threads=N)


# What does not fit


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"a": START, "params": PARAMS}, "no array is given for b"),
        ({"a": START, "b": START, "params": PARAMS}, "b is written: give a buffer"),
        ({"a": START, "b": None, "params": PARAMS}, "needs a number of elements"),
        ({"a": START, "b": (None, -1), "params": PARAMS}, "cannot have -1 elements"),
        ({"a": START, "b": (None, 1.5), "params": PARAMS}, "must be a whole number"),
        ({"a": START, "b": (None, 2**40), "params": PARAMS}, "too many"),
        ({"a": START, "b": (None, 4), "params": {"scale": 1}}, "params"),
        ({"a": START, "b": (None, 4), "params": PARAMS, (0, 1): 1}, "b is given twice"),
        ({"a": START, "b": (None, 4), "params": PARAMS, (7, 1): 1}, r"uses no buffer at \(7, 1\)"),
        ({"a": START, "b": (None, 4), "parms": PARAMS}, "did you mean 'params'"),
        ([START], "maps names to values"),
        (None, "maps names to values"),
    ],
)
def test_values_that_do_not_fit(values: object, message: str) -> None:
    with tinct.Session() as session:
        for _ in range(2):
            with pytest.raises(tinct.InputError, match=message):
                session.run(STEP, values, threads=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give the size of the dispatch"),
        ({"threads": 65536 * 64}, "65535 in each dimension"),
        ({"workgroups": 65536}, "65535 in each dimension"),
        ({"threads": 1, "device": "tpu"}, "no device is named"),
        ({"threads": 1, "device": 3}, "a device is a name"),
        ({"threads": 1, "via": "llvm"}, "no way via"),
        ({"threads": 1, "via": "hercules", "device": "interp"}, "via 'hercules' is for"),
        ({"threads": 1, "timeout": 0}, "time limit"),
        ({"threads": 1, "contract": 2}, "contract is True or False"),
        ({"threads": 1, "contract": True, "device": "interp"}, "contract is for"),
        ({"threads": 1, "extra": "allow"}, "extra cannot be 'allow'"),
        ({"threads": 1, "constants": {"n": 1}}, "no override"),
        ({"threads": [[]]}, "threads must be"),
    ],
)
def test_options_that_do_not_fit(options: dict[str, object], message: str) -> None:
    with tinct.Session() as session:
        a = session.buffer(START)
        session.run(ADD, {"a": a}, threads=1)
        with pytest.raises(tinct.InputError, match=message):
            session.run(ADD, {"a": a}, **options)
        for no_kernel in ("main", None, ADD.shader, ADD.bindings):
            with pytest.raises(tinct.InputError, match="runs a kernel"):
                session.run(no_kernel, {"a": a}, threads=1)
        with pytest.raises(tinct.InputError, match="no device is named"):
            tinct.Session("tpu")
        with pytest.raises(tinct.InputError, match="a label is a name"):
            session.buffer(START, label=3)


def test_a_buffer_of_another_session() -> None:
    with tinct.Session() as one, tinct.Session() as other:
        a = one.buffer(START)
        with pytest.raises(tinct.InputError, match="of another session"):
            other.run(ADD, {"a": a}, threads=1)
        with pytest.raises(tinct.InputError, match="of another session"):
            other.release(a)


def test_limits_of_the_adapter_change_nothing(gpu: str) -> None:
    with tinct.Session(gpu) as session:
        a, huge = session.buffer(START), session.empty(np.uint8, 1 << 31)
        session.run(ADD, {"a": a}, threads=N)
        with pytest.raises(tinct.DeviceError, match="allows"):
            session.run(ADD, {"a": huge}, threads=N)
        session.run(ADD, {"a": a}, threads=N)
        np.testing.assert_array_equal(a.numpy(), START + 2)
