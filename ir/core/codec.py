"""Core IR as JSON and as ATerms. Types and constants are written as in the text form."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar, cast

from ..diagnostics import ShaderError
from ..ops import BinaryOp, UnaryOp
from ..schema.codec import Codec, ExternCodec
from ..schema.externs import SPAN, enum_codec
from ..types import BindingPoint, IoAttributes, Stage, Struct
from .nodes import SCHEMA
from .text import Fragments, print_constant, print_count, print_extent, print_io, print_struct, print_type

T = TypeVar("T")


def codec(structs: Iterable[Struct] = ()) -> Codec:
    """A codec for one module, which remembers the structures that it has read.

    A structure with the same declaration as one of `structs` is read as that object.
    """
    read = Fragments(structs)
    return Codec(
        SCHEMA,
        {
            "type": _extern(print_type, read.type),
            "struct": _extern(_print_struct, read.struct),
            "constant_value": _extern(print_constant, read.constant),
            "override_count": _extern(print_count, read.count),
            "extent": _extern(print_extent, read.extent),
            "io": _extern(_print_io, read.io),
            "binding_point": _extern(_print_point, _point),
            "stage": enum_codec(Stage),
            "unary_op": enum_codec(UnaryOp),
            "binary_op": enum_codec(BinaryOp),
            "span": SPAN,
        },
    )


def _extern(to_text: Callable[[T], str], from_text: Callable[[str], T]) -> ExternCodec:
    def write(value: object) -> str:
        return to_text(cast("T", value))

    def read(text: str) -> T:
        try:
            return from_text(text)
        except ShaderError as error:
            raise ValueError(error.diagnostics[0].message) from error

    return ExternCodec(write, read)


def _print_struct(struct: Struct) -> str:
    return " ".join(print_struct(struct))


def _print_io(io: IoAttributes) -> str:
    return print_io(io).strip()


def _print_point(point: BindingPoint) -> str:
    return f"{point.group},{point.binding}"


def _point(text: str) -> BindingPoint:
    group, binding = map(int, text.split(","))
    return BindingPoint(group, binding)
