use crate::support::{claim, fixture, in_short, project};
use ctxsim::format::Claim;

#[test]
fn lines_and_what_lies_beside_them_are_one_session() {
    let (transcripts, lost) = fixture("picoclaw/telegram_1.jsonl");
    assert_eq!(lost.len(), 1, "{lost:?}");
    let session = &transcripts[0];
    assert_eq!(session.id, "telegram:1");
    assert_eq!(in_short(session), ["u: One", "a: exec(c1)", "t: exec(c1)=", "a: ~0 | Done", "u: Two"]);
    assert_eq!((session.compactions[0].before, session.compactions[0].kept_from), (5, Some(4)));
    let beside = project().join("tests/data/picoclaw/telegram_1.meta.json");
    assert_eq!(claim(&beside), Some(("picoclaw", Claim::Companion)));
}

#[test]
fn an_older_session_begins_with_its_summary() {
    let (transcripts, lost) = fixture("picoclaw/older.json");
    assert_eq!(lost, []);
    assert_eq!(in_short(&transcripts[0]), ["u: Two", "a: Second"]);
    assert_eq!((transcripts[0].compactions[0].before, transcripts[0].compactions[0].kept_from), (0, Some(0)));
}
