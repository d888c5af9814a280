"""Elements that are changed where they are, while their old values say where others are stored.

So an invocation takes the next place in a list of its own: `sorted[next[digit]] = key; next[digit]++`. With vectors,
that is a gather and two scatters. Lane by lane, the old value is a scalar that goes right into an address. Nobody sees
in which order lanes do this, since they run the block without waiting for each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .....ir.hercules import nodes as h
from .....ir.hercules.graph import positions_of
from ...layout import ArrayLayout, ScalarLayout
from ...storage import Storage
from .changed_elements import OPERATIONS, is_element
from .neighbours import computed_from

_WORD = 4
_PURE = (h.Binary, h.Unary, h.Cast, h.Bitcast, h.Select)


@dataclass(frozen=True, eq=False, slots=True)
class LaneChain:
    """A change of an element: the `read` of its old value, the `change`, and the `write`. The `stores` are at positions
    that are `computed` from the old value. The `last` one of these Writes comes after all that they need.
    """

    read: h.Read
    change: h.Binary
    write: h.Write
    stores: tuple[h.Write, ...]
    computed: tuple[h.Node, ...]
    last: h.Write


def find_chains(
    nodes: Sequence[h.Node],
    users: Mapping[h.Node, Sequence[h.Node]],
    storage_of: Callable[[h.Read | h.Write], Storage | None],
    is_scattered: Callable[[h.Node], bool],
) -> list[LaneChain]:
    """The chains in a block, each of which ends before the next one begins. `storage_of` gives the storage that an
    access shares with other lanes.
    """
    found: list[LaneChain] = []
    free = 0
    for at, node in enumerate(nodes):
        if not isinstance(node, h.Read) or at < free or not all(map(is_scattered, positions_of(node.indices))):
            continue
        chain = _chain_from(node, nodes[at + 1 :], users, storage_of)
        if chain is not None:
            found.append(chain)
            free = nodes.index(chain.last)
    return found


def _chain_from(
    read: h.Read,
    following: Sequence[h.Node],
    users: Mapping[h.Node, Sequence[h.Node]],
    storage_of: Callable[[h.Read | h.Write], Storage | None],
) -> LaneChain | None:
    """The chain that begins with a Read, of nodes `following` it."""
    own = [it for it in users[read] if isinstance(it, h.Binary) and it.op in OPERATIONS and it.lhs is read]
    changing = {it.value: it for it in following if isinstance(it, h.Write) and it.value in own}
    if len(changing) != 1:
        return None
    ((change, write),) = changing.items()
    assert isinstance(change, h.Binary)
    if len(users[change]) != 1 or not is_element(read, write):
        return None
    inside = {read, *following}
    after = {it for it in following if read in computed_from([it], inside)}
    writes = [it for it in following if isinstance(it, h.Write) and it in after]
    between = following[: following.index(writes[-1]) + 1]
    stores = tuple(it for it in writes if it is not write)
    is_alone = all(it in writes or not isinstance(it, (h.WritingNode, h.Call)) for it in between)
    storages = [storage_of(it) for it in writes]
    is_apart = len(set(storages)) == len(storages) and all(
        storage_of(it) not in storages for it in between if isinstance(it, h.Read)
    )
    if not stores or not is_alone or not is_apart or not all(it is not None and is_of_words(it) for it in storages):
        return None
    wanted = [position for it in stores for position in positions_of(it.indices)]
    computed = computed_from(wanted, after)
    is_pure = all(isinstance(it, _PURE) and {*computed, *stores}.issuperset(users[it]) for it in computed)
    is_whole = after == {*computed, *writes, change} and after.issuperset(users[read]) and computed.issuperset(wanted)
    if not is_pure or not is_whole or not after.isdisjoint([change.rhs, *(it.value for it in stores)]):
        return None
    return LaneChain(read, change, write, stores, tuple(it for it in between if it in computed), writes[-1])


def is_of_words(storage: Storage) -> bool:
    """Whether a storage is an array of words."""
    layout = storage.layout
    if not isinstance(layout, ArrayLayout) or not isinstance(layout.element, ScalarLayout):
        return False
    return layout.stride == layout.element.size == _WORD
