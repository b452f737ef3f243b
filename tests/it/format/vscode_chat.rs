use crate::support::{fixture, in_short, prompts};

#[test]
fn replies_of_words_and_calls_are_joined() {
    let (transcripts, lost) = fixture("vscode-chat/export.json");
    assert_eq!(lost, [("message of an unknown role".to_owned(), 1)]);
    assert_eq!(transcripts[0].id, "vs-1");
    assert_eq!(in_short(&transcripts[0]), ["u: One", "a: Looking | view(t1)", "t: view(t1)=", "a: Done"]);
    assert_eq!(prompts(&transcripts[0]), [(0, 0), (0, 0)]);
}

#[test]
fn an_export_that_breaks_off_keeps_what_is_whole() {
    let (transcripts, lost) = fixture("vscode-chat/cut.json");
    assert_eq!(lost, [("cut off at the end of the file".to_owned(), 1)]);
    assert_eq!(in_short(&transcripts[0]), ["u: One", "a: Looking | view(t1)"]);
}
