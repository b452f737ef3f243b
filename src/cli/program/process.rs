//! One process of a policy's program: lines in, lines out, with a limit on time and on what it may say. No shell is between.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::time::Duration;

/// An answer of more bytes than this is none.
pub const LONGEST_ANSWER: u64 = 4 << 20;

/// So many lines wait to be read at most.
const WAITING: usize = 2;

/// So long a program that is told nothing more may take to end by itself.
const FAREWELL: Duration = Duration::from_millis(300);

/// A process that runs. It is ended, and all that it has started in its group with it, when this is dropped.
pub struct Process {
    child: Child,
    /// Absent once nothing more is said.
    to: Option<Sender<Vec<u8>>>,
    from: Receiver<Said>,
}

/// What a process has said.
enum Said {
    Line(Vec<u8>),
    TooMuch,
    Nothing,
}

/// Why a process gives no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    NotStarted,
    Ended,
    /// It takes too long.
    Silent,
    /// It says too much at once.
    TooMuch,
    /// It speaks without being asked.
    Unasked,
    /// It does not know the protocol.
    OtherProtocol,
}

impl Process {
    /// Starts a program in a folder. What it writes to stderr is shown where that is asked for, and thrown away elsewhere.
    pub fn start(words: &[String], folder: &Path, shows_errors: bool) -> std::io::Result<Process> {
        let (name, arguments) = words.split_first().ok_or_else(|| std::io::Error::other("no command"))?;
        // A path is meant from the folder of the document, as its arguments are; a name is looked for where programs are.
        let own = Path::new(name);
        let name = if own.components().count() > 1 { folder.join(own) } else { own.to_owned() };
        let mut command = Command::new(name);
        command.args(arguments).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(if shows_errors { Stdio::inherit() } else { Stdio::null() });
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(std::io::Error::other("it has no standard input or output"));
        };
        let (to, lines) = channel::<Vec<u8>>();
        std::thread::spawn(move || {
            for line in lines {
                if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
                    break;
                }
            }
        });
        let (heard, from) = sync_channel(WAITING);
        std::thread::spawn(move || listen(stdout, &heard));
        Ok(Process { child, to: Some(to), from })
    }

    /// The number by which the system knows it, and its group.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Says a line and waits for the answer.
    pub fn ask(&mut self, line: &[u8], patience: Duration) -> Result<Vec<u8>, Broken> {
        match self.from.try_recv() {
            Err(TryRecvError::Empty) => {}
            Ok(Said::Line(_)) => return Err(Broken::Unasked),
            Ok(Said::TooMuch) => return Err(Broken::TooMuch),
            Ok(Said::Nothing) | Err(_) => return Err(Broken::Ended),
        }
        let mut line = line.to_vec();
        line.push(b'\n');
        self.to.as_ref().and_then(|to| to.send(line).ok()).ok_or(Broken::Ended)?;
        match self.from.recv_timeout(patience) {
            Ok(Said::Line(answer)) => Ok(answer),
            Ok(Said::TooMuch) => Err(Broken::TooMuch),
            Err(RecvTimeoutError::Timeout) => Err(Broken::Silent),
            Ok(Said::Nothing) | Err(RecvTimeoutError::Disconnected) => Err(Broken::Ended),
        }
    }

    /// Has it ended, or spoken without being asked?
    pub fn is_spent(&self) -> bool {
        !matches!(self.from.try_recv(), Err(TryRecvError::Empty))
    }

    /// Lets it end by itself: nothing more is said.
    pub fn farewell(mut self) {
        self.to = None;
        while let Ok(Said::Line(_)) = self.from.recv_timeout(FAREWELL) {}
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        end_group(self.child.id());
        // Where there are no groups, or it has left its own.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ends a process and all of its group.
#[cfg(unix)]
pub fn end_group(id: u32) {
    if let Some(group) = i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

/// Elsewhere a process is ended alone.
#[cfg(not(unix))]
pub fn end_group(_: u32) {}

fn listen(stdout: ChildStdout, heard: &SyncSender<Said>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        let said = match stdout.by_ref().take(LONGEST_ANSWER + 1).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => Said::Nothing,
            Ok(_) if line.len() as u64 > LONGEST_ANSWER => Said::TooMuch,
            Ok(_) => Said::Line(line),
        };
        let is_last = !matches!(said, Said::Line(_));
        if heard.send(said).is_err() || is_last {
            return;
        }
    }
}
