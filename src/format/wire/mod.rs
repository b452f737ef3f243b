//! THE PROVIDERS' SHAPES of messages, which many formats hold, and how their texts are weighed.

pub mod ai_sdk;
pub mod anthropic;
pub mod blocks;
pub mod chat;
pub mod google;
pub mod held;
pub mod kimi;
