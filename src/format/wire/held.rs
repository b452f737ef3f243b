//! Objects of which one text is read, whatever else they hold.

use crate::format::ground::Words;
use serde::Deserialize;

/// One with an address: of a picture.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Url<'a> {
    pub url: Words<'a>,
}

/// One that says something.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Said<'a> {
    pub text: Words<'a>,
}

/// One with a message: an error.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Message<'a> {
    pub message: Words<'a>,
}

/// One that is named by its id.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Id<'a> {
    pub id: Words<'a>,
}

/// One of some kind: who speaks, who put a message in.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Kind<'a> {
    pub kind: Words<'a>,
}
