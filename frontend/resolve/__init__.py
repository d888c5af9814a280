"""The resolver: names, types, constants and rules.

`resolve` turns a syntax tree into a `Program`, or reports diagnostics. The order of work, one module each:
`directives`, `names` (scopes), `order` (dependencies), then every declaration (`variables`, `structs`, `functions`,
`type_names`), with `statements` and `expressions` inside them, and last `module_rules`. Rules that depend on override
values are checked by `check_pipeline`, for default values by `check_default_pipelines`.
"""

from .names import nesting_fault
from .pipeline import check_default_pipelines, check_pipeline
from .resolver import Resolved, resolve

__all__ = ["Resolved", "check_default_pipelines", "check_pipeline", "nesting_fault", "resolve"]
