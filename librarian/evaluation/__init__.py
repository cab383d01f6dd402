"""Quality on labelled data."""
