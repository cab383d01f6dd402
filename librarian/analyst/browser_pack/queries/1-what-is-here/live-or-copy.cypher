// The live graph or a copy
// A copy for analysts says when it was taken (its label is a text here, so that no warning comes where it is missing).
OPTIONAL MATCH (c:$('AnalystCopy'))
WITH properties(c) AS copy
RETURN coalesce(copy['name'], 'the live graph') AS this_is,
  coalesce(copy['namespaces'], ['all']) AS namespaces,
  coalesce(toString(copy['taken_at']), 'now') AS as_of,
  coalesce(toString(duration.between(copy['taken_at'], datetime())), 'none') AS age
