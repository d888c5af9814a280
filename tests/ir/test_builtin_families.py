"""Each family of builtin functions is imported for its own functions, and for no others."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
from tinct.ir.builtins import builtin, builtin_names
from tinct.ir.builtins.families import FAMILIES
from tinct.ir.builtins.registry import TABLE

def declared():
    # No name of WGSL begins with two underscores: those are functions of our own.
    return [name for name in TABLE if not name.startswith("__")]

assert builtin("twice") is None
print(*{FAMILIES[name] for name in TABLE})
for family in dict.fromkeys(FAMILIES.values()):
    names = [name for name, it in FAMILIES.items() if it == family]
    before = [name for name in declared() if name not in names]
    assert builtin(names[0]).name == names[0]
    assert [name for name in declared() if name not in before] == names, family
assert sorted(declared()) == sorted(FAMILIES) == sorted(builtin_names())
"""


def test_a_family_is_imported_for_its_functions() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["invocations"]  # the arithmetic of atomics is there
