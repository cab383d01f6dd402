"""What each page shows: parse, call the use case, render."""
