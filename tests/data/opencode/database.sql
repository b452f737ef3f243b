CREATE TABLE `project` (`id` text PRIMARY KEY);
CREATE TABLE `session` (`id` text PRIMARY KEY, `parent_id` text, `version` text NOT NULL, `time_created` integer NOT NULL);
CREATE TABLE `message` (`id` text PRIMARY KEY, `session_id` text NOT NULL, `time_created` integer NOT NULL, `data` text NOT NULL);
CREATE TABLE `part` (`id` text PRIMARY KEY, `message_id` text NOT NULL, `data` text NOT NULL);
INSERT INTO session VALUES ('ses_1', NULL, '1.2.3', 1), ('ses_2', 'ses_1', '1.2.3', 2);
INSERT INTO message VALUES
 ('msg_1','ses_1',1,'{"role":"user","time":{"created":1759312800000},"model":{"providerID":"p","modelID":"m"}}'),
 ('msg_2','ses_1',2,'{"role":"assistant","time":{"created":1759312801000,"completed":1759312802000},"modelID":"m","providerID":"p","agent":"build","cost":0.01,"tokens":{"input":100,"output":5,"reasoning":1,"cache":{"read":20,"write":3}}}'),
 ('msg_3','ses_1',3,'{"role":"user","time":{"created":1759312803000}}'),
 ('msg_4','ses_1',4,'{"role":"assistant","summary":true,"mode":"compaction","time":{"created":1759312804000,"completed":1759312805000},"modelID":"m","providerID":"p","tokens":{"input":200,"output":9,"reasoning":0,"cache":{"read":0,"write":0}}}'),
 ('msg_5','ses_2',1,'{"role":"user","time":{"created":1759312801500}}'),
 ('msg_6','ses_2',2,'{"role":"assistant","time":{"created":1759312801600,"completed":1759312801700},"modelID":"m","providerID":"p","tokens":{"input":50,"output":2,"reasoning":0,"cache":{"read":0,"write":0}}}');
INSERT INTO part VALUES
 ('prt_1','msg_1','{"type":"text","text":"One"}'),
 ('prt_2','msg_2','{"type":"step-start"}'),
 ('prt_3','msg_2','{"type":"reasoning","text":"hm","time":{"start":1,"end":2}}'),
 ('prt_4','msg_2','{"type":"tool","callID":"c1","tool":"bash","state":{"status":"completed","input":{"command":"ls"},"output":"a b","title":"ls","metadata":{},"time":{"start":1,"end":2,"compacted":1759312803500}}}'),
 ('prt_5','msg_2','{"type":"step-finish","reason":"tool-calls","cost":0.01,"tokens":{"input":100,"output":5,"reasoning":1,"cache":{"read":20,"write":3}}}'),
 ('prt_6','msg_3','{"type":"compaction","auto":true}'),
 ('prt_7','msg_4','{"type":"text","text":"All so far"}'),
 ('prt_8','msg_5','{"type":"text","text":"Explore"}'),
 ('prt_9','msg_6','{"type":"text","text":"Done"}');
