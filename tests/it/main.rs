//! One test binary; a module for each room or promise.

/// Pictures: their size by the first bytes of their base64 text.
mod format_image;
