"""What engines and sites share: the table of engines, request and answer, pacing, cost.

Every room above comes in.
"""
