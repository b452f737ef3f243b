//! What all commands know: the catalogue that ships with the program, read once.

use super::failure::Failure;
use crate::catalog::{Catalog, CatalogError};
use std::sync::LazyLock;

/// The catalogue: no command takes another one.
pub fn catalog() -> Result<&'static Catalog, Failure> {
    static READ: LazyLock<Result<Catalog, CatalogError>> = LazyLock::new(Catalog::builtin);
    READ.as_ref().map_err(|error| Failure::Usage(error.to_string()))
}
