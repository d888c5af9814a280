"""Recorded results of the conformance suite are right after each pass, and after all."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from tests.conformance.records import folder, read
from tests.conformance.values import decode, matches

from tinct.ir.core import Module, run
from tinct.ir.diagnostics import InputError
from tinct.ir.types import BindingPoint
from tinct.transforms.pipelines import specialise

from .support import PIPELINES, entry_points, module_of, transformed, written

EVERY = 50
STEPS = 100_000
Record = dict[str, Any]
VECTORS = folder()


def is_asked(record: Record) -> bool:
    return record["kind"] in ("bufeq", "flow") or record.get("src") == "storage_r"


def dispatch(module: Module, record: Record, entry: str, steps: int) -> bool:
    """Whether the interpreter's answer is the recorded one."""
    kind = record["kind"]
    if kind == "bufeq":
        buffers = {BindingPoint(it["group"], it["binding"]): _initial(it) for it in record["bindings"]}
    elif kind == "flow":
        inputs, outputs = record["bindings"]
        words = b"".join((word & 0xFFFFFFFF).to_bytes(4, "little") for word in inputs["i32"])
        buffers = {BindingPoint(0, 0): bytearray(words), BindingPoint(0, 1): bytearray(outputs["size"])}
    else:
        buffers = {BindingPoint(0, 0): bytearray(record["outStride"] * record["n"])}
        buffers[BindingPoint(0, 1)] = bytearray(base64.b64decode(record["inputs"]))
    x, y, z = record.get("workgroups", (1, 1, 1))
    run(module, entry, buffers, (x, y, z), step_limit=steps)
    return _agrees(record, buffers)


def _initial(binding: Record) -> bytearray:
    data = base64.b64decode(binding["init"])[binding["offset"] :]
    return bytearray(data[: binding["size"]] if "size" in binding else data)


def _agrees(record: Record, buffers: dict[BindingPoint, bytearray]) -> bool:
    if record["kind"] == "bufeq":
        check = record["check"]
        expected = base64.b64decode(check["bytes"])
        found = buffers[BindingPoint(check["group"], check["binding"])]
        return bytes(found[check["offset"] : check["offset"] + len(expected)]) == expected
    if record["kind"] == "flow":
        prefix: list[int] = record["expected_u32_prefix"]
        return list(memoryview(buffers[BindingPoint(0, 1)]).cast("I"))[: len(prefix)] == prefix
    output, stride = bytes(buffers[BindingPoint(0, 0)]), record["outStride"]
    values = [decode(record["result"], output[stride * index :][:stride]) for index in range(record["n"])]
    return all(map(matches, record["expected"], values))


def is_right(record: Record, pipeline: str, *, as_text: bool, steps: int = 30 * STEPS) -> bool:
    module = module_of(record["wgsl"])
    entry = record.get("entryPoint") or entry_points(module)[0].name
    specialise(module, entry, record.get("constants") or {})
    transformed(module, pipeline)
    return dispatch(module_of(written(module)) if as_text else module, record, entry, steps)


def is_quick(record: Record) -> bool:
    try:
        assert is_right(record, "", as_text=False, steps=STEPS), record["q"]
    except InputError:  # more steps than a test of this size should take
        return False
    return True


@pytest.fixture(scope="module")
def records() -> list[Record]:
    if VECTORS is None:
        pytest.skip("no conformance vectors on this machine")
    asked = [record for record in read(VECTORS / "execution.jsonl.xz") if is_asked(record)][::EVERY]
    quick = [record for record in asked if is_quick(record)]
    assert len(quick) > 90
    return quick


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_right_after(pipeline: str, records: list[Record]) -> None:
    assert [it["q"] for it in records if not is_right(it, pipeline, as_text=False)] == []


def test_right_after_all_as_text(records: list[Record]) -> None:
    assert [it["q"] for it in records if not is_right(it, "O2,minify,gpu", as_text=True)] == []
