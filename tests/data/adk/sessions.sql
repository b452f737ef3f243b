CREATE TABLE app_states (app_name TEXT PRIMARY KEY, state TEXT NOT NULL, update_time REAL NOT NULL);
CREATE TABLE user_states (app_name TEXT NOT NULL, user_id TEXT NOT NULL, state TEXT NOT NULL, update_time REAL NOT NULL, PRIMARY KEY (app_name, user_id));
CREATE TABLE sessions (app_name TEXT NOT NULL, user_id TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, create_time REAL NOT NULL,
  update_time REAL NOT NULL, PRIMARY KEY (app_name, user_id, id));
CREATE TABLE events (id TEXT NOT NULL, app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL, invocation_id TEXT NOT NULL,
  timestamp REAL NOT NULL, event_data TEXT NOT NULL, PRIMARY KEY (app_name, user_id, session_id, id));
INSERT INTO sessions VALUES ('desk','u','s1','{}',1790000000.0,1790000009.0), ('desk','v','s1','{}',1790000001.0,1790000009.0),
 ('desk','u','s2','{}',1790000002.0,1790000009.0), ('desk','u','s3','{}',1790000003.0,1790000009.0);
INSERT INTO events VALUES
 ('e2','desk','u','s1','e-1',1790000001.5,'{"id":"e2","author":"root","invocation_id":"e-1","timestamp":1790000001.5,"model_version":"gemini-2.5-flash","content":{"role":"model","parts":[{"text":"First"}]},"usage_metadata":{"prompt_token_count":700,"candidates_token_count":20,"total_token_count":720}}'),
 ('e1','desk','u','s1','e-1',1790000000.5,'{"id":"e1","author":"user","invocation_id":"e-1","timestamp":1790000000.5,"content":{"role":"user","parts":[{"text":"One"}]}}'),
 ('e1','desk','v','s1','e-2',1790000002.5,'{"id":"e1","author":"user","invocation_id":"e-2","timestamp":1790000002.5,"content":{"role":"user","parts":[{"text":"Two"}]}}'),
 ('e1','desk','u','s2','e-3',1790000003.5,'{"id":"e1","author":"user","invocation_id":"e-3","timestamp":1790000003.5,"content":{"role":"user","parts":[{"text":"Three"}]}}'),
 ('e2','desk','u','s2','e-3',1790000004.5,'{"id":"e2","author":'),
 ('e3','desk','u','s2','e-3',1790000005.5,x'00ff'),
 ('e1','desk','u','gone','e-4',1790000006.5,'{}');
