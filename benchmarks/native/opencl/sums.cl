/* Sums, scans and counts, with the workgroups, barriers and indices of the WGSL. */

typedef struct { uint index; float value; } Kept;

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

kernel void reduce_halving(global const float *values, global float *block_sums, uint count, uint blocks) {
    local float partial[256];
    uint i = get_global_id(0), l = get_local_id(0);
    partial[l] = i < count ? values[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = 128; s > 0; s = s / 2) {
        if (l < s) partial[l] += partial[l + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) block_sums[get_group_id(0)] = partial[0];
}

kernel void reduce_interleaved(global const uint *values, global uint *block_sums, uint count, uint blocks) {
    local uint data[256];
    uint i = get_global_id(0), t = get_local_id(0);
    data[t] = i < count ? values[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = 1; s < 256; s *= 2) {
        if (t % (2 * s) == 0) data[t] += data[t + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) block_sums[get_group_id(0)] = data[0];
}

kernel void reduce_ring(global const float *values, global float2 *extremes, global float *scaled, uint count, uint c1,
                        uint scaled_count) {
    local float2 ring[128];
    uint i = get_global_id(0), l = get_local_id(0);
    float value = values[min(i, count - 1)];
    float2 mine = value;
    ring[l] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint reach = 1; reach < 128; reach *= 2) {
        float2 other = ring[(l + reach) % 128];
        barrier(CLK_LOCAL_MEM_FENCE);
        mine = (float2)(fmin(mine.x, other.x), fmax(mine.y, other.y));
        ring[l] = mine;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 0) extremes[get_group_id(0)] = mine;
    if (i < scaled_count) scaled[i] = mine.x == mine.y ? 0 : (value - mine.x) / (mine.y - mine.x);
}

kernel void reduce_strided(global const float *x, global const float *y, global float *partial_products, uint count,
                           uint c1, uint c2) {
    local float scratch[256];
    uint l = get_local_id(0);
    float sum = 0;
    for (uint i = get_global_id(0); i < count; i += get_global_size(0)) sum += x[i] * y[i];
    scratch[l] = sum;
    for (uint lanes = 128; lanes > 0; lanes >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < lanes) scratch[l] += scratch[l + lanes];
    }
    if (l == 0) partial_products[get_group_id(0)] = scratch[0];
}

kernel void histogram_coalesced(global const uint *keys, global volatile uint *counts, uint count) {
    local volatile uint bins[256];
    uint l = get_local_id(0), base = get_group_id(0) * 4096 + l;
    bins[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint item = 0; item < 16; item++) {
        uint i = base + item * 256;
        if (i < count) atomic_inc(&bins[keys[i] >> 24]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (bins[l] != 0) atomic_add(&counts[l], bins[l]);
}

kernel void histogram_blocked(global const float *samples, global volatile uint *histogram, uint count, uint c1) {
    local volatile uint mine[128];
    uint l = get_local_id(0), first = get_global_id(0) * 16;
    for (uint bin = l; bin < 128; bin += 64) mine[bin] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = first; i < min(first + 16, count); i++)
        atomic_inc(&mine[(uint)clamp(samples[i] * 128.0f, 0.0f, 127.0f)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = l; bin < 128; bin += 64) atomic_add(&histogram[bin], mine[bin]);
}

kernel void histogram_bytes(global const uint *length, global const uint *text, global volatile uint *frequencies,
                            uint c1) {
    local volatile uint tally[256];
    uint l = get_local_id(0), id = get_global_id(0), whole = *length / 4;
    tally[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = id; i < whole; i += get_global_size(0)) {
        uint word = text[i];
        atomic_inc(&tally[word & 0xff]);
        atomic_inc(&tally[word >> 8 & 0xff]);
        atomic_inc(&tally[word >> 16 & 0xff]);
        atomic_inc(&tally[word >> 24]);
    }
    if (id < *length % 4) atomic_inc(&tally[text[whole] >> 8 * id & 0xff]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&frequencies[l], tally[l]);
}

kernel void scan_blelloch_pairs(global const uint *values, global uint *sums, global uint *block_sums, uint count,
                                uint sum_count, uint blocks) {
    local uint temp[512];
    uint t = get_local_id(0), base = get_group_id(0) * 512, offset = 1;
    temp[2 * t] = base + 2 * t < count ? values[base + 2 * t] : 0;
    temp[2 * t + 1] = base + 2 * t + 1 < count ? values[base + 2 * t + 1] : 0;
    for (uint d = 256; d > 0; d >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t < d) temp[offset * (2 * t + 2) - 1] += temp[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) {
        block_sums[get_group_id(0)] = temp[511];
        temp[511] = 0;
    }
    for (uint d = 1; d < 512; d *= 2) {
        offset >>= 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (t < d) {
            uint ai = offset * (2 * t + 1) - 1, bi = offset * (2 * t + 2) - 1, left = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += left;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (base + 2 * t < sum_count) sums[base + 2 * t] = temp[2 * t];
    if (base + 2 * t + 1 < sum_count) sums[base + 2 * t + 1] = temp[2 * t + 1];
}

kernel void scan_kogge_stone(global const int *values, global int *sums, global int *block_sums, uint count,
                             uint sum_count, uint blocks) {
    local int shared_sums[256];
    uint i = get_global_id(0), l = get_local_id(0);
    shared_sums[l] = i < count ? values[i] : 0;
    for (uint stride = 1; stride < 256; stride *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int addend = l >= stride ? shared_sums[l - stride] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        shared_sums[l] += addend;
    }
    if (i < sum_count) sums[i] = shared_sums[l];
    if (l == 255) block_sums[get_group_id(0)] = shared_sums[l];
}

kernel void scan_raking(global const uint *values, global uint *sums, global uint *block_sums, uint value_count, uint c1,
                        uint blocks) {
    local uint items[1024], run_sums[64];
    uint l = get_local_id(0), start = get_group_id(0) * 1024, count = min(value_count - start, 1024u), sum = 0;
    for (uint k = l; k < 1024; k += 64) items[k] = k < count ? values[start + k] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 16; k++) sum += items[l * 16 + k];
    run_sums[l] = sum;
    for (uint reach = 1; reach < 64; reach <<= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint below = l >= reach ? run_sums[l - reach] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        run_sums[l] += below;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint running = run_sums[l] - sum;
    for (uint k = 0; k < 16; k++) items[l * 16 + k] = running += items[l * 16 + k];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = l; k < count; k += 64) sums[start + k] = items[k];
    if (l == 0) block_sums[get_group_id(0)] = run_sums[63];
}

kernel void scan_sklansky(global const int *values, global int *sums, global int *block_sums, uint count, uint c1,
                          uint blocks) {
    local int segment[512];
    uint l = get_local_id(0), start = get_group_id(0) * 512;
    for (uint i = l; i < 512; i += 256) segment[i] = start + i < count ? values[start + i] : 0;
    for (uint half_length = 1; half_length < 512; half_length *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        uint last = l / half_length * half_length * 2 + half_length - 1;
        segment[last + 1 + l % half_length] += segment[last];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = l; i < 512; i += 256)
        if (start + i < count) sums[start + i] = segment[i];
    if (l == 0) block_sums[get_group_id(0)] = segment[511];
}

/* See scan_lookback.wgsl: a word is a sum of 30 bits and two of state, 1 for a block's own sum, 2 for the full one. */
uint published(global const uint *values, global volatile uint *states, uint block) {
    uint sum = 0;
    for (uint look = 0; look < 16; look++) {
        uint word = atomic_or(&states[block], 0u);
        if ((word & 3) != 0) return word;
    }
    for (uint i = 0; i < 256; i++) sum += values[block * 256 + i];
    return sum << 2 | 1;
}

kernel void scan_lookback(global const uint *values, global uint *sums, global volatile uint *begun,
                          global volatile uint *states, uint count, uint sum_count, uint blocks) {
    local uint block_number, before, scanned[256];
    uint l = get_local_id(0);
    if (l == 0) block_number = atomic_inc(begun);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint block = block_number, i = block * 256 + l;
    scanned[l] = i < count ? values[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint reach = 1; reach < 256; reach *= 2) {
        uint sum = scanned[l] + (l >= reach ? scanned[l - reach] : 0);
        barrier(CLK_LOCAL_MEM_FENCE);
        scanned[l] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 255) {
        uint own = scanned[255], sum = 0, other = block;
        atomic_xchg(&states[block], own << 2 | 1);
        while (other > 0) {
            uint word = published(values, states, --other);
            sum += word >> 2;
            if ((word & 3) == 2) break;
        }
        atomic_xchg(&states[block], (sum + own) << 2 | 2);
        before = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < sum_count) sums[i] = (before + scanned[l]) & 0x3fffffffu;
}

kernel void compact_scan(global const float *threshold, global const float *values, global volatile uint *count,
                         global Kept *kept, uint value_count, uint kept_count) {
    local uint places[256], base;
    uint i = get_global_id(0), l = get_local_id(0);
    float value = i < value_count ? values[i] : 0;
    bool keep = i < value_count && value > *threshold;
    places[l] = keep;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < 256; step <<= 1) {
        uint place = places[l] + (l >= step ? places[l - step] : 0);
        barrier(CLK_LOCAL_MEM_FENCE);
        places[l] = place;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (l == 255) base = atomic_add(count, places[l]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (keep) kept[base + places[l] - 1] = (Kept){i, value};
}

kernel void histogram_rgb(global const uint2 *size, global const uint *pixels, global volatile uint *counts, uint c0) {
    local volatile uint own[768];
    uint l = get_local_id(1) * 16 + get_local_id(0), width = size->x, height = size->y;
    for (uint bin = l; bin < 768; bin += 256) own[bin] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint y = get_global_id(1); y < height; y += get_global_size(1)) {
        for (uint x = get_global_id(0); x < width; x += get_global_size(0)) {
            uint pixel = pixels[y * width + x];
            atomic_inc(&own[pixel & 0xff]);
            atomic_inc(&own[256 + (pixel >> 8 & 0xff)]);
            atomic_inc(&own[512 + (pixel >> 16 & 0xff)]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint bin = l; bin < 768; bin += 256)
        if (own[bin] != 0) atomic_add(&counts[bin], own[bin]);
}

kernel void compact_ballot(global const float2 *depths, global const float *depth, global uint *visible,
                           global uint *counts, uint count, uint visible_count, uint blocks) {
    local volatile uint ballot[8];
    uint i = get_global_id(0), l = get_local_id(0), word = l >> 5, bit = l & 31;
    if (l < 8) ballot[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int kept = i < count && depth[i] > depths->x && depth[i] < depths->y;
    if (kept) atomic_or(ballot + word, 1u << bit);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint place = popcount(ballot[word] & ((1u << bit) - 1)), total = 0;
    for (uint k = 0; k < 8; k++) {
        uint more = popcount(ballot[k]);
        if (k < word) place += more;
        total += more;
    }
    if (kept) visible[get_group_id(0) * 256 + place] = i;
    if (l == 0) counts[get_group_id(0)] = total;
}
