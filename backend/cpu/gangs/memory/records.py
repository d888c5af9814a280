"""Records: a block's Reads or Writes of several scalars of the same element, which are made together.

Reads of one version that differ only in constant indices at the end are made at the first one. A chain of Writes that
differ only so, and whose intermediate versions are not read, is made at the last one: all values are available there,
and nothing between reads the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .....ir.hercules import nodes as h
from ...layout import ArrayLayout, Layout, ProductLayout, ScalarLayout
from ...storage import Storage
from .addresses import constant_offset


@dataclass(frozen=True, slots=True)
class Member:
    """One of the accesses; `offset` is in bytes from the beginning of the element."""

    node: h.Read | h.Write
    offset: int
    leaf: ScalarLayout


@dataclass(frozen=True, slots=True)
class Record:
    """At least two accesses to different scalars of one size in the element that `prefix` selects."""

    storage: Storage
    prefix: tuple[h.Index, ...]
    members: tuple[Member, ...]


def find_records(
    nodes: Sequence[h.Node],
    storage_of: Callable[[h.Read | h.Write], Storage | None],
    is_uniform: Callable[[h.Node], bool],
    users: Mapping[h.Node, Sequence[h.Node]],
) -> dict[h.Node, Record]:
    """The record of each Read and Write that is in one. `storage_of` gives None for other accesses."""
    records: dict[h.Node, Record] = {}
    reads: dict[object, list[tuple[_Access, Member]]] = {}
    writes: list[tuple[_Access, Member]] = []
    for node in nodes:
        if not isinstance(node, (h.Read, h.Write)):
            continue
        found = _access(node, storage_of(node), is_uniform)
        if isinstance(node, h.Read):
            if found is not None:
                access, member = found
                reads.setdefault((node.collection, access.key, member.leaf.size), []).append(found)
            continue
        if not (found and writes and _continues(found, writes, users)):
            _keep(writes, records)
            writes = []
        if found is not None:
            writes.append(found)
    _keep(writes, records)
    for group in reads.values():
        _keep(group, records)
    return records


@dataclass(frozen=True, slots=True)
class _Access:
    storage: Storage
    prefix: tuple[h.Index, ...]

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for prefixes that select the same element."""
        return tuple(it.position if isinstance(it, h.PositionIndex) else _field(it) for it in self.prefix)


def _field(index: h.Index) -> int:
    assert isinstance(index, h.FieldIndex)
    return index.field


def _access(
    node: h.Read | h.Write, storage: Storage | None, is_uniform: Callable[[h.Node], bool]
) -> tuple[_Access, Member] | None:
    """An access whose address varies, split behind the last index that varies."""
    varying = [
        number
        for number, it in enumerate(node.indices)
        if isinstance(it, h.PositionIndex) and not is_uniform(it.position)
    ]
    if storage is None or not varying:
        return None
    end = varying[-1] + 1
    element = _layout_at(storage.layout, node.indices[:end])
    found = None if element is None else constant_offset(element, node.indices[end:])
    if found is None:
        return None
    offset, leaf = found
    return _Access(storage, tuple(node.indices[:end])), Member(node, offset, leaf)


def _layout_at(layout: Layout, indices: Sequence[h.Index]) -> Layout | None:
    for index in indices:
        match index, layout:
            case h.FieldIndex(field=field), ProductLayout(fields=fields):
                layout = fields[field]
            case h.PositionIndex(), ArrayLayout(element=element):
                layout = element
            case _:
                return None
    return layout


def _continues(
    found: tuple[_Access, Member], before: Sequence[tuple[_Access, Member]], users: Mapping[h.Node, Sequence[h.Node]]
) -> bool:
    access, member = found
    last, last_member = before[-1]
    return (
        member.node.collection is last_member.node
        and list(users[last_member.node]) == [member.node]
        and access.key == last.key
        and member.leaf.size == last_member.leaf.size
        and all(member.offset != it.offset for _, it in before)
    )


def _keep(group: Sequence[tuple[_Access, Member]], records: dict[h.Node, Record]) -> None:
    members: dict[int, Member] = {}
    for _, member in group:
        members.setdefault(member.offset, member)
    if len(members) < 2:
        return
    access, _ = group[0]
    record = Record(access.storage, access.prefix, tuple(members.values()))
    records.update(dict.fromkeys((member.node for member in record.members), record))
