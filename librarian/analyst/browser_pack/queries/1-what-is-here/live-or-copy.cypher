// The live graph or a copy
// A copy for analysts says when it was taken.
// Only a copy knows this label: written as a text, its absence is no reason for a warning.
OPTIONAL MATCH (c:$('AnalystCopy'))
WITH properties(c) AS copy
RETURN coalesce(copy['name'], 'the live graph') AS this_is,
  coalesce(copy['namespaces'], ['all']) AS namespaces,
  coalesce(toString(copy['taken_at']), 'now') AS as_of,
  coalesce(toString(duration.between(copy['taken_at'], datetime())), 'none') AS age
