"""The syntax tree as JSON and as ATerms."""

from __future__ import annotations

from ..ops import BinaryOp, UnaryOp
from ..schema.codec import Codec
from ..schema.externs import SPAN, enum_codec
from .ast import SCHEMA

CODEC = Codec(SCHEMA, {"span": SPAN, "unary_op": enum_codec(UnaryOp), "binary_op": enum_codec(BinaryOp)})
