"""Judging records in parallel processes; one that crashes or hangs costs its record alone."""

from __future__ import annotations

import multiprocessing
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import TypeAlias, cast

from tests.machines import machine

from . import judges, round_trips
from .records import Record


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of each record: `kind` names the judge, `device` is for execution, `pipelines` for transforms.
    `machine` is the seed of a machine that the CPU's code is for; None for this one.
    """

    kind: str
    device: str = "cpu"
    pipelines: tuple[str, ...] = ()
    machine: int | None = None

    def judge(self) -> judges.Judge:
        """The judge, made in the process in which it works."""
        match self.kind:
            case "validation":
                return judges.validation
            case "execution":
                return judges.execution(self.device)
            case "roundtrip":
                return round_trips.roundtrip
            case "forms":
                return round_trips.forms
            case "naga":
                return round_trips.naga()
            case "tint":
                return round_trips.tint()
            case "transforms":
                return round_trips.transforms(self.pipelines)
            case _:
                raise ValueError(f"no question is called {self.kind!r}")


@dataclass(frozen=True, slots=True)
class Outcome:
    """`problem` is None when tinct is right on the record; `skipped` says why there was nothing to judge."""

    record: Record
    problem: str | None
    skipped: str | None = None


Answer: TypeAlias = tuple[str | None, str | None]
"""The problem, and why there was nothing to judge."""


@dataclass(slots=True)
class _Worker:
    process: multiprocessing.process.BaseProcess
    pipe: Connection
    record: Record | None = None
    started: float = 0.0

    def give(self, record: Record) -> None:
        self.record, self.started = record, time.monotonic()
        self.pipe.send(record)


def judge_all(question: Question, records: Iterable[Record], *, jobs: int, seconds: float = 60.0) -> Iterator[Outcome]:
    """The outcomes, in the order they come. A record may take `seconds`."""
    pending = iter(records)
    workers = [_start(question) for _ in range(jobs)]
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
            busy[index] = _start(question)
        busy = [worker for worker in busy if worker.record is not None or _feed(worker, pending)]
    for worker in workers:
        worker.process.terminate()


def _start(question: Question) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(question, theirs), daemon=False)
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
            problem, skipped = cast("Answer", worker.pipe.recv())
        except (EOFError, OSError):
            worker.process.join(5)
            return Outcome(record, f"the process died with code {worker.process.exitcode}")
        worker.record = None
        return Outcome(record, problem, skipped)
    if time.monotonic() - worker.started > seconds:
        worker.process.kill()
        return Outcome(record, f"no answer in {seconds:.0f} s")
    return None


def _serve(question: Question, pipe: Connection) -> None:
    """A worker: answers records until the pipe closes."""
    with machine(question.machine):
        judge = question.judge()
        while True:
            try:
                record = pipe.recv()
            except (EOFError, OSError):
                return
            pipe.send(_answer(judge, record))


def _answer(judge: judges.Judge, record: Record) -> Answer:
    """The judge's answer. An exception is a bug of ours: the record is wrong, and the others go on."""
    try:
        return judge(record), None
    except round_trips.SkippedError as reason:
        return None, str(reason)
    except Exception:  # whatever a stage raises is what the score is to show
        return traceback.format_exc(limit=-3), None
