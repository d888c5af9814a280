"""The intermediate representations, and what every stage shares."""
