"""What every layer stands on: errors, time limits, locks that survive a fork, and settings of the interpreter."""
