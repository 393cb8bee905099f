"""The desk: pages for people that show what was searched and read on this machine."""
