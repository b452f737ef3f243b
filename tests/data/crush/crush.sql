CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY, version_id INTEGER);
CREATE TABLE files (id TEXT PRIMARY KEY);
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL, prompt_tokens INTEGER NOT NULL DEFAULT 0,
  completion_tokens INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL, summary_message_id TEXT);
CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL, parts TEXT NOT NULL DEFAULT '[]', model TEXT,
  created_at INTEGER NOT NULL, provider TEXT);
INSERT INTO sessions VALUES ('s1', NULL, 'one', 51058, 2427, 1754498139, 'm6'), ('toolu_1', 's1', 'sub', 0, 0, 1754498140000, NULL), ('s3', NULL, 'none', 0, 0, 1754498141, NULL);
INSERT INTO messages VALUES
 ('m1','s1','user','[{"type":"text","data":{"text":"One"}},{"type":"finish","data":{"reason":"stop","time":1}}]','',1754498139,NULL),
 ('m2','s1','assistant','[{"type":"reasoning","data":{"thinking":"hm","signature":"abcd"}},{"type":"text","data":{"text":"Looking"}},{"type":"tool_call","data":{"id":"c1","name":"bash","input":"{\"command\":\"ls\"}","type":"function","finished":true}},{"type":"finish","data":{"reason":"tool_use","time":1}}]','gemini-2.5-pro',1754498139,'gemini'),
 ('m3','s1','tool','[{"type":"tool_result","data":{"tool_call_id":"c1","name":"","content":"a b","is_error":true}}]','',1754498140,NULL),
 ('m4','s1','assistant','[{"type":"text","data":{"text":"Half"}},{"type":"finish","data":{"reason":"canceled","time":1}}]','gemini-2.5-pro',1754498141,'gemini'),
 ('m5','s1','assistant','[{"type":"text","data":{"text":"Done"}},{"type":"finish","data":{"reason":"end_turn","time":1}}]','claude',1754498142,'anthropic'),
 ('m6','s1','assistant','[{"type":"text","data":{"text":"All so far"}},{"type":"finish","data":{"reason":"end_turn","time":1}}]','claude',1754498143,'anthropic'),
 ('m7','s1','user','[{"type":"text","data":{"text":"Two"}},{"type":"strange","data":{}}]','',1754498144,NULL),
 ('m8','s1','user','not json','',1754498145,NULL),
 ('m9','toolu_1','user','[{"type":"text","data":{"text":"Explore"}}]','',1754498140,NULL),
 ('m10','gone','user','[]','',1754498140,NULL);
