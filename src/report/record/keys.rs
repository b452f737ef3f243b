//! How records are declared.

/// Declares records and what they are made of: each key of the document once, with its type and with where its value comes from. `new` takes what stands
/// behind the name; what stands behind `with` is worked out first. A key behind `?` is left out where its value is `None`; the keys of what stands behind `..` stand
/// in its place.
macro_rules! record {
    ($(
        $(#[$about:meta])*
        $seen:vis struct $name:ident($($given:tt: $kind:ty),+) $(with { $($before:tt)+ })? {
            $($(#[$on:meta])* $(? $(@$absent:tt)?)? $(.. $(@$keys:tt)?)? $key:ident: $type:ty = $value:expr,)+
        }
    )+) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        $seen struct $name {
            $($(#[$on])* $(#[serde(skip_serializing_if = "Option::is_none")] $($absent)?)? $(#[serde(flatten)] $($keys)?)? $key: $type,)+
        }

        impl $name {
            /// Makes the record.
            $seen fn new($($given: $kind),+) -> $name {
                $($($before)+)?
                $name { $($key: $value,)+ }
            }
        }
    )+};
}

/// Declares records that are made one by one as they are written: all of them together would fill the memory. What stands behind the arrow makes them of what is
/// held.
macro_rules! rows {
    (
        $(#[$about:meta])*
        struct $name:ident { $($field:ident: $type:ty),+ $(,)? } |$held:ident| $rows:expr
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        struct $name { $($field: $type),+ }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let $held = self;
                serializer.collect_seq($rows)
            }
        }
    };
}
pub(crate) use record;
pub(super) use rows;
