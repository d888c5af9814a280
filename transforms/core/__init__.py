"""Passes on core IR, one a file, named after the pass. Each edits the module in place and says whether it changed it."""
