"""Passes on core IR, one a file, named after the pass. Each edits a module in place and says whether it changed it."""
