//! Which reader claims a file.

use crate::support::{below, project, shared};
use ctxsim::format::{Claim, READERS, Source};
use std::collections::BTreeSet;

/// The order of the table decides nothing among readers that are sure: no file is surely of two formats.
#[test]
fn no_two_readers_are_sure_of_one_file() {
    let data = project().join("tests/data");
    let folders: Vec<_> = READERS.iter().map(|reader| data.join(reader.name)).filter(|folder| folder.is_dir()).collect();
    let recorded = shared().map(|shared| ["transcripts", "transcripts-2"].map(|name| shared.join(name)));
    let mut sure = 0;
    let mut twice = BTreeSet::new();
    for path in folders.iter().chain(recorded.iter().flatten()).flat_map(|path| below(path)) {
        let Ok(source) = Source::open(&path) else { continue };
        let claims: Vec<&str> = READERS.iter().filter(|reader| (reader.claims)(&source) == Claim::Yes).map(|reader| reader.name).collect();
        sure += usize::from(!claims.is_empty());
        if claims.len() > 1 {
            twice.insert(format!("{}: {}", path.display(), claims.join(", ")));
        }
    }
    assert!(sure > 300, "{sure} files are claimed");
    assert!(twice.is_empty(), "{twice:#?}");
}
