"""The intermediate representations, and the types, operators, layouts and diagnostics that all stages share."""
