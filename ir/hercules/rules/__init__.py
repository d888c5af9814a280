"""The rules of Hercules IR: `context` holds the facts that rules use; each other module is one group of rules."""
