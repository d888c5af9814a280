"""What programs of kernels cost, in parts: each module has one, and `parts` lists them.

`python -m benchmarks.graphs [PARTS] --json FILE` measures all, or the parts that are named.
"""
