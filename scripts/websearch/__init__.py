"""The package behind the commands of scripts/."""
