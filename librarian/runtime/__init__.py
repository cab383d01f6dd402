"""The running parts: lifecycle, supervisor, reranker, language model."""
