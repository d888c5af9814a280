"""The overrides of a module, and the values that a pipeline gives them."""

from __future__ import annotations

from collections.abc import Mapping

from ...base.errors import InputError
from ..hints import unknown_name
from ..overrides import Number, override_given_twice, override_value, unknown_override
from ..scalars import EvaluationError, ScalarValue
from ..types import Scalar
from . import nodes


def overrides_of(module: nodes.Module) -> list[nodes.Override]:
    """The overrides that a module declares."""
    return [it for it in module.root.instructions if isinstance(it, nodes.Override)]


def given_values(module: nodes.Module, constants: Mapping[str, Number]) -> dict[nodes.Override, ScalarValue]:
    """The values of the module's overrides that `constants` set, in the overrides' types.

    A constant is given by the override's name, or by its `@id` in digits. Raises InputError for a name or `@id` that no
    override has, for an override given twice, and for a value that does not fit the override's type.
    """
    overrides = overrides_of(module)
    by_key = {it.name: it for it in overrides if it.name is not None}
    by_key |= {str(it.id): it for it in overrides if it.id is not None}
    found: dict[nodes.Override, ScalarValue] = {}
    for key, value in constants.items():
        override = by_key.get(key)
        if override is None:
            raise InputError(unknown_name(unknown_override(key), key, by_key))
        if override in found:
            raise InputError(override_given_twice(override.name))
        found[override] = _value(override, value)
    return found


def _value(override: nodes.Override, given: Number) -> ScalarValue:
    assert isinstance(override.type, Scalar)
    try:
        return override_value(override.name, override.type, given)
    except EvaluationError as error:
        raise InputError(error.message) from error
