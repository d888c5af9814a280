"""The stages that are trees of a schema, for `tinct compile --format json` and `aterm`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..compilation import Compilation
from ..ir.schema.codec import Codec
from ..ir.schema.runtime import SchemaNode
from ..origins import ProgramOrigin


@dataclass(frozen=True, slots=True)
class Tree:
    """A stage of a compilation, with the codec of its schema."""

    root: SchemaNode
    codec: Codec

    def json(self) -> str:
        """As JSON."""
        return self.codec.to_json(self.root)

    def aterm(self) -> str:
        """As a term."""
        return self.codec.to_aterm(self.root)


def _ast(compilation: Compilation) -> Tree:
    from ..ir.wgsl.codec import CODEC
    from ..transforms.to_wgsl.unit import to_unit

    origin = compilation.job.origin
    return Tree(origin.program.unit if isinstance(origin, ProgramOrigin) else to_unit(compilation.core), CODEC)


def _core(compilation: Compilation) -> Tree:
    from ..ir.core.codec import codec

    return Tree(compilation.core, codec())


def _hercules(compilation: Compilation) -> Tree:
    from ..ir.hercules.codec import CODEC

    return Tree(compilation.hercules.module, CODEC)


TREES: dict[str, Callable[[Compilation], Tree]] = {"ast": _ast, "core": _core, "hercules": _hercules}
