"""Streams: items that go through stages on several threads, and come out in order.

- `stages`: what a stage is. `flow`: the items under way, and which stage of which item may run. `stream`: `Stream`,
  with `push` and `pop`.

A stage is any function of values by name. `tinct.graphs` makes stages of a graph.
"""

from .stages import Stage
from .stream import Stream

__all__ = ["Stage", "Stream"]
