"""Values that are computed when they are first wanted, by several threads and in forks."""

from __future__ import annotations

import os
import signal
import threading
import weakref

from tinct.base.cached import cached_property, kept_with_argument


class Slow:
    """Begins to compute, and waits until it may go on."""

    def __init__(self) -> None:
        self.has_begun, self.may_go_on = threading.Event(), threading.Event()
        self.times = 0

    @cached_property
    def value(self) -> object:
        """A new object each time."""
        self.times += 1
        self.has_begun.set()
        assert self.may_go_on.wait(60)
        return object()


def test_it_is_computed_once() -> None:
    slow = Slow()
    slow.may_go_on.set()
    assert slow.value is slow.value
    assert slow.times == 1
    assert Slow.value.__doc__ == "A new object each time."


def test_threads_and_forks_do_not_wait_for_other_objects() -> None:
    first, second = Slow(), Slow()
    second.may_go_on.set()
    thread = threading.Thread(target=lambda: first.value)
    thread.start()
    assert first.has_begun.wait(60)
    assert second.value is second.value
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        third = Slow()
        third.may_go_on.set()
        os._exit(0 if third.value is third.value else 1)
    assert os.waitpid(child, 0)[1] == 0
    first.may_go_on.set()
    thread.join(60)
    assert not thread.is_alive()


def test_two_threads_have_one_result() -> None:
    slow, found = Slow(), list[object]()
    threads = [threading.Thread(target=lambda: found.append(slow.value)) for _ in range(2)]
    for it in threads:
        it.start()
    assert slow.has_begun.wait(60)
    slow.may_go_on.set()
    for it in threads:
        it.join(60)
    assert len(found) == 2
    assert found[0] is found[1] is slow.value


def test_a_result_is_kept_with_its_argument_and_goes_with_it() -> None:
    calls: list[Slow] = []

    @kept_with_argument
    def number(slow: Slow) -> int:
        """How many calls there were."""
        calls.append(slow)
        return len(calls)

    first, second = Slow(), Slow()
    assert (number(first), number(second), number(first)) == (1, 2, 1)
    assert calls == [first, second]
    assert number.__doc__ == "How many calls there were."
    calls.clear()
    gone = weakref.ref(second)
    del second
    assert gone() is None
