//! `ctxsim convert`: sessions of any format, written down in another one.

use super::door::{Door, NONE_IS_OWN, Place, WRITES};
use super::failure::{Failure, tell};
use super::logs::Logs;
use super::target::{Ending, OUTPUT, Target, Writes, forms};
use crate::corpus::{Converted, Target as Written};
use crate::report::{counted, counted_as, first_few};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// What sessions are written as.
const LINES: Writes = Writes { files: &[Ending::Jsonl], folder: false };

const EXAMPLES: &str = "\
Examples:
  ctxsim convert logs/session.jsonl -o session.native.jsonl
  ctxsim convert logs/session.jsonl --redact -o report-this.jsonl
                                   no text, the same numbers: for a bug report
  ctxsim convert logs/ --to openai-chat -o chats.jsonl";

/// Write sessions down in the native shape or as OpenAI chat messages, or without a word of their texts
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Convert {
    #[command(flatten)]
    logs: Logs,
    /// The shape that sessions are written in
    #[arg(long, value_name = "SHAPE", default_value = "native", help_heading = WRITES)]
    to: Shape,
    /// Replace every text by its measures: lengths and token counts stay, and a replay gives the same numbers. Ids, names of tools and models stay
    #[arg(long, help_heading = WRITES)]
    redact: bool,
    /// The file to write, FILE.jsonl; `-` for standard output
    #[arg(long, short, value_name = "PATH", alias = "out", help_heading = WRITES)]
    output: PathBuf,
    /// The form of the output: lines of JSON are the only one; --to says what stands in them
    #[arg(long, value_name = "FORM", value_parser = forms(&LINES), help_heading = WRITES)]
    format: Option<Ending>,
    /// Write over a file that is there already
    #[arg(long, help_heading = WRITES)]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shape {
    /// ctxsim's own JSONL, which can say everything that ctxsim knows of a session
    Native,
    /// OpenAI chat messages, a session a line
    OpenaiChat,
}

impl Convert {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        let target = match (self.to, self.redact) {
            (Shape::Native, false) => Written::Native,
            (Shape::Native, true) => Written::Redacted,
            (Shape::OpenaiChat, false) => Written::OpenAiChat,
            (Shape::OpenaiChat, true) => {
                return Err(Failure::Usage("chat messages are their texts: --redact writes the native shape, leave --to out".to_owned()));
            }
        };
        Target::of(OUTPUT, &self.output, &LINES, self.format)?;
        let place = door.file("output", &self.output, NONE_IS_OWN)?;
        let mut bytes = Vec::new();
        let converted = self.logs.convert(target, &mut bytes)?;
        if converted.sessions == 0 {
            let reasons: Vec<String> = converted.skipped.iter().map(|skipped| format!("{}: {}", skipped.path, skipped.reason)).collect();
            return Err(Failure::NothingReadable(format!("nothing to convert: {}", first_few(&reasons, 5))));
        }
        door.put(&[(&place, &bytes.into())])?;
        if !self.logs.quiet {
            self.sum_up(&converted, &place);
        }
        let complaints = if self.logs.strict { sentences(&converted) } else { Vec::new() };
        Failure::checked(complaints)
    }

    fn sum_up(&self, converted: &Converted, place: &Place) {
        let (sessions, messages) = (counted(converted.sessions, "session"), counted(converted.messages, "message"));
        let place = if matches!(place, Place::Printed) { "to standard output".into() } else { format!("into {}", self.output.display()) };
        tell(&format!("wrote {sessions} of {messages} {place}"));
        if converted.sub_agents_left_out > 0 {
            tell(&format!("{} of sub-agents left out (--subagents exclude)", counted(converted.sub_agents_left_out, "session")));
        }
        let left_out = converted.left_out;
        let counts = [
            (left_out.withdrawn, "message that was taken back", "messages that were taken back"),
            (left_out.images, "picture", "pictures"),
            (left_out.compactions, "recorded compaction or pruning", "recorded compactions or prunings"),
            (left_out.side_calls, "call outside the conversation", "calls outside the conversation"),
            (left_out.placeholders, "mark that a reply's output is a placeholder", "marks that replies' outputs are placeholders"),
            (
                left_out.doubtful,
                "mark that usage is estimated or of a part of the prompt",
                "marks that usage is estimated or of a part of the prompt",
            ),
        ];
        for (count, one, many) in counts.into_iter().filter(|(count, ..)| *count > 0) {
            tell(&format!("chat messages have no place for {}", counted_as(count, one, many)));
        }
        let sentences = sentences(converted);
        if !sentences.is_empty() {
            tell(&first_few(&sentences, 5));
        }
    }
}

fn sentences(converted: &Converted) -> Vec<String> {
    let skipped = converted.skipped.iter().map(|skipped| format!("{} skipped: {}", skipped.path, skipped.reason));
    let losses = converted.losses.iter().map(|loss| format!("{}: {} ({})", loss.path, loss.reason, counted(loss.count, "time")));
    skipped.chain(losses).collect()
}
