"""The web page: server-rendered views of the same use cases that the HTTP interface serves."""
