"""Case files: what they may say, and how their errors name the place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tinct
from tinct.base.errors import InputError
from tinct.cases import Case, CaseError, load_cases, save_pictures
from tinct.compare import EXACT, Tolerance

FLOATS = {"x": np.dtype("<f4"), "y": np.dtype("<f4")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kernel.wgsl").write_text("@compute @workgroup_size(1) fn main() {}")
    return tmp_path


def load(folder: Path, text: str) -> list[Case]:
    (folder / "kernel.toml").write_text(text)
    (kernel,) = load_cases(folder)
    return list(kernel.cases)


def one(folder: Path, buffer: str, sizes: str = "n = 4") -> Case:
    """A case with a buffer `x`."""
    (case,) = load(folder, f'[[case]]\nname = "a"\nthreads = 1\nsizes = {{ {sizes} }}\nbuffers.x = {{ {buffer} }}')
    return case


def filled(folder: Path, buffer: str, dtype: str = "<f4", sizes: str = "n = 4") -> np.ndarray:
    return one(folder, buffer, sizes).inputs({"x": np.dtype(dtype)})["x"]


def test_cases_inherit_what_they_do_not_say(folder: Path) -> None:
    first, second = load(
        folder,
        """
        reference = "other.py:f"
        threads = ["n", "2 * n"]
        constants = { width = "n", depth = 3 }
        sizes = { n = 7, m = 1 }
        [buffers]
        x = { shape = "n", uniform = [0, 1], output = { ulp = 2 } }
        y = { value = 1 }
        [[case]]
        name = "first"
        interp = true
        [[case]]
        name = "second"
        entry = "other"
        workgroups = 5
        sizes.n = 8
        constants = { depth = true }
        seed = 1
        buffers.x = { linspace = [0, 1] }
        """,
    )
    assert (first.threads, first.workgroups) == ((7, 14, 1), None)
    assert (second.threads, second.workgroups) == (None, (5, 1, 1))
    assert first.constants == {"width": 7, "depth": 3}
    assert second.constants == {"width": 8, "depth": True}
    assert second.sizes == {"n": 8, "m": 1}
    assert (first.entry, second.entry) == (None, "other")
    assert (first.interp, second.interp) == (True, False)
    assert first.outputs == second.outputs == {"x": Tolerance(ulp=2)}
    assert second.inputs(FLOATS)["x"].tolist() == np.linspace(0, 1, 8, dtype=np.float32).tolist()
    assert first.reference is not None
    assert (first.reference.path, first.reference.function) == (folder / "other.py", "f")


def test_inputs_are_the_same_each_time_and_differ_by_buffer_and_seed(folder: Path) -> None:
    text = """
    threads = 1
    buffers.x = { shape = 50, normal = [0, 1] }
    buffers.y = { shape = 50, normal = [0, 1] }
    [[case]]
    name = "a"
    [[case]]
    name = "b"
    seed = 1
    """
    a, b = load(folder, text)
    inputs = a.inputs(FLOATS)
    assert inputs["x"].tolist() == a.inputs(FLOATS)["x"].tolist()
    assert inputs["x"].tolist() != inputs["y"].tolist()
    assert inputs["x"].tolist() != b.inputs(FLOATS)["x"].tolist()


@pytest.mark.parametrize(
    ("buffer", "dtype", "expected"),
    [
        ('shape = "n"', "<u4", [0, 0, 0, 0]),
        ("value = 2.5", "<f4", 2.5),
        ('value = "n / 8"', "<f4", 0.5),
        ("shape = 2, value = 3", "<i4", [3, 3]),
        ("shape = [2, 2], value = [[1, 2], [3, 4]]", "<u4", [[1, 2], [3, 4]]),
        ('shape = "ceil_div(n, 3)", linspace = [0, 1]', "<f4", [0, 1]),
        ("shape = [2, 2], arange = [5, -2]", "<i4", [[5, 3], [1, -1]]),
        ('shape = "n - n"', "<f4", []),
        ('value = [1, "n"]', "(2,)<u4", [1, 4]),
        ("shape = 2, arange = [0, 1]", "(2,)<f2", [[0, 1], [2, 3]]),
    ],
)
def test_generators(folder: Path, buffer: str, dtype: str, expected: object) -> None:
    array = filled(folder, buffer, dtype)
    assert array.tolist() == expected
    assert array.dtype == np.dtype(dtype).base


def test_random_numbers_stay_in_range(folder: Path) -> None:
    uniform = filled(folder, "shape = 1000, uniform = [-1, 3]")
    assert -1 <= uniform.min() < -0.9
    assert 2.9 < uniform.max() <= 3
    integers = filled(folder, 'shape = 1000, integers = [1, "n"]', "<i4")
    assert sorted(set(integers.tolist())) == [1, 2, 3]
    assert filled(folder, 'shape = 1000, integers = [0, "256 * 256 * 256 * 256"]', "<u4").max() > 2**31


STRUCT = np.dtype({"names": ["a", "b"], "formats": ["<u4", ("<f4", (2,))], "offsets": [0, 8], "itemsize": 16})


def test_structures_are_given_by_fields(folder: Path) -> None:
    value = one(folder, 'value = { b = [1, "n"] }').inputs({"x": STRUCT})["x"]
    assert (value["a"], value["b"].tolist()) == (0, [1, 4])
    made = one(folder, 'shape = "n", fields = { a = { arange = [1, 1] }, b = { value = 0.5 } }')
    array = made.inputs({"x": STRUCT})["x"]
    assert array["a"].tolist() == [1, 2, 3, 4]
    assert array["b"].tolist() == [[0.5, 0.5]] * 4


def test_files_are_read_and_cast(folder: Path) -> None:
    np.save(folder / "data.npy", np.arange(4))
    array = filled(folder, 'shape = "n", file = "data.npy"')
    assert array.dtype == np.float32
    assert array.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("output", "tolerance"),
    [
        ('"exact"', EXACT),
        ('"multiset"', Tolerance(multiset=True)),
        ("{ ulp = 2.5, relative = 1e-3 }", Tolerance(ulp=2.5, relative=1e-3)),
        ("{ absolute = 1, multiset = true, outliers = 0.5 }", Tolerance(absolute=1, multiset=True, outliers=0.5)),
    ],
)
def test_tolerances(folder: Path, output: str, tolerance: Tolerance) -> None:
    assert one(folder, f"output = {output}").outputs == {"x": tolerance}


def test_a_reference_takes_what_it_names(folder: Path) -> None:
    (folder / "reference.py").write_text("def double(x, n):\n    x *= n\n    return {'x': x}\n")
    (case,) = load(
        folder,
        """
        reference = "double"
        threads = 1
        buffers.x = { shape = "n", value = 1.5, output = "exact" }
        [[case]]
        name = "a"
        sizes.n = 2
        """,
    )
    inputs = case.inputs(FLOATS)
    expected = case.expected(inputs)
    assert expected is not None
    assert expected["x"].tolist() == [3, 3]
    assert inputs["x"].tolist() == [1.5, 1.5]


CASE = '[[case]]\nname = "a"\nthreads = 1\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = ", "no valid TOML: Invalid value (at end of document)"),
        ("", "there is no [[case]]"),
        ('kernel = "no.wgsl"\n' + CASE, "kernel: there is no file"),
        ("typo = 1\n" + CASE, "unknown key 'typo'"),
        ("[[case]]\nthreads = 1", "case 1: a case needs a name"),
        ('[[case]]\nname = "a"', "case 'a': give one of 'workgroups' and 'threads'"),
        (CASE + "workgroups = 1", "case 'a': give one of 'workgroups' and 'threads'"),
        (CASE + "typo = 1", "case 'a': unknown key 'typo'"),
        (CASE + CASE, "case 'a': another case has the same name"),
        (CASE + "interp = 1", "case 'a', interp: must be true or false, not 1"),
        (CASE + "seed = -1", "case 'a', seed: must be a whole number, not -1"),
        (CASE + "constants.k = []", "case 'a', constants: 'k' must be a number, true, false or an expression, not []"),
        (CASE + "sizes.n = 1.5", "case 'a', sizes: must be a whole number, not 1.5"),
        ('[[case]]\nname = "a"\nthreads = "n"', "case 'a', threads: no size is named 'n'; there are: none"),
        ('[[case]]\nname = "a"\nthreads = [1, 2, 3, 4]', "case 'a', threads: must be 1 to 3 numbers, not 4"),
        ('[[case]]\nname = "a"\nthreads = -1', "case 'a', threads: '-1' is -1, which is no count"),
        ('[[case]]\nname = "a"\nthreads = "1 +"', "case 'a', threads: '1 +' is not an expression"),
        (CASE + "buffers.x.fill = 1", "case 'a', buffers.x: unknown key 'fill'; known are: arange, dtype, fields,"),
        (CASE + "buffers.x = { value = 1, arange = [0, 1] }", "buffers.x: 'arange' and 'value' exclude each other"),
        (CASE + "buffers.x.uniform = 1", "case 'a', buffers.x.uniform: must be two numbers, not 1"),
        (CASE + "buffers.x.fields.a.typo = 1", "case 'a', buffers.x.fields.a: unknown key 'typo'"),
        (CASE + 'buffers.x.output = "same"', 'buffers.x.output: must be "exact", "multiset" or bounds, not \'same\''),
        (CASE + "buffers.x.output.ulp = -1", "buffers.x.output.ulp: must be a number that is not negative, not -1"),
    ],
)
def test_errors_name_the_place(folder: Path, text: str, message: str) -> None:
    with pytest.raises(CaseError) as caught:
        load(folder, text)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(folder / "kernel.toml"))


@pytest.mark.parametrize(
    ("buffer", "dtype", "message"),
    [
        ('shape = "k"', "<f4", "no size is named 'k'; there are: n"),
        ('shape = "n / 8"', "<f4", "'n / 8' is 0.5, which is no count"),
        ('shape = "n % 0"', "<f4", "'n % 0' divides by zero"),
        ('shape = "n ** 2"', "<f4", "'n ** 2' is beyond what a case file may compute"),
        ("value = [1, 2]", "<f4", "the value does not fit float32 of shape ()"),
        ("value = -1", "<u4", "the value does not fit uint32 of shape ()"),
        ("value.a = 1", "<f4", "there is no field 'a': the buffer holds no structure"),
        ("integers = [3, 3]", "<i4", "no integer lies in [3, 3)"),
        ('file = "no.npy"', "<f4", "no.npy cannot be read"),
    ],
)
def test_recipes_that_do_not_fit(folder: Path, buffer: str, dtype: str, message: str) -> None:
    with pytest.raises(CaseError) as caught:
        filled(folder, buffer, dtype)
    assert "case 'a', buffers.x: " in str(caught.value)
    assert message in str(caught.value)


def test_fields_must_exist(folder: Path) -> None:
    with pytest.raises(CaseError, match="there is no field 'c'; there are: a, b"):
        one(folder, "fields = { c = { value = 1 } }").inputs({"x": STRUCT})
    with pytest.raises(CaseError, match="cannot fill"):
        one(folder, "uniform = [0, 1]").inputs({"x": STRUCT})


def test_buffers_must_be_bindings(folder: Path) -> None:
    with pytest.raises(CaseError, match=r"case 'a', buffers.x: the shader has no such binding; it has: y"):
        one(folder, "value = 1").inputs({"y": np.dtype("<f4")})


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (None, "there is no file"),
        ("def g(): pass", "reference.py has no function 'f'"),
        ("def f(z): return {}", "f wants 'z'; there are: x"),
        ("def f(): return {'z': 1}", "the reference returns 'z', which is no output"),
    ],
)
def test_references_that_do_not_fit(folder: Path, source: str | None, message: str) -> None:
    if source is not None:
        (folder / "reference.py").write_text(source)
    (case,) = load(folder, 'reference = "f"\n' + CASE + 'buffers.x.output = "exact"')
    with pytest.raises(CaseError) as caught:
        case.expected(case.inputs(FLOATS))
    assert "case 'a', reference: " in str(caught.value)
    assert message in str(caught.value)


def test_where_case_files_are_found(folder: Path) -> None:
    with pytest.raises(InputError, match="holds no case file"):
        load_cases(folder)
    with pytest.raises(InputError, match=r"has no case file kernel\.toml beside it"):
        load_cases(folder / "kernel.wgsl")
    with pytest.raises(InputError, match="does not exist"):
        load_cases(folder / "nothing.toml")
    (folder / "kernel.toml").write_text(CASE)
    for path in (folder, folder / "kernel.toml", folder / "kernel.wgsl", str(folder)):
        (kernel,) = load_cases(path)
        assert (kernel.name, kernel.path) == ("kernel", folder / "kernel.wgsl")


def test_pictures_are_rgba_pixels(folder: Path) -> None:
    from PIL import Image

    (case,) = load(folder, 'picture = "x"\n' + CASE + 'buffers.x.output = "exact"')
    pixels = np.array([[0xFF0000FF, 0x8000FF00, 0xFFFF0000]], np.uint32)
    (file,) = save_pictures(case, {"x": pixels}, folder / "out")
    assert file.name == "kernel-a.png"
    with Image.open(file) as image:
        assert [image.getpixel((x, 0)) for x in range(3)] == [(255, 0, 0, 255), (0, 255, 0, 128), (0, 0, 255, 255)]
    with pytest.raises(InputError, match="there is no output 'x'"):
        save_pictures(case, {}, folder)
    with pytest.raises(InputError, match=r"'x' is no picture but float32 of shape \(3,\)"):
        save_pictures(case, {"x": np.zeros(3, np.float32)}, folder)


def test_a_texture_chooses_its_numbers(folder: Path) -> None:
    assert filled(folder, 'shape = [2, 2, 4], dtype = "uint8", integers = [0, 256]').dtype == np.uint8
    with pytest.raises(CaseError, match="must be one of uint8"):
        one(folder, 'dtype = "complex64"')


def test_fields_fill_arrays_of_structures_inside_of_others(folder: Path) -> None:
    inner = np.dtype([("f0", "<f4"), ("f1", "<i4", (2,))])
    outer = np.dtype([("v0", inner, (3,))])
    case = one(folder, 'shape = "n", fields = { v0 = { fields = { f0 = { value = 2 }, f1 = { arange = [0, 1] } } } }')
    found = case.inputs({"x": outer})["x"]
    assert found["v0"]["f0"].tolist() == [[2.0] * 3] * 4
    assert found["v0"]["f1"].ravel().tolist() == list(range(24))


def test_cases_of_functions(tmp_path: Path) -> None:
    (tmp_path / "kernel.hir").write_text("")
    (case,) = load(tmp_path, '[[case]]\nname = "a"\nbuffers.x = { value = 1 }\nbuffers.y = { output = "exact" }')
    assert (case.is_of_function, case.threads, case.workgroups, case.kernel_path.name) == (
        True,
        None,
        None,
        "kernel.hir",
    )
    assert [kernel.path for kernel in load_cases(tmp_path / "kernel.hir")] == [tmp_path / "kernel.hir"]
    assert case.inputs({"x": np.dtype("<f4")}, ["y"]).keys() == {"x"}
    with pytest.raises(CaseError, match=r"buffers\.y: the shader has no such binding"):
        case.inputs({"x": np.dtype("<f4")})
    with pytest.raises(CaseError, match="a function of Hercules IR has no 'workgroups' and no 'threads'"):
        load(tmp_path, '[[case]]\nname = "a"\nthreads = 1')


TEXTURES = """
    @group(0) @binding(0) var x: {type};
    @group(0) @binding(1) var<storage, read_write> n: u32;
    @compute @workgroup_size(1) fn main() {{ n = textureNumLevels(x); }}"""


def levels_of(folder: Path, type: str, buffer: str) -> list[np.ndarray]:
    kernel = tinct.load(TEXTURES.format(type=type))["main"]
    found = one(folder, buffer, "n = 5, faces = 12").inputs_of(kernel.bindings)["x"]
    assert isinstance(found, list)
    count = kernel.run({"x": found, "n": 0}, threads=1, device="interp")["n"]
    assert count == len(found), "the shader takes them"
    return found


def test_mip_levels_have_half_the_extents(folder: Path) -> None:
    image = levels_of(folder, "texture_2d<f32>", 'shape = [4, "n", 4], uniform = [0, 1], levels = "n - 2"')
    assert [it.shape for it in image] == [(4, 5, 4), (2, 2, 4), (1, 1, 4)]
    assert image[0][0, 0, 0] != image[1][0, 0, 0], "each level has values of its own"
    assert [it.dtype for it in image] == [np.float32] * 3
    solid = levels_of(folder, "texture_3d<f32>", "shape = [4, 6, 2], dtype = 'uint8', value = 7, levels = 2")
    assert [(it.shape, it.dtype) for it in solid] == [((4, 6, 2), np.uint8), ((2, 3, 1), np.uint8)]
    cubes = levels_of(folder, "texture_cube_array<f32>", "shape = ['faces', 4, 4, 1], levels = [{ value = 0.5 }, {}]")
    assert [(it.shape, it.max()) for it in cubes] == [((12, 4, 4, 1), 0.5), ((12, 2, 2, 1), 0)]
    layers = levels_of(folder, "texture_depth_2d_array", "shape = [3, 4, 4], levels = 3")
    assert [it.shape for it in layers] == [(3, 4, 4), (3, 2, 2), (3, 1, 1)]


@pytest.mark.parametrize(("buffer", "message"), [
    ("levels = 0", "a texture has 1 to 16 levels"),
    ("levels = 1000000000", "a texture has 1 to 16 levels"),
    ("levels = 'm'", "no size is named 'm'"),
    ("levels = [{ value = 1, arange = [0, 1] }]", "'arange' and 'value' exclude each other"),
    ("levels = [1]", "must be a table, not 1"),
    ("levels = [{ bad = 1 }]", "unknown key 'bad'"),
    ("levels = true", "must be a number or an expression, not True"),
])  # fmt: skip
def test_levels_that_are_none(folder: Path, buffer: str, message: str) -> None:
    with pytest.raises(CaseError, match=message):
        levels_of(folder, "texture_2d<f32>", f"shape = [4, 4, 4], {buffer}")


def test_only_textures_have_levels(folder: Path) -> None:
    with pytest.raises(CaseError, match=r"buffers\.x: only a texture has levels"):
        one(folder, "shape = 4, levels = 2").inputs(FLOATS)
