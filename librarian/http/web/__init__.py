"""The web page: server-rendered views of the operations of the HTTP interface."""
