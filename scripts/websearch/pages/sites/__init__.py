"""Read pages of some sites from an API or page data instead of HTML, one module per site.

Only reading/ calls this package.
"""
