"""Values that are used beyond a jump over the code that defines them.

Code in the same guarded region as a definition, or in an inner one, uses the value directly. For uses in other regions
the value is stored to a stack slot as well, which LLVM turns into registers.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable
from contextlib import contextmanager
from dataclasses import dataclass, field

from ...llvm import FunctionText, Gap


@dataclass(slots=True)
class _Reset:
    """The blocks in which control enters the copies of one level, and the stores that clear slots there."""

    blocks: list[str] = field(default_factory=list[str])
    stores: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class _Definition:
    text: str
    type: str
    site: tuple[int, ...]
    is_local: bool
    places: list[tuple[Gap, str]]
    """The gaps for stores to the slot, each with the value to store."""
    reset: _Reset | None
    """What clears the slot, if anything does."""
    slot: str | None


class Slots:
    """Definitions by key, and the guards around the current position."""

    def __init__(self, out: FunctionText) -> None:
        self._out = out
        self._site: tuple[int, ...] = ()
        self._guards = 0
        self._known: dict[Hashable, _Definition] = {}
        self._levels: dict[Hashable, _Reset] = {}
        self._resets: list[_Reset] = []

    @contextmanager
    def guarded(self) -> Generator[None]:
        """Write code with a jump around it."""
        before = self._site
        self._guards += 1
        self._site = (*before, self._guards)
        yield
        self._site = before

    @contextmanager
    def level(self, level: Hashable) -> Generator[None]:
        """Write a level, or another copy of its code. Its slots are cleared each time control enters it."""
        out, reset = self._out, self._levels.setdefault(level, _Reset())
        before, block, begin = out.current, out.fresh_block("reset"), out.fresh_block("begin")
        out.do(f"br label %{block}")
        out.open(block)
        out.do(f"br label %{begin}")
        out.open_merge(begin, before)
        for store in reset.stores:
            out.begin_with(block, store)
        reset.blocks.append(block)
        self._resets.append(reset)
        yield
        self._resets.pop()

    @property
    def depth(self) -> int:
        """The number of open levels."""
        return len(self._resets)

    def make(self, type: str, depth: int | None = None) -> str:
        """A new slot, which is zero at first, and cleared where the level of a given depth begins."""
        return self._make(type, None if depth is None else self._resets[depth])

    def _make(self, type: str, reset: _Reset | None) -> str:
        out = self._out
        with out.at_entry():
            slot = out.value(f"alloca {type}")
            zero = f"store {type} zeroinitializer, ptr {slot}"
            out.do(zero)
        if reset is not None:
            reset.stores.append(zero)
            for block in reset.blocks:
                out.begin_with(block, zero)
        return slot

    def load(self, type: str, slot: str) -> str:
        """The contents of a slot."""
        return self._out.value(f"load {type}, ptr {slot}")

    def store(self, type: str, value: str, slot: str) -> None:
        """Put a value into a slot."""
        self._out.do(f"store {type} {value}, ptr {slot}")

    def define(self, key: Hashable, text: str, type: str, *, is_local: bool = False, depth: int | None = None) -> None:
        """Define a value here. A local one is not used beyond the guards around it. There may be several definitions,
        of which control passes one.

        Beyond the guards, the value is zero if control has passed no definition since the level of that depth began;
        the innermost level if none is given.
        """
        before = self._known.get(key)
        slot, places = None, list[tuple[Gap, str]]()
        if before is not None and before.type == type:
            slot, places = before.slot, before.places
        gap = self._out.gap()
        places.append((gap, text))
        if slot is not None:
            gap.fill(f"store {type} {text}, ptr {slot}")
        reset = self._resets[-1 if depth is None else depth] if self._resets else None
        self._known[key] = _Definition(text, type, self._site, is_local, places, reset, slot)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._known

    def is_usable(self, key: Hashable) -> bool:
        """Whether a value is available here; true for values that are not defined with a key."""
        known = self._known.get(key)
        return known is None or not known.is_local or self._site[: len(known.site)] == known.site

    def use(self, key: Hashable) -> str:
        """The value, by a name that is available here."""
        known = self._known[key]
        if self._site[: len(known.site)] == known.site:
            return known.text
        assert not known.is_local, f"{key} is used beyond its guards"
        if known.slot is None:
            known.slot = self._make(known.type, known.reset)
            for gap, text in known.places:
                gap.fill(f"store {known.type} {text}, ptr {known.slot}")
        return self.load(known.type, known.slot)
