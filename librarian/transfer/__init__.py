"""Files that hold whole namespaces: writing them so that there is never half of one, and reading them so that half of
one is noticed.
"""
