//! A bar on stderr for whatever takes longer than half a second, where stderr is a terminal.

use ctxsim::corpus::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_millis(500);

/// Tells how reading goes on.
pub struct Bar {
    bar: ProgressBar,
    start: Instant,
    watched: bool,
}

impl Bar {
    /// A bar that shows itself after half a second, unless stderr is no terminal or the user turned it off.
    pub fn new(quiet: bool) -> Bar {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("reading {bar:30} {pos}/{len} files, {eta} left") {
            bar.set_style(style);
        }
        Bar { bar, start: Instant::now(), watched: !quiet && std::io::stderr().is_terminal() }
    }
}

impl Progress for Bar {
    fn files(&self, count: usize) {
        self.bar.set_length(count as u64);
    }

    fn file_done(&self) {
        self.bar.inc(1);
        if self.watched && self.bar.is_hidden() && self.start.elapsed() > PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
