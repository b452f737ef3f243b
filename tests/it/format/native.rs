use crate::sums::sums;
use crate::support::{project, read_all};
use ctxsim::format::{self, Source};
use ctxsim::transcript::{CompactionKind, Image, Part, Role, Transcript};
use std::path::Path;

fn documented() -> Vec<Transcript> {
    let page = include_str!("../../../docs/native.md");
    let (_, rest) = page.split_once("```jsonl\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    read(example)
}

fn read(lines: &str) -> Vec<Transcript> {
    let mut source = Source::from_reader(Path::new("example.jsonl"), Box::new(std::io::Cursor::new(lines.to_owned()))).unwrap();
    let (reader, _) = format::sniff(&source).unwrap();
    let mut transcripts = Vec::new();
    let scale = crate::support::PlainScale { keep_content: true };
    (reader.read)(&mut source, &scale, &mut |transcript| transcripts.push(transcript)).unwrap();
    assert_eq!(source.losses(), []);
    transcripts
}

#[test]
fn the_documented_example_says_what_the_page_says() {
    let transcripts = documented();
    let [main, helper] = transcripts.as_slice() else { panic!("two sessions") };
    assert_eq!((main.id.as_str(), main.window, main.messages.len()), ("demo-1", Some(400_000), 9));
    assert_eq!(helper.parent.as_deref(), Some("demo-1"));
    let call = |index: usize| main.messages[index].call.as_ref();
    let usage = call(2).unwrap().usage.unwrap();
    assert_eq!((usage.prompt, usage.cache_read, usage.output, usage.reasoning), (1210, 1024, 45, Some(20)));
    assert_eq!(usage.cost_nano_usd, Some(1_230_000));
    assert_eq!(main.messages[1].time.map(|time| time + 2000), main.messages[2].time);
    assert!(matches!(&main.messages[3].parts[0], Part::ToolResult { name, .. } if name == "read"));
    let compaction = &main.compactions[0];
    assert_eq!((compaction.before, compaction.kept_from, compaction.kind), (5, Some(4), CompactionKind::Compact));
    assert_eq!(compaction.call.as_ref().unwrap().usage.unwrap().prompt, 1320);
    assert!(main.messages[5].synthetic);
    assert!(call(6).is_none());
    assert_eq!(main.messages[7].rewind, Some(5));
    assert_eq!(main.messages[7].parts[1], Part::Image(Image { width: 640, height: 480, ..Image::default() }));
    assert_eq!((call(8).unwrap().model.as_str(), call(8).unwrap().unchained), ("gpt-5-mini", true));
    let sums = sums(&transcripts);
    assert_eq!((sums.calls, sums.prompt), (4, 1210 + 1290 + 1320 + 200));
}

/// Parts are numbered from 1 in the file, and from 0 in the transcript.
#[test]
fn a_pruning_says_what_it_took_and_is_written_as_it_was_read() {
    let written = concat!(
        "{\"ctxsim\":\"native/1\",\"session\":\"s\",\"agent\":\"a\"}\n",
        "{\"role\":\"tool\",\"id\":\"m1\",\"parts\":[{\"text\":\"x\"},{\"result\":{\"id\":\"c1\",\"text\":\"y\"}}]}\n",
        "{\"compaction\":{\"kind\":\"prune\",\"taken\":[[\"m1\",2]]}}\n",
    );
    let transcripts = read(written);
    assert_eq!(transcripts[0].compactions[0].taken, [(0, 1)]);
    let mut again = Vec::new();
    ctxsim::format::native::write(&transcripts[0], "", &mut again).unwrap();
    assert_eq!(read(&String::from_utf8(again).unwrap())[0].compactions[0].taken, [(0, 1)]);
}

/// A log ends in a refusal where no call was answered behind it.
#[test]
fn a_refusal_is_written_as_it_was_read() {
    let head = "{\"ctxsim\":\"native/1\",\"session\":\"s\",\"agent\":\"a\"}\n";
    let (asked, refused) = ("{\"role\":\"user\",\"text\":\"x\"}\n", "{\"refused\":true}\n");
    for (lines, places, ends_refused) in [
        (format!("{head}{asked}{refused}{{\"role\":\"assistant\",\"text\":\"y\"}}\n"), vec![1], false),
        (
            format!("{head}{asked}{refused}{refused}{{\"role\":\"assistant\",\"text\":\"y\",\"aborted\":true}}\n{refused}"),
            vec![1, 1, 2],
            true,
        ),
    ] {
        let read_once = read(&lines);
        let mut again = Vec::new();
        ctxsim::format::native::write(&read_once[0], "", &mut again).unwrap();
        for transcript in [&read_once[0], &read(&String::from_utf8(again).unwrap())[0]] {
            assert_eq!((&transcript.refusals, transcript.refused), (&places, ends_refused));
        }
    }
}

#[test]
fn damage_is_counted_and_the_rest_is_read() {
    let path = project().join("tests/data/native/broken.jsonl");
    let mut source = Source::open(&path).unwrap();
    let mut transcripts = Vec::new();
    let reader = format::by_name("native").unwrap();
    let scale = crate::support::PlainScale { keep_content: false };
    (reader.read)(&mut source, &scale, &mut |transcript| transcripts.push(transcript)).unwrap();
    let lost: Vec<(&str, u64, u64)> = source.losses().iter().map(|loss| (loss.reason.as_str(), loss.count, loss.first_line)).collect();
    assert_eq!(
        lost,
        [
            ("line before the head of a session", 2, 1),
            ("record of an unexpected shape (field `role`)", 1, 3),
            ("unknown content part", 1, 4),
            ("reference to an unknown message", 1, 4),
            ("absurd usage numbers", 1, 5),
            ("usage of a message that no call produced", 1, 6),
            ("unknown record type", 1, 7),
            ("session in an unknown version of the native shape", 1, 8),
            ("cut off at the end of the file", 1, 10),
        ]
    );
    assert_eq!(transcripts.len(), 1);
    assert_eq!(transcripts[0].messages.iter().map(|message| message.role).collect::<Vec<_>>(), [Role::User, Role::Assistant, Role::User]);
    assert!(transcripts[0].messages[1].call.as_ref().unwrap().usage.is_none());
}

#[test]
fn a_file_with_a_head_in_front_is_claimed_by_no_other() {
    let transcripts = documented();
    assert!(transcripts.iter().all(|transcript| transcript.agent == "my-agent"));
    let path = project().join("tests/data/openai-chat/messages.jsonl");
    assert!(read_all(&path).0.iter().all(|transcript| transcript.agent == "openai-chat"));
}
