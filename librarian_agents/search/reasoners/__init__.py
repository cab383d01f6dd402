"""The reasoners, which decide what to search for and what counts: without a language model, and with one."""
