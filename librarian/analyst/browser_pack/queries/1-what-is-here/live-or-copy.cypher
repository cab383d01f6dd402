// The live graph or a copy
// A copy for analysts says when it was taken.
OPTIONAL MATCH (c:AnalystCopy)
RETURN coalesce(c.name, 'the live graph') AS this_is, c.namespaces AS namespaces, c.taken_at AS taken_at,
  toString(duration.between(c.taken_at, datetime())) AS age
