"""Random graphs of kernels that keep to their own elements, in many spellings, and of some that do not."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import tinct
from tinct.graphs import zeros
from tinct.graphs.builder import Node
from tinct.graphs.operands import Port

_HEADER = """
struct Size {{ width: u32, height: u32, count: u32, stride: u32, scale: f32 }}
@group(0) @binding(0) var<uniform> size: Size;
@group(0) @binding(1) var<storage, read> src: array<{type}>;
@group(0) @binding(2) var<storage, read> other: array<{type}>;
@group(0) @binding(3) var<storage, read_write> dst: array<{type}>;
override LIMIT: f32 = 0.75;

fn position(x: u32, y: u32) -> u32 {{ return y * size.width + x; }}
fn scaled(value: {type}) -> {type} {{ return value * size.scale; }}
"""

_LINES = [
    "let i = id.x;",
    "let i = u32(i32(id.x));",
    "let i = group.x * {x}u + local.x;",
    "let i = group.x * {x}u + index;",
    "let i = (id.x + 3u) - 3u;",
    "let i = id.x << 0u;",
]
_PLANES = [
    "let i = id.y * size.width + id.x;",
    "let i = position(id.x, id.y);",
    "let i = id.x + size.width * id.y;",
    "let i = position(group.x * {x}u + local.x, group.y * {y}u + local.y);",
    "let i = dot(vec2u(1u, size.width), id.xy);",
]
_GUARDS_OF_LINES = [
    "if i >= arrayLength(&dst) {{ return; }} {body}",
    "if i < arrayLength(&dst) {{ {body} }}",
    "if i < size.count {{ {body} }}",
    "if !(i < size.count) {{ return; }} {body}",
    "if size.count <= i {{ return; }} else {{ {body} }}",
    "if i < size.count && i < arrayLength(&src) {{ {body} }}",
    "if i >= size.count || i >= arrayLength(&dst) {{ return; }} {body}",
    "if all(vec2u(i) < vec2u(size.count, arrayLength(&dst))) {{ {body} }}",
    "let inside = i < size.count; if inside {{ {body} }}",
    "if i + 1u <= size.count {{ {body} }}",
    "{body}",
]
_GUARDS_OF_PLANES = [
    "if id.x >= size.width || id.y >= size.height {{ return; }} {body}",
    "if id.x >= size.width {{ return; }} if id.y >= size.height {{ return; }} {body}",
    "if id.x < size.width && id.y < size.height {{ {body} }}",
    "if all(id.xy < vec2u(size.width, size.height)) {{ {body} }}",
    "if any(id.xy >= vec2u(size.width, size.height)) {{ return; }} {body}",
    "if id.x < size.width {{ if id.y < size.height {{ {body} }} }}",
]
_BODIES = [
    "dst[i] = src[i] * size.scale + other[i];",
    "dst[i] = scaled(src[i]) - other[i];",
    "var x = src[i]; x += other[i] * 0.5; dst[i] = x;",
    "let p = &dst[i]; *p = abs(src[i]); *p = *p + other[i];",
    "dst[i] = max(src[i], other[i]); dst[i] += {type}(1.0);",
    "for (var k = 0u; k < 3u; k++) {{ dst[i] = dst[i] * 0.5 + src[i]; }} dst[i] += other[i];",
    "dst[i] = select(src[i], other[i], id.x % 2u == 0u);",
]
_SCALAR_BODIES = [
    "if src[i] > LIMIT {{ dst[i] = src[i] + other[i]; }} else {{ dst[i] = -other[i]; }}",
    "switch i % 3u {{ case 0u: {{ dst[i] = src[i]; }} case 1u: {{ dst[i] = other[i]; }} "
    "default: {{ dst[i] = src[i] * other[i]; }} }}",
]
_OTHER_BODIES = [
    "dst[i] = src[i ^ 1u] + other[i];",
    "dst[i] = src[max(i, 1u) - 1u] + other[i];",
    "if src[i] .x > 0.5 {{ dst[i] = src[i] + other[i]; }}",
    "dst[size.count - 1u - i] = src[i] + other[i];",
    "dst[i] = src[0] + other[i];",
    "dst[i / 2u] = src[i] + other[i];",
]
"""Accesses to other elements, and elements that are not surely written."""
_STRIDES = [
    "for (var i = id.x; i < {end}; i += groups.x * {x}u) {{ {body} }}",
    "var i = id.x; let step = groups.x * {x}u; "
    "loop {{ if i >= {end} {{ break; }} {body} continuing {{ i += step; }} }}",
    "var i = group.x * {x}u + local.x; while i < {end} {{ {body} i = i + size.stride; }}",
    "for (var j = i32(id.x); j < i32({end}); j += i32(size.stride)) {{ let i = u32(j); {body} }}",
    "for (var i = id.x; i < {end} && i < arrayLength(&dst); i += size.stride) {{ {body} }}",
    "var sum = 0u; for (var i = id.x; i < {end}; i += size.stride) {{ sum += i; if sum > 1u << 30u {{ continue; }} "
    "{body} }}",
    "for (var k = id.x; k < {end}; k += size.stride) {{ let i = k; {body} }} if id.x > 3u {{ _ = src[0]; }}",
]
_TILES = [
    "for (var v = id.y; v < size.height; v += groups.y * {y}u) {{ "
    "for (var u = id.x; u < size.width; u += groups.x * {x}u) {{ let i = position(u, v); {body} }} }}",
    "var v = id.y; while v < size.height {{ var u = id.x; while u < size.width {{ let i = u + size.width * v; {body} "
    "u += groups.x * {x}u; }} v += groups.y * {y}u; }}",
    "for (var i = id.y * groups.x * {x}u + id.x; i < size.width * size.height; i += groups.x * groups.y * {x}u * {y}u) "
    "{{ {body} }}",
    "for (var u = id.x; u < size.width; u += groups.x * {x}u) {{ "
    "for (var v = id.y; v < size.height; v += groups.y * {y}u) {{ let i = position(u, v); {body} }} }}",
]


_FLAT = ("plane", "tile")


@dataclass(frozen=True, slots=True)
class Case:
    """A graph with the inputs of a run."""

    graph: tinct.Graph
    inputs: dict[str, npt.NDArray[np.float32] | int | float]
    texts: tuple[str, ...]


def random_case(seed: int, *, plain: bool = False, result: str | None = None) -> Case:
    """A graph of two to five kernels joined by one-to-one edges. With `plain`, all keep to their own elements.

    `result` names the output of the last one, which may be an input, too.
    """
    rng = random.Random(seed)
    shape = rng.choice(["line", "plane", "stride", "tile"])
    type = rng.choice(["f32", "f32", "vec2f", "vec4f"])
    width, height = (rng.choice([1, 7, 16, 64, 100]), rng.choice([1, 3, 8])) if shape in _FLAT else (1, 1)
    count = width * height if shape in _FLAT else rng.choice([1, 64, 100, 128, 300])
    sizes = rng.choices([(64, 1), (32, 1), (16, 4), (1, 1)], k=2) if shape not in _FLAT else [(8, 4), (16, 2)]
    builder = _Builder(rng, shape, type, plain=plain, sizes=sizes if rng.random() < 0.3 else sizes[:1], result=result)
    builder.build(rng.randint(2, 5))
    noise = np.random.default_rng(seed)
    channels = {"f32": 1, "vec2f": 2, "vec4f": 4}[type]
    inputs: dict[str, npt.NDArray[np.float32] | int | float] = {
        name: noise.uniform(-2, 2, count * channels).astype(np.float32) for name in ("a", "b")
    }
    if type != "f32":
        inputs = {name: np.asarray(value).reshape(-1, channels) for name, value in inputs.items()}
    more = {"width": width, "height": height, "count": count, "stride": 64, "scale": 0.75}
    return Case(builder.graph, {**inputs, **more}, tuple(builder.texts))


class _Builder:
    def __init__(
        self,
        rng: random.Random,
        shape: str,
        type: str,
        *,
        plain: bool,
        sizes: list[tuple[int, int]],
        result: str | None,
    ) -> None:
        self.rng = rng
        self.shape = shape
        self.type = type
        self.plain = plain
        self.sizes = sizes
        self.result = result
        self.tiles = 2 if plain or rng.random() < 0.7 else len(_TILES)
        self.graph = tinct.Graph("random")
        self.texts: list[str] = []

    def build(self, count: int) -> None:
        """Kernels that each take one or two results from before."""
        for name in ("a", "b"):
            self.graph.input(name, f"array<{self.type.replace('vec2f', 'vec2<f32>').replace('vec4f', 'vec4<f32>')}>")
        for name in ("width", "height", "count", "stride"):
            self.graph.input(name, "u32")
        self.graph.input("scale", "f32")
        extents = {"line": "count", "plane": ("width", "height"), "stride": 64, "tile": (16, 4)}[self.shape]
        results: list[Port] = []
        nodes: list[tuple[Node, list[Port]]] = []
        for number in range(count):
            text = self._kernel()
            self.texts.append(text)
            node = self.graph.node(tinct.load(text)["main"], threads=extents, name=f"n{number}")
            nodes.append((node, list(results)))
            for member in ("width", "height", "count", "stride", "scale"):
                self.graph.bind_input(member, node[f"size.{member}"])
            results.append(node["dst"])
        self._connect(nodes)

    def _connect(self, nodes: list[tuple[Node, list[Port]]]) -> None:
        """Choose what each input gets, and split what several get."""
        wanted: dict[int, list[Port]] = {number: [] for number in range(len(nodes))}
        for number, (node, before) in enumerate(nodes):
            in_place = bool(before) and self.rng.random() < 0.25
            ports = ["src", "other", *(["dst"] if in_place else [])]
            if not in_place:
                zeroed = "len(a)" if self.rng.random() < 0.7 else "count"
                self.graph.bind_input(zeros(zeroed), node["dst"])
            for index, port in enumerate(ports):
                is_first = port == "dst" or (index == 0 and not in_place)
                if before and (is_first or (not in_place and self.rng.random() < 0.5)):
                    source = number - 1 if is_first else self.rng.randrange(number)
                    wanted[source].append(node[port])
                else:
                    self.graph.bind_input(self.rng.choice("ab"), node[port])
        for number, (node, _) in enumerate(nodes):
            self._hand_over(number, node, wanted[number], is_last=number == len(nodes) - 1)

    def _hand_over(self, number: int, node: Node, ports: list[Port], *, is_last: bool) -> None:
        is_output = is_last or not ports or self.rng.random() < 0.2
        count = len(ports) + is_output
        sources = [node["dst"]] if count == 1 else list(self.graph.split(node["dst"], count, replication="one-to-one"))
        for source, port in zip(sources, ports, strict=False):
            self.graph.edge(source, port, "one-to-one")
        if is_output:
            self.graph.bind_output(sources[-1], (is_last and self.result) or f"out{number}")

    def _kernel(self) -> str:
        x, y = self.rng.choice(self.sizes)
        bodies = _BODIES + (_SCALAR_BODIES if self.type == "f32" else [])
        if not self.plain and self.rng.random() < 0.15:
            bodies = [it for it in _OTHER_BODIES if self.type != "f32" or ".x" not in it]
        body = self.rng.choice(bodies).format(type=self.type)
        if self.shape == "stride":
            end = self.rng.choice(["size.count", "arrayLength(&dst)", "arrayLength(&src)"])
            code = self.rng.choice(_STRIDES).format(end=end, x=x, body=body)
        elif self.shape == "tile":
            code = self.rng.choice(_TILES[: self.tiles]).format(x=x, y=y, body=body)
        else:
            index = self.rng.choice(_LINES if self.shape == "line" else _PLANES).format(x=x, y=y)
            guards = _GUARDS_OF_LINES if self.shape == "line" else _GUARDS_OF_PLANES
            code = index + " " + self.rng.choice(guards).format(body=body)
        y = y if self.shape in _FLAT else 1
        names = "@builtin(global_invocation_id) id: vec3u, @builtin(workgroup_id) group: vec3u, "
        names += "@builtin(local_invocation_id) local: vec3u, @builtin(local_invocation_index) index: u32, "
        names += "@builtin(num_workgroups) groups: vec3u"
        uses = "_ = &other; _ = &src; _ = LIMIT; _ = size.scale; _ = size.stride;"
        head = f"{_HEADER.format(type=self.type)}\n@compute @workgroup_size({x}, {y})\n"
        return f"{head}fn main({names}) {{ {uses} {code} }}\n"
