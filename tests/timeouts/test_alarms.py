"""Alarms: called in time, in order, not when taken back, and in the child of a fork; one thread for all of them."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from tinct.backend.alarms import Alarms


def test_an_alarm_that_is_due_is_called_once() -> None:
    alarms, called = Alarms(), list[str]()
    with alarms.set(0.05, lambda: called.append("soon")), alarms.set(60, lambda: called.append("late")):
        time.sleep(0.3)
    assert called == ["soon"]


def test_one_that_is_taken_back_is_not_called() -> None:
    alarms, called = Alarms(), list[str]()
    for _ in range(50):
        with alarms.set(0.05, lambda: called.append("")):
            pass
    time.sleep(0.2)
    assert called == []


def test_a_shorter_one_set_later_is_called_first() -> None:
    alarms, called = Alarms(), list[str]()
    with alarms.set(0.3, lambda: called.append("long")), alarms.set(0.05, lambda: called.append("short")):
        time.sleep(0.6)
    assert called == ["short", "long"]


def test_all_alarms_share_a_thread() -> None:
    alarms = Alarms()
    with alarms.set(60, lambda: None):
        before = threading.active_count()
        for _ in range(20):
            with alarms.set(30, lambda: None):
                assert threading.active_count() == before


@pytest.mark.parametrize("is_waiting", [False, True])
def test_the_child_of_a_fork_has_alarms_of_its_own(is_waiting: bool) -> None:
    alarms = Alarms()
    with alarms.set(60 if is_waiting else 1e-9, lambda: None):
        time.sleep(0.05)
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            called = threading.Event()
            with alarms.set(0.05, called.set):
                os._exit(0 if called.wait(10) else 1)
        assert os.waitpid(child, 0)[1] == 0
