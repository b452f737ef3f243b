//! Rules in words: what a person reads of a plan.

use crate::policy::figure;
use crate::policy::{
    Action, AllKept, Basis, Calls, Carried, Comparison, Count, Counted, Crossing, End, EndOf, EndUnit, Hook, Inject, Input, Level, Missing,
    Mode, NoInflate, Order, Pairs, PartialLine, Per, Place, Plan, Replay, Rule, Select, SummaryModel, Switch, Take, Trigger,
};
use crate::units::counted;
use std::fmt::Debug;

/// One aspect of a rule or a plan, and what it says: ("when", "the estimate of the request is above 142,800 tokens").
pub type Facet = (&'static str, String);

/// The name of a variant in small words: `ToolResult` is "tool result".
fn named(variant: &impl Debug) -> String {
    let mut words = String::new();
    for character in format!("{variant:?}").chars() {
        if character.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(character.to_lowercase());
    }
    words
}

fn list(words: impl IntoIterator<Item = String>, between: &str) -> String {
    words.into_iter().collect::<Vec<_>>().join(between)
}

fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= 40 { format!("\"{line}\"") } else { format!("\"{}...\"", line.chars().take(40).collect::<String>()) }
}

impl Plan {
    /// What holds for the whole plan, aspect by aspect. Rules are told by [`Rule::facets`].
    pub fn facets(&self) -> Vec<Facet> {
        let (estimator, belief, summary) = (&self.estimator, &self.belief, &self.summary);
        let size = match summary.model {
            SummaryModel::Fixed => format!("{} tokens", figure(summary.tokens as f64)),
            SummaryModel::Recorded => format!("as recorded in the corpus, else {} tokens", figure(summary.tokens as f64)),
            SummaryModel::Share => {
                let most = if summary.max == 0 { "without a bound".to_owned() } else { format!("to {}", figure(summary.max as f64)) };
                format!("{} of what it replaces, from {} {most}", figure(summary.ratio), figure(summary.min as f64))
            }
        };
        vec![
            ("output reserve", format!("{} tokens", figure(self.window.reserve as f64))),
            ("safety buffer", format!("{} tokens", figure(self.window.safety_buffer as f64))),
            ("window of unknown models", self.window.default.map_or_else(|| "not set".to_owned(), |tokens| figure(tokens as f64))),
            (
                "estimator",
                format!(
                    "{} x {} / {}, rounded by {} for each {}, and {} a message",
                    named(&estimator.unit),
                    estimator.numerator,
                    estimator.denominator,
                    named(&estimator.rounding),
                    named(&estimator.round_at),
                    estimator.per_message
                ),
            ),
            ("estimate after a rewrite", named(&belief.after_rewrite)),
            ("estimate after a refusal", named(&belief.after_overflow)),
            ("full, by its estimate", belief.full.map_or_else(|| "the window".to_owned(), |full| figure(full as f64))),
            ("cache writes in its estimate", named(&belief.cache_write)),
            ("replies in its estimate", named(&belief.output)),
            ("earlier reasoning in its estimate", named(&belief.old_reasoning)),
            ("size of a summary", size),
            ("tries after a refusal", self.reactive.retries.to_string()),
        ]
    }
}

impl Rule {
    /// What the rule does, aspect by aspect; an aspect that it leaves open is absent.
    pub fn facets(&self) -> Vec<Facet> {
        let mut facets = vec![("where", self.place())];
        facets.extend(self.when.as_ref().map(|trigger| ("when", trigger.words())));
        let acts_on = (!self.asks())
            .then(|| ("what it acts on", self.select.what(matches!(self.action(), Some(Action::Drop(_) | Action::Summarise(_))))));
        facets.extend(acts_on);
        let spared = self.select.spared();
        facets.extend((!spared.is_empty()).then_some(("what it spares", spared)));
        facets.extend(self.select.cut_words().map(|cut| ("where it cuts", cut)));
        facets.push(("what it does", self.effect()));
        let guards = self.guards();
        facets.extend((!guards.is_empty()).then_some(("on condition that", guards)));
        facets.extend(self.otherwise.as_ref().map(|other| ("where it fails", format!("`{other}` runs"))));
        let lasts = match self.mode {
            Mode::Commit => None,
            Mode::View => Some("for one request"),
            Mode::CommitIfFewer => Some("for one request, unless it leaves fewer messages"),
            Mode::Turn => Some("for the rest of the turn"),
        };
        facets.extend(lasts.map(|lasts| ("how long it lasts", lasts.to_owned())));
        facets.extend((self.delay > 0).then(|| ("when it takes effect", format!("{} later", counted(self.delay, "call")))));
        facets
    }

    /// The rule in one sentence.
    pub fn sentence(&self) -> String {
        let aspects = self.facets();
        let of = |wanted: &str| aspects.iter().find(|(aspect, _)| *aspect == wanted).map(|(_, words)| words.clone());
        let mut sentence = of("where").unwrap_or_default();
        sentence.extend(of("when").map(|when| format!(", when {when}")));
        sentence += &format!(": {}", of("what it does").unwrap_or_default());
        sentence.extend(of("what it acts on").filter(|_| self.shrinks()).map(|what| format!("; of {what}")));
        sentence.extend(of("what it spares").map(|spared| format!(", but not {spared}")));
        sentence
    }

    fn place(&self) -> String {
        let place = match self.at {
            Hook::Ingest => "as an item arrives",
            Hook::TurnStart => "at the start of a turn",
            Hook::ToolResult => "after each tool result",
            Hook::PreCall => "before each call",
            Hook::MidTurn => "between two steps of a turn",
            Hook::PostCall => "after each call",
            Hook::TurnEnd => "at the end of a turn",
            Hook::Idle => "in a pause",
            Hook::Overflow => "after a refusal",
            Hook::Manual => "where another rule fails",
        };
        let later = self.after.map(|seconds| format!("{place}, {} seconds after the last reply", figure(seconds)));
        later.unwrap_or_else(|| self.attempt.map_or_else(|| place.to_owned(), |attempt| format!("{place}, the one with number {attempt}")))
    }

    fn effect(&self) -> String {
        let action = self.action().map(|action| match action {
            Action::Mask(mask) => {
                let kept = mask.preview.iter().map(|kept| {
                    let of = if kept.tools.is_empty() { String::new() } else { format!(" of {}", list(kept.tools.iter().cloned(), ", ")) };
                    format!("{} and {} {}{of}", kept.head, kept.tail, named(&kept.unit))
                });
                let kept = list(kept, ", else ");
                let kept = if kept.is_empty() { kept } else { format!(" with {kept} of the original") };
                format!("a placeholder {} stands for it{kept}", excerpt(&mask.text))
            }
            Action::Truncate(cut) => {
                let limits = [
                    cut.max.map(|max| format!("{} {}", figure(max as f64), named(&cut.unit))),
                    cut.max_lines.map(|lines| format!("{} lines", figure(lines as f64))),
                    cut.max_line_chars.map(|chars| format!("{} characters a line", figure(chars as f64))),
                ];
                let keeps = cut.keep.filter(|keep| Some(*keep) != cut.max).map(|keep| {
                    let lines = cut.keep_lines.map(|lines| format!(" in {} lines", figure(lines as f64)));
                    format!(", of which {} stay{}", figure(keep as f64), lines.unwrap_or_default())
                });
                let clean = if cut.clean == Switch::On { ", cleaned first" } else { "" };
                let limits = list(limits.into_iter().flatten(), ", ");
                let lines = match (cut.whole_lines, &cut.partial_line) {
                    (Switch::Off, _) => "",
                    (Switch::On, PartialLine::Marked(_)) => ", in whole lines and a part of the one on the limit",
                    (Switch::On, _) => ", in whole lines",
                };
                let empty =
                    if cut.empty.is_empty() { String::new() } else { format!("; {} stands for one without text", excerpt(&cut.empty)) };
                let keeps = keeps.unwrap_or_default();
                format!("it is cut to {limits}{keeps}, {} of that from its start{lines}{clean}{empty}", figure(cut.head))
            }
            Action::Drop(drop) if drop.marker.is_empty() => "it is removed".to_owned(),
            Action::Drop(drop) => format!("it is removed, and a note {} is left", excerpt(&drop.marker)),
            Action::Summarise(summarise) => {
                let calls = match summarise.per {
                    Per::Pair => ", one for each call and its result,".to_owned(),
                    Per::Tokens(tokens) => format!(" in pieces of {} tokens", figure(tokens as f64)),
                    Per::All if summarise.calls == 1 => String::new(),
                    Per::All => format!(" in {} calls", summarise.calls),
                };
                let (role, place) = (named(&summarise.role), placed(summarise.place));
                let input = match summarise.input {
                    Input::Previews(chars) => format!("the first {} characters of each text", figure(f64::from(chars))),
                    input => named(&input),
                };
                let newest = summarise.newest.as_ref().filter(|newest| newest.tokens > 0);
                let input = newest.map_or(input.clone(), |newest| format!("the newest {} tokens of {input}", figure(newest.tokens as f64)));
                let size = summarise.tokens.map_or_else(String::new, |tokens| format!(" of {} tokens", figure(tokens as f64)));
                match summarise.discard {
                    Switch::Off => format!("a summary{size} in the name of the {role} takes its place {place}, made{calls} from {input}"),
                    Switch::On => format!("a summary{size} is made{calls} from {input}, paid for and thrown away"),
                }
            }
        });
        let refuses = (self.refuse == Switch::On).then(|| "the agent gives up, and the session ends".to_owned());
        let asks = self.asks().then(|| "the program of the document decides".to_owned());
        list(action.into_iter().chain(refuses).chain(asks).chain(self.inject.iter().map(Inject::words)), "; ")
    }

    fn guards(&self) -> String {
        let mut guards: Vec<String> = self.unless.iter().map(|other| format!("`{other}` has not fired at this call")).collect();
        if let Some(saving) = &self.min_saving {
            let net = if saving.basis == Basis::Net { " net" } else { "" };
            let by = if saving.cmp == Comparison::Gt { "more than" } else { "at least" };
            guards.push(format!("it saves {by} {} tokens{net}", figure(saving.tokens as f64)));
        }
        guards.extend(self.min_progress.map(|share| format!("{} of the messages go", figure(share))));
        guards.extend(self.min_messages.map(|count| format!("{count} messages go that are no summaries")));
        match self.no_inflate {
            NoInflate::Off => {}
            NoInflate::Replaced => guards.push("what comes is smaller than what goes".to_owned()),
            NoInflate::UsageIn => guards.push("the history behind it, by estimate, is no larger than the last prompt".to_owned()),
        }
        if let Some(most) = &self.max_fires {
            let limits = [(most.per_call, "call"), (most.per_turn, "turn"), (most.per_session, "session")];
            guards.extend(limits.into_iter().filter_map(|(limit, of)| {
                limit.map(|limit| format!("it has fired less than {} in this {of}", counted(u64::from(limit), "time")))
            }));
        }
        guards.extend(self.give_up_after.map(|failures| match (failures, &self.give_up_with) {
            (1, None) => "it has not failed since the last summary".to_owned(),
            (1, Some(other)) => format!("neither `{other}` nor it has failed since the last summary"),
            (failures, None) => format!("it has not failed {failures} times in a row"),
            (failures, Some(other)) => format!("`{other}` and it have not failed {failures} times in a row"),
        }));
        list(guards, "; ")
    }
}

fn placed(place: Place) -> &'static str {
    match place {
        Place::Head => "at the head",
        Place::End => "at the end",
        Place::BeforeReply => "before the newest reply",
        Place::SystemPrompt => "in the system prompt",
    }
}

impl Inject {
    fn words(&self) -> String {
        let beside = self.results.as_ref().map(|results| {
            let tools = list(results.tools.iter().cloned(), ", ");
            format!(", beside the newest {} results of {tools}, {} tokens of each at most,", results.last, figure(results.each as f64))
        });
        format!("{} of {} tokens{} comes {}", self.what, figure(self.tokens as f64), beside.unwrap_or_default(), placed(self.place))
    }
}

impl Trigger {
    /// The condition in words.
    pub fn words(&self) -> String {
        match self {
            Trigger::Level(level) => level.words(),
            Trigger::Count(count) => count.words(),
            Trigger::Idle(seconds) => format!("{} seconds have passed since the last call", figure(*seconds)),
            Trigger::Any(triggers) => list(triggers.iter().map(Trigger::words), " or "),
            Trigger::All(triggers) => list(triggers.iter().map(Trigger::words), " and "),
        }
    }
}

impl Level {
    fn words(&self) -> String {
        let limit = match (self.gt, self.ge) {
            (Some(limit), _) => format!("above {}", figure(limit)),
            (_, limit) => format!("at or above {}", figure(limit.unwrap_or(0.0))),
        };
        let most = self.at_most.as_ref().map(|most| format!(", or {} where that is less", most.words())).unwrap_or_default();
        format!("{} is {limit} tokens{most}", self.of.words())
    }
}

impl Count {
    fn words(&self) -> String {
        let things = match self.of {
            Counted::Messages => "messages",
            Counted::Turns => "turns",
            Counted::ToolResults => "tool results that are not masked",
            Counted::Superseded => "results that something later shows again",
            Counted::Calls => "calls",
            Counted::Images => "pictures in results",
        };
        let since = if self.since_fired == Switch::On { " since it last fired" } else { "" };
        match (self.gt, self.ge) {
            (Some(limit), _) => format!("there are more than {} {things}{since}", figure(limit)),
            (_, limit) => format!("there are {} {things} or more{since}", figure(limit.unwrap_or(0.0))),
        }
    }
}

impl Select {
    fn what(&self, messages: bool) -> String {
        let usual = if messages { "all messages" } else { "everything" };
        let kinds = if self.kind.is_empty() { usual.to_owned() } else { list(self.kind.iter().map(named), ", ") };
        let quoted = |tools: &[String]| list(tools.iter().cloned(), ", ");
        let mut what = kinds;
        if !self.tools.is_empty() {
            what += &format!(" of {}", quoted(&self.tools));
        }
        if !self.not_tools.is_empty() {
            what += &format!(" not of {}", quoted(&self.not_tools));
        }
        if self.superseded == Switch::On {
            what += " that something later shows again";
        }
        if self.not_errors == Switch::On {
            what += " without errors";
        }
        let order = match self.order {
            Order::Oldest => "oldest first",
            Order::Largest => "largest first",
            Order::MiddleOut => "from the middle outwards",
        };
        match self.take {
            Take::All => what,
            Take::Count(count) => format!("{what}: {count}, {order}"),
            Take::Share(share) => format!("{what}: a share of {}, {order}", figure(share)),
            Take::EvenShare(share) => format!("{what}: an even number up to a share of {}, {order}", figure(share)),
            Take::UntilRequest(limit) => format!("{what}: until the request is at {} tokens, {order}", figure(limit)),
            Take::DownTo(size) => {
                let above = size.above.map_or_else(String::new, |above| format!(" from {} on", figure(above)));
                format!("{what}:{above} down to {} tokens, {order}", figure(size.tokens))
            }
            Take::Batches(n) => format!("{what}: the {n} oldest messages that hold some (results of one reply as one)"),
            Take::Calls(Calls { n, above }) => format!("{what}: {n} calls, where there are more than {above}, {order}"),
            Take::TurnsUntilRequest(limit) => format!("{what}: turn by turn until the request is at {} tokens", figure(limit)),
        }
    }

    fn spared(&self) -> String {
        let head = self.head.iter().map(|end| format!("the oldest {}", end.words()));
        let several = self.tail.len() > 1 && self.tails != crate::policy::Tails::Union;
        let tail =
            list(self.tail.iter().map(|end| format!("the newest {}", end.words())), if several { " as far as they are " } else { " and " });
        let protect = self.protect.iter().map(|protect| {
            let kinds = if protect.kind.is_empty() { "message".to_owned() } else { list(protect.kind.iter().map(named), ", ") };
            match (protect.last, protect.first, protect.tokens) {
                (None, None, None) => format!("any {kinds}"),
                (last, first, tokens) => {
                    let last = last.map(|n| format!("the newest {n} {kinds}"));
                    let first = first.map(|n| format!("the oldest {n} {kinds}"));
                    let oldest = if protect.oldest > 0 {
                        format!(", {} of them of the oldest", figure(protect.oldest as f64))
                    } else {
                        String::new()
                    };
                    let tokens = tokens.map(|n| format!("{} tokens of the newest {kinds}{oldest}", figure(n as f64)));
                    list([last, first, tokens].into_iter().flatten(), " and ")
                }
            }
        });
        let stops = self.stop_at.iter().map(|stop| format!("what lies before something {}", named(stop)));
        list(head.chain((!tail.is_empty()).then_some(tail)).chain(protect).chain(stops), " and ")
    }

    fn cut_words(&self) -> Option<String> {
        let mut cut = Vec::new();
        if let Some(snap) = &self.snap {
            let else_ = match snap.missing {
                Missing::Nothing => "nothing goes",
                Missing::Turn => "it looks the other way",
                Missing::Everything => "everything goes",
                Missing::Answered => "everything goes if the newest message is a reply that calls nothing, else it looks the other way",
                Missing::Oldest => "what stands in front of the oldest of them goes",
            };
            let to = list(snap.to.iter().map(named), " or ");
            cut.push(format!("{} to the next message of {to}; where there is none, {else_}", named(&snap.direction)));
        }
        if let Some(step) = self.step.as_ref().filter(|step| step.by > 1.0) {
            cut.push(format!("{} at once", figure(step.by)));
        }
        match self.all_kept {
            AllKept::Nothing => {}
            AllKept::Everything => cut.push("where everything would be spared, everything goes".to_owned()),
            AllKept::LastTurn => cut.push("where everything would be spared, all but the newest turn goes".to_owned()),
            AllKept::Snap => cut.push("where everything would be spared, what lies before the first such message goes".to_owned()),
        }
        match self.replay {
            Replay::Nothing => {}
            Replay::LastUser => cut.push("before the newest user message, which is asked again, and what came after it is lost".to_owned()),
            Replay::Unanswered => cut.push("before the newest user message, which is asked again, if no reply has come since".to_owned()),
        }
        if self.carried == Carried::Lost {
            cut.push("what the compaction before has kept is lost".to_owned());
        }
        match self.pairs {
            Pairs::Whole => {}
            Pairs::Loops => cut.push("a run of calls that began with reasoning stays whole".to_owned()),
            Pairs::Clear => cut.push("behind results it moves in front of their call".to_owned()),
            Pairs::Split => cut.push("calls and results may be parted".to_owned()),
        }
        (!cut.is_empty()).then(|| list(cut, "; "))
    }
}

impl End {
    fn words(&self) -> String {
        let of = if self.of == EndOf::Selected && self.unit == EndUnit::Tokens { " of these" } else { "" };
        let unit = match self.unit {
            EndUnit::TurnShare => "of the turns".to_owned(),
            EndUnit::MessageShare => "of the messages".to_owned(),
            EndUnit::BatchShare => "of the messages (results of one reply as one)".to_owned(),
            EndUnit::SizeShare => "of the size".to_owned(),
            EndUnit::Batches => "messages (the results of one reply as one)".to_owned(),
            EndUnit::Spoken => "messages of user and model".to_owned(),
            unit => named(&unit),
        };
        let tokens = matches!(self.unit, EndUnit::Tokens | EndUnit::SizeShare);
        let line = if tokens && self.crossing == Crossing::Select { " (less what lies on the line)" } else { "" };
        let less = if self.less > 0.0 { format!(", {} messages fewer", figure(self.less)) } else { String::new() };
        let room = self.request.map_or_else(String::new, |request| format!(", within a request of {}", figure(request)));
        let shrink = self.shrink.map_or_else(String::new, |shrink| {
            let few = if shrink.least > 0.0 { format!(", none of fewer than {}", figure(shrink.least)) } else { String::new() };
            format!(" (each time {} less until it is within the other ends{few})", figure(shrink.by))
        });
        format!("{} {unit}{of}{line}{less}{room}{shrink}", figure(self.n))
    }
}
