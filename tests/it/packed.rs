//! Files that were packed: whole, cut off, and in several frames.

use crate::bad_input::read_bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::Write;

fn gz(text: &str, compression: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), compression);
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn zst(text: &str) -> Vec<u8> {
    compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)
}

/// A session whose lines cannot be packed much smaller, with one call in each.
fn long_session() -> String {
    let noise = |line: u64| {
        let letters = (0..400_u64).map(|at| ((line * 400 + at).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) % 26);
        letters.map(|letter| char::from(b'a' + letter as u8)).collect::<String>()
    };
    let line =
        |line| format!("{{\"role\":\"assistant\",\"text\":\"{}\",\"usage\":{{\"prompt\":{},\"output\":1}}}}\n", noise(line), line + 1);
    "{\"ctxsim\":\"native/1\",\"session\":\"s\"}\n".to_owned() + &(0..1000).map(line).collect::<String>()
}

#[test]
fn packed_files_that_are_cut_off_give_what_can_be_unpacked() {
    let whole = long_session();
    for packed in [gz(&whole, Compression::default()), zst(&whole)] {
        let outcome = read_bytes("native", packed.clone());
        assert_eq!((outcome.calls_with_usage(), outcome.reasons()), (1000, vec![]));
        // In the first bytes that are looked at to tell the format, and behind them.
        for (tenths, least) in [(5, 200), (7, 400), (9, 600)] {
            let outcome = read_bytes("native", &packed[..packed.len() * tenths / 10]);
            let kept = outcome.calls_with_usage();
            assert!((least..1000).contains(&kept), "{kept} of {tenths} tenths");
            let line = kept as u64 + 2;
            assert_eq!((outcome.losses, outcome.error), (vec![("file broken off".to_owned(), 1, line)], None));
        }
    }
    // Small enough to be looked at as a whole when the file is opened.
    let small: String = whole.lines().take(20).map(|line| line.to_owned() + "\n").collect();
    let packed = gz(&small, Compression::default());
    let outcome = read_bytes("native", &packed[..packed.len() - 500]);
    assert!((10..19).contains(&outcome.calls_with_usage()), "{outcome:?}");
    assert_eq!(outcome.reasons(), ["file broken off"]);
    // Where nothing is left, it is said why.
    let outcome = read_bytes("native", &packed[..12]);
    assert!(outcome.sessions.is_empty() && outcome.error.is_some(), "{outcome:?}");

    // A document is cut off once, though its stream breaks off too.
    let question = &long_session()[50..5000].replace(['"', '\n', '\\'], "");
    let padded = format!(
        r#"{{"trajectory_format":"mini-swe-agent-1.1","messages":[{{"role":"user","content":"{question}"}},{{"role":"assistant","content":"answer"}}]}}"#
    );
    let packed = gz(&padded, Compression::none());
    let outcome = read_bytes("mini-swe-agent", &packed[..packed.len() - 30]);
    assert_eq!((outcome.sessions.len(), outcome.reasons()), (1, vec!["file broken off"]), "{outcome:?}");
}

#[test]
fn all_frames_of_a_packed_file_are_read() {
    let whole = long_session();
    let (first, second) = whole.split_at(whole.len() / 3);
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9];
    let outcome = read_bytes("native", [zst(first), skippable.to_vec(), zst(second)].concat());
    assert_eq!((outcome.calls_with_usage(), outcome.reasons()), (1000, vec![]));
    // Neither the first line nor the last, of which the frame holds a part alone, is a call.
    let outcome = read_bytes("native", [zst(first), b"noise".to_vec()].concat());
    assert_eq!((outcome.calls_with_usage(), outcome.reasons()), (first.lines().count() - 2, vec!["file broken off"]));
}
