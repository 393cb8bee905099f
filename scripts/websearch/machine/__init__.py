"""This machine: doctor, keys, installing, packing, completion, and the front door.

Only the commands come in.
"""
