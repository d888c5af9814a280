"""Memory for the buffers of a plan, by their lives: allocations, and what lies where in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ..ir.types import Texture
from .placing import Life, live_bytes, place
from .plan import HOST, Allocation, DataExtent, Dispatch, Fill, Handle, Kind, PlanBuffer, Step, Transfer

_LARGEST_ROOM: Final = 1 << 28
"""The limit `maxBufferSize` of WebGPU, for memory that values share on a GPU."""


@dataclass(eq=False, slots=True)
class Draft:
    """A buffer before it has a place."""

    label: str
    device: str
    size: int
    kind: Kind
    handle: Handle | None = None


class PlanMemory:
    """Allocations for the buffers of a plan. `turns` are the buffers that become inputs; `kept` are read at the end."""

    def __init__(self, drafts: list[Draft], steps: list[Step], turns: Mapping[int, int], kept: set[int]) -> None:
        self._drafts = drafts
        self._turns = {source: target for source, target in turns.items() if source != target}
        self._lives = _lives(drafts, steps, kept | self._turns.keys())
        self._apart = _apart(drafts, steps)
        self.allocations: list[Allocation] = []
        self._places: dict[int, tuple[int, int]] = {}
        self.live_bytes = 0
        for number, draft in enumerate(drafts):
            if draft.kind in ("input", "error", "sampler"):
                self._places[number] = self._allocation(draft.device, draft.size, draft.kind), 0
        for device in dict.fromkeys(it.device for it in drafts):
            self._place_constants(device)
            self._place_transients(device)
        self.buffers = [
            PlanBuffer(it.label, *self._places[number], it.size, it.handle) for number, it in enumerate(drafts)
        ]

    def _allocation(self, device: str, size: int, kind: Kind) -> int:
        self.allocations.append(Allocation(device, size, kind))
        return len(self.allocations) - 1

    def _of(self, device: str, kind: Kind) -> list[int]:
        return [number for number, it in enumerate(self._drafts) if (it.device, it.kind) == (device, kind)]

    def _place_constants(self, device: str) -> None:
        numbers = self._of(device, "constants")
        found = place([Life(self._drafts[it].size, 0, 0) for it in numbers])
        for size in found.rooms:
            self._allocation(device, size, "constants")
        for number, (_, offset) in zip(numbers, found.places, strict=True):
            self._places[number] = len(self.allocations) - 1, offset

    def _place_transients(self, device: str) -> None:
        living = [it for it in self._of(device, "transient") if it in self._lives]
        textures = [it for it in living if device != HOST and self._drafts[it].handle is not None]
        self._place_textures(device, textures)
        numbers = [it for it in living if it not in textures]
        position = {number: index for index, number in enumerate(numbers)}
        lives: list[Life] = []
        for number in numbers:
            start, end = self._lives[number]
            apart = () if device == HOST else self._apart.get(number, ())
            clashes = frozenset(position[it] for it in apart if it in position)
            lives.append(Life(self._drafts[number].size, start, end, clashes))
        states = [position[it] for it in self._turns if it in position]
        found = place(lives, states, (1 << 62) if device == HOST else _LARGEST_ROOM)
        first = len(self.allocations)
        for room, size in enumerate(found.rooms):
            self._allocation(device, size, "state" if room < len(states) else "transient")
        for number, (room, offset) in zip(numbers, found.places, strict=True):
            self._places[number] = first + room, offset
        self.live_bytes += live_bytes([*lives, *(Life(self._drafts[it].size, *self._lives[it]) for it in textures)])

    def _place_textures(self, device: str, numbers: list[int]) -> None:
        """Textures of a GPU: one may have the place of another one like it that lives no longer."""
        free: dict[object, list[tuple[int, int]]] = {}
        for number in sorted(numbers, key=lambda it: self._lives[it]):
            draft, (start, end) = self._drafts[number], self._lives[number]
            if number in self._turns:
                self._places[number] = self._allocation(device, draft.size, "state"), 0
                continue
            known = free.setdefault(_texture_form(number, draft), [])
            found = next((it for it in known if it[1] < start), None)
            if found is not None:
                known.remove(found)
            allocation = self._allocation(device, draft.size, "transient") if found is None else found[0]
            known.append((allocation, end))
            self._places[number] = allocation, 0

    def rotations(self) -> list[tuple[int, ...]]:
        """The allocations that change places, each taking that of the next."""
        following = {self._places[source][0]: self._places[target][0] for source, target in self._turns.items()}
        starts = [it for it in following if it not in following.values()] or list(following)
        found: list[tuple[int, ...]] = []
        seen: set[int] = set()
        for start in [*starts, *following]:
            chain: list[int] = []
            now: int | None = start
            while now is not None and now not in seen:
                seen.add(now)
                chain.append(now)
                now = following.get(now)
            if len(chain) > 1:
                found.append(tuple(chain))
        return found


def _texture_form(number: int, draft: Draft) -> object:
    """Equal for textures of which one may have the place of another: those that nodes write, of one form."""
    type = None if draft.handle is None else draft.handle.type
    if draft.handle is None or not isinstance(type, Texture) or type.format is None:
        return number
    return type.format, type.dimension, draft.handle.head


def _lives(drafts: list[Draft], steps: list[Step], kept: set[int]) -> dict[int, tuple[int, int]]:
    """The first and the last step of each buffer that a step names."""
    found: dict[int, tuple[int, int]] = {}
    for number, step in enumerate(steps):
        for buffer in named_by(step):
            found[buffer] = found.get(buffer, (number, number))[0], number
    for buffer in kept:
        found[buffer] = found.get(buffer, (0, 0))[0], len(steps)
    return found


def named_by(step: Step) -> list[int]:
    """The buffers that a step names."""
    match step:
        case Fill(buffer):
            return [buffer]
        case Transfer():
            return [step.source, step.target]
        case Dispatch():
            made = step.arguments
            more = [] if made is None else [made.request, made.workgroups, made.error]
            return [*_counts(step), *more, *(it.buffer for it in step.bindings)]


def _counts(step: Dispatch) -> list[int]:
    return [it.buffer for it in step.extents if isinstance(it, DataExtent)]


def _apart(drafts: list[Draft], steps: list[Step]) -> dict[int, set[int]]:
    """The pairs of buffers that may not be ranges of one buffer of a GPU: a step writes one and reads the other."""
    found: dict[int, set[int]] = {}
    for written, read in (scope for step in steps for scope in _usage_scopes(step)):
        for one in written:
            for other in read - written:
                found.setdefault(one, set()).add(other)
                found.setdefault(other, set()).add(one)
    return found


def _usage_scopes(step: Step) -> list[tuple[set[int], set[int]]]:
    """The buffers that each command of a step writes, and those that it reads."""
    match step:
        case Fill(buffer):
            return [({buffer}, set())]
        case Transfer():
            return [({step.target}, {step.source})]
        case Dispatch():
            written = {it.buffer for it in step.bindings if it.is_written}
            bound, made = {it.buffer for it in step.bindings}, step.arguments
            if made is None:
                return [(written, bound)]
            maker = {made.workgroups, made.error}, {made.request, *_counts(step)}
            return [maker, (written, {made.workgroups, *bound})]
