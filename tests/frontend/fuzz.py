"""Fuzzing the front end by mutation.

    python -m tests.frontend.fuzz --count 20000 --seed 1

Takes shaders, the resolver's test modules and records of the conformance suite where there are any, damages their bytes
or tokens, and asks of each mutant: no exception, an answer within the time allowed, spans inside the text, and the same
verdict again when it is asked with a comment put before it. What fails is written to a folder, one file each.
"""

from __future__ import annotations

import argparse
import random
import re
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.records import ROOT, folder, read

from tinct.frontend import check
from tinct.ir.diagnostics import Diagnostic, render_all
from tinct.ir.source import Source

SECONDS_ALLOWED = 2.0
SECONDS_PER_BYTE = 0.0005
_EVERY_RECORD = 97
_COMMENT = b"/*\xc3\xa9*/\n"
_TOKEN = re.compile(rb"\s+|[A-Za-z_]\w*|[0-9][\w.]*|[-+*/%&|^<>=!]=?|.", re.DOTALL)
_SALT = (
    *b"( ) [ ] { } < > , ; : . @ & * - = == && || << >> -> /* */ // _ 0 -1 1u 0x1p-149 1e38 1h 0xffffffff".split(),
    *b"vec3 vec3f mat2x2<f32> array<i32,4> array ptr<function,i32> atomic<u32> f16 bool texture_2d<f32>".split(),
    *b"sampler var let const override fn struct alias if else loop continuing break switch case default".split(),
    *b"for while return discard const_assert enable requires diagnostic @compute @builtin(position)".split(),
    *b"@location(0) workgroupBarrier() \x00 \xff \xc3 \xe2\x80\xa8 \xef\xbb\xbf \xf0\x9f\x98\x80".split(b" "),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """A mutant that the front end fails on, and how."""

    text: bytes
    problem: str


def seeds() -> list[bytes]:
    """The texts to start from."""
    paths = [*sorted(ROOT.glob("shaders/*/*.wgsl")), *sorted(Path(__file__).parent.glob("modules/*.wgsl"))]
    found = [path.read_bytes() for path in paths]
    where = folder()
    if where is not None:
        records = list(read(where / "validation-smoke.jsonl.xz"))[::_EVERY_RECORD]
        found += [record["code"].encode("utf-8", "surrogatepass") for record in records]
    return found


def mutants(texts: Sequence[bytes], generator: random.Random) -> Iterator[bytes]:
    """Damaged texts without end."""
    tokens = [_TOKEN.findall(text) for text in texts]
    while True:
        index = generator.randrange(len(texts))
        if generator.random() < 0.3:
            yield _with_damaged_bytes(texts[index], generator)
        else:
            yield _with_damaged_tokens(tokens[index], tokens[generator.randrange(len(tokens))], generator)


def _with_damaged_bytes(text: bytes, generator: random.Random) -> bytes:
    data = bytearray(text or b" ")
    for _ in range(generator.randint(1, 4)):
        place = generator.randrange(len(data) or 1)
        match generator.randrange(4):
            case 0:
                data[place : place + 1] = bytes([generator.randrange(256)])
            case 1:
                del data[place : place + generator.randint(1, 20)]
            case 2:
                data[place:place] = generator.choice(_SALT)
            case _:
                other = generator.randrange(len(data) or 1)
                data[place:place] = data[other : other + generator.randint(1, 40)]
    return bytes(data)


def _with_damaged_tokens(tokens: list[bytes], others: list[bytes], generator: random.Random) -> bytes:
    found = list(tokens) or [b" "]
    for _ in range(generator.randint(1, 4)):
        place = generator.randrange(len(found) or 1)
        match generator.randrange(6):
            case 0:
                found[place : place + 1] = [generator.choice(_SALT)]
            case 1:
                del found[place : place + generator.randint(1, 5)]
            case 2:
                found.insert(place, generator.choice(found or [b" "]))
            case 3:
                start = generator.randrange(len(others) or 1)
                found[place:place] = others[start : start + generator.randint(1, 30)]
            case 4:
                found[place : place + 1] = found[place : place + 1] * generator.choice((2, 3, 40, 600))
            case _:
                end = place + generator.randint(2, 12)
                found[place:end] = reversed(found[place:end])
    return b"".join(found)


def examine(text: bytes, *, seconds: float = SECONDS_ALLOWED) -> tuple[tuple[Diagnostic, ...], str | None]:
    """What the front end says of a text, and what is wrong with that; None when nothing is."""
    source = Source("mutant", text)
    started = time.thread_time()
    try:
        found = check(source)
        taken = time.thread_time() - started
        render_all(found, source)
        again = check(Source("mutant", _COMMENT + text))
    except Exception:  # any at all is a finding
        return (), traceback.format_exc(limit=-4)
    if taken > seconds + SECONDS_PER_BYTE * len(text):
        return found, f"took {taken:.1f} s for {len(text)} bytes"
    return found, _stray_place(found, len(text)) or _changed(found, again)


def _stray_place(found: Sequence[Diagnostic], length: int) -> str | None:
    for diagnostic in found:
        for span in (diagnostic.span, *(note.span for note in diagnostic.notes)):
            if span is not None and not 0 <= span.start <= span.end <= length:
                return f"{diagnostic.code} has the span {span} in {length} bytes"
    return None


def _changed(found: Sequence[Diagnostic], again: Sequence[Diagnostic]) -> str | None:
    before, after = (any(diagnostic.is_error for diagnostic in part) for part in (found, again))
    if before == after or any(diagnostic.code == "invalid-character" for diagnostic in found):
        return None  # a byte order mark is one only at the start
    return f"valid: {not before}, but with a comment before it: {not after}"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.frontend.fuzz", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="how many mutants")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same mutants")
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"), help="where findings are written")
    options = parser.parse_args()
    codes: Counter[str] = Counter()
    findings: list[Finding] = []
    stream = mutants(seeds(), random.Random(options.seed))
    for number in range(options.count):
        text = next(stream)
        found, problem = examine(text)
        codes.update({diagnostic.code for diagnostic in found} or {"valid"})
        if problem is not None:
            findings.append(Finding(text, problem))
            options.out.mkdir(parents=True, exist_ok=True)
            (options.out / f"{options.seed}-{number}.wgsl").write_bytes(text)
            print(f"{number}: {problem}", flush=True)
    for code, count in codes.most_common():
        print(f"{count:8} {code}")
    print(f"{options.count} mutants, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    raise SystemExit(main())
