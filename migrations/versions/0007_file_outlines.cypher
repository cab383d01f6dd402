// librarian: kind=schema
//
// Files by what they define and what is said of it.
CYPHER 25 CREATE FULLTEXT INDEX file_outline IF NOT EXISTS FOR (n:File) ON EACH [n.outline, n.tokens]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english', `fulltext.eventually_consistent`: false}};
