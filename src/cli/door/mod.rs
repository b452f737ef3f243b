//! The one door to files: every byte that a command writes goes through here, by one rule.
//!
//! A file is written nowhere among an agent's sessions, over nothing that this run reads, over no file that is there already unless
//! `--force` says so or it is our own and unchanged, in place of no device, and through no link out of the project that holds it.
//! It is whole under its name, or not there.

mod manifest;
mod rows;
mod spool;
mod spot;

pub use rows::{Lines, Rows};
pub use spool::{Scratch, before_the_end, withstand_limits};
pub use spot::is_stdout;

use super::config::{Project, innermost};
use super::content::Content;
use super::failure::{Failure, tell};
pub use super::heading::{SHOWS, WRITES};
use super::print::print_content;
use super::progress::Phase;
use crate::corpus::{discover, is_log};
use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Command};
use manifest::Manifest;
use spool::{Spool, Waiting};
use spot::{Identity, Spot, There, Way};
use std::cell::OnceCell;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// An option whose file is read, and written where the other one is typed.
const WRITTEN_WITH: (&str, &str) = ("baseline", "update_baseline");

/// The options that name logs.
const LOGS: [&str; 2] = ["logs", "corpus"];

/// What else may be in a folder that a command fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Company {
    /// Whatever is there, as long as no name is taken.
    Any,
    /// What the command itself wrote before.
    Own,
    /// Nothing: a folder that holds other files is refused.
    Nothing,
}

/// What a run may write, and where.
pub struct Door {
    force: bool,
    quiet: bool,
    /// The options that write, by their ids.
    marked: Vec<String>,
    /// The options whose values a project's file has set.
    borrowed: Vec<String>,
    /// The logs: files, folders, globs.
    logs: Vec<String>,
    /// Whatever else was named for options that are read, files and words that are none.
    read: Vec<PathBuf>,
    spool: Spool,
}

/// A place for a file that may be written.
pub enum Place {
    Printed,
    /// The null device, which keeps nothing.
    Nowhere,
    File(Spot),
}

/// The file that was there before is of our own kind, and may be written over.
pub type Own<'a> = &'a dyn Fn(&Path) -> bool;

/// All files that this run reads, found when the first place is looked at where something is already.
#[derive(Default)]
struct Inputs(OnceCell<HashSet<Identity>>);

/// For commands that write over no file of their own kind.
pub const NONE_IS_OWN: Own<'static> = &|_| false;

impl Door {
    /// The door for a command as it was typed.
    pub fn of(command: &Command, matches: &ArgMatches, project: Option<&Project>) -> Door {
        let below = matches.subcommand_name().unwrap_or_default();
        let (command, matches) = innermost(command, matches);
        let flag = |id: &str| matches.try_get_one::<bool>(id).ok().flatten().copied().unwrap_or(false);
        let mut door = Door {
            force: flag("force"),
            quiet: flag("quiet"),
            marked: Vec::new(),
            borrowed: Vec::new(),
            logs: Vec::new(),
            read: project.map(|project| project.path().to_owned()).into_iter().collect(),
            spool: Spool::default(),
        };
        for option in command.get_arguments() {
            let id = option.get_id().as_str();
            let is_written = id == WRITTEN_WITH.0 && flag(WRITTEN_WITH.1);
            let is_default = matches.value_source(id).is_some_and(|source| source == ValueSource::DefaultValue);
            if is_default && project.is_some_and(|project| project.sets(below, option)) {
                door.borrowed.push(id.to_owned());
            }
            if option.get_help_heading() == Some(WRITES) {
                door.marked.push(id.to_owned());
            } else if !is_written && matches!(option.get_action(), ArgAction::Set | ArgAction::Append) {
                let values = matches.try_get_raw(id).ok().flatten().into_iter().flatten();
                match LOGS.contains(&id) {
                    true => door.logs.extend(values.map(|value| value.to_string_lossy().into_owned())),
                    false => door.read.extend(values.map(PathBuf::from)),
                }
            }
        }
        door
    }

    /// Says what was written, unless `--quiet` is typed.
    pub fn tell(&self, sentence: &str) {
        if !self.quiet {
            tell(sentence);
        }
    }

    /// A phase that is shown while it lasts, unless `--quiet` is typed.
    pub fn phase(&self, name: &str) -> Phase {
        Phase::begin(name, self.quiet)
    }

    /// An option that says where something is written must have been typed.
    pub fn typed(&self, option: &str) -> Result<(), Failure> {
        match self.borrowed.iter().any(|id| id == option) {
            true => Err(Failure::Usage(format!(
                "--{option} stands in a project's file, which says what is read and never where something is written: type it"
            ))),
            false => Ok(()),
        }
    }

    /// May a file be written here? `own` says whether one that is there is of our own kind.
    pub fn file(&self, option: &str, path: &Path, own: Own<'_>) -> Result<Place, Failure> {
        self.mark(option)?;
        let spot = match spot::file(path)? {
            Way::Printed => return Ok(Place::Printed),
            Way::Nowhere => return Ok(Place::Nowhere),
            Way::Spot(spot) => spot,
        };
        self.admit(&spot, &Inputs::default(), &|| own(&spot.real))?;
        Ok(Place::File(spot))
    }

    /// Writes files: all beside their places first, then each is put in place at once.
    pub fn put(&self, files: &[(&Place, &Content<'_>)]) -> Result<(), Failure> {
        let mut waiting = Vec::new();
        for (place, content) in files {
            match place {
                Place::Printed => print_content(content)?,
                Place::Nowhere => {}
                Place::File(spot) => waiting.push(self.wait(spot, content)?),
            }
        }
        self.spool.settle(waiting).map_err(|(place, error)| Failure::writing(&place, &error))
    }

    /// May these files be written into this folder, and the list of them, which is the last? `None` where the folder is standard output.
    pub fn folder(&self, option: &str, folder: &Path, company: Company, names: &[String]) -> Result<Option<Vec<Spot>>, Failure> {
        self.mark(option)?;
        let Some(real) = spot::folder(folder)? else { return Ok(None) };
        let manifest = Manifest::of(&real);
        let strangers = || fs::read_dir(&real).is_ok_and(|entries| entries.flatten().any(|entry| !spool::is_leftover(&entry.file_name())));
        let complaint = match company {
            Company::Own if manifest.is_none() && !self.force && strangers() => "holds other things than a report of ctxsim",
            Company::Nothing if !self.force && strangers() => "is not empty",
            _ => "",
        };
        if !complaint.is_empty() {
            let named = folder.display();
            return Err(Failure::Usage(format!("{named} {complaint}: name another folder with -o, or write among them with --force")));
        }
        let mut spots = Vec::new();
        let (inputs, mut seen) = (Inputs::default(), real.clone());
        for name in names {
            // What is shown is the path as it was typed; what is looked at is where that leads.
            let spot = spot::inside(folder, &real, name, &mut seen)?;
            self.admit(&spot, &inputs, &|| manifest.as_ref().is_some_and(|manifest| manifest.holds(name, &spot.real)))?;
            spots.push(spot);
        }
        let list = spot::inside(folder, &real, manifest::NAME, &mut seen)?;
        self.admit(&list, &inputs, &|| manifest.is_some())?;
        spots.push(list);
        Ok(Some(spots))
    }

    /// Writes files into a folder, with a list of them by which they are known as our own the next time. False where the folder is standard
    /// output, and nothing was written.
    pub fn fill(&self, option: &str, folder: &Path, company: Company, files: &[(String, Content<'_>)]) -> Result<bool, Failure> {
        let names: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
        let Some(spots) = self.folder(option, folder, company, &names)? else { return Ok(false) };
        let Some(real) = spot::folder(folder)? else { return Ok(false) };
        let [spots @ .., list] = spots.as_slice() else { return Ok(false) };
        let done = self.settle_in_folder(&spots.iter().zip(files).collect::<Vec<_>>(), list, Manifest::of(&real).unwrap_or_default());
        if done.is_err() {
            self.spool.take_back_folders();
        }
        done.map(|()| true)
    }

    fn settle_in_folder(&self, files: &[(&Spot, &(String, Content<'_>))], list: &Spot, mut manifest: Manifest) -> Result<(), Failure> {
        let mut waiting = Vec::new();
        for (spot, (name, content)) in files {
            self.make_folder(spot)?;
            let file = self.wait(spot, content)?;
            manifest.announce(name, file.hash());
            waiting.push(file);
        }
        // The list goes first, with the old content of each file and the new: whenever the run is killed, what is there is known as ours.
        let announced = manifest.text();
        manifest.settle();
        let (settled, listed) = (manifest.text(), Spot { there: There::File, ..list.clone() });
        self.make_folder(list)?;
        waiting.insert(0, self.wait(list, &announced.as_str().into())?);
        if settled != announced {
            waiting.push(self.wait(&listed, &settled.into())?);
        }
        self.spool.settle(waiting).map_err(|(place, error)| Failure::writing(&place, &error))
    }

    fn make_folder(&self, spot: &Spot) -> Result<(), Failure> {
        let folder = spot.real.parent().unwrap_or(&spot.real);
        self.spool.folder(folder).map_err(|error| Failure::writing(folder, &error))
    }

    /// A file of rows, which grows: one that is new, or one that is there already and is gone on with.
    pub fn rows(&self, option: &str, path: &Path, resume: bool) -> Result<Rows, Failure> {
        self.mark(option)?;
        let spot = match spot::file(path)? {
            Way::Printed => return Ok(Rows::New(Box::new(std::io::stdout()))),
            Way::Nowhere => return Ok(Rows::New(Box::new(std::io::sink()))),
            Way::Spot(spot) => spot,
        };
        if spot.there == There::Link {
            return Err(Failure::Usage(format!(
                "{} is a link, which rows are not written through: name the file that it leads to",
                path.display()
            )));
        }
        if resume && spot.there == There::File {
            self.admit(&spot, &Inputs::default(), &|| true)?;
            return rows::there(&spot).map_err(|error| Failure::writing(path, &error));
        }
        if spot.there == There::File && !self.force {
            let named = path.display();
            return Err(Failure::Usage(format!(
                "{named} is there already: --resume goes on with it, another name begins a new one, --force begins it anew"
            )));
        }
        self.admit(&spot, &Inputs::default(), &|| false)?;
        rows::new(&spot).map_err(|error| Failure::writing(path, &error))
    }

    /// A folder that is gone when the run is over.
    pub fn scratch(&self) -> Result<Scratch, Failure> {
        self.spool.scratch().map_err(|error| Failure::writing(&std::env::temp_dir(), &error))
    }

    fn wait(&self, spot: &Spot, content: &Content<'_>) -> Result<Waiting, Failure> {
        self.spool.write(spot, content).map_err(|unwritten| unwritten.of(&spot.named))
    }

    /// What is not marked as writing does not write: a new option cannot be forgotten.
    fn mark(&self, option: &str) -> Result<(), Failure> {
        let id = option.replace('-', "_");
        let is_marked = self.marked.contains(&id) || self.marked.iter().any(|marked| marked == WRITTEN_WITH.1) && id == WRITTEN_WITH.0;
        if is_marked { Ok(()) } else { Err(Failure::Usage(format!("--{option} is not marked as an option that writes"))) }
    }

    /// Is the place free, or may what is there be written over?
    fn admit(&self, spot: &Spot, inputs: &Inputs, own: &dyn Fn() -> bool) -> Result<(), Failure> {
        let named = spot.named.display();
        let refused = |why: &str| Err(Failure::Usage(format!("{named} {why}")));
        if let Some(part_of) = self.part_of(spot) {
            return refused(&format!("belongs to {}, which this run reads: name another file", part_of.display()));
        }
        match spot.there {
            There::Nothing => Ok(()),
            There::Folder => refused("is a folder: name a file"),
            There::File | There::Link if self.is_read(spot, inputs) => {
                refused("is read by this run, and never written over: name another file")
            }
            There::File if !own() && self.is_beside(spot) => refused("is a log beside one that this run reads: name another file"),
            There::File | There::Link if self.force || own() => Ok(()),
            There::File => refused("is there already: name another file, or write over it with --force"),
            There::Link => refused("is there already, a link: name another file, or put one in place of the link with --force"),
        }
    }

    /// The input beside which a place lies under its name with an ending, as a database's log does.
    fn part_of(&self, spot: &Spot) -> Option<PathBuf> {
        let name = spot.real.to_string_lossy();
        let is_part = |input: &PathBuf| {
            let whole = input.canonicalize().unwrap_or_default().to_string_lossy().into_owned();
            ["-wal", "-shm", "-journal"].iter().any(|end| name.strip_suffix(end) == Some(whole.as_str()))
        };
        self.inputs().find(is_part)
    }

    /// The files that were named one by one.
    fn inputs(&self) -> impl Iterator<Item = PathBuf> {
        self.logs.iter().map(PathBuf::from).chain(self.read.iter().cloned()).filter(|input| input.is_file())
    }

    /// Does this run read what is there? Files are told apart by device and number, whatever they are called.
    fn is_read(&self, spot: &Spot, inputs: &Inputs) -> bool {
        let identity = |file: &PathBuf| Identity::of(if is_stdin(file) { Path::new("/dev/stdin") } else { file });
        let read = || self.read.iter().chain(&discover(&self.logs).files).filter_map(identity).collect();
        Identity::of(&spot.real).is_some_and(|spot| inputs.0.get_or_init(read).contains(&spot))
    }

    /// Is what is there a log beside one that is read, and so perhaps a part of it?
    fn is_beside(&self, spot: &Spot) -> bool {
        let is_neighbour = |input: &Path| input.canonicalize().is_ok_and(|real| real.parent() == spot.real.parent());
        self.inputs().any(|input| is_neighbour(&input) && is_log(&input)) && is_log(&spot.real)
    }
}

fn is_stdin(path: &Path) -> bool {
    ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].iter().any(|name| path == Path::new(name))
}
