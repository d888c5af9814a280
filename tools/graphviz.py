"""Installs Graphviz, which draws `--format svg`, where it is missing and installing is allowed.

Exit status 0: `dot` is installed. 1: it is not, and a message says what that means.
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
