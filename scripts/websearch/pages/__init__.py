"""From the address of a page to its text."""
