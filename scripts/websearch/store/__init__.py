"""SQLite: answers, pages, their full text, the history. Independent of engines."""
