"""Plans from files, which run without the graph that they were made of."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy.typing as npt

from ...arguments import count_of, mapping_of, path_of, seconds_of
from ...base.cached import cached_property
from ...base.deadline import compiling_within
from ...base.errors import InputError
from ...buffers import pack_binding, unpack_binding
from ...ir import types as wgsl
from ...ir.dataflow.text import parse_type
from ...ir.hints import unknown_name
from ...ir.layout_numbers import shown
from ...ir.source import Source
from ...ir.textures import format_of, pack_header, read_extent
from ...ir.tokens import TextError
from ...kernel import BufferValue, Kernel
from ...reflection import BindingInfo
from ...sessions import Session
from ...sessions.forms import like as without_memory
from ...shader import Shader
from ..machine import HostValue, described, host_value
from ..time_limit import limit_named
from ..wgsl_types import builtin_type
from .checks import check_dispatches, check_plan, unreadable
from .follow import Following
from .plan_file import FORMAT, INPUTS_FOLDER, PLAN_FILE, Input, Output, Place, PlanFile, TextureFile, plan_file
from .texture_types import texture_named, texture_of_texels


@dataclass(frozen=True)
class EmittedPlan:
    """A plan that was read from a file, with the kernels of its WGSL files; see docs/emit.md."""

    file: PlanFile
    kernels: tuple[Kernel, ...]
    folder: Path

    def __repr__(self) -> str:
        return f"<EmittedPlan {self.name}: {', '.join(self.inputs)} -> {', '.join(self.outputs)}>"

    @property
    def name(self) -> str:
        """The name of the graph that it was made of."""
        return self.file.graph

    @cached_property
    def inputs(self) -> dict[str, BindingInfo]:
        """What `run` takes, by name. The sizes must be those of the plan."""
        return {it.name: described(it.name, self._type(it.type, it.writes)) for it in self.file.inputs}

    @cached_property
    def outputs(self) -> dict[str, str]:
        """The types of what `run` returns, by name."""
        return {it.name: it.type for it in self.file.outputs}

    def run(
        self,
        inputs: Mapping[str, BufferValue] | None = None,
        *,
        device: str = "cpu",
        repeat: int = 1,
        timeout: float | None = None,
    ) -> dict[str, npt.NDArray[Any]]:
        """Follow the plan and return its outputs by name, new arrays.

        Inputs that are not given are read from the files of the plan's folder, `inputs/NAME.bin`. A value has one of
        the forms that `Kernel.run` takes; a structure that no kernel of the plan is bound to is an array of words, u32.
        With `repeat`, which a plan for repetitions can have, the outputs in `feeds` become inputs.

        Raises InputError for inputs that do not fit the plan and for dispatches that it refuses, with the name of the
        node, DeviceError and ShaderError.
        """
        executions, seconds = self._executions(repeat), seconds_of(timeout)
        deadline = None if seconds is None else time.monotonic() + seconds
        values = {name: host_value(self.inputs[name], it) for name, it in self._given(inputs).items()}
        packed = {it.name: self._packed(it, values[it.name]) for it in self.file.inputs}
        self._check_facts(packed)
        likes = {name: without_memory(it) for name, it in values.items()}
        with Session() as session, limit_named(self.name, seconds, deadline), compiling_within(seconds):
            following = Following(self.file, self.kernels, self.inputs, session, device, deadline)
            following.begin(packed)
            for number in range(executions):
                if number:
                    following.turn()
                following.execute()
            following.check()
            found = {it.name: (it, self._result(it, following)) for it in self.file.outputs}
        return {
            name: unpack_binding(described(name, self._type(it.type, [it.place])), memoryview(data), likes.get(it.like))
            for name, (it, data) in found.items()
        }

    def _result(self, output: Output, following: Following) -> bytes:
        """The bytes of an output, or the texture."""
        is_texture = output.place.buffer in self.file.textures
        return following.texture(output.place.buffer) if is_texture else following.read(output.place)

    def _executions(self, repeat: int) -> int:
        executions = count_of(repeat, "repeat")
        if executions < 1:
            raise InputError(f"repeat is a number of executions of at least 1, not {executions}")
        if executions > 1 and not self.file.feeds:
            raise InputError(f"plan {self.name!r} was not written for repetitions: emit takes feed={{output: input}}")
        return executions

    def _given(self, inputs: Mapping[str, BufferValue] | None) -> dict[str, BufferValue]:
        given = dict(mapping_of({} if inputs is None else inputs, "inputs", self.inputs))
        for name in given:
            if name not in self.inputs:
                raise InputError(
                    unknown_name(f"plan {self.name!r} has no input named {shown(name)}", name, self.inputs)
                )
        return given | {name: self._from_file(name) for name in self.inputs if name not in given}

    def _from_file(self, name: str) -> bytes:
        path = self.folder / INPUTS_FOLDER / f"{name}.bin"
        try:
            return path.read_bytes()
        except OSError as error:
            raise InputError(f"nothing is given for the input {name!r}, and {path}: {error.strerror}") from None

    def _packed(self, input: Input, value: HostValue) -> bytes:
        """The bytes of a value; of a texture, those that `ir.textures` describes."""
        name, wanted = input.name, input.size
        texture = next((self.file.textures[it.buffer] for it in input.writes if it.buffer in self.file.textures), None)
        if texture is not None:
            return self._packed_texture(input, texture, value)
        packed = bytes(pack_binding(self.inputs[name], value))
        if len(packed) != wanted:
            raise InputError(
                f"{name}: the plan is for {wanted} bytes, not {len(packed)}: write another for other sizes"
            )
        return packed

    def _packed_texture(self, input: Input, texture: TextureFile, value: HostValue) -> bytes:
        name, type = input.name, self.inputs[input.name].type
        if not isinstance(type, wgsl.Texture):
            raise input.fields.error("type", f"no kernel is bound to {name!r} as a {input.type}")
        head = pack_header(type, texture.extent, format_of(type))
        if isinstance(value, bytes):
            if len(value) != input.size:
                raise InputError(f"{name}: the texels of the plan are {input.size} bytes, not {len(value)}")
            return texture_of_texels(type, texture.extent, value)
        packed = bytes(pack_binding(self.inputs[name], value))
        if not packed.startswith(head):
            wanted, given = (" x ".join(map(str, astuple(it))) for it in (texture.extent, read_extent(packed)))
            raise InputError(
                f"{name}: the plan is for {wanted} texels and levels, not {given}: write another for other sizes"
            )
        return packed

    def _check_facts(self, packed: Mapping[str, bytes]) -> None:
        for it in self.file.facts:
            is_signed = it.type == "i32"
            found = int.from_bytes(packed[it.input][it.start : it.start + 4], "little", signed=is_signed)
            if found != it.value:
                raise InputError(
                    f"{it.input}: the plan is for the number {it.value} at byte {it.start}, not {found}: write another "
                    "for other numbers"
                )

    def _type(self, text: str, places: Iterable[Place]) -> wgsl.Type:
        """The type of that name: for a structure, that of a binding at one of the places, or else words."""
        texture = texture_named(text) if text.startswith("texture_") else None
        if texture is not None:
            return texture
        try:
            type = builtin_type(parse_type(text))
        except (TextError, ValueError, IndexError):
            type = None
        if type is not None:
            return type
        at = {(it.buffer, it.offset) for it in places} | set(self._constant_places(text))
        for step in self.file.dispatches:
            infos = {(it.group, it.binding): it for it in self.kernels[step.kernel].bindings}
            for bound in step.bindings:
                info = infos[bound.group, bound.binding]
                if (bound.place.buffer, bound.place.offset) in at and str(info.type) == text:
                    return info.type
        return wgsl.array(wgsl.U32, None)

    def _constant_places(self, type: str) -> Iterator[tuple[int, int]]:
        """The places of constants that are inputs of that type as a whole."""
        sizes = {it.name: it.size for it in self.file.inputs if it.type == type}
        for it in self.file.constants:
            if any(piece.offset == 0 and piece.size == sizes.get(piece.input) for piece in it.pieces):
                yield it.place.buffer, it.place.offset


def is_plan(source: Source) -> bool:
    """Whether a text is, or begins like, a plan in JSON."""
    return f'"{FORMAT}"'.encode() in source.data[:200] and source.data.lstrip().startswith(b"{")


def load_plan(path: str | PathLike[str]) -> EmittedPlan:
    """The plan of a folder that `emit` has written, or of its `plan.json`, with its WGSL files beside it.

    Raises InputError, which names the file and the field, ShaderError for WGSL, and OSError for a `plan.json` that
    cannot be read.
    """
    given = path_of(path)
    return read_plan(Source.from_file(given / PLAN_FILE if given.is_dir() else given))


def read_plan(source: Source) -> EmittedPlan:
    """The plan of a source, whose name is the path of its file. Raises InputError, and ShaderError for its WGSL."""
    try:
        value: object = json.loads(source.data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source.name}: this is no JSON: {error}") from None
    plan, folder = plan_file(value, source.name), Path(source.name).parent
    check_plan(plan)
    kernels = tuple(_kernel(plan, number, folder) for number in range(len(plan.kernels)))
    check_dispatches(plan, kernels)
    return EmittedPlan(plan, kernels, folder)


def _kernel(plan: PlanFile, number: int, folder: Path) -> Kernel:
    written = plan.kernels[number]
    try:
        source = Source.from_file(folder / written.file)
    except (OSError, ValueError) as error:
        raise unreadable(plan, number, error) from None
    try:
        return Shader(source)[written.entry]
    except InputError as error:
        raise written.fields.error("entry", str(error)) from None
