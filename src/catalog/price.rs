//! What tokens cost. Money is counted in integers throughout: no price passes through a float.

/// The price of a token in million-millionths of a dollar: a dollar for a million tokens is 1,000,000.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(pub u64);

impl Rate {
    /// A price from decimal text and the power of ten that makes a dollar for one token of it: -6 for dollars a million tokens.
    /// Digits behind the millionth of a millionth are cut off; `None` where the text is no sound number.
    pub fn parse(text: &str, power: i32) -> Option<Rate> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || digits.len() > 30 || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let number: u128 = digits.parse().ok()?;
        let power = exponent.checked_add(power)?.checked_add(12)?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        let scale = 10_u128.checked_pow(power.unsigned_abs())?;
        let pico = if power >= 0 { number.checked_mul(scale)? } else { number / scale };
        u64::try_from(pico).ok().map(Rate)
    }

    /// What so many tokens cost, in thousand-millionths of a dollar, rounded to the nearest.
    pub fn of(self, tokens: u64) -> u64 {
        match self.0.checked_mul(tokens).and_then(|price| price.checked_add(500)) {
            Some(price) => price / 1000,
            None => u64::try_from((u128::from(self.0) * u128::from(tokens) + 500) / 1000).unwrap_or(u64::MAX),
        }
    }
}

/// Prices of a token in one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// Prompt tokens that no cache knows.
    pub input: Rate,
    /// Tokens read from the cache: the input price where there is no discount.
    pub cache_read: Rate,
    /// Tokens written to the cache: the input price where writes are free.
    pub cache_write: Rate,
    /// Tokens written to the cache with a lifetime of one hour.
    pub cache_write_1h: Rate,
    /// Tokens of the reply.
    pub output: Rate,
}

impl Rates {
    fn times(&self, percent: u64) -> Rates {
        let times = |rate: Rate| Rate(u64::try_from(u128::from(rate.0) * u128::from(percent) / 100).unwrap_or(u64::MAX));
        Rates {
            input: times(self.input),
            cache_read: times(self.cache_read),
            cache_write: times(self.cache_write),
            cache_write_1h: times(self.cache_write_1h),
            output: times(self.output),
        }
    }
}

/// The prices of a model from some day on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// Milliseconds since 1970 from which they hold.
    pub(super) from: i64,
    /// Hours of working days (UTC, from Monday to Friday) to which they are limited, each from its first hour to before its last. Empty: they
    /// hold at all times.
    pub(super) hours: Vec<[i8; 2]>,
    /// Minutes of every day (UTC) to which they are limited, each from its first to before its last. Empty: `hours` alone say when they hold.
    pub(super) daily: Vec<[i16; 2]>,
    pub(super) rates: Rates,
    /// Other prices of the whole request above so many tokens of prompt, in ascending order.
    pub(super) tiers: Vec<(u64, Rates)>,
}

impl Price {
    /// So many percent of each of them.
    pub(super) fn times(&self, percent: u64) -> Price {
        let tiers = self.tiers.iter().map(|(above, rates)| (*above, rates.times(percent))).collect();
        Price { rates: self.rates.times(percent), tiers, ..self.clone() }
    }

    /// Do they hold at a time, in milliseconds since 1970?
    pub(super) fn holds_at(&self, time: i64) -> bool {
        let then = |moment: jiff::Timestamp| {
            let moment = moment.to_zoned(jiff::tz::TimeZone::UTC);
            let minute = i16::from(moment.hour()) * 60 + i16::from(moment.minute());
            let working_day = moment.weekday().to_monday_zero_offset() < 5;
            working_day && self.hours.iter().any(|[from, to]| (*from..*to).contains(&moment.hour()))
                || self.daily.iter().any(|[from, to]| (*from..*to).contains(&minute))
        };
        self.from <= time && (!self.is_limited() || jiff::Timestamp::from_millisecond(time).is_ok_and(then))
    }

    /// Do they hold at some times of the day alone?
    pub(super) fn is_limited(&self) -> bool {
        !self.hours.is_empty() || !self.daily.is_empty()
    }

    /// The prices of a request with so many tokens of prompt.
    pub fn rates(&self, prompt: u64) -> &Rates {
        self.tiers.iter().rev().find(|(above, _)| prompt > *above).map_or(&self.rates, |(_, rates)| rates)
    }
}
