//! The storage tree of versions before 1.2: a small file for each session, message and part.
//!
//! Since 0.6: `storage/session/<project>/<session>.json`, `storage/message/<session>/<message>.json`, `storage/part/<message>/<part>.json`.
//! Before: `storage/session/info/<session>.json`, and beside `info` the folders `message/<session>/` and `part/<session>/<message>/`.

use super::record::{MessageInfo, SessionInfo, millis};
use super::session::Session;
use crate::format::ground::{ReadError, Source};
use crate::format::recorder::end;
use crate::list::Arrange;
use crate::reading::{self, Bounds};
use crate::transcript::{Scale, Transcript};
use std::io;
use std::path::{Path, PathBuf};

/// Reads the session of a session file, with the message and part files that belong to it.
pub fn read(source: &mut Source, scale: &dyn Scale, give: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let text = source.document()?;
    let name = source.path.file_stem().map_or_else(|| source.name(), |stem| stem.to_string_lossy().into_owned());
    let mut session = Session::new(name.clone(), scale);
    match serde_json::from_str::<SessionInfo<'_>>(&text) {
        Ok(info) => session.describe(&info),
        Err(_) => source.lose(0, "session file of an unexpected shape"),
    }
    let Some(folders) = Folders::of(&source.path, &name) else {
        return Err(ReadError::Damaged("session file without its storage tree".to_owned()));
    };
    let bounds = source.bounds();
    for (number, message) in (1..).zip(messages(&folders.messages, source)) {
        let mut lose = |reason: &str| source.lose(number, reason);
        let Some(text) = contents(&message.path, bounds, &mut lose) else { continue };
        let Ok(info) = serde_json::from_str::<MessageInfo<'_>>(&text) else {
            lose("message of an unexpected shape");
            continue;
        };
        session.begin(&info, info.id.id(), &mut lose);
        for part in json_files(&folders.parts.join(&message.name), &mut lose) {
            if let Some(text) = contents(&part, bounds, &mut lose) {
                session.part(&text, None, &mut lose);
            }
        }
        session.end(&mut lose);
    }
    end(session.finish(&mut |reason| source.lose(0, reason)), 0, source, give);
    Ok(())
}

struct Folders {
    messages: PathBuf,
    parts: PathBuf,
}

impl Folders {
    fn of(session_file: &Path, name: &str) -> Option<Folders> {
        let project = session_file.parent()?;
        let sessions = project.parent()?;
        Some(if project.file_name()? == "info" {
            Folders { messages: sessions.join("message").join(name), parts: sessions.join("part").join(name) }
        } else {
            let storage = sessions.parent()?;
            Folders { messages: storage.join("message").join(name), parts: storage.join("part") }
        })
    }
}

struct MessageFile {
    path: PathBuf,
    name: String,
    created: Option<i64>,
}

/// The message files in order of time. Only ids and times are held.
fn messages(folder: &Path, source: &mut Source) -> Vec<MessageFile> {
    let paths = json_files(folder, &mut |reason| source.lose(0, reason));
    let mut files: Vec<MessageFile> = paths
        .into_iter()
        .map(|path| {
            let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            // What cannot be read is counted when the message itself is read.
            let text = contents(&path, source.bounds(), &mut |_| {});
            let info = text.as_deref().and_then(|text| serde_json::from_str::<MessageInfo<'_>>(text).ok());
            MessageFile { path, name, created: info.and_then(|info| millis(info.time.created)) }
        })
        .collect();
    files.arrange_by(|one, other| (one.created, &one.name).cmp(&(other.created, &other.name)));
    files
}

/// The JSON files of a folder by name, which is the order in which their ids were given out. A folder that is not there is empty.
fn json_files(folder: &Path, lose: &mut dyn FnMut(&str)) -> Vec<PathBuf> {
    let mut paths = match reading::entries(folder) {
        Ok(paths) => paths,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(_) => {
            lose("folder that cannot be read");
            return Vec::new();
        }
    };
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths
}

/// The text of a small file. What is wrong with it is told; it is absent where nothing of it can be used.
fn contents(path: &Path, bounds: Bounds, lose: &mut dyn FnMut(&str)) -> Option<String> {
    let read = Source::open_beside(path, bounds).and_then(|mut file| {
        let text = file.document();
        file.losses().iter().for_each(|loss| lose(&loss.reason));
        text
    });
    match read {
        Ok(text) => Some(text),
        Err(ReadError::Damaged(reason)) => {
            lose(&reason);
            None
        }
        Err(ReadError::Io(_)) => {
            lose("file that cannot be read");
            None
        }
    }
}
