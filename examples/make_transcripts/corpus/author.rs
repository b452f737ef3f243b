//! The author: invents what is asked for, what the model does about it, and what comes back.

use super::edits::{Change, Seen};
use super::outputs;
use super::project::Project;
use super::random::Random;
use super::story::{Action, Agent, Reply, Sketch};
use super::words::{self, CLOSINGS, CLOSINGS_ZH, NOUNS, REQUESTS, REQUESTS_ZH, VERBS};

/// A large output that a turn meets.
#[derive(Clone, Copy, Debug)]
pub enum Bulk {
    /// A log of so many bytes.
    Log(usize),
    /// So many readings as JSON, through the shell.
    Json(u64),
    /// So many readings through a tool whose result is not shortened.
    Export(u64),
    /// So many rows of a spool file in hexadecimal.
    Dump(u64),
    /// A profile of so many rows.
    Profile(u64),
    /// A verbose run of so many tests.
    Tests(u64),
}

/// What a turn is made of.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// Files read, whole or in part.
    pub reads: u64,
    /// Large outputs.
    pub bulk: &'static [Bulk],
    /// Changes, each followed by a test run.
    pub edits: u64,
}

/// The language in which user and model talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// English.
    English,
    /// Chinese; the code stays what it is.
    Chinese,
}

/// Where in a turn the model is, which decides what it thinks and says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    First,
    Looking,
    Changing,
    Failing,
}

/// Who invents a session.
#[derive(Clone, Debug)]
pub struct Author {
    random: Random,
    /// The project as it stands.
    pub project: Project,
    language: Language,
    seen: Vec<Seen>,
    requests: Vec<String>,
    changes: Vec<Change>,
    focus: String,
}

impl Author {
    /// A session over a project of so many modules of about this many lines.
    pub fn new(mut random: Random, language: Language, modules: usize, lines: usize) -> Author {
        let project = Project::new(&mut random, modules, lines);
        let focus = project.paths().into_iter().next().unwrap_or_default();
        Author { random, project, language, seen: Vec::new(), requests: Vec::new(), changes: Vec::new(), focus }
    }

    /// One turn: a request, the work, an answer.
    pub fn turn(&mut self, agent: &mut dyn Agent, turn: Turn) {
        let paths = self.project.paths();
        self.focus = paths[self.random.index(paths.len())].clone();
        let request = self.request();
        agent.user(&request);
        self.requests.push(request);
        self.work(agent, turn);
        let answer = self.answer();
        let thinking = self.thought(40, Moment::Looking);
        self.say(agent, Reply { thinking, text: answer, actions: Vec::new() });
        agent.end_turn();
    }

    /// One turn with this request, whose work is a sub-agent's.
    pub fn delegated_turn(&mut self, agent: &mut dyn Agent, turn: Turn) {
        let request = self.request();
        agent.user(&request);
        self.requests.push(request);
        self.overview(agent);
        let mut sketch = Sketch::default();
        let mut helper = self.clone();
        helper.random = Random::new(self.random.below(u64::MAX), "sub-agent");
        helper.seen.clear();
        helper.work(&mut sketch, turn);
        let report = format!("{}\n\n{}", helper.answer(), helper.findings());
        sketch.steps.push(Reply { thinking: String::new(), text: report.clone(), actions: Vec::new() });
        let prompt = self.fill("Search the tidewatch project for every place that writes a {noun}. Start in `{path}`. Report paths with line numbers and quote the lines; do not change anything.");
        let purpose = self.fill("Find writers of {noun}");
        let task = Action::Task { purpose, prompt, steps: sketch.steps, report };
        let thinking = self.thought(100, Moment::First);
        self.say(agent, Reply { thinking, text: "I'll have that searched separately.".to_owned(), actions: vec![task] });
        self.work(agent, Turn { reads: 2, bulk: &[], edits: 2 });
        let answer = self.answer();
        self.say(agent, Reply { thinking: String::new(), text: answer, actions: Vec::new() });
        agent.end_turn();
    }

    /// An instruction of this wording, then so many replies without another word of the user.
    pub fn run(&mut self, agent: &mut dyn Agent, instruction: &str, replies: u64) {
        agent.user(instruction);
        self.requests.push(instruction.to_owned());
        for step in 1..replies {
            let action = match (step % 9, self.random.below(3)) {
                (1, _) => self.search(),
                (2 | 6, _) => self.read_part(),
                (3, 0) => self.bulk(Bulk::Log(3200)),
                (3, _) => self.bulk(Bulk::Profile(24)),
                (4 | 7, _) => self.edit().unwrap_or_else(|| self.search()),
                (5 | 8, failing) => self.tests(14, failing == 0),
                _ => self.read_part(),
            };
            let moment = match step % 9 {
                1 if step == 1 => Moment::First,
                4 | 5 | 7 => Moment::Changing,
                6 => Moment::Failing,
                _ => Moment::Looking,
            };
            self.act(agent, 60, moment, vec![action]);
        }
        let answer = self.answer();
        self.say(agent, Reply { thinking: String::new(), text: answer, actions: Vec::new() });
        agent.end_turn();
    }

    fn work(&mut self, agent: &mut dyn Agent, turn: Turn) {
        self.overview(agent);
        for number in 0..turn.reads {
            let mut actions = vec![if number % 2 == 0 { self.read_whole() } else { self.read_part() }];
            if self.random.chance(25) {
                actions.push(self.read_part());
            }
            self.act(agent, 45, Moment::Looking, actions);
        }
        for bulk in turn.bulk {
            let action = self.bulk(*bulk);
            self.act(agent, 60, Moment::Looking, vec![action]);
        }
        for _ in 0..turn.edits {
            self.change(agent);
        }
    }

    /// A change until its tests pass: often the first try fails.
    fn change(&mut self, agent: &mut dyn Agent) {
        if self.random.chance(12) {
            self.missed_edit(agent);
        }
        for attempt in 0..3 {
            if self.seen.is_empty() || attempt > 0 {
                let action = self.read_part();
                self.act(agent, 50, Moment::Failing, vec![action]);
            }
            let Some(edit) = self.edit() else { continue };
            self.act(agent, 70, Moment::Changing, vec![edit]);
            let fails = attempt < 2 && self.random.chance(40);
            let count = self.random.between(9, 34);
            let run = self.tests(count, fails);
            self.act(agent, 20, Moment::Changing, vec![run]);
            if !fails {
                break;
            }
        }
    }

    /// An edit whose old text is no longer what the file holds.
    fn missed_edit(&mut self, agent: &mut dyn Agent) {
        let Some(change) = self.proposal() else { return };
        let stale: Vec<String> = change.old.iter().map(|line| line.replace("self.", "this.")).collect();
        if stale == change.old {
            return;
        }
        let action = Action::Edit { path: change.path.clone(), old: stale.join("\n"), new: change.new.join("\n"), found: false };
        self.act(agent, 30, Moment::Changing, vec![action]);
        let again = self.read_lines(&change.path, change.at.saturating_sub(12), 40);
        self.act(agent, 80, Moment::Failing, vec![again]);
    }

    fn overview(&mut self, agent: &mut dyn Agent) {
        let mut actions = vec![self.search()];
        if self.random.chance(40) {
            let commits = self.random.between(6, 20);
            let output = outputs::history(&mut self.random, commits);
            actions.push(shell("git status && git log --oneline", "Show state and recent commits", output, 0));
        }
        self.act(agent, 80, Moment::First, actions);
    }

    fn act(&mut self, agent: &mut dyn Agent, thinking: u64, moment: Moment, actions: Vec<Action>) {
        let reply = Reply { thinking: self.thought(thinking, moment), text: self.remark(moment), actions };
        self.say(agent, reply);
    }

    fn say(&mut self, agent: &mut dyn Agent, reply: Reply) {
        if agent.wants_compaction() {
            agent.compact(&self.summary());
            self.seen.clear();
        }
        agent.reply(&reply);
    }

    fn search(&mut self) -> Action {
        let noun = self.random.pick(NOUNS);
        let pattern = if self.random.chance(50) { format!("_{noun}(") } else { format!("{noun}_") };
        let limit = self.random.between(8, 30) as usize;
        let hits = self.project.search(&pattern, limit);
        Action::Search { pattern, folder: "src/tidewatch".to_owned(), hits }
    }

    /// Half of the time the file in question, otherwise another one.
    fn some_path(&mut self) -> String {
        let paths = self.project.paths();
        if self.random.chance(50) { self.focus.clone() } else { paths[self.random.index(paths.len())].clone() }
    }

    fn read_whole(&mut self) -> Action {
        let path = self.some_path();
        let length = self.project.lines(&path).len();
        self.read_lines(&path, 0, length)
    }

    fn read_part(&mut self) -> Action {
        let path = self.some_path();
        let length = self.random.between(30, 70) as usize;
        let from = self.random.index(self.project.lines(&path).len().saturating_sub(length).max(1));
        self.read_lines(&path, from, length)
    }

    fn read_lines(&mut self, path: &str, from: usize, length: usize) -> Action {
        let all = self.project.lines(path);
        let to = (from + length).min(all.len());
        let lines = all[from..to].to_vec();
        let whole = from == 0 && to == all.len();
        self.seen.push(Seen { path: path.to_owned(), from, to });
        Action::Read { path: path.to_owned(), from: from + 1, lines, whole }
    }

    /// A change inside something that was read, the newer the likelier.
    fn proposal(&mut self) -> Option<Change> {
        for _ in 0..6 {
            let back = self.random.below(self.seen.len().min(12) as u64).min(self.random.below(12)) as usize;
            let seen = self.seen.iter().rev().nth(back)?.clone();
            let change = Change::propose(&mut self.random, &self.project, &seen);
            if change.is_some() {
                return change;
            }
        }
        None
    }

    fn edit(&mut self) -> Option<Action> {
        let change = self.proposal()?;
        change.apply(&mut self.project);
        // The lines below have moved: what was seen of this file holds no longer, except around the change.
        self.seen.retain(|seen| seen.path != change.path || seen.to <= change.at);
        self.seen.push(Seen { path: change.path.clone(), from: change.at, to: change.at + change.new.len() });
        self.changes.push(change.clone());
        Some(Action::Edit { path: change.path, old: change.old.join("\n"), new: change.new.join("\n"), found: true })
    }

    fn tests(&mut self, count: u64, fails: bool) -> Action {
        let target = self.changes.last().map(|change| (change.path.clone(), change.at + 1, change.new.join(" ")));
        let failure = target.as_ref().filter(|_| fails).map(|(path, line, source)| (path.as_str(), *line, source.as_str()));
        let output = outputs::test_run(&mut self.random, count, failure);
        let noun = self.random.pick(NOUNS);
        shell(&format!("python -m pytest tests -k {noun} -v --color=yes"), "Run the narrow tests", output, i64::from(failure.is_some()))
    }

    fn bulk(&mut self, bulk: Bulk) -> Action {
        match bulk {
            Bulk::Log(bytes) => {
                let output = outputs::worker_log(&mut self.random, bytes);
                shell(&format!("tail -n {} var/log/ingest.log", output.lines().count()), "Show the end of the worker log", output, 0)
            }
            Bulk::Json(count) => {
                let output = outputs::readings(&mut self.random, count);
                shell(&format!("python -m tidewatch.export --limit {count} --json"), "Export recent readings", output, 0)
            }
            Bulk::Export(count) => {
                let station = format!("GB-{:04}", self.random.below(9999));
                Action::Export { station, count, output: outputs::readings(&mut self.random, count) }
            }
            Bulk::Dump(rows) => {
                let output = outputs::dump(&mut self.random, rows);
                shell(&format!("xxd -g 1 var/spool/current | head -n {rows}"), "Look at the raw spool", output, 0)
            }
            Bulk::Profile(rows) => {
                let output = outputs::profile(&mut self.random, rows);
                shell("python -m cProfile -s tottime -m tidewatch.export", "Profile the export", output, 0)
            }
            Bulk::Tests(count) => self.tests(count, false),
        }
    }

    fn fill(&mut self, template: &str) -> String {
        let stem = self.focus.rsplit('/').next().unwrap_or_default().trim_end_matches(".py").to_owned();
        let number = self.random.between(3, 240).to_string();
        let text = template.replace("{path}", &self.focus).replace("{module}", &stem).replace("{number}", &number);
        text.replace("{verb}", self.random.pick(VERBS)).replace("{noun}", self.random.pick(NOUNS))
    }

    fn request(&mut self) -> String {
        let list = if self.language == Language::Chinese { REQUESTS_ZH } else { REQUESTS };
        let template = self.random.pick(list);
        self.fill(template)
    }

    fn answer(&mut self) -> String {
        let list = if self.language == Language::Chinese { CLOSINGS_ZH } else { CLOSINGS };
        let template = self.random.pick(list);
        self.fill(template)
    }

    fn thought(&mut self, percent: u64, moment: Moment) -> String {
        if !self.random.chance(percent) {
            return String::new();
        }
        let template = self.random.pick(match moment {
            Moment::First => words::FIRST_THOUGHTS,
            Moment::Looking => words::LOOKING_THOUGHTS,
            Moment::Changing => words::CHANGING_THOUGHTS,
            Moment::Failing => words::FAILING_THOUGHTS,
        });
        self.fill(template)
    }

    fn remark(&mut self, moment: Moment) -> String {
        let template = self.random.pick(match moment {
            Moment::First => words::FIRST_REMARKS,
            Moment::Looking => words::LOOKING_REMARKS,
            Moment::Changing => words::CHANGING_REMARKS,
            Moment::Failing => words::FAILING_REMARKS,
        });
        self.fill(template)
    }

    /// The places that were seen last, with a line of each.
    fn findings(&self) -> String {
        let recent = self.seen.iter().rev().take(8);
        let lines = recent.filter_map(|seen| {
            self.project.lines(&seen.path).get(seen.from + 3).map(|line| format!("- {}:{}: `{}`", seen.path, seen.from + 4, line.trim()))
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// What a summariser would write: requests, changes with their new lines, places that matter.
    fn summary(&self) -> String {
        let requests: Vec<String> = self.requests.iter().enumerate().map(|(index, request)| format!("{}. {request}", index + 1)).collect();
        let recent = self.changes.iter().rev().take(14).rev();
        let changes: Vec<String> =
            recent.map(|change| format!("- {} (line {})\n```python\n{}\n```", change.path, change.at + 1, change.new.join("\n"))).collect();
        format!(
            "## What the user asked for\n{}\n\n## Changes made\n{}\n\n## Places that matter\n{}\n\n## Next\nFinish the last request, run the narrow tests, and report.",
            requests.join("\n"),
            changes.join("\n"),
            self.findings()
        )
    }
}

fn shell(command: &str, purpose: &str, output: String, code: i64) -> Action {
    Action::Shell { command: command.to_owned(), purpose: purpose.to_owned(), output, code }
}
