// Conversation around it
// Three messages before and after what an item rests on, or around the item if it is a message.
// :param namespace => 'sample'
// :param uid => 'mem-deploy-failed'
MATCH (:Item {namespace: $namespace, uid: $uid})-[:EVIDENCED_BY*0..1]->(e:Message)
MATCH path = (:Message)-[:NEXT*0..3]->(e)-[:NEXT*0..3]->(:Message)
RETURN path
