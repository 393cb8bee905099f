"""Read pages on some sites from an API or page data instead of their HTML, one module per site.

Only reading/ calls this package.
"""
