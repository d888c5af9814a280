"""Judges of core IR: valid modules written back, in every form, and for naga; recorded answers after transforms."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence

from tinct import frontend
from tinct.backend.gpu import GpuDevice, GpuError
from tinct.backend.wgsl import print_unit
from tinct.ir.core import Module, parse, print_module, run, verify
from tinct.ir.core.codec import codec
from tinct.ir.core.nodes import Override, Var
from tinct.ir.diagnostics import ShaderError
from tinct.ir.schema.traverse import same
from tinct.ir.source import Source
from tinct.ir.types import Stage
from tinct.ir.wgsl.program import Program
from tinct.transforms.from_wgsl import build
from tinct.transforms.passes import parse_pipeline, run_passes
from tinct.transforms.pipelines import CORE
from tinct.transforms.specialising import specialise
from tinct.transforms.to_wgsl.unit import to_unit

from .judges import Buffers, Judge, execution_by
from .records import Record

NAGA_SECONDS = 30.0


class SkippedError(Exception):
    """There is nothing to judge; the text says why."""


def _program(text: str, name: str) -> Program:
    return frontend.load_program(Source.from_text(text, name))


def _written(module: Module) -> str:
    return print_unit(to_unit(module))


def _message(error: ShaderError) -> str:
    return str(error).splitlines()[0]


def roundtrip(record: Record) -> str | None:
    """Whether a valid module, written back from core IR, is accepted with the interface it had, and stays the same
    when it is written back again.
    """
    try:
        module = build(_program(record["code"], record["q"]))
        once = _written(module)
        again = build(_program(once, record["q"]))
        twice = _written(again)
    except ShaderError as error:
        return _message(error)
    if interface(module) != interface(again):
        return "the interface differs"
    return None if once == twice else "the second round trip differs from the first"


def interface(module: Module) -> list[str]:
    """What a pipeline sees of a module: its overrides, and the inputs, outputs and resources of its entry points."""
    overrides = [it for it in module.root.instructions if isinstance(it, Override)]
    found = [f"{it.name} {it.id} {it.type} {it.default is None}" for it in overrides]
    for function in module.functions:
        if function.stage is not None:
            inputs = [f"{it.io} {it.type}" for it in function.parameters]
            resources = sorted(f"{it.name} {it.type} {_binding(it)}" for it in function.resources)
            result = f"{function.return_io} {function.return_type}"
            found.append(f"{function.name} {function.stage} {inputs} {result} {resources}")
    return found


def _binding(declaration: Var | Override) -> str:
    return str(declaration.binding) if isinstance(declaration, Var) else ""


def forms(record: Record) -> str | None:
    """Whether the module of a valid text verifies, and comes back the same from text, from JSON and as an ATerm."""
    try:
        module = build(_program(record["code"], record["q"]))
    except ShaderError as error:
        return _message(error)
    verify(module)
    text = print_module(module)
    from_text = parse(text, module.structs)
    terms = codec(module.structs)
    differing = [
        *(["text"] if not same(module, from_text) or print_module(from_text) != text else []),
        *(["JSON"] if not same(module, terms.from_json(terms.to_json(module), Module)) else []),
        *(["ATerm"] if not same(module, terms.from_aterm(terms.to_aterm(module), Module)) else []),
    ]
    return f"does not come back from {', '.join(differing)}" if differing else None


def naga() -> Judge:
    """Whether naga accepts what is written back of a valid module, if it accepts the module itself.

    naga lives in a process of its own, since it may abort: this counts as a refusal.
    """
    device = GpuDevice()

    def refusal(text: str) -> str | None:
        try:
            return device.validate(text, timeout=NAGA_SECONDS)
        except GpuError as error:
            if error.kind not in ("crash", "timeout"):
                raise
            return error.message

    def judge(record: Record) -> str | None:
        if refusal(record["code"]) is not None:
            raise SkippedError("naga refuses the original")
        try:
            text = _written(build(_program(record["code"], record["q"])))
        except ShaderError as error:
            return _message(error)
        return refusal(text)

    return judge


def tint() -> Judge:
    """Whether Tint accepts what is written back of a valid module, by the script that the folder $TINCT_TINT holds.

    Its warnings come on lines of their own, before the verdict.
    """
    folder = os.environ["TINCT_TINT"]
    process = subprocess.Popen(
        ["node", "validate.mjs"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )

    def judge(record: Record) -> str | None:
        try:
            text = _written(build(_program(record["code"], record["q"])))
        except ShaderError as error:
            return _message(error)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"q": record["q"], "code": text}) + "\n")
        process.stdin.flush()
        verdict: Record = json.loads(next(line for line in process.stdout if line.startswith("{")))
        return None if verdict["tint"] else str(verdict["message"])

    return judge


def transforms(pipelines: Sequence[str], step_limit: int | None = None) -> Judge:
    """Whether the interpreter gives a record's answer before and after each pipeline, of the module and of its text.

    The problem has a line for each pipeline that spoils the answer. A module or text met before is not run again.
    """

    def judge(record: Record) -> str | None:
        if record["kind"] == "expr" and record["src"] != "storage_r":
            raise SkippedError("its expressions are constant")
        answers = _Answers(record, step_limit)
        problems = {pipeline: problem for pipeline in pipelines if (problem := answers.after(pipeline)) is not None}
        return "\n".join(f"{pipeline or 'O0'}: {problem}" for pipeline, problem in problems.items()) or None

    return judge


class _Answers:
    """The answers of one record's shader, however it is changed."""

    def __init__(self, record: Record, step_limit: int | None) -> None:
        self.record = record
        self.step_limit = step_limit
        self.program = _program(record["wgsl"], record["q"])
        names = [it.name for it in build(self.program).functions if it.stage is Stage.COMPUTE]
        self.entry: str = record.get("entryPoint") or names[0]
        self._of_module: dict[str, str | None] = {}
        self._of_text: dict[str, str | None] = {}

    def after(self, pipeline: str) -> str | None:
        """What is wrong after a pipeline; None if nothing is."""
        module = specialise(build(self.program), self.entry, self.record.get("constants") or {})
        run_passes(module, parse_pipeline(pipeline, CORE), CORE, verify_each=True)
        return next(filter(None, self._problems(module)), None)

    def _problems(self, module: Module) -> Iterator[str | None]:
        yield self._answer(module)
        module.enables = list(self.program.enables)  # the naga dialect leaves them out; the front end demands them
        text = _written(module)
        if text not in self._of_text:
            self._of_text[text] = self._answer_of_text(text)
        yield self._of_text[text]

    def _answer_of_text(self, text: str) -> str | None:
        try:
            again = build(_program(text, "written back"))
        except ShaderError as error:
            return f"written back: {_message(error)}"
        problem = self._answer(again)
        return None if problem is None else f"written back: {problem}"

    def _answer(self, module: Module) -> str | None:
        key = print_module(module)
        if key not in self._of_module:
            self._of_module[key] = self._interpreted(module)
        return self._of_module[key]

    def _interpreted(self, module: Module) -> str | None:
        def execute(_: Record, buffers: Buffers, workgroups: tuple[int, int, int]) -> None:
            run(module, self.entry, buffers, workgroups, step_limit=self.step_limit)

        return execution_by(execute, self.record)
