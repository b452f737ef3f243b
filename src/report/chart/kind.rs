//! The kinds of charts: one table of names, each with what it shows.

/// A kind of chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Context over the calls of one session.
    Context,
    /// Distribution of the sessions' peak context.
    Peaks,
    /// Sessions that have not overflowed yet, over calls.
    Survival,
    /// What each stage of a policy freed.
    Stages,
    /// Fullness of the window, sessions by calls.
    Overflows,
    /// Cost against tokens saved.
    Cost,
    /// A measure over one parameter.
    Sweep,
    /// A measure over two parameters.
    SweepMap,
    /// Recorded against estimated prompts.
    Drift,
    /// Errors of estimators.
    Errors,
    /// What a safety buffer covers.
    Buffer,
    /// Cache hit rate over calls.
    Cache,
    /// The reuse-distance curve.
    Reuse,
    /// Reused text kept against content carried.
    References,
}

impl Kind {
    /// All of them, in the order of lists.
    pub const ALL: [Kind; 14] = [
        Kind::Context,
        Kind::Peaks,
        Kind::Survival,
        Kind::Stages,
        Kind::Overflows,
        Kind::Cost,
        Kind::Sweep,
        Kind::SweepMap,
        Kind::Drift,
        Kind::Errors,
        Kind::Buffer,
        Kind::Cache,
        Kind::Reuse,
        Kind::References,
    ];

    /// Its name, as it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Context => "context",
            Kind::Peaks => "peaks",
            Kind::Survival => "survival",
            Kind::Stages => "stages",
            Kind::Overflows => "overflows",
            Kind::Cost => "cost",
            Kind::Sweep => "sweep",
            Kind::SweepMap => "sweep-map",
            Kind::Drift => "drift",
            Kind::Errors => "errors",
            Kind::Buffer => "buffer",
            Kind::Cache => "cache",
            Kind::Reuse => "reuse",
            Kind::References => "references",
        }
    }

    /// The kind of this name.
    pub fn by_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What it shows, in one sentence without its end.
    pub fn sentence(self) -> &'static str {
        match self {
            Kind::Context => {
                "one session, call by call: context recorded, simulated and as the policy estimated it, its limits, and what happened"
            }
            Kind::Peaks => "the largest context of each session, recorded and under each policy",
            Kind::Survival => "the share of sessions that have not overflowed yet, over calls, under each policy",
            Kind::Stages => "tokens that each stage of each policy freed",
            Kind::Overflows => "how full the window was at each call of each session under one policy, and where it overflowed",
            Kind::Cost => "cost against tokens saved, one dot per policy, with the front that no other policy beats",
            Kind::Sweep => "a measure over the values of one parameter, a line for each value of a second one",
            Kind::SweepMap => "a measure over the values of two parameters, as a map",
            Kind::Drift => "recorded prompts against estimated ones, with the line where both are equal",
            Kind::Errors => "how far each estimator is from recorded prompts: the middle half and nine tenths of the calls",
            Kind::Buffer => "the share of the calls whose underestimate a safety buffer of so many tokens makes up for",
            Kind::Cache => "the share of the prompts that the prompt cache reads, over calls, recorded and under each policy",
            Kind::Reuse => "the share of references that the newest so many tokens would keep, and where the presets stand",
            Kind::References => "reused text kept against recorded content carried, one dot per policy, with the bound that none can beat",
        }
    }
}
