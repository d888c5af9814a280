"""Limits on the size of a program. WGSL sets the minimum that every implementation must accept ("Limits"); where Tint
accepts more, its limits are used here.
"""

from __future__ import annotations

from typing import Final

DEEPEST_STATEMENT: Final = 127
"""Largest number of nested braces in a function."""
MOST_PARAMETERS: Final = 255
"""Largest number of parameters of a function."""
DEEPEST_COMPOSITE: Final = 255
"""Largest number of levels of a composite type; WGSL's limit is 15."""
MOST_MEMBERS: Final = 16383
"""Largest number of members of a structure; WGSL's limit is 1023."""
MOST_SELECTORS: Final = 16383
"""Largest number of selectors of a switch; WGSL's limit is 1023."""
DEEPEST_EXPRESSION: Final = 512
"""Largest number of levels of an expression, for which WGSL has no limit."""
LONGEST_ELSE_CHAIN: Final = 512
"""Largest number of branches of an `if`, for which WGSL has no limit."""
