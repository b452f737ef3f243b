//! A policy beside what the logs say happened.

use crate::cost::OwnError;

/// A policy beside the recording, over the sessions that both bring to their end. The summariser's requests are on neither side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// Number of sessions that are compared.
    pub sessions: u64,
    /// Those of them with a call that has a list price; 0 where the list prices below are not known.
    pub priced: u64,
    /// Compactions as recorded, manual ones left out.
    pub recorded_compactions: u64,
    /// Compactions of the policy, resets included.
    pub compactions: u64,
    /// Prompt tokens as recorded.
    pub recorded_tokens: u64,
    /// Prompt tokens under the policy.
    pub tokens: u64,
    /// List price of the recorded calls, in thousand-millionths of a dollar.
    pub recorded_nano_usd: u64,
    /// List price under the policy. Not known on either side without bills, without prices, and where a session has unlike caches on the two.
    pub nano_usd: u64,
    /// What single sessions are apart in list price, one way or the other, summed.
    pub off_nano_usd: u64,
}

impl Beside {
    /// How far the bills of the policy are off, where the recording was made under it; absent without a recorded price.
    pub fn error(&self) -> Option<OwnError> {
        let Beside { off_nano_usd, recorded_nano_usd, .. } = *self;
        (recorded_nano_usd > 0).then_some(OwnError { off_nano_usd, recorded_nano_usd, unrecorded_nano_usd: 0 })
    }
}
