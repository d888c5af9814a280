"""The control flow of a gang: blocks under masks, phis, loops, and versions of blocks for full gangs."""
