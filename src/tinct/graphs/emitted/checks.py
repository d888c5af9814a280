"""Which numbers of an emitted plan must fit together. Each check raises InputError, which names the file and field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from ...backend.gpu.binding_headers import view_dimension
from ...base.errors import InputError
from ...ir.textures import format_of, is_depth, is_multisampled, is_written, level_starts
from ...ir.types import Sampler, Texture
from ...kernel import Kernel
from ...reflection import BindingInfo
from ..placing import ALIGNMENT
from .fields import Fields
from .plan_file import ClearStep, CopyStep, DispatchStep, InputPiece, Place, PlanFile, TextureFile


def check_plan(plan: PlanFile) -> None:
    """Check places, pieces, facts, feeds and rotations."""
    for place, alignment in _places(plan):
        _check_place(place, plan, alignment)
    for place in _plain_places(plan):
        if place.buffer in plan.textures or place.buffer in plan.samplers:
            raise place.fields.error("buffer", f"{place.buffer} is no buffer, but a texture or a sampler")
    for number in {*plan.textures, *plan.samplers} & {it for rotation in plan.rotations for it in rotation}:
        raise plan.fields.error("rotations", f"{number} is no buffer, but a texture or a sampler")
    _check_names(plan)
    sizes = {it.name: it.size for it in plan.inputs}
    for constant in plan.constants:
        for piece in constant.pieces:
            _check_piece(piece, sizes, len(constant.data))
    for fact in plan.facts:
        size = _size_of(fact.input, sizes, fact.fields)
        if fact.start + 4 > size:
            raise fact.fields.error("start", f"the input {fact.input!r} has {size} bytes")
    _check_feeds(plan, sizes)
    _check_rotations(plan)
    for step in plan.dispatches:
        if step.kernel >= len(plan.kernels):
            raise step.fields.error("kernel", f"there is no kernel {step.kernel}, but {len(plan.kernels)} kernels")


def check_dispatches(plan: PlanFile, kernels: tuple[Kernel, ...]) -> None:
    """Check what dispatches bind against the kernels of the WGSL files."""
    for step in plan.dispatches:
        kernel = kernels[step.kernel]
        bound = {(it.group, it.binding): it for it in step.bindings}
        wanted = {(it.group, it.binding): it for it in kernel.bindings}
        if bound.keys() != wanted.keys() or len(bound) != len(step.bindings):
            places = ", ".join(f"({group}, {binding})" for group, binding in wanted) or "nothing"
            raise step.fields.error("bindings", f"{kernel.info.name!r} takes {places} as (group, binding)")
        for key, info in wanted.items():
            if _check_handle(plan, bound[key].place, info):
                continue
            size = bound[key].place.size
            if size < info.minimum_size:
                message = f"{info.name}: {info.type} needs at least {info.minimum_size} bytes"
                raise bound[key].place.fields.error("size", message)


def _check_handle(plan: PlanFile, place: Place, info: BindingInfo) -> bool:
    """Whether a binding is a texture or a sampler; InputError if what it is bound to is another thing."""
    texture, sampler = plan.textures.get(place.buffer), plan.samplers.get(place.buffer)
    match info.type:
        case Texture() if texture is not None:
            _check_texture(plan, place, texture, info.type)
        case Sampler() if sampler is not None and (sampler.compare is not None) == info.type.comparison:
            pass
        case _ if texture is not None or sampler is not None or isinstance(info.type, (Texture, Sampler)):
            raise place.fields.error("buffer", f"{place.buffer} cannot be bound as {info.name}, a {info.type}")
        case _:
            return False
    return True


def _check_texture(plan: PlanFile, place: Place, given: TextureFile, wanted: Texture) -> None:
    form = format_of(wanted)
    if (given.format, given.view, given.texel_bytes) != (form.name, view_dimension(wanted), form.bytes):
        what = f"{given.format}, {given.view} and {given.texel_bytes} bytes a texel do not fit {wanted}"
        raise given.fields.error("format", what)
    size = level_starts(wanted, given.extent)[-1] * form.bytes
    if is_written(wanted) or is_multisampled(wanted) or is_depth(wanted):
        raise place.fields.error("buffer", f"not supported: {wanted} in a plan")
    if (plan.sizes[place.buffer], place.offset, place.size) != (size, 0, size):
        raise place.fields.error("size", f"a texture is bound as a whole, and its texels are {size} bytes")


def _places(plan: PlanFile) -> Iterator[tuple[Place, int]]:
    """All places, with what their offsets are multiples of."""
    for it in plan.inputs:
        yield from ((place, ALIGNMENT) for place in it.writes)
    yield from ((it.place, ALIGNMENT) for it in plan.constants)
    yield from ((it.place, ALIGNMENT) for it in plan.outputs)
    yield from ((it, ALIGNMENT) for it in plan.errors)
    for step in plan.steps:
        match step:
            case DispatchStep():
                yield from ((it.place, ALIGNMENT) for it in step.bindings)
                if not isinstance(step.workgroups, tuple):
                    yield step.workgroups.place, 4
            case ClearStep(target):
                yield target, 4
            case CopyStep(source, target):
                yield source, 4
                yield target, 4
            case _:
                assert_never(step)


def _plain_places(plan: PlanFile) -> Iterator[Place]:
    """The places that are in buffers: of all but bindings and inputs."""
    yield from (it.place for it in plan.constants)
    yield from (it.place for it in plan.outputs)
    yield from plan.errors
    for step in plan.steps:
        match step:
            case DispatchStep():
                if not isinstance(step.workgroups, tuple):
                    yield step.workgroups.place
            case ClearStep(target):
                yield target
            case CopyStep(source, target):
                yield from (source, target)
            case _:
                assert_never(step)


def _check_place(place: Place, plan: PlanFile, alignment: int) -> None:
    if place.buffer >= len(plan.sizes):
        raise place.fields.error("buffer", f"there is no buffer {place.buffer}, but {len(plan.sizes)} buffers")
    size = plan.sizes[place.buffer]
    if place.offset + place.size > size:
        what = f"{place.size} bytes from {place.offset} on do not fit into the {size} bytes of buffer {place.buffer}"
        raise place.fields.error("offset", what)
    if place.offset % alignment:
        raise place.fields.error("offset", f"{place.offset} is no multiple of {alignment}")


def _check_names(plan: PlanFile) -> None:
    for field, names in (("inputs", [it.name for it in plan.inputs]), ("outputs", [it.name for it in plan.outputs])):
        for name in names:
            if names.count(name) > 1:
                raise plan.fields.error(field, f"{name!r} is there twice")


def _size_of(name: str, sizes: Mapping[str, int], fields: Fields) -> int:
    if name not in sizes:
        raise fields.error("input", f"there is no input {name!r}")
    return sizes[name]


def _check_piece(piece: InputPiece, sizes: Mapping[str, int], length: int) -> None:
    size = _size_of(piece.input, sizes, piece.fields)
    if piece.start + piece.size > size:
        raise piece.fields.error("start", f"the input {piece.input!r} has {size} bytes")
    if piece.offset + piece.size > length:
        raise piece.fields.error("offset", f"the data has {length} bytes")


def _check_feeds(plan: PlanFile, sizes: Mapping[str, int]) -> None:
    outputs = {it.name: it.place.size for it in plan.outputs}
    for number, (output, name) in enumerate(plan.feeds):
        field = f"feeds[{number}]"
        if output not in outputs:
            raise plan.fields.error(field, f"there is no output {output!r}")
        if name not in sizes:
            raise plan.fields.error(field, f"there is no input {name!r}")


def _check_rotations(plan: PlanFile) -> None:
    seen: set[int] = set()
    for number, rotation in enumerate(plan.rotations):
        field = f"rotations[{number}]"
        for it in rotation:
            if it >= len(plan.sizes):
                raise plan.fields.error(field, f"there is no buffer {it}, but {len(plan.sizes)} buffers")
            if it in seen:
                raise plan.fields.error(field, f"buffer {it} changes places twice")
            seen.add(it)
        if len({plan.sizes[it] for it in rotation}) > 1:
            raise plan.fields.error(field, "buffers that change places have one size")


def unreadable(plan: PlanFile, number: int, error: OSError | ValueError) -> InputError:
    """The error of a WGSL file that cannot be read."""
    kernel = plan.kernels[number]
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return kernel.fields.error("file", f"cannot read {kernel.file!r}: {reason}")
