// Both arms of the hybrid search. In a first look every row says whether the item passes all filters (`keep`), so that the
// caller knows how many rows the index gave and can tell an exhausted index from a filtered one. Deeper looks filter where
// the data lie and return only items that pass.
//
// Many rows come as one list, for Executor.fetch_list: a row of its own costs the driver 50 us, however little is in it. Times come
// as text: each costs the driver 40 us, and a hit has four.

// fragment: through_the_key
// Naming both properties of the key makes the planner walk the key's index through this namespace, not every :Item.
WHERE m.uid IS NOT NULL

// fragment: in_order
WITH arm, uid, score, keep ORDER BY arm, score DESC, uid
RETURN collect([arm, uid, score, keep]) AS found

// fragment: item_conditions
m.namespace = $namespace AND m.kind IN $kinds
    AND coalesce(m.occurred_at, $unknown_time) >= $occurred_from
    AND coalesce(m.occurred_at, $unknown_time) <= $occurred_to
    AND ($types IS NULL OR m.type IN $types)
    AND ($authors IS NULL OR m.author_name IN $authors)
    AND ($conversation_id IS NULL OR m.conversation_id = $conversation_id)
    AND ($session_id IS NULL OR m.session_id = $session_id)
    AND ($person_id IS NULL OR m.person_id = $person_id)
    AND ($domain IS NULL OR m.domain = $domain)
    AND ($tags IS NULL OR all(tag IN $tags WHERE tag IN m.tags))
    AND ($agent IS NULL OR m.agent = $agent)
    AND ($path_prefix IS NULL OR m.path STARTS WITH $path_prefix)
    AND ($as_of IS NULL OR coalesce(m.occurred_at, $unknown_time) <= $as_of)
    AND ($known_at IS NULL OR m.created_at <= $known_at)
    AND ($resembling IS NULL OR (m.resembles IS NOT NULL AND NOT coalesce(m.pinned, false)) = $resembling)
    AND ($expired OR m.expires_at IS NULL OR m.expires_at > datetime())

// fragment: valid_to_then
CASE WHEN $known_at IS NULL THEN m.valid_to ELSE coalesce(
      head(COLLECT {
        MATCH (later:Fact)-[closing:SUPERSEDES]->(m) WHERE later.namespace = $namespace
          AND coalesce(closing.created_at, later.created_at) > $known_at AND closing.former_valid_to IS NOT NULL
        RETURN closing.former_valid_to ORDER BY closing.former_valid_to DESC LIMIT 1
      }),
      head(COLLECT {
        MATCH (m)-[:HAS_REVISION]->(was:Revision) WHERE was.namespace = $namespace AND was.revised_at > $known_at
        RETURN was.valid_to ORDER BY was.version, was.revised_at LIMIT 1
      }), m.valid_to) END

// fragment: text_then
CASE WHEN $known_at IS NULL THEN m.text ELSE coalesce(head(COLLECT {
        MATCH (m)-[:HAS_REVISION]->(was:Revision) WHERE was.namespace = $namespace AND was.revised_at > $known_at
        RETURN was.text ORDER BY was.version, was.revised_at LIMIT 1
      }), m.text) END

// fragment: item_filters
{{item_conditions}}
    AND (NOT m:Fact OR CASE
      WHEN $as_of IS NOT NULL THEN coalesce(m.valid_from, $unknown_time) <= $as_of AND {{valid_to_then}} > $as_of
      WHEN $held_from IS NOT NULL AND coalesce(m.valid_from, $unknown_time) < $held_to AND {{valid_to_then}} > $held_from THEN true
      WHEN $known_at IS NULL THEN NOT EXISTS { (newer:Fact)-[:SUPERSEDES]->(m) WHERE newer.namespace = $namespace }
      ELSE NOT EXISTS { (newer:Fact)-[closing:SUPERSEDES]->(m) WHERE newer.namespace = $namespace
        AND coalesce(closing.created_at, newer.created_at) <= $known_at } END)

// fragment: nearest_plain
MATCH (e:Embedding_{{space}})
    SEARCH e IN (VECTOR INDEX embedding_{{space}} FOR $vector WHERE e.namespace = $namespace AND e.kind IN $kinds LIMIT $k) SCORE AS nearness
  MATCH (m:Item)-[:HAS_EMBEDDING]->(e)
  RETURN 'vector' AS arm, m, 2 * nearness - 1 AS score

// fragment: filtered_index_rows
MATCH (e:Embedding_{{space}})
    SEARCH e IN (VECTOR INDEX embedding_{{space}} FOR $vector WHERE e.namespace = $namespace AND e.kind IN $kinds
      AND e.author >= $author_from AND e.author <= $author_to
      AND e.conversation >= $conversation_from AND e.conversation <= $conversation_to
      AND e.domain >= $domain_from AND e.domain <= $domain_to
      AND e.occurred_at >= $occurred_from AND e.occurred_at <= $occurred_to
      AND e.valid_to >= $valid_after LIMIT $k) SCORE AS nearness
  MATCH (m:Item)-[:HAS_EMBEDDING]->(e)

// fragment: nearest_filtered
{{filtered_index_rows}}
  RETURN 'vector' AS arm, m, 2 * nearness - 1 AS score

// fragment: keyword_arms
MATCH (m:Item) SEARCH m IN (FULLTEXT INDEX item_text FOR $english LIMIT $k) SCORE AS score
  RETURN CASE WHEN m:CjkText THEN 'keyword_both' ELSE 'keyword' END AS arm, m, score
  UNION ALL
  MATCH (m:Item) SEARCH m IN (FULLTEXT INDEX item_text_cjk FOR $cjk LIMIT $k) SCORE AS score
  RETURN 'keyword_cjk' AS arm, m, score
  UNION ALL
  MATCH (m:Item) SEARCH m IN (FULLTEXT INDEX chunk_text FOR $files LIMIT $k) SCORE AS score
  RETURN 'files' AS arm, m, score

// fragment: judged
WITH m, collect([arm, score]) AS ranks
WITH m, ranks, ({{item_filters}}) AS keep

// fragment: described
{{judged}}
RETURN collect(CASE WHEN keep THEN [ranks, {{pool_traits}}, COLLECT {
    MATCH (m)-[:HAS_EMBEDDING]->(e:Embedding_{{space}})
    // The vector arm has measured the first of them.
    WHERE (size($vectors) > 1 OR ranks[0][0] <> 'vector') AND e.namespace = $namespace AND size(e.vector) = {{dimension}}
    RETURN [wanted IN $vectors | 2 * vector.similarity.cosine(e.vector, wanted) - 1]
  }] ELSE [ranks] END) AS found

// name: search_hybrid
// purpose: candidates of both arms for one query with their ranking data, filtered in the vector index by namespace and kind only
// params: namespace, kinds, types, authors, conversation_id, session_id, person_id, domain, tags, agent, path_prefix, occurred_from, occurred_to, unknown_time, as_of, known_at, held_from, held_to, expired, resembling, vector (list of float of the space's dimension), vectors (list of vectors to measure; the first is `vector`), k (rows an arm), english, cjk, files (Lucene text or null to skip)
// returns: found (list of [ranks] of each item that fails a filter, and of [ranks, …as pool_traits_only, cosines] of the others; ranks: list of [arm, score: cosine -1..1, or BM25]; cosines: of each of its vectors those to `vectors`, where the vector arm did not give them)
// access: read
// scope: namespace
// template: space, dimension
CYPHER 25
CALL () {
  {{nearest_plain}}
  UNION ALL
  {{keyword_arms}}
}
{{described}}

// name: search_hybrid_filtered
// purpose: candidates of both arms for one query with their ranking data, using all filters of the vector index
// params: namespace, kinds, types, authors, conversation_id, session_id, person_id, domain, tags, agent, path_prefix, occurred_from, occurred_to, unknown_time, as_of, known_at, held_from, held_to, expired, resembling, author_from, author_to, conversation_from, conversation_to, domain_from, domain_to, valid_after, vector, vectors, k, english, cjk, files
// returns: found (list of [ranks] of each item that fails a filter, and of [ranks, …as pool_traits_only, cosines] of the others; ranks: list of [arm, score: cosine -1..1, or BM25]; cosines: of each of its vectors those to `vectors`, where the vector arm did not give them)
// access: read
// scope: namespace
// template: space, dimension
CYPHER 25
CALL () {
  {{nearest_filtered}}
  UNION ALL
  {{keyword_arms}}
}
{{described}}

// name: search_vector
// purpose: candidates of the vector arm alone, when the keyword arm cannot run
// params: namespace, kinds, types, authors, conversation_id, session_id, person_id, domain, tags, agent, path_prefix, occurred_from, occurred_to, unknown_time, as_of, known_at, held_from, held_to, expired, resembling, author_from, author_to, conversation_from, conversation_to, domain_from, domain_to, valid_after, vector, k
// returns: found (list of [uid, ranks, keep]; ranks: list of [arm, score: cosine -1..1])
// access: read
// scope: namespace
// template: space
CYPHER 25
CALL () {
  {{nearest_filtered}}
}
{{judged}}
RETURN collect([m.uid, ranks, keep]) AS found

// name: search_keyword
// purpose: candidates of the keyword arm alone, when there is no vector or the vector arm cannot run
// params: namespace, kinds, types, authors, conversation_id, session_id, person_id, domain, tags, agent, path_prefix, occurred_from, occurred_to, unknown_time, as_of, known_at, held_from, held_to, expired, resembling, k, english, cjk, files
// returns: found (list of [uid, ranks, keep]; ranks: list of [arm, score: BM25, unbounded])
// access: read
// scope: namespace
CYPHER 25
CALL () {
  {{keyword_arms}}
}
{{judged}}
RETURN collect([m.uid, ranks, keep]) AS found

// name: search_vector_deeper
// purpose: the best items that pass all filters among the k nearest embeddings, judged where they lie
// params: namespace, kinds, types, authors, conversation_id, session_id, person_id, domain, tags, agent, path_prefix, occurred_from, occurred_to, unknown_time, as_of, known_at, held_from, held_to, expired, resembling, author_from, author_to, conversation_from, conversation_to, domain_from, domain_to, valid_after, vector, k (rows of the index; it gives 10,000 at most), limit (items)
// returns: found (list of [arm, uid, score: cosine -1..1, keep: true])
// access: read
// scope: namespace
// template: space
CYPHER 25
{{filtered_index_rows}}
  WHERE {{item_filters}}
WITH m.uid AS uid, max(2 * nearness - 1) AS score
ORDER BY score DESC, uid LIMIT $limit
RETURN collect(['vector', uid, score, true]) AS found

// name: search_vector_exact
// purpose: the nearest of all items that pass the filters, measured one by one without the vector index
// params: namespace, kinds, types, authors, conversation_id, session_id, person_id, domain, tags, agent, path_prefix, occurred_from, occurred_to, unknown_time, as_of, known_at, held_from, held_to, expired, resembling, vector, limit (items)
// returns: found (list of [arm, uid, score: cosine -1..1, keep: true])
// access: read
// scope: namespace
// template: space, dimension
CYPHER 25
MATCH (m:Item)
{{through_the_key}} AND {{item_filters}}
MATCH (m)-[:HAS_EMBEDDING]->(e:Embedding_{{space}})
// One vector of another length would fail the whole statement.
WHERE e.namespace = $namespace AND size(e.vector) = {{dimension}}
WITH m.uid AS uid, max(2 * vector.similarity.cosine(e.vector, $vector) - 1) AS score
ORDER BY score DESC, uid LIMIT $limit
RETURN collect(['vector', uid, score, true]) AS found

// name: search_keyword_deeper
// purpose: the best items that pass all filters among the first k rows of each full-text index, judged where they lie
// params: namespace, kinds, types, authors, conversation_id, session_id, person_id, domain, tags, agent, path_prefix, occurred_from, occurred_to, unknown_time, as_of, known_at, held_from, held_to, expired, resembling, k (rows an index), english, cjk, files, limit (items an index)
// returns: found (list of [arm, uid, score: BM25, unbounded, keep: true])
// access: read
// scope: namespace
CYPHER 25
CALL () {
  MATCH (m:Item) SEARCH m IN (FULLTEXT INDEX item_text FOR $english LIMIT $k) SCORE AS relevance
  WITH m, relevance WHERE {{item_filters}}
  RETURN CASE WHEN m:CjkText THEN 'keyword_both' ELSE 'keyword' END AS arm, m.uid AS uid, relevance AS score
  ORDER BY score DESC, uid LIMIT $limit
  UNION ALL
  MATCH (m:Item) SEARCH m IN (FULLTEXT INDEX item_text_cjk FOR $cjk LIMIT $k) SCORE AS relevance
  WITH m, relevance WHERE {{item_filters}}
  RETURN 'keyword_cjk' AS arm, m.uid AS uid, relevance AS score ORDER BY score DESC, uid LIMIT $limit
  UNION ALL
  MATCH (m:Item) SEARCH m IN (FULLTEXT INDEX chunk_text FOR $files LIMIT $k) SCORE AS relevance
  WITH m, relevance WHERE {{item_filters}}
  RETURN 'files' AS arm, m.uid AS uid, relevance AS score ORDER BY score DESC, uid LIMIT $limit
}
WITH *, true AS keep
{{in_order}}

// fragment: evidence
COLLECT {
    MATCH (m)-[link:EVIDENCED_BY]->(source:Item) WHERE source.namespace = $namespace
      AND (source.expires_at IS NULL OR source.expires_at > datetime())
    RETURN source {.uid, .message_id, .author_name, .text, .path, sent_at: toString(source.sent_at), start_line: coalesce(link.start_line, source.start_line),
      end_line: coalesce(link.end_line, source.end_line)}
    ORDER BY source.sent_at, source.uid, link.ref
  }

// fragment: item_map
m {.*, tokens: null, search_text: null, occurred_at: toString(m.occurred_at), created_at: toString(m.created_at), expires_at: toString(m.expires_at),
    updated_at: toString(m.updated_at), sent_at: toString(m.sent_at), valid_from: toString(m.valid_from),
    valid_to: toString(m.valid_to), support_ends: toString(m.support_ends), lost_at: toString(m.lost_at), replaced_at: toString(m.replaced_at)}

// fragment: led_by
COLLECT {
    MATCH (m)<-[r:CAUSES|ENABLES]-(cause:Item) WHERE cause.namespace = $namespace AND r.edge_id IS NOT NULL
      AND (cause.expires_at IS NULL OR cause.expires_at > datetime())
    RETURN cause {.uid, .kind, text: left(cause.text, 200), type: type(r), confidence: coalesce(r.confidence, 1.0)}
    ORDER BY r.confidence DESC, cause.uid LIMIT 5
  }

// name: hydrate_items
// purpose: the properties and evidence of items, and items that led to them by accepted edges, most confident first
// params: namespace, uids
// returns: found (list of {item, evidence, led_by})
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})
WITH {item: {{item_map}}, evidence: {{evidence}}, led_by: {{led_by}}} AS row
RETURN collect(row) AS found

// name: items_then
// purpose: items as they were on file at a moment: from the first revision after it; without those that were not there yet
// params: namespace, uids, known_at
// returns: uid, was (the revision, null for an item that has not changed since), valid_to (of a fact)
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})
WHERE m.created_at <= $known_at
RETURN m.uid AS uid, head(COLLECT {
  MATCH (m)-[:HAS_REVISION]->(r:Revision) WHERE r.namespace = $namespace AND r.revised_at > $known_at
  RETURN properties(r) ORDER BY r.version, r.revised_at LIMIT 1
}) AS was, {{valid_to_then}} AS valid_to

// name: turns_beside
// purpose: the turns before and after messages, in the same session of their conversation
// params: namespace, uids
// returns: uid, before, after (lists of at most one item)
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (center:Item {namespace: $namespace, uid: uid})
RETURN uid,
  COLLECT {
    MATCH (center)<-[:NEXT]-(m:Message)
    WHERE m.namespace = $namespace AND coalesce(m.session_id, '') = coalesce(center.session_id, '')
      AND (m.expires_at IS NULL OR m.expires_at > datetime())
    RETURN {{item_map}}
  } AS before,
  COLLECT {
    MATCH (center)-[:NEXT]->(m:Message)
    WHERE m.namespace = $namespace AND coalesce(m.session_id, '') = coalesce(center.session_id, '')
      AND (m.expires_at IS NULL OR m.expires_at > datetime())
    RETURN {{item_map}}
  } AS after

// fragment: pool_traits
m.uid, m.author_name, m.conversation_id, m.session_id, m.position, m.name, m.caption, m.kind, toString(m.occurred_at),
  toString({{valid_to_then}}),
  // A longer message says other things beside the facts that are replaced.
  toString(coalesce(m.support_ends, CASE WHEN size(m.text) <= 160 THEN m.replaced_at END)), m.subject, m.predicate,
  CASE WHEN m:Fact THEN COLLECT { MATCH (m)-[:EVIDENCED_BY]->(s:Item) WHERE s.namespace = $namespace RETURN s.uid } ELSE [] END,
  left({{text_then}}, 8000)

// name: pool_traits
// purpose: the candidates' inputs to the signals, and the cosines that the vector arm did not return
// params: namespace, rows (uid, queries: places in `vectors` whose cosine is missing), vectors (one list of float a query), known_at
// returns: found (list of [uid, author, conversation, session, position, name, caption, kind, when (ISO time), ends (ISO time of a fact), falls (ISO time when support ends), subject, predicate, sources (uids of a fact's evidence), text (8,000 characters at most), cosines (one for each of the row's queries, -1..1, or -2 without a vector)])
// access: read
// scope: namespace
// template: space, dimension
CYPHER 25
UNWIND $rows AS row
MATCH (m:Item {namespace: $namespace, uid: row.uid})
CALL (m, row) {
  UNWIND row.queries AS query
  OPTIONAL MATCH (m)-[:HAS_EMBEDDING]->(e:Embedding_{{space}})
  WHERE e.namespace = $namespace AND size(e.vector) = {{dimension}}
  WITH query, max(CASE WHEN e IS NULL THEN null ELSE 2 * vector.similarity.cosine(e.vector, $vectors[query]) - 1 END) AS cosine
  ORDER BY query
  RETURN collect(coalesce(cosine, -2.0)) AS cosines
}
RETURN collect([{{pool_traits}}, cosines]) AS found

// name: pool_traits_only
// purpose: the candidates' inputs to the signals, without vectors
// params: namespace, uids, known_at
// returns: found (list of [uid, author, conversation, session, position, name, caption, kind, when (ISO time), ends (ISO time of a fact), falls (ISO time when support ends), subject, predicate, sources (uids of a fact's evidence), text (8,000 characters at most)])
// access: read
// scope: namespace
CYPHER 25
UNWIND $uids AS uid
MATCH (m:Item {namespace: $namespace, uid: uid})
RETURN collect([{{pool_traits}}]) AS found

// name: items_of_small_namespace
// purpose: all items of a namespace that pass the filters, where it holds few
// params: namespace, kinds, types, authors, conversation_id, session_id, person_id, domain, tags, agent, path_prefix, occurred_from, occurred_to, unknown_time, as_of, known_at, held_from, held_to, expired, resembling, limit
// returns: found (list: how many items the namespace holds as text, counted up to the limit, then the uids)
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Item {namespace: $namespace})
{{through_the_key}}
WITH m LIMIT $limit
WITH count(m) AS held, collect(CASE WHEN {{item_filters}} THEN m.uid END) AS uids
RETURN [toString(held)] + uids AS found

// name: list_authors
// purpose: who has spoken in a namespace
// params: namespace, limit
// returns: author
// access: read
// scope: namespace
CYPHER 25
MATCH (m:Message {namespace: $namespace})
WHERE m.author_name IS NOT NULL
RETURN DISTINCT m.author_name AS author LIMIT $limit
