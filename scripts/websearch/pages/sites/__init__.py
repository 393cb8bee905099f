"""Read pages of some sites from their own data instead of their HTML, one module per site.

Called by reading/ only.
"""
