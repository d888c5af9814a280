"""The passes that rewrite and translate the intermediate representations."""
