use crate::support::{assert_lost, claim, fixture, in_short, project, prompts};
use ctxsim::format::Claim;
use ctxsim::transcript::Part;

const FIRST: &str = "mistral-vibe/session_20260801_100000_0a1b2c3d";

#[test]
fn the_last_request_has_the_usage_that_the_session_names() {
    let (transcripts, lost) = fixture(&format!("{FIRST}/messages.jsonl"));
    assert_eq!(lost, [("usage of the whole session and of its last call alone".to_owned(), 1)]);
    let session = &transcripts[0];
    let named = (session.id.as_str(), session.parent.as_deref(), session.project.as_ref().unwrap().folder.as_deref());
    assert_eq!(named, ("0a1b2c3d-0000-4000-8000-000000000001", None, Some("/home/ada/x")));
    let said = [
        "u: Look | 0x0",
        "a: ~0 | grep(c1)",
        "t: grep(c1)=",
        "*: <vibe_warning>You have used 50% of your total context</vibe_warning>",
        "a: Done",
    ];
    assert_eq!(in_short(session)[1..], said);
    assert!(matches!(&session.messages[0].parts[..], [Part::Text(_), Part::Tools(_)]));
    assert!(matches!(&session.messages[3].parts[0], Part::ToolResult { text, .. } if text.truncated));
    assert_eq!(prompts(session), [(0, 0), (900, 30)]);
    assert_eq!(session.messages[5].call.as_ref().unwrap().model, "mistral-vibe-cli-latest");
    assert_eq!((session.messages[0].time, session.messages[5].time), (Some(1_785_578_400_000), Some(1_785_578_409_000)));
    // A compaction begins a session of its own, with the summary first.
    let compaction = &session.compactions[0];
    assert_eq!((compaction.before, compaction.kept_from, compaction.call.is_some()), (1, Some(1), false));
    let about = project().join("tests/data").join(FIRST).join("meta.json");
    assert_eq!(claim(&about), Some(("mistral-vibe", Claim::Companion)));
}

#[test]
fn sub_agents_lie_below_the_session_that_started_them() {
    let (transcripts, lost) = fixture(&format!("{FIRST}/agents/explore_20260801_100002_9f8e7d6c/messages.jsonl"));
    assert!(lost.is_empty(), "{lost:?}");
    let session = &transcripts[0];
    assert_eq!(session.parent.as_deref(), Some("0a1b2c3d-0000-4000-8000-000000000001"));
    assert_eq!((prompts(session), session.messages[1].call.as_ref().unwrap().model.as_str()), (vec![(300, 9)], "unlisted"));
}

/// Before the first request behind it, the last one is the one that made the summary.
#[test]
fn a_session_that_has_a_summary_alone_names_what_that_took() {
    let (transcripts, lost) = fixture("mistral-vibe/session_20260801_100010_1b2c3d4e/messages.jsonl");
    assert_lost(&lost, &[("cut off at the end of the file", 1), ("message of an unknown role", 1), ("record of an unexpected shape", 1)]);
    let compaction = &transcripts[0].compactions[0];
    assert_eq!((in_short(&transcripts[0]), compaction.before), (vec!["u: More".to_owned()], 0));
    assert_eq!(compaction.call.as_ref().unwrap().usage.unwrap().prompt, 1100);
}

#[test]
fn the_first_version_wrote_one_document_a_session() {
    let (transcripts, lost) = fixture("mistral-vibe/session_20251210_100000_s0.json");
    assert_eq!(lost, [("absurd usage numbers".to_owned(), 1)]);
    assert_eq!(in_short(&transcripts[0])[1..], ["u: One", "a: First"]);
    assert_eq!((prompts(&transcripts[0]), transcripts[0].id.as_str()), (vec![(0, 0)], "s0"));
}

const STORED: &str = "mistral-vibe/unified/3f0a0000-0000-4000-8000-00000000000";

/// Version 3 keeps the context as it stands, in chunks, and a journal of what came since.
#[test]
fn a_store_holds_a_generation_and_the_journal_behind_it() {
    let (transcripts, lost) = fixture(&format!("{STORED}1/CURRENT"));
    assert_lost(&lost, &[("result that the journal does not hold", 1), ("usage of the whole session and of its last call alone", 1)]);
    let session = &transcripts[0];
    let named = (session.id.as_str(), session.parent.as_deref(), session.project.as_ref().unwrap().folder.as_deref());
    assert_eq!(named, ("3f0a0000-0000-4000-8000-000000000001", None, Some("/home/ada/x")));
    let said = [
        "s: Be good.",
        "u: Look | 0x0",
        "a: ~4 | I look | grep(c1)",
        "t: grep(c1)!",
        "a: Done",
        "u: More",
        "a: I run | bash(c2) | run_typescript(c3)",
        "t: bash(c2)=",
        "a: End",
    ];
    assert_eq!(in_short(session), said);
    assert_eq!(prompts(session), [(0, 0), (1000, 10), (2000, 30), (2100, 20)]);
    let usage = |at: usize| session.messages[at].call.as_ref().unwrap().usage.unwrap();
    assert_eq!((usage(4).cache_read, usage(6).cache_read), (5, 1500));
    assert_eq!(session.messages[8].call.as_ref().unwrap().model, "devstral-x");
    assert_eq!((session.messages[0].time, session.messages[8].time), (Some(1_795_600_000_000), Some(1_795_600_009_000)));
}

#[test]
fn a_store_holds_what_stands_behind_a_compaction() {
    let (transcripts, lost) = fixture(&format!("{STORED}2/CURRENT"));
    let core = "message in the journal that the core puts into words";
    assert_lost(&lost, &[(core, 1), ("usage of the whole session and of its last call alone", 1)]);
    let session = &transcripts[0];
    assert_eq!(session.parent.as_deref(), Some("3f0a0000-0000-4000-8000-000000000001"));
    assert_eq!(in_short(session)[2..], ["u: Hi", "a: Kept", "u: Go on", "a: On"]);
    assert_eq!(prompts(session), [(700, 10)]);
    let cuts: Vec<_> = session.compactions.iter().map(|cut| (cut.before, cut.kept_from, cut.call.is_some())).collect();
    assert_eq!(cuts, [(1, Some(1), false), (6, None, true)]);
    assert_eq!(session.compactions[1].call.as_ref().unwrap().usage.unwrap().prompt, 900);
}

#[test]
fn all_files_of_a_store_are_read_with_one() {
    let folder = project().join("tests/data").join(format!("{STORED}1"));
    assert_eq!(claim(&folder.join("CURRENT")), Some(("mistral-vibe", Claim::Yes)));
    let old = "generations/0000000000000007/manifest.json";
    for part in [old, "generations/0000000000000009/checkpoint.json", "journal/0000000000000010.jsonl"] {
        assert_eq!(claim(&folder.join(part)), Some(("mistral-vibe", Claim::Companion)), "{part}");
    }
    let chunks = std::fs::read_dir(folder.join("chunks")).unwrap();
    chunks.for_each(|chunk| assert_eq!(claim(&chunk.unwrap().path()), Some(("mistral-vibe", Claim::Companion))));
}
