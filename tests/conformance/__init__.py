"""The WebGPU conformance suite's recorded vectors, and how tinct does on them.

    python -m tests.conformance validation [FILE]
    python -m tests.conformance execution [FILE] --device cpu
    python -m tests.conformance roundtrip [FILE]     valid modules, written back from core IR
    python -m tests.conformance forms [FILE]         the same, as text, JSON and ATerms
    python -m tests.conformance naga [FILE]          what is written back, for naga; and `tint`, by $TINCT_TINT
    python -m tests.conformance transforms [FILE] --passes mem2reg --passes O2,minify

The folder with the vectors is named by the environment variable TINCT_CONFORMANCE, or lies at ../shared/conformance
beside the project's root.
"""
