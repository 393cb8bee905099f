"""Manage this machine: doctor, keys, installation and packages.

The commands in scripts/ call this package.
"""
