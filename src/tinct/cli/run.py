"""`tinct run`: one dispatch from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from ..cases.expressions import ExpressionError
from ..cases.generators import Arange, File, Generator, Integers, Literal, Request, Uniform, Value
from ..devices import DEVICES
from ..ir.diagnostics import InputError
from ..shader import Kernel, Shader
from .check import read
from .options import constants_option, parse_constants, parse_extent


@click.command(
    name="run",
    epilog="""\b
Buffers, one --buffer for each binding the entry point uses:
  NAME=FILE.npy              an array saved by numpy
  NAME=zeros:1024            zeros; a shape such as 64x64 for arrays of that many elements
  NAME=arange:1024           0, 1, 2, …
  NAME=uniform:1024          random numbers of [0, 1), seeded by --seed
  NAME=integers:1024:0:100   random whole numbers of [0, 100)
  NAME='{"a": 2.5, "n": 7}'  JSON: numbers, lists, or an object of a structure's members

\b
Examples:
  tinct run saxpy.wgsl -b x=arange:8 -b y=zeros:8 -b 'params={"a": 2, "n": 8}' --threads 8
  tinct run blur.wgsl -b image=in.npy -b out=zeros:512x512 --threads 512x512 --device gpu -o out.npz
""",
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--entry", help="The entry point; needed when the shader has several.")
@click.option("-b", "--buffer", "buffers", multiple=True, metavar="NAME=SPEC", help="What a binding holds; see below.")
@click.option("--threads", metavar="N[xM[xK]]", help="Invocations, rounded up to whole workgroups.")
@click.option("--workgroups", metavar="N[xM[xK]]", help="Workgroups.")
@constants_option
@click.option("--device", type=click.Choice(list(DEVICES)), default="cpu", show_default=True, help="Where to run.")
@click.option("--seed", type=int, default=0, show_default=True, help="For random buffers.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Save the results (.npz).")
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="For people or for programs."
)
def command(
    file: str,
    entry: str | None,
    buffers: tuple[str, ...],
    threads: str | None,
    workgroups: str | None,
    constants: tuple[str, ...],
    device: str,
    seed: int,
    output: Path | None,
    form: str,
) -> None:
    """Run a compute kernel once and print, or save, the buffers it wrote."""
    kernel = Shader(read(file)).kernel(entry)
    result = kernel.run_timed(
        make_buffers(kernel, buffers, seed),
        threads=None if threads is None else parse_extent(threads, "--threads"),
        workgroups=None if workgroups is None else parse_extent(workgroups, "--workgroups"),
        constants=parse_constants(constants),
        device=device,
    )
    if output is not None:
        np.savez(output, **result.outputs)
        click.echo(f"wrote {output}", err=True)
    elif form == "json":
        click.echo(json.dumps({name: _as_json(array) for name, array in result.outputs.items()}))
    else:
        for name, array in result.outputs.items():
            click.echo(f"{name}: {array.dtype} {array.shape}\n{np.array2string(array, threshold=64)}")
    timing = result.timing
    click.echo(f"{device}: compiled in {timing.compile * 1e3:.1f} ms, ran in {timing.run * 1e3:.3f} ms", err=True)


def make_buffers(kernel: Kernel, specs: tuple[str, ...], seed: int) -> dict[str, npt.NDArray[Any]]:
    """The arrays that `NAME=SPEC` options describe. Raises InputError."""
    dtypes = {info.name: info.dtype for info in kernel.bindings}
    buffers: dict[str, npt.NDArray[Any]] = {}
    for spec in specs:
        name, separator, text = spec.partition("=")
        if not separator:
            raise InputError(f"--buffer takes NAME=SPEC, not {spec!r}")
        dtype = dtypes.get(name)
        if dtype is None:
            raise InputError(f"the entry point uses no buffer named {name!r}; it uses {', '.join(dtypes) or 'none'}")
        shape, generator = _generator(text, spec)
        try:
            request = Request(shape, dtype, {}, np.random.default_rng([seed, len(buffers)]))
            buffers[name] = generator.fill(request)
        except ExpressionError as error:
            raise InputError(f"--buffer {name}: {error}") from error
    return buffers


def _generator(text: str, spec: str) -> tuple[tuple[int, ...], Generator]:
    kind, _, rest = text.partition(":")
    shape, *limits = rest.split(":")
    match kind, len(limits):
        case "zeros", 0:
            return parse_extent(shape, spec), Value(0)
        case "arange", 0:
            return parse_extent(shape, spec), Arange(0, 1)
        case "uniform", 0 | 2:
            low, high = limits or ("0", "1")
            return parse_extent(shape, spec), Uniform(low, high)
        case "integers", 2:
            return parse_extent(shape, spec), Integers(*limits)
        case _:
            return (), File(Path(text)) if text.endswith(".npy") else _literal(text, spec)


def _literal(text: str, spec: str) -> Generator:
    try:
        value: Literal = json.loads(text)
    except json.JSONDecodeError:
        raise InputError(f"--buffer {spec}: neither a file, a generator nor JSON; see tinct run --help") from None
    return Value(value)


def _as_json(array: npt.NDArray[Any]) -> object:
    if array.dtype.names is None:
        return array.tolist()
    return {name: _as_json(array[name]) for name in array.dtype.names}
