"""Read PDF files: objects, encryption, fonts, layout, tables; read_pdf.py is the entry point.

Uses no network. Called by reading/ and the benchmarks.
"""
