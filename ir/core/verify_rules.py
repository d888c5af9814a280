"""The rules of core IR that concern one node each: each is a line of a table and a function that describes a violation.

A rule returns one sentence, or None. `verify` runs the tables and labels each finding with the name of its rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, assert_never

from ..builtins import builtin
from ..identifiers import is_identifier
from ..types import (
    BOOL,
    I32,
    U32,
    VOID,
    AddressSpace,
    IoAttributes,
    OverrideCount,
    Pointer,
    Stage,
    Struct,
    Type,
    Vector,
    element_type,
    scalar_of,
)
from . import nodes
from .operations import result_type
from .rules import RuleError, counts_in
from .structure import Structure
from .values import User

_NO_IO = IoAttributes()
_BOUND_SPACES = (AddressSpace.STORAGE, AddressSpace.UNIFORM, AddressSpace.HANDLE)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Facts about the whole module for the rules, computed once per module rather than once per function.

    `root` has the `id`s of the values that root defines, `names` the names at module scope; `positions` has the index
    of each function.
    """

    module: nodes.Module
    root: frozenset[int]
    names: frozenset[str]
    counts: frozenset[OverrideCount]
    positions: Mapping[int, int]

    @classmethod
    def of(cls, module: nodes.Module) -> Surroundings:
        """The surroundings of a module's functions."""
        made = module.root.instructions
        return cls(
            module,
            frozenset(map(id, made)),
            frozenset(it.name for it in made if it.name is not None),
            frozenset(it.count for it in module.counts),
            {id(function): position for position, function in enumerate(module.functions)},
        )


@dataclass(frozen=True, slots=True)
class RuleScope:
    """The surroundings of a node. `function` is None in root; `twice` has the names that are not unique."""

    surroundings: Surroundings
    function: nodes.Function | None
    twice: frozenset[str]

    @classmethod
    def of(cls, structure: Structure, surroundings: Surroundings) -> RuleScope:
        """The scope of a structure. Cost: linear in the values of the structure."""
        names = Counter(value.name for value in structure.values if value.name is not None)
        outer = frozenset[str]() if structure.function is None else surroundings.names
        return cls(
            surroundings,
            structure.function,
            frozenset(name for name, count in names.items() if count > 1 or name in outer),
        )


Broken: TypeAlias = Iterator[tuple[object, str]]
"""The nodes at fault, with the error of each."""


# The module.


def _unique_functions(module: nodes.Module) -> Broken:
    names = Counter(function.name for function in module.functions)
    repeated = (it for it in module.functions if names[it.name] > 1)
    return ((it, f"there are {names[it.name]} functions @{it.name}") for it in repeated)


def _unique_structs(module: nodes.Module) -> Broken:
    names = Counter(struct.name for struct in module.structs)
    repeated = (it for it in module.structs if names[it.name] > 1)
    return ((it, f"there are {names[it.name]} structures {it.name}") for it in repeated)


def _names_are_identifiers(module: nodes.Module) -> Broken:
    """Names of functions and of structures."""
    names: list[tuple[nodes.Function | Struct, str]] = [(it, it.name) for it in module.functions]
    for struct in module.structs:
        names += [(struct, name) for name in (struct.name, *(it.name for it in struct.members))]
    return ((item, f"{name!r} is no identifier") for item, name in names if not is_identifier(name))


def _root_is_straight(module: nodes.Module) -> Broken:
    if module.root.branch is not None or module.root.arguments:
        yield module.root, "root has neither arguments nor a branch"


def _counts_are_known(module: nodes.Module) -> Broken:
    known = {count.count for count in module.counts}
    for variable in module.root.instructions:
        unknown = (it for it in counts_in(variable.type) if it not in known)
        yield from ((variable, f"the count '{it}' has no value") for it in unknown)


def _counts_are_whole(module: nodes.Module) -> Broken:
    return ((it, "a count must be an integer") for it in module.counts if it.value.type not in (I32, U32))


def _counts_are_of_root(module: nodes.Module) -> Broken:
    made = {id(instruction) for instruction in module.root.instructions}
    foreign = (it for it in module.counts if not isinstance(it.value, nodes.Constant) and id(it.value) not in made)
    return ((it, "a count must be a constant or a value of root") for it in foreign)


MODULE_RULES: Final[tuple[Callable[[nodes.Module], Broken], ...]] = (
    _unique_functions,
    _unique_structs,
    _names_are_identifiers,
    _root_is_straight,
    _counts_are_known,
    _counts_are_whole,
    _counts_are_of_root,
)


# Functions.


def _compute_has_sizes(_: RuleScope, function: nodes.Function) -> str | None:
    fits = (function.stage is Stage.COMPUTE) == bool(function.workgroup_size) and len(function.workgroup_size) <= 3
    return None if fits else "a compute entry point, and nothing else, has one to three workgroup sizes"


def _sizes_are_of_root(scope: RuleScope, function: nodes.Function) -> str | None:
    root = scope.surroundings.root
    fits = all(isinstance(it, nodes.Constant) or id(it) in root for it in function.workgroup_size)
    return None if fits else "a workgroup size must be a constant or a value of root"


def _sizes_are_whole(_: RuleScope, function: nodes.Function) -> str | None:
    fits = all(value.type in (I32, U32) for value in function.workgroup_size)
    return None if fits else "a workgroup size must be an integer"


def _subgroup_size_is_of_compute(_: RuleScope, function: nodes.Function) -> str | None:
    fits = function.subgroup_size is None or function.stage is Stage.COMPUTE
    return None if fits else "only a compute entry point has a subgroup size"


def _subgroup_size_is_known(scope: RuleScope, function: nodes.Function) -> str | None:
    size = function.subgroup_size
    is_known = not isinstance(size, OverrideCount) or size in scope.surroundings.counts
    return None if is_known else f"the count '{size}' has no value"


def _resources_are_of_root(scope: RuleScope, function: nodes.Function) -> str | None:
    fits = all(id(it) in scope.surroundings.root for it in function.resources)
    return None if fits else "a resource must be a value of root"


def _io_is_of_entry_points(_: RuleScope, function: nodes.Function) -> str | None:
    has_io = function.return_io != _NO_IO or any(it.io != _NO_IO for it in function.parameters)
    return "only an entry point has inputs and outputs" if has_io and function.stage is None else None


FUNCTION_RULES: Final[tuple[Callable[[RuleScope, nodes.Function], str | None], ...]] = (
    _compute_has_sizes,
    _sizes_are_of_root,
    _sizes_are_whole,
    _subgroup_size_is_of_compute,
    _subgroup_size_is_known,
    _resources_are_of_root,
    _io_is_of_entry_points,
)


# Values.


def _name_is_unique(scope: RuleScope, value: nodes.AnyValue) -> str | None:
    return f"%{value.name} is made twice" if value.name in scope.twice else None


def _name_is_identifier(_: RuleScope, value: nodes.AnyValue) -> str | None:
    is_good = value.name is None or is_identifier(value.name)
    return None if is_good else f"{value.name!r} is no identifier"


def _void_has_no_name(_: RuleScope, value: nodes.AnyValue) -> str | None:
    return "what has no value has no name" if value.type is VOID and value.name is not None else None


def _void_has_no_use(_: RuleScope, value: nodes.AnyValue) -> str | None:
    return "what has no value has no use" if value.type is VOID and value.uses else None


def _type_is_concrete(_: RuleScope, value: nodes.AnyValue) -> str | None:
    return f"{value.type} is abstract" if _is_abstract(value.type) else None


def _is_abstract(type: Type) -> bool:
    scalar = scalar_of(type)
    return scalar is not None and scalar.is_abstract


VALUE_RULES: Final[tuple[Callable[[RuleScope, nodes.AnyValue], str | None], ...]] = (
    _name_is_unique,
    _name_is_identifier,
    _void_has_no_name,
    _void_has_no_use,
    _type_is_concrete,
)


# Instructions.


def _type_follows(_: RuleScope, node: nodes.Instruction) -> str | None:
    try:
        expected = result_type(node)
    except RuleError as error:
        return str(error)
    return None if expected is node.type else f"the type must be {expected}"


def _constants_fit(_: RuleScope, node: User) -> str | None:
    constants = (it for it in node.operands if isinstance(it, nodes.Constant))
    wrong = any(it.type is not it.value.type or _is_abstract(it.type) for it in constants)
    return "a constant must have the concrete type of its value" if wrong else None


def _var_is_in_place(scope: RuleScope, node: nodes.Instruction) -> str | None:
    if not isinstance(node, nodes.Var) or not isinstance(node.type, Pointer):
        return None
    fits = (node.type.space is AddressSpace.FUNCTION) != (scope.function is None)
    return None if fits else f"a variable in {node.type.space.value} memory does not belong here"


def _resource_is_bound(_: RuleScope, node: nodes.Instruction) -> str | None:
    if not isinstance(node, nodes.Var) or not isinstance(node.type, Pointer):
        return None
    fits = (node.type.space in _BOUND_SPACES) == (node.binding is not None)
    return None if fits else "a resource variable, and nothing else, has a binding"


def _override_is_in_root(scope: RuleScope, node: nodes.Instruction) -> str | None:
    is_lost = isinstance(node, nodes.Override) and scope.function is not None
    return "an override belongs to root" if is_lost else None


def _root_is_pure(scope: RuleScope, node: nodes.Instruction) -> str | None:
    fits = scope.function is not None or not _runs(node)
    return None if fits else "root holds declarations and what is known before a shader runs"


def _runs(node: nodes.Instruction) -> bool:
    """Whether an instruction may only stand in a function, not in `root`."""
    if isinstance(node, nodes.BuiltinCall):
        function = builtin(node.function)
        return function is None or not function.is_const
    return isinstance(node, (nodes.ReadingInstruction, nodes.WritingInstruction, nodes.ExitingInstruction))


def _callee_stands_before(scope: RuleScope, node: nodes.Instruction) -> str | None:
    if not isinstance(node, nodes.Call) or scope.function is None:
        return None
    positions = scope.surroundings.positions
    callee = positions.get(id(node.callee))
    fits = callee is not None and callee < positions[id(scope.function)]
    return None if fits else "a callee stands before its callers, so that none calls itself"


def _callee_is_no_entry_point(_: RuleScope, node: nodes.Instruction) -> str | None:
    is_entry_point = isinstance(node, nodes.Call) and node.callee.stage is not None
    return "an entry point cannot be called" if is_entry_point else None


def _component_stays_here(_: RuleScope, node: nodes.Instruction) -> str | None:
    """Only loads and stores may use a pointer to a vector's component."""
    if not isinstance(node, nodes.Access) or not isinstance(node.object.type, Pointer):
        return None
    fits = all(isinstance(it, (nodes.Load, nodes.Store)) for it in node.users)
    return "a pointer to a component is for load and store only" if _ends_in_vector(node) and not fits else None


def _ends_in_vector(node: nodes.Access) -> bool:
    whole: Type | None = node.object.type.store if isinstance(node.object.type, Pointer) else None
    for index in node.indices[:-1]:
        position = index.value.value if isinstance(index, nodes.Constant) else 0
        whole = None if whole is None else element_type(whole, position if isinstance(position, int) else 0)
    return isinstance(whole, Vector)


INSTRUCTION_RULES: Final[tuple[Callable[[RuleScope, nodes.Instruction], str | None], ...]] = (
    _type_follows,
    _constants_fit,
    _var_is_in_place,
    _resource_is_bound,
    _override_is_in_root,
    _root_is_pure,
    _callee_stands_before,
    _callee_is_no_entry_point,
    _component_stays_here,
)


# Branches.


def _arguments_fit(scope: RuleScope, branch: nodes.Branch) -> str | None:
    expected = _expected_arguments(scope.function, branch.target)
    if [argument.type for argument in branch.arguments] == expected:
        return None
    return f"the target takes ({', '.join(map(str, expected))})"


def _expected_arguments(function: nodes.Function | None, target: nodes.Flow) -> list[Type]:
    match target:
        case nodes.Block(arguments=arguments) | nodes.Loop(start_target=nodes.Block(arguments=arguments)):
            return [argument.type for argument in arguments]
        case nodes.Terminator(unreachable=False):
            return [] if function is None or function.return_type is VOID else [function.return_type]
        case nodes.If() | nodes.Switch() | nodes.Terminator():
            return []
        case _:
            assert_never(target)


def _condition_is_bool(_: RuleScope, branch: nodes.Branch) -> str | None:
    fits = not isinstance(branch.target, nodes.If) or branch.target.condition.type is BOOL
    return None if fits else "a condition must be a bool"


def _switch_is_on_integer(_: RuleScope, branch: nodes.Branch) -> str | None:
    fits = not isinstance(branch.target, nodes.Switch) or branch.target.condition.type in (I32, U32)
    return None if fits else "a switch needs an integer"


def _selectors_fit(_: RuleScope, branch: nodes.Branch) -> str | None:
    switch = branch.target
    if not isinstance(switch, nodes.Switch):
        return None
    fits = all(it.type is switch.condition.type for case in switch.cases for it in case.selectors)
    return None if fits else "a selector must have the type of the condition"


def _selectors_differ(_: RuleScope, branch: nodes.Branch) -> str | None:
    cases = branch.target.cases if isinstance(branch.target, nodes.Switch) else ()
    selectors = [selector for case in cases for selector in case.selectors]
    return None if len(set(selectors)) == len(selectors) else "a selector occurs twice"


def _cases_are_chosen(_: RuleScope, branch: nodes.Branch) -> str | None:
    cases = branch.target.cases if isinstance(branch.target, nodes.Switch) else ()
    fits = all(case.selectors or case.is_default for case in cases)
    return None if fits else "a case has a selector or is the default"


def _one_case_is_default(_: RuleScope, branch: nodes.Branch) -> str | None:
    if not isinstance(branch.target, nodes.Switch):
        return None
    defaults = sum(case.is_default for case in branch.target.cases)
    return None if defaults == 1 else "a switch has one default case"


def _entered_blocks_take_nothing(_: RuleScope, branch: nodes.Branch) -> str | None:
    match branch.target:
        case nodes.If(true_target=true, false_target=false):
            entered = [true, false]
        case nodes.Switch(cases=cases):
            entered = [case.target for case in cases]
        case _:
            return None
    return "an arm or a case has no arguments" if any(block.arguments for block in entered) else None


BRANCH_RULES: Final[tuple[Callable[[RuleScope, nodes.Branch], str | None], ...]] = (
    _arguments_fit,
    _constants_fit,
    _condition_is_bool,
    _switch_is_on_integer,
    _selectors_fit,
    _selectors_differ,
    _cases_are_chosen,
    _one_case_is_default,
    _entered_blocks_take_nothing,
)
