"""The Debug Adapter Protocol, spoken by a scripted client with `tinct debug --dap` in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from .shaders import COLLATZ, MIXED

Body = dict[str, Any]


class Client:
    """Sends requests, and keeps the events that came before each response."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", "from tinct.cli import main; main()", "debug", "--dap"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
        self.sent = 0
        self.events: list[Body] = []

    def send(self, command: str, **arguments: object) -> int:
        self.sent += 1
        body = {"seq": self.sent, "type": "request", "command": command, "arguments": arguments}
        self.write(json.dumps(body).encode())
        return self.sent

    def write(self, body: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def read(self) -> Body:
        stream = self.process.stdout
        assert stream is not None
        size = int(stream.readline().split(b":")[1])
        stream.readline()
        message: Body = json.loads(stream.read(size))
        return message

    def ask(self, command: str, **arguments: object) -> Body:
        """The response to a request."""
        number = self.send(command, **arguments)
        while (message := self.read())["type"] == "event":
            self.events.append(message)
        assert message["request_seq"] == number
        return message

    def body(self, command: str, **arguments: object) -> Body:
        """The body of the response to a request that succeeds."""
        response = self.ask(command, **arguments)
        assert response["success"], response
        found: Body = response["body"]
        return found

    def event(self, name: str) -> Body:
        """The body of the next event of that name."""
        while True:
            message = self.events.pop(0) if self.events else self.read()
            assert message["type"] == "event"
            if message["event"] == name:
                body: Body = message.get("body", {})
                return body


@pytest.fixture
def client() -> Generator[Client]:
    made = Client()
    yield made
    made.process.kill()
    made.process.communicate()


def launch(client: Client, path: Path, text: str, **arguments: object) -> None:
    path.write_text(text)
    assert client.body("initialize", adapterID="tinct")["supportsStepBack"]
    client.body("launch", program=str(path), **arguments)
    client.event("initialized")


def line(client: Client, thread: int) -> int:
    found: int = client.body("stackTrace", threadId=thread)["stackFrames"][0]["line"]
    return found


def test_a_session(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "mixed.wgsl"
    launch(client, path, MIXED, buffers={"out": "zeros:8"}, threads=8, invocation=5)
    wanted = [{"line": 23}, {"line": 22, "condition": "i == 3"}, {"line": 99}, {"line": 5, "hitCondition": "x"}]
    made = client.body("setBreakpoints", source={"path": str(path)}, breakpoints=wanted)["breakpoints"]
    assert [(it["verified"], it["line"]) for it in made] == [(True, 25), (True, 22), (False, 99), (False, 5)]
    client.body("setBreakpoints", source={"path": str(path)}, breakpoints=wanted[1:2])
    client.body("configurationDone")
    assert client.event("stopped")["reason"] == "entry"
    threads = client.body("threads")["threads"]
    assert [len(threads), threads[5]] == [8, {"id": 6, "name": "invocation (5, 0, 0)"}]

    client.body("continue", threadId=6)
    stopped = client.event("stopped")
    assert (stopped["reason"], stopped["threadId"], stopped["allThreadsStopped"]) == ("breakpoint", 6, True)
    (frame,) = client.body("stackTrace", threadId=6)["stackFrames"]
    assert (frame["name"], frame["line"], frame["source"]["path"]) == ("main", 22, str(path))
    scopes = {it["name"]: it["variablesReference"] for it in client.body("scopes", frameId=frame["id"])["scopes"]}
    locals = client.body("variables", variablesReference=scopes["Locals"])["variables"]
    assert {it["name"]: it["value"] for it in locals}["a"] == "20.5"
    shared = {it["name"]: it for it in client.body("variables", variablesReference=scopes["Workgroup"])["variables"]}
    parts = client.body("variables", variablesReference=shared["plain"]["variablesReference"], start=6)["variables"]
    assert [(it["name"], it["value"], it["variablesReference"]) for it in parts] == [("[6]", "6", 0), ("[7]", "7", 0)]
    assert client.body("evaluate", expression="vec2f(a, 1) * 2", frameId=frame["id"])["result"] == "(41.0, 2.0)"
    assert "unresolved" in client.ask("evaluate", expression="nope", frameId=frame["id"])["message"]

    client.body("stepBack", threadId=6)
    assert client.event("stopped")["reason"] == "step"
    assert line(client, 6) == 21
    client.body("reverseContinue", threadId=6)
    assert client.event("stopped")["text"] == "this is the start"
    for _ in range(5):
        client.body("next", threadId=6)
    client.body("stepIn", threadId=6)
    assert line(client, 6) == 8
    client.body("stepOut", threadId=6)
    assert line(client, 6) == 21
    client.body("setBreakpoints", source={"path": str(path)}, breakpoints=[])
    client.body("continue", threadId=6)
    assert client.event("output")["output"].startswith("out = [P(")
    client.event("terminated")
    client.body("disconnect")
    assert client.process.wait(10) == 0


def test_breakpoints_stop_any_invocation_unless_one_is_chosen_and_pause_stops_an_endless_loop(
    client: Client, tmp_path: Path
) -> None:
    path = tmp_path / "endless.wgsl"
    text = COLLATZ.replace("n % 2u == 1u", "true")
    launch(client, path, text, buffers={"out": [0, 0, 0, 0]}, workgroups=[1], stopOnEntry=False)
    client.body("setBreakpoints", source={"path": str(path)}, breakpoints=[{"line": 5}])
    client.body("configurationDone")
    assert client.event("stopped")["reason"] == "breakpoint"
    client.body("setBreakpoints", source={"path": str(path)}, breakpoints=[])
    client.body("continue", threadId=1)
    client.body("pause", threadId=1)
    client.body("restart")
    assert client.event("stopped")["reason"] == "pause"
    assert client.event("stopped")["reason"] == "entry"
    client.body("disconnect")
    assert client.process.wait(10) == 0


def test_nonsense(client: Client, tmp_path: Path) -> None:
    assert "nothing has been launched" in client.ask("threads")["message"]
    assert "the request 'frobnicate' is not supported" in client.ask("frobnicate")["message"]
    for arguments, words in [
        ({}, "needs the argument 'program'"),
        ({"program": str(tmp_path / "none.wgsl")}, "No such file"),
        ({"program": "program.hir"}, "only WGSL can be debugged"),
        ({"program": 3}, "is not a text"),
    ]:
        assert words in client.ask("launch", **arguments)["message"]
    path = tmp_path / "collatz.wgsl"
    path.write_text(COLLATZ)
    good = {"program": str(path), "buffers": {"out": "zeros:4"}, "threads": 4}
    assert "there is no invocation (4, 0, 0)" in client.ask("launch", **good, invocation=4)["message"]
    assert "maps names" in client.ask("launch", **{**good, "buffers": [1]})["message"]
    client.body("launch", **good)
    client.body("configurationDone")
    assert "there is no thread 9" in client.ask("stackTrace", threadId=9)["message"]
    assert "must be a whole number" in client.ask("stackTrace")["message"]
    assert "there is no frame" in client.ask("scopes", frameId=77)["message"]
    assert "there is no value" in client.ask("variables", variablesReference=77)["message"]
    assert "is missing" in client.ask("setBreakpoints")["message"]
    client.write(b"{nonsense")
    assert client.process.stderr is not None
    assert client.process.wait(10) == 2
    assert b"is not JSON" in client.process.stderr.read()
