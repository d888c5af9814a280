"""Samplers: what WebGPU refuses, and their bytes."""

from __future__ import annotations

import pytest

from tinct.base.errors import InputError
from tinct.ir.layout import size_of
from tinct.ir.samplers import SAMPLER_BYTES, Sampler, pack_sampler, read_sampler, storage_type


@pytest.mark.parametrize(
    "sampler",
    [
        Sampler(),
        Sampler(address_mode_u="repeat", address_mode_v="mirror-repeat", mag_filter="linear", lod_max_clamp=2.5),
        Sampler(compare="less-equal", min_filter="linear", lod_min_clamp=1.0),
        Sampler(mag_filter="linear", min_filter="linear", mipmap_filter="linear", max_anisotropy=8),
    ],
)
def test_bytes_give_the_sampler_back(sampler: Sampler) -> None:
    data = pack_sampler(sampler)
    assert len(data) == SAMPLER_BYTES == size_of(storage_type())
    assert read_sampler(data) == sampler


def test_anisotropy_is_at_most_sixteen() -> None:
    linear = Sampler(mag_filter="linear", min_filter="linear", mipmap_filter="linear", max_anisotropy=1000)
    assert read_sampler(pack_sampler(linear)).max_anisotropy == 16


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mag_filter": "cubic"}, "mag_filter is one of 'nearest', 'linear', not 'cubic'"),
        ({"address_mode_w": "clamp"}, "address_mode_w is one of"),
        ({"compare": "<"}, "compare is one of None, 'never'"),
        ({"lod_min_clamp": float("nan")}, "lod_min_clamp is a finite number, not nan"),
        ({"lod_min_clamp": 4.0, "lod_max_clamp": 3.0}, "lod_min_clamp at most lod_max_clamp"),
        ({"lod_min_clamp": -1.0}, "must be at least 0"),
        ({"max_anisotropy": 4}, "needs 'linear' as mag_filter, min_filter and mipmap_filter"),
        ({"max_anisotropy": 0}, "a whole number from 1 to 65535, not 0"),
        ({"max_anisotropy": True}, "a whole number from 1 to 65535, not True"),
    ],
)
def test_what_webgpu_refuses(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Sampler(**arguments)  # type: ignore[arg-type]  # wrong values are the test
    assert message in str(caught.value)
