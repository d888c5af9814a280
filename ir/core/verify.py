"""The verifier of core IR: what holds between passes.

Each rule is a line of a table below: a function that returns a sentence where the rule is broken, or None.
`structure` finds what stands where, what each place may see and where it may branch; `rules` has the types of
operations.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from ..builtins import builtin
from ..types import BOOL, I32, U32, VOID, AddressSpace, Pointer, Stage, Type, Vector, element_type, scalar_of
from . import nodes
from .rules import RuleError, counts_in, result_type
from .structure import Finding, Structure
from .text import print_with_places
from .values import User, Value

N = TypeVar("N")

_NAME = re.compile(r"(?!\d)(?:\w|[^\x00-\x7f])+")
_BOUND_SPACES = (AddressSpace.STORAGE, AddressSpace.UNIFORM, AddressSpace.HANDLE)


class VerifyError(Exception):
    """A module that breaks rules. `findings` are the sentences; the message is the text with each under its line."""

    def __init__(self, module: nodes.Module, found: list[Finding]) -> None:
        self.findings = tuple(message for _, message in found)
        super().__init__(_report(module, found))


def verify(module: nodes.Module) -> None:
    """Raise VerifyError if the module breaks a rule."""
    found = list(findings(module))
    if found:
        raise VerifyError(module, found)


def findings(module: nodes.Module) -> Iterator[Finding]:
    """Everything that is wrong with a module."""
    yield from ((module, message) for rule in _MODULE_RULES for message in rule(module))
    structures = [Structure(module, function) for function in (None, *module.functions)]
    for structure in structures:
        yield from structure.findings
        yield from _structure_findings(structure)
    yield from _use_findings(module, structures)


def _report(module: nodes.Module, found: Iterable[Finding]) -> str:
    printed = print_with_places(module)
    notes: dict[int, list[str]] = {}
    for node, message in found:
        notes.setdefault(printed.places.get(id(node), -1), []).append(message)
    lines = ["core IR breaks a rule", *(f"!!! {message}" for message in notes.get(-1, []))]
    for number, line in enumerate(printed.lines):
        indent = " " * (len(line) - len(line.lstrip()))
        lines += [f"    {line}", *(f"!!! {indent}^ {message}" for message in notes.get(number, []))]
    return "\n".join(lines)


def _structure_findings(structure: Structure) -> Iterator[Finding]:
    if structure.function is not None:
        yield from _broken(_FUNCTION_RULES, structure, structure.function)
    for block in structure.blocks:
        for instruction in block.instructions:
            yield from _broken(_INSTRUCTION_RULES, structure, instruction)
        if block.branch is not None:
            yield from _broken(_BRANCH_RULES, structure, block.branch)
    for value in structure.values:
        yield from _broken(_VALUE_RULES, structure, value)


def _broken(
    rules: Iterable[Callable[[Structure, N], str | None]], structure: Structure, node: N
) -> Iterator[tuple[N, str]]:
    return ((node, message) for rule in rules if (message := rule(structure, node)) is not None)


# The module.


def _unique_functions(module: nodes.Module) -> Iterator[str]:
    names = Counter(function.name for function in module.functions)
    return (f"there are {count} functions @{name}" for name, count in names.items() if count > 1)


def _unique_structs(module: nodes.Module) -> Iterator[str]:
    names = Counter(struct.name for struct in module.structs)
    return (f"there are {count} structures {name}" for name, count in names.items() if count > 1)


def _root_is_straight(module: nodes.Module) -> Iterator[str]:
    if module.root.branch is not None or module.root.arguments:
        yield "root has neither arguments nor a branch"


def _counts_are_known(module: nodes.Module) -> Iterator[str]:
    known = {count.count for count in module.counts}
    for variable in module.root.instructions:
        yield from (f"the count '{it}' has no value" for it in counts_in(variable.type) if it not in known)


def _counts_are_whole(module: nodes.Module) -> Iterator[str]:
    integers = (count for count in module.counts if count.value.type in (I32, U32))
    if len(list(integers)) < len(module.counts):
        yield "a count must be an integer"


def _counts_are_of_root(module: nodes.Module) -> Iterator[str]:
    made = {id(instruction) for instruction in module.root.instructions}
    if any(not isinstance(it.value, nodes.Constant) and id(it.value) not in made for it in module.counts):
        yield "a count must be a constant or a value of root"


_MODULE_RULES = (
    _unique_functions,
    _unique_structs,
    _root_is_straight,
    _counts_are_known,
    _counts_are_whole,
    _counts_are_of_root,
)


# Functions.


def _unique_names(structure: Structure, function: nodes.Function) -> str | None:
    values = (*structure.module.root.instructions, *structure.values)
    names = Counter(value.name for value in values if value.name is not None)
    twice = [name for name, count in names.items() if count > 1]
    return f"%{twice[0]} is made twice" if twice else None


def _workgroup_size_fits(structure: Structure, function: nodes.Function) -> str | None:
    size = function.workgroup_size
    if (function.stage is Stage.COMPUTE) != bool(size) or len(size) > 3:
        return "a compute entry point, and nothing else, has one to three workgroup sizes"
    made = {id(instruction) for instruction in structure.module.root.instructions}
    if any(not isinstance(value, nodes.Constant) and id(value) not in made for value in size):
        return "a workgroup size must be a constant or a value of root"
    return None if all(value.type in (I32, U32) for value in size) else "a workgroup size must be an integer"


def _subgroup_size_fits(structure: Structure, function: nodes.Function) -> str | None:
    size = function.subgroup_size
    if size is None:
        return None
    if function.stage is not Stage.COMPUTE:
        return "only a compute entry point has a subgroup size"
    is_known = isinstance(size, int) or any(it.count == size for it in structure.module.counts)
    return None if is_known else f"the count '{size}' has no value"


def _resources_are_of_root(structure: Structure, function: nodes.Function) -> str | None:
    made = {id(instruction) for instruction in structure.module.root.instructions}
    return None if all(id(it) in made for it in function.resources) else "a resource must be a value of root"


_FUNCTION_RULES = (_unique_names, _workgroup_size_fits, _subgroup_size_fits, _resources_are_of_root)


# Values.


def _name_is_identifier(structure: Structure, value: nodes.AnyValue) -> str | None:
    is_good = value.name is None or _NAME.fullmatch(value.name)
    return None if is_good else f"{value.name!r} is no identifier"


def _void_has_no_name(structure: Structure, value: nodes.AnyValue) -> str | None:
    return "what has no value has no name" if value.type is VOID and (value.name is not None or value.uses) else None


def _type_is_concrete(structure: Structure, value: nodes.AnyValue) -> str | None:
    return f"{value.type} is abstract" if _is_abstract(value.type) else None


def _is_abstract(type: Type) -> bool:
    scalar = scalar_of(type)
    return scalar is not None and scalar.is_abstract


_VALUE_RULES = (_name_is_identifier, _void_has_no_name, _type_is_concrete)


# Instructions.


def _type_follows(structure: Structure, node: nodes.Instruction) -> str | None:
    try:
        expected = result_type(node)
    except RuleError as error:
        return str(error)
    return None if expected is node.type else f"the type must be {expected}"


def _constants_fit(structure: Structure, node: User) -> str | None:
    constants = (it for it in node.operands if isinstance(it, nodes.Constant))
    wrong = any(it.type is not it.value.type or _is_abstract(it.type) for it in constants)
    return "a constant must have the concrete type of its value" if wrong else None


def _var_is_in_place(structure: Structure, node: nodes.Instruction) -> str | None:
    if not isinstance(node, nodes.Var) or not isinstance(node.type, Pointer):
        return None
    if (node.type.space is AddressSpace.FUNCTION) == (structure.function is None):
        return f"a variable in {node.type.space.value} memory does not belong here"
    if (node.type.space in _BOUND_SPACES) != (node.binding is not None):
        return "a resource variable, and nothing else, has a binding"
    return None


def _override_is_in_root(structure: Structure, node: nodes.Instruction) -> str | None:
    is_lost = isinstance(node, nodes.Override) and structure.function is not None
    return "an override belongs to root" if is_lost else None


def _root_is_pure(structure: Structure, node: nodes.Instruction) -> str | None:
    if structure.function is not None:
        return None
    match node:
        case nodes.Load() | nodes.Store() | nodes.Call() | nodes.Discard():
            return "root holds declarations and what is known before a shader runs"
        case nodes.BuiltinCall(function=name):
            function = builtin(name)
            is_known = function is not None and function.is_const
            return None if is_known else "root holds declarations and what is known before a shader runs"
        case _:
            return None


def _callee_stands_before(structure: Structure, node: nodes.Instruction) -> str | None:
    if not isinstance(node, nodes.Call) or structure.function is None:
        return None
    functions = structure.module.functions
    before = functions[: _index(functions, structure.function)]
    if not any(node.callee is it for it in before):
        return "a callee stands before its callers, so that none calls itself"
    return "an entry point cannot be called" if node.callee.stage is not None else None


def _index(functions: list[nodes.Function], function: nodes.Function) -> int:
    return next((index for index, it in enumerate(functions) if it is function), 0)


def _component_stays_here(structure: Structure, node: nodes.Instruction) -> str | None:
    """A pointer to a vector's component."""
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


_INSTRUCTION_RULES = (
    _type_follows,
    _constants_fit,
    _var_is_in_place,
    _override_is_in_root,
    _root_is_pure,
    _callee_stands_before,
    _component_stays_here,
)


# Branches.


def _arguments_fit(structure: Structure, branch: nodes.Branch) -> str | None:
    expected = _expected_arguments(structure, branch.target)
    if [argument.type for argument in branch.arguments] == expected:
        return None
    return f"the target takes ({', '.join(map(str, expected))})"


def _expected_arguments(structure: Structure, target: nodes.Flow) -> list[Type]:
    match target:
        case nodes.Block(arguments=arguments) | nodes.Loop(start_target=nodes.Block(arguments=arguments)):
            return [argument.type for argument in arguments]
        case nodes.Terminator(unreachable=False):
            function = structure.function
            return [] if function is None or function.return_type is VOID else [function.return_type]
        case _:
            return []


def _condition_fits(structure: Structure, branch: nodes.Branch) -> str | None:
    match branch.target:
        case nodes.If(condition=condition):
            return None if condition.type is BOOL else "a condition must be a bool"
        case nodes.Switch(condition=condition):
            return None if condition.type in (I32, U32) else "a switch needs an integer"
        case _:
            return None


def _cases_fit(structure: Structure, branch: nodes.Branch) -> str | None:
    switch = branch.target
    if not isinstance(switch, nodes.Switch):
        return None
    selectors = [selector for case in switch.cases for selector in case.selectors]
    if any(selector.type is not switch.condition.type for selector in selectors):
        return "a selector must have the type of the condition"
    if len({selector.value for selector in selectors if isinstance(selector.value, int)}) < len(selectors):
        return "a selector occurs twice"
    return None if sum(case.is_default for case in switch.cases) == 1 else "a switch has one default case"


def _entered_blocks_take_nothing(structure: Structure, branch: nodes.Branch) -> str | None:
    match branch.target:
        case nodes.If(true_target=true, false_target=false):
            entered = [true, false]
        case nodes.Switch(cases=cases):
            entered = [case.target for case in cases]
        case _:
            return None
    return "an arm or a case has no arguments" if any(block.arguments for block in entered) else None


def _branch_constants_fit(structure: Structure, branch: nodes.Branch) -> str | None:
    return _constants_fit(structure, branch)


_BRANCH_RULES = (
    _arguments_fit,
    _condition_fits,
    _cases_fit,
    _entered_blocks_take_nothing,
    _branch_constants_fit,
)


# Uses.


def _use_findings(module: nodes.Module, structures: Iterable[Structure]) -> Iterator[Finding]:
    """Operands and uses mirror each other, and only what stands in the module uses its values."""
    users: list[User] = [user for structure in structures for user in structure.users]
    users += module.counts
    standing = {id(user) for user in users}
    known: dict[int, set[tuple[int, int]]] = {}
    for user in users:
        for index, operand in enumerate(user.operands):
            if id(operand) not in known:
                known[id(operand)] = {(id(use.user), use.index) for use in operand.uses}
            if (id(user), index) not in known[id(operand)]:
                yield user, "an operand does not know this use"
    for structure in structures:
        yield from (
            (value, "a use is left of what is gone") for value in structure.values if _has_lost(value, standing)
        )


def _has_lost(value: Value, standing: set[int]) -> bool:
    return any(id(use.user) not in standing or use.user.operands[use.index] is not value for use in value.uses)
