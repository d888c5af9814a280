"""One judge for each kind of question: is tinct right on this record? `None` says yes, a text says what went wrong."""

from __future__ import annotations

import base64
from collections.abc import Callable

from tinct import frontend
from tinct.base.errors import TinctError
from tinct.devices import device_named
from tinct.dispatch import Dispatch
from tinct.ir.diagnostics import Diagnostic
from tinct.ir.source import Source
from tinct.ir.types import BindingPoint
from tinct.kernel import Kernel
from tinct.shader import Shader

from .records import Record
from .values import decode, matches

Judge = Callable[[Record], str | None]
Buffers = dict[BindingPoint, bytearray]
Execute = Callable[[Record, Buffers, tuple[int, int, int]], None]
"""Runs a record's shader on buffers, in place."""

UNIFORM, STORAGE = 64, 128


def validation(record: Record) -> str | None:
    """Whether the verdict on a module or a pipeline is the suite's, or a warning is given where one is expected."""
    source = Source.from_text(record["code"], record["q"])
    diagnostics = frontend.check(source)
    if record["kind"] == "warning":
        warned = any(not diagnostic.is_error for diagnostic in diagnostics)
        return None if warned == record["warning"] else f"warned: {warned}"
    if record["kind"] == "pipeline" and not _errors(diagnostics):
        program = frontend.load_program(source)
        entry = record.get("entryPoint", "main")
        diagnostics = frontend.check_pipeline(program, entry, record.get("constants", {}))
    errors = _errors(diagnostics)
    if (not errors) == record["expected"]:
        return None
    return f"refused: {errors[0].message}" if errors else "accepted"


def _errors(diagnostics: tuple[Diagnostic, ...]) -> list[Diagnostic]:
    return [diagnostic for diagnostic in diagnostics if diagnostic.is_error]


def execution(device: str) -> Judge:
    """Whether a record's shader computes what the suite expects on a device."""

    def execute(record: Record, buffers: Buffers, workgroups: tuple[int, int, int]) -> None:
        _dispatch(record, device, buffers, workgroups)

    return lambda record: execution_by(execute, record)


def execution_by(execute: Execute, record: Record) -> str | None:
    """Whether a record's shader, run by `execute`, computes what the suite expects."""
    judges: dict[str, Callable[[Record, Execute], str | None]] = {"expr": _expr, "bufeq": _bufeq, "flow": _flow}
    try:
        return judges[record["kind"]](record, execute)
    except TinctError as error:
        return _first_line(error)


def _first_line(error: TinctError) -> str:
    return str(error).splitlines()[0]


def _dispatch(record: Record, device: str, buffers: Buffers, workgroups: tuple[int, int, int]) -> None:
    shader = Shader(Source.from_text(record["wgsl"], record["q"]))
    kernel: Kernel = shader.kernel(record.get("entryPoint"))
    compilation = shader.compilation(kernel.info.name, record.get("constants") or {})
    used = {info.point: buffers[info.point] for info in kernel.bindings}
    device_named(device)(Dispatch(compilation, kernel.bindings, used, workgroups))


def _expr(record: Record, execute: Execute) -> str | None:
    stride, count = record["outStride"], record["n"]
    output = bytearray(stride * count)
    buffers = {BindingPoint(0, 0): output}
    if "inputs" in record:
        buffers[BindingPoint(0, 1)] = bytearray(base64.b64decode(record["inputs"]))
    execute(record, buffers, (1, 1, 1))
    for index, expected in enumerate(record["expected"]):
        actual = decode(record["result"], bytes(output[index * stride : (index + 1) * stride]))
        if not matches(expected, actual):
            return f"case {index}: expected {str(expected)[:200]}, got {str(actual)[:200]}"
    return None


def _bufeq(record: Record, execute: Execute) -> str | None:
    buffers = {BindingPoint(b["group"], b["binding"]): _initial(b) for b in record["bindings"]}
    x, y, z = record["workgroups"]
    execute(record, buffers, (x, y, z))
    check = record["check"]
    expected = base64.b64decode(check["bytes"])
    buffer = buffers[BindingPoint(check["group"], check["binding"])]
    actual = bytes(buffer[check["offset"] : check["offset"] + len(expected)])
    return None if actual == expected else f"expected {expected[:64].hex()}, got {actual[:64].hex()}"


def _initial(binding: Record) -> bytearray:
    data = base64.b64decode(binding["init"])[binding["offset"] :]
    return bytearray(data[: binding["size"]] if "size" in binding else data)


def _flow(record: Record, execute: Execute) -> str | None:
    inputs, outputs = record["bindings"]
    words = b"".join((word & 0xFFFFFFFF).to_bytes(4, "little") for word in inputs["i32"])
    result = bytearray(outputs["size"])
    buffers = {BindingPoint(0, 0): bytearray(words), BindingPoint(0, 1): result}
    x, y, z = record["workgroups"]
    execute(record, buffers, (x, y, z))
    expected = record["expected_u32_prefix"]
    actual = [int.from_bytes(result[4 * i : 4 * i + 4], "little") for i in range(len(expected))]
    return None if actual == expected else f"expected {expected[:24]}, got {actual[:24]}"
