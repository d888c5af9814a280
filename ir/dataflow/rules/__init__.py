"""The rules of dataflow graphs, as tables: `declarations`, `connections`, `modules`. `table` says what a rule is."""
