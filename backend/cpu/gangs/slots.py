"""Values that outlive the jump over the code that makes them.

What a guarded piece of code defines lives in a stack slot as well, which LLVM turns into registers; code that is sure
to come after it in the same or an inner piece uses it directly.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable
from contextlib import contextmanager
from dataclasses import dataclass

from ..llvm import FunctionText


@dataclass(slots=True)
class _Definition:
    text: str
    type: str
    site: tuple[int, ...]
    slot: str | None


class Slots:
    """Definitions by key, and where code is now: the guards around it."""

    def __init__(self, out: FunctionText) -> None:
        self._out = out
        self._site: tuple[int, ...] = ()
        self._guards = 0
        self._known: dict[Hashable, _Definition] = {}
        self._resets: list[str] = []

    @contextmanager
    def guarded(self) -> Generator[None]:
        """What is written meanwhile may be jumped over."""
        before = self._site
        self._guards += 1
        self._site = (*before, self._guards)
        yield
        self._site = before

    @contextmanager
    def level(self) -> Generator[None]:
        """Slots made meanwhile are zero again each time control passes here."""
        out = self._out
        before, reset, begin = out.current, out.fresh_block("reset"), out.fresh_block("begin")
        out.do(f"br label %{reset}")
        out.open(reset)
        out.open_merge(begin, before)
        self._resets.append(reset)
        yield
        self._resets.pop()
        current = out.current
        out.open(reset)
        out.do(f"br label %{begin}")
        out.open(current)

    @property
    def depth(self) -> int:
        """How many levels are open."""
        return len(self._resets)

    def make(self, type: str, depth: int | None = None) -> str:
        """A new slot, zero at first, and again at the beginning of the level of that number, if one is given."""
        out = self._out
        current = out.current
        out.open("entry")
        slot = out.value(f"alloca {type}")
        out.do(f"store {type} zeroinitializer, ptr {slot}")
        if depth is not None:
            out.open(self._resets[depth])
            out.do(f"store {type} zeroinitializer, ptr {slot}")
        out.open(current)
        return slot

    def load(self, type: str, slot: str) -> str:
        """What a slot holds."""
        return self._out.value(f"load {type}, ptr {slot}")

    def store(self, type: str, value: str, slot: str) -> None:
        """Put a value into a slot."""
        self._out.do(f"store {type} {value}, ptr {slot}")

    def define(self, key: Hashable, text: str, type: str, *, is_local: bool = False) -> None:
        """A value made here; a local one is not used beyond the guards around it. It may be made in several places, of
        which control passes one.
        """
        slot, before = None, self._known.get(key)
        if self._site and not is_local:
            slot = before.slot if before is not None and before.type == type else None
            slot = self.make(type, self.depth - 1) if slot is None else slot
            self.store(type, text, slot)
        self._known[key] = _Definition(text, type, self._site, slot)

    @contextmanager
    def replaced(self, key: Hashable, text: str) -> Generator[None]:
        """Meanwhile, and not afterwards, another name stands for a value."""
        before = self._known[key]
        self._known[key] = _Definition(text, before.type, self._site, None)
        yield
        self._known[key] = before

    def __contains__(self, key: Hashable) -> bool:
        return key in self._known

    def is_usable(self, key: Hashable) -> bool:
        """Whether code here can name the value, if it is one of these."""
        known = self._known.get(key)
        return known is None or known.slot is not None or self._site[: len(known.site)] == known.site

    def use(self, key: Hashable) -> str:
        """The value as code here can name it."""
        known = self._known[key]
        if self._site[: len(known.site)] == known.site:
            return known.text
        assert known.slot is not None, f"{key} is used beyond its guards"
        return self.load(known.type, known.slot)
