"""`Stream`: values are pushed in at one end, and popped at the other, in order."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Final

from ..arguments import seconds_of
from ..backend.alarms import ALARMS
from ..base.errors import InputError
from .flow import Flow, Item, named_error
from .stages import Stage, Values

_ALONE_SECONDS: Final = 60.0
"""How long a call without a time limit waits for other threads, if only the calling thread has used the stream."""
_TURN_SECONDS: Final = 0.5
"""How often a call that waits looks whether other threads are still there."""


class Stream:
    """A stream that is open; see docs/streams.md.

    At most `depth` items are under way: pushed, and not popped yet. Threads may share a stream. `push` and `pop` wait
    for as long as it takes, or `timeout` seconds, after which they raise TimeoutError. A wait that no other thread
    could end is an InputError: at once if there is no other thread, and else after a minute if no other one has used
    the stream, unless `timeout` says how long to wait (`math.inf` for ever).

    Leaving its `with` statement closes it; leaving that by an exception forgets all items.
    """

    def __init__(
        self,
        stages: Sequence[Stage],
        *,
        depth: int,
        workers: int,
        state: Values,
        can_retry: Callable[[BaseException], bool],
        prepare: Callable[[Any], Values],
        finish: Callable[[Values], dict[str, Any]],
    ) -> None:
        self._flow = Flow(stages, {0: state}, workers, can_retry)
        self._depth = depth
        self._prepare, self._finish = prepare, finish
        self._users: set[int] = set()
        """The threads that have used the stream."""
        self._process = os.getpid()
        weakref.finalize(self, self._flow.cancel).atexit = False

    def __repr__(self) -> str:
        closed = ", closed" if self._flow.is_closed else ""
        return f"<Stream: {len(self._flow.items)} of {self._depth} items under way{closed}>"

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self._flow.cancel()

    @property
    def depth(self) -> int:
        """The largest number of items that are under way."""
        return self._depth

    @property
    def is_full(self) -> bool:
        """Whether `push` would wait."""
        return len(self._flow.items) >= self._depth

    @property
    def is_ready(self) -> bool:
        """Whether `pop` would not wait."""
        with self._entered():
            return bool(self._flow.items) and self._flow.is_done(self._flow.items[0])

    def push(self, inputs: Any, timeout: float | None = None) -> int:
        """Add an item, and return its number, counted from 0. Waits while the stream is full.

        `inputs` is copied, but for read-only arrays, and may be changed afterwards. Raises InputError for names that do
        not fit, a stream that is closed or has ended, and a wait that nobody could end; TimeoutError.
        """
        values = self._prepare(inputs)
        with self._entered():
            self._check_open()
            self._wait(lambda: self.is_full and not self._flow.is_closed, timeout, "push", self._full)
            self._check_open()
            return self._flow.add(values)

    def pop(self, timeout: float | None = None) -> dict[str, Any]:
        """The outputs of the next item, in the order of the pushes. Waits until they are there.

        The arrays are the caller's own. Raises what the item's run has raised, with the item's number, after which the
        next `pop` is for the item after it; InputError for a stream that is closed and has no item left, and for a wait
        that nobody could end; TimeoutError.
        """
        item = self._popped(timeout)
        if item is None:
            raise InputError("the stream is closed, and all its items were popped")
        return self._result(item)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The outputs of all items until the stream is closed and empty; raises as `pop` does."""
        while True:
            item = self._popped(None)
            if item is None:
                return
            yield self._result(item)

    def close(self) -> None:
        """Take no more items. What is under way goes on, and can be popped, also after the `with` statement."""
        with self._entered():
            self._flow.close()

    # Waiting

    def _entered(self) -> threading.Condition:
        if self._process != os.getpid():
            raise InputError("the stream belongs to the process that was forked: make one in this process")
        return self._flow.changed

    def _popped(self, timeout: float | None) -> Item | None:
        flow = self._flow
        with self._entered():
            self._wait(self._has_to_wait, timeout, "pop", self._idle)
            if not flow.items:
                return None
            item = flow.items.popleft()
            flow.changed.notify_all()
            return item

    def _has_to_wait(self) -> bool:
        flow = self._flow
        return not flow.is_done(flow.items[0]) if flow.items else not flow.is_closed

    def _result(self, item: Item) -> dict[str, Any]:
        if item.error is not None:
            raise named_error(item.error, item.number)
        return self._finish(item.values)

    def _check_open(self) -> None:
        if self._flow.ended_by is not None:
            raise InputError(
                f"the stream has ended, since item {self._flow.ended_by} failed, whose results others need"
            )
        if self._flow.is_closed:
            raise InputError("the stream is closed: nothing can be pushed")

    def _full(self) -> str:
        """Why a full stream stays full unless another thread pops."""
        items = "1 item is" if self._depth == 1 else f"{self._depth} items are"
        return f"{items} under way, and no other thread pops one: pop before the next push"

    def _idle(self) -> str | None:
        """Why an empty stream stays empty unless another thread pushes."""
        return None if self._flow.items else "nothing is under way, so that a pop waits for ever: push first, or close"

    def _wait(
        self, waits: Callable[[], bool], timeout: float | None, what: str, stuck: Callable[[], str | None]
    ) -> None:
        """Wait with the lock held. `stuck` says why only another thread can end the wait."""
        self._users.add(threading.get_ident())
        start = time.monotonic()
        seconds = 0.0 if timeout == 0 and not isinstance(timeout, bool) else seconds_of(timeout)
        while waits():
            waited = time.monotonic() - start
            if seconds is not None and waited >= seconds:
                raise TimeoutError(f"{what} waited for {seconds:g} s")
            reason = stuck() if seconds is None else None
            if reason is not None and self._is_alone(waited):
                raise InputError(reason)
            left = _TURN_SECONDS if seconds is None else min(seconds - waited, _TURN_SECONDS)
            self._flow.changed.wait(left)

    def _is_alone(self, waited: float) -> bool:
        """Whether no other thread is expected to use the stream, for which this one has waited so many seconds."""
        own = {threading.current_thread(), ALARMS.thread, *self._flow.threads}
        has_others = any(it not in own for it in threading.enumerate())
        return not has_others or (waited > _ALONE_SECONDS and len(self._users) == 1)
