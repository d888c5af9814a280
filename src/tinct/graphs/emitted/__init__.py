"""Emitted plans, read back: `plan.json` and its WGSL files, without the graph that they were made of.

docs/emit.md describes the format, and `graphs.emitting` writes it.

- `fields`: parts of JSON by name, with errors that name file and field. `plan_file`: the format as classes, and its
  reader. `checks`: which numbers of a plan must fit together.
- `follow`: does the steps in a session, one by one, as a program without Python does them.
- `plan`: `EmittedPlan` and `load_plan`, what the user has.
"""

from .plan import EmittedPlan, is_plan, load_plan, read_plan

__all__ = ["EmittedPlan", "is_plan", "load_plan", "read_plan"]
