"""Which forks become gangs, of how many lanes and parts, and which loops around them are unrolled."""
