"""Handlers of pages: parse, call the room, render."""
