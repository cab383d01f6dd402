// No longer supported
// Facts and memories whose last support was superseded, ended, corrected or forgotten, and messages that state what was replaced.
// :param namespace => 'sample'
MATCH (m:Item {namespace: $namespace})
WHERE m.support_ends <= datetime() OR m.replaced_at <= datetime()
RETURN m.kind AS kind, m.name AS name, m.uid AS uid, coalesce(m.support_ends, m.replaced_at) AS since,
  coalesce(m.support_lost, 'replaced') AS because, coalesce(m.support_way, [m.replaced_by]) AS way
ORDER BY since DESC LIMIT 100
