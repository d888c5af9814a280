"""The WebGPU conformance suite's recorded vectors, and how tinct does on them.

    python -m tests.conformance validation [FILE]
    python -m tests.conformance execution [FILE] --device cpu
    python -m tests.conformance roundtrip [FILE]

The folder with the vectors is named by the environment variable TINCT_CONFORMANCE, or lies at ../shared/conformance
beside the project's root.
"""
