"""The end of a plan: where its outputs are, and what becomes an input of the next execution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass

from ..base.errors import InputError
from ..ir.textures import format_of, read_extent
from ..ir.types import Texture
from .linking import Links
from .plan import HOST, VERSION, Handle, Plan, PlanInput, PlanOutput
from .plan_draft import PlanDraft
from .plan_memory import PlanMemory
from .plan_values import PlannedContent, PlannedValue, Unplannable


@dataclass(frozen=True, slots=True)
class PlanOutputs:
    """Makes the plan of graph `graph` when everything is recorded."""

    graph: str
    links: Links
    draft: PlanDraft

    def plan(self, inputs: Mapping[str, PlannedContent], outputs: Mapping[str, PlannedValue]) -> Plan:
        """The plan. Raises InputError for an output of another size than the input that it becomes."""
        draft = self.draft
        turns = self._turns(inputs, outputs)
        found = {name: self._result(name, value.content) for name, value in outputs.items()}
        memory = PlanMemory(draft.buffers, draft.steps, turns, {it.buffer for it in found.values()})
        return Plan(
            VERSION,
            self.graph,
            tuple(memory.allocations),
            tuple(memory.buffers),
            tuple(draft.constants),
            self._inputs(),
            tuple(draft.facts),
            tuple(draft.steps),
            tuple(found.values()),
            tuple(draft.request.feed.items()),
            tuple(memory.rotations()),
            memory.live_bytes,
        )

    def _inputs(self) -> tuple[PlanInput, ...]:
        uploads = self.draft.uploads
        return tuple(
            PlanInput(name, len(data), tuple(uploads.get(name, ())), tuple(uploads.get(name, {}).values()))
            for name, data in self.draft.request.given.items()
        )

    def _result(self, name: str, content: PlannedContent) -> PlanOutput:
        """An output, in a buffer that has it already, or on the host."""
        draft, type = self.draft, self.links.types[self.graph, name]
        if draft.is_constant(content):
            return PlanOutput(name, draft.constant_of(content, type, name, HOST), content.like)
        device = next(iter(content.buffers), HOST)
        buffer = draft.on(content, HOST if HOST in content.buffers else device, "the program reads it")
        return PlanOutput(name, buffer, content.like)

    def _turns(self, inputs: Mapping[str, PlannedContent], outputs: Mapping[str, PlannedValue]) -> dict[int, int]:
        """For a repetition, the buffers that become inputs, with the buffers of these. Copies what cannot change places
        with an input: it is on another device, or becomes several inputs, or is an input that stays.
        """
        draft, turns = self.draft, dict[int, int]()
        for output, name in draft.request.feed.items():
            content = outputs[output].content
            if not draft.uploads.get(name):
                continue  # no node reads the input
            (target,) = draft.uploads[name]
            wanted = draft.buffers[target]
            source = content.buffers.get(wanted.device)
            if source is None or source in turns or not self._may_turn(source):
                why = f"it becomes the input {name!r} of the next execution"
                known = self._result(output, content).buffer if source is None else source
                source = draft.copied(known, f"the next {name}", wanted.device, why)
            if wanted.handle is None and draft.buffers[source].size != wanted.size:
                raise InputError(
                    f"output {output!r} has {draft.buffers[source].size} bytes, but the input {name!r} that it becomes "
                    f"has {inputs[name].size}: to repeat a graph, both must have the same size"
                )
            _check_extents(output, draft.buffers[source].handle, name, wanted.handle)
            if not _are_alike(draft.buffers[source].handle, wanted.handle):
                raise Unplannable(f"its output {output!r} and its input {name!r} are textures of different forms")
            turns[source] = target
        return turns

    def _may_turn(self, buffer: int) -> bool:
        kind = self.draft.buffers[buffer].kind
        is_fed = any(buffer in self.draft.uploads.get(name, ()) for name in self.draft.fed)
        return kind == "transient" or (kind == "input" and is_fed)


def _check_extents(output: str, made: Handle | None, name: str, wanted: Handle | None) -> None:
    """Raise InputError for a texture that becomes an input of another size."""
    if made is None or wanted is None or not isinstance(made.type, Texture) or not isinstance(wanted.type, Texture):
        return
    sizes = [" x ".join(map(str, astuple(read_extent(it.head))[:3])) for it in (made, wanted)]
    if sizes[0] != sizes[1]:
        raise InputError(
            f"output {output!r} has {sizes[0]} texels, but the input {name!r} that it becomes has {sizes[1]}: to "
            "repeat a graph, both must have the same size"
        )


def _are_alike(one: Handle | None, other: Handle | None) -> bool:
    """Whether the memory of one may be that of the other: textures of the same texels and extents."""
    if one is None or other is None:
        return one is other
    if not isinstance(one.type, Texture) or not isinstance(other.type, Texture):
        return False
    same_type = one.type.dimension == other.type.dimension and format_of(one.type) == format_of(other.type)
    return same_type and one.head == other.head
