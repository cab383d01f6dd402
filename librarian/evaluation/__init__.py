"""Quality measurements on labelled data."""
