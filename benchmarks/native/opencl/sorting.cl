/* Sorting, with the workgroups, barriers and indices of the WGSL. */

typedef struct { uint block, reach; } Step;

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

kernel void bitonic_pairs(global int *keys, uint count) {
    local int block[512];
    uint t = get_local_id(0), start = get_group_id(0) * 512;
    block[t] = start + t < count ? keys[start + t] : 0x7fffffff;
    block[t + 256] = start + t + 256 < count ? keys[start + t + 256] : 0x7fffffff;
    for (uint k = 2; k <= 512; k *= 2) {
        for (uint j = k / 2; j > 0; j /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint i = 2 * t - (t & (j - 1));
            int a = block[i], b = block[i + j];
            if ((a > b) == ((i & k) == 0)) {
                block[i] = b;
                block[i + j] = a;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (start + t < count) keys[start + t] = block[t];
    if (start + t + 256 < count) keys[start + t + 256] = block[t + 256];
}

void compare_and_swap(local float *slots, uint low, uint high) {
    float a = slots[low], b = slots[high];
    slots[low] = fmin(a, b);
    slots[high] = fmax(a, b);
}

kernel void odd_even_merge(global float *keys, uint count) {
    local float slots[512];
    uint l = get_local_id(0), base = get_group_id(0) * 512;
    for (uint i = l; i < 512; i += 256) slots[i] = base + i < count ? keys[base + i] : 3.4028234e38f;
    for (uint size = 2; size <= 512; size <<= 1) {
        uint stride = size >> 1, offset = l & (stride - 1), first = 2 * l - (l & (stride - 1));
        barrier(CLK_LOCAL_MEM_FENCE);
        compare_and_swap(slots, first, first + stride);
        for (stride >>= 1; stride > 0; stride >>= 1) {
            barrier(CLK_LOCAL_MEM_FENCE);
            uint at = 2 * l - (l & (stride - 1));
            if (offset >= stride) compare_and_swap(slots, at - stride, at);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = l; i < 512; i += 256)
        if (base + i < count) keys[base + i] = slots[i];
}

kernel void radix_pass(global const uint *shift, global const uint *keys, global uint *sorted, global uint *digit_counts,
                       uint key_count, uint c1, uint c2) {
    local uint counters[2048], run_sums[128];
    uint l = get_local_id(0), by = *shift, block = get_group_id(0), start = block * 1024, sum = 0;
    uint count = min(key_count - start, 1024u), first = l * 8, last = min(first + 8, count);
    for (uint digit = 0; digit < 16; digit++) counters[digit * 128 + l] = 0;
    for (uint i = first; i < last; i++) counters[(keys[start + i] >> by & 15) * 128 + l]++;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < 16; i++) {
        uint number = counters[l * 16 + i];
        counters[l * 16 + i] = sum;
        sum += number;
    }
    run_sums[l] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint distance = 1; distance < 128; distance *= 2) {
        uint below = l >= distance ? run_sums[l - distance] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        run_sums[l] += below;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint i = 0; i < 16; i++) counters[l * 16 + i] += run_sums[l] - sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 16) {
        uint end = l + 1 < 16 ? counters[(l + 1) * 128] : count;
        digit_counts[block * 16 + l] = end - counters[l * 128];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = first; i < last; i++) {
        uint key = keys[start + i];
        sorted[start + counters[(key >> by & 15) * 128 + l]++] = key;
    }
}

#define RECORDS 1024

typedef struct { uint key, value; } Record;

kernel void bitonic_records(global Record *records, uint count) {
    local Record block[RECORDS];
    uint t = get_local_id(0), start = get_group_id(0) * RECORDS;
    for (uint i = t; i < RECORDS; i += 256) {
        if (start + i < count) {
            block[i] = records[start + i];
        } else {
            block[i].key = 0xffffffffu;
            block[i].value = 0;
        }
    }
    for (uint run = 2; run <= RECORDS; run *= 2) {
        for (uint reach = run / 2; reach > 0; reach /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = t; i < RECORDS; i += 256) {
                uint partner = i ^ reach;
                if (partner <= i) continue;
                Record a = block[i], b = block[partner];
                bool up = (i & run) == 0;
                if ((up && a.key > b.key) || (!up && a.key < b.key)) {
                    block[i] = b;
                    block[partner] = a;
                }
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = t; i < RECORDS; i += 256)
        if (start + i < count) records[start + i] = block[i];
}
