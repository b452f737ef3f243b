use crate::support::compare_with_sources;

#[test]
fn real_runs_agree_with_their_table_and_an_independent_count() {
    compare_with_sources("mini_swe_traj/", "mini-swe-agent", "mini_swe_agent.py");
}
