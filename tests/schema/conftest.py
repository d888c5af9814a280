"""Three schemas in use: a tracked one with cycles, an immutable one, and one of operations."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tinct.ir.schema.asdl import parse_schema
from tinct.ir.schema.generate import python_module

GRAPH = r"""
module graph "graph_schema/nodes.py" {
    extern point = Point in .externs
    tracked value

    program = @Program(str name, block* blocks, setting* settings = [])
    setting = (str key, bool on, float weight = 1.0, bytes data)
    block = @Block(parameter* parameters, instruction* instructions, Block? next, program? \parent)
    value = parameter | instruction
    parameter = @Parameter(str name) attributes (int \line = 0)
    instruction = @Add(value lhs, value rhs)
                | @Sum(value* terms)
                | @Pick(value choice, point where, order order, value? otherwise)
                | @Jump(Block \target, value* arguments)
                | @Stop
        attributes (int \line = 0)
    order = Less | LessEqual | None
    chain = Nil | Link(str head, chain tail)
}
"""

TREE = r"""
-- A small language.
--
--   let x = 1
module tree "tree_schema/nodes.py" immutable {
    -- What can be said.
    expression = Number(float value, int \line = 0)
               -- A name, "quoted".
               | @Name(str name)
               | Binary(operator op, expression lhs, expression rhs)
               | Tuple(expression* items)
               | Some(expression? item)
    operator = Plus | Minus
}
"""

FLOW = r"""
module flow "flow_schema/nodes.py" {
    operations node

    program = @Program(node* nodes)
    node = @Start ["start", control]
         | @Merge(control node* before) ["merge", control]
         | @Choice(pinned node merge, node* values, node* others) ["choice", pure]
         | @Number(int value, note str comment) ["number", pure]
         | @Binary(op op, node lhs, node rhs) [op, pure, scalar]
         | @Same(node lhs, node rhs) ["same", pure, commutative]
         | @Part(node whole, step* path) ["part", reads]
         | @Change(node whole, step step, program \owner) ["change", writes, composed]
        attributes (note str \label = "", int weight = 1)
    step = Member(int index) | Element(node position, int size)
    op = Add [commutative] | Sub
}
"""


def _package(folder: Path, name: str, schema: str, **files: str) -> ModuleType:
    module = parse_schema(schema, f"{name}.asdl")
    package = folder / f"{name}_schema"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "nodes.py").write_text(python_module(module, f"{name}.asdl"))
    for file, text in files.items():
        (package / f"{file}.py").write_text(text)
    return importlib.import_module(f"{name}_schema.nodes")


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, ModuleType]]:
    folder = tmp_path_factory.mktemp("generated")
    sys.path.insert(0, str(folder))
    values = "from tinct.ir.core import values\nfrom tinct.ir.core.values import User\n\n\n"
    values += "class Value(values.Value):\n    __slots__ = ('line',)\n"
    graph = _package(folder, "graph", GRAPH, values=values)
    yield {"graph": graph, "tree": _package(folder, "tree", TREE), "flow": _package(folder, "flow", FLOW)}
    sys.path.remove(str(folder))


@pytest.fixture(scope="session")
def graph(generated: dict[str, ModuleType]) -> ModuleType:
    return generated["graph"]


@pytest.fixture(scope="session")
def tree(generated: dict[str, ModuleType]) -> ModuleType:
    return generated["tree"]


@pytest.fixture(scope="session")
def flow(generated: dict[str, ModuleType]) -> ModuleType:
    return generated["flow"]
