"""Writes to lane-private collections that need no mask.

A collection begins in its *home*, the block that fills it first. If only lanes that pass the home use the collection,
the contents of other lanes do not matter: blocks that the same lanes pass write whole vectors. If the home is in a
divergent loop, all uses must be in the loop too: lanes that have left the loop keep their contents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .....ir.hercules import nodes as h
from .....ir.hercules.analyses import block_leader
from .....ir.hercules.versions import taken_over, version_of
from ...storage import Storage
from ..analysis.shapes import Key
from ..context import GangContext
from .masks import Masks


class PrivateWrites:
    """Gives the masks of writes to lane-private collections."""

    def __init__(self, context: GangContext, masks: Masks) -> None:
        self._placed, self._shapes, self._users = context.placed, context.shapes, context.users
        self._site = context.site
        self._masks = masks
        plan, shapes = context.plan, context.shapes
        self._keys: dict[Storage, Key] = {}
        for storage in context.private:
            versions = plan.versions[storage]
            home = self._home(versions)
            if home is not None and self._stays(versions, home):
                self._keys[storage] = shapes.keys[home]

    def mask(self, storage: Storage) -> str | None:
        """The mask of a write in the current block and part; None for all lanes."""
        is_home = self._keys.get(storage) is self._site.key
        return None if is_home else self._masks.here()

    def _home(self, versions: Sequence[h.Node]) -> h.Node | None:
        """The block in which a collection begins, if there is only one."""
        own = set(versions)
        sources = [it for it in versions if not own.issuperset(taken_over(it)) or not any(taken_over(it))]
        blocks = {self._placed.place.get(it) for it in sources}
        block = blocks.pop() if len(blocks) == 1 else None
        return block if block in self._shapes.keys else None

    def _stays(self, versions: Sequence[h.Node], home: h.Node) -> bool:
        """Whether a collection is not used after a divergent loop around its home."""
        used = {at for version in versions for at in self._used_in(version)}
        around = [it for it in self._shapes.body.enclosing(home) if it in self._shapes.divergent]
        return all(used <= it.leaders for it in around)

    def _used_in(self, version: h.Node) -> Iterator[h.Node]:
        yield self._placed.place[version]
        for user in self._users[version]:
            if user not in self._placed.live:
                continue
            if version_of(user) is not user:
                yield from self._used_in(user)
            elif isinstance(user, h.Phi) and isinstance(user.region, h.Region):
                yield from (block_leader(it) for it in user.region.predecessors if it in self._placed.live)
            elif user in self._placed.place:
                yield self._placed.place[user]
            else:
                yield self._placed.graph.order[0]
