use crate::support::compare_with_sources;

#[test]
fn real_rollouts_agree_with_their_table_and_an_independent_count() {
    compare_with_sources("codex/", "codex", "codex.py");
}
