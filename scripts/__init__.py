"""Tools for the Makefile and the tests: pages, pictures and code blocks of the documentation, and the audit of
dependencies.
"""
