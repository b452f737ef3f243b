//! How records are declared.

/// Declares a record and what it is made of: each key of the document once, with its type and with where its value comes from. `new` takes what stands
/// behind the name; what stands behind `with` is worked out first.
macro_rules! record {
    (
        $(#[$about:meta])*
        $seen:vis struct $name:ident($($given:tt: $kind:ty),+) $(with { $($before:tt)+ })? {
            $($(#[$on:meta])* $key:ident: $type:ty = $value:expr,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        $seen struct $name { $($(#[$on])* $key: $type,)+ }

        impl $name {
            /// Makes the record.
            $seen fn new($($given: $kind),+) -> $name {
                $($($before)+)?
                $name { $($key: $value,)+ }
            }
        }
    };
}
pub(super) use record;
