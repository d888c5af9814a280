"""Atomic operations: at one place for a gang, in memory of one worker, and in copies that workers have of their own."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from tinct.backend.cpu import CompiledKernel, CpuOptions, compile_entry
from tinct.backend.cpu import function as compiled_function
from tinct.backend.cpu.emit import Tier
from tinct.frontend import load_program
from tinct.ir.source import Source
from tinct.transforms.from_wgsl import build
from tinct.transforms.hercules import CPU, HERCULES
from tinct.transforms.passes import run_passes
from tinct.transforms.to_hercules import translate

Words = npt.NDArray[np.uint32]
COUNT = 1000
GROUPS = 16


def kernel(text: str, tier: Tier = "gang") -> CompiledKernel:
    entry = translate(build(load_program(Source("test.wgsl", text.encode()))), "main")
    run_passes(entry.module, CPU.passes, HERCULES)
    return compile_entry(entry, CpuOptions(tier))


def run(
    compiled: CompiledKernel,
    *buffers: npt.NDArray[np.generic],
    workers: int = 3,
    groups: int = GROUPS,
    is_shared: bool = True,
) -> None:
    assert compiled.tier_reason in ("", "the lane tier was asked for")
    bound = compiled.bind([it.view(np.uint8) for it in buffers], (groups, 1, 1))
    bound.function.parameters.each = 1.0  # each workgroup seems to take a second, so all workers are called
    if is_shared:
        bound.function.parameters.pace = None
    bound.run(workers=workers)


HEAD = """
@group(0) @binding(0) var<storage> values: array<TYPE>;
@group(0) @binding(1) var<storage, read_write> total: atomic<TYPE>;
@group(0) @binding(2) var<storage, read_write> before: array<TYPE>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
"""
OPERATIONS = {
    "atomicAdd": np.add,
    "atomicSub": np.add,
    "atomicAnd": np.bitwise_and,
    "atomicOr": np.bitwise_or,
    "atomicXor": np.bitwise_xor,
    "atomicMin": np.minimum,
    "atomicMax": np.maximum,
}


def combined(operation: str, start: np.generic, values: npt.NDArray[np.generic]) -> np.generic:
    with np.errstate(over="ignore"):
        result = OPERATIONS[operation].reduce(values, dtype=values.dtype)
        combine = np.subtract if operation == "atomicSub" else OPERATIONS[operation]
        return combine(start, result, dtype=values.dtype)


@pytest.fixture(params=["u32", "i32"])
def values(request: pytest.FixtureRequest) -> npt.NDArray[np.generic]:
    dtype = np.dtype(np.uint32 if request.param == "u32" else np.int32)
    return np.random.default_rng(3).integers(0, 1 << 32, COUNT, np.uint32).view(dtype)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("condition", ["true", "id.x % 3u == 1u", "id.x > 900u"])
@pytest.mark.parametrize("tier", ["gang", "lane"])
def test_operations_whose_results_nobody_uses(
    operation: str, condition: str, tier: Tier, values: npt.NDArray[np.generic]
) -> None:
    wgsl_type = "u32" if values.dtype == np.uint32 else "i32"
    head = HEAD.replace("TYPE", wgsl_type).replace("read_write> before", "read> before")
    body = f"if id.x < arrayLength(&values) && {condition} {{ {operation}(&total, values[id.x] + before[0]); }} }}"
    compiled = kernel(head + body, tier)
    assert [it.parameter for it in compiled.function.interface.privates] == [1]
    total = values[:1].copy()
    index = np.arange(COUNT)
    taken = {"true": index >= 0, "id.x > 900u": index > 900}.get(condition, index % 3 == 1)
    run(compiled, values, total, np.zeros(1, values.dtype))
    assert total[0] == combined(operation, values[0], values[taken])


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("condition", ["true", "id.x % 3u == 1u", "id.x % 64u > 50u"])
def test_old_values_at_one_place(operation: str, condition: str, values: npt.NDArray[np.generic]) -> None:
    """In the order in which lanes run in a single worker, each finds what those before have made."""
    wgsl_type = "u32" if values.dtype == np.uint32 else "i32"
    body = f"""if id.x < arrayLength(&values) && {condition} {{
        before[id.x] = {operation}(&total, values[id.x]); }} }}"""
    compiled = kernel(HEAD.replace("TYPE", wgsl_type) + body)
    assert not compiled.function.interface.privates
    total, before = values[:1].copy(), np.zeros(COUNT, values.dtype)
    run(compiled, values, total, before, workers=1)
    now, expected = values[0], np.zeros(COUNT, values.dtype)
    for index in range(COUNT):
        if {"true": True, "id.x % 3u == 1u": index % 3 == 1}.get(condition, index % 64 > 50):
            expected[index] = now
            now = combined(operation, now, values[index : index + 1])
    assert total[0] == now
    assert before.tolist() == expected.tolist()


@pytest.mark.parametrize("result", ["places[id.x] = ", ""])
def test_all_parts_of_a_gang_make_one_operation(result: str) -> None:
    compiled = kernel(f"""
@group(0) @binding(0) var<storage, read_write> total: array<atomic<u32>, 2>;
@group(0) @binding(1) var<storage, read_write> places: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {{
  if places[id.x] > 7u {{ {result}atomicAdd(&total[1], 3u); }}
  atomicXor(&total[0], atomicLoad(&total[1]));
}}""")
    assert compiled.llvm(optimised=False).count("atomicrmw add") == 1


@pytest.mark.parametrize("step", ["1u", "5u", "total_steps[0]"])
def test_places_in_a_list_are_given_once(step: str) -> None:
    compiled = kernel(f"""
@group(0) @binding(0) var<storage> total_steps: array<u32>;
@group(0) @binding(1) var<storage, read_write> total: atomic<u32>;
@group(0) @binding(2) var<storage, read_write> places: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {{
  if id.x % 5u != 2u {{ places[id.x] = atomicAdd(&total, {step}) + total_steps[0] - total_steps[0]; }}
}}""")
    places, total = np.full(64 * GROUPS, 1 << 31, np.uint32), np.zeros(1, np.uint32)
    run(compiled, np.array([7], np.uint32), total, places)
    taken = np.sort(places[np.arange(64 * GROUPS) % 5 != 2])
    each = {"1u": 1, "5u": 5}.get(step, 7)
    assert taken.tolist() == (np.arange(len(taken)) * each).tolist()
    assert total[0] == len(taken) * each


@pytest.mark.parametrize("tier", ["gang", "lane"])
def test_load_store_exchange_and_compare_exchange_at_one_place(tier: Tier) -> None:
    compiled = kernel(
        """
@group(0) @binding(0) var<storage, read_write> total: array<atomic<u32>, 4>;
@group(0) @binding(1) var<storage, read_write> found: array<vec4u>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  if id.x % 7u == 6u { return; }
  let swapped = atomicCompareExchangeWeak(&total[2], 0u, id.x + 1u);
  found[id.x] = vec4u(
    atomicLoad(&total[0]), atomicExchange(&total[1], id.x), select(swapped.old_value, 0u, swapped.exchanged), 1u);
  atomicStore(&total[3], 9u);
}""",
        tier,
    )
    total, found = np.array([5, 1 << 20, 0, 0], np.uint32), np.zeros((64 * GROUPS, 4), np.uint32)
    run(compiled, total, found)
    taken = np.arange(64 * GROUPS) % 7 != 6
    assert (found[taken, 0] == 5).all()
    exchanged = np.sort([*found[taken, 1].tolist(), int(total[1])])
    assert exchanged.tolist() == [*np.arange(64 * GROUPS)[taken].tolist(), 1 << 20]
    first = int(total[2])
    assert taken[first - 1]
    assert sorted(set(found[taken, 2].tolist())) == [0, first]
    assert np.count_nonzero(found[taken, 2] == 0) == 1
    assert total[3] == 9


@pytest.mark.parametrize("tier", ["gang", "lane"])
@pytest.mark.parametrize("size", [5, 16, 40, 64])
def test_workgroup_memory_at_places_that_follow_one_another(tier: Tier, size: int) -> None:
    """Also beyond the end, where the last element takes all."""
    compiled = kernel(
        f"""
@group(0) @binding(0) var<storage, read_write> sums: array<u32>;
@group(0) @binding(1) var<storage, read_write> found: array<u32>;
@group(0) @binding(2) var<storage> limit: array<u32>;
var<workgroup> bins: array<atomic<u32>, 48>;
@compute @workgroup_size({size})
fn main(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3u) {{
  atomicStore(&bins[local], 1u);
  workgroupBarrier();
  for (var at = local; at < limit[0]; at += 32u) {{ atomicAdd(&bins[at], local); }}
  workgroupBarrier();
  let old = atomicMax(&bins[local], 3u);
  found[group.x * {size} + local] = old;
  workgroupBarrier();
  sums[group.x * {size} + local] = atomicLoad(&bins[local]);
}}""",
        tier,
    )
    sums, found = np.zeros(size * GROUPS, np.uint32), np.zeros(size * GROUPS, np.uint32)
    limit = 96
    run(compiled, sums, found, np.array([limit], np.uint32))
    bins = np.zeros(48, np.uint32)
    bins[: min(size, 48)] = 1
    for local in range(size):
        for at in range(local, limit, 32):
            bins[min(at, 47)] += local
    clamped = np.minimum(np.arange(size), 47)
    after = np.where(np.isin(np.arange(48), clamped), np.maximum(bins, 3), bins)
    assert sums[:size].tolist() == after[clamped].tolist()
    assert (sums.reshape(GROUPS, size) == sums[:size]).all()
    firsts = found.reshape(GROUPS, size)[:, : min(size, 47)]
    assert (firsts == bins[clamped][: min(size, 47)]).all()


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("size", [37, 2])
@pytest.mark.parametrize("taken", [0.02, 0.3, 0.9])
def test_scattered_counts_of_some_lanes(
    operation: str, size: int, taken: float, values: npt.NDArray[np.generic]
) -> None:
    """The others have positions that are far outside."""
    wgsl_type = "u32" if values.dtype == np.uint32 else "i32"
    limit = int(taken * (1 << 32))
    body = f"""
@group(0) @binding(0) var<storage> values: array<{wgsl_type}>;
@group(0) @binding(1) var<storage, read_write> totals: array<atomic<{wgsl_type}>>;
@group(0) @binding(2) var<storage> places: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {{
  if id.x < arrayLength(&values) {{
    let place = places[id.x];
    if place < {limit}u {{ {operation}(&totals[place % {size}u + 3u - 3u], values[id.x]); }}
    if place + 7u < {size}u + 7u {{ {operation}(&totals[place + {size}u], values[id.x]); }}
  }}
}}"""
    places = np.random.default_rng(4).integers(0, 1 << 32, COUNT, np.uint32)
    places[::3] %= np.uint32(size + 1)
    compiled = kernel(body)
    assert [it.parameter for it in compiled.function.interface.privates] == [1]
    totals = np.resize(values, 2 * size)
    expected = [
        combined(operation, totals[at], values[(places < limit) & (places % size == at)]) for at in range(size)
    ] + [combined(operation, totals[size + at], values[places == at]) for at in range(size)]
    run(compiled, values, totals, places)
    assert totals.tolist() == [int(it) for it in expected]


HISTOGRAM = """
struct Table { before: atomic<u32>, counts: SIZE }
@group(0) @binding(0) var<storage> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> table: Table;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  if id.x < arrayLength(&values) {
    atomicAdd(&table.counts[values[id.x] % 91u], 1u);
    atomicSub(&table.before, 2u);
  }
}
"""


@pytest.mark.parametrize("size", ["array<atomic<u32>, 91>", "array<atomic<u32>>"])
@pytest.mark.parametrize("limit", [1 << 20, 100])
def test_histograms_are_counted_by_each_worker_for_itself(
    size: str, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled_function, "_LARGEST_COPIES", limit)
    count, groups = 1_000_000, 16_000
    data = np.random.default_rng(4).integers(0, 1 << 32, count, np.uint32)
    table = np.arange(92, dtype=np.uint32)
    compiled = kernel(HISTOGRAM.replace("SIZE", size))
    run(compiled, data, table, groups=groups)
    run(compiled, data, table, groups=groups, workers=1)
    assert table[1:].tolist() == (np.arange(1, 92) + 2 * np.bincount(data % 91, minlength=91)).tolist()
    assert table[0] == (-4 * count) % (1 << 32)


@pytest.mark.parametrize(
    "body",
    [
        "atomicAdd(&counts[0], 1u); atomicMax(&counts[1], id.x);",
        "atomicAdd(&counts[0], 1u); atomicStore(&counts[1], 3u);",
        "atomicAdd(&counts[0], 1u); out[id.x] = atomicLoad(&counts[1]);",
        "out[id.x] = atomicAdd(&counts[0], 1u);",
    ],
)
def test_bindings_that_workers_share(body: str) -> None:
    compiled = kernel(f"""
@group(0) @binding(0) var<storage, read_write> counts: array<atomic<u32>, 2>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {{ {body} out[id.x] += 1u; }}""")
    assert not compiled.function.interface.privates
    counts, out = np.zeros(2, np.uint32), np.zeros(64 * GROUPS, np.uint32)
    run(compiled, counts, out)
    assert counts[0] == 64 * GROUPS


@pytest.mark.parametrize("tier", ["gang", "lane"])
def test_workgroup_memory_is_shared_without_barriers(tier: Tier) -> None:
    compiled = kernel(
        """
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> total: atomic<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
    out[id.x] = atomicAdd(&total, 1u);
}""",
        tier,
    )
    out = np.zeros(64 * GROUPS, np.uint32)
    run(compiled, out)
    numbers = np.sort(out.reshape(GROUPS, 64), axis=1)
    assert (numbers == np.arange(64)).all()


PLACES: dict[str, Callable[[int], int]] = {
    "at / 16u": lambda at: at // 16,
    "(at + 5u) >> 5u": lambda at: (at + 5) >> 5,
    "at / 7u": lambda at: at // 7,
    "min(at / 32u, 4u)": lambda at: min(at // 32, 4),
    "at / 16u + 3u": lambda at: at // 16 + 3,
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["workgroup", "storage, read_write"])
def test_places_that_lanes_likely_share(operation: str, place: str, kind: str) -> None:
    """Also those of lanes that cross a step, and those beyond the end, where the last element takes all."""
    binding = "@group(0) @binding(2) " if kind != "workgroup" else ""
    compiled = kernel(f"""
@group(0) @binding(0) var<storage> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> before: array<u32>;
{binding}var<{kind}> places: array<atomic<u32>, 9>;
@compute @workgroup_size(128) fn main(@builtin(local_invocation_index) at: u32) {{
  if at < 9u {{ atomicStore(&places[at], 6u); }}
  workgroupBarrier();
  if values[at] % 3u != 1u {{ before[at] = {operation}(&places[{place}], values[at]); }}
  workgroupBarrier();
  {operation}(&places[{place}], values[at]);
  workgroupBarrier();
  if at < 9u {{ before[at + 128u] = atomicLoad(&places[at]); }}
}}""")
    values = np.random.default_rng(3).integers(0, 1 << 32, 128, np.uint32)
    before, places = np.zeros(137, np.uint32), np.zeros(9, np.uint32)
    run(compiled, *[values, before, places][: 2 if kind == "workgroup" else 3], groups=1, workers=1)
    now, expected = [np.uint32(6)] * 9, np.zeros(128, np.uint32)
    for is_conditional in (True, False):
        for at, value in enumerate(values):
            number = min(PLACES[place](at), 8)
            if is_conditional and value % 3 != 1:
                expected[at] = now[number]
            if not is_conditional or value % 3 != 1:
                now[number] = np.uint32(combined(operation, now[number], values[at : at + 1]))
    assert before[128:].tolist() == [int(it) for it in now]
    assert before[:128].tolist() == expected.tolist()


UPDATES: dict[str, Callable[[int, int], int]] = {
    "atomicAdd(&places[it], value)": lambda was, value: was + value,
    "atomicSub(&places[it], value)": lambda was, value: was - value,
    "atomicMin(&places[it], value)": min,
    "atomicXor(&places[it], value)": operator.xor,
    "atomicExchange(&places[it], value)": lambda _, value: value,
    "atomicCompareExchangeWeak(&places[it], 0u, value).old_value": lambda was, value: value if was == 0 else was,
}


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("condition", ["true", "value % 3u != 1u", "(id.x & 15u) == 6u"])
@pytest.mark.parametrize("is_shared", [True, False])
def test_places_that_differ(update: str, condition: str, is_shared: bool) -> None:
    """One worker finds what the lanes before have made, whether others may work beside it or not."""
    compiled = kernel(f"""
@group(0) @binding(0) var<storage> values: array<u32>;
@group(0) @binding(1) var<storage, read_write> places: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> before: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {{
  let value = values[id.x];
  let it = (value >> 7u) % 50u;
  if {condition} {{ before[id.x] = {update}; }}
}}""")
    assert compiled.function.interface.is_quicker_alone
    values = np.random.default_rng(4).integers(0, 1 << 32, 64 * GROUPS, np.uint32)
    places, before = np.zeros(50, np.uint32), np.zeros(64 * GROUPS, np.uint32)
    run(compiled, values, places, before, workers=1, is_shared=is_shared)
    now, expected = [0] * 50, [0] * before.size
    for index, value in enumerate(values.tolist()):
        if {"true": True, "value % 3u != 1u": value % 3 != 1}.get(condition, index & 15 == 6):
            place = (value >> 7) % 50
            expected[index] = now[place]
            now[place] = UPDATES[update](now[place], value) % (1 << 32)
    assert places.tolist() == now
    assert before.tolist() == expected


def test_places_that_differ_while_workers_share_a_dispatch() -> None:
    compiled = kernel("""
@group(0) @binding(0) var<storage, read_write> counts: array<atomic<u32>, 50>;
@group(0) @binding(1) var<storage, read_write> before: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
  before[id.x] = atomicAdd(&counts[(id.x * 7u) % 50u], 1u);
}""")
    counts, before = np.zeros(50, np.uint32), np.zeros(64 * 5000, np.uint32)
    run(compiled, counts, before, groups=5000)
    assert (counts == before.size // 50).all()
    places = (np.arange(before.size) * 7) % 50
    for place in range(50):
        assert (np.sort(before[places == place]) == np.arange(before.size // 50)).all()
