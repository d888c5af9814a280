"""Every table by hand covers every kind of node: a new kind fails here until each has a row for it.

Result types, operand rules, evaluators, LLVM code of each tier, costs and drawing of the operations on scalars; and the
interpreter, machine code and drawing of all other nodes, by the samples of `test_node_rules`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
import pytest

from tinct.backend.cpu import CpuOptions, compile_function
from tinct.backend.cpu import nodes as lane_nodes
from tinct.backend.cpu.emit import Tier
from tinct.backend.cpu.gangs.values import values as gang_values
from tinct.backend.cpu.layout import natural_layout
from tinct.backend.cpu.llvm import Ops
from tinct.ir.hercules import operations
from tinct.ir.hercules.costs import DIVISION, operation_cost
from tinct.ir.hercules.dot import draw
from tinct.ir.hercules.inference import infer_types
from tinct.ir.hercules.interp import run
from tinct.ir.hercules.nodes import (
    AnyScalarNode,
    Binary,
    Bitcast,
    Cast,
    ConstantNode,
    Function,
    Intrinsic,
    Node,
    Return,
    ScalarNode,
    Select,
    Unary,
)
from tinct.ir.hercules.storage import Variant
from tinct.ir.hercules.text import parse
from tinct.ir.hercules.verify import check
from tinct.transforms.hercules.ccp import ConditionalConstantPropagation

from .support import copy_of, run_values, same_value
from .test_node_rules import CALLS, NEST, SAMPLES, SUMS, Sample

TIERS: tuple[Tier, ...] = get_args(Tier)
EXPRESSIONS: Mapping[type[ScalarNode], tuple[str, str]] = {
    Unary: ("negate(x)", "f32"),
    Binary: ("mul(x, y)", "f32"),
    Select: ("select(less, x, y)", "f32"),
    Cast: ("cast(i32, x)", "i32"),
    Bitcast: ("bitcast(u32, x)", "u32"),
    Intrinsic: ("intrinsic(sqrt, f32, y)", "f32"),
}
"""An operation on two f32 and their comparison, and the type of its result."""
LEFT, RIGHT = [1.5, -2.0, 0.0, 7.25] * 8, [2.0, 1.0, 0.0, 0.5] * 8
OVER_ARRAYS = """fn f<groups, n>(a: array<f32, n>, b: array<f32, n>, out: array<{type}, n>) -> array<{type}, n> {{
  workgroups = fork(start, groups)
  lanes = fork(workgroups, 16)
  group = thread_id(workgroups)
  lane = thread_id(lanes)
  size = constant(u64 16)
  first = mul(group, size)
  i = add(first, lane)
  x = read(a, position(i))
  y = read(b, position(i))
  less = less(x, y)
  value = {expression}
  outer = reduce(end, out, inner)
  inner = reduce(met, outer, after)
  after = write(inner, value, position(i))
  met = join(lanes)
  end = join(met)
  done = return(end, outer)
}}"""
OVER_CONSTANTS = """fn f() -> {type} {{
  x = constant(f32 1.5)
  y = constant(f32 2.0)
  less = constant(bool true)
  value = {expression}
  done = return(start, value)
}}"""
DTYPES = {"f32": np.float32, "i32": np.int32, "u32": np.uint32}


def function(template: str, kind: type[ScalarNode]) -> Function:
    expression, type = EXPRESSIONS[kind]
    module = parse(template.format(expression=expression, type=type))
    check(module)
    return module.functions[0]


def node_in(function: Function, kind: type[ScalarNode]) -> AnyScalarNode:
    (node,) = (it for it in function.nodes if isinstance(it, kind) and it.label == "value")
    assert isinstance(node, ScalarNode)
    return node


def test_every_operation_on_scalars_has_a_sample() -> None:
    assert set(EXPRESSIONS) == set(get_args(AnyScalarNode))


def test_every_operation_on_scalars_has_a_rule_for_its_operands() -> None:
    kinds = [kind for rule in operations.OPERAND_RULES for kind in rule.kinds]
    assert sorted(kinds, key=str) == sorted(get_args(AnyScalarNode), key=str)


@pytest.mark.parametrize("kind", EXPRESSIONS)
def test_types_and_costs(kind: type[ScalarNode]) -> None:
    sample = function(OVER_ARRAYS, kind)
    node = node_in(sample, kind)
    assert operations.result_type(node, infer_types(sample)) == infer_types(sample)[node]
    assert operation_cost(node) in (None, 1, DIVISION)
    assert "value" in draw(sample)


@pytest.mark.parametrize("kind", EXPRESSIONS)
def test_folding_gives_what_the_interpreter_gives(kind: type[ScalarNode]) -> None:
    sample = function(OVER_CONSTANTS, kind)
    expected = run(sample, [], [])
    module = parse(OVER_CONSTANTS.format(expression=EXPRESSIONS[kind][0], type=EXPRESSIONS[kind][1]))
    assert ConditionalConstantPropagation().run(module)
    (result,) = (it.value for it in module.functions[0].nodes if isinstance(it, Return))
    assert isinstance(result, ConstantNode)
    assert same_value(run(module.functions[0], [], []), expected)


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("kind", EXPRESSIONS)
def test_every_tier_gives_what_the_interpreter_gives(
    kind: type[ScalarNode], tier: Tier, monkeypatch: pytest.MonkeyPatch
) -> None:
    emitted: list[type[Node]] = []
    emitter = gang_values if tier == "gang" else lane_nodes
    original = emitter.compute

    def compute(ops: Ops, node: Node, *rest: Any) -> str:
        emitted.append(type(node))
        return original(ops, node, *rest)

    monkeypatch.setattr(emitter, "compute", compute)
    sample = function(OVER_ARRAYS, kind)
    out = np.zeros(len(LEFT), DTYPES[EXPRESSIONS[kind][1]])
    columns = [np.array(LEFT, np.float32), np.array(RIGHT, np.float32), out]
    expected = run(sample, [2, len(LEFT)], columns)
    layouts = {index: natural_layout(type) for index, type in enumerate(sample.parameter_types)}
    compiled = compile_function(sample, layouts, CpuOptions(tier))
    compiled.bind([it.ctypes.data for it in columns], [2, len(LEFT)]).run()
    assert kind in emitted
    np.testing.assert_array_equal(out, np.array(expected, out.dtype))


ARGUMENTS: Mapping[int, tuple[list[int], list[object]]] = {
    id(NEST): ([3, 2], [5]),
    id(SUMS): ([], [Variant(0, 4), True]),
    id(CALLS): ([2], [[1, 2, 3, 4], 1]),
}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda it: it.kinds)
def test_every_node_is_drawn_and_runs(sample: Sample) -> None:
    module = parse(sample.text)
    constants, arguments = ARGUMENTS[id(sample)]
    assert draw(module.functions[0]).startswith("digraph")
    assert infer_types(module.functions[0]).keys() == set(module.functions[0].nodes)
    expected = run(module.functions[0], constants, arguments)
    assert same_value(run_values(copy_of(module).functions[0], constants, arguments), expected)
