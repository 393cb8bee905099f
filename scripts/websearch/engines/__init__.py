"""Search engines that need no key."""
