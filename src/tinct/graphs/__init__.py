"""Graphs of kernels, built in Python, loaded from files, and run.

- `builder`: `Graph`, which is built node by node. `tracing`: `@graph`, which builds one from a function. `operands`:
  what they
  compute with, such as `zeros` and `instance_id`. `state`: statements and node functions, checked as they are added.
- `host_functions`: `host`, which makes a leaf of a Python function.
- `edge_checks`: warnings about one-to-one edges.
- `program`: `GraphProgram`, a graph that is whole. `files`: reads one. `linking`: kernels and WGSL types for its names,
  with `wgsl_types`. `machine`: runs its leaves in a session, on the devices that `devices` has for its nodes.

- `streaming`: items through a graph, one after another; `stages` and `parts` say how a graph is cut, `item_form` what
  an item has.

`ir.dataflow` has the language and its rules.
"""

from .builder import Graph, Node
from .edge_checks import EdgeWarning
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
    "maximum",
    "minimum",
    "num_dims",
    "num_instances",
    "one_to_one",
    "zeros",
]
