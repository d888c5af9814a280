/* Sums, scans and counts; see parts.isph. */
#include "parts.isph"

task void reduce_blocks(const uniform float values[], uniform float partial_sums[], uniform int count,
                        uniform int blocks) {
    for (uniform int block = BEGIN(128); block < END(blocks, 128); block++) {
        float sum = 0;
        foreach (i = block * 512 ... min(count, (block + 1) * 512)) sum += values[i];
        partial_sums[block] = reduce_add(sum);
    }
}

export void reduce(const uniform float values[], uniform float partial_sums[], uniform int64 count,
                   uniform int64 blocks) {
    launch[PARTS(blocks, 128)] reduce_blocks(values, partial_sums, count, blocks);
}

task void reduce_halving_blocks(const uniform float values[], uniform float block_sums[], uniform int count,
                                uniform int blocks) {
    for (uniform int block = BEGIN(256); block < END(blocks, 256); block++) {
        float sum = 0;
        foreach (i = block * 256 ... min(count, (block + 1) * 256)) sum += values[i];
        block_sums[block] = reduce_add(sum);
    }
}

export void reduce_halving(const uniform float values[], uniform float block_sums[], uniform int64 count,
                           uniform int64 blocks) {
    launch[PARTS(blocks, 256)] reduce_halving_blocks(values, block_sums, count, blocks);
}

task void reduce_interleaved_blocks(const uniform uint32 values[], uniform uint32 block_sums[], uniform int count,
                                    uniform int blocks) {
    for (uniform int block = BEGIN(256); block < END(blocks, 256); block++) {
        uint32 sum = 0;
        foreach (i = block * 256 ... min(count, (block + 1) * 256)) sum += values[i];
        block_sums[block] = (uniform uint32)reduce_add(sum);
    }
}

export void reduce_interleaved(const uniform uint32 values[], uniform uint32 block_sums[], uniform int64 count,
                               uniform int64 blocks) {
    launch[PARTS(blocks, 256)] reduce_interleaved_blocks(values, block_sums, count, blocks);
}

task void reduce_ring_blocks(const uniform float values[], uniform float extremes[], uniform float scaled[],
                             uniform int count, uniform int blocks) {
    for (uniform int block = BEGIN(256); block < END(blocks, 256); block++) {
        float low = values[block * 128];
        float high = low;
        foreach (i = block * 128 ... min(count, (block + 1) * 128)) {
            low = min(low, values[i]);
            high = max(high, values[i]);
        }
        uniform float least = reduce_min(low), greatest = reduce_max(high);
        extremes[2 * block] = least;
        extremes[2 * block + 1] = greatest;
        foreach (i = block * 128 ... min(count, (block + 1) * 128))
            scaled[i] = least == greatest ? 0 : (values[i] - least) / (greatest - least);
    }
}

export void reduce_ring(const uniform float values[], uniform float extremes[], uniform float scaled[],
                        uniform int64 count, uniform int64 blocks) {
    launch[PARTS(blocks, 256)] reduce_ring_blocks(values, extremes, scaled, count, blocks);
}

task void reduce_strided_groups(const uniform float x[], const uniform float y[], uniform float partial_products[],
                                uniform int count, uniform int groups) {
    for (uniform int group = BEGIN(16); group < END(groups, 16); group++) {
        float sum = 0;
        for (uniform int start = group * 256; start < count; start += groups * 256)
            foreach (i = start ... min(count, start + 256)) sum += x[i] * y[i];
        partial_products[group] = reduce_add(sum);
    }
}

export void reduce_strided(const uniform float x[], const uniform float y[], uniform float partial_products[],
                           uniform int64 count, uniform int64 y_count, uniform int64 groups) {
    launch[PARTS(groups, 16)] reduce_strided_groups(x, y, partial_products, count, groups);
}
