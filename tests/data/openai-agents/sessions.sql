CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, message_data TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, FOREIGN KEY (session_id) REFERENCES agent_sessions (session_id) ON DELETE CASCADE);
INSERT INTO agent_sessions VALUES ('user_1', '2026-03-03 16:32:00', '2026-03-03 16:33:00'), ('user_2', '2026-03-03 16:31:00', '2026-03-03 16:33:00'), ('user_3', '2026-03-03 16:31:00', '2026-03-03 16:33:00');
INSERT INTO agent_messages (session_id, message_data, created_at) VALUES
('user_1', '{"content": "Weather?", "role": "user"}', '2026-03-03 16:32:07'),
('user_2', '{"role": "user", "content": [{"type": "input_text", "text": "Hello"}, {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}]}', '2026-03-03 16:32:08'),
('user_1', '{"id": "rs_00000000000000000000000000000001", "summary": [{"text": "I ask.", "type": "summary_text"}], "type": "reasoning", "encrypted_content": "c2VhbGVk"}', '2026-03-03 16:32:09'),
('user_1', '{"arguments": "{\"city\":\"Ulm\"}", "call_id": "call_a", "name": "weather", "type": "function_call", "id": "fc_00000000000000000000000000000001", "status": "completed"}', '2026-03-03 16:32:09'),
('user_1', '{"arguments": "{\"city\":\"Bonn\"}", "call_id": "call_b", "name": "weather", "type": "function_call", "id": "fc_00000000000000000000000000000002", "status": "completed"}', '2026-03-03 16:32:09'),
('user_1', '{"call_id": "call_a", "output": "sun", "type": "function_call_output"}', '2026-03-03 16:32:10'),
('user_1', '{"call_id": "call_b", "output": "rain", "type": "function_call_output"}', '2026-03-03 16:32:10'),
('user_1', '{"id": "msg_00000000000000000000000000000001", "content": [{"annotations": [], "text": "Sun and rain.", "type": "output_text", "logprobs": []}], "role": "assistant", "status": "completed", "type": "message"}', '2026-03-03 16:32:12'),
('user_2', '{"id": "__fake_id__", "content": [{"annotations": [], "text": "Hello!", "type": "output_text"}], "role": "assistant", "status": "completed", "type": "message"}', '2026-03-03 16:32:13'),
('user_2', '{"id": "ws_1", "type": "telepathy"}', '2026-03-03 16:32:14'),
('user_2', 'no item', '2026-03-03 16:32:15'),
('user_3', '"no item"', '2026-03-03 16:32:16');
