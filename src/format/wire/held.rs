//! Objects of which one text is read, whatever else they hold.

use crate::format::ground::{Words, wire};

wire! {
    /// An object with an address, as pictures have.
    pub struct Url<'a> { pub url: Words<'a> }

    /// An object with a text.
    pub struct Said<'a> { pub text: Words<'a> }

    /// An object with a message, as errors are.
    pub struct Message<'a> { pub message: Words<'a> }

    /// An object that is known by its id.
    pub struct Id<'a> { pub id: Words<'a> }

    /// An object with a kind: who speaks, or who put a message in.
    pub struct Kind<'a> { pub kind: Words<'a> }
}
