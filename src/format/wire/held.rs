//! Objects of which one text is read, whatever else they hold.

use crate::format::ground::Words;
use serde::Deserialize;

/// An object with an address, as pictures have.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Url<'a> {
    pub url: Words<'a>,
}

/// An object with a text.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Said<'a> {
    pub text: Words<'a>,
}

/// An object with a message, as errors are.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Message<'a> {
    pub message: Words<'a>,
}

/// An object that is known by its id.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Id<'a> {
    pub id: Words<'a>,
}

/// An object with a kind: who speaks, or who put a message in.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Kind<'a> {
    pub kind: Words<'a>,
}
