"""The messages of parent and child: a length, a JSON header, then raw bytes. No pickles, so no code crosses the pipe.

A frame is a little-endian u32 with the header's size, the header (a JSON object), and the blobs, whose sizes are the
header's `blobs`. Its `places` say which of them are not in the pipe, and where they begin in the memory of both.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from io import BufferedReader
from typing import IO, Literal, TypeAlias, TypedDict, cast

from .binding_headers import BindingHeader
from .model import GpuErrorKind
from .program_messages import ProgramReply, ProgramRequest
from .resident_messages import ResidentReply, ResidentRequest
from .shared_bytes import Blob, SharedBytes

_LENGTH = struct.Struct("<I")


class ProbeRequest(TypedDict):
    """Asks for the adapter; answered by an `AdapterReply`."""

    operation: Literal["probe"]
    seconds: float


class ValidateRequest(TypedDict):
    """Asks whether naga accepts a module; answered by a `ValidReply`, or a `FailureReply` of kind "invalid"."""

    operation: Literal["validate"]
    seconds: float
    wgsl: str


def is_written(header: BindingHeader) -> bool:
    """Whether the shader may write it, so that it is read back."""
    texture = header.get("texture")
    return header["kind"] == "storage" if texture is None else texture["access"] in ("write-only", "read-write")


def interface_of(header: BindingHeader) -> tuple[object, ...]:
    """The parts of a binding that determine a pipeline's layout."""
    texture = header.get("texture")
    kind = () if texture is None else (texture["format"], texture["view"], texture["sampled"], texture["access"])
    sampler = header.get("sampler")
    type = () if sampler is None else (sampler["type"],)
    return (header["group"], header["binding"], header["kind"], *kind, *type)


class RunRequest(TypedDict):
    """Asks for a dispatch; answered by a `RunReply`, whose blobs are the writable bindings, in the same order."""

    operation: Literal["run"]
    seconds: float
    wgsl: str
    entry: str
    bindings: list[BindingHeader]
    workgroups: tuple[int, int, int]
    constants: dict[str, float]
    repeat: int


Request: TypeAlias = ProbeRequest | ValidateRequest | RunRequest | ProgramRequest | ResidentRequest


class AdapterReply(TypedDict):
    """The adapter and the device made on it."""

    status: Literal["adapter"]
    name: str
    description: str
    vendor: str
    backend: str
    kind: str
    features: list[str]
    limits: dict[str, int]


class ValidReply(TypedDict):
    """naga accepts the module."""

    status: Literal["valid"]


class RunReply(TypedDict):
    """The dispatch is done; `samples` are the seconds of each repeat."""

    status: Literal["ran"]
    compile_seconds: float
    samples: list[float]
    timed_by: Literal["timestamp", "wall"]


class FailureReply(TypedDict):
    """Becomes a `GpuError` in the parent; one of kind "input", an `InputError`."""

    status: Literal["failed"]
    kind: GpuErrorKind | Literal["input"]
    message: str


Reply: TypeAlias = AdapterReply | ValidReply | RunReply | ProgramReply | ResidentReply | FailureReply


def send(stream: IO[bytes], shared: SharedBytes, header: Request | Reply, blobs: Sequence[Blob] = ()) -> None:
    """Writes one frame and flushes it. Large blobs are put into the memory that is shared."""
    places = shared.put(blobs)
    encoded = json.dumps({**header, "blobs": [len(blob) for blob in blobs], "places": places}).encode()
    stream.write(_LENGTH.pack(len(encoded)))
    stream.write(encoded)
    for blob, place in zip(blobs, places, strict=True):
        if place is None:
            stream.write(blob)
    stream.flush()


def receive_request(stream: BufferedReader, shared: SharedBytes) -> tuple[Request, list[Blob]]:
    """Reads one frame from the parent; EOFError if the parent closed the pipe. Its large blobs are there until it has
    the reply.
    """
    header, blobs = _receive(stream, shared)
    return cast(Request, header), blobs


def receive_reply(stream: BufferedReader, shared: SharedBytes) -> tuple[Reply, list[bytearray]]:
    """Reads one frame from the child; EOFError if the child died."""
    header, blobs = _receive(stream, shared)
    return cast(Reply, header), [it if isinstance(it, bytearray) else bytearray(it) for it in blobs]


def _receive(stream: BufferedReader, shared: SharedBytes) -> tuple[object, list[Blob]]:
    (size,) = cast(tuple[int], _LENGTH.unpack(_read_exactly(stream, _LENGTH.size)))
    header = cast(dict[str, object], json.loads(_read_exactly(stream, size)))
    sizes, places = cast(list[int], header["blobs"]), cast(list[int | None], header["places"])
    blobs = zip(sizes, places, strict=True)
    return header, [_read_exactly(stream, size) if at is None else shared.at(at, size) for size, at in blobs]


def _read_exactly(stream: BufferedReader, size: int) -> bytearray:
    buffer = bytearray(size)
    view = memoryview(buffer)
    filled = 0
    while filled < size:
        count = stream.readinto(view[filled:])
        if not count:
            raise EOFError("the other side closed the pipe")
        filled += count
    return buffer
