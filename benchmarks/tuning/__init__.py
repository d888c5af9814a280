"""What the tuner finds, and how fast: `python -m benchmarks.tuning`."""
