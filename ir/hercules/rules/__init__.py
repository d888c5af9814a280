"""The rules of Hercules IR: `context` is what they look at, each other module a group of them and its table."""
