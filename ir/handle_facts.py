"""What is true of the textures and samplers of a dispatch, so that code can be made for them alone.

Code for a sampler whose filters and address modes are known, and for a texture of one level whose texels have a known
form, has a fraction of the operations of code for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

from ..base.records import dataclass
from .samplers import read_modes
from .textures import are_bytes, is_multisampled, read_extent
from .types import BindingPoint, Sampler, Texture, Type


@dataclass(frozen=True, slots=True)
class TextureFacts:
    """`has_one_level`: whether the first mip level is known to be the only one. `are_bytes`: whether texels are bytes
    (see `ir.textures`); None if that is not known.
    """

    has_one_level: bool = False
    are_bytes: bool | None = None

    def __and__(self, other: TextureFacts) -> TextureFacts:
        """What is true of both."""
        common = self.are_bytes if self.are_bytes == other.are_bytes else None
        return TextureFacts(self.has_one_level and other.has_one_level, common)


@dataclass(frozen=True, slots=True)
class SamplerFacts:
    """Words of a sampler that are known, as (member, word), in the order of `ir.samplers.storage_type`."""

    words: tuple[tuple[str, int], ...] = ()

    def __and__(self, other: SamplerFacts) -> SamplerFacts:
        """What is true of both."""
        return SamplerFacts(tuple(it for it in self.words if it in other.words))

    def word(self, member: str) -> int | None:
        """The word of a member; None if it is not known."""
        return dict(self.words).get(member)


NOTHING_KNOWN = SamplerFacts()


@dataclass(frozen=True, slots=True)
class HandleFacts:
    """The facts about bindings; nothing is known of others."""

    known: tuple[tuple[BindingPoint, TextureFacts | SamplerFacts], ...] = ()

    def textures(self, points: Iterable[BindingPoint | None]) -> TextureFacts:
        """What is true of the textures at all of these bindings."""
        found = [it if isinstance(it, TextureFacts) else TextureFacts() for it in map(self._of, points)]
        return reduce(TextureFacts.__and__, found) if found else TextureFacts()

    def samplers(self, points: Iterable[BindingPoint | None]) -> SamplerFacts:
        """What is true of the samplers at all of these bindings."""
        found = [it if isinstance(it, SamplerFacts) else SamplerFacts() for it in map(self._of, points)]
        return reduce(SamplerFacts.__and__, found) if found else SamplerFacts()

    def _of(self, point: BindingPoint | None) -> TextureFacts | SamplerFacts | None:
        return next((facts for it, facts in self.known if it == point), None)


NO_FACTS = HandleFacts()


def facts_of(
    types: Mapping[BindingPoint, Type], data: Mapping[BindingPoint, bytes | bytearray | memoryview]
) -> HandleFacts:
    """What is true of the textures and samplers with these bytes."""
    known: list[tuple[BindingPoint, TextureFacts | SamplerFacts]] = []
    for point, type in types.items():
        match type:
            case Texture():
                known.append((point, _texture_facts(type, data[point])))
            case Sampler():
                known.append((point, SamplerFacts(tuple(read_modes(data[point]).items()))))
            case _:
                pass
    return HandleFacts(tuple(known))


def _texture_facts(type: Texture, data: bytes | bytearray | memoryview) -> TextureFacts:
    has_one_level = not is_multisampled(type) and read_extent(data).count == 1
    return TextureFacts(has_one_level, are_bytes(type, data))
