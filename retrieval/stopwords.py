"""English words that carry no topic, left out of keyword queries (never of the index)."""

# Function words and question words of English: articles, pronouns, auxiliaries, prepositions, conjunctions.
_WORDS = """
a about above after again all also am an and any are as at be because been before being below between both but
by can could did do does doing done down during each either else ever every few for from further get gets got
had has have having he her here hers herself him himself his how i if in into is it its itself just let like
many may me might more most much must my myself no nor not now of off on once only or other our ours ourselves
out over own please same shall she should so some such tell than that the their theirs them themselves then
there these they this those through to too under until up us very was we were what when where which while who
whom whose why will with would you your yours yourself yourselves
"""
ENGLISH = frozenset(_WORDS.split())
