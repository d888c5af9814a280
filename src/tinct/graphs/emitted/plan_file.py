"""The format of emitted plans as classes, and the reader of `plan.json`. docs/emit.md says what each field means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from ...backend.gpu.binding_headers import SAMPLES
from ...base.errors import InputError
from ...ir.limits import MOST_WORKGROUPS
from ...ir.samplers import Sampler, sampler_from
from ...ir.textures import MOST_LEVELS, TextureExtent
from ..arithmetic import ResultForm
from ..emitting_handles import SAMPLER_WORDS
from .fields import Fields

FORMAT: Final = "tinct plan"
FORMAT_VERSION: Final = 6
"""The version of the format, `version` in `plan.json`. It changes when a program that reads the format must."""
PLAN_FILE: Final = "plan.json"
INPUTS_FOLDER: Final = "inputs"
_ERROR_BYTES: Final = 16
_LARGEST_EXTENT: Final = 1 << 14
_ARGUMENT_BYTES: Final = 12


@dataclass(frozen=True, slots=True)
class Place:
    """`size` bytes of a buffer from `offset` on. `fields` are those that it was read from, for messages."""

    fields: Fields
    buffer: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class KernelFile:
    """A kernel: its file, its entry point, and its bindings, as pairs of group and binding."""

    fields: Fields
    file: str
    entry: str
    bindings: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Input:
    """An input, and where its bytes are written before a run."""

    fields: Fields
    name: str
    type: str
    size: int
    writes: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class InputPiece:
    """`size` bytes of an input from `start` on, which are put over a constant's data at `offset`."""

    fields: Fields
    input: str
    start: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class ConstantData:
    """What is written to a place before a run."""

    place: Place
    data: bytes
    pieces: tuple[InputPiece, ...]


@dataclass(frozen=True, slots=True)
class InputFact:
    """The number, a u32 or an i32, that must stand at `start` of an input's bytes."""

    fields: Fields
    input: str
    start: int
    type: str
    value: int


@dataclass(frozen=True, slots=True)
class Indirect:
    """Where the numbers of workgroups of a dispatch are. `number` is its name in errors."""

    place: Place
    number: int
    capacity: int | None


@dataclass(frozen=True, slots=True)
class Computes:
    """The number that a dispatch computes, in words, and how it leaves it. `number` is its name in errors."""

    number: int
    text: str
    form: ResultForm


@dataclass(frozen=True, slots=True)
class DispatchPlace:
    """A part of a buffer at `@group(group) @binding(binding)`."""

    group: int
    binding: int
    place: Place


@dataclass(frozen=True, slots=True)
class DispatchStep:
    """A dispatch of the kernel with that number, of so many workgroups, or of as many as a buffer says."""

    fields: Fields
    node: str
    kernel: int
    workgroups: tuple[int, ...] | Indirect
    bindings: tuple[DispatchPlace, ...]
    computes: Computes | None

    def has_number(self, number: int) -> bool:
        """Whether that is its name in errors."""
        named = self.workgroups if isinstance(self.workgroups, Indirect) else self.computes
        return named is not None and named.number == number


@dataclass(frozen=True, slots=True)
class ClearStep:
    """Zeros for a place."""

    target: Place


@dataclass(frozen=True, slots=True)
class CopyStep:
    """A copy between places of one size."""

    source: Place
    target: Place


@dataclass(frozen=True, slots=True)
class TextureCopyStep:
    """A copy of a whole texture to another one, which has its format and size; both by their numbers."""

    fields: Fields
    source: int
    target: int


FileStep: TypeAlias = DispatchStep | ClearStep | CopyStep | TextureCopyStep


@dataclass(frozen=True, slots=True)
class Output:
    """An output: where it lies after the last step, and the input whose shape it has, if there is one."""

    name: str
    type: str
    place: Place
    like: str


@dataclass(frozen=True, slots=True)
class TextureFile:
    """A texture that a plan has in place of a buffer, in WebGPU's words. The texels of inputs have `texel_bytes` each;
    `is_drawn` says that they are drawn, since WebGPU copies none into such a texture.
    """

    fields: Fields
    format: str
    view: str
    extent: TextureExtent
    texel_bytes: int
    is_drawn: bool

    def is_like(self, other: TextureFile) -> bool:
        """Whether one may have the place of the other."""
        return (self.format, self.view, self.extent) == (other.format, other.view, other.extent)


@dataclass(frozen=True, slots=True)
class PlanFile:
    """The whole of `plan.json`. Other fields name buffers, some of which are textures and samplers, by their places in
    `sizes`.
    """

    fields: Fields
    graph: str
    kernels: tuple[KernelFile, ...]
    sizes: tuple[int, ...]
    textures: dict[int, TextureFile]
    samplers: dict[int, Sampler]
    constants: tuple[ConstantData, ...]
    inputs: tuple[Input, ...]
    facts: tuple[InputFact, ...]
    steps: tuple[FileStep, ...]
    outputs: tuple[Output, ...]
    errors: tuple[Place, ...]
    feeds: tuple[tuple[str, str], ...]
    rotations: tuple[tuple[int, ...], ...]

    @property
    def dispatches(self) -> list[DispatchStep]:
        """The steps that are dispatches."""
        return [it for it in self.steps if isinstance(it, DispatchStep)]


def plan_file(value: object, file: str) -> PlanFile:
    """The plan of a JSON value. Raises InputError, which names the file and the field."""
    fields = Fields.of(value, file)
    _check_version(fields)
    buffers = fields.children("buffers")
    return PlanFile(
        fields,
        fields.text("graph"),
        tuple(map(_kernel, fields.children("kernels"))),
        tuple(it.number("size") for it in buffers),
        {number: _texture(it.child("texture")) for number, it in enumerate(buffers) if it.has("texture")},
        {number: _sampler(it) for number, it in enumerate(buffers) if it.has("sampler")},
        tuple(map(_constant, fields.children("constants"))),
        tuple(map(_input, fields.children("inputs"))),
        tuple(map(_fact, fields.children("facts"))),
        tuple(map(_step, fields.children("steps"))),
        tuple(map(_output, fields.children("outputs"))),
        tuple(_place(it, _ERROR_BYTES) for it in fields.children("errors")),
        tuple((it.text("output"), it.text("input")) for it in fields.children("feeds")),
        fields.lists("rotations"),
    )


def _check_version(fields: Fields) -> None:
    if fields.text("format") != FORMAT:
        raise fields.error("format", f"expected {FORMAT!r}, not {fields.text('format')!r}")
    version = fields.number("version")
    if version != FORMAT_VERSION:
        raise fields.error("version", f"this is version {version} of the format; version {FORMAT_VERSION} is known")


def _place(fields: Fields, size: int | None = None) -> Place:
    length = fields.number("size") if size is None else size
    return Place(fields, fields.number("buffer"), fields.number("offset"), length)


def _texture(fields: Fields) -> TextureFile:
    size, levels = fields.numbers("size"), fields.number("levels", most=MOST_LEVELS)
    if len(size) != 3 or not min(*size, levels) or max(size) > _LARGEST_EXTENT:
        raise fields.error("size", f"expected three extents from 1 to {_LARGEST_EXTENT:,}, and a level")
    if levels > max(size).bit_length():
        raise fields.error("levels", f"textures of that size have at most {max(size).bit_length()} levels")
    texel_bytes = fields.number("texelBytes", most=64)
    samples = fields.number("samples", most=SAMPLES) if fields.has("samples") else 1
    if samples not in (1, SAMPLES):
        raise fields.error("samples", f"a texel has 1 or {SAMPLES} samples, not {samples}")
    extent = TextureExtent(*size, samples if samples > 1 else levels)
    format, view = fields.text("format"), fields.text("viewDimension")
    return TextureFile(fields, format, view, extent, texel_bytes, fields.has("draw"))


def _sampler(fields: Fields) -> Sampler:
    given = fields.child("sampler").values
    names = {word: name for name, word in SAMPLER_WORDS.items()}
    try:
        return sampler_from({names.get(word, word): it for word, it in given.items()})
    except InputError as error:
        raise fields.error("sampler", str(error)) from None


def _kernel(fields: Fields) -> KernelFile:
    bindings = tuple((it.number("group"), it.number("binding")) for it in fields.children("bindings"))
    return KernelFile(fields, fields.text("file"), fields.text("entry"), bindings)


def _input(fields: Fields) -> Input:
    size = fields.number("size")
    writes = tuple(_place(it, size) for it in fields.children("writes"))
    return Input(fields, fields.text("name"), fields.text("type"), size, writes)


def _constant(fields: Fields) -> ConstantData:
    try:
        data = bytes.fromhex(fields.text("data"))
    except ValueError:
        raise fields.error("data", "expected pairs of hexadecimal digits") from None
    pieces = tuple(map(_piece, fields.children("pieces")))
    return ConstantData(_place(fields, len(data)), data, pieces)


def _piece(fields: Fields) -> InputPiece:
    numbers = (fields.number(it) for it in ("start", "offset", "size"))
    return InputPiece(fields, fields.text("input"), *numbers)


def _fact(fields: Fields) -> InputFact:
    type = fields.text("type")
    if type not in ("u32", "i32"):
        raise fields.error("type", f"expected 'u32' or 'i32', not {type!r}")
    return InputFact(fields, fields.text("input"), fields.number("start"), type, fields.integer("value"))


def _step(fields: Fields) -> FileStep:
    match fields.text("do"):
        case "dispatch":
            bindings = tuple(
                DispatchPlace(it.number("group"), it.number("binding"), _place(it))
                for it in fields.children("bindings")
            )
            kernel, computes = fields.number("kernel"), _computes(fields)
            return DispatchStep(fields, fields.text("node"), kernel, _workgroups(fields), bindings, computes)
        case "clear":
            return ClearStep(_place(fields))
        case "copy":
            size = fields.number("size")
            return CopyStep(_place(fields.child("source"), size), _place(fields.child("target"), size))
        case "copy-texture":
            return TextureCopyStep(
                fields, fields.child("source").number("buffer"), fields.child("target").number("buffer")
            )
        case unknown:
            raise fields.error("do", f"a step is a dispatch, clear, copy or copy-texture, not {unknown!r}")


def _workgroups(fields: Fields) -> tuple[int, ...] | Indirect:
    if fields.has("indirect"):
        found = fields.child("indirect")
        capacity = None if found.values.get("capacity") is None else found.number("capacity")
        return Indirect(_place(found, _ARGUMENT_BYTES), found.number("number"), capacity)
    counts = fields.numbers("workgroups")
    if len(counts) != 3 or max(counts) > MOST_WORKGROUPS:
        raise fields.error("workgroups", f"expected three numbers of at most {MOST_WORKGROUPS:,}, not {list(counts)}")
    return counts


def _computes(fields: Fields) -> Computes | None:
    if not fields.has("computes"):
        return None
    found = fields.child("computes")
    form = found.text("form").upper()
    if form not in ResultForm.__members__:
        known = ", ".join(it.lower() for it in ResultForm.__members__)
        raise found.error("form", f"expected one of {known}, not {found.text('form')!r}")
    return Computes(found.number("number"), found.text("text"), ResultForm[form])


def _output(fields: Fields) -> Output:
    like = fields.text("like") if fields.has("like") else ""
    return Output(fields.text("name"), fields.text("type"), _place(fields), like)
