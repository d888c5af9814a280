"""Buffers: how they are made, what they hold, and which bindings they fit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tinct

SHADER = tinct.load("""
struct Particle { position: vec3f, mass: f32, velocity: vec3f }
struct Cloud { count: u32, points: array<vec3f> }
struct Pair { a: f32, b: vec2f }
@group(0) @binding(0) var<storage, read_write> floats: array<f32>;
@group(0) @binding(1) var<storage, read_write> fours: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> threes: array<vec3f>;
@group(0) @binding(3) var<storage, read_write> particles: array<Particle>;
@group(0) @binding(4) var<storage, read_write> cloud: Cloud;
@group(0) @binding(5) var<storage, read_write> counts: array<atomic<u32>, 4>;
@group(0) @binding(6) var<uniform> pair: Pair;
@group(0) @binding(7) var<storage, read_write> signed: array<i32>;
@compute @workgroup_size(1) fn use_floats() { floats[0] += 1; }
@compute @workgroup_size(1) fn use_fours() { fours[0] += 1; }
@compute @workgroup_size(1) fn use_threes() { threes[1] += 1; }
@compute @workgroup_size(1) fn use_particles() { particles[1].position += particles[1].velocity; }
@compute @workgroup_size(1) fn use_cloud() { cloud.points[1] += f32(cloud.count); }
@compute @workgroup_size(1) fn use_counts() { atomicAdd(&counts[1], 5); }
@compute @workgroup_size(1) fn use_signed() { signed[0] = i32(pair.b.y); }
""")
FILTER = tinct.load("""
@group(0) @binding(0) var source: texture_2d<f32>;
@group(0) @binding(1) var drawn: texture_storage_2d<rgba32float, write>;
@group(0) @binding(2) var eight: texture_storage_2d<rgba8unorm, write>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {
    textureStore(drawn, id.xy, textureLoad(source, id.xy, 0) * 2);
}
@compute @workgroup_size(1) fn other(@builtin(global_invocation_id) id: vec3u) {
    textureStore(eight, id.xy, textureLoad(source, id.xy, 0));
}
""")
POINTS = np.arange(12, dtype=np.float32).reshape(4, 3)


def run(session: tinct.Session, name: str, value: object, **more: object) -> None:
    session.run(SHADER[f"use_{name}"], {name: value, **more}, threads=1)


def test_a_buffer_is_a_copy_and_so_is_what_comes_back() -> None:
    array = np.zeros((2, 3), np.float32)
    with tinct.Session() as session:
        buffer = session.buffer(array, label="grid")
        array[:] = 7
        run(session, "floats", buffer)
        first = buffer.numpy()
        assert (buffer.shape, buffer.dtype, buffer.nbytes, buffer.label) == ((2, 3), np.float32, 24, "grid")
        run(session, "floats", buffer)
        np.testing.assert_array_equal(first, [[1, 0, 0], [0, 0, 0]])
        assert np.asarray(buffer)[0, 0] == 2
        assert np.asarray(buffer, dtype=np.int32).dtype == np.int32
        assert "shape (2, 3) of float32" in repr(buffer)


def test_an_adopted_array_changes_in_place(device: str) -> None:
    array = np.zeros(70, np.float32)
    with tinct.Session(device) as session:
        buffer = session.adopt(array)
        run(session, "floats", buffer)
        buffer.request()
        assert array[0] == 1
        array[0] = 5
        buffer.changed()
        run(session, "floats", buffer)
        buffer.request()
        assert array[0] == 6
        buffer.write(np.full(70, 2, np.float32))
        assert array[1] == 2
        run(session, "floats", buffer)
    assert array[0] == 3


def test_an_adopted_array_gets_its_bytes_though_its_buffer_is_dropped(device: str) -> None:
    arrays = np.zeros((20, 8), np.float32)
    with tinct.Session(device) as session:
        for array in arrays:
            run(session, "floats", session.adopt(array))
    assert (arrays[:, 0] == 1).all()


def test_adopted_arrays_of_any_alignment(device: str) -> None:
    room = np.zeros(1000, np.uint8)
    array = room[4 : 4 + 256].view(np.float32)
    with tinct.Session(device) as session:
        run(session, "floats", session.adopt(array))
    assert array[0] == 1
    assert not array[1:].any()


def test_an_array_that_may_only_be_read(device: str) -> None:
    array = np.full(4, 3, np.float32)
    array.flags.writeable = False
    with tinct.Session(device) as session:
        buffer = session.adopt(array)
        with pytest.raises(tinct.InputError, match="may only be read"):
            run(session, "floats", buffer)
        with pytest.raises(tinct.InputError, match="may only be read"):
            buffer.write(array)
        signed = session.empty(np.int32, 1)
        run(session, "signed", signed, pair=buffer.view(dtype=np.uint8))
        assert signed.numpy() == 3


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.zeros((4, 4), np.float32).T[:2],
        lambda: np.zeros(8, np.float32)[::2],
        lambda: [1.0, 2.0],
        lambda: b"1234",
        lambda: np.array([object()]),
        lambda: np.ma.masked_array([1.0], [True]),
        lambda: None,
        lambda: 3,
    ],
)
def test_what_cannot_be_adopted(make: Callable[[], object]) -> None:
    with tinct.Session() as session, pytest.raises(tinct.InputError):
        session.adopt(make())


def test_adopted_arrays_lie_apart() -> None:
    array = np.zeros(100, np.float32)
    with tinct.Session() as session:
        first = session.adopt(array[:50], label="first")
        session.adopt(array[50:])
        with pytest.raises(tinct.InputError, match="overlaps the array of first"):
            session.adopt(array[49:51])
        first.release()
        session.adopt(array[49:50])


@pytest.mark.parametrize("values", [[1.0], 3, None, {"a": 1}, "abc", np.array(["a"], object), np.ma.masked_all(3)])
def test_what_no_buffer_is_made_of(values: object) -> None:
    with tinct.Session() as session, pytest.raises(tinct.InputError):
        session.buffer(values)


def test_buffers_for_a_binding_have_its_layout(device: str) -> None:
    with tinct.Session(device) as session:
        threes = session.buffer(POINTS, SHADER.bindings["threes"])
        run(session, "threes", threes)
        assert threes.nbytes == 64
        np.testing.assert_array_equal(threes.numpy(), POINTS + np.float32([[0], [1], [0], [0]]))
        records = [{"position": [1, 2, 3], "mass": 4, "velocity": [10, 20, 30]}] * 2
        particles = session.buffer(records, SHADER.bindings["particles"])
        run(session, "particles", particles)
        np.testing.assert_array_equal(particles.numpy()["position"], [[1, 2, 3], [11, 22, 33]])
        cloud = session.buffer({"count": 3, "points": POINTS}, SHADER.bindings["cloud"])
        run(session, "cloud", cloud)
        np.testing.assert_array_equal(cloud.numpy()["points"][1], POINTS[1] + 3)
        threes.write(POINTS * 2)
        np.testing.assert_array_equal(threes.numpy(), POINTS * 2)
        with pytest.raises(tinct.InputError, match="cannot become"):
            threes.write(POINTS[:2])


def test_empty_buffers_for_bindings_and_dtypes(device: str) -> None:
    with tinct.Session(device) as session:
        cases = [
            (session.empty(SHADER.bindings["threes"], 5), (5, 3), 80),
            (session.empty(SHADER.bindings["counts"]), (4,), 16),
            (session.empty(np.float32, (2, 3)), (2, 3), 24),
            (session.empty("u4"), (1,), 4),
            (session.empty(SHADER.bindings["particles"], 2), (2,), 64),
            (session.empty(SHADER.bindings["cloud"], 2), (), 48),
        ]
        for buffer, shape, size in cases:
            assert (buffer.shape, buffer.nbytes) == (shape, size)
            array = buffer.numpy()
            assert array.shape == shape
            assert array.dtype == buffer.dtype
            assert not any(array.tobytes())
        run(session, "counts", cases[1][0])
        assert cases[1][0].numpy().tolist() == [0, 5, 0, 0]


@pytest.mark.parametrize(
    ("like", "extent", "message"),
    [
        ("threes", None, "needs a number of elements"),
        ("threes", -1, "cannot have -1"),
        ("threes", 2.5, "whole number"),
        ("counts", 4, "fixed size"),
        (np.float32, -1, "cannot be negative"),
        (np.float32, (1, "2"), "whole number"),
        ("no dtype", 3, "is no dtype"),
        (object, 3, "array of numbers"),
        (3.5, 3, "is no dtype"),
    ],
)
def test_what_cannot_be_empty(like: object, extent: object, message: str) -> None:
    with tinct.Session() as session, pytest.raises(tinct.InputError, match=message):
        session.empty(SHADER.bindings.get(like, like) if isinstance(like, str) else like, extent)


FITS = {
    ("floats", "<f4", (6,)): True,
    ("floats", "<f4", (2, 3)): True,
    ("floats", ">f4", (6,)): False,
    ("floats", "<f8", (6,)): False,
    ("floats", "<i4", (6,)): False,
    ("floats", "u1", (24,)): True,
    ("floats", "u1", (25,)): False,
    ("floats", "<f2", (6,)): False,
    ("fours", "<f4", (8,)): True,
    ("fours", "<f4", (3,)): False,
    ("threes", "<f4", (4, 4)): True,
    ("threes", "<f4", (4, 3)): False,
    ("threes", "<f4", (16,)): False,
    ("threes", "u1", (64,)): True,
    ("counts", "<u4", (4,)): True,
    ("counts", "<u4", (9,)): True,
    ("counts", "<u4", (3,)): False,
    ("counts", "<i4", (4,)): False,
    ("particles", "<f4", (16,)): False,
    ("cloud", "u1", (48,)): True,
    ("cloud", "<u4", (12,)): False,
    ("signed", "<i4", (2, 2)): True,
    ("signed", "<u4", (4,)): False,
    ("signed", "?", (4,)): False,
    ("signed", "<M8[s]", (4,)): False,
}


@pytest.mark.parametrize(("name", "dtype", "shape"), FITS)
def test_bytes_fit_or_are_refused(name: str, dtype: str, shape: tuple[int, ...]) -> None:
    with tinct.Session() as session:
        buffer = session.buffer(np.zeros(shape, dtype))
        more = {"pair": {"a": 1, "b": [1, 2]}} if name == "signed" else {}
        if FITS[name, dtype, shape]:
            run(session, name, buffer, **more)
        else:
            with pytest.raises(tinct.InputError, match=name):
                run(session, name, buffer, **more)


def test_structured_arrays_fit_by_the_places_of_their_numbers() -> None:
    exact = SHADER.bindings["particles"].dtype
    assert exact is not None
    loose = np.dtype([("position", "<f4", (3,)), ("mass", "<f4"), ("velocity", "<f4", (3,))])
    renamed = np.dtype(
        {"names": ["p", "m", "v"], "formats": ["3<f4", "<f4", "3<f4"], "offsets": [0, 12, 16], "itemsize": 32}
    )
    cloud = SHADER.bindings["cloud"].dtype_with(3)
    with tinct.Session() as session:
        for dtype in (exact, renamed):
            run(session, "particles", session.buffer(np.zeros(2, dtype)))
        with pytest.raises(tinct.InputError, match="at other places"):
            run(session, "particles", session.buffer(np.zeros(8, loose)))
        run(session, "cloud", session.buffer(np.zeros((), cloud)))
        with pytest.raises(tinct.InputError, match="cloud"):
            run(session, "cloud", session.buffer(np.zeros((), exact)))


def test_a_buffer_of_one_shader_fits_another_with_the_same_layout() -> None:
    twin = tinct.load("""
    struct P { p: vec3f, m: f32, v: vec3f }
    @group(0) @binding(0) var<storage, read_write> ps: array<P>;
    @compute @workgroup_size(1) fn main() { ps[0].m = 8; }
    """)
    with tinct.Session() as session:
        particles = session.empty(SHADER.bindings["particles"], 2)
        session.run(twin["main"], {"ps": particles}, threads=1)
        assert particles.numpy()["mass"].tolist() == [8, 0]


def test_writing_takes_the_same_dtype_and_shape() -> None:
    with tinct.Session() as session:
        buffer = session.buffer(np.zeros(4, np.float32))
        buffer.write(np.arange(8, dtype=np.float32)[::2])
        np.testing.assert_array_equal(buffer.numpy(), [0, 2, 4, 6])
        for values in (np.zeros(4), np.zeros(5, np.float32), np.zeros((2, 2), np.float32), [0] * 4, b"", None):
            with pytest.raises(tinct.InputError):
                buffer.write(values)
        with pytest.raises(tinct.InputError, match="no adopted array"):
            buffer.changed()


# Textures


@pytest.mark.parametrize("via", [None, "hercules"])
def test_textures_stay_on_the_device(device: str, via: str | None) -> None:
    if via and device not in ("cpu", "gpu"):
        pytest.skip("this device has no way via Hercules IR")
    bindings = FILTER.bindings
    start = np.random.default_rng(1).random((3, 5, 4)).astype(np.float32)
    with tinct.Session(device) as session:
        source, drawn = session.buffer(start, bindings["source"]), session.empty(bindings["drawn"], (3, 5, 4))
        assert drawn.shape == (3, 5, 4)
        for _ in range(3):
            session.run(FILTER["main"], {"source": source, "drawn": drawn}, threads=(5, 3), via=via)
            source, drawn = drawn, source
        np.testing.assert_array_equal(source.numpy(), 8 * start)
        assert session.copies.total == (0 if device != "gpu" else 3)


def test_textures_mix_devices_and_ways(gpu: str) -> None:
    bindings = FILTER.bindings
    start = np.ones((2, 2, 4), np.float32)
    with tinct.Session() as session:
        source, drawn = session.buffer(start, bindings["source"]), session.empty(bindings["drawn"], (2, 2, 4))
        for device, via in (("cpu", None), (gpu, None), (gpu, "hercules"), ("interp", None), (gpu, "hercules")):
            session.run(FILTER["main"], {"source": source, "drawn": drawn}, threads=(2, 2), device=device, via=via)
            source, drawn = drawn, source
        np.testing.assert_array_equal(source.numpy(), 32 * start)


@pytest.mark.parametrize("format", ["rgba8unorm", "r32float"])
def test_stored_textures_are_sampled(device: str, format: str) -> None:
    """What is stored between two dispatches is seen by the next one. Off the GPU, other formats than rgba8unorm are
    copied to a wider one each time.
    """
    shader = tinct.load(f"""
        @group(0) @binding(0) var picture: texture_storage_2d<{format}, write>;
        @group(0) @binding(1) var<uniform> value: f32;
        @compute @workgroup_size(1) fn draw() {{ textureStore(picture, vec2u(2, 1), vec4f(value)); }}
        @group(0) @binding(2) var seen: texture_2d<f32>;
        @group(0) @binding(3) var<storage, read_write> found: f32;
        @compute @workgroup_size(1) fn look() {{ found = textureLoad(seen, vec2u(2, 1), 0).r; }}
    """)
    shape = (3, 5, 4) if format == "rgba8unorm" else (3, 5)
    with tinct.Session(device) as session:
        picture, found = session.empty(shader.bindings["picture"], shape), session.empty(np.float32, 1)
        for value in (1.0, 0.0, 1.0):
            session.run(shader["draw"], {"picture": picture, "value": value}, threads=1)
            session.run(shader["look"], {"seen": picture, "found": found}, threads=1)
            assert found.numpy() == [value]
        why = "'look' needs it as seen, which takes texels in another format"
        widened = [it for it in session.copies if it.why == why]
        assert len(widened) == (3 if format == "r32float" and device != "gpu" else 0)
        if device == "gpu" and format == "r32float":
            with pytest.raises(tinct.InputError, match=r"not supported: .* by way of Hercules IR on a GPU"):
                session.run(shader["look"], {"seen": picture, "found": found}, threads=1, via="hercules")


def test_textures_that_do_not_fit(device: str) -> None:
    bindings = FILTER.bindings
    with tinct.Session(device) as session:
        picture = session.buffer(np.zeros((2, 2, 4), np.uint8), bindings["eight"])
        source = session.empty(bindings["drawn"], (2, 2, 4))
        with pytest.raises(tinct.InputError, match=r"not supported: .* texels are rgba8unorm and rgba32float"):
            session.run(FILTER["main"], {"source": np.ones((2, 2, 4), np.float32), "drawn": picture}, threads=1)
        with pytest.raises(tinct.InputError, match="overlap"):
            session.run(FILTER["main"], {"source": source, "drawn": source}, threads=1)
        with pytest.raises(tinct.InputError, match="needs a texture"):
            session.run(FILTER["main"], {"source": session.empty(np.uint8, 200), "drawn": source}, threads=1)
        with pytest.raises(tinct.InputError, match="does not fit"):
            session.run(SHADER["use_floats"], {"floats": source}, threads=1)
        with pytest.raises(tinct.InputError, match="takes an array"):
            session.empty(bindings["source"], (2, 2, 4))
        with pytest.raises(tinct.InputError, match="takes a shape"):
            session.empty(bindings["drawn"], 4)
        with pytest.raises(tinct.InputError, match="no views"):
            picture.view(0)
        with pytest.raises(tinct.InputError):
            picture.write(np.zeros((1, 4, 4), np.uint8))
        made = session.run(
            FILTER["other"], {"source": np.ones((2, 2, 4), np.float32), "eight": (None, (2, 2, 4))}, threads=(2, 2)
        )
        assert (made["eight"].numpy() == 255).all()


def test_a_copy_is_a_buffer_of_its_own(device: str) -> None:
    """The bytes stay on the device that has them, and zeros that were never written are not copied at all."""
    with tinct.Session(device) as session:
        given = session.buffer(np.arange(7, dtype=np.float32))
        run(session, "floats", given)
        crossed = session.copies.total
        copy = session.copy(given, label="other", why="a test asks for it")
        at = "gpu" if device == "gpu" else "cpu"
        assert str(session.copies[-1]) == f"other: 28 bytes from {at} to {at}, since a test asks for it"
        assert session.copies.total == crossed + 1
        run(session, "floats", copy)
        assert (given.numpy()[:2].tolist(), copy.numpy()[:2].tolist()) == ([1, 1], [2, 1])
        zeros = session.copy(session.empty(np.float32, 3))
        assert [it.buffer for it in session.copies].count("other") == (2 if device == "gpu" else 1)
        run(session, "floats", zeros)
        assert zeros.numpy().tolist() == [1, 0, 0]


def test_a_copy_of_a_texture(device: str) -> None:
    with tinct.Session(device) as session:
        source = session.buffer(np.full((2, 3, 4), 3, np.float32), FILTER.bindings["source"])
        drawn = session.buffer(np.zeros((2, 3, 4), np.float32), FILTER.bindings["drawn"])
        session.run(FILTER["main"], {"source": source, "drawn": drawn}, threads=(3, 2))
        copy = session.copy(drawn)
        session.run(FILTER["main"], {"source": copy, "drawn": drawn}, threads=(3, 2))
        np.testing.assert_array_equal(copy.numpy(), np.full((2, 3, 4), 6))
        np.testing.assert_array_equal(drawn.numpy(), np.full((2, 3, 4), 12))


def test_what_cannot_be_copied() -> None:
    with tinct.Session() as session, tinct.Session() as other:
        buffer = session.buffer(np.zeros(100, np.float32))
        with pytest.raises(tinct.InputError, match="a buffer of another session"):
            other.copy(buffer)
        with pytest.raises(tinct.InputError, match="not supported: a copy of a view"):
            session.copy(buffer.view(256))
        buffer.release()
        with pytest.raises(tinct.InputError, match="was released"):
            session.copy(buffer)
