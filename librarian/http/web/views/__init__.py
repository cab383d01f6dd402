"""The handlers of pages: parse, call the room, render."""
