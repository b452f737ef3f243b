//! Prices by model: the built-in table and one that users bring.

use super::model::Model;
use super::name::{Name, without_tier};
use super::price::{Price, Rate, Rates};
use super::price_file::PriceFile;
use super::table::CatalogError;
use crate::decode;
use crate::list::Arrange;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::slice;

const PRICES: &str = include_str!("../../catalog/prices.toml");

/// The marks of models that cost nothing: OpenRouter's, OpenCode's.
const FREE: [&str; 2] = [":free", "-free"];
static NOTHING: Price = Price { from: i64::MIN, hours: Vec::new(), daily: Vec::new(), rates: NO_RATES, tiers: Vec::new() };
const NO_RATES: Rates = Rates { input: Rate(0), cache_read: Rate(0), cache_write: Rate(0), cache_write_1h: Rate(0), output: Rate(0) };

/// All prices that are known, each with the days from which it holds.
#[derive(Clone, Debug, Default)]
pub struct Prices {
    /// By the model's id, the rows in order of time.
    by_id: BTreeMap<String, Vec<Price>>,
    /// The same where a model costs otherwise, by how its name begins there, as names are compared.
    regional: BTreeMap<String, BTreeMap<String, Vec<Price>>>,
    /// The same in a tier with prices of its own, by the end of the name (`:flex`).
    tiers: BTreeMap<String, BTreeMap<String, Vec<Price>>>,
    /// The day of the table: its prices hold where a log has no times.
    as_of: i64,
    /// Prices that a user has brought; they win.
    own: Option<PriceFile>,
}

impl Prices {
    /// The prices that ship with the program.
    pub fn builtin() -> Result<Prices, CatalogError> {
        Prices::parse(PRICES)
    }

    /// Prices from the text of a table like `catalog/prices.toml`.
    pub fn parse(text: &str) -> Result<Prices, CatalogError> {
        let table: Table = decode::from_toml(text).map_err(CatalogError::Prices)?;
        let as_of = millis(&table.as_of).ok_or(CatalogError::PriceDay)?;
        let mut by_id: BTreeMap<String, Vec<Price>> = BTreeMap::new();
        for row in table.prices {
            let unsound = CatalogError::Price { model: row.model.clone() };
            let price = row.price().ok_or(unsound)?;
            by_id.entry(row.model).or_default().push(price);
        }
        // What holds at some hours alone comes behind what holds for the rest of the same days.
        by_id.values_mut().for_each(|rows| rows.arrange_by_key(|price| (price.from, price.is_limited())));
        let mut regional: BTreeMap<String, BTreeMap<String, Vec<Price>>> = BTreeMap::new();
        let times = |percent: u64, models: Vec<String>| {
            let priced = models.into_iter().map(|model| match by_id.get(&model) {
                Some(rows) => Ok((model, rows.iter().map(|price| price.times(percent)).collect())),
                None => Err(CatalogError::Price { model }),
            });
            priced.collect::<Result<BTreeMap<String, Vec<Price>>, CatalogError>>()
        };
        for Region { begins, percent, models } in table.regions {
            let priced = times(percent, models)?;
            begins.iter().for_each(|front| regional.entry(Name::new(front).key()).or_default().extend(priced.clone()));
        }
        let mut tiers: BTreeMap<String, BTreeMap<String, Vec<Price>>> = BTreeMap::new();
        for ServiceTier { ends, percent, models } in table.service_tiers {
            tiers.entry(ends).or_default().extend(times(percent, models)?);
        }
        Ok(Prices { by_id, regional, tiers, as_of, own: None })
    }

    /// Takes prices from the text of LiteLLM's or models.dev's own JSON, which win over those that ship with the program.
    pub fn with_file(self, text: &str) -> Result<Prices, CatalogError> {
        let own = PriceFile::parse(text).map_err(CatalogError::PriceFile)?;
        Ok(Prices { own: Some(own), ..self })
    }

    /// The price of a model, as a log names it, at a time (milliseconds since 1970; on the day of the table where no time is known).
    /// `model` is the one by whose price the catalogue bills the name. Absent where the price is unknown.
    pub fn of(&self, name: &str, model: Option<&Model>, time: Option<i64>) -> Option<&Price> {
        self.at(self.rows(name, model), time)
    }

    /// All prices of a model in the order of time; none where they are unknown.
    pub fn rows(&self, name: &str, model: Option<&Model>) -> &[Price] {
        let id = model.map(Model::plain_id);
        if let (_, Some(tier)) = without_tier(name) {
            let named = id.map(|id| format!("{id}{tier}"));
            let own = self.own.as_ref().and_then(|own| own.find(name, named.as_deref())).map(slice::from_ref);
            let rows = || self.tiers.get(tier)?.get(id?).map(Vec::as_slice);
            return own.or_else(rows).unwrap_or_default();
        }
        if let Some(price) = self.own.as_ref().and_then(|own| own.find(name, id)) {
            return slice::from_ref(price);
        }
        if FREE.iter().any(|mark| name.ends_with(mark)) {
            return slice::from_ref(&NOTHING);
        }
        // A region stands before a dot: most names are spared the comparison.
        let region = self.regional.iter().find(|(front, _)| name.contains('.') && Name::new(name).begins_with(front));
        let rows = region.and_then(|(_, rows)| rows.get(id?)).or_else(|| self.by_id.get(id?));
        rows.map(Vec::as_slice).unwrap_or_default()
    }

    /// Which of a model's prices holds at a time.
    pub fn at<'p>(&self, rows: &'p [Price], time: Option<i64>) -> Option<&'p Price> {
        let time = time.unwrap_or(self.as_of);
        rows.iter().rev().find(|price| price.holds_at(time)).or_else(|| rows.first())
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
    #[serde(default)]
    regions: Vec<Region>,
    #[serde(default)]
    service_tiers: Vec<ServiceTier>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Region {
    begins: Vec<String>,
    percent: u64,
    models: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ServiceTier {
    ends: String,
    percent: u64,
    models: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    model: String,
    from: Option<String>,
    #[serde(default)]
    hours: Vec<[i8; 2]>,
    #[serde(default)]
    daily: Vec<[String; 2]>,
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
        let tier = |tier: &Tier| {
            Some((tier.above, rates(&tier.input, [&tier.cache_read, &tier.cache_write, &tier.cache_write_1h], &tier.output)?))
        };
        let mut tiers = self.tiers.iter().map(tier).collect::<Option<Vec<_>>>()?;
        tiers.arrange_by_key(|(above, _)| *above);
        let daily = self.daily.iter().map(|[from, to]| Some([minute(from)?, minute(to)?])).collect::<Option<Vec<_>>>()?;
        let rates = rates(&self.input, [&self.cache_read, &self.cache_write, &self.cache_write_1h], &self.output)?;
        Some(Price { from, hours: self.hours.clone(), daily, rates, tiers })
    }
}

/// The first millisecond of a day, in UTC.
fn millis(day: &str) -> Option<i64> {
    let day = day.parse::<jiff::civil::Date>().ok()?;
    Some(day.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_millisecond())
}

/// The minute of a day that a time is, written as `16:30`; the day ends at `24:00`.
fn minute(time: &str) -> Option<i16> {
    let (hour, minute) = time.split_once(':')?;
    let (hour, minute) = (hour.parse::<i16>().ok()?, minute.parse::<i16>().ok()?);
    let sound = (0..=24).contains(&hour) && (0..60).contains(&minute);
    sound.then(|| hour * 60 + minute)
}

fn rates(input: &str, [read, write, write_1h]: [&Option<String>; 3], output: &str) -> Option<Rates> {
    let rate = |text: &str| Rate::parse(text, -6);
    let input = rate(input)?;
    let or = |text: &Option<String>, usual: Rate| text.as_deref().map_or(Some(usual), rate);
    let cache_write = or(write, input)?;
    Some(Rates { input, cache_read: or(read, input)?, cache_write, cache_write_1h: or(write_1h, cache_write)?, output: rate(output)? })
}
