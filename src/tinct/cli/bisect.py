"""`tinct bisect`: which pass, and which function, changes an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from ..base.errors import InputError
from ..bisecting import Arrays, Dispatch, Expectation, Finding, bisect
from ..cases import Case, load_cases
from ..ir.core.nodes import Module
from ..ir.hints import unknown_name
from ..shader import Shader, load
from ..transforms.passes import Pass, parse_pipeline
from ..transforms.pipelines import CORE
from .buffer_specs import make_buffers
from .device_names import ADAPTER_HELP, DEVICE_OR_REFERENCE, device_or_reference
from .options import constants_option, parse_constants, parse_extent, read_shader

DEFAULT_PASSES = "robustness,zero_init_workgroup_memory"


@click.command(
    name="bisect",
    epilog=f"""\b
FILE is a shader, with --buffer and --threads as for `tinct run`, or a case file (TOML): then the case says it all.

\b
Examples:
  tinct bisect shaders/scan/scan_blelloch.toml --passes inline,mem2reg,unroll,dce
  tinct bisect kernel.wgsl -b data=arange:64 --threads 64 --passes mem2reg,licm
  tinct bisect shaders/nbody/nbody.toml --case small --against gpu

{ADAPTER_HELP}

\b
Exit codes: 1 if a pass, or the shader as it is, gives another answer than expected.
""",
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--passes", "pipeline", default=DEFAULT_PASSES, show_default=True, help="The passes to run, in order.")
@click.option("--case", "case_name", help="The case of a case file; without it, all that suit an interpreter.")
@click.option(
    "--against",
    type=device_or_reference,
    metavar=DEVICE_OR_REFERENCE,
    help="Whose answer is right: the case's numpy reference, or a device. The interpreter's before any pass, if not "
    "given.",
)
@click.option("--entry", help="The entry point; needed when the shader has several.")
@click.option("-b", "--buffer", "buffers", multiple=True, metavar="NAME=SPEC", help="What a binding holds.")
@click.option("--threads", metavar="N[xM[xK]]", help="Invocations, rounded up to whole workgroups; a 0 runs nothing.")
@click.option("--workgroups", metavar="N[xM[xK]]", help="Workgroups; a 0 runs nothing.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For random buffers.")
@constants_option
def command(
    file: str,
    pipeline: str,
    case_name: str | None,
    against: str | None,
    entry: str | None,
    buffers: tuple[str, ...],
    threads: str | None,
    workgroups: str | None,
    seed: int,
    constants: tuple[str, ...],
) -> None:
    """Find the first pass, and in it the function, after which the interpreter's answer is not the expected one."""
    passes = parse_pipeline(pipeline, CORE)
    if file.endswith(".toml"):
        jobs = [_of_case(case, against) for case in _cases(Path(file), case_name)]
    else:
        kernel = Shader(read_shader(file)).kernel(entry)
        dispatch = Dispatch(
            kernel,
            make_buffers(kernel, buffers, seed),
            parse_constants(constants),
            workgroups=parse_extent(workgroups, "--workgroups"),
            threads=parse_extent(threads, "--threads"),
        )
        jobs = [(kernel.info.name, dispatch, Expectation(_right(dispatch, against), {}))]
    found = [_report(name, bisect(dispatch, passes, expected), passes) for name, dispatch, expected in jobs]
    if any(found):
        raise click.exceptions.Exit(1)


def _right(dispatch: Dispatch, against: str | None) -> Arrays:
    if against == "reference":
        raise InputError("--against reference needs a case file")
    return dispatch.on(against or "interp")


def _cases(file: Path, name: str | None) -> Sequence[Case]:
    cases = [case for kernel in load_cases(file) for case in kernel.cases]
    if name is None:
        return [case for case in cases if case.interp]
    chosen = [case for case in cases if case.name == name]
    if not chosen:
        raise InputError(unknown_name(f"no case is named {name!r}", name, [case.name for case in cases]))
    return chosen


def _of_case(case: Case, against: str | None) -> tuple[str, Dispatch, Expectation]:
    if case.is_of_function:
        raise InputError(f"{case.kernel_path} is Hercules IR: tinct bisect takes shaders")
    kernel = load(case.kernel_path).kernel(case.entry)
    inputs = case.inputs_of(kernel.bindings)
    dispatch = Dispatch(
        kernel, {**inputs, **case.samplers}, case.constants, workgroups=case.workgroups, threads=case.threads
    )
    if against == "reference":
        arrays = case.expected(inputs)
        if arrays is None:
            raise InputError(f"{case.file}: case '{case.name}' has no reference")
        return case.name, dispatch, Expectation(arrays, case.outputs)
    arrays = {name: array for name, array in _right(dispatch, against).items() if name in case.outputs}
    return case.name, dispatch, Expectation(arrays, case.outputs)


def _report(name: str, finding: Finding | None, passes: Sequence[Pass[Module]]) -> bool:
    """Print the finding. Returns whether there is one."""
    if finding is None:
        click.echo(f"{name}: the same answer after each of {len(passes)} passes")
        return False
    if finding.step is None:
        click.echo(f"{name}: the answer is wrong before any pass: {finding.fault}")
        return True
    click.echo(
        f"{name}: wrong after pass {finding.position} of {len(passes)}, {_spelled(finding.step)}: {finding.fault}"
    )
    for function in finding.functions:
        click.echo(f"  changed alone, the function '{function}' spoils it")
    return True


def _spelled(step: Pass[Module]) -> str:
    """A pass as pipelines write it."""
    names: Iterable[str] = getattr(step, "__dataclass_fields__", ())
    text = ",".join(f"{name}={getattr(step, name)}" for name in names if name != "name")
    return f"{step.name}{{{text}}}" if text else step.name
