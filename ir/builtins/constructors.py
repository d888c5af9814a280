"""Value constructors and conversions (WGSL, "Constructor Built-in Functions").

`resolve_constructor` finds the type that a call of a type, or of a generic name such as `vec3` or `array`, constructs,
and the types to which its arguments convert. For a conversion, such as `f32(i)` or `vec2<f32>(v)`, `param_types` has
the type of the argument itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import product

from ...base.records import dataclass
from ..constants import RawValue, zero
from ..conversions import common_type, concretize, conversion_rank, converter, elements
from ..scalars import Mode
from ..types import (
    ABSTRACT_FLOAT,
    ABSTRACT_INT,
    BOOL,
    Array,
    Matrix,
    Reference,
    Scalar,
    Struct,
    Type,
    Vector,
    array,
    is_constructible,
    matrix,
    vector,
)
from .registry import Evaluator
from .resolution import NoMatch

_VECTOR_NAME = r"vec([234])"
_MATRIX_NAME = r"mat([234])x([234])"


@dataclass(frozen=True, slots=True)
class ConstructorMatch:
    """The meaning of a constructor call: `type` is its type, possibly abstract; `param_types` are the types to which
    its arguments convert.

    `is_conversion`: the single argument is a value of the same shape, whose components are converted (or kept).
    """

    type: Type
    param_types: tuple[Type, ...]
    is_conversion: bool = False


@cache
def resolve_constructor(
    target: Type | str, arg_types: tuple[Type, ...], *, concrete: bool = False
) -> ConstructorMatch | NoMatch:
    """The constructor of `target`: a type, or a generic name whose parameters are inferred (`vec2` … `mat4x4`,
    `array`).

    `concrete` means that some argument is not a const-expression, so that no type stays abstract.
    """
    args = tuple(type.store if isinstance(type, Reference) else type for type in arg_types)
    found = _infer(target, args, concrete) if isinstance(target, str) else _construct_type(target, args)
    return found if found is not None else NoMatch(tuple(_forms(target)))


def _construct_type(type: Type, args: tuple[Type, ...]) -> ConstructorMatch | None:
    if not is_constructible(type):
        return None
    if not args:
        return ConstructorMatch(type, ())
    match type:
        case Scalar():
            return ConstructorMatch(type, args, True) if len(args) == 1 and isinstance(args[0], Scalar) else None
        case Vector():
            return _vector(type, args)
        case Matrix():
            return _matrix(type, args)
        case Array(element=element, count=count):
            return _from_parts(type, args, (element,) * len(args)) if len(args) == count else None
        case Struct(members=members):
            return _from_parts(type, args, tuple(member.type for member in members))
        case _:
            return None


def _from_parts(type: Type, args: tuple[Type, ...], parts: tuple[Type, ...]) -> ConstructorMatch | None:
    """The constructor of a composite whose arguments convert to its parts."""
    if len(args) != len(parts):
        return None
    fits = all(conversion_rank(arg, part) is not None for arg, part in zip(args, parts, strict=True))
    return ConstructorMatch(type, parts) if fits else None


def _vector(type: Vector, args: tuple[Type, ...]) -> ConstructorMatch | None:
    if len(args) == 1 and isinstance(args[0], Vector):
        return ConstructorMatch(type, args, True) if args[0].width == type.width else None
    if len(args) == 1:
        return _from_parts(type, args, (type.element,))
    parts = tuple(vector(arg.width, type.element) if isinstance(arg, Vector) else type.element for arg in args)
    return _from_parts(type, args, parts) if sum(map(_width, parts)) == type.width else None


def _width(part: Type) -> int:
    return part.width if isinstance(part, Vector) else 1


def _matrix(type: Matrix, args: tuple[Type, ...]) -> ConstructorMatch | None:
    if len(args) == 1 and isinstance(args[0], Matrix):
        has_shape = (args[0].columns, args[0].rows) == (type.columns, type.rows)
        return ConstructorMatch(type, args, True) if has_shape else None
    if len(args) == type.columns:
        return _from_parts(type, args, (type.column,) * type.columns)
    return _from_parts(type, args, (type.element,) * (type.columns * type.rows))


# Inference


def _infer(name: str, args: tuple[Type, ...], concrete: bool) -> ConstructorMatch | None:
    """The constructor of a generic name: its component type is the one to which all arguments convert best."""
    if name == "array":
        return _infer_array(args, concrete)
    shape = re.fullmatch(_VECTOR_NAME, name)
    if shape is not None and not args:
        return ConstructorMatch(vector(int(shape[1]), ABSTRACT_INT), ())
    scalar = _common_scalar(args)
    if scalar is None:
        return None
    if concrete:
        scalar = _concrete(scalar)
    if shape is not None:
        return _infer_vector(vector(int(shape[1]), scalar), args)
    shape = re.fullmatch(_MATRIX_NAME, name)
    if shape is None or scalar is BOOL:
        return None
    return _infer_matrix(int(shape[1]), int(shape[2]), scalar, args)


def _concrete(scalar: Scalar) -> Scalar:
    type = concretize(scalar)
    assert isinstance(type, Scalar)
    return type


def _common_scalar(args: Iterable[Type]) -> Scalar | None:
    scalars = list[Type]()
    for arg in args:
        if not isinstance(arg, (Scalar, Vector, Matrix)):
            return None
        scalars.append(arg if isinstance(arg, Scalar) else arg.element)
    common = common_type(scalars)
    return common if isinstance(common, Scalar) else None


def _infer_vector(type: Vector, args: tuple[Type, ...]) -> ConstructorMatch | None:
    if len(args) == 1 and isinstance(args[0], Vector):
        return ConstructorMatch(type, (type,), True) if args[0].width == type.width else None
    return _vector(type, args)


def _infer_matrix(columns: int, rows: int, scalar: Scalar, args: tuple[Type, ...]) -> ConstructorMatch | None:
    element = _best_float(scalar)
    if element is None:
        return None
    type = matrix(columns, rows, element)
    if len(args) == 1 and isinstance(args[0], Matrix):
        return ConstructorMatch(type, (type,), True) if (args[0].columns, args[0].rows) == (columns, rows) else None
    return _matrix(type, args)


def _best_float(scalar: Scalar) -> Scalar | None:
    """The floating-point type to which a component converts best."""
    if scalar.is_float:
        return scalar
    return ABSTRACT_FLOAT if scalar is ABSTRACT_INT else None


def _infer_array(args: tuple[Type, ...], concrete: bool) -> ConstructorMatch | None:
    element = common_type(args)
    if element is None:
        return None
    if concrete:
        element = concretize(element)
    if not is_constructible(element):
        return None
    return ConstructorMatch(array(element, len(args)), (element,) * len(args))


def _forms(target: Type | str) -> Iterable[str]:
    """The constructors of a type, for messages."""
    name = str(target)
    match target:
        case Scalar():
            yield f"{name}(e: scalar)"
        case Array(element=element):
            yield f"{name}(e1: {element}, …)"
        case Struct(members=members):
            yield f"{name}({', '.join(f'{member.name}: {member.type}' for member in members)})"
        case _ if name.startswith("vec"):
            yield from _vector_forms(name, target.element if isinstance(target, Vector) else "T")
        case _ if name.startswith("mat"):
            yield from _matrix_forms(name, target.element if isinstance(target, Matrix) else "T")
        case _:
            yield f"{name}(e1: T, …)"


def _vector_forms(name: str, element: Scalar | str) -> Iterable[str]:
    width = int(name[3])
    yield f"{name}(e: {element})"
    yield f"{name}(e: vec{width}<S>)"
    for parts in product((1, 2, 3), repeat=2):
        if sum(parts) == width:
            yield f"{name}({', '.join(str(element) if part == 1 else f'vec{part}<{element}>' for part in parts)})"
    if width > 2:
        yield f"{name}({', '.join([str(element)] * width)})"


def _matrix_forms(name: str, element: Scalar | str) -> Iterable[str]:
    columns, rows = int(name[3]), int(name[5])
    yield f"{name}(e: mat{columns}x{rows}<S>)"
    yield f"{name}({', '.join([f'vec{rows}<{element}>'] * columns)})"
    yield f"{name}({', '.join([str(element)] * (columns * rows))})"


# Evaluation


def construct(type: Type, param_types: tuple[Type, ...], args: Sequence[RawValue], mode: Mode) -> RawValue:
    """The value of a constructor call, whose arguments must have the parameter types of its match."""
    return constructor(type, param_types, mode)(args)


@cache
def constructor(type: Type, param_types: tuple[Type, ...], mode: Mode) -> Evaluator:
    """The function from arguments to the value, for many calls of `construct`."""
    if not param_types:
        value = zero(concretize(type))
        return lambda args: value
    if len(param_types) == 1 and _is_conversion(type, param_types[0]):
        change = converter(param_types[0], type, mode)
        return lambda args: change(args[0])
    match type:
        case Vector(width=width) if len(param_types) == 1:
            return lambda args: (args[0],) * width
        case Vector() if not all(isinstance(part, Scalar) for part in param_types):
            return _joining([isinstance(part, Vector) for part in param_types])
        case Matrix(columns=columns, rows=rows) if len(param_types) == columns * rows:
            return lambda args: tuple([tuple(args[i : i + rows]) for i in range(0, columns * rows, rows)])
        case _:
            return tuple


def _is_conversion(type: Type, source: Type) -> bool:
    match type, source:
        case Scalar(), Scalar():
            return True
        case Vector(), Vector():
            return type.width == source.width
        case Matrix(), Matrix():
            return True
        case _:
            return False


def _joining(are_vectors: Sequence[bool]) -> Callable[[Sequence[RawValue]], RawValue]:
    """A function that concatenates the components of all arguments."""

    def join(args: Sequence[RawValue]) -> RawValue:
        components = list[RawValue]()
        for arg, is_vector in zip(args, are_vectors, strict=True):
            if is_vector:
                components.extend(elements(arg))
            else:
                components.append(arg)
        return tuple(components)

    return join
