use crate::support::compare_with_sources;

#[test]
fn real_chats_agree_with_their_table_and_an_independent_count() {
    compare_with_sources("gemini-cli/", "gemini-cli", "gemini_cli.py");
}
