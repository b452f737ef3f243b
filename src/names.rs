//! Enums whose members have names.

/// Declares an enum with the word of each member beside it, and makes `ALL` and the method, named behind the colon, that gives the word.
macro_rules! named {
    ($(#[$of:meta])* pub enum $name:ident: $word:ident { $($(#[$on:meta])* $member:ident = $text:literal,)+ }) => {
        $(#[$of])*
        pub enum $name { $($(#[$on])* $member),+ }

        impl $name {
            /// All of them, in their order.
            pub const ALL: [$name; [$($text),+].len()] = [$($name::$member),+];

            /// Its word in reports and documents.
            pub const fn $word(self) -> &'static str {
                match self { $($name::$member => $text),+ }
            }
        }
    };
}
pub(crate) use named;
