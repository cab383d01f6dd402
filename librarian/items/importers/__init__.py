"""Importers turn existing data (mem0, MCP memory files, notes, ChatGPT and Slack exports) into rows.

Each format is a module with `entries`, a pure function from a source to rows, faults and skips, and `recognises`. A
`Source` is a folder, a zip archive or one file; `registry` names the formats; `rows` turns entries into the numbered
lines that `Librarian.ingest` takes. Uids come from the source's own ids, so importing the same data again changes
nothing.
"""
