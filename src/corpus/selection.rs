//! Which sessions of the logs a run looks at: by the time of their last call, by the folder of their project.

use crate::list::List;
use crate::trace::Trace;
use crate::transcript::{Transcript, project};
use globset::{Glob, GlobMatcher};
use std::collections::BTreeSet;

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
    /// The folders that the logs name as projects.
    pub known: BTreeSet<String>,
    /// The earliest and the latest last call of the sessions of these projects, in milliseconds since 1970; `None` without any date.
    pub last_calls: Option<(i64, i64)>,
}

/// A session's time and place, as far as its log has them.
#[derive(Clone, Copy)]
pub(super) struct Whereabouts<'a> {
    pub id: &'a str,
    /// The last call, in milliseconds since 1970.
    pub last_call: Option<i64>,
    pub number: Option<u64>,
    pub folder: Option<&'a str>,
}

impl PartialEq for ProjectPattern {
    fn eq(&self, other: &ProjectPattern) -> bool {
        self.words == other.words
    }
}

impl ProjectPattern {
    /// A name, a path, or a pattern with `*` of either. Fails with the reason where it is no pattern.
    pub fn parse(words: &str) -> Result<ProjectPattern, String> {
        let is_glob = words.contains(['*', '?', '[', '{']);
        let glob = is_glob.then(|| Glob::new(words).map(|glob| glob.compile_matcher()).map_err(|error| error.to_string())).transpose()?;
        Ok(ProjectPattern { words: words.to_owned(), glob })
    }

    /// Is it this project? A path means the folders below it too. Without the folder, as in a `.ctxtrace`, the number of the whole path decides.
    fn is(&self, number: Option<u64>, folder: Option<&str>) -> bool {
        let words = self.words.trim_end_matches(SEPARATORS);
        let Some(folder) = folder.map(|folder| folder.trim_end_matches(SEPARATORS)) else {
            return number.is_some() && project(words).map(|known| known.number) == number;
        };
        let named = if self.words.contains(SEPARATORS) { folder } else { name_of(folder) };
        match &self.glob {
            Some(glob) => glob.is_match(named),
            None => named == words || named.strip_prefix(words).is_some_and(|below| below.starts_with(SEPARATORS)),
        }
    }
}

const SEPARATORS: [char; 2] = ['/', '\\'];

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
        Whereabouts { id: &trace.id, last_call: trace.last_call(), number: trace.project, folder: trace.folder.as_deref() }
    }
}

impl<'a> From<&'a Transcript> for Whereabouts<'a> {
    fn from(session: &'a Transcript) -> Whereabouts<'a> {
        let calls = session.messages.iter().rev().filter(|message| message.call.is_some()).find_map(|message| message.time);
        let last_call = calls.or_else(|| session.messages.iter().rev().find_map(|message| message.time));
        let project = session.project.as_ref();
        let folder = project.and_then(|project| project.folder.as_deref());
        Whereabouts { id: &session.id, last_call, number: project.map(|project| project.number), folder }
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
        self.known.extend(session.folder.map(str::to_owned));
        let projects = &self.selection.projects;
        if !projects.is_empty() && session.number.is_none() {
            self.without_project.push(session.id.to_owned());
            return false;
        }
        if !projects.is_empty() && !projects.iter().any(|pattern| pattern.is(session.number, session.folder)) {
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

    /// The names of the projects that the logs know, each once.
    pub fn names(&self) -> BTreeSet<&str> {
        self.known.iter().map(|folder| name_of(folder)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(words: &str, folder: &str) -> bool {
        ProjectPattern::parse(words).is_ok_and(|pattern| pattern.is(Some(1), Some(folder)))
    }

    #[test]
    fn projects_by_name_path_and_pattern() {
        assert!(
            is("shop", "/home/me/shop") && is("shop", "C:\\work\\shop\\") && !is("shop", "/home/me/shop/web") && !is("shop", "/shop-2")
        );
        assert!(is("/home/me", "/home/me/shop") && is("/home/me/shop/", "/home/me/shop") && !is("/home/me/sh", "/home/me/shop"));
        assert!(is("sh*", "/home/me/shop") && !is("sh*", "/shops/me") && is("/home/**", "/home/me/shop"));
        assert!(ProjectPattern::parse("sh[").is_err());
        let by_number = |words: &str, path: &str| {
            ProjectPattern::parse(words).is_ok_and(|pattern| pattern.is(project(path).map(|known| known.number), None))
        };
        assert!(by_number("/home/me/shop/", "/home/me/shop") && !by_number("shop", "/home/me/shop"));
    }
}
