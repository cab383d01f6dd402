"""The reasoners, which choose queries and evidence: without a language model, and with one."""
