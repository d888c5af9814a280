"""The examples in a Markdown file, and how what they print is compared with what the file says.

- ```` ```wgsl ```` blocks whose first line is `// NAME.wgsl` are written to that file.
- ```` ```python ```` blocks run, in one namespace for the whole document.
- ```` ```console ```` blocks hold commands after `$ ` and what each prints. Only `tinct` commands run; an output that
  is left out is not compared, and `...` stands for anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"// ([\w-]+\.wgsl)\n")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(\.\d+)?(e[+-]?\d+)?(?![\w.])")
_SECONDS = re.compile(r"\d+\.\d+ ms")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. `start` is where its text begins in the document."""

    language: str
    text: str
    start: int

    @property
    def file(self) -> str | None:
        """The file that a shader is to be written to."""
        match = _FILE.match(self.text) if self.language == "wgsl" else None
        return match[1] if match else None


@dataclass(frozen=True, slots=True)
class Command:
    """A command with the output that the document shows."""

    command: str
    output: str

    @property
    def runs(self) -> bool:
        """Whether it is one of ours; the others are for people."""
        return self.command.startswith("tinct ")


def blocks(document: str) -> Iterator[Block]:
    """All fenced blocks, in order."""
    for match in _FENCE.finditer(document):
        yield Block(match[1], match[2], match.start(2))


def commands(text: str) -> Iterator[Command]:
    """The commands of a console block."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield Command(command, output)


def is_alike(expected: str, found: str, *, ignoring_numbers: bool) -> bool:
    """Whether two outputs are the same but for blank space, times, and, if so wanted, all numbers."""
    parts = [re.escape(_plain(part, ignoring_numbers)) for part in expected.split("...")]
    return re.fullmatch(r"\s*.*?\s*".join(parts), _plain(found, ignoring_numbers), re.DOTALL) is not None


def _plain(text: str, ignoring_numbers: bool) -> str:
    text = _SECONDS.sub("# ms", text)
    if ignoring_numbers:
        text = _NUMBER.sub("", text)
    return " ".join(re.sub("─+", "─", text).split())
