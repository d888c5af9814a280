"""Messages about what stays on the device from one request to the next: buffers, textures, bound pipelines.

All of them have ids, which the parent chooses. A request is a list of commands, carried out in order.
"""

from __future__ import annotations

import struct
from typing import Final, Literal, NotRequired, TypeAlias, TypedDict

from .binding_headers import BindingHeader

SECONDS: Final = struct.Struct("<d")
"""How a reply has a time."""


class CreateHeader(TypedDict):
    """A buffer of `size` bytes, a texture or a sampler; its bytes are the next blob if it `has_data`, or zeros."""

    do: Literal["create"]
    id: int
    size: int
    has_data: bool
    texture: NotRequired[BindingHeader]
    sampler: NotRequired[BindingHeader]


class WriteHeader(TypedDict):
    """The next blob becomes the bytes of a buffer, from its start, or of a texture."""

    do: Literal["write"]
    id: int


class PipelineHeader(TypedDict):
    """A pipeline for an entry point with these bindings."""

    do: Literal["pipeline"]
    id: int
    wgsl: str
    entry: str
    bindings: list[BindingHeader]


class EntryHeader(TypedDict):
    """A range of a buffer, or a texture, at a binding."""

    group: int
    binding: int
    id: int
    offset: int
    size: int


class BindHeader(TypedDict):
    """A pipeline with what is bound for it."""

    do: Literal["bind"]
    id: int
    pipeline: int
    entries: list[EntryHeader]


class DispatchesHeader(TypedDict):
    """Dispatches: the next blob has four little-endian u32 for each, a bound pipeline and its numbers of workgroups."""

    do: Literal["dispatches"]


class CopyHeader(TypedDict):
    """A copy of `size` bytes from one buffer to another, or of the first level of a texture to another texture."""

    do: Literal["copy"]
    source: int
    source_offset: int
    target: int
    target_offset: int
    size: int


class SequenceDispatch(TypedDict):
    """A dispatch of a bound pipeline. If it is `indirect`, the numbers of workgroups are in that buffer at `offset`."""

    step: Literal["dispatch"]
    bound: int
    workgroups: tuple[int, int, int]
    indirect: int | None
    offset: int


class SequenceClear(TypedDict):
    """Zeros for a range of a buffer."""

    step: Literal["clear"]
    target: int
    target_offset: int
    size: int


class SequenceCopy(TypedDict):
    """A copy between buffers, or of the first level of a texture to another texture."""

    step: Literal["copy"]
    source: int
    source_offset: int
    target: int
    target_offset: int
    size: int


SequenceStep: TypeAlias = SequenceDispatch | SequenceClear | SequenceCopy


class SequenceHeader(TypedDict):
    """Steps to be replayed: those of a first execution, of a second one, and so on in turn."""

    do: Literal["sequence"]
    id: int
    phases: list[list[SequenceStep]]


class ReplayHeader(TypedDict):
    """Executions of a sequence, from the given phase on."""

    do: Literal["replay"]
    id: int
    phase: int
    executions: int


class TimeHeader(TypedDict):
    """Executions of a sequence, from its first phase on. A blob of the reply has the seconds that they take, an f64."""

    do: Literal["time"]
    id: int
    executions: int


class ReadHeader(TypedDict):
    """The first `size` bytes of a buffer, or a texture, as a blob of the reply, after all commands before."""

    do: Literal["read"]
    id: int
    size: int


class WaitHeader(TypedDict):
    """Waits until the device has done all commands before."""

    do: Literal["wait"]


class FreeHeader(TypedDict):
    """These are no longer needed. Ids that are unknown, since an earlier request failed, are passed over."""

    do: Literal["free"]
    ids: list[int]


Command: TypeAlias = (
    CreateHeader
    | WriteHeader
    | PipelineHeader
    | BindHeader
    | DispatchesHeader
    | CopyHeader
    | SequenceHeader
    | ReplayHeader
    | TimeHeader
    | ReadHeader
    | WaitHeader
    | FreeHeader
)


class ResidentRequest(TypedDict):
    """Asks for commands to be carried out; answered by a `ResidentReply`, whose blobs are what was read, in order."""

    operation: Literal["session"]
    seconds: float
    commands: list[Command]


class ResidentReply(TypedDict):
    """The commands were handed to the device, and it has done those that something waits for."""

    status: Literal["resident"]
