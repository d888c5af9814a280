"""The framing of messages between the parent and the GPU's process."""

from __future__ import annotations

import io

import pytest

from tinct.backend.gpu.messages import receive_reply, receive_request, send


def test_a_frame_comes_back_with_its_blobs() -> None:
    stream = io.BytesIO()
    send(stream, {"operation": "validate", "seconds": 1.5, "wgsl": "fn f() {} // ü"}, [b"abc", b"", bytes(70_000)])
    send(stream, {"operation": "probe", "seconds": 2.0})
    reader = io.BufferedReader(io.BytesIO(stream.getvalue()))
    request, blobs = receive_request(reader)
    assert request["operation"] == "validate"
    assert request["wgsl"] == "fn f() {} // ü"
    assert blobs == [b"abc", b"", bytes(70_000)]
    assert receive_request(reader)[0]["operation"] == "probe"


@pytest.mark.parametrize("kept", [0, 2, 10, -1])
def test_a_frame_cut_short_is_the_end(kept: int) -> None:
    stream = io.BytesIO()
    send(stream, {"status": "valid"}, [b"abc"])
    with pytest.raises(EOFError):
        receive_reply(io.BufferedReader(io.BytesIO(stream.getvalue()[:kept])))
