"""Nests and decisions as JSON and as ATerms."""

from __future__ import annotations

from ..schema.codec import Codec
from ..schema.externs import SPAN
from .nodes import SCHEMA

CODEC = Codec(SCHEMA, {"span": SPAN})
