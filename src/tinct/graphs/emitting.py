"""Writes a graph for given inputs as WGSL files and a plan in JSON, for programs that have WebGPU and nothing of ours.

docs/emit.md describes the format. It is a `Plan` in the terms of WebGPU: buffers with their usages, and steps that are
dispatches, `clearBuffer`, `copyBufferToBuffer` or `copyTextureToTexture`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from ..arguments import path_of
from ..buffers import pack_binding
from ..ir.layout import member_offsets, size_of, stride_of
from ..ir.textures import read_extent
from ..ir.types import Array, Atomic, Sampler, Struct, Texture, Type, Vector
from ..kernel import BufferValue
from ..reflection import BindingInfo
from .emitted.plan_file import FORMAT, FORMAT_VERSION, INPUTS_FOLDER, PLAN_FILE
from .emitting_handles import (
    check_handles,
    drawing_file,
    drawing_wgsl,
    features_for,
    filters,
    is_drawn,
    resource_of,
    rows_of,
    texel_bytes,
    texels,
    texture_type,
)
from .emitting_kernels import EmittedKernels
from .indirect import indirect_buffers, indirect_kernel
from .machine import HostValue, host_value
from .plan import Arguments, Dispatch, Fact, Fill, Handle, Plan, PlanInput, Transfer

if TYPE_CHECKING:
    from .builder import Graph
    from .program import GraphProgram

_MULTIPLE: Final = 4
"""Sizes that WebGPU's `clearBuffer` and bindings take are multiples of this many bytes."""
_USAGES: Final = (
    "STORAGE",
    "UNIFORM",
    "INDIRECT",
    "TEXTURE_BINDING",
    "STORAGE_BINDING",
    "RENDER_ATTACHMENT",
    "COPY_SRC",
    "COPY_DST",
)
Json: TypeAlias = dict[str, Any]


def emit(
    graph: Graph | GraphProgram,
    folder: str | PathLike[str],
    inputs: Mapping[str, BufferValue],
    *,
    feed: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write a graph for inputs of these sizes to a folder, which is made: `plan.json`, a WGSL file for each kernel, and
    the bytes of the inputs in `inputs/NAME.bin`. Returns the files.

    `feed` has outputs with the inputs that they become in the next execution, as `graph.run(repeat=…)` takes it. The
    plan then says which buffers change places.

    Raises InputError for inputs that do not fit and for graphs that no such plan can hold, ShaderError for kernels that
    cannot be written, and OSError.
    """
    program = _whole(graph).executed(inputs, feed)
    target = path_of(folder)
    plan = program.plan(inputs, device="gpu", feed=feed)
    check_handles(plan)
    writer = _Writer(program, plan)
    content = writer.content()
    given = {name: host_value(info, inputs[name]) for name, info in program.inputs.items()}
    files = {
        target / PLAN_FILE: _json(content).encode(),
        **{target / name: text.encode() for name, text in writer.texts().items()},
        **{
            target / INPUTS_FOLDER / f"{it['name']}.bin": _input_bytes(program.inputs[it["name"]], given[it["name"]])
            for it in content["inputs"]
        },
    }
    (target / INPUTS_FOLDER).mkdir(parents=True, exist_ok=True)
    for path, data in files.items():
        path.write_bytes(data)
    return list(files)


def _input_bytes(info: BindingInfo, value: HostValue) -> bytes:
    """What the file of an input has."""
    packed = bytes(pack_binding(info, value))
    return texels(info.name, info.type, packed) if isinstance(info.type, Texture) else packed


def _whole(graph: Graph | GraphProgram) -> GraphProgram:
    from .builder import Graph

    return graph.program if isinstance(graph, Graph) else graph


class _Writer:
    """A plan as JSON."""

    def __init__(self, program: GraphProgram, plan: Plan) -> None:
        self._program = program
        self._plan = plan
        self.kernels = EmittedKernels(program, is_filtered=filters(plan))
        self._usages: list[set[str]] = [set() for _ in plan.allocations]
        self._sizes = [_rounded(it.size) for it in plan.allocations]
        self._handles = {it.allocation: it.handle for it in plan.buffers if it.handle is not None}
        for allocation, handle in self._handles.items():
            self._sizes[allocation] = texel_bytes(handle)
        self._is_filtered = filters(plan)
        self._features: set[str] = set()

    def texts(self) -> dict[str, str]:
        """The WGSL files, by name, when `content` was made."""
        types = [type for it in self._handles.values() if (type := texture_type(it)) is not None and is_drawn(type)]
        return self.kernels.texts | {drawing_file(it): drawing_wgsl(it) for it in types}

    def content(self) -> Json:
        """The whole of `plan.json`. Raises InputError and ShaderError."""
        plan = self._plan
        constants = [self._constant(number) for number in range(len(plan.constants))]
        inputs = [self._input(it) for it in plan.inputs if self._is_given(it)]
        steps = [made for number, it in enumerate(plan.steps) for made in self._steps(number, it)]
        outputs = list(self._outputs())
        errors = [self._place(it, "COPY_SRC") for it in plan.errors]
        for rotation in plan.rotations:
            together = set[str]().union(*(self._usages[it] for it in rotation))
            for it in rotation:
                self._usages[it] = together
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "graph": plan.graph,
            "features": [*(["shader-f16"] if self.kernels.has_f16 else []), *sorted(self._features)],
            "limits": self.kernels.limits,
            "kernels": self.kernels.described,
            "buffers": self._buffers(),
            "constants": constants,
            "inputs": inputs,
            "facts": [self._fact(it) for it in plan.facts],
            "steps": steps,
            "outputs": outputs,
            "errors": errors,
            "feeds": [{"output": output, "input": name} for output, name in plan.feeds],
            "rotations": [list(it) for it in plan.rotations],
        }

    def _buffers(self) -> list[Json]:
        made = [
            {"size": size, "usage": [name for name in _USAGES if name in usage], "kind": it.kind}
            for it, size, usage in zip(self._plan.allocations, self._sizes, self._usages, strict=True)
        ]
        return [
            {**it, **({} if number not in self._handles else resource_of(self._handles[number]))}
            for number, it in enumerate(made)
        ]

    def _is_given(self, it: PlanInput) -> bool:
        """Whether the plan has an input: a sampler is part of the plan, and of textures those that a node reads."""
        type = self._program.inputs[it.name].type
        return not isinstance(type, Sampler) and (bool(it.buffers) or not isinstance(type, Texture))

    def _input(self, it: PlanInput) -> Json:
        info = self._program.inputs[it.name]
        places = [self._place(buffer, self._written_by(buffer)) for buffer in it.buffers]
        sizes = [self._sizes[place["buffer"]] for place in places if place["buffer"] in self._handles]
        return {"name": it.name, "type": str(info.type), "size": sizes[0] if sizes else it.size, "writes": places}

    def _written_by(self, buffer: int) -> str:
        """The usage for an input: its bytes are copied, or drawn."""
        type = texture_type(self._plan.buffers[buffer].handle)
        return "RENDER_ATTACHMENT" if type is not None and is_drawn(type) else "COPY_DST"

    def _constant(self, number: int) -> Json:
        it = self._plan.constants[number]
        pieces = [
            {"input": piece.input, "start": piece.start, "offset": piece.offset, "size": piece.size}
            for piece in it.pieces
        ]
        label = self._plan.buffers[it.buffer].label
        return {"label": label, **self._place(it.buffer, "COPY_DST"), "data": it.data.hex(), "pieces": pieces}

    def _fact(self, fact: Fact) -> Json:
        """A number of an input that the plan depends on, and where it is in the input's bytes."""
        start, type = _part(self._program.inputs[fact.input].type, fact.path)
        return {"input": fact.input, "start": start, "type": str(type), "value": fact.value}

    def _outputs(self) -> Iterator[Json]:
        for it in self._plan.outputs:
            type, size = self._program.outputs[it.name], self._plan.buffers[it.buffer].size
            place, handle = self._place(it.buffer, "COPY_SRC"), self._plan.buffers[it.buffer].handle
            described = {"size": size} if handle is None else rows_of(handle)
            yield {"name": it.name, "type": type, "like": it.like, **described, **place}

    def _steps(self, number: int, step: Dispatch | Fill | Transfer) -> list[Json]:
        """A step, and what makes its numbers of workgroups before it."""
        match step:
            case Fill(buffer):
                place = self._place(buffer, "COPY_DST")
                return [{"do": "clear", **place, "size": _rounded(self._plan.buffers[buffer].size)}]
            case Transfer():
                source = self._place(step.source, "COPY_SRC", step.source_offset)
                target = self._place(step.target, "COPY_DST", step.target_offset)
                handle = self._plan.buffers[step.source].handle
                copy = {"do": "copy", "source": source, "target": target, "size": step.size, "why": step.why}
                return [copy if handle is None else self._texture_copy(copy, handle)]
            case Dispatch():
                infos = {it.name: it for it in self._program.links.kernel(step.leaf).bindings}
                bindings = [self._binding(it.buffer, infos[it.name]) for it in step.bindings]
                grid = self._grid(number, step)
                dispatch = {"do": "dispatch", "node": "/".join(step.path), "kernel": self.kernels.number(step)}
                maker = [] if step.arguments is None else [self._maker(step, step.arguments)]
                return [*maker, {**dispatch, **grid, "bindings": bindings}]

    @staticmethod
    def _texture_copy(copy: Json, handle: Handle) -> Json:
        """A copy of a whole texture, which a node may write: it has one level."""
        extent = read_extent(handle.head)
        size = [extent.width, extent.height, extent.depth]
        places = {name: {"buffer": copy[name]["buffer"]} for name in ("source", "target")}
        return {**copy, **places, "do": "copy-texture", "size": size}

    def _grid(self, number: int, step: Dispatch) -> Json:
        """The numbers of workgroups of a dispatch, or where these are; and what it computes, if it is our kernel's."""
        if step.arguments is None:
            made = step.computes
            computes = None if made is None else {"number": number, "text": made.text, "form": made.form.name.lower()}
            return {"workgroups": step.workgroups, **({} if computes is None else {"computes": computes})}
        place = self._place(step.arguments.workgroups, "INDIRECT")
        return {"indirect": {**place, "number": number, "capacity": step.capacity}}

    def _maker(self, step: Dispatch, arguments: Arguments) -> Json:
        buffers = indirect_buffers(step, arguments)
        bindings = [self._binding(buffers[it.name], it) for it in indirect_kernel().bindings]
        kernel, node = self.kernels.indirect, "/".join(step.path)
        return {"do": "dispatch", "node": node, "kernel": kernel, "workgroups": [1, 1, 1], "bindings": bindings}

    def _binding(self, buffer: int, info: BindingInfo) -> Json:
        if isinstance(info.type, (Texture, Sampler)):
            return self._handle_binding(buffer, info)
        place = self._place(buffer, "UNIFORM" if info.space == "uniform" else "STORAGE")
        size = max(_rounded(self._plan.buffers[buffer].size), info.minimum_size)
        allocation = place["buffer"]
        self._sizes[allocation] = max(self._sizes[allocation], place["offset"] + size)
        return {"group": info.group, "binding": info.binding, **place, "size": size}

    def _handle_binding(self, buffer: int, info: BindingInfo) -> Json:
        """A texture as a whole, or a sampler."""
        allocation = self._plan.buffers[buffer].allocation
        if isinstance(info.type, Texture):
            self._usages[allocation].add("TEXTURE_BINDING" if info.type.format is None else "STORAGE_BINDING")
            self._features |= features_for(info.type, self._handles[allocation], is_filtered=self._is_filtered)
        size = self._sizes[allocation]
        return {"group": info.group, "binding": info.binding, "buffer": allocation, "offset": 0, "size": size}

    def _place(self, buffer: int, usage: str, offset: int = 0) -> dict[str, int]:
        """Where a buffer of the plan lies, which is used so."""
        it = self._plan.buffers[buffer]
        self._usages[it.allocation].add(usage)
        return {"buffer": it.allocation, "offset": it.offset + offset}


def _rounded(size: int) -> int:
    return -(-max(size, 1) // _MULTIPLE) * _MULTIPLE


def _part(type: Type, path: Sequence[str | int]) -> tuple[int, Type]:
    """Where a part of a value begins, in bytes, and its type."""
    start = 0
    for selector in path:
        match type:
            case Struct():
                number = [it.name for it in type.members].index(str(selector))
                start, type = start + member_offsets(type)[number], type.members[number].type
            case Array():
                start, type = start + int(selector) * stride_of(type), type.element
            case _:
                assert isinstance(type, Vector)
                start, type = start + int(selector) * size_of(type.element), type.element
    return start, type.element if isinstance(type, Atomic) else type


def _json(content: Json) -> str:
    """JSON with a line for each entry of a list."""
    parts: list[str] = []
    for key, value in content.items():
        text = json.dumps(value)
        if text.startswith("[{"):
            entries = ",\n".join(f"  {json.dumps(it)}" for it in cast("list[object]", value))
            text = f"[\n{entries}\n ]"
        parts.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"
