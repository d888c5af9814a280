"""Judging records in parallel processes; one that crashes or hangs costs its record alone."""

from __future__ import annotations

import multiprocessing
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import cast

from . import judges
from .records import Record


@dataclass(frozen=True, slots=True)
class Outcome:
    """`problem` is None when tinct is right on the record."""

    record: Record
    problem: str | None


@dataclass(slots=True)
class _Worker:
    process: multiprocessing.process.BaseProcess
    pipe: Connection
    record: Record | None = None
    started: float = 0.0

    def give(self, record: Record) -> None:
        self.record, self.started = record, time.monotonic()
        self.pipe.send(record)


def judge_all(
    question: str, device: str, records: Iterable[Record], *, jobs: int, seconds: float = 60.0
) -> Iterator[Outcome]:
    """The outcomes, in the order they come. A record may take `seconds`."""
    pending = iter(records)
    workers = [_start(question, device) for _ in range(jobs)]
    busy = [worker for worker in workers if _feed(worker, pending)]
    while busy:
        ready = cast("list[Connection]", wait([worker.pipe for worker in busy], timeout=1.0))
        for index, worker in enumerate(busy):
            outcome = _outcome(worker, worker.pipe in ready, seconds)
            if outcome is None:
                continue
            yield outcome
            if worker.process.is_alive() and worker.record is None:
                continue
            worker.pipe.close()
            busy[index] = _start(question, device)
        busy = [worker for worker in busy if worker.record is not None or _feed(worker, pending)]
    for worker in workers:
        worker.process.terminate()


def _start(question: str, device: str) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(question, device, theirs), daemon=False)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _feed(worker: _Worker, pending: Iterator[Record]) -> bool:
    record = next(pending, None)
    if record is None:
        worker.process.terminate()
        return False
    worker.give(record)
    return True


def _outcome(worker: _Worker, is_ready: bool, seconds: float) -> Outcome | None:
    """What a worker has to say now: an answer, its death, or that it takes too long; None while it works."""
    record = worker.record
    assert record is not None
    if is_ready:
        try:
            problem = cast("str | None", worker.pipe.recv())
        except (EOFError, OSError):
            worker.process.join(5)
            return Outcome(record, f"the process died with code {worker.process.exitcode}")
        worker.record = None
        return Outcome(record, problem)
    if time.monotonic() - worker.started > seconds:
        worker.process.kill()
        return Outcome(record, f"no answer in {seconds:.0f} s")
    return None


def _serve(question: str, device: str, pipe: Connection) -> None:
    """A worker: answers records until the pipe closes."""
    judge = {
        "validation": lambda: judges.validation,
        "execution": lambda: judges.execution(device),
        "roundtrip": lambda: judges.roundtrip,
    }[question]()
    while True:
        try:
            record = pipe.recv()
        except (EOFError, OSError):
            return
        pipe.send(_answer(judge, record))


def _answer(judge: judges.Judge, record: Record) -> str | None:
    """The judge's answer. An exception is a bug of ours: the record is wrong, and the others go on."""
    try:
        return judge(record)
    except Exception:  # whatever a stage raises is what the score is to show
        return traceback.format_exc(limit=-3)
