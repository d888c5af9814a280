"""Which numbers of an emitted plan must fit together. Each check raises InputError, which names the file and field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from ...backend.gpu.binding_headers import view_dimension
from ...base.errors import InputError
from ...ir.textures import format_of, is_multisampled, is_sampled_as, level_starts
from ...ir.types import Sampler, Texture
from ...kernel import Kernel
from ...reflection import BindingInfo
from ..emitting_handles import is_drawn, texture_format
from ..placing import ALIGNMENT
from .fields import Fields
from .plan_file import (
    ClearStep,
    CopyStep,
    DispatchStep,
    InputPiece,
    Place,
    PlanFile,
    TextureCopyStep,
    TextureFile,
)
from .texture_types import storage_type


def check_plan(plan: PlanFile) -> None:
    """Check places, pieces, facts, feeds and rotations."""
    for place, alignment in _places(plan):
        _check_place(place, plan, alignment)
    for place in _plain_places(plan):
        if place.buffer in plan.textures or place.buffer in plan.samplers:
            raise place.fields.error("buffer", f"{place.buffer} is no buffer, but a texture or a sampler")
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
    for step in plan.steps:
        if isinstance(step, TextureCopyStep):
            _check_texture_copy(plan, step)
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
    if not _fits(given, wanted):
        what = f"{given.format}, {given.view} and {given.texel_bytes} bytes a texel do not fit {wanted}"
        raise given.fields.error("format", what)
    size = level_starts(wanted, given.extent)[-1] * given.texel_bytes
    size //= given.extent.count if is_multisampled(wanted) else 1
    if (plan.sizes[place.buffer], place.offset, place.size) != (size, 0, size):
        raise place.fields.error("size", f"a texture is bound as a whole, and its texels are {size} bytes")


def _fits(given: TextureFile, wanted: Texture) -> bool:
    """Whether a texture may be bound: it has the format, or is a storage texture that may be sampled."""
    samples = given.extent.count if is_multisampled(wanted) else 1
    texel_bytes = format_of(wanted).bytes * samples
    found = given.format, given.view, given.texel_bytes, given.is_drawn
    if found == (texture_format(wanted), view_dimension(wanted), texel_bytes, is_drawn(wanted)):
        return True
    if given.is_drawn or wanted.format is not None:
        return False
    type = storage_type(given)
    return given.texel_bytes == format_of(type).bytes and is_sampled_as(type, wanted)


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
            case TextureCopyStep():
                pass
            case _:
                assert_never(step)


def _plain_places(plan: PlanFile) -> Iterator[Place]:
    """The places that are in buffers: of all but bindings, inputs, and outputs that are textures."""
    yield from (it.place for it in plan.constants)
    yield from (it.place for it in plan.outputs if it.place.buffer not in plan.textures)
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
            case TextureCopyStep():
                pass
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


def _check_texture_copy(plan: PlanFile, step: TextureCopyStep) -> None:
    source, target = plan.textures.get(step.source), plan.textures.get(step.target)
    if source is None or target is None or not source.is_like(target):
        message = f"{step.source} and {step.target} are no two textures of one format and size"
        raise step.fields.error("source", message)


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
        textures = [plan.textures.get(it) for it in rotation]
        first = textures[0]
        if any((it is None) is not (first is None) or (it and first and not it.is_like(first)) for it in textures):
            raise plan.fields.error(field, "textures change places with textures of their format and size")


def unreadable(plan: PlanFile, number: int, error: OSError | ValueError) -> InputError:
    """The error of a WGSL file that cannot be read."""
    kernel = plan.kernels[number]
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return kernel.fields.error("file", f"cannot read {kernel.file!r}: {reason}")
