"""Converts any tree of a schema to text and back: JSON for programs, ATerms for people.

    codec = Codec(SCHEMA, {"span": ExternCodec(print_span, parse_span)})
    assert same(codec.from_json(codec.to_json(module), Module), module)

Hidden fields are kept. Back edges and all other references to nodes with identity become ids, and cycles are restored.
Both forms are deterministic: equal trees give equal texts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from ..diagnostics import with_article
from .aterm import read_aterm, write_aterm
from .decode import decode
from .encode import encode
from .events import CodecError, Event, ExternCodec, Externs
from .json_form import read_json, write_json
from .runtime import Schema, SchemaNode

__all__ = ["Codec", "CodecError", "ExternCodec", "Externs"]

N = TypeVar("N", bound=SchemaNode)


@dataclass(frozen=True, slots=True)
class Codec:
    """The text forms of one schema; `externs` has a codec for each extern type in the trees."""

    schema: Schema
    externs: Externs

    def to_json(self, root: SchemaNode) -> str:
        """The tree as JSON, on one line."""
        return write_json(encode(root, self.externs))

    def from_json(self, text: str, root: type[N]) -> N:
        """The tree that `to_json` wrote. Raises `CodecError`, also if the tree is not a `root`."""
        return self._tree(read_json(text), root)

    def to_aterm(self, root: SchemaNode) -> str:
        """The tree as an ATerm, on one line."""
        return write_aterm(encode(root, self.externs))

    def from_aterm(self, text: str, root: type[N]) -> N:
        """The tree that `to_aterm` wrote. Raises `CodecError`, also if the tree is not a `root`."""
        return self._tree(read_aterm(text), root)

    def _tree(self, events: Iterable[Event], root: type[N]) -> N:
        tree = decode(events, self.schema, self.externs)
        if not isinstance(tree, root):
            raise CodecError(f"expected {with_article(root.__name__)}, found {with_article(type(tree).__name__)}")
        return tree
