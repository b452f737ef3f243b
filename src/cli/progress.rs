//! A line on stderr for each phase of a run that takes longer than half a second, where a terminal shows it.

use crate::corpus::Progress;
use crate::experiment::Watch;
use crate::report::counted;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_millis(500);

/// So often the line is drawn anew.
const TICK: Duration = Duration::from_millis(200);

/// A phase of a run. Its line goes when it is over.
pub struct Phase {
    bar: ProgressBar,
    /// So many settings have been announced.
    settings: AtomicU64,
    /// The thread that shows the line, and by which it learns that there is nothing to show any more.
    shown: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Phase {
    /// Reading: so many files of so many.
    pub fn reading(quiet: bool) -> Phase {
        Phase::of("reading {bar:30} {pos}/{len} files, {eta} left", quiet)
    }

    /// Searching: so far of so many settings, more of which may come.
    pub fn searching(quiet: bool) -> Phase {
        Phase::of("searching {bar:30} {percent} % of {msg}, {eta} left", quiet)
    }

    /// A phase of which only the time is known.
    pub fn begin(name: &str, quiet: bool) -> Phase {
        Phase::of(&format!("{{spinner}} {name}, {{elapsed}}"), quiet)
    }

    fn of(template: &str, quiet: bool) -> Phase {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let is_watched = !quiet && std::io::stderr().is_terminal();
        let shown = is_watched.then(|| {
            let (over, ends) = channel();
            let line = bar.clone();
            let show = move || {
                if ends.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                    line.set_draw_target(ProgressDrawTarget::stderr());
                    line.enable_steady_tick(TICK);
                }
            };
            (over, spawn(show))
        });
        Phase { bar, settings: AtomicU64::new(0), shown }
    }
}

impl Progress for Phase {
    fn files(&self, count: usize) {
        self.bar.set_length(count as u64);
    }

    fn file_done(&self) {
        self.bar.inc(1);
    }
}

impl Watch for Phase {
    fn settings(&self, settings: usize, sessions: usize) {
        let all = self.settings.fetch_add(settings as u64, Ordering::Relaxed) + settings as u64;
        self.bar.set_message(counted(all, "setting"));
        self.bar.inc_length((settings * sessions) as u64);
    }

    fn replayed(&self, replays: usize) {
        self.bar.inc(replays as u64);
    }
}

impl Drop for Phase {
    fn drop(&mut self) {
        if let Some((over, shown)) = self.shown.take() {
            drop(over);
            // A thread that is gone shows nothing.
            let _ = shown.join();
        }
        self.bar.finish_and_clear();
    }
}
