//! Changes of files: which lines are replaced, and by what.

use super::project::Project;
use super::random::Random;
use super::words::{NOUNS, VERBS};

/// A stretch of a file that the model has seen since its context was last rewritten.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Relative to the project.
    pub path: String,
    /// Index of the first line.
    pub from: usize,
    /// Index after the last line.
    pub to: usize,
}

/// One replacement.
#[derive(Clone, Debug)]
pub struct Change {
    /// Relative to the project.
    pub path: String,
    /// Index of the first line that goes.
    pub at: usize,
    /// The lines that go.
    pub old: Vec<String>,
    /// The lines that come.
    pub new: Vec<String>,
}

impl Change {
    /// A change of two to five lines inside a stretch; the old lines stand only once in the file.
    pub fn propose(random: &mut Random, project: &Project, seen: &Seen) -> Option<Change> {
        let lines = project.lines(&seen.path);
        let end = seen.to.min(lines.len());
        let text = lines.join("\n");
        for _ in 0..20 {
            let length = random.between(2, 5) as usize;
            if end < seen.from + length {
                return None;
            }
            let at = seen.from + random.index(end - seen.from - length + 1);
            let old = lines[at..at + length].to_vec();
            let quoted = old.join("\n");
            let telling = old.iter().filter(|line| line.trim().len() >= 30).count() >= 2;
            if telling && !old[0].is_empty() && text.matches(quoted.as_str()).count() == 1 {
                let new = rewritten(random, &old);
                return Some(Change { path: seen.path.clone(), at, old, new });
            }
        }
        None
    }

    /// Carries the change out.
    pub fn apply(&self, project: &mut Project) {
        if let Some(lines) = project.files.get_mut(&self.path) {
            lines.splice(self.at..self.at + self.old.len(), self.new.iter().cloned());
        }
    }
}

/// The same lines with another number in each, and one more line after the first.
fn rewritten(random: &mut Random, old: &[String]) -> Vec<String> {
    let mut new = Vec::new();
    for (index, line) in old.iter().enumerate() {
        match line.find(|letter: char| letter.is_ascii_digit()) {
            Some(place) => {
                let rest = line[place..].trim_start_matches(|letter: char| letter.is_ascii_hexdigit() || letter == 'x');
                new.push(format!("{}{}{rest}", &line[..place], random.between(3, 88_888)));
            }
            None => new.push(line.clone()),
        }
        if index == 0 {
            let indent = &line[..line.len() - line.trim_start().len()];
            let noun = random.pick(NOUNS);
            new.push(format!(
                "{indent}# Keep the {noun} until {}_{noun} has confirmed sequence {}.",
                random.pick(VERBS),
                random.between(100, 9999)
            ));
        }
    }
    new
}
