"""`tinct graph plan.json`: checks an emitted plan, and follows it."""

from __future__ import annotations

from ..base.errors import InputError
from ..graphs.emitted import EmittedPlan, read_plan
from ..ir.source import Source
from .buffer_specs import make_inputs
from .graph_request import GraphRequest
from .options import print_text
from .outputs import show_outputs


def follow_plan(source: Source, asked: GraphRequest) -> None:
    """Check the plan of a source, and print or follow it. Raises what `EmittedPlan.run` does."""
    _check(asked)
    plan = read_plan(source)
    if not asked.is_run:
        print_text(_summary(plan))
        return
    given = make_inputs(plan, asked.buffers, asked.seed)
    repeat = 1 if asked.repeat is None else asked.repeat
    found = plan.run(given, device=asked.device, repeat=repeat, timeout=asked.timeout)
    show_outputs(found, asked.output, asked.form)


def _check(asked: GraphRequest) -> None:
    """Raise InputError for options that a plan cannot have."""
    graphs_only: dict[str, object] = {
        "--svg": asked.drawing,
        "--emit": asked.folder,
        "--device-of": asked.devices,
        "--device auto": asked.device == "auto",
        "--fuse": asked.is_fused,
        "--remarks": asked.has_remarks,
        "--stream": asked.items,
        "--state": asked.state,
        "--times": asked.is_timed,
        "--until": asked.until,
        "--every": asked.every,
        "--feed": asked.feed,
    }
    for option, given in graphs_only.items():
        if given:
            raise InputError(f"{option} is for graphs; a plan is checked, and followed with --run")
    runs_only = {"--buffer": asked.buffers, "--repeat": asked.repeat is not None, "--output": asked.output}
    for option, given in runs_only.items():
        if given and not asked.is_run:
            raise InputError(f"{option} is for --run")
    if asked.form not in (("text", "json") if asked.is_run else ("text",)):
        raise InputError(f"a plan is not printed as {asked.form}: it is JSON already")


def _summary(plan: EmittedPlan) -> str:
    """The name, what goes in and out, and how much there is of what."""
    inputs = [f"  in {it.name}: {it.type}, {it.size} bytes" for it in plan.file.inputs]
    outputs = [f"  out {it.name}: {it.type}, {it.place.size} bytes" for it in plan.file.outputs]
    steps = f"  {len(plan.file.steps)} steps, {len(plan.kernels)} kernels, {sum(plan.file.sizes)} bytes in buffers"
    feeds = [f"  repeated: {output} becomes {name}" for output, name in plan.file.feeds]
    return "\n".join([f"plan {plan.name}", *inputs, *outputs, steps, *feeds]) + "\n"
