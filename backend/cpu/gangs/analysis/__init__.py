"""What is known of a gang before its code is written: the structure of its body and how values differ between lanes."""
