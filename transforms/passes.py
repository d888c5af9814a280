"""Passes, pipelines of them, and the runner: the same for every stage of the tower.

A pass is a frozen dataclass with a `name`; its fields are its options, and `run` changes a module in place and says
whether it did. A `Stage` has its passes by name, so that the text `"dce,unroll{n=4}"` is a pipeline.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, Generic, Protocol, TypeVar

from ..base.deadline import check_compile_time
from ..base.errors import InputError
from ..base.interpreter_state import deep_nesting
from ..base.records import dataclass, field
from ..ir.hints import unknown_name
from ..ir.overrides import Number

IR = TypeVar("IR")
IR_contra = TypeVar("IR_contra", contravariant=True)


class Pass(Protocol[IR_contra]):
    """Changes a module of one stage."""

    @property
    def name(self) -> str:
        """The name in pipelines."""
        ...

    def run(self, module: IR_contra, /) -> bool:
        """Change the module; whether anything changed."""
        ...


@dataclass(frozen=True)
class Stage(Generic[IR]):
    """A stage: how its modules are verified (an exception if they are wrong) and printed, the passes on it, and
    pipelines of these that have a name.

    `groups` says for whom the passes are: a heading for each group, and the names of the passes in it.
    """

    name: str
    verify: Callable[[IR], None]
    text: Callable[[IR], str]
    passes: Mapping[str, type[Pass[IR]]]
    pipelines: Mapping[str, Pipeline[IR]] = field(default_factory=dict[str, "Pipeline[IR]"])
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])


@dataclass(frozen=True)
class Placed(Generic[IR]):
    """A pass in a pipeline; `why` gives the reason for its position."""

    step: Pass[IR]
    why: str


@dataclass(frozen=True)
class Pipeline(Generic[IR]):
    """Passes in order; `about` says what the pipeline is for."""

    about: str
    placed: tuple[Placed[IR], ...]

    @property
    def passes(self) -> tuple[Pass[IR], ...]:
        """The passes alone."""
        return tuple(it.step for it in self.placed)


def pipeline(about: str, *placed: tuple[Pass[IR], str]) -> Pipeline[IR]:
    """A pipeline of passes, each with the reason for its place."""
    return Pipeline(about, tuple(Placed(*it) for it in placed))


class BrokenPassError(Exception):
    """A pass left a module that does not verify: the cause is the verifier's exception."""


_ITEM: Final = r"\s*([\w-]+)\s*(?:\{([^{}]*)\})?\s*(?:,|\Z)"


def parse_pipeline(text: str, stage: Stage[IR]) -> tuple[Pass[IR], ...]:
    """The passes of a text such as `"dce,unroll{n=4}"`, in which the stage's pipelines may be named. A pass with a
    mapping of names to numbers takes these as options: `"substitute_overrides{size=4}"`. Raises InputError.
    """
    passes: list[Pass[IR]] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        match = re.compile(_ITEM).match(text, position)
        if match is None:
            raise InputError(
                f"cannot read the pipeline at {text[position:].strip()!r}: expected name or name{{option=value}}"
            )
        if match[1] in stage.pipelines and match[2] is None:
            passes.extend(stage.pipelines[match[1]].passes)
        else:
            passes.append(_make(match[1], match[2] or "", stage))
        position = match.end()
    return tuple(passes)


def _make(name: str, options: str, stage: Stage[IR]) -> Pass[IR]:
    if name not in stage.passes:
        names = sorted({*stage.passes, *stage.pipelines})
        raise InputError(unknown_name(f"no pass on {stage.name} is named {name!r}", name, names))
    kind = stage.passes[name]
    fields = _options(kind)
    values: dict[str, bool | int | str | dict[str, Number]] = {}
    open_field = next((name for name, type in fields.items() if type.startswith("Mapping[str")), None)
    fields.pop(open_field or "", None)
    for option in filter(None, (it.strip() for it in options.split(","))):
        key, equals, value = (it.strip() for it in option.partition("="))
        if equals and key not in fields and open_field is not None:
            found = values.setdefault(open_field, {})
            assert isinstance(found, dict)
            found[key] = _number(name, key, value)
            continue
        if key not in fields or not equals:
            known = ", ".join(fields) or "none"
            raise InputError(f"no option {option!r} of {name}; its options are: {known}")
        values[key] = _value(name, key, fields[key], value)
    return kind(**values)


def _number(name: str, key: str, text: str) -> Number:
    """A value that an option gives to something with a name of its own, as an override has."""
    if text in ("true", "false"):
        return text == "true"
    for read in (lambda: int(text, 0), lambda: float(text)):
        with suppress(ValueError):
            return read()
    raise InputError(f"the option {key!r} of {name} is a number, true or false, not {text!r}")


def _options(kind: type[object]) -> dict[str, str]:
    """The options of a pass and their types."""
    from dataclasses import fields, is_dataclass

    return {it.name: str(it.type) for it in fields(kind) if it.init} if is_dataclass(kind) else {}


def _value(name: str, key: str, kind: str, text: str) -> bool | int | str:
    if kind == "bool":
        if text not in ("true", "false"):
            raise InputError(f"the option {key!r} of {name} is true or false, not {text!r}")
        return text == "true"
    if kind != "int":
        return text
    try:
        return int(text, 0)
    except ValueError:
        raise InputError(f"the option {key!r} of {name} is an integer, not {text!r}") from None


@deep_nesting()
def run_passes(
    module: IR,
    passes: Sequence[Pass[IR]],
    stage: Stage[IR],
    *,
    verify_each: bool = False,
    after_each: Callable[[Pass[IR], IR], None] | None = None,
) -> bool:
    """Run passes in order; whether any changed the module.

    With `verify_each`, the module is verified before the first and after each pass, and a pass that breaks it raises
    BrokenPassError. `after_each` is called after each pass: for dumps and timing.
    """
    if verify_each:
        stage.verify(module)
    changed = False
    for step in passes:
        check_compile_time()
        changed |= step.run(module)
        if verify_each:
            _verify_after(step, module, stage)
        if after_each is not None:
            after_each(step, module)
    return changed


@deep_nesting()
def apply_passes(module: IR, passes: Sequence[Pass[IR]]) -> IR:
    """The module, changed in place by the passes. No table of all passes is needed, which would import all of them."""
    for step in passes:
        check_compile_time()
        step.run(module)
    return module


def _verify_after(step: Pass[IR], module: IR, stage: Stage[IR]) -> None:
    try:
        stage.verify(module)
    except Exception as error:
        raise BrokenPassError(f"the pass {step.name} breaks the module:\n{error}") from error
