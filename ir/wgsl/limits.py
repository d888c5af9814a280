"""How large a program may be. WGSL names the least that every implementation takes ("Limits"); what we take is no less,
and what Tint takes where its limit is higher.
"""

from __future__ import annotations

from typing import Final

DEEPEST_STATEMENT: Final = 127
"""Levels of braces in a function."""
MOST_PARAMETERS: Final = 255
"""Parameters of a function."""
DEEPEST_COMPOSITE: Final = 255
"""Levels of a composite type; WGSL's limit is 15."""
MOST_MEMBERS: Final = 16383
"""Members of a structure; WGSL's limit is 1023."""
MOST_SELECTORS: Final = 16383
"""Selectors of a switch; WGSL's limit is 1023."""
DEEPEST_EXPRESSION: Final = 512
"""Levels of an expression, for which WGSL has no limit."""
LONGEST_ELSE_CHAIN: Final = 512
"""Branches of an `if`, for which WGSL has no limit."""
