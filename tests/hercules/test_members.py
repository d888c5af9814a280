"""The members of forks, blocks and regions are those that looking at all nodes for each of them finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tinct.frontend import load_program
from tinct.ir.hercules import nodes as h
from tinct.ir.hercules.analyses import block_leader
from tinct.ir.hercules.placement import Placement, place_nodes
from tinct.ir.source import Source
from tinct.transforms.from_wgsl.build import build
from tinct.transforms.specialising import specialise
from tinct.transforms.to_hercules import translate

SHADERS = Path(__file__).parents[2] / "shaders"


@pytest.fixture(params=["softmax", "transpose", "mandelbrot"])
def placed(request: pytest.FixtureRequest) -> Placement:
    name = str(request.param)
    text = (SHADERS / name / f"{name}.wgsl").read_text(encoding="utf-8")
    program = load_program(Source.from_text(text))
    entry = next(it.name for it in program.entry_points)
    return place_nodes(translate(specialise(build(program), entry, {}), entry).function)


def test_data_and_control(placed: Placement) -> None:
    members = placed.members
    for fork in placed.nest.joins:
        inside = [it for it, at in placed.place.items() if fork in placed.nest.around[at]]
        assert set(members.inside(fork)) == set(inside)
        assert members.blocks[fork] == [it for it in placed.blocks if fork in placed.nest.around[it]]
        loops = [it for it in placed.loops.loops if fork in placed.nest.around[it.header]]
        assert list(members.loops.get(fork, ())) == loops
    for leader in placed.blocks:
        assert members.control[leader] == [it for it in placed.graph.order if block_leader(it) is leader]
    order = [it for it in placed.function.nodes if it in placed.place]
    assert members.in_blocks(placed.blocks) == order


def test_what_is_pinned(placed: Placement) -> None:
    members, live = placed.members, [it for it in placed.function.nodes if it in placed.live]
    for fork, join in placed.nest.joins.items():
        ids = [it for it in live if isinstance(it, h.ThreadID) and it.fork is fork]
        assert list(members.thread_ids.get(fork, ())) == ids
        reduces = [it for it in live if isinstance(it, h.Reduce) and it.join is join]
        assert list(members.reduces.get(fork, ())) == reduces
        collects = [it for it in live if isinstance(it, h.Collect) and it.join is join]
        assert list(members.collects.get(fork, ())) == collects
    phis = [it for it in live if isinstance(it, h.Phi)]
    for region in {it.region for it in phis}:
        assert list(members.phis[region]) == [it for it in phis if it.region is region]
