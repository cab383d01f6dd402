"""What the Makefile and the tests use beside the program: pages, pictures and blocks of code of the documentation, and
the audit of dependencies.
"""
