"""Each rule for decisions: a set of decisions that breaks it is refused, and a legal one near it is lowered."""

from __future__ import annotations

import pytest

from tinct import InputError, parse_nest
from tinct.ir.schedule.text import parse, parse_decisions
from tinct.transforms.schedule.decided import Decided
from tinct.transforms.schedule.legality import RULES, illegal

from .nests import ARGMAX, ROW_SUMS, SOFTMAX

MAXIMA = ROW_SUMS.replace("acc + x0", "acc - x0")
"""Not a reduction."""
COLUMNS = "j: workgroup\ni: loop\norder: i.0"

CASES = {
    "dimensions": [("k: loop", "there is no dimension 'k'"), ("i: loop\ni: loop", "'i' is decided twice")],
    "factors": [
        ("i: loop(4)", "the first level of 'i' has a factor"),
        ("i: loop * unrolled", "level i.1 needs a factor of 1 to 65536"),
        ("i: loop * unrolled(0)", "level i.1 needs a factor of 1 to 65536"),
        ("i: loop * invocation(65537)", "level i.1 needs a factor"),
        ("i: loop * loop(65536) * loop(2)", "the factors of 'i' make 131072; at most 65536 is allowed"),
    ],
    "one-grid-level": [("i: workgroup * invocation(2) * invocation(2)", "'i' has several invocation levels")],
    "vectors": [
        ("i: vector", "level i.0 has vectors: it must be the last level, and not the first"),
        ("i: loop * vector(2) * loop(2)", "level i.1 has vectors: it must be the last level"),
        ("i: loop * vector(5)", "level i.1 has vectors of 5; WGSL has those of 2, 3 and 4"),
        ("i: loop * vector(2)\nj: loop * vector(2)", "'x0' is in several dimensions with vectors: i, j"),
    ],
    "stages": [
        ("stage acc", "there is no load and no input 'acc'"),
        ("stage x0 at j.0\nstage x0 at j.0", "'x0' is copied twice"),
        ("stage x0, x0 at j.0", "'x0' is copied twice"),
        ("stage x0", "a copy for 'x0' has all iterations of i.0: their number is not known"),
        ("stage x0 at i.0", "a copy for 'x0' has all iterations of j.0: their number is not known"),
        ("stage x0 at j.1", "j.1 is no loop"),
        ("j: loop * unrolled(2)\nstage x0 at j.1", "j.1 is no loop"),
        ("stage x0 at j.0 pad(65)", "a padding of 65 elements; at most 64 is allowed"),
        ("stage x0 double", "the copy for 'x0' is made once, so it needs no second place"),
    ],
    "grid": [
        ("grid k", "there is no dimension 'k'"),
        ("i: workgroup\ngrid j", "'j' has no workgroups"),
        ("i: workgroup\ngrid i, i", "'i' comes twice in the grid"),
        ("i: workgroup\nj: workgroup\ngrid i", "'j' has workgroups, and is not in the grid"),
    ],
    "peel": [
        ("peel k", "there is no dimension 'k'"),
        ("peel i, i", "'i' is peeled twice"),
        ("i: invocation * unrolled(2)\npeel i", "the first level of 'i' is no loop and no workgroups"),
    ],
    "order": [
        ("order: i.0", "j.0 is not in the order"),
        ("order: i.0, j.0, i.0", "i.0 comes twice in the order"),
        ("order: i.0, j.0, j.1", "j.1 is no loop and no written-out level"),
        ("i: workgroup\norder: i.0, j.0", "i.0 is no loop"),
    ],
    "known-counts": [
        ("i: unrolled", "i.0 is unrolled, and the size of 'i' is not known"),
        ("i: invocation", "i.0 is invocation, and the size of 'i' is not known"),
    ],
    "written-out": [
        ("i: loop * unrolled(32)\nj: loop * tree(16)\norder: i.0, j.0, i.1, j.1", "512 points are written out")
    ],
    "workgroup-size": [
        ("i: workgroup * invocation(512)", "a workgroup of 512 invocations; WebGPU allows 256"),
        ("i: workgroup * invocation(257)", "257 invocations along x; WebGPU allows 256"),
    ],
    "whole-subgroups": [
        (
            "i: workgroup * invocation(2)\nj: loop * subgroup(16)",
            "subgroups join j.1, and would have invocations of i.1",
        ),
        ("j: loop * subgroup(24)", "j.1 has 24 invocations, which is no power of two"),
    ],
    "no-workgroups": [
        ("j: workgroup", "j.0 is spread over workgroups, which cannot join what they carry"),
        ("j: partial * loop(4)\nj_part: partial * loop(2)", "j_part.0 has parts of parts, which nothing joins"),
    ],
    "atomics": [
        ("j: atomic\ni: loop * vector(2)", "j.0 cannot join 'acc': 'sums' is stored in vectors"),
    ],
    "keep": [
        ("keep row in registers\nkeep row in workgroup", "'row' is kept twice"),
        ("keep acc in storage", "'acc' is carried, and not yet what it will be at the end"),
        ("keep rows in registers", "there is no value 'rows'; did you mean 'row'?"),
    ],
    "private": [("private sums", "no values are joined to an output 'sums'")],
    "registers": [
        (
            "order: j.0, i.0",
            "i.0 is a loop inside of the one that carries 'acc': how many iterations it has is not known",
        ),
        (
            "i: workgroup * loop(512) * unrolled(4)\norder: j.0, i.1, i.2",
            "an invocation carries 8192 bytes, with 'acc' for each iteration of i.1; at most 4096 are allowed",
        ),
    ],
}


@pytest.mark.parametrize(("rule", "case"), [(rule, case) for rule, cases in CASES.items() for case in cases])
def test_rule(rule: str, case: tuple[str, str]) -> None:
    text, message = case
    assert (rule, message) in [(name, said[: len(message)]) for name, said in found(ROW_SUMS, text, reassociate=True)]
    with pytest.raises(InputError, match="decisions: "):
        parse_nest(ROW_SUMS).lower(text, reassociate=True)


def found(
    nest: str, decisions: str, sizes: dict[str, int] | None = None, *, reassociate: bool = False
) -> list[tuple[str, str]]:
    return illegal(Decided(parse(nest), parse_decisions(decisions), sizes or {}, reassociate))


def test_axes() -> None:
    dimensions = "abcd"
    names = ", ".join(dimensions)
    lines = [f"  dim {it}: 2" for it in dimensions]
    body = f"  v: i32 = inst index a on [{names}]\n  y[{names}] = v on [{names}]"
    text = "nest four() {\n" + "\n".join(lines) + f"\n  out y: i32[2, 2, 2, 2]\n{body}\n}}"
    decisions = "\n".join(f"{it}: workgroup" for it in dimensions)
    assert found(text, decisions) == [("axes", "dimensions are spread over 4 axes of workgroups, and a grid has three")]
    assert found(text, decisions.replace("a: workgroup", "a: invocation")) == []


def test_parts_are_for_reductions_that_may_be_reassociated() -> None:
    for parts in ("j: loop * invocation(8)", "j: loop * tree(4)"):
        assert found(ROW_SUMS, parts, reassociate=True) == []
        ((rule, message),) = found(ROW_SUMS, parts)
        assert (rule, message.partition(", ")[0]) == ("parts", "'acc' is carried from iteration to iteration")
        assert found(MAXIMA, parts, reassociate=True)[0][0] == "parts"
        assert found(ROW_SUMS.replace("f32", "i32").replace("0.0f", "0i"), parts) == []
    ((rule, message),) = found(ROW_SUMS.replace("last acc", "last x0"), "j: loop * invocation(8)", reassociate=True)[
        -1:
    ]
    assert message == "'row' is of the last iteration, so the iterations must be in order"


def test_order_of_what_is_carried() -> None:
    both = ROW_SUMS.replace("on [j]", "on [i, j]").replace("sums: f32[rows]", "sums: f32[]")
    both = both.replace("sums[i] = row on [i]", "sums[] = row on []")
    assert found(both, "") == []
    ((rule, message),) = found(both, "order: j.0, i.0")
    assert (rule, message) == ("iteration-order", "'acc' needs its iterations in order: i.0, j.0")
    assert found(both, "order: j.0, i.0", reassociate=True) == []
    assert found(ROW_SUMS, "j: loop * unrolled(4)\norder: i.0, j.1, j.0")[0][0] == "iteration-order"


def test_what_is_combined_is_carried_in_order() -> None:
    """Of equal elements argmax takes the first that it comes to."""
    for point in ("j: loop * unrolled(2)\norder: j.1, j.0", "j: loop * loop(2) * invocation(4)\norder: j.1, j.0"):
        ((rule, message), *_) = found(ARGMAX, f"i: workgroup\n{point}", reassociate=True)
        assert rule == "iteration-order"
        assert message.endswith("needs its iterations in order: j.0, j.1")
    for point in ("j: loop * unrolled(2)", "j: loop * tree(2)\norder: j.1, j.0", "j: loop * loop(2) * invocation(4)"):
        assert found(ARGMAX, f"i: workgroup\n{point}", reassociate=True) == []


def test_mapped_values_are_computed_again() -> None:
    text = SOFTMAX.replace("map e on", "map wide on").replace(
        "  part:", "  late: f32 = inst sum + 0.0f on [i, k]\n  wide: f32 = inst late + 1.0f on [i, k]\n  part:"
    )
    message = "'part' needs 'sum' of other iterations, which is not kept in memory"
    assert found(text, "") == [("maps", message)]
    assert found(SOFTMAX, "") == []


def test_copies_are_of_one_array_and_inside_of_their_loop() -> None:
    text = ROW_SUMS.replace("  out sums", "  in c: f32[rows]\n  out sums").replace(
        "  acc: f32 = 0.0f", "  c0: f32 = inst c[i] on [i]\n  acc: f32 = c0"
    )
    two = "'x0' and 'c0' are not at constant distances in one array"
    assert found(text, "stage c0, x0 at j.0") == [("stages", two)]
    assert found(text, "stage c0 at j.0") == [("stages", "'c0' is used outside of j.0")]
    assert found(text, "order: i.0, j.0\nstage c0 at i.0\nstage x0 at j.0 double") == []
    twice = text.replace("row on [i]", "both on [i]").replace("  sums", "  both: f32 = inst row + c0 on [i]\n  sums")
    used = twice.replace("acc: f32 = c0", "acc: f32 = 0.0f").replace("acc + x0", "acc + more")
    used = used.replace("  acc:", "  more: f32 = inst x0 * c0 on [i, j]\n  acc:")
    assert found(used, "stage c0 at j.0") == [("stages", "'c0' is used outside of j.0")]
    message = "'again' needs 'x0' at other indices, which are not copied"
    assert found(SOFTMAX, "stage x0 at j.0")[0] == ("stages", message)


def test_workgroup_memory() -> None:
    sums = "".join(f"  a{n}: f32 = 0.0f fby t{n} on [j]\n  t{n}: f32 = inst a{n} + x0 on [i, j]\n" for n in range(17))
    text = ROW_SUMS.replace("  acc:", sums + "  acc:")
    ((rule, message),) = found(text, "j: loop * invocation(256)", reassociate=True)
    assert (rule, message) == ("memory", "18432 bytes of workgroup memory; WebGPU allows 16384")
    assert found(text, "j: loop * invocation(128)", reassociate=True) == []
    ((rule, message),) = found(text, "i: workgroup * vector(3)\nj: loop * invocation(64)", reassociate=True)
    assert (rule, message) == ("memory", "18432 bytes of workgroup memory; WebGPU allows 16384")
    tile = "i: workgroup * invocation(16)\nj: loop * loop({})\nstage x0 at j.0"
    for point, size in (((256, " pad(1)"), 16448), ((129, " double"), 16512)):
        text = tile.format(point[0]) + point[1]
        assert found(ROW_SUMS, text) == [("memory", f"{size} bytes of workgroup memory; WebGPU allows 16384")]
    assert found(ROW_SUMS, tile.format(256)) == found(ROW_SUMS, tile.format(128) + " double") == []


def test_values_are_used_in_the_loops_that_they_are_computed_in() -> None:
    """The maxima of rows are computed in a loop over rows, and used in another one, inside of the loop over columns."""
    assert found(SOFTMAX, "order: i.0, j.0, k.0, l.0") == []
    text = SOFTMAX.replace("y[i, l] = share on [i, l]", "y[i, l] = most2 on [i, l]").replace(
        "  share:", "  most2: f32 = inst most + 1.0f on [i, l]\n  share:"
    )
    ((rule, message),) = found(text, "order: l.0, i.0, j.0, k.0")
    assert (rule, message) == (
        "kept",
        "'acc_last' is used outside of the loops that it is computed in".replace("acc_last", "most"),
    )


def test_atomic_operations_join_numbers_of_32_bits_in_the_output() -> None:
    assert found(ROW_SUMS, "j: atomic", reassociate=True) == []
    assert found(ROW_SUMS, "j: atomic")[0][0] == "parts"
    halves = ROW_SUMS.replace("f32", "f16").replace("0.0f", "0.0h")
    assert found(halves, "j: atomic", reassociate=True)[0][0] == "atomics"
    sums = ROW_SUMS.replace("f32", "i32").replace("0.0f", "0i")
    assert found(sums, "j: atomic") == []
    for old, new, message in (
        ("acc + x0", "acc * x0", "atomic operations are +, min"),
        ("sums[i] = row on [i]", "sums[i] = more on [i]", "its last value is used for something else than one store"),
        ("acc: i32 = 0i", "acc: i32 = start", "the output would have to begin with a value that is computed"),
        ("sums[i] = row", "sums[i + 1] = row", "it begins with 7i, and 'sums' has elements that are 0"),
    ):
        text = sums.replace(old, new).replace(
            "  sums[i] = more", "  more: i32 = inst row + 1i on [i]\n  sums[i] = more"
        )
        if "start" in new:
            text = text.replace("  acc:", "  start: i32 = inst index 2 * i on [i]\n  acc:")
        if "begins" in message:
            text = text.replace("0i fby", "7i fby").replace("i32[rows]\n", "i32[rows + 1]\n")
        ((rule, said),) = found(text, "j: atomic")
        assert (rule, said[: 23 + len(message)]) == ("atomics", f"j.0 cannot join 'acc': {message}")
    assert found(sums, "i: loop * vector(2)\nj: atomic")[0][1].endswith("'sums' is stored in vectors")
    both = sums.replace("on [j]", "on [i, j]").replace("sums: i32[rows]", "sums: i32[]")
    both = both.replace("sums[i] = row on [i]", "sums[] = row on []")
    assert found(both, "i: partial\nj: atomic") == [
        ("atomics", "j.0 joins what another level of workgroups carries, too")
    ]


def test_dimensions_of_parts_are_decided_about() -> None:
    """They exist where something is carried along a partial level, and each stage is legal by itself."""
    point = "j: partial * loop(4)\nj_part: loop * invocation(8)\norder: i.0, j.1"
    assert found(ROW_SUMS, point, reassociate=True) == []
    assert found(ROW_SUMS, point)[0][0] == "parts"
    spread = "i: workgroup\n" + point.replace("i.0, ", "")
    assert found(ROW_SUMS, spread + "\ngrid j, i", reassociate=True) == []
    assert found(ROW_SUMS, spread + "\ngrid j", reassociate=True)[0][0] == "grid"
    missing = "there is no dimension 'j_part'"
    assert found(ROW_SUMS, point.replace("partial", "workgroup"), reassociate=True)[0][1].startswith(missing)
    assert found(ROW_SUMS, point.replace("(8)", "(512)"), reassociate=True)[0][0] == "workgroup-size"


def test_sizes_make_counts_known() -> None:
    assert found(ROW_SUMS, "i: unrolled", {"rows": 8}) == []
    assert found(ROW_SUMS, "i: invocation", {"rows": 8}) == []
    assert found(ROW_SUMS, "i: unrolled", {"rows": 300})[0][0] == "written-out"


def test_kept_values_are_in_the_reach_of_those_that_read_them() -> None:
    """They have a known number of elements, and lie where the invocations that read them can."""
    kept, sizes = "keep e in {}", {"rows": 8, "columns": 64}
    assert found(SOFTMAX, "keep part in registers") == [("keep", "'part' is a map: keep 'e'")]
    for location in ("registers", "workgroup"):
        unknown = "'e' is kept for all iterations of k.0: their number is not known"
        assert found(SOFTMAX, kept.format(location)) == [("locations", unknown)]
        assert found(SOFTMAX, kept.format(location), sizes) == []
    levels = "k: loop * invocation(8)\nl: loop * invocation({})\nkeep e in {}"
    assert found(SOFTMAX, levels.format(8, "registers"), sizes, reassociate=True) == []
    for other in ("invocation(4)", "vector(4)", "unrolled(8)"):
        point = levels.format(4, "registers").replace("invocation(4)", other)
        message = "'e' is in registers, and the levels of 'k' and 'l' differ"
        assert found(SOFTMAX, point, sizes, reassociate=True) == [("locations", message)]
        assert found(SOFTMAX, point.replace("registers", "workgroup"), sizes, reassociate=True) == []
    many = {"rows": 8, "columns": 257}
    assert found(SOFTMAX, kept.format("registers"), many)[0] == (
        "locations",
        "257 elements of 'e' in the registers of an invocation; at most 256 are kept",
    )
    assert found(SOFTMAX, kept.format("workgroup"), many) == []
    assert found(SOFTMAX, kept.format("workgroup"), {"rows": 8, "columns": 4097}) == [
        ("memory", "16388 bytes of workgroup memory; WebGPU allows 16384")
    ]
    apart = found(SOFTMAX, "l: workgroup\nkeep e in workgroup", sizes)
    assert apart == [("locations", "workgroups have other parts of 'l' than of 'k', of which they keep 'e'")]


def test_every_rule_is_broken_here() -> None:
    others = {"axes", "parts", "iteration-order", "maps", "memory", "kept", "locations"}
    assert {rule.name for group in RULES for rule in group} == CASES.keys() | others
