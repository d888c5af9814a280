"""A plan while it is recorded: its buffers, constants and steps, and in which buffers a content is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ..ir import types as wgsl
from ..ir.layout import runtime_array, size_of, whole_words
from ..ir.layout_packing import pack
from ..ir.textures import format_of, level_starts, pack_header, read_extent
from ..texel_kernels import widening_name, zeros_name
from .devices import NodeDevices
from .indirect import ERROR_BYTES
from .numbers_in import Packed
from .plan import HOST, Constant, Fact, Fill, Handle, Kind, Piece, Step, Transfer
from .plan_handles import texel_dispatch, texture_of
from .plan_memory import Draft
from .plan_numbers import PlannedNumbers
from .plan_values import PlannedContent, PlannedNumber, Unplannable

_SMALL: Final = 1 << 12
"""Inputs of a fixed size of at most so many bytes that a node only reads are constants."""


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """What a plan is for: the bytes of the inputs, the devices, and the outputs that become inputs of the next
    execution, by name. In a repetition all other inputs stay as they are; else nodes may write them in place. Making
    the plan ends at the deadline, a value of `time.monotonic`.
    """

    given: Mapping[str, Packed]
    devices: NodeDevices
    feed: Mapping[str, str] = field(default_factory=dict[str, str])
    is_repeated: bool = False
    deadline: float | None = None


@dataclass(frozen=True, slots=True)
class ConstantPart:
    """A content that a constant has at the offset `at`, as a value of `type`."""

    at: int
    type: wgsl.Type
    content: PlannedContent

    @property
    def size(self) -> int:
        """Its bytes."""
        return self.content.size if runtime_array(self.type) is not None else size_of(self.type)


@dataclass(frozen=True, slots=True)
class _Copied:
    """Bytes that a step copies into a constant."""

    source: int
    start: int
    at: int
    size: int
    why: str


class PlanDraft:
    """What is recorded. Buffers are known by their numbers, and have a place in memory only in the plan."""

    def __init__(self, request: PlanRequest) -> None:
        self.request = request
        self.fed = frozenset(request.feed.values())
        """The inputs that are outputs of the execution before."""
        self.buffers: list[Draft] = []
        self.steps: list[Step] = []
        self.constants: list[Constant] = []
        self.uploads: dict[str, dict[int, str]] = {}
        """For each input, the buffers that a run writes it to, with the reasons."""
        self.facts: dict[Fact, None] = {}
        self.computed: dict[object, int] = {}
        """The buffers of computed numbers; `PlannedNumbers` has the keys."""
        self._errors: dict[str, int] = {}
        self._known_constants: dict[object, int] = {}

    # Buffers

    def new(self, label: str, device: str, size: int, kind: Kind, handle: Handle | None = None) -> int:
        """A new buffer."""
        self.buffers.append(Draft(label, device, size, kind, handle))
        return len(self.buffers) - 1

    def zeroed(self, content: PlannedContent, label: str, device: str, node: str = "") -> int:
        """A new buffer of zeros, for a node; for a texture, with its header."""
        made = self.new(label, device, content.size, "transient", content.handle)
        if content.handle is None:
            self.steps.append(Fill(made))
        elif device == HOST:
            self.steps.append(Fill(made))
            self._write_head(made, content.handle)
        else:
            type = texture_of(content.handle)
            self.steps.append(texel_dispatch(zeros_name(type), node, device, content.handle, target_texels=made))
        return made

    def widened(self, content: PlannedContent, wanted: wgsl.Texture, node: str) -> int:
        """A buffer of the host with the texels of a storage texture in the format of a sampled one."""
        assert content.handle is not None
        if content.widened is None:
            extent, form = read_extent(content.handle.head), format_of(wanted)
            handle = Handle(wanted, pack_header(wanted, extent, form))
            size = len(handle.head) + level_starts(wanted, extent)[-1] * form.bytes
            source = self.on(content, HOST, f"{node!r} samples it")
            made = content.widened = self.new(content.label, HOST, size, "transient", handle)
            self._write_head(made, handle)
            leaf = widening_name(texture_of(content.handle))
            self.steps.append(texel_dispatch(leaf, node, "cpu", handle, source_texels=source, target_texels=made))
        return content.widened

    def _write_head(self, buffer: int, handle: Handle) -> None:
        """Let a texture of the host have its header."""
        label = self.buffers[buffer].label
        head = self.packed_constant(handle.head, label, HOST)
        self.steps.append(Transfer(head, 0, buffer, 0, len(handle.head), f"{label} has these extents"))

    def copied(self, source: int, label: str, device: str, why: str) -> int:
        """A new buffer with a copy of another."""
        size = self.buffers[source].size
        made = self.new(label, device, size, "transient", self.buffers[source].handle)
        self.steps.append(Transfer(source, 0, made, 0, size, why))
        return made

    def on(self, content: PlannedContent, device: str, why: str) -> int:
        """A buffer with the content on a device."""
        if device in content.buffers:
            return content.buffers[device]
        if content.is_zero:
            made = self.zeroed(content, content.label, device)
        elif device != HOST and isinstance(content.type, wgsl.Sampler):
            made = self.new(content.label, device, 0, "sampler", content.handle)
        elif self.is_known(content) or (content.input and not content.buffers):
            made = self.new(content.label, device, content.size, "input", content.handle)
            self.uploads.setdefault(content.input, {})[made] = why
        else:
            made = self.copied(next(iter(content.buffers.values())), content.label, device, why)
        content.buffers[device] = made
        return made

    def is_known(self, content: PlannedContent) -> bool:
        """Whether it is an input that is the same in all executions."""
        return bool(content.input) and content.input not in self.fed

    def error(self, device: str) -> int:
        """The buffer of a device in which steps leave that they have failed."""
        if device not in self._errors:
            self._errors[device] = self.new("refused extents", device, ERROR_BYTES, "error")
            self.constants.append(Constant(self._errors[device], bytes(ERROR_BYTES), ()))
        return self._errors[device]

    # Constants

    def is_constant(self, content: PlannedContent) -> bool:
        """Whether a node that only reads it gets a constant."""
        if content.number is not None:
            return True
        is_open = content.type is None or content.handle is not None or runtime_array(content.type) is not None
        return self.is_known(content) and not is_open and content.size <= _SMALL

    def constant_of(
        self, content: PlannedContent, type: wgsl.Type, name: str, device: str, node: str = "the program"
    ) -> int:
        """A constant with a number, or with a small input."""
        part = ConstantPart(0, type, content)
        return self.constant({"": part}, whole_words(part.size), name, device, node)

    def constant(self, parts: Mapping[str, ConstantPart], size: int, name: str, device: str, node: str) -> int:
        """A constant of so many bytes. The keys of its parts are what follows the name in messages."""
        data, pieces, copies = bytearray(size), list[Piece](), list[_Copied]()
        for suffix, part in parts.items():
            content, at = part.content, part.at
            why = f"{node!r} needs it as {name}{suffix}"
            if isinstance(content.number, PlannedNumber):
                place = PlannedNumbers(self, node, device).value(content.number, part.type, why)
                copies.append(_Copied(place.buffer, place.offset, at, 4, why))
            elif content.number is not None:
                packed = pack(part.type, content.number, name=f"{name}{suffix}")
                data[at : at + len(packed)] = packed
            elif self.is_known(content):
                pieces.append(Piece(content.input, 0, at, part.size))
            elif not content.is_zero:
                copies.append(_Copied(self.on(content, device, why), 0, at, part.size, why))
        if device != HOST and any((it.at | it.start | it.size) % 4 for it in copies):
            raise Unplannable(f"{node!r} needs {name!r} by a copy of 2 bytes on a GPU")
        return self._noted(Constant(-1, bytes(data), tuple(pieces)), copies, name, device)

    def packed_constant(self, data: bytes, label: str, device: str) -> int:
        """A constant of bytes that no input decides."""
        return self._noted(Constant(-1, data, ()), (), label, device)

    def _noted(self, constant: Constant, copies: Sequence[_Copied], name: str, device: str) -> int:
        """The buffer of a constant: one for all equal constants on a device into which nothing is copied."""
        key = (device, constant.data, constant.pieces)
        if not copies and key in self._known_constants:
            return self._known_constants[key]
        made = self.new(name, device, len(constant.data), "constants")
        self.constants.append(Constant(made, constant.data, constant.pieces))
        if not copies:
            self._known_constants[key] = made
        self.steps += [Transfer(it.source, it.start, made, it.at, it.size, it.why) for it in copies]
        return made
