"""HTTP face of Librarian."""
