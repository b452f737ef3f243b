//! Which sessions of the logs a run looks at: by the time of their last call, by the folder of their project.

use crate::list::{Gather, List};
use crate::trace::Trace;
use crate::transcript::{Transcript, project};
use globset::{Glob, GlobMatcher};
use std::collections::{BTreeMap, BTreeSet};

/// What is asked for. Nothing asked for takes every session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// The last call lies at this instant or later, in milliseconds since 1970.
    pub since: Option<i64>,
    /// The last call lies before this instant, in milliseconds since 1970.
    pub until: Option<i64>,
    /// The instant that `since` and `until` are counted back from; `None` where neither is relative.
    pub clock: Option<i64>,
    /// The project is one of these; empty for all.
    pub projects: Vec<ProjectPattern>,
}

/// A project as it is asked for: by the name of its folder, or by its path.
#[derive(Clone, Debug)]
pub struct ProjectPattern {
    /// Pattern as the user wrote it.
    pub words: String,
    glob: Option<GlobMatcher>,
}

/// What a selection left out, and what was there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selected {
    /// The dates and projects that were asked for.
    pub selection: Selection,
    /// Sessions before anything was left out.
    pub of: u64,
    /// Sessions of the projects that were asked for.
    pub of_projects: u64,
    /// Ids of sessions of these projects without any date. They are left out where a date is asked for.
    pub undated: Vec<String>,
    /// Ids of sessions whose log names no project. They are left out where a project is asked for.
    pub without_project: Vec<String>,
    /// The projects that the logs are of.
    pub known: Projects,
    /// The earliest and the latest last call of the sessions of these projects, in milliseconds since 1970; `None` without any date.
    pub last_calls: Option<(i64, i64)>,
}

/// Projects by their numbers, each with the folders that name it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Projects(BTreeMap<u64, BTreeSet<Named>>);

/// What a project is named by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Named {
    /// The folder that a log names.
    ByLog(String),
    /// Where no log names one, as in a `.ctxtrace`: the name of a folder in which logs of it lay; empty where that is not known.
    ByPlace(String),
}

/// A session's time and place, as far as its log has them.
#[derive(Clone, Copy)]
pub(super) struct Whereabouts<'a> {
    pub id: &'a str,
    /// The last call, in milliseconds since 1970.
    pub last_call: Option<i64>,
    pub number: Option<u64>,
    pub folder: Option<&'a str>,
    /// The file that it was read from.
    pub source: &'a str,
}

impl PartialEq for ProjectPattern {
    fn eq(&self, other: &ProjectPattern) -> bool {
        self.words == other.words
    }
}

impl ProjectPattern {
    /// A name, a path, or a pattern with `*` of either. Fails with the reason where it is no pattern.
    pub fn parse(words: &str) -> Result<ProjectPattern, String> {
        let is_glob = words.contains(PATTERN);
        let glob = is_glob.then(|| Glob::new(words).map(|glob| glob.compile_matcher()).map_err(|error| error.to_string())).transpose()?;
        Ok(ProjectPattern { words: words.to_owned(), glob })
    }

    /// Is the session of this project? A path means the folders below it too, and the end of one its own folder. Without the folder, as in a `.ctxtrace`, the number
    /// of the whole path decides, or what [`Projects::labels`] makes of place and number.
    fn is(&self, session: &Whereabouts<'_>) -> bool {
        let words = self.words.trim_end_matches(SEPARATORS);
        // A worktree is of the project of its repository.
        let of_project = project(words).filter(|_| self.glob.is_none()).and_then(|known| known.folder);
        let words = of_project.as_deref().unwrap_or(words);
        let Some(number) = session.number else { return false };
        let (is_path, folder) = (self.words.contains(SEPARATORS), session.folder.map(|folder| folder.trim_end_matches(SEPARATORS)));
        let named = folder.map_or(place_of(session.source), |folder| if is_path { folder } else { name_of(folder) });
        let is_end = || is_path && named.strip_suffix(words).is_some_and(|above| above.ends_with(SEPARATORS));
        let is_below = || self.glob.is_none() && named.strip_prefix(words).is_some_and(|below| below.starts_with(SEPARATORS));
        let is_known = || match folder {
            Some(_) => is_end() || is_below(),
            None => project(words).is_some_and(|known| known.number == number),
        };
        let is_numbered = || words.rsplit_once(':').is_some_and(|(_, end)| end == short(number));
        let is_named = !named.is_empty() && (named == words || self.glob.as_ref().is_some_and(|glob| glob.is_match(named)));
        is_named || is_known() || is_numbered()
    }
}

impl Projects {
    /// Notes the project of a session, if it has one.
    pub fn add(&mut self, trace: &Trace) {
        self.note(&trace.into());
    }

    fn note(&mut self, session: &Whereabouts<'_>) {
        let by_place = || Named::ByPlace(place_of(session.source).to_owned());
        let named = || session.folder.map_or_else(by_place, |folder| Named::ByLog(folder.trim_end_matches(SEPARATORS).to_owned()));
        if let Some(number) = session.number {
            self.0.entry(number).or_default().insert(named());
        }
    }

    /// What each project is called, as [`ProjectPattern`] takes it: the name of its folder; where others have the same, so much of the end of its path that they
    /// have not; where no log names its folder and its place does not tell it from others, with a part of its number.
    pub fn labels(&self) -> BTreeMap<u64, String> {
        // By the end of a path the project that alone has it; `None` where several do.
        let mut owners: BTreeMap<&str, Option<u64>> = BTreeMap::new();
        for (number, named) in self.0.iter().flat_map(|(number, all)| all.iter().map(move |named| (*number, named))) {
            for end in ends(named.path()) {
                owners.entry(end).and_modify(|owner| *owner = owner.filter(|owner| *owner == number)).or_insert(Some(number));
            }
        }
        let label = |(number, named): (&u64, &BTreeSet<Named>)| {
            let named = named.first().filter(|_| named.len() == 1);
            let name = named.map(|named| name_of(named.path())).filter(|name| !name.is_empty());
            let is_alone = |end: &str| !end.contains(PATTERN) && owners.get(end) == Some(&Some(*number));
            let label = match (named, name) {
                (_, Some(name)) if is_alone(name) => name.to_owned(),
                (Some(Named::ByLog(folder)), _) if ends(folder).any(is_alone) => {
                    ends(folder).find(|end| is_alone(end)).unwrap_or(folder).to_owned()
                }
                (_, name) => format!("{}:{}", name.filter(|name| !name.contains(PATTERN)).unwrap_or("project"), short(*number)),
            };
            (*number, label)
        };
        self.0.iter().map(label).gather()
    }
}

impl Named {
    /// The path of the folder, or its name.
    fn path(&self) -> &str {
        let (Named::ByLog(path) | Named::ByPlace(path)) = self;
        path
    }
}

/// The ends of a path, the shortest first: one folder, two folders, ..., the whole of it.
fn ends(path: &str) -> impl Iterator<Item = &str> {
    path.rmatch_indices(SEPARATORS).filter_map(|(place, _)| path.get(place + 1..)).chain([path])
}

/// The name of the folder in which a file lies; empty where its path has none.
fn place_of(source: &str) -> &str {
    source.rsplit(SEPARATORS).nth(1).unwrap_or_default()
}

/// Enough of a project's number to tell it from others.
fn short(number: u64) -> String {
    format!("{:08x}", number >> 32)
}

const SEPARATORS: [char; 2] = ['/', '\\'];

/// What makes words a pattern.
const PATTERN: [char; 4] = ['*', '?', '[', '{'];

/// The name of a project's folder.
fn name_of(folder: &str) -> &str {
    folder.trim_end_matches(SEPARATORS).rsplit(SEPARATORS).next().unwrap_or(folder)
}

impl Selection {
    /// Does the selection ask for a date or a project?
    pub fn is_asked(&self) -> bool {
        self.is_dated() || !self.projects.is_empty()
    }

    fn is_dated(&self) -> bool {
        self.since.is_some() || self.until.is_some()
    }

    /// Does this instant, in milliseconds since 1970, lie in the range? Sessions are taken whole; what is counted by day is cut by this.
    pub fn holds(&self, millis: i64) -> bool {
        self.since.is_none_or(|since| millis >= since) && self.until.is_none_or(|until| millis < until)
    }

    /// Leaves the sessions that are asked for, and notes what was left out; `None` where nothing is asked for.
    pub(super) fn take(&self, traces: &mut List<Trace>) -> Option<Selected> {
        let mut selected = Selected::by(self);
        if self.is_asked() {
            traces.keep(|_, trace| selected.takes((&trace()).into()));
        }
        Some(selected).filter(|_| self.is_asked())
    }
}

impl<'a> From<&'a Trace> for Whereabouts<'a> {
    fn from(trace: &'a Trace) -> Whereabouts<'a> {
        Whereabouts {
            id: &trace.id,
            last_call: trace.last_call(),
            number: trace.project,
            folder: trace.folder.as_deref(),
            source: &trace.source,
        }
    }
}

impl<'a> Whereabouts<'a> {
    /// Those of a session that was read from this file.
    pub(super) fn of(session: &'a Transcript, source: &'a str) -> Whereabouts<'a> {
        let calls = session.messages.each().rev().filter(|message| message.call.is_some()).find_map(|message| message.time);
        let last_call = calls.or_else(|| session.messages.each().rev().find_map(|message| message.time));
        let project = session.project.as_ref();
        let folder = project.and_then(|project| project.folder.as_deref());
        Whereabouts { id: &session.id, last_call, number: project.map(|project| project.number), folder, source }
    }
}

impl Selected {
    /// Counts of a selection that has looked at no session yet.
    pub(super) fn by(selection: &Selection) -> Selected {
        Selected { selection: selection.clone(), ..Selected::default() }
    }

    /// Is the session taken? Counts it either way.
    pub(super) fn takes(&mut self, session: Whereabouts<'_>) -> bool {
        self.of += 1;
        self.known.note(&session);
        let projects = &self.selection.projects;
        if !projects.is_empty() && session.number.is_none() {
            self.without_project.push(session.id.to_owned());
            return false;
        }
        if !projects.is_empty() && !projects.iter().any(|pattern| pattern.is(&session)) {
            return false;
        }
        self.of_projects += 1;
        match session.last_call {
            Some(last) => {
                let (first, latest) = self.last_calls.unwrap_or((last, last));
                self.last_calls = Some((first.min(last), latest.max(last)));
                self.selection.holds(last)
            }
            None if self.selection.is_dated() => {
                self.undated.push(session.id.to_owned());
                false
            }
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_in(words: &str, number: u64, folder: Option<&str>, source: &str) -> bool {
        let session = Whereabouts { id: "s", last_call: None, number: Some(number), folder, source };
        ProjectPattern::parse(words).is_ok_and(|pattern| pattern.is(&session))
    }

    fn is(words: &str, folder: &str) -> bool {
        is_in(words, 1, Some(folder), "")
    }

    #[test]
    fn projects_by_name_path_and_pattern() {
        assert!(
            is("shop", "/home/me/shop") && is("shop", "C:\\work\\shop\\") && !is("shop", "/home/me/shop/web") && !is("shop", "/shop-2")
        );
        assert!(is("/home/me", "/home/me/shop") && is("/home/me/shop/", "/home/me/shop") && !is("/home/me/sh", "/home/me/shop"));
        assert!(is("sh*", "/home/me/shop") && !is("sh*", "/shops/me") && is("/home/**", "/home/me/shop"));
        assert!(ProjectPattern::parse("sh[").is_err());
        let by_number = |words: &str, path: &str| is_in(words, project(path).map_or(0, |known| known.number), None, "");
        assert!(by_number("/home/me/shop/", "/home/me/shop") && !by_number("shop", "/home/me/shop"));
    }

    /// Whatever a project is called is taken for it, and for no other one.
    #[test]
    fn a_label_is_a_pattern_of_its_project_alone() {
        let numbered = |path: &str| project(path).map_or(0, |known| known.number);
        let logs = ["/home/x/cli", "/home/y/cli", "/home/x/shop", "C:\\x\\web", "/web"].map(|path| (numbered(path), Some(path), ""));
        let placed = [
            (u64::MAX, None, "a/-home-ada/1.jsonl"),
            (7 << 32, None, "same/2.jsonl"),
            (8 << 32, None, "same/3.jsonl"),
            (9 << 32, None, "4.jsonl"),
            // A folder that would be a pattern, and logs of one project in several folders, one of which another project's lie in.
            (10 << 32, Some("/home/sh*"), ""),
            (11 << 32, None, "same/5.jsonl"),
            (11 << 32, None, "b/6.jsonl"),
        ];
        let mut projects = Projects::default();
        for (number, folder, source) in logs.into_iter().chain(placed) {
            projects.note(&Whereabouts { id: "s", last_call: None, number: Some(number), folder, source });
        }
        let labels = projects.labels();
        for (number, label) in &labels {
            let taken = logs.iter().chain(&placed).filter(|(number, folder, source)| is_in(label, *number, *folder, source));
            assert_eq!(taken.map(|(number, ..)| number).collect::<BTreeSet<_>>(), BTreeSet::from([number]), "{label}");
        }
        let expected = [
            "-home-ada",
            "/web",
            "project:00000009",
            "project:0000000a",
            "project:0000000b",
            "same:00000007",
            "same:00000008",
            "shop",
            "x/cli",
            "x\\web",
            "y/cli",
        ];
        assert_eq!(labels.into_values().collect::<BTreeSet<_>>(), BTreeSet::from(expected.map(str::to_owned)));
    }
}
