//! Why a text is no policy.

use super::expression::ExpressionError;

/// Why a text is no policy.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// The name is no preset, and there is no such file.
    #[error("`{name}` is neither a preset nor a readable policy file{hint}")]
    Unknown {
        /// The name or path that was asked for.
        name: String,
        /// "; did you mean ..." or nothing.
        hint: String,
    },
    /// The TOML is broken or says something that the vocabulary does not know.
    #[error("{origin}:{line}:{column}: {reason}")]
    Invalid {
        /// Path of the policy file, or name of the preset.
        origin: String,
        /// Line of the mistake, from 1.
        line: usize,
        /// Column of the mistake, from 1.
        column: usize,
        /// What is wrong, with the nearest known word.
        reason: String,
    },
    /// A parameter that the policy does not have.
    #[error("policy `{policy}` has no parameter `{name}`{hint}")]
    NoParameter {
        /// Name of the policy.
        policy: String,
        /// Name that none of the policy's parameters has.
        name: String,
        /// "; did you mean ..." or the list of all.
        hint: String,
    },
    /// A formula that has no value for this model.
    #[error("policy `{policy}`: {error}")]
    Formula {
        /// Name of the policy.
        policy: String,
        /// Why the formula has no value.
        error: ExpressionError,
    },
    /// A formula of a parameter comes to a number that the parameter cannot have.
    #[error("policy `{policy}`: `{name}`: {reason} (`{formula}` at a window of {window})")]
    OutOfRange {
        /// Name of the policy.
        policy: String,
        /// Name of the parameter.
        name: String,
        /// The formula as it is written.
        formula: String,
        /// The window that it was worked out for.
        window: u64,
        /// Why the parameter cannot have the number.
        reason: String,
    },
    /// The numbers do not fit the vocabulary once the formulas are worked out.
    #[error("policy `{policy}`: {reason}")]
    Plan {
        /// Name of the policy.
        policy: String,
        /// What the vocabulary refuses, as one sentence.
        reason: String,
    },
    /// Policies that extend each other in a ring, or too deep a chain.
    #[error("policy `{0}` extends itself, or stands behind more than 8 others that extend each other")]
    Ring(String),
}
