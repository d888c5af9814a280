/* The kernels in OpenCL C, as close to their WGSL as the language allows: the same workgroups, barriers and indices.
   Parameters are the bindings in order, then the number of elements of every runtime-sized array among them. */

typedef struct { float a; uint n; } SaxpyParams;
typedef struct { float2 centre; float pixel; uint limit; uint2 size; } View;
typedef struct { uint m, k, n; } MatmulSize;
typedef struct { uint count; float time_step, softening_squared; } NbodyParams;
typedef struct { uint seed, rounds; } HashParams;
typedef struct { uint block, reach; } Step;
typedef struct { volatile uint darkest, brightest; } Range;
typedef struct { uint index; float value; } Kept;
typedef struct { uint column; float value; } Element;
typedef struct { float2 swirl[2], gravity, half_size; float time_step, lifetime, restitution; } World;
typedef struct { float2 position, velocity; uint kind; float age; uint bounces; } Particle;

kernel void saxpy(global const SaxpyParams *params, global const float *x, global float *y, uint x_count, uint count) {
    uint i = get_global_id(0);
    if (i < params->n) y[i] = params->a * x[i] + y[i];
}

kernel void vec4_math(global const float4 *x, global const float *exponent, global float4 *exp_x, global float4 *sin_x,
                      global float4 *sqrt_x, global float4 *pow_x, uint count, uint c1, uint c2, uint c3, uint c4) {
    uint i = get_global_id(0);
    if (i >= count) return;
    float4 v = x[i];
    exp_x[i] = exp(v);
    sin_x[i] = sin(v);
    sqrt_x[i] = sqrt(fabs(v));
    pow_x[i] = pow(fabs(v) + 0.5f, (float4)(*exponent));
}

kernel void mandelbrot(global const View *view, global uint *escapes, global uint *picture, uint c0, uint c1) {
    uint2 id = (uint2)(get_global_id(0), get_global_id(1)), size = view->size;
    if (id.x >= size.x || id.y >= size.y) return;
    float2 c = view->centre + view->pixel * (convert_float2(id) + 0.5f - 0.5f * convert_float2(size));
    float2 z = 0;
    uint steps = 0, limit = view->limit;
    while (steps < limit && z.x * z.x + z.y * z.y <= 4.0f) {
        z = (float2)(z.x * z.x - z.y * z.y, 2.0f * z.x * z.y) + c;
        steps++;
    }
    uint i = id.y * size.x + id.x;
    uint red = min(255u, 8 * steps), green = 5 * steps % 256, blue = 255 - min(255u, 4 * steps);
    escapes[i] = steps;
    picture[i] = steps == limit ? 0xff000000u : 0xff000000u | blue << 16 | green << 8 | red;
}

kernel void matmul_naive(global const MatmulSize *size, global const float *a, global const float *b, global float *c,
                         uint c0, uint c1, uint c2) {
    uint column = get_global_id(0), row = get_global_id(1), k = size->k, n = size->n;
    if (row >= size->m || column >= n) return;
    float sum = 0;
    for (uint i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

#define TILE 16

kernel void matmul_tiled(global const MatmulSize *size, global const float *a, global const float *b, global float *c,
                         uint c0, uint c1, uint c2) {
    local float a_tile[TILE][TILE], b_tile[TILE][TILE];
    uint x = get_local_id(0), y = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
    uint m = size->m, k = size->k, n = size->n;
    float sum = 0;
    for (uint start = 0; start < k; start += TILE) {
        a_tile[y][x] = row < m && start + x < k ? a[row * k + start + x] : 0;
        b_tile[y][x] = start + y < k && column < n ? b[(start + y) * n + column] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < TILE; i++) sum += a_tile[y][i] * b_tile[i][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

#define REDUCE_WIDTH 256

kernel void reduce(global const float *values, global float *partial_sums, uint count, uint blocks) {
    local float sums[REDUCE_WIDTH];
    uint l = get_local_id(0), first = get_group_id(0) * 2 * REDUCE_WIDTH + l;
    sums[l] = (first < count ? values[first] : 0) + (first + REDUCE_WIDTH < count ? values[first + REDUCE_WIDTH] : 0);
    for (uint reach = REDUCE_WIDTH / 2; reach > 0; reach >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < reach) sums[l] += sums[l + reach];
    }
    if (l == 0) partial_sums[get_group_id(0)] = sums[0];
}

kernel void histogram_global(global const uint *words, global volatile uint *counts, uint count) {
    uint i = get_global_id(0);
    if (i >= count) return;
    for (uint shift = 0; shift < 32; shift += 8) atomic_inc(&counts[words[i] >> shift & 0xff]);
}

kernel void histogram_local(global const uint *words, global volatile uint *counts, uint count) {
    local volatile uint mine[256];
    uint i = get_global_id(0), l = get_local_id(0);
    for (uint bin = l; bin < 256; bin += 64) mine[bin] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < count)
        for (uint shift = 0; shift < 32; shift += 8) atomic_inc(&mine[words[i] >> shift & 0xff]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = l; bin < 256; bin += 64)
        if (mine[bin] > 0) atomic_add(&counts[bin], mine[bin]);
}

kernel void blur(global const uint2 *size, global const float *source, global float *blurred, uint c0, uint c1) {
    int x = get_global_id(0), y = get_global_id(1), width = size->x, height = size->y;
    if (x >= width || y >= height) return;
    const float weights[3][3] = {{0.0625f, 0.125f, 0.0625f}, {0.125f, 0.25f, 0.125f}, {0.0625f, 0.125f, 0.0625f}};
    float sum = 0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            sum += weights[j][i] * source[clamp(y + j - 1, 0, height - 1) * width + clamp(x + i - 1, 0, width - 1)];
    blurred[y * width + x] = sum;
}

kernel void life(global const int2 *size, global const uint *cells, global uint *next_cells, uint c0, uint c1) {
    int x = get_global_id(0), y = get_global_id(1), width = size->x, height = size->y;
    if (x >= width || y >= height) return;
    uint count = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            if (i || j) count += cells[(y + j + height) % height * width + (x + i + width) % width];
    uint here = y * width + x;
    next_cells[here] = count == 2 ? cells[here] : count == 3;
}

kernel void transpose(global const uint2 *size, global const float *matrix, global float *transposed, uint c0, uint c1) {
    local float tile[TILE][TILE + 1];
    uint x = get_local_id(0), y = get_local_id(1), columns = size->x, rows = size->y;
    uint left = get_group_id(0) * TILE, top = get_group_id(1) * TILE;
    if (left + x < columns && top + y < rows) tile[y][x] = matrix[(top + y) * columns + left + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (top + x < rows && left + y < columns) transposed[(left + y) * rows + top + x] = tile[x][y];
}

#define BODIES 64

kernel void nbody(global const NbodyParams *params, global const float4 *bodies, global float4 *velocities,
                  global float4 *moved, uint c0, uint c1, uint c2) {
    local float4 tile[BODIES];
    uint i = get_global_id(0), l = get_local_id(0), n = params->count;
    float softening = params->softening_squared, step = params->time_step;
    float4 me = bodies[min(i, n - 1)];
    float3 acceleration = 0;
    for (uint start = 0; start < n; start += BODIES) {
        tile[l] = start + l < n ? bodies[start + l] : (float4)(0);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = 0; j < BODIES; j++) {
            float3 way = tile[j].xyz - me.xyz;
            float inverse = rsqrt(dot(way, way) + softening);
            acceleration += tile[j].w * inverse * inverse * inverse * way;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i >= n) return;
    float3 velocity = velocities[i].xyz + step * acceleration;
    velocities[i] = (float4)(velocity, 0);
    moved[i] = (float4)(me.xyz + step * velocity, me.w);
}

#define SCAN 256

kernel void scan_hillis_steele(global const uint *values, global uint *sums, global uint *block_sums, uint count,
                               uint c1, uint c2) {
    local uint rounds[2 * SCAN];
    uint i = get_global_id(0), l = get_local_id(0), source = 0;
    rounds[l] = i < count ? values[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint reach = 1; reach < SCAN; reach *= 2) {
        uint sum = rounds[source + l];
        if (l >= reach) sum += rounds[source + l - reach];
        source = SCAN - source;
        rounds[source + l] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < count) sums[i] = rounds[source + l];
    if (l == SCAN - 1) block_sums[get_group_id(0)] = rounds[source + l];
}

kernel void scan_blelloch(global const int *values, global int *sums, global int *block_sums, uint count, uint c1,
                          uint c2) {
    local int tree[128];
    uint l = get_local_id(0), start = get_group_id(0) * 128, stride = 1;
    for (uint i = l; i < 128; i += 64) tree[i] = start + i < count ? values[start + i] : 0;
    for (uint nodes = 64; nodes > 0; nodes /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < nodes) {
            uint right = stride * (2 * l + 2) - 1;
            tree[right] += tree[right - stride];
        }
        stride *= 2;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0) {
        block_sums[get_group_id(0)] = tree[127];
        tree[127] = 0;
    }
    for (uint nodes = 1; nodes <= 64; nodes *= 2) {
        stride /= 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < nodes) {
            uint right = stride * (2 * l + 2) - 1, left = right - stride;
            int sum = tree[left];
            tree[left] = tree[right];
            tree[right] += sum;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = l; i < 128; i += 64)
        if (start + i < count) sums[start + i] = tree[i];
}

kernel void bitonic_step(global const Step *merge, global float *keys, uint count) {
    uint i = get_global_id(0), partner = i ^ merge->reach;
    if (partner <= i || partner >= count) return;
    float lower = keys[i], upper = keys[partner];
    if ((lower > upper) == ((i & merge->block) == 0)) {
        keys[i] = upper;
        keys[partner] = lower;
    }
}

#define SORT 128

kernel void bitonic_sort(global uint *keys, uint count) {
    local uint block[SORT];
    uint i = get_global_id(0), l = get_local_id(0);
    block[l] = i < count ? keys[i] : 0xffffffffu;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint run = 2; run <= SORT; run <<= 1) {
        for (uint reach = run >> 1; reach > 0; reach >>= 1) {
            uint partner = l ^ reach, mine = block[l], other = block[partner];
            bool keeps_smaller = (l < partner) == ((l & run) == 0);
            barrier(CLK_LOCAL_MEM_FENCE);
            block[l] = keeps_smaller ? min(mine, other) : max(mine, other);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
    if (i < count) keys[i] = block[l];
}

kernel void pcg_hash(global const HashParams *params, global uint *hashes, global float *unit_floats, uint count,
                     uint c1) {
    uint i = get_global_id(0);
    if (i >= count) return;
    uint hash = i + params->seed, rounds = params->rounds;
    for (uint round = 0; round < rounds; round++) {
        uint state = hash * 747796405u + 2891336453u;
        uint word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
        hash = (word >> 22) ^ word;
    }
    hashes[i] = hash;
    unit_floats[i] = as_float(0x3f800000u | hash >> 9) - 1.0f;
}

kernel void collatz(global const uint *starts, global int *lengths, uint count, uint c1) {
    uint i = get_global_id(0);
    if (i >= count) return;
    uint n = starts[i];
    int steps = 0;
    while (n > 1) {
        if ((n & 1) == 0) {
            uint halvings = 31 - clz(n & -n);
            n >>= halvings;
            steps += halvings;
            continue;
        }
        if (n > (0xffffffffu - 1) / 3) {
            steps = -1;
            break;
        }
        n = 3 * n + 1;
        steps++;
    }
    lengths[i] = steps;
}

kernel void compact(global const float *threshold, global const float *values, global volatile uint *count,
                    global Kept *kept, uint value_count, uint kept_count) {
    uint i = get_global_id(0);
    if (i >= value_count) return;
    float value = values[i];
    if (value > *threshold) {
        uint place = atomic_inc(count);
        if (place < kept_count) kept[place] = (Kept){i, value};
    }
}

kernel void grayscale(global const uint *pixels, global uint *grey_pixels, global Range *range, uint count, uint c1) {
    uint i = get_global_id(0);
    if (i >= count) return;
    uint pixel = pixels[i];
    uint grey = ((pixel & 0xff) * 77 + (pixel >> 8 & 0xff) * 150 + (pixel >> 16 & 0xff) * 29) >> 8;
    grey_pixels[i] = grey * 0x010101u | (pixel & 0xff000000u);
    atomic_min(&range->darkest, grey);
    atomic_max(&range->brightest, grey);
}

kernel void softmax(global const uint *width, global const float *scores, global float *shares, uint c0, uint c1) {
    local float parts[32];
    uint l = get_local_id(0), columns = *width, start = get_group_id(0) * columns;
    float greatest = -3.4028234e38f, sum = 0;
    for (uint i = l; i < columns; i += 32) greatest = fmax(greatest, scores[start + i]);
    parts[l] = greatest;
    for (uint reach = 16; reach > 0; reach /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < reach) parts[l] = fmax(parts[l], parts[l + reach]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    greatest = parts[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = l; i < columns; i += 32) sum += shares[start + i] = exp(scores[start + i] - greatest);
    parts[l] = sum;
    for (uint reach = 16; reach > 0; reach /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < reach) parts[l] += parts[l + reach];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = l; i < columns; i += 32) shares[start + i] /= parts[0];
}

kernel void spmv(global const uint *row_starts, global const Element *elements, global const float *vector,
                 global float *product, uint c0, uint c1, uint c2, uint rows) {
    uint row = get_global_id(0);
    if (row >= rows) return;
    float sum = 0;
    for (uint i = row_starts[row]; i < row_starts[row + 1]; i++)
        sum = fma(elements[i].value, vector[elements[i].column], sum);
    product[row] = sum;
}

bool bounce(private float *coordinate, private float *speed, float half_size, float restitution) {
    float outside = fabs(*coordinate) - half_size;
    if (outside <= 0) return false;
    *coordinate -= 2.0f * outside * sign(*coordinate);
    *speed *= -restitution;
    return true;
}

kernel void particles(global const World *world, global Particle *particles, uint count) {
    uint i = get_global_id(0);
    if (i >= count) return;
    Particle p = particles[i];
    if (p.kind == 1) p.velocity = world->swirl[0] * p.velocity.x + world->swirl[1] * p.velocity.y;
    if (p.kind == 2) p.velocity += world->time_step * world->gravity;
    if (p.kind > 2 || (p.kind == 2 && p.age >= world->lifetime)) {
        particles[i] = (Particle){(float2)(0), (float2)(0), 0, 0, 0};
        return;
    }
    float2 at = p.position + world->time_step * p.velocity;
    float x = at.x, y = at.y, u = p.velocity.x, v = p.velocity.y;
    p.bounces += bounce(&x, &u, world->half_size.x, world->restitution);
    p.bounces += bounce(&y, &v, world->half_size.y, world->restitution);
    p.position = (float2)(x, y);
    p.velocity = (float2)(u, v);
    p.age += world->time_step;
    particles[i] = p;
}
