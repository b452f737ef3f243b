//! What tokens cost. Money is counted in integers throughout: no price passes through a float.

use super::model::Model;
use super::table::CatalogError;
use serde::Deserialize;
use std::collections::BTreeMap;

const PRICES: &str = include_str!("../../catalog/prices.toml");

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
        u64::try_from((u128::from(self.0) * u128::from(tokens) + 500) / 1000).unwrap_or(u64::MAX)
    }
}

/// The prices of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// Tokens that no cache knows.
    pub input: Rate,
    /// Tokens read from the cache: the input price where there is no discount.
    pub cache_read: Rate,
    /// Tokens written to the cache: the input price where writes are free.
    pub cache_write: Rate,
    /// The same with a lifetime of one hour.
    pub cache_write_1h: Rate,
    /// Tokens of the reply.
    pub output: Rate,
}

/// The prices of a model from some day on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// Milliseconds since 1970 from which they hold.
    pub(super) from: i64,
    pub(super) rates: Rates,
    /// Other prices of the whole request above so many tokens of prompt, in ascending order.
    pub(super) tiers: Vec<(u64, Rates)>,
}

impl Price {
    /// The prices of a request with so many tokens of prompt.
    pub fn rates(&self, prompt: u64) -> &Rates {
        self.tiers.iter().rev().find(|(above, _)| prompt > *above).map_or(&self.rates, |(_, rates)| rates)
    }
}

/// All prices that are known, each with the days from which it holds.
#[derive(Clone, Debug, Default)]
pub struct Prices {
    /// By the model's id, the rows in order of time.
    by_id: BTreeMap<String, Vec<Price>>,
    /// The day of the table: its prices hold where a log has no times.
    as_of: i64,
    /// Prices that a user has brought; they win.
    own: Option<super::price_file::PriceFile>,
}

impl Prices {
    /// The prices that ship with the program.
    pub fn builtin() -> Result<Prices, CatalogError> {
        Prices::parse(PRICES)
    }

    /// Prices from the text of a table like `catalog/prices.toml`.
    pub fn parse(text: &str) -> Result<Prices, CatalogError> {
        let table: Table = toml::from_str(text).map_err(CatalogError::Prices)?;
        let as_of = millis(&table.as_of).ok_or(CatalogError::PriceDay)?;
        let mut by_id: BTreeMap<String, Vec<Price>> = BTreeMap::new();
        for row in table.prices {
            let unsound = CatalogError::Price { model: row.model.clone() };
            let price = row.price().ok_or(unsound)?;
            by_id.entry(row.model).or_default().push(price);
        }
        by_id.values_mut().for_each(|rows| rows.sort_by_key(|price| price.from));
        Ok(Prices { by_id, as_of, own: None })
    }

    /// Takes prices from the text of LiteLLM's or models.dev's own JSON, which win over those that ship with the program.
    pub fn with_file(self, text: &str) -> Result<Prices, CatalogError> {
        let own = super::price_file::PriceFile::parse(text).ok_or(CatalogError::PriceFile)?;
        Ok(Prices { own: Some(own), ..self })
    }

    /// The price of a model, as a log names it, at a time (milliseconds since 1970; on the day of the table where no time is known).
    /// `model` is what the catalogue makes of the name. Absent where nobody knows the price.
    pub fn of(&self, name: &str, model: Option<&Model>, time: Option<i64>) -> Option<&Price> {
        let id = model.map(Model::plain_id);
        if let Some(price) = self.own.as_ref().and_then(|own| own.find(name, id)) {
            return Some(price);
        }
        let rows = self.by_id.get(id?)?;
        let begun = |price: &&Price| price.from <= time.unwrap_or(self.as_of);
        rows.iter().rev().find(begun).or_else(|| rows.first())
    }

    /// Ids of all models that have a price in the tables that ship with the program.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.by_id.keys().map(String::as_str)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    as_of: String,
    prices: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    model: String,
    from: Option<String>,
    input: String,
    cache_read: Option<String>,
    cache_write: Option<String>,
    cache_write_1h: Option<String>,
    output: String,
    #[serde(default)]
    tiers: Vec<Tier>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tier {
    above: u64,
    input: String,
    cache_read: Option<String>,
    cache_write: Option<String>,
    cache_write_1h: Option<String>,
    output: String,
}

impl Row {
    fn price(&self) -> Option<Price> {
        let from = match &self.from {
            Some(day) => millis(day)?,
            None => i64::MIN,
        };
        let rates = rates(&self.input, [&self.cache_read, &self.cache_write, &self.cache_write_1h], &self.output)?;
        let tier = |tier: &Tier| Some((tier.above, rates_of_tier(tier)?));
        let mut tiers = self.tiers.iter().map(tier).collect::<Option<Vec<_>>>()?;
        tiers.sort_by_key(|(above, _)| *above);
        Some(Price { from, rates, tiers })
    }
}

/// The first millisecond of a day, in UTC.
fn millis(day: &str) -> Option<i64> {
    let day = day.parse::<jiff::civil::Date>().ok()?;
    Some(day.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond())
}

fn rates_of_tier(tier: &Tier) -> Option<Rates> {
    rates(&tier.input, [&tier.cache_read, &tier.cache_write, &tier.cache_write_1h], &tier.output)
}

fn rates(input: &str, [read, write, write_1h]: [&Option<String>; 3], output: &str) -> Option<Rates> {
    let rate = |text: &str| Rate::parse(text, -6);
    let input = rate(input)?;
    let or = |text: &Option<String>, usual: Rate| text.as_deref().map_or(Some(usual), rate);
    let cache_write = or(write, input)?;
    Some(Rates { input, cache_read: or(read, input)?, cache_write, cache_write_1h: or(write_1h, cache_write)?, output: rate(output)? })
}
