use crate::support::{PlainScale, files, project};
use ctxsim::format::{READERS, Source, by_name};
use std::io::Cursor;
use std::path::Path;

fn read(reader: &str, path: &Path, bytes: Vec<u8>) {
    let mut source = Source::from_reader(path, Box::new(Cursor::new(bytes))).unwrap();
    let reader = by_name(reader).unwrap();
    // A refusal and an error are answers too; only a panic is none.
    let _ = (reader.claims)(&source);
    let _ = (reader.read)(&mut source, &PlainScale { keep_content: false }, &mut |_| {});
}

/// Every fixture of a reader, cut at many places and with a byte replaced there. Small files are cut at every place; `CTXSIM_DAMAGE=1` cuts the others
/// at five times as many.
#[test]
fn no_damage_makes_a_reader_panic() {
    let places = if std::env::var_os("CTXSIM_DAMAGE").is_some() { 1_500 } else { 300 };
    let data = project().join("tests/data");
    for reader in READERS {
        let mut fixtures = files(&data.join(reader.name));
        if reader.name == "opencode" {
            fixtures.push(data.join("opencode/tree_since_0.6/storage/session/pr/ses_tree.json"));
        }
        if reader.name == "cline" {
            fixtures.extend(["task1/api_conversation_history.json", "task2/ui_messages.json"].map(|name| data.join("cline").join(name)));
        }
        for path in fixtures.into_iter().filter(|path| path.is_file()) {
            let whole = std::fs::read(&path).unwrap();
            for place in (0..whole.len()).step_by(1 + whole.len() / places) {
                read(reader.name, &path, whole[..place].to_vec());
                let mut bytes = whole.clone();
                bytes[place] = b"\"{[\\,\xff0-]"[place % 9];
                read(reader.name, &path, bytes);
            }
        }
    }
}
