"""Valid WGSL modules of a requested size, made of numbered copies of a varied piece of shader."""

from __future__ import annotations

_HEADER = """\
struct Item {
    position: vec4f,
    weight: f32,
    kind: u32,
}

@group(0) @binding(0) var<storage, read> items: array<Item>;
@group(0) @binding(1) var<storage, read_write> results: array<vec4f>;

var<workgroup> shared_parts: array<f32, 64>;
"""

_PIECE = """
// Piece {n}: what a real module is made of, declarations of every kind.
const SCALE_{n} = 1.5 * {n}.0 + 0.25;
override limit_{n}: u32 = {n} % 97 + 3;

struct State_{n} {{
    velocity: vec3f,
    age: f32,
    counts: array<u32, 4>,
}}

fn attenuate_{n}(value: f32, state: ptr<function, State_{n}>) -> f32 {{
    if value <= 0.0 {{
        (*state).counts[0] += 1u;
        return 0.0;
    }} else if value > f32(limit_{n}) {{
        (*state).counts[1]++;
        return SCALE_{n};
    }}
    return clamp(sqrt(value) * SCALE_{n}, 0.0, 10.0);
}}

fn gather_{n}(first: u32, count: u32) -> vec4f {{
    var state = State_{n}(vec3f(0.0, 1.0, 0.0), 0.5, array<u32, 4>());
    var sum = vec4f();
    for (var i = first; i < first + count; i++) {{
        let item = items[i % arrayLength(&items)];
        switch item.kind & 3u {{
            case 0u: {{
                sum += item.position * attenuate_{n}(item.weight, &state);
            }}
            case 1u, 2u: {{
                sum = max(sum, item.position.wzyx);
                continue;
            }}
            default: {{
                state.velocity = normalize(state.velocity + cross(item.position.xyz, sum.xyz));
            }}
        }}
        if dot(sum, sum) > 1e6 {{
            break;
        }}
    }}
    return select(sum, vec4f(state.velocity, state.age), vec4<bool>(sum.xy < sum.zw, state.counts[2] == 0u, false));
}}

@compute @workgroup_size(64)
fn main_{n}(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {{
    let sum = gather_{n}(id.x, limit_{n});
    shared_parts[local] = sum.x + sum.y;
    workgroupBarrier();
    for (var reach = 32u; reach > 0u; reach >>= 1u) {{
        if local < reach {{
            shared_parts[local] += shared_parts[local + reach];
        }}
        workgroupBarrier();
    }}
    if id.x < arrayLength(&results) {{
        results[id.x] = vec4f(sum.xyz, shared_parts[0]);
    }}
}}
"""


def module(kilobytes: float) -> str:
    """A module of about that many kilobytes (1000 bytes), at least one piece."""
    pieces: list[str] = [_HEADER]
    size = len(_HEADER)
    while size < 1000 * kilobytes or len(pieces) == 1:
        pieces.append(_PIECE.format(n=len(pieces)))
        size += len(pieces[-1])
    return "".join(pieces)
