//! Where a path leads that something is to be written to.

use super::manifest::Manifest;
use crate::cli::failure::Failure;
use crate::corpus::{session_in, store_of};
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// The names of standard output.
const STDOUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Folders in which the system shows devices and itself.
const SYSTEM: [&str; 3] = ["/dev", "/proc", "/sys"];

/// Where a path leads.
pub enum Way {
    Printed,
    /// To the null device.
    Nowhere,
    Spot(Spot),
}

/// A place for a file.
#[derive(Clone, Debug)]
pub struct Spot {
    /// As it was named.
    pub named: PathBuf,
    /// Without links above the file itself.
    pub real: PathBuf,
    pub there: There,
}

/// What is at a place already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum There {
    Nothing,
    File,
    /// A link to a file, or to nothing.
    Link,
    Folder,
}

/// What makes a file the same under any name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity(#[cfg(unix)] (u64, u64), #[cfg(not(unix))] PathBuf);

impl Identity {
    /// Of the file that a path leads to; `None` where it leads nowhere.
    #[cfg(unix)]
    pub fn of(path: &Path) -> Option<Identity> {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(path).ok().map(|metadata| Identity((metadata.dev(), metadata.ino())))
    }

    /// Of the file that a path leads to; `None` where it leads nowhere.
    #[cfg(not(unix))]
    pub fn of(path: &Path) -> Option<Identity> {
        path.canonicalize().ok().map(Identity)
    }
}

/// Is it a name of standard output?
pub fn is_stdout(path: &Path) -> bool {
    STDOUT.iter().any(|name| path == Path::new(name))
}

/// Where a path leads that names a file. What can never be written to is refused.
pub fn file(path: &Path) -> Result<Way, Failure> {
    if is_stdout(path) {
        return Ok(Way::Printed);
    }
    if let Ok(metadata) = fs::metadata(path)
        && !metadata.is_file()
        && !metadata.is_dir()
    {
        return stream(path, &metadata);
    }
    let Some(name) = path.file_name() else { return Err(refused(path, "is a folder: name a file")) };
    let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let above = real(above).map_err(|why| refused(path, &why))?;
    let place = above.join(name);
    check_place(path, &place, &above)?;
    let there = there(&place);
    // A link to a folder of an agent is as good as a place in it.
    if there == There::Link
        && let Ok(target) = place.canonicalize()
    {
        check_place(path, &target, target.parent().unwrap_or(&target))?;
    }
    Ok(Way::Spot(Spot { named: path.to_owned(), real: place, there }))
}

/// The place of a file in a folder that was looked at. What is shown is the path as it was typed. `seen` is the folder below it that was looked at last:
/// neighbours share that.
pub fn inside(named: &Path, folder: &Path, name: &str, seen: &mut PathBuf) -> Result<Spot, Failure> {
    let (named, place) = (named.join(name), folder.join(name));
    let above = place.parent().unwrap_or(folder);
    if above != folder && above != seen {
        let real = real(above).map_err(|why| refused(&named, &why))?;
        if real != above {
            return Err(refused(&named, "goes through a link, and is not written through it"));
        }
        check_place(&named, &place, above)?;
        above.clone_into(seen);
    }
    if fs::metadata(&place).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        return Err(refused(&named, "is a device, pipe or socket, and not replaced"));
    }
    Ok(Spot { named, there: there(&place), real: place })
}

/// Where a path leads that names a folder, there or not; `None` where it is standard output.
pub fn folder(path: &Path) -> Result<Option<PathBuf>, Failure> {
    if is_stdout(path) {
        return Ok(None);
    }
    let place = real(path).map_err(|why| refused(path, &why))?;
    if fs::metadata(&place).is_ok_and(|metadata| !metadata.is_dir()) {
        return Err(refused(path, "is no folder"));
    }
    check_place(path, &place, &place)?;
    Ok(Some(place))
}

fn refused(path: &Path, why: &str) -> Failure {
    Failure::Usage(format!("{} {why}", path.display()))
}

fn there(place: &Path) -> There {
    match fs::symlink_metadata(place) {
        Err(_) => There::Nothing,
        Ok(metadata) if metadata.is_symlink() => There::Link,
        Ok(metadata) if metadata.is_dir() => There::Folder,
        Ok(_) => There::File,
    }
}

/// A device, pipe or socket: standard output under another name is printed to, the null device takes anything, no other is written to.
fn stream(path: &Path, metadata: &Metadata) -> Result<Way, Failure> {
    let is_output = Identity::of(path).is_some_and(|identity| Identity::of(Path::new("/dev/stdout")) == Some(identity));
    if is_output {
        Ok(Way::Printed)
    } else if is_null(metadata) {
        Ok(Way::Nowhere)
    } else {
        Err(refused(path, "is a device, pipe or socket: name a file, or `-` for standard output"))
    }
}

#[cfg(unix)]
fn is_null(metadata: &Metadata) -> bool {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let null = fs::metadata("/dev/null").map(|null| null.rdev());
    metadata.file_type().is_char_device() && null.is_ok_and(|null| null == metadata.rdev())
}

#[cfg(not(unix))]
fn is_null(_: &Metadata) -> bool {
    false
}

/// A path without links, as far as it exists.
fn real(path: &Path) -> Result<PathBuf, String> {
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).map_err(|error| format!("leads nowhere: {error}"))?;
    let mut real = if path.is_absolute() { PathBuf::new() } else { here.clone() };
    let mut is_there = true;
    for part in path.components() {
        match part {
            Component::Prefix(_) | Component::RootDir => real.push(part),
            Component::CurDir => {}
            Component::ParentDir if is_there => drop(real.pop()),
            Component::ParentDir => return Err("goes up from a folder that does not exist".to_owned()),
            Component::Normal(name) => {
                let next = real.join(name);
                match fs::symlink_metadata(&next) {
                    Ok(metadata) if metadata.is_symlink() => real = followed(&next, &real, &here)?,
                    Ok(_) => real = next,
                    Err(error) if error.kind() == ErrorKind::NotFound => {
                        is_there = false;
                        real = next;
                    }
                    Err(error) => return Err(format!("cannot be written: {error}")),
                }
            }
        }
    }
    Ok(real)
}

/// Where a link leads. One that leads out of the repository that holds it, or out of the folder that the program was started in, is
/// a user's who may not have that place in mind.
fn followed(link: &Path, folder: &Path, here: &Path) -> Result<PathBuf, String> {
    let shown = link.display();
    let target = link.canonicalize().map_err(|_| format!("goes through {shown}, a link that leads nowhere"))?;
    let ground =
        folder.ancestors().find(|above| above.join(".git").exists()).or_else(|| Some(here).filter(|here| folder.starts_with(here)));
    match ground.filter(|ground| !target.starts_with(ground)) {
        None => Ok(target),
        Some(ground) => {
            let (target, ground) = (target.display(), ground.display());
            Err(format!("goes through {shown}, a link that leads out of {ground}, and is not followed: name {target} itself"))
        }
    }
}

/// Nothing is written among agents' sessions, nor where the system shows devices. `above` is the folder in which something would appear.
fn check_place(named: &Path, place: &Path, above: &Path) -> Result<(), Failure> {
    if SYSTEM.iter().any(|folder| place.starts_with(folder)) && !place.starts_with("/dev/shm") {
        return Err(refused(named, "lies among the system's devices"));
    }
    if let Some(agent) = store_of(place, &|name| std::env::var(name).ok()) {
        return Err(refused(named, &format!("lies in the folder of {agent}, where nothing is ever written")));
    }
    let nearest = above.ancestors().find(|folder| folder.is_dir());
    let session = |folder: &Path| {
        let list = Manifest::of(folder);
        let name = |file: &Path| file.file_name().map(|name| name.to_string_lossy().into_owned());
        session_in(folder, &|file| list.as_ref().zip(name(file)).is_some_and(|(list, name)| list.holds(&name, file)))
    };
    match nearest.and_then(session) {
        None => Ok(()),
        Some((agent, session)) => {
            let session = session.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let sentence =
                format!("lies in a folder that holds sessions of {agent} ({session}), where nothing is ever written: name another folder");
            Err(refused(named, &sentence))
        }
    }
}
