CREATE TABLE schema_version (version INTEGER PRIMARY KEY);
CREATE TABLE sessions (id TEXT PRIMARY KEY, description TEXT NOT NULL DEFAULT '', created_at TIMESTAMP, total_tokens INTEGER, input_tokens INTEGER,
  output_tokens INTEGER, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER, model_config_json TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content_json TEXT NOT NULL,
  created_timestamp INTEGER NOT NULL, metadata_json TEXT);
INSERT INTO sessions VALUES ('20251001_1', 'one', '2025-10-01', 320, 300, 20, 300, 20, '{"model_name":"gpt-5","context_limit":400000}'),
 ('20251001_2', 'two', '2025-10-02', 320, 300, 20, 900, 60, NULL);
INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES
 ('20251001_1','user','[{"type":"text","text":"One"}]',1759312800,NULL),
 ('20251001_1','assistant','[{"type":"text","text":"First"}]',1759312801,NULL),
 ('20251001_2','user','[{"type":"text","text":"One"}]',1759312800,'{"userVisible":true,"agentVisible":false}'),
 ('20251001_2','assistant','[{"type":"thinking","thinking":"hm","signature":"abcd"},{"type":"toolRequest","id":"c1","toolCall":{"status":"success","value":{"name":"developer__shell","arguments":{"command":"ls"}}}}]',1759312801,'{"userVisible":true,"agentVisible":false}'),
 ('20251001_2','user','[{"type":"toolResponse","id":"c1","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"for the model","annotations":{"audience":["assistant"]}},{"type":"text","text":"for the person","annotations":{"audience":["user"]}}],"isError":false}}}]',1759312802,'{"userVisible":true,"agentVisible":false}'),
 ('20251001_2','assistant','[{"type":"text","text":"Done"}]',1759312803,'{"userVisible":true,"agentVisible":false}'),
 ('20251001_2','assistant','[{"type":"systemNotification","notificationType":"inlineMessage","msg":"Compacting"}]',1759312803,'{"userVisible":true,"agentVisible":false}'),
 ('20251001_2','user','[{"type":"text","text":"All so far"}]',1759312804,'{"userVisible":false,"agentVisible":true}'),
 ('20251001_2','assistant','[{"type":"text","text":"Your context was compacted."}]',1759312804,'{"userVisible":false,"agentVisible":true}'),
 ('20251001_2','user','[{"type":"text","text":"Two"}]',1759312805,'{"userVisible":true,"agentVisible":true}'),
 ('20251001_2','assistant','[{"type":"toolRequest","id":"c2","toolCall":{"status":"error","error":"no such tool"}}]',1759312806,'{"userVisible":true,"agentVisible":true}'),
 ('20251001_2','user','[{"type":"toolResponse","id":"c2","toolResult":{"status":"error","error":"no such tool"}}]',1759312807,NULL);
