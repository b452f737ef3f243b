//! WHAT EVERY READER STANDS ON: files, lines, pieces of documents, JSON, YAML, SQLite, words, numbers, times and pictures. Knows no format.

pub mod branches;
pub mod count;
pub mod image;
pub mod json;
pub mod lines;
pub mod outline;
pub mod pieces;
pub mod source;
pub mod sqlite;
pub mod time;
pub mod words;
pub mod yaml;
pub mod zstd;
