"""This machine: doctor, keys, installing and packing.

Called by the commands in scripts/.
"""
