"""Sees to it that Graphviz is there, which draws `--format svg`: installs it where it is not and installing is allowed.

Exit status 0: `dot` is there. 1: it is not, and what that means has been said.
"""

from __future__ import annotations

import shutil
import sys

from debian import install


def main() -> int:
    if shutil.which("dot") is None:
        install(("graphviz",), "there is no Graphviz to draw graphs")
    if shutil.which("dot") is not None:
        return 0
    print("tinct: there is no Graphviz, so pictures are left out: apt-get install graphviz", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
