"""What `librarian doctor` looks at, by place."""
