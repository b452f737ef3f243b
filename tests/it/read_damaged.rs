use crate::support::PlainScale;
use ctxsim::format::{Source, by_name};
use std::io::Cursor;
use std::path::Path;

fn read(reader: &str, bytes: Vec<u8>) {
    let mut source = Source::from_reader(Path::new("damaged"), Box::new(Cursor::new(bytes))).unwrap();
    // An error is an answer too; only a panic is none.
    let _ = (by_name(reader).unwrap().read)(&mut source, &PlainScale { keep_content: false }, &mut |_| {});
}

#[test]
fn no_damage_makes_a_reader_panic() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    for (reader, file) in [
        ("pi", "pi/version1.jsonl"),
        ("pi", "pi/tree.jsonl"),
        ("pi", "pi/broken.jsonl"),
        ("opencode", "opencode/export.json"),
        ("opencode", TREE),
    ] {
        let whole = std::fs::read(data.join(file)).unwrap();
        for place in (0..whole.len()).step_by(13) {
            read(reader, whole[..place].to_vec());
            for damage in [b'"', b'{', b']', b'0', b'-', 0xff] {
                let mut bytes = whole.clone();
                bytes[place] = damage;
                read(reader, bytes);
            }
        }
    }
}

const TREE: &str = "opencode/tree_since_0.6/storage/session/pr/ses_tree.json";
