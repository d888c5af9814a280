"""What a caller asks of a run: where, how often, and which outputs become inputs of the next execution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

from ..arguments import count_of, mapping_of, name_of
from ..base.errors import InputError
from ..ir import types as wgsl
from ..ir.hints import unknown_name
from ..ir.layout_numbers import shown
from .wgsl_types import fits

if TYPE_CHECKING:
    from .program import GraphProgram


@dataclass(frozen=True, slots=True)
class Repetition:
    """`most` executions, or no limit; `feed` has inputs by the outputs that become them. See `GraphProgram.run`."""

    most: int | None
    feed: Mapping[str, str]
    until: str | None = None
    every: int | None = None


ONCE = Repetition(1, {})


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of a run that are about repeating, as they were given."""

    repeat: int | None = None
    until: str | None = None
    every: int | None = None
    feed: Mapping[str, str] | None = None


def repetition(graph: GraphProgram, asked: Asked) -> Repetition:
    """What the options mean for a graph. Raises InputError."""
    if asked.repeat is None and asked.until is None:
        for name, value in (("feed", asked.feed), ("every", asked.every)):
            if value is not None:
                raise InputError(f"{name} is for a graph that is repeated: give repeat or until")
        return ONCE
    most = None if asked.repeat is None else count_of(asked.repeat, "repeat")
    if most is not None and most < 0:
        raise InputError(f"repeat is a number of executions, not {most}")
    feed = _same_names(graph) if asked.feed is None else _given_feed(graph, asked.feed)
    return Repetition(most, feed, _until(graph, asked.until), _every(asked))


def _every(asked: Asked) -> int | None:
    if asked.every is None:
        return None
    if asked.until is None:
        raise InputError("every says how often until is looked at: give until")
    every = count_of(asked.every, "every")
    if every < 1:
        raise InputError(f"every is a number of executions of at least 1, not {every}")
    return every


def _until(graph: GraphProgram, given: str | None) -> str | None:
    if given is None:
        return None
    name = name_of(given, "until", "converged")
    if name not in graph.outputs:
        raise InputError(unknown_name(f"graph {graph.name!r} has no output named {name!r}", name, graph.outputs))
    if not _is_one_integer(graph.output_type(name)):
        raise InputError(f"until takes an output that is one whole number, but {name!r} is {graph.outputs[name]}")
    return name


def _is_one_integer(type: wgsl.Type) -> bool:
    if isinstance(type, wgsl.Array) and (type.count == 1 or type.count is None):
        type = type.element
    if isinstance(type, wgsl.Atomic):
        type = type.element
    return type in (wgsl.I32, wgsl.U32)


def _same_names(graph: GraphProgram) -> dict[str, str]:
    """The outputs that have the name and the layout of an input."""
    same = [name for name in graph.outputs if name in graph.inputs]
    found = {name: name for name in same if _is_fed(graph, name, name)}
    if found:
        return found
    why = "no output has the name of an input"
    if same:
        why = " and ".join(_misfit(graph, name, name) for name in same)
    raise InputError(
        f"graph {graph.name!r} cannot be repeated: {why}; feed={{output: input}} says which output becomes which input"
    )


def _given_feed(graph: GraphProgram, given: Mapping[str, str]) -> dict[str, str]:
    feed: dict[str, str] = {}
    for output, name in mapping_of(given, "feed", ("output",)).items():
        if output not in graph.outputs:
            message = f"feed: graph {graph.name!r} has no output named {shown(output)}"
            raise InputError(unknown_name(message, str(output), graph.outputs))
        if not _is_name(name) or name not in graph.inputs:
            message = f"feed: graph {graph.name!r} has no input named {shown(name)}"
            raise InputError(unknown_name(message, str(name), graph.inputs))
        if name in feed.values():
            raise InputError(f"feed: two outputs cannot become the input {name!r}")
        if not _is_fed(graph, output, name):
            raise InputError(f"feed: {_misfit(graph, output, name)}")
        feed[output] = name
    if not feed:
        raise InputError("feed names no output, so that each execution would be the same")
    return feed


def _is_name(value: object) -> TypeGuard[str]:
    return isinstance(value, str)


def _is_fed(graph: GraphProgram, output: str, name: str) -> bool:
    given, wanted = graph.output_type(output), graph.inputs[name].type
    return fits(wanted, given) or fits(given, wanted)


def _misfit(graph: GraphProgram, output: str, name: str) -> str:
    return f"output {output!r} is {graph.outputs[output]}, but the input {name!r} is {graph.inputs[name].type}"
