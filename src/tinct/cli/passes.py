"""`--list` of the commands that run passes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from ..transforms.passes import Stage

IR = TypeVar("IR")
F = TypeVar("F", bound=Callable[..., object])


def list_option(stage: Callable[[], Stage[Any]]) -> Callable[[F], F]:
    """The option `--list`, which prints the passes of a stage by who runs them, and the named pipelines.

    `stage` is called when the option is used, so that the command starts without importing all passes.
    """

    def show(ctx: click.Context, _: click.Parameter, is_wanted: bool) -> None:
        if is_wanted:
            click.echo("\n".join(described(stage())))
            ctx.exit()

    help = "Print what passes and pipelines there are."
    return click.option("--list", is_flag=True, is_eager=True, expose_value=False, callback=show, help=help)


def described(stage: Stage[Any]) -> list[str]:
    """The lines of `--list`: passes by group, and pipelines, with the reasons for the places of their passes."""
    width = max(map(len, (*stage.passes, *stage.pipelines)))
    lines: list[str] = []
    for heading, names in stage.groups.items():
        lines += [f"{heading}:", *(f"  {name:<{width}}  {_about(stage.passes[name])}" for name in names), ""]
    if stage.pipelines:
        lines += ["Pipelines:", *(f"  {name:<{width}}  {it.about}" for name, it in stage.pipelines.items()), ""]
    for name, pipeline in stage.pipelines.items():
        steps = [f"  {it.step.name:<{width}}  {it.why}" for it in pipeline.placed]
        lines += [f"{name}, in order:", *steps, ""] if steps else []
    return lines[:-1]


def _about(kind: type[object]) -> str:
    return (sys.modules[kind.__module__].__doc__ or "").splitlines()[0]
