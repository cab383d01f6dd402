// Evidence of an item
// What a fact or memory rests on: the messages with their conversation, or the lines of files.
// :param namespace => 'sample'
// :param uid => 'mem-deploy-failed'
MATCH path = (:Item {namespace: $namespace, uid: $uid})-[:EVIDENCED_BY]->(e:Item)
OPTIONAL MATCH said = (e)-[:IN_CONVERSATION]->(:Conversation)
RETURN path, said
