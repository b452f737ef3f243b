//! WHAT WENT OVER THE WIRE, as proxies, recorders, clients and telemetry keep it: one file or folder a form. None knows another.

pub mod anthropic_messages;
pub mod api_exchange;
pub mod litellm;
pub mod openai_chat;
pub mod telemetry;
pub mod vcr;
