//! Schema `ctxsim.inspect/1`.

use crate::experiment::{Contents, ModelShare, Outlier, UsageOutlier, usage_outliers};
use crate::list::List;
use crate::trace::Trace;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// The record of `ctxsim inspect`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InspectRecord {
    models: Vec<ModelRecord>,
    sessions: SessionRecords,
}

/// The sessions. Each record is made when it is written: there may be many.
#[derive(Clone, Debug, PartialEq)]
struct SessionRecords(List<Trace>);

impl Serialize for SessionRecords {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.each().map(|trace| SessionRecord::new(&trace, &Contents::of(&trace))))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct ModelRecord {
    model: String,
    window: Option<u64>,
    sessions: u64,
    calls: u64,
    calls_with_usage: u64,
    prompt_tokens: u64,
    output_tokens: u64,
    estimated_output_tokens: u64,
    largest_prompt_tokens: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct SessionRecord {
    session: String,
    parent: Option<String>,
    source: String,
    agent: String,
    agent_version: String,
    models: Vec<String>,
    /// Milliseconds since 1970; `None` where no message has a time.
    first_time: Option<i64>,
    last_time: Option<i64>,
    messages: RolesRecord,
    tool_calls: u64,
    failures: u64,
    images: u64,
    calls: u64,
    calls_with_usage: u64,
    prompt_tokens: u64,
    output_tokens: u64,
    estimated_output_tokens: u64,
    largest_prompt_tokens: u64,
    overhead_tokens: Option<u64>,
    compactions: u64,
    prunings: u64,
    usage_outliers: Vec<OutlierRecord>,
}

/// A report of usage that stands out.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct OutlierRecord {
    /// The call, counted from 1.
    call: u64,
    kind: &'static str,
    prompt_tokens: u64,
    before_tokens: u64,
    after_tokens: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct RolesRecord {
    system: u64,
    user: u64,
    injected: u64,
    assistant: u64,
    tool: u64,
}

impl InspectRecord {
    /// The record of a corpus.
    pub fn new(sessions: &List<Trace>, models: &BTreeMap<String, ModelShare>) -> InspectRecord {
        InspectRecord {
            models: models.iter().map(|(name, share)| ModelRecord::new(name, share)).collect(),
            sessions: SessionRecords(sessions.clone()),
        }
    }
}

impl ModelRecord {
    fn new(name: &str, share: &ModelShare) -> ModelRecord {
        ModelRecord {
            model: name.to_owned(),
            window: share.window,
            sessions: share.sessions,
            calls: share.calls,
            calls_with_usage: share.calls_with_usage,
            prompt_tokens: share.prompt_tokens,
            output_tokens: share.outputs.all(),
            estimated_output_tokens: share.outputs.estimated,
            largest_prompt_tokens: share.largest_prompt,
        }
    }
}

impl SessionRecord {
    fn new(trace: &Trace, contents: &Contents) -> SessionRecord {
        SessionRecord {
            session: trace.id.clone(),
            parent: trace.parent.clone(),
            source: trace.source.clone(),
            agent: trace.agent.clone(),
            agent_version: trace.version.clone(),
            models: trace.models.clone(),
            first_time: contents.first,
            last_time: contents.last,
            messages: RolesRecord {
                system: contents.system,
                user: contents.user,
                injected: contents.injected,
                assistant: contents.assistant,
                tool: contents.results,
            },
            tool_calls: contents.tool_calls,
            failures: contents.failures,
            images: contents.images,
            calls: contents.calls,
            calls_with_usage: contents.calls_with_usage,
            prompt_tokens: contents.prompt_tokens,
            output_tokens: contents.outputs.all(),
            estimated_output_tokens: contents.outputs.estimated,
            largest_prompt_tokens: contents.largest_prompt,
            overhead_tokens: contents.overhead(),
            compactions: contents.compactions,
            prunings: contents.prunings,
            usage_outliers: usage_outliers(trace).iter().map(OutlierRecord::new).collect(),
        }
    }
}

impl OutlierRecord {
    fn new(outlier: &UsageOutlier) -> OutlierRecord {
        OutlierRecord {
            call: outlier.call as u64 + 1,
            kind: if outlier.kind == Outlier::Spike { "spike" } else { "repeated" },
            prompt_tokens: outlier.prompt,
            before_tokens: outlier.beside.0,
            after_tokens: outlier.beside.1,
        }
    }
}
