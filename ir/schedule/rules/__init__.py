"""The tables of rules for nests."""
