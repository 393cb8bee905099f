"""A PDF file: objects, encryption, fonts, layout, tables; read_pdf.py is the way in.

Knows no web. Reading and the benchmarks come in.
"""
