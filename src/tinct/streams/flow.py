"""The items of a stream that are under way, and the threads that run their stages."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..base.errors import DeviceError, InputError
from .stages import Stage, Values

_MOST_TRIES: Final = 3
"""How often a stage runs for an item whose device dies; all runs but the first have no other beside them."""


@dataclass(eq=False, slots=True)
class Item:
    """An item: what is known of it, and the number of the stage that is next."""

    number: int
    values: dict[Hashable, Any]
    stage: int = 0
    tries: int = 0
    is_running: bool = False
    error: BaseException | None = None

    @property
    def is_suspect(self) -> bool:
        """Whether a device died while the stage ran: it runs again with no other beside it, to see if it is why."""
        return self.tries > 0


@dataclass(slots=True)
class Flow:
    """Items in order. `changed` guards everything; those who push and pop wait for it.

    Of the stages that may run, that of the earliest item does. `states` has what a stage that takes state gets, by the
    number of the item, until the item has it.
    """

    stages: Sequence[Stage]
    states: dict[int, Values]
    workers: int
    can_retry: Callable[[BaseException], bool]
    changed: threading.Condition = field(init=False)
    _work: threading.Condition = field(init=False)
    """What threads without a stage wait for, with the same lock."""
    items: deque[Item] = field(default_factory=deque[Item])
    pushed: int = 0
    is_closed: bool = False
    is_cancelled: bool = False
    ended_by: int | None = None
    """The first item that failed before it had state for the next one."""
    threads: list[threading.Thread] = field(default_factory=list[threading.Thread])

    def __post_init__(self) -> None:
        lock = threading.RLock()
        self.changed, self._work = threading.Condition(lock), threading.Condition(lock)

    def add(self, values: Values) -> int:
        """Add an item; its number. The lock is held."""
        self.items.append(Item(self.pushed, dict(values)))
        self.pushed += 1
        self.threads = [it for it in self.threads if it.is_alive()]
        if len(self.threads) < min(self.workers, len(self.items)):
            thread = threading.Thread(target=self._serve, name="tinct stream", daemon=True)
            self.threads.append(thread)
            thread.start()
        self._work.notify()
        return self.pushed - 1

    def is_done(self, item: Item) -> bool:
        """Whether an item has its results or an error. The lock is held."""
        return not item.is_running and (item.error is not None or item.stage == len(self.stages))

    def close(self) -> None:
        """Take no more items."""
        with self.changed:
            self.is_closed = True
            self._work.notify_all()
            self.changed.notify_all()

    def cancel(self) -> None:
        """Forget all items. A stage that runs is not stopped, but nothing follows it."""
        with self.changed:
            self.is_cancelled = True
            self.items.clear()
            self.close()

    # Threads

    def _serve(self) -> None:
        while True:
            with self.changed:
                item = self._next()
                while item is None:
                    if self.is_cancelled or (self.is_closed and all(map(self.is_done, self.items))):
                        self._work.notify_all()  # the other threads end, too
                        return
                    self._work.wait()
                    item = self._next()
                stage, values = self._start(item)
                if self._next() is not None:
                    self._work.notify()
            self._run(item, stage, values)
            del item, values  # while this thread waits, they may end

    def _start(self, item: Item) -> tuple[Stage, Values]:
        stage, item.is_running = self.stages[item.stage], True
        if stage.takes_state and item.number in self.states:
            item.values |= self.states.pop(item.number)
        return stage, dict(item.values)

    def _run(self, item: Item, stage: Stage, values: Values) -> None:
        try:
            made = dict(stage.run(values))
            state = None if stage.new_state is None else stage.new_state({**values, **made})
        except BaseException as error:  # which `pop` raises
            with self.changed:
                item.is_running = False
                self._fail(item, error)
                self.changed.notify_all()
            return
        with self.changed:
            item.is_running = False
            item.values |= made
            item.stage, item.tries = item.stage + 1, 0
            if state is not None and item.error is None and any(it.takes_state for it in self.stages):
                self.states[item.number + 1] = state
            self.changed.notify_all()

    def _fail(self, item: Item, error: BaseException) -> None:
        if item.error is not None:
            return
        if self.can_retry(error) and item.tries + 1 < _MOST_TRIES:
            item.tries += 1
            return
        item.error = error
        if not any(it.new_state is not None for it in self.stages[item.stage :]):
            return
        self.ended_by = item.number if self.ended_by is None else min(item.number, self.ended_by)
        for other in self.items:
            if other.number > item.number and other.error is None and not self.is_done(other):
                message = f"it did not run, since item {item.number} failed, whose results it needs"
                other.error = InputError(message)

    # Order

    def _next(self) -> Item | None:
        """The earliest item with a stage that may run now."""
        running = sum(it.is_running for it in self.items)
        for item in self.items:
            if self._may_run(item, running):
                return item
            if item.is_suspect and not self.is_done(item):
                return None
        return None

    def _may_run(self, item: Item, running: int) -> bool:
        if item.is_running or item.error is not None or item.stage == len(self.stages):
            return False
        if item.is_suspect and running:
            return False
        if any(it.is_running and it.is_suspect for it in self.items):
            return False
        stage = self.stages[item.stage]
        return not stage.takes_state or item.number in self.states or item.is_suspect


def named_error(error: BaseException, number: int) -> BaseException:
    """The error of an item, with the item's number."""
    for kind in (InputError, DeviceError):
        if isinstance(error, kind):
            found = kind(f"item {number}: {error}")
            found.__cause__ = error
            return found
    error.add_note(f"raised for item {number} of a stream")
    return error
