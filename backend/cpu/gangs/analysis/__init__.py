"""What is known of a gang before code is written: the structure of its body, and how values differ between lanes."""
