use crate::support::compare_with_sources;

#[test]
fn real_conversations_agree_with_their_table_and_an_independent_count() {
    compare_with_sources("openai_chat_jsonl/", "openai-chat", "openai_chat.py");
    compare_with_sources("api_reqres_jsonl/openai_chat", "openai-chat", "openai_chat.py");
}
