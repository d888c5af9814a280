"""What the bindings of a node are bound to in a plan: a buffer that has the value, a copy of one, or a constant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..buffers import check_minimum
from ..ir import types as wgsl
from ..ir.layout import member_offsets, size_of, whole_words
from ..ir.layout_packing import check_size
from ..ir.textures import needs_widening
from ..kernel import Kernel
from ..reflection import BindingInfo
from ..sessions.forms import BindingForm, check_fits
from .linking import Links
from .machine import described
from .plan import HOST, Handle
from .plan_draft import ConstantPart, PlanDraft
from .plan_values import PlannedContent, PlannedValue
from .written import LaunchNumbers


@dataclass(frozen=True, slots=True)
class PlannedNode:
    """A node while its dispatch is recorded. `device` has the memory. `launch` is None if a node wrote an extent."""

    kernel: Kernel
    name: str
    device: str
    launch: LaunchNumbers | None

    def why(self, binding: str) -> str:
        """The reason for a copy."""
        return f"'{self.kernel.info.name}' needs it as {binding}"


@dataclass(frozen=True, slots=True)
class NodeBindings:
    """Finds the buffers of one node."""

    draft: PlanDraft
    links: Links
    node: PlannedNode

    def bound(self, inputs: Mapping[str, PlannedValue]) -> dict[str, int]:
        """The buffer of each binding, by name. Raises InputError for sizes that a binding cannot have."""
        node = self.node
        infos = {it.name: it for it in node.kernel.bindings}
        for port, value in inputs.items():
            if value.content.handle is not None:
                self._check_handle(value.content, value.content.handle, infos[port])
        members: dict[str, dict[str, PlannedContent]] = {}
        bound: dict[str, int] = {}
        for port, value in inputs.items():
            name, _, member = port.partition(".")
            if member:
                members.setdefault(name, {})[member] = value.content
            elif infos[name].is_written:
                bound[name] = self._own(value.content, infos[name])
            else:
                bound[name] = self._readable(value.content, infos[name])
        bound.update({name: self._assembled(infos[name], parts) for name, parts in members.items()})
        for name, buffer in bound.items():
            check_minimum(infos[name], self.draft.buffers[buffer].size)
            check_size(infos[name].type, self.draft.buffers[buffer].size, name)
        return bound

    def _readable(self, content: PlannedContent, info: BindingInfo) -> int:
        """A buffer for a binding that is only read."""
        if self.draft.is_constant(content):
            return self.draft.constant_of(content, info.type, info.name, self.node.device, self.node.name)
        if self._must_widen(content, info):
            assert isinstance(info.type, wgsl.Texture)
            return self.draft.widened(content, info.type, self.node.name)
        return self.draft.on(content, self.node.device, self.node.why(info.name))

    def _must_widen(self, content: PlannedContent, info: BindingInfo) -> bool:
        """Whether the node samples a storage texture whose texels it cannot take as they are: a GPU takes all."""
        handle, wanted = content.handle, info.type
        if handle is None or self.node.device != HOST or not isinstance(wanted, wgsl.Texture):
            return False
        return isinstance(handle.type, wgsl.Texture) and needs_widening(handle.type, wanted)

    def _own(self, content: PlannedContent, info: BindingInfo) -> int:
        """A buffer that the node may write: that of the value, if nobody else holds it, or a copy."""
        draft, node = self.draft, self.node
        label, device = f"{node.name}.{info.name}", node.device
        if content.is_zero:
            is_array = content.handle is None
            if is_array and node.launch is not None and node.launch.writes_whole(self.links, info, content.size):
                return draft.new(label, device, content.size, "transient")
            return draft.zeroed(content, label, device, node.name)
        if content.number is not None:
            source = draft.constant_of(content, info.type, info.name, device, node.name)
            return draft.copied(source, label, device, f"{node.name!r} writes it")
        if content.holders == 1:
            return draft.on(content, device, node.why(info.name))
        if device in content.buffers or draft.is_known(content) or not content.buffers:
            kept = draft.on(content, device, node.why(info.name))
        else:
            kept = next(iter(content.buffers.values()))
        return draft.copied(kept, label, device, f"{node.name!r} writes it, and its old value is still needed")

    def _check_handle(self, content: PlannedContent, handle: Handle, info: BindingInfo) -> None:
        """Raise InputError for a texture that does not fit."""
        given = handle.type
        if not isinstance(given, wgsl.Texture) or not isinstance(info.type, wgsl.Texture):
            return
        form = BindingForm(described(content.label, given), content.size, header=handle.head)
        check_fits(form, info, content.size, content.label)

    def _assembled(self, info: BindingInfo, members: Mapping[str, PlannedContent]) -> int:
        """A constant with the members of a uniform structure."""
        assert isinstance(info.type, wgsl.Struct)
        types = {it.name: it.type for it in info.type.members}
        offsets = dict(zip(types, member_offsets(info.type), strict=True))
        parts = {f".{name}": ConstantPart(offsets[name], types[name], it) for name, it in members.items()}
        return self.draft.constant(parts, whole_words(size_of(info.type)), info.name, self.node.device, self.node.name)
