//! What the targets share: bytes -> [`Source`] -> readers -> measured trace -> two replays.

use ctxsim::catalog::Catalog;
use ctxsim::estimate::{Counter, Engine, Vocabulary};
use ctxsim::format::{Claim, Reader, Source, by_name};
use ctxsim::measure::{Content, Measure, TextScale, trace};
use ctxsim::policy::{Facts, Plan, Policy};
use ctxsim::sim::{Conditions, simulate};
use ctxsim::transcript::Transcript;
use std::io::Cursor;
use std::path::Path;
use std::sync::{Arc, LazyLock};

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::builtin().expect("the built-in catalogue is sound"));
static COUNTER: LazyLock<Arc<Counter>> =
    LazyLock::new(|| Arc::new(Counter::new(Vocabulary::O200kBase, Engine::Fast).expect("the vocabulary is built in")));
static PLANS: LazyLock<Vec<Plan>> = LazyLock::new(|| ["none", "opencode"].map(plan).into());

/// A small window, so that short sessions are compacted as well.
const WINDOW: u64 = 8_000;

fn plan(name: &str) -> Plan {
    let facts = Facts { window: Some(WINDOW), max_output: 500, ..Facts::default() };
    Policy::load(name).and_then(|policy| policy.plan(&facts)).expect("a preset has a plan")
}

/// The bytes as a file in a folder that does not exist: nothing lies beside it.
pub fn source(bytes: &[u8]) -> Option<Source> {
    Source::from_reader(Path::new("absent/input"), Box::new(Cursor::new(bytes.to_vec()))).ok()
}

/// Reads the bytes with those of the readers that claim them, and with one more, as `--format` may name any.
pub fn read(readers: &[&str], bytes: &[u8]) {
    let Some(first) = source(bytes) else { return };
    let named = bytes.len() % readers.len();
    for (place, name) in readers.iter().enumerate() {
        let reader = by_name(name).expect("a reader of this name");
        if place == named || (reader.claims)(&first) != Claim::No {
            read_with(reader, bytes);
        }
    }
}

/// Reads the bytes with this reader, and replays what they held.
pub fn read_with(reader: &Reader, bytes: &[u8]) {
    if let Some(source) = source(bytes) {
        read_source_with(reader, source);
    }
}

/// The same of a source that is open already.
pub fn read_source_with(reader: &Reader, mut source: Source) {
    let scale = TextScale::new(COUNTER.clone(), Content::Drop);
    let _ = (reader.read)(&mut source, &scale, &mut |session| {
        scale.next_session();
        replay(session);
    });
}

fn replay(session: Transcript) {
    let measure = Measure { catalog: &CATALOG, model: None, vocabulary: Vocabulary::O200kBase };
    let measured = trace(session, "input", measure);
    let conditions = Conditions { window: WINDOW, prompt_limit: WINDOW, ..Conditions::default() };
    PLANS.iter().for_each(|plan| drop(simulate(&measured, plan, &conditions)));
}
