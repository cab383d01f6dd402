"""Excerpts of long texts: the answering sentence, with as much around it as fits."""

from retrieval.readings import sentences_of

CUT = "…"


def excerpt(text: str, passage: str | None, most: int) -> str:
    """Return `text` in `most` characters: all of it if short, else whole sentences around `passage`, which may itself
    be cut; without a passage, from the start.
    """
    text = text.strip()
    if len(text) <= most:
        return text
    sentences = sentences_of(text)
    at = sentences.index(passage) if passage in sentences else 0
    first = last = at
    length = len(sentences[at])
    while True:
        behind, before = last + 1 < len(sentences), first > 0
        if behind and length + len(sentences[last + 1]) + 3 <= most:
            last += 1
            length += len(sentences[last]) + 1
        elif before and length + len(sentences[first - 1]) + 3 <= most:
            first -= 1
            length += len(sentences[first]) + 1
        else:
            break
    shown = " ".join(sentences[first : last + 1])
    if len(shown) > most - 2:
        shown = shown[: most - 2].rstrip()
        last = -1
    return f"{CUT if first else ''}{shown}{'' if last + 1 == len(sentences) else CUT}"
