"""The control flow of a gang: masks, phis, loops, and versions of blocks for full gangs."""
