//! Where output goes, by the name that is typed for `-o`: one rule for all commands.

use super::door::is_stdout;
use super::failure::Failure;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::fs;
use std::path::{Path, PathBuf};

/// What a file is, by the end of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Json,
    Jsonl,
    Csv,
    Md,
    Html,
    Svg,
    Png,
    Txt,
    Toml,
    Ctxtrace,
}

/// All endings that name a file.
const ENDINGS: [(&str, Ending); 10] = [
    ("json", Ending::Json),
    ("jsonl", Ending::Jsonl),
    ("csv", Ending::Csv),
    ("md", Ending::Md),
    ("html", Ending::Html),
    ("svg", Ending::Svg),
    ("png", Ending::Png),
    ("txt", Ending::Txt),
    ("toml", Ending::Toml),
    ("ctxtrace", Ending::Ctxtrace),
];

/// What a command can write.
#[derive(Clone, Copy, Debug)]
pub struct Writes {
    /// Files, the first of them to a device, which has no ending; empty where it writes folders alone.
    pub files: &'static [Ending],
    /// Does the command fill a folder with files?
    pub folder: bool,
}

/// What is typed where a command writes one thing.
pub const OUTPUT: &str = "-o";

/// Files that belong together.
pub const FOLDER: Writes = Writes { files: &[], folder: true };

/// Standard output, a file or a folder, by the name behind `-o`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Printed,
    File(PathBuf, Ending),
    Folder(PathBuf),
}

impl Ending {
    /// The name of a file of this kind.
    pub fn file(self, stem: &str) -> String {
        format!("{stem}.{}", self.name())
    }

    fn name(self) -> &'static str {
        ENDINGS.iter().find(|(_, ending)| *ending == self).map_or("", |(name, _)| name)
    }

    /// What `--format` calls it.
    fn form(self) -> &'static str {
        match self {
            Ending::Md => "markdown",
            Ending::Txt => "table",
            other => other.name(),
        }
    }
}

/// The values of `--format` of a command that writes these.
pub fn forms(writes: &Writes) -> impl TypedValueParser<Value = Ending> + use<> {
    let files = writes.files;
    let named = move |name: String| files.iter().copied().find(|ending| ending.form() == name).unwrap_or(Ending::Txt);
    PossibleValuesParser::new(files.iter().map(|ending| ending.form()).collect::<Vec<_>>()).map(named)
}

impl Target {
    /// What the path behind an option means: `-` is standard output, a folder is what is one or ends in `/`, a file has an ending that is known.
    /// A device, which has none, gets the form that is asked for. Fails where the path is none of these, or nothing that this command
    /// writes, or of another form than the one that is asked for.
    pub fn of(option: &str, path: &Path, writes: &Writes, asked: Option<Ending>) -> Result<Target, Failure> {
        if is_stdout(path) {
            return Ok(Target::Printed);
        }
        let refused = |why: &str| Err(Failure::Usage(format!("`{option} {}`: {why}; {}", path.display(), writes.choices())));
        let is_device = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
        if let Some(first) = writes.files.first().filter(|_| is_device) {
            return Ok(Target::File(path.to_owned(), asked.unwrap_or(*first)));
        }
        if path.is_dir() || path.to_string_lossy().ends_with(std::path::is_separator) {
            return if writes.folder { Ok(Target::Folder(path.to_owned())) } else { refused("it is a folder") };
        }
        let end = path.extension().map(|end| end.to_string_lossy().to_lowercase());
        let known = ENDINGS.iter().find(|(name, _)| end.as_deref() == Some(name)).map(|(_, ending)| *ending);
        match known {
            Some(ending) if !writes.files.contains(&ending) => refused(&format!("no .{} is written here", ending.name())),
            Some(ending) if asked.is_some_and(|asked| asked != ending) => Err(Failure::Usage(format!(
                "`{option} {}` is written in the form that its name ends in: leave out the other one that is asked for",
                path.display()
            ))),
            Some(ending) => Ok(Target::File(path.to_owned(), ending)),
            None => refused("its name says neither a folder nor what kind of file"),
        }
    }

    /// The folder, where it is one.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Target::Folder(folder) => Some(folder),
            _ => None,
        }
    }
}

impl Writes {
    /// "name a file that ends in .json or .csv, a folder that ends in `/`, or `-`".
    fn choices(&self) -> String {
        let endings: Vec<String> = self.files.iter().map(|ending| format!(".{}", ending.name())).collect();
        let file = match endings.as_slice() {
            [] => None,
            [only] => Some(format!("a file that ends in {only}")),
            [first @ .., last] => Some(format!("a file that ends in {} or {last}", first.join(", "))),
        };
        let folder = self.folder.then(|| "a folder with `/` at its end".to_owned());
        let places: Vec<String> = file.into_iter().chain(folder).collect();
        format!("name {}, or `-` for standard output", places.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_is_written() {
        let report = Writes { files: &[Ending::Json, Ending::Csv], folder: true };
        let of = |path: &str| Target::of(OUTPUT, Path::new(path), &report, None);
        let file = |path: &str, ending| Target::File(PathBuf::from(path), ending);
        assert!(matches!(of("-"), Ok(Target::Printed)));
        assert!(matches!(of("x/y.json"), Ok(known) if known == file("x/y.json", Ending::Json)));
        assert!(matches!(of("X.CSV"), Ok(known) if known == file("X.CSV", Ending::Csv)));
        assert!(matches!(of("src"), Ok(Target::Folder(_))) && matches!(of("new.json/"), Ok(Target::Folder(_))));
        let said = |path: &str, writes: &Writes| match Target::of(OUTPUT, Path::new(path), writes, Some(Ending::Csv)) {
            Err(Failure::Usage(sentence)) => sentence,
            other => format!("{other:?}"),
        };
        let name = "name a file that ends in .json or .csv, a folder with `/` at its end, or `-` for standard output";
        assert_eq!(said("new", &report), format!("`-o new`: its name says neither a folder nor what kind of file; {name}"));
        assert_eq!(said("x.svg", &report), format!("`-o x.svg`: no .svg is written here; {name}"));
        assert!(said("x.json", &report).starts_with("`-o x.json` is written in the form that its name ends in"));
        let log = Writes { files: &[Ending::Jsonl], folder: false };
        assert!(said("src/", &log).starts_with("`-o src/`: it is a folder; name a file that ends in .jsonl, or"));
        assert!(said("x.json", &Writes { files: &[], folder: true }).contains("no .json is written here; name a folder with"));
    }
}
