"""The memory accesses of a gang: addresses of lanes, loads, stores, atomics and prefetches."""
