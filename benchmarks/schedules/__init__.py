"""Nests, tuned, beside NumPy: `python -m benchmarks.schedules`."""
