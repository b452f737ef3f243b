//! Of many sessions a corpus holds bytes: whatever is made of them comes back as it was.

use crate::made::Tables;
use crate::support::{project, shared};
use ctxsim::corpus::{ReadSettings, read};
use ctxsim::experiment::{Replay, ReplaySettings, price, recording, replay_closed};
use ctxsim::list::{List, Pack};
use ctxsim::policy::Policy;
use ctxsim::sim::Refetching;
use serde::{Deserialize, Serialize};

fn comes_back<T: Pack + PartialEq>(what: &str, list: &List<T>) {
    let wrong: Vec<usize> =
        list.each().enumerate().filter(|(_, one)| T::unpack(&one.clone().into_owned().pack()) != **one).map(|(place, _)| place).collect();
    assert!(!list.is_empty() && wrong.is_empty(), "{what}: {} of {}, the first {:?}", wrong.len(), list.len(), wrong.first());
}

#[test]
fn what_is_held_packed_comes_back_as_it_was() {
    let samples = project().join("transcripts");
    let folders = [Some(samples), shared().map(|folder| folder.join("transcripts"))];
    let tables = Tables::builtin();
    let (catalog, tariff) = (&tables.catalog, tables.tariff());
    for folder in folders.into_iter().flatten() {
        let mut corpus = read(&[folder.to_string_lossy().into_owned()], &ReadSettings::new(catalog)).unwrap();
        let settings = ReplaySettings { window: Some(60_000), ..ReplaySettings::new(catalog) };
        let policies = ["none", "pi", "opencode@2025-12", "codex"].map(|name| Policy::load(name).unwrap());
        let replays = |corpus: &ctxsim::corpus::Corpus| -> Vec<Replay> {
            let mut replays = replay_closed(corpus, &policies, &settings, Refetching::Lost).unwrap();
            price(corpus, &mut replays, &tariff);
            replays
        };
        let plain = replays(&corpus);
        for replay in plain.iter().flat_map(|open| std::iter::once(open).chain(open.closed.as_deref())) {
            comes_back("outcomes", &replay.outcomes);
            comes_back("bills", &replay.bills);
        }
        comes_back("sessions", &corpus.traces);
        comes_back("recordings", &recording(&corpus, &tariff).sessions);
        corpus.traces.pack();
        assert!(replays(&corpus) == plain, "replays of packed sessions");
        // With as much in memory as may be, whatever is packed from here on goes into the temporary file.
        let filler = List::packed((0..FILLER).map(filler_of).collect());
        let mut spilled = corpus.clone();
        spilled.traces.edit(|_| {});
        spilled.traces.pack();
        assert!(spilled == corpus, "spilled sessions");
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(|| replays(&spilled)) == plain, "replays of spilled sessions on {threads} threads");
        }
        assert!(filler.each().enumerate().all(|(number, filler)| filler.0 == filler_of(number).0));
        assert!(!cfg!(target_os = "linux") || spills(), "no temporary file was made");
    }
}

/// MiB that are more than all lists together may hold in memory.
const FILLER: usize = 40;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Filler(String);

impl Pack for Filler {}

/// A MiB of the same letter: a text is packed as a whole, a list byte by byte.
fn filler_of(number: usize) -> Filler {
    Filler(char::from(b'0' + number as u8).to_string().repeat(1 << 20))
}

/// Has this process a file that has no name and holds something?
fn spills() -> bool {
    let files = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let mut nameless = files.filter(|file| std::fs::read_link(file.path()).is_ok_and(|to| to.to_string_lossy().ends_with(" (deleted)")));
    nameless.any(|file| std::fs::metadata(file.path()).is_ok_and(|metadata| metadata.len() > 0))
}
