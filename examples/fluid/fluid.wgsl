// A step of a fluid in a box, after Stam's "Stable Fluids": velocity and dye go along the flow, and a pressure takes out
// of the velocity what makes the fluid denser or thinner. All are given at the cells of a grid, a cell is 1 wide.

struct Size {
    width: u32,
    height: u32,
}

@group(0) @binding(0) var<uniform> size: Size;

fn is_outside(id: vec3u) -> bool {
    return id.x >= size.width || id.y >= size.height;
}

fn index_of(id: vec3u) -> u32 {
    return id.y * size.width + id.x;
}

// The indices of the four neighbours; at a wall the cell itself.
struct Neighbours {
    left: u32,
    right: u32,
    above: u32,
    below: u32,
}

fn neighbours_of(id: vec3u) -> Neighbours {
    let at = index_of(id);
    return Neighbours(
        at - select(0u, 1u, id.x > 0u),
        at + select(0u, 1u, id.x + 1u < size.width),
        at - select(0u, size.width, id.y > 0u),
        at + select(0u, size.width, id.y + 1u < size.height),
    );
}

// Where a point is in the grid: the cell above and left of it, and how far it is to the next ones.
struct Place {
    corner: vec2u,
    part: vec2f,
}

fn place_of(point: vec2f) -> Place {
    let last = vec2f(f32(size.width - 1u), f32(size.height - 1u));
    let inside = clamp(point, vec2f(0.0), last);
    let corner = floor(inside);
    return Place(vec2u(corner), inside - corner);
}

fn corners_of(place: Place) -> vec4u {
    let next = min(place.corner + 1u, vec2u(size.width, size.height) - 1u);
    let rows = vec2u(place.corner.y, next.y) * size.width;
    return vec4u(rows.x + place.corner.x, rows.x + next.x, rows.y + place.corner.x, rows.y + next.x);
}

@group(0) @binding(1) var<uniform> seconds: f32;
@group(0) @binding(2) var<storage, read> flow: array<vec2f>;
@group(0) @binding(3) var<storage, read> dye: array<f32>;
@group(0) @binding(4) var<storage, read_write> next_flow: array<vec2f>;
@group(0) @binding(5) var<storage, read_write> next_dye: array<f32>;

// Velocity and dye come from where the flow was a step ago, between cells by linear interpolation.
@compute @workgroup_size(16, 8)
fn advect(@builtin(global_invocation_id) id: vec3u) {
    if is_outside(id) {
        return;
    }
    let at = index_of(id);
    let place = place_of(vec2f(id.xy) - seconds * flow[at]);
    let from_corners = corners_of(place);
    let above = mix(flow[from_corners.x], flow[from_corners.y], place.part.x);
    let below = mix(flow[from_corners.z], flow[from_corners.w], place.part.x);
    next_flow[at] = mix(above, below, place.part.y);
    let dye_above = mix(dye[from_corners.x], dye[from_corners.y], place.part.x);
    let dye_below = mix(dye[from_corners.z], dye[from_corners.w], place.part.x);
    next_dye[at] = mix(dye_above, dye_below, place.part.y);
}

// How much flows out of each cell. Walls throw the flow back.
@group(0) @binding(1) var<storage, read> velocity: array<vec2f>;
@group(0) @binding(2) var<storage, read_write> divergence: array<f32>;

@compute @workgroup_size(16, 8)
fn diverge(@builtin(global_invocation_id) id: vec3u) {
    if is_outside(id) {
        return;
    }
    let at = index_of(id);
    let beside = neighbours_of(id);
    let right = select(-velocity[at].x, velocity[beside.right].x, beside.right != at);
    let left = select(-velocity[at].x, velocity[beside.left].x, beside.left != at);
    let below = select(-velocity[at].y, velocity[beside.below].y, beside.below != at);
    let above = select(-velocity[at].y, velocity[beside.above].y, beside.above != at);
    divergence[at] = 0.5 * (right - left + below - above);
}

// A step of Jacobi's method: the pressure's differences are to make up for the divergence.
@group(0) @binding(1) var<storage, read> outflow: array<f32>;
@group(0) @binding(2) var<storage, read> pressure: array<f32>;
@group(0) @binding(3) var<storage, read_write> next_pressure: array<f32>;

@compute @workgroup_size(64, 4)
fn jacobi(@builtin(global_invocation_id) id: vec3u) {
    if is_outside(id) {
        return;
    }
    let at = index_of(id);
    let beside = neighbours_of(id);
    let sum = pressure[beside.left] + pressure[beside.right] + pressure[beside.above] + pressure[beside.below];
    next_pressure[at] = 0.25 * (sum - outflow[at]);
}

// Takes the pressure's differences out of the velocity.
@group(0) @binding(1) var<storage, read> last_pressure: array<f32>;
@group(0) @binding(2) var<storage, read_write> projected: array<vec2f>;

@compute @workgroup_size(16, 8)
fn project(@builtin(global_invocation_id) id: vec3u) {
    if is_outside(id) {
        return;
    }
    let beside = neighbours_of(id);
    let across = last_pressure[beside.right] - last_pressure[beside.left];
    let down = last_pressure[beside.below] - last_pressure[beside.above];
    projected[index_of(id)] -= 0.5 * vec2f(across, down);
}
