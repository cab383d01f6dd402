"""The checks of `librarian doctor`."""
