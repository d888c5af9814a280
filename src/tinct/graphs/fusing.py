"""Graphs in which leaves are fused along one-to-one edges: see `transforms.dataflow` and docs/fusion.md."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

import numpy as np

from ..backend.wgsl.printer import print_unit
from ..buffers import count_of_output, is_output, pack_binding, zeros_size
from ..ir import types as wgsl
from ..ir.core.nodes import Module as CoreModule
from ..ir.dataflow.nodes import EmbeddedShader, Query, Question, Reference
from ..ir.diagnostics import Diagnostic, Severity
from ..ir.layout import runtime_array, runtime_count
from ..ir.layout_packing import unpack
from ..ir.source import Source
from ..kernel import BufferValue
from ..reflection import BindingInfo
from ..sessions import Buffer
from ..shader import Shader
from ..transforms.dataflow.fusion import Fused, fuse
from ..transforms.dataflow.groups import Remark
from ..transforms.to_wgsl.unit import to_unit
from .devices import Where
from .edge_checks import accesses_of, with_access
from .joined_nests import join_nests
from .launch import Launch
from .linking import Links, link_graphs, link_leaves
from .machine import selected
from .plan import Plan
from .program import GraphProgram
from .repeating import Asked, repetition
from .running import GraphRun


@dataclass(frozen=True, slots=True)
class FusionRemark:
    """What became of a one-to-one edge: `edge` names its two ports. `text` is the message; with places in the graph's
    text and in the shader, it shows their lines.
    """

    edge: str
    message: str
    is_fused: bool
    text: str

    def __str__(self) -> str:
        return self.text


class FusedProgram(GraphProgram):
    """A graph in which leaves are fused. `original` is the graph that it was made of, `remarks` say what became of each
    one-to-one edge.

    Its `module` is the fused graph. A run whose numbers fail a test of `failure` executes the original instead.
    """

    def __init__(self, original: GraphProgram) -> None:
        joined = join_nests(original)
        program, fused = joined.program, _fused(joined.program)
        module = fused.module
        if module is program.module:
            super().__init__(module, program.shaders, program.links, program.source)
        else:
            shaders, links = _linked(program, fused)
            super().__init__(module, shaders, links, None)
        self.original = original
        self.remarks = (
            *(_remark(it, original) for it in joined.remarks),
            *(_remark(it, program) for it in fused.remarks),
        )
        self._joined = joined
        self._fusion = fused
        self._outcomes: deque[_Outcome] = deque(maxlen=_MOST_OUTCOMES)

    def __reduce__(self) -> tuple[Callable[..., GraphProgram], tuple[object, ...]]:
        return FusedProgram, (self.original,)

    def __dask_tokenize__(self) -> tuple[object, ...]:
        return "tinct.FusedProgram", self.original.__dask_tokenize__()

    def failure(self, inputs: Mapping[str, BufferValue], feed: Mapping[str, str] | None = None) -> str | None:
        """Why a run with these inputs executes the original graph, in words; None if it executes the fused one. With
        `feed`, as `run` takes it, for a run that is repeated.

        Raises InputError for inputs that do not fit.
        """
        if (reason := self.original.why_one_by_one) is not None:
            return reason
        facts = _InputFacts(self.inputs, inputs)
        try:
            found = self._tested(facts)
            return found or next(self._changes(facts, {} if feed is None else feed), None)
        except ZeroDivisionError:
            return "an expression divides by zero"

    def _tested(self, facts: _InputFacts) -> str | None:
        """What the tests say of a launch: as of an earlier one with equal numbers, if there was one lately."""
        for outcome in tuple(self._outcomes):
            if outcome.holds(facts):
                return outcome.failure
        failures = (test.failure(facts) for test in self._fusion.tests)
        found = next((it for it in failures if it is not None), None)
        self._outcomes.append(_Outcome(tuple(facts.answers.items()), found))
        return found

    def _changes(self, facts: _InputFacts, feed: Mapping[str, str]) -> Iterator[str]:
        """What a repetition may change of the numbers that the tests used."""
        for output, name in feed.items():
            if name in facts.numbers:
                yield f"the number {name!r} changes from one execution to the next"
            elif name in facts.lengths:
                length = self._fusion.output_length(output, facts)
                if length != facts.length(Reference(name, ())):
                    yield f"the length of {name!r} may change from one execution to the next"

    def executed(self, inputs: Mapping[str, BufferValue], feed: Mapping[str, str] | None = None) -> GraphProgram:
        """The graph that a run with these inputs executes: this one, or the original; see `failure`."""
        return self._chosen(inputs, {} if feed is None else feed) or self

    def _chosen(self, inputs: Mapping[str, BufferValue], feed: Mapping[str, str]) -> GraphProgram | None:
        """The original, if a run executes that; else None."""
        self._check_names(inputs)
        return None if self.failure(inputs, feed) is None else self.original

    def execute(self, inputs: Mapping[str, BufferValue], where: Where, asked: Asked, *, is_timed: bool) -> GraphRun:
        """Execute the fused graph, or the original."""
        self._options(inputs, where, asked, is_timed=is_timed)  # checks them
        other = self._chosen(inputs, repetition(self, asked).feed)
        if other is None:
            return super().execute(inputs, where, asked, is_timed=is_timed)
        return other.execute(inputs, self._unfused(where), asked, is_timed=is_timed)

    def begin(self, inputs: Mapping[str, BufferValue], where: Where, asked: Asked) -> Launch:
        """Launch the fused graph, or the original."""
        self._options(inputs, where, asked, is_timed=False)  # checks them
        other = self._chosen(inputs, repetition(self, asked).feed)
        if other is None:
            return super().begin(inputs, where, asked)
        return other.begin(inputs, self._unfused(where), asked)

    def planned(self, inputs: Mapping[str, BufferValue], where: Where, feed: Mapping[str, str] | None) -> Plan:
        """The plan of the fused graph, or of the original."""
        other = self._chosen(inputs, {} if feed is None else repetition(self, Asked(repeat=1, feed=feed)).feed)
        if other is None:
            return super().planned(inputs, where, feed)
        return other.planned(inputs, self._unfused(where), feed)

    def close(self) -> None:
        """Free the memory that is kept for the next run. The graph can still be run."""
        super().close()
        self.original.close()

    def _unfused(self, where: Where) -> Where:
        """The devices of the original's nodes: those of the nodes that they are fused into."""
        if isinstance(where.devices, str):
            return where
        found: dict[str, str] = {}
        for name, device in (where.devices or {}).items():
            for origin in self._origins(tuple(name.split("."))):
                found[".".join(origin)] = device
        return replace(where, devices=found)

    def _origins(self, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """The paths in the original of what is at a path."""
        nodes, joined = self._fusion.nodes, self._joined.nodes
        known = next((count for count in range(len(path), 0, -1) if path[:count] in nodes), 0)
        for first, *rest in nodes[path[:known]] if known else (path[:1],):
            for origin in joined.get(first, ((first,),)):
                yield (*origin, *rest, *path[known or 1 :])


def _fused(program: GraphProgram) -> Fused:
    return fuse(program.module, accesses_of(program), _text)


def _text(core: CoreModule) -> str:
    return print_unit(to_unit(core))


def _linked(original: GraphProgram, fused: Fused) -> tuple[dict[str, Shader], Links]:
    """The shaders of a fused module, linked to it."""
    shaders: dict[str, Shader] = {}
    for it in fused.module.shaders:
        if it.name in original.shaders:
            shaders[it.name] = original.shaders[it.name]
        elif isinstance(it.source, EmbeddedShader):
            shaders[it.name] = Shader(Source.from_text(it.source.text, f"<fused {it.name}>"))
    links = Links(hosts=dict(original.links.hosts))
    wrong = link_leaves(fused.module, shaders, links) or link_graphs(fused.module, links)
    assert not wrong, "; ".join(it.message for it in wrong)
    return shaders, links


def _remark(remark: Remark, program: GraphProgram) -> FusionRemark:
    """The remark with the lines that it is about."""
    severity = Severity.INFO if remark.is_fused else Severity.WARNING
    message = f"{remark.edge}: {remark.message}"
    about = Diagnostic(severity, "fusion", message, remark.span)
    return FusionRemark(
        remark.edge, remark.message, remark.is_fused, with_access(about, program, remark.shader, remark.at)
    )


Number: TypeAlias = "tuple[Reference, bool]"
"""What a reference leads to, or, if true, the length of it."""
_MOST_OUTCOMES: Final = 4
"""How many launches are remembered, with the numbers that they were tested for."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What the tests said of a launch, and the numbers of its inputs that decided it."""

    numbers: tuple[tuple[Number, int], ...]
    failure: str | None

    def holds(self, facts: _InputFacts) -> bool:
        """Whether a launch has the same numbers."""
        return all(facts.answered(number) == value for number, value in self.numbers)


@dataclass(frozen=True, slots=True)
class _InputFacts:
    """The numbers in the inputs of a run."""

    infos: Mapping[str, BindingInfo]
    inputs: Mapping[str, BufferValue]
    numbers: set[str] = field(default_factory=set[str])
    """The inputs that numbers were asked of."""
    lengths: set[str] = field(default_factory=set[str])
    """The inputs whose lengths were asked."""
    answers: dict[Number, int] = field(default_factory=dict["Number", int])

    def answered(self, number: Number) -> int:
        """A number that was asked of other inputs."""
        reference, is_length = number
        return self.length(reference) if is_length else self.number(reference)

    def length(self, reference: Reference) -> int:
        if (reference, True) not in self.answers:
            self.answers[reference, True] = self._length(reference)
        return self.answers[reference, True]

    def number(self, reference: Reference) -> int:
        if (reference, False) not in self.answers:
            self.answers[reference, False] = self._number(reference)
        return self.answers[reference, False]

    def _length(self, reference: Reference) -> int:
        self.lengths.add(reference.name)
        info, given = self.infos[reference.name], self.inputs[reference.name]
        type = info.type
        if isinstance(type, wgsl.Array) and isinstance(type.count, int):
            return type.count
        element = runtime_array(type)
        if isinstance(type, wgsl.Array) and isinstance(type.element, wgsl.Scalar) and isinstance(given, np.ndarray):
            return given.size
        assert element is not None
        return runtime_count(type, _size(info, given))

    def _number(self, reference: Reference) -> int:
        self.numbers.add(reference.name)
        info, given = self.infos[reference.name], self.inputs[reference.name]
        data = given.numpy() if isinstance(given, Buffer) else given
        found: Any = unpack(info.type, pack_binding(info, data))
        for selector in reference.selectors:
            found = selected(found, selector)
        return int(np.asarray(found))

    def answer(self, query: Query) -> int:
        assert query.question is Question.NUM_DIMS
        return 0


def _size(info: BindingInfo, given: BufferValue) -> int:
    """The number of bytes of an input."""
    if isinstance(given, (Buffer, bytes, bytearray)):
        return len(given) if isinstance(given, (bytes, bytearray)) else given.nbytes
    if is_output(given):
        return zeros_size(info, count_of_output(given))
    return len(pack_binding(info, given))
