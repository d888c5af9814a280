"""Hercules IR: a sea of nodes with fork/join parallelism."""
