"""Graphs of kernels, built in Python, loaded from files, and run.

- `builder`: `Graph`, which is built node by node. `tracing`: `@graph`, which builds one from a function. `operands`:
  what they compute with, such as `zeros` and `instance_id`. `state`: statements and node functions, checked as they are
  added. `host_functions`: `host`, which makes a leaf of a Python function.
- `program`: `GraphProgram`, a graph that is whole; `executable` has what both do. `files`: reads one. `linking`:
  kernels and WGSL types for its names, with `wgsl_types`. `edge_checks`: warnings about one-to-one edges. `fusing`:
  the graph with fused leaves.
- `running`: runs a graph, as `repeating` and `devices` say, or `choosing` has found; `launch` does in the background;
  `time_limit` has the words for a run that does not end in time. `planner` makes a `plan` of `plan_values` and
  `numbers_in` them, with `plan_memory`, `placing`, `written` and `indirect`; `executor` follows it in `phases`, whose
  steps are `host_steps` and `gpu_steps`. `machine` walks the graph in a session instead. `emitting` writes a plan, and
  `emitted` reads and follows what was written.
- `streaming`: items through a graph, one after another; `stream_stages` and `stream_parts` say how a graph is cut,
  `stream_items` what an item has.

`ir.dataflow` has the language and its rules.
"""

from .builder import Graph, Node
from .edge_checks import EdgeWarning
from .emitted import EmittedPlan, load_plan
from .emitting import emit
from .files import load_graph
from .host_functions import HostFunction, host
from .launch import Launch
from .machine import NodeTiming
from .operands import instance_id, maximum, minimum, num_dims, num_instances, zeros
from .plan import Plan
from .program import GraphProgram
from .running import GraphRun
from .tracing import graph, one_to_one

__all__ = [
    "EdgeWarning",
    "EmittedPlan",
    "Graph",
    "GraphProgram",
    "GraphRun",
    "HostFunction",
    "Launch",
    "Node",
    "NodeTiming",
    "Plan",
    "emit",
    "graph",
    "host",
    "instance_id",
    "load_graph",
    "load_plan",
    "maximum",
    "minimum",
    "num_dims",
    "num_instances",
    "one_to_one",
    "zeros",
]
