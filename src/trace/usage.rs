//! The usage of a call as it is held: a long session has many calls, and their numbers are small.

use crate::transcript::{Trust, Usage};
use crate::units::Index;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The usage of a call, where the log has it, in as much room as it takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldUsage(Held);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Held {
    #[default]
    Absent,
    Small(Small),
    Large(Box<Usage>),
}

/// Usage whose numbers are below 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Small {
    prompt: u32,
    cache_read: u32,
    cache_write: u32,
    cache_write_1h: u32,
    output: u32,
    reasoning: Index,
    cost_nano_usd: Index,
    trust: Trust,
    output_is_final: bool,
    counts_cache: bool,
}

impl Small {
    /// The usage, if it is small: what does not fit is another number here.
    fn of(usage: &Usage) -> Small {
        Small {
            prompt: usage.prompt as u32,
            cache_read: usage.cache_read as u32,
            cache_write: usage.cache_write as u32,
            cache_write_1h: usage.cache_write_1h as u32,
            output: usage.output as u32,
            reasoning: usage.reasoning.map(|tokens| tokens as u32).into(),
            cost_nano_usd: usage.cost_nano_usd.map(|cost| cost as u32).into(),
            trust: usage.trust,
            output_is_final: usage.output_is_final,
            counts_cache: usage.counts_cache,
        }
    }

    fn usage(self) -> Usage {
        Usage {
            prompt: self.prompt.into(),
            cache_read: self.cache_read.into(),
            cache_write: self.cache_write.into(),
            cache_write_1h: self.cache_write_1h.into(),
            output: self.output.into(),
            reasoning: self.reasoning.get().map(u64::from),
            cost_nano_usd: self.cost_nano_usd.get().map(i64::from),
            trust: self.trust,
            output_is_final: self.output_is_final,
            counts_cache: self.counts_cache,
        }
    }
}

impl HeldUsage {
    /// The usage; `None` where the log has none.
    #[inline]
    pub fn get(&self) -> Option<Usage> {
        match &self.0 {
            Held::Absent => None,
            Held::Small(small) => Some(small.usage()),
            Held::Large(usage) => Some(**usage),
        }
    }
}

impl From<Option<Usage>> for HeldUsage {
    fn from(usage: Option<Usage>) -> HeldUsage {
        let Some(usage) = usage else { return HeldUsage::default() };
        let small = Small::of(&usage);
        HeldUsage(if small.usage() == usage { Held::Small(small) } else { Held::Large(Box::new(usage)) })
    }
}

impl Serialize for HeldUsage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for HeldUsage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<HeldUsage, D::Error> {
        Option::deserialize(deserializer).map(HeldUsage::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::{packed, unpacked};

    #[test]
    fn usage_comes_back_as_it_was() {
        let plain = Usage { prompt: u64::from(u32::MAX), cache_read: 3, output: 9, ..Usage::default() };
        let large = 1 << 32;
        let all = [
            (true, plain),
            (true, Usage { cache_write: 7, cache_write_1h: 5, reasoning: Some(0), cost_nano_usd: Some(70_000), ..plain }),
            (true, Usage { trust: Trust::Partial, output_is_final: true, counts_cache: true, ..plain }),
            (false, Usage { prompt: large, ..plain }),
            (false, Usage { cache_read: large, ..plain }),
            (false, Usage { cache_write: large, ..plain }),
            (false, Usage { cache_write_1h: large, ..plain }),
            (false, Usage { output: large, ..plain }),
            (false, Usage { reasoning: Some(large - 1), ..plain }),
            (false, Usage { reasoning: Some(large), ..plain }),
            (false, Usage { cost_nano_usd: Some(-1), ..plain }),
            (false, Usage { cost_nano_usd: Some(1 << 32), ..plain }),
        ];
        for (small, usage) in all.map(|(small, usage)| (small, Some(usage))) {
            let held = HeldUsage::from(usage);
            assert_eq!((held.get(), matches!(held.0, Held::Small(_))), (usage, small));
            assert_eq!((packed(&held), unpacked::<HeldUsage>(&packed(&usage))), (packed(&usage), held));
        }
        assert_eq!((HeldUsage::from(None).get(), packed(&HeldUsage::default())), (None, packed(&None::<Usage>)));
    }
}
