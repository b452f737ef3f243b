//! What agents read again after recorded compactions: against an independent script, and a session made for it.

use crate::made;
use crate::support::{files, python, shared};
use ctxsim::catalog::Catalog;
use ctxsim::corpus::{Corpus, ReadSettings, read};
use ctxsim::experiment::{Basis, ReadAgain, SourceStanding, read_again};
use ctxsim::measure::{Kinds, Recall, Wanted};
use ctxsim::trace::{CompactionRow, Evidence, MessageRow, PartKind, PartRow, Place, Reading, Reference, Trace};
use ctxsim::transcript::Role;
use std::path::{Path, PathBuf};

fn corpus(path: &Path) -> Corpus {
    let catalog = Catalog::builtin().unwrap();
    let settings = ReadSettings { wanted: Wanted { references: Recall::References, kinds: Kinds::Untold }, ..ReadSettings::new(&catalog) };
    let mut corpus = read(&[path.to_string_lossy().into_owned()], &settings).unwrap();
    // The conversation itself: what it started beside it has files of its own, or none.
    let longest = corpus.traces.iter().map(|trace| trace.messages.len()).max();
    corpus.traces.keep(|_, trace| Some(trace().messages.len()) == longest);
    corpus
}

fn counts(found: &ReadAgain, standing: SourceStanding) -> [u64; 2] {
    let groups = found.groups.iter().filter(|group| group.standing == standing && group.basis == Basis::Lines);
    groups.fold([0, 0], |sum, group| [sum[0] + group.results, sum[1] + group.again])
}

#[test]
fn what_was_read_again_is_what_an_independent_script_counts() {
    let Some(folder) = shared() else { return };
    let mut paths: Vec<PathBuf> = Vec::new();
    for name in ["pi", "claude-code"] {
        paths.extend(files(&folder.join("transcripts").join(name)).into_iter().filter(|path| path.is_file()));
    }
    let Some(text) = python("read_again.py", &paths) else { return };
    assert_eq!(text.lines().count(), paths.len());
    for (path, line) in paths.iter().zip(text.lines()) {
        let theirs: Vec<u64> = line.split('\t').skip(1).map(|cell| cell.parse().unwrap()).collect();
        let found = read_again(&corpus(path));
        let [removed, removed_again] = counts(&found, SourceStanding::Removed);
        let [kept, kept_again] = counts(&found, SourceStanding::Kept);
        let mine = [found.readings, found.repeated, removed, removed_again, kept, kept_again];
        for (mine, theirs) in mine.iter().zip(&theirs) {
            assert!(mine.abs_diff(*theirs) <= theirs / 20, "{}: {mine:?}, {theirs:?} of {line}", path.display());
        }
    }
}

/// Messages alternate between a reading call and its result; `requests` says what each call asks for.
fn session(requests: &[u32], events: &[(u32, Option<u32>)], references: &[(u32, u32)]) -> Corpus {
    let mut trace = Trace::default();
    for (place, request) in requests.iter().enumerate() {
        let message = place as u32 * 2;
        for (role, kind) in [(Role::Assistant, PartKind::ToolCall), (Role::Tool, PartKind::ToolResult)] {
            let first_part = trace.parts.len() as u32;
            trace.messages.push(MessageRow { first_part, part_count: 1, ..made::message(role) });
            trace.parts.push(PartRow { truth: 10, ..made::part(kind) });
        }
        trace.readings.push(Reading { message, result: Some(message + 1).into(), request: *request, file: None.into() });
    }
    trace.compactions =
        events.iter().map(|(before, kept_from)| CompactionRow { kept_from: *kept_from, ..made::compaction(*before) }).collect();
    trace.references = references
        .iter()
        .map(|(message, source)| Reference {
            message: *message,
            kind: Evidence::Line,
            weight: 1,
            sources: vec![Place::somewhere(*source)],
            beside: Vec::new(),
            summary: None,
        })
        .collect();
    Corpus { traces: vec![trace].into(), ..Corpus::default() }
}

fn group(found: &ReadAgain, standing: SourceStanding, basis: Basis, taken_up: bool) -> (u64, u64) {
    let mut mine = found.groups.iter().filter(|group| (group.standing, group.basis, group.taken_up) == (standing, basis, taken_up));
    mine.next().map_or((0, 0), |group| (group.results, group.again))
}

/// A file that is read four times: its second reading stands beside the first result, the third comes behind a compaction that took it away.
#[test]
fn files_count_what_stood_in_the_context_already() {
    let mut corpus = session(&[0, 1, 0, 0, 0], &[(6, None)], &[]);
    corpus.traces[0].readings.iter_mut().for_each(|reading| reading.file = Some(u32::from(reading.request == 1)).into());
    let found = ctxsim::experiment::files(&corpus);
    let told: Vec<_> = found.iter().map(|file| (file.file, file.readings, file.tokens, file.again, file.again_tokens)).collect();
    // Messages 0, 4, 6 and 8 read file 0, and the compaction is before message 6.
    assert_eq!(told, [(0, 4, 40, 2, 20), (1, 1, 10, 0, 0)]);
}

#[test]
fn a_reading_again_does_not_make_its_own_reference() {
    // Results stand in parts 1, 3, 5, 7; before message 8 all but the last go. 0 is asked for again at message 8, and taken up at 10, behind that; 1
    // is taken up at 8 without being asked for; 3 stays, and is asked for again at message 10.
    let found = read_again(&session(&[0, 1, 2, 3, 0, 3], &[(8, Some(6))], &[(8, 3), (10, 1)]));
    assert_eq!(group(&found, SourceStanding::Removed, Basis::Lines, true), (1, 0));
    assert_eq!(group(&found, SourceStanding::Removed, Basis::Lines, false), (2, 1));
    assert_eq!(group(&found, SourceStanding::Removed, Basis::LinesAnyTime, true), (2, 1));
    assert_eq!(group(&found, SourceStanding::Kept, Basis::Lines, false), (1, 1));
    assert_eq!((found.readings, found.repeated, found.compactions), (6, 2, 1));
    // What an earlier compaction took is not taken again, and what was kept is watched until the next one takes it.
    let found = read_again(&session(&[0, 1, 2, 3, 0, 3], &[(8, Some(6)), (10, None)], &[]));
    assert_eq!(counts(&found, SourceStanding::Removed), [5, 2]);
    assert_eq!(counts(&found, SourceStanding::Kept), [1, 0]);
    // No compaction: the middle stands for an event.
    let found = read_again(&session(&[0, 1, 2, 1], &[], &[(6, 3)]));
    assert_eq!(group(&found, SourceStanding::Undisturbed, Basis::Lines, false), (2, 1));
    assert_eq!(group(&found, SourceStanding::Undisturbed, Basis::LinesAnyTime, true), (0, 0));
}

#[test]
fn an_interval_holds_the_share() {
    let found = read_again(&session(&[0, 1, 2, 3, 0, 3], &[(8, Some(6))], &[]));
    for group in &found.groups {
        let (low, high) = group.interval().unwrap();
        let share = group.again * 1_000_000 / group.results;
        assert!(low <= share && share <= high && high <= 1_000_000);
    }
}
