//! What a folder holds of our own: names and hashes. A file that was changed since then is no longer ours.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// The file of the list. Hidden, so that it is no log where a folder is read.
pub const NAME: &str = ".ctxsim-manifest.json";

/// No list is longer than this.
const LONGEST: u64 = 1 << 20;

/// Files that the program wrote into a folder, by name and hash.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Manifest {
    made_by: String,
    /// By name, with slashes: the SHA-256 of the content. While files are put in place there are two, of the old content and of the new.
    files: BTreeMap<String, Vec<String>>,
}

impl Manifest {
    /// The list of a folder that has one. A link is none.
    pub fn of(folder: &Path) -> Option<Manifest> {
        let path = folder.join(NAME);
        let is_plain = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file());
        let mut text = String::new();
        File::open(path).ok().filter(|_| is_plain)?.take(LONGEST).read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok().filter(|manifest: &Manifest| manifest.made_by == "ctxsim")
    }

    /// Is the file the one that was written, unchanged?
    pub fn holds(&self, name: &str, file: &Path) -> bool {
        let is_plain = fs::symlink_metadata(file).is_ok_and(|metadata| metadata.is_file());
        is_plain && self.files.get(name).is_some_and(|known| hash_of(file).is_ok_and(|hash| known.contains(&hash)))
    }

    /// Notes what a file is about to hold, by the hash of that.
    pub fn announce(&mut self, name: &str, hash: &[u8]) {
        let hash = hex(hash);
        let known = self.files.entry(name.to_owned()).or_default();
        known.retain(|old| *old != hash);
        known.push(hash);
    }

    /// Forgets what files held before.
    pub fn settle(&mut self) {
        self.files.values_mut().for_each(|known| drop(known.drain(..known.len().saturating_sub(1))));
    }

    /// The list as a file.
    pub fn text(&self) -> String {
        let manifest = serde_json::json!({ "made_by": "ctxsim", "files": self.files });
        format!("{manifest:#}\n")
    }
}

fn hash_of(file: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    io::copy(&mut File::open(file)?, &mut hash)?;
    Ok(hex(&hash.finalize()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
