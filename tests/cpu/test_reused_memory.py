"""Memory that is used again: never while an array or a view has it, and not too much of it."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

from tinct.backend.cpu import reused_memory
from tinct.backend.cpu.aligned import address_of
from tinct.backend.cpu.reused_memory import ReusedMemory

SIZE = 1 << 17


def test_memory_is_that_of_an_array_that_is_gone() -> None:
    memory, given = ReusedMemory(), np.arange(SIZE, dtype=np.uint8)
    first = memory.copy(given)
    place = address_of(first)
    view = first.view(np.uint16)[5:].reshape(-1)
    del first
    assert address_of(memory.copy(given)) != place  # the view has it
    assert view[0] == given.view(np.uint16)[5]
    window = view.data
    del view
    assert address_of(memory.copy(given)) != place
    del window
    gc.collect()
    again = memory.zeros((SIZE // 4,), np.dtype(np.float32))
    assert not again.any()
    del again
    assert address_of(memory.copy(given[::-1])) == place
    np.testing.assert_array_equal(memory.copy(given[::-1]), given[::-1])


def test_forms_of_arrays() -> None:
    memory = ReusedMemory()
    record = np.zeros(20_000, [("x", "f4"), ("y", ">u2", 3)])
    record["y"] = 7
    for given in (record, np.asfortranarray(np.random.default_rng(0).random((300, 200))), np.zeros((5, 0)), record[:3]):
        for _ in range(2):
            made = memory.copy(given)
            assert made.dtype == given.dtype
            assert made.flags.c_contiguous
            assert made.flags.writeable
            np.testing.assert_array_equal(made, given)


def test_not_too_much_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reused_memory, "_MOST", 1 << 20)
    memory = ReusedMemory()
    for bits in (19, 20, 18, 21, 19, 16):
        memory.copy(np.zeros(1 << bits, np.uint8))
    assert memory.kept == [1 << 18, 1 << 19, 1 << 16]


def test_threads() -> None:
    memory, wrong = ReusedMemory(), list[int]()

    def work(number: int) -> None:
        for turn in range(100):
            given = np.full(SIZE, (number * 31 + turn) % 256, np.uint8)
            held = [memory.copy(given) for _ in range(3)]
            if not all((it == given[0]).all() for it in held):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for it in threads:
        it.start()
    for it in threads:
        it.join()
    assert not wrong
