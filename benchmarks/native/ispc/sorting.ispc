/* Sorting; see parts.isph. */
#include "parts.isph"

struct Step { uint32 block, reach; };

task void bitonic_step_part(const uniform Step *uniform merge, uniform float keys[], uniform int count) {
    uniform int block = merge->block, reach = merge->reach;
    foreach (i = BEGIN(PART) ... END(count, PART)) {
        int partner = i ^ reach;
        if (partner > i && partner < count) {
            float lower = keys[i], upper = keys[partner];
            if ((lower > upper) == ((i & block) == 0)) {
                keys[i] = upper;
                keys[partner] = lower;
            }
        }
    }
}

export void bitonic_step(const uniform Step *uniform merge, uniform float keys[], uniform int64 count) {
    launch[PARTS(count, PART)] bitonic_step_part(merge, keys, count);
}
