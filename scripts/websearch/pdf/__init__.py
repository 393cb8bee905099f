"""The PDF format: objects, encryption, fonts, the text of a page."""
