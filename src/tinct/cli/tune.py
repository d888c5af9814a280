"""`tinct tune`: the fastest decisions of a nest, or values of a kernel's overrides, on a device."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import click

from ..base.errors import InputError
from .device_names import ADAPTER_HELP, device_name
from .tune_kernel import KernelRequest, tune_shader
from .tune_nest import NestRequest, list_kept, tune_nest_file

_SECONDS = 60.0


@click.command(
    name="tune",
    epilog=f"""\b
Without FILE, all results of nests that are kept are listed; with a .nest file and without --sizes, those of the nest.

\b
A nest is a text as `str(nest)` gives it. Its sizes are fixed, and its decisions are searched: which dimensions are
loops, invocations and workgroups, how they are split, in which order. Each candidate is compared with the definition
of the nest at small sizes, and with the CPU at these, before it counts. The best decisions are kept on disk for this
nest, device and driver, and printed at once by the next search that is as long, unless --renew. -o row_sums.wgsl
writes the kernel, and row_sums.toml beside it with the dispatch, for `tinct run`, `tinct compare`, or any program.
--reassociate allows sums of floats to be accumulated in parts, whose rounding differs.

\b
The overrides of a kernel are searched among the values given:
  --override TILE=8,16,32           these
  --override width=32..256:*2       32, 64, 128, 256
  --override n=1..9:+2              1, 3, 5, 7, 9; without a step, each
  --where 'TILE * TILE <= 256'      only those for which this constant expression of WGSL is true
The case file (TOML) beside the kernel gives the inputs and the size of the dispatch, on the case with the most
invocations if --case names none. Give `threads`, so that the number of workgroups follows the workgroup size; or name
a size like the override, and it changes along: sizes = {{ TILE = 8 }}, constants = {{ TILE = "TILE" }}, workgroups =
"ceil_div(n, TILE)". Results that differ from those of the case's own constants, or from its reference, are listed as
wrong and never chosen. --write puts the best values into the case file.

\b
Examples:
  tinct tune
  tinct tune row_sums.nest --sizes rows=4096,columns=4096 --reassociate -o row_sums.wgsl
  tinct tune row_sums.nest --sizes rows=4096,columns=4096 --device gpu --seconds 120
  tinct tune matmul.wgsl --override TILE=8,16,32 --override width=32..256:*2 --where 'TILE * TILE <= 256'
  tinct tune matmul.wgsl --override TILE=8,16,32 --device gpu --write

{ADAPTER_HELP}

\b
JSON: for a nest an object with nest, device, sizes, decisions, milliseconds, kept, wgsl, toml and attempts; for a
kernel with kernel, case, device, constants, milliseconds and attempts. An attempt has decisions or constants, status
("measured", "pruned", "wrong", "failed"), milliseconds, why, and compiling_milliseconds where another process compiled
it. Without FILE, a list of what is kept.

\b
Ctrl-C ends a search, which keeps and prints what it has found.
""",
)
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--sizes", multiple=True, metavar="NAME=N[,…]", help="The sizes of the nest.")
@click.option("--override", "overrides", multiple=True, metavar="NAME=VALUES", help="Values to try; see below.")
@click.option("--where", "constraints", multiple=True, metavar="EXPRESSION", help="A constraint; see below.")
@click.option("--case", "case_name", metavar="NAME", help="The case of the kernel.")
@click.option(
    "--device",
    type=device_name,
    metavar="[cpu|gpu|gpu:ADAPTER]",
    default="cpu",
    show_default=True,
    help="Where to run.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    default=_SECONDS,
    show_default=True,
    help="How long to search.",
)
@click.option("--reassociate", is_flag=True, help="Allow sums of floats in parts.")
@click.option("--contract", is_flag=True, help="Let the CPU fuse products and sums, as `tinct run` does.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For the order of candidates.")
@click.option("--renew", is_flag=True, help="Search even if a result is kept.")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write the nest's kernel (.wgsl)."
)
@click.option("--write", is_flag=True, help="Write the best values into the case file.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
def command(
    file: Path | None,
    sizes: tuple[str, ...],
    overrides: tuple[str, ...],
    constraints: tuple[str, ...],
    case_name: str | None,
    device: str,
    seconds: float,
    reassociate: bool,
    contract: bool,
    seed: int,
    renew: bool,
    output: Path | None,
    write: bool,
    as_json: bool,
) -> None:
    """Search for the fastest decisions of a nest (FILE.nest), or overrides of a kernel (FILE.wgsl)."""
    for_nests = {"--sizes": sizes, "--reassociate": reassociate, "--renew": renew, "--output": output}
    for_kernels = {"--override": overrides, "--where": constraints, "--case": case_name, "--write": write}
    if file is None:
        _refuse({**for_nests, **for_kernels}, "a FILE")
        list_kept(None, as_json=as_json)
    elif file.suffix == ".wgsl":
        _refuse(for_nests, "nests (FILE.nest)")
        request = KernelRequest(file, overrides, constraints, case_name, device, seconds, contract, seed, write)
        _say(tune_shader(request, as_json=as_json), as_json=as_json)
    elif file.suffix == ".nest":
        _refuse(for_kernels, "kernels (FILE.wgsl)")
        if sizes:
            wanted = NestRequest(file, sizes, device, seconds, reassociate, contract, seed, renew, output)
            _say(tune_nest_file(wanted, as_json=as_json), as_json=as_json)
        else:
            list_kept(file, as_json=as_json)
    else:
        raise InputError(f"{file} is neither a nest (.nest) nor a kernel (.wgsl)")


def _refuse(options: Mapping[str, object], what: str) -> None:
    given = [name for name, value in options.items() if value]
    if given:
        raise InputError(f"{given[0]} is for {what}")


def _say(result: object, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(result, indent=2))
