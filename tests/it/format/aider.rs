use crate::support::{ctxsim, fixture, in_short, prompts, read_text};
use crate::truth::corpus;
use ctxsim::catalog::Catalog;
use ctxsim::experiment::{ReplaySettings, replay};
use ctxsim::policy::Policy;
use ctxsim::transcript::Trust;

#[test]
fn a_chat_history_is_told_from_what_the_program_wrote() {
    let (transcripts, lost) = fixture("aider/chat.md");
    assert_eq!(lost, [("line of tokens that cannot be read".to_owned(), 1)]);
    assert_eq!(transcripts.len(), 1, "at the first start nobody said anything");
    let session = &transcripts[0];
    assert_eq!((session.id.as_str(), session.version.as_str()), ("chat.md#2025-06-02 11:54:05", "0.84.0"));
    assert_eq!(
        in_short(session),
        [
            "u: One\nand more",
            "a: First line.\n\n> quoted by the model\n\n#### A heading of the model",
            "u: Two",
            "a: Half an ans",
            "u: Three",
            "a: Third.",
            "u: Four",
            "a: Fourth.",
            "u: Five",
        ]
    );
    assert_eq!(prompts(session), [(9700, 85), (12_000, 1100), (1234, 10)]);
    let calls: Vec<_> = session.messages.iter().filter_map(|message| message.call.as_ref()).collect();
    assert_eq!(calls.iter().map(|call| call.unchained).collect::<Vec<_>>(), [false, true, true], "interrupted, another model");
    assert_eq!(calls[0].model, "gemini/gemini-2.5-pro");
    // Rounded for people.
    assert!(calls.iter().all(|call| call.usage.unwrap().trust == Trust::Estimated));
    let usage = calls[1].usage.unwrap();
    assert_eq!((usage.cache_read, usage.cache_write), (8200, 1500));
}

#[test]
fn every_prompt_of_a_history_of_requests_is_put_together_anew() {
    let (transcripts, lost) = fixture("aider/requests.txt");
    assert_eq!(lost, [("line without a role".to_owned(), 1)]);
    let session = &transcripts[0];
    assert_eq!(
        in_short(session),
        [
            "s: Be good.\nReally.",
            "*: I have added a file.\n\na.rs",
            "a: Ok.",
            "u: One",
            "a: First\n\nline.",
            "*: One",
            "a: First\n\nline.",
            "u: Two",
            "a: Second",
            "u: Three",
        ]
    );
    let moves: Vec<_> = session.messages.iter().map(|message| (message.rewind, message.copy_of)).collect();
    assert_eq!(moves[5], (Some(1), Some(3)));
    assert_eq!(moves[6], (None, Some(4)));
    assert_eq!(moves[9], (Some(5), None));
    assert_eq!(session.messages.iter().filter(|message| message.call.is_some()).count(), 2);
}

#[test]
fn what_is_cleared_leaves_the_context() {
    let turn = |say: &str| format!("#### {say}  \n\nDone.\n\n> Tokens: 9.7k sent, 85 received.  \n\n");
    let cleared = |command: &str, shown: &str| format!("#### {command}  \n> {shown}  \n\n");
    let text = [
        "# aider chat started at 2025-05-04 17:02:36\n\n".to_owned(),
        cleared("/clear", "All chat history cleared."),
        turn("One"),
        cleared("/reset", "All files dropped and chat history cleared."),
        turn("Two"),
    ];
    let (transcripts, lost) = read_text("chat.md", &text.concat());
    let session = &transcripts[0];
    assert_eq!((in_short(session), lost.len()), (["u: One", "a: Done.", "u: Two", "a: Done."].map(str::to_owned).to_vec(), 0));
    assert_eq!(session.messages.iter().map(|message| message.rewind).collect::<Vec<_>>(), [None, None, Some(0), None]);
    // The only time is that of the start.
    assert_eq!(session.messages.iter().map(|message| message.time).collect::<Vec<_>>(), [Some(1_746_378_156_000), None, None, None]);
    let calls = session.messages.iter().filter_map(|message| message.call.as_ref());
    assert_eq!(calls.map(|call| call.unchained).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn a_command_is_no_part_of_the_prompt_behind_it() {
    let text = "# aider chat started at 2025-05-04 17:02:36\n\n#### /add a.rs  \n> Added a.rs to the chat  \n\n#### Ask  \n#### more  \n\n\
                Done.\n\n> Tokens: 9.7k sent, 85 received.  \n\n#### /test  \n\nMended.\n\n> Tokens: 9.8k sent, 85 received.  \n\n#### /exit  \n";
    let (transcripts, _) = read_text("chat.md", text);
    assert_eq!(in_short(&transcripts[0]), ["u: Ask\nmore", "a: Done.", "u: /test", "a: Mended."]);
}

#[test]
fn what_the_program_says_was_sent_sizes_a_call_and_anchors_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.md");
    let turn = |sent: &str| format!("#### Ask  \n\nDone.\n\n> Tokens: {sent} sent, 85 received.  \n\n");
    let text = format!("# aider chat started at 2025-05-04 17:02:36\n\n{}{}{}", turn("9.7k"), turn("12k"), turn("5.1k"));
    std::fs::write(&path, text).unwrap();
    let catalog = Catalog::builtin().unwrap();
    let corpus = corpus(&catalog, &[&path]);
    let replays = replay(&corpus, &[Policy::load("none").unwrap()], &ReplaySettings::new(&catalog)).unwrap();
    assert_eq!(replays[0].outcomes[0].calls.iter().map(|call| call.actual).collect::<Vec<_>>(), [9700, 12_000, 5100]);
    assert_eq!((replays[0].totals.prompt_tokens, replays[0].totals.anchored_tokens), (26_800, 0));
    let sent = corpus.traces.iter().next().unwrap().sent.unwrap();
    assert_eq!((sent.prompt_tokens, sent.estimated_tokens, sent.estimated_calls), (26_800, 26_800, 3));
}

#[test]
fn what_no_word_says_was_read_from_a_cache_is_billed_as_uncached() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.md");
    let turn = |sent: &str| format!("#### Ask  \n\nDone.\n\n> Tokens: {sent} sent, 1k received. Cost: $0.04 message, $0.09 session.  \n\n");
    let head = "# aider chat started at 2025-05-04 17:02:36\n\n> Main model: claude-3-5-sonnet-20240620 with diff edit format  \n\n";
    std::fs::write(&path, format!("{head}{}{}", turn("9k"), turn("10k"))).unwrap();
    let bill = ctxsim(&["cost", "--quiet", "--json"]).args([&path]).json();
    for row in ["/recorded/cost", "/policies/0/calibrated/cost"] {
        assert_eq!(bill.pointer(row).unwrap(), "0.087", "{row}");
    }
}

#[test]
fn old_versions_name_both_models_in_one_line() {
    let log = "# aider chat started at 2024-07-01 10:00:00\n\n> Aider v0.45.0  \n> Models: gpt-4o with diff edit format, weak model gpt-3.5-turbo  \n\n\
               #### One  \n\nFirst.\n\n> Tokens: 1.2k sent, 10 received. Cost: $0.01 request, $0.01 session.  \n";
    let (transcripts, lost) = read_text("chat.md", log);
    let models: Vec<String> = transcripts.iter().filter_map(|session| session.main_model()).collect();
    assert_eq!((models, lost), (vec!["gpt-4o".to_owned()], vec![]));
}

/// The program writes a response without words where the provider refuses a request.
#[test]
fn a_request_that_was_refused_is_no_call() {
    let request = |second: u32, reply: &str| {
        format!(
            "TO LLM 2025-01-31T11:21:{second:02}\n-------\nSYSTEM Be good.\n-------\nUSER One\nLLM RESPONSE 2025-01-31T11:21:{second:02}\n{reply}"
        )
    };
    let log = [request(10, ""), request(20, ""), request(30, "ASSISTANT First\n")].concat();
    let (transcripts, lost) = read_text("llm.txt", &log);
    assert_eq!(lost, [("request without a reply".to_owned(), 2)]);
    assert_eq!(in_short(&transcripts[0]), ["s: Be good.", "u: One", "a: First"]);
    let calls: Vec<bool> = transcripts[0].messages.iter().filter_map(|message| message.call.as_ref()).map(|call| call.unchained).collect();
    assert_eq!(calls, [true]);
}

/// Formatters of Markdown remove the break from headings and from the last line of a quotation, in the sessions that they saw.
#[test]
fn a_session_without_the_breaks_of_the_program_is_read_by_its_marks() {
    let start = |day: u32| format!("# aider chat started at 2025-05-0{day} 17:02:36\n\n");
    let tidied = "> Aider v0.50.1  \n> Added a.rs to the chat\n\n#### Ask\n\n#### more\n\n####\n\n#### still\n\nDone:\n\n```\n<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE\n```\n\n\
                  > Tokens: 9.7k sent, 85 received.  \n> Applied edit to a.rs\n\n#### /add b.rs\n\n> Added b.rs to the chat\n\n#### Next\n\nMore.\n\n";
    let whole =
        "> Aider v0.50.1  \n\n#### One  \n\n> quoted by the model\n\n#### A heading of the model\n\n> Tokens: 1.2k sent, 10 received.  \n";
    let (transcripts, lost) = read_text("chat.md", &[&start(1), tidied, &start(2), whole].concat());
    assert_eq!(lost, []);
    let told: Vec<_> = transcripts.iter().map(in_short).collect();
    let edit = "a: Done:\n\n```\n<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE\n```";
    assert_eq!(told[0], ["u: Ask\nmore\n\nstill", edit, "u: Next", "a: More."]);
    assert_eq!(told[1], ["u: One", "a: > quoted by the model\n\n#### A heading of the model"]);
    assert_eq!(transcripts.iter().map(|session| prompts(session).len()).collect::<Vec<_>>(), [1, 1]);
}

/// Where comments in files ask (`--watch-files`) no heading does: what the program shows still has its breaks, and headings are the model's.
#[test]
fn headings_of_the_model_stay_its_own_where_no_person_has_one() {
    let text = "# aider chat started at 2025-05-04 17:02:36\n\n> Aider v0.84.0  \n\n#### Step  \n\nOne.\n\n> Tokens: 1.2k sent, 10 received.  \n\n\
                # aider chat started at 2025-05-05 17:02:36\n\n> Aider v0.84.0  \n\n#### Step\n\nOne.\n";
    let (transcripts, lost) = read_text("chat.md", text);
    assert_eq!((transcripts.len(), in_short(&transcripts[0])), (1, ["u: Step", "a: One."].map(str::to_owned).to_vec()));
    assert_eq!(lost, [("text before anything was said".to_owned(), 2)]);
}
