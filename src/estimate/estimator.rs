//! The policy's estimate of what messages cost: its system's own arithmetic, unit, rounding and all.

use super::content::ContentKind;
use super::length::{Rounding, Unit};
use crate::catalog::{ContentCosts, Family};
use crate::trace::{PartKind, PartRow};
use crate::transcript::{Image, Role, Text, TextKind};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// What is rounded to whole tokens in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundAt {
    /// Each text by itself, the name of a call and its arguments apart.
    #[default]
    Part,
    /// Each text by itself, a call with its name.
    Item,
    /// Once for each message.
    Message,
    /// Prose and pictures of a message together, each call, result and piece of reasoning by itself (Codex, whose items these are).
    Prose,
}

/// Does the agent's estimate count something?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// Part of the estimate.
    Counted,
    /// Left out of the estimate.
    #[default]
    Ignored,
}

/// Which ids the estimate counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ids {
    /// Ids of calls and ids in results.
    Counted,
    /// Ids of calls alone.
    Calls,
    /// Ids in results, of the calls that they answer.
    Results,
    /// No ids at all.
    #[default]
    Ignored,
}

/// Characters outside ASCII count otherwise than the others.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NonAscii {
    /// Each unit of such a character counts for so many, before the division.
    pub units: u64,
    /// Texts of more units than this count all characters alike (Gemini CLI); absent: none do.
    pub up_to: Option<u64>,
    /// Do they count so in calls and results of tools as well?
    #[serde(default = "counted")]
    pub tools: Counting,
}

fn divisor<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    match u64::deserialize(from)? {
        0 => Err(D::Error::custom("0 cannot divide: a whole number from 1 on is expected")),
        divisor => Ok(divisor),
    }
}

fn counted() -> Counting {
    Counting::Counted
}

/// An agent's estimator. Every number is an integer; `units * numerator / denominator` is the whole arithmetic.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Estimator {
    /// Unit of a text's length.
    pub unit: Unit,
    /// The unit of texts as parts of messages, where it is another than that of texts by themselves.
    pub message_unit: Option<Unit>,
    /// The unit of tool names, arguments and ids, where it is another.
    pub call_unit: Option<Unit>,
    /// The unit of tools' results as parts of messages, where it is another than that of other texts in messages.
    pub result_unit: Option<Unit>,
    /// What characters outside ASCII count. Absent: like all others.
    pub non_ascii: Option<NonAscii>,
    /// Tokens = units x `numerator` / `denominator`.
    pub numerator: u64,
    /// See `numerator`; `chars / 4` has 1 and 4.
    #[serde(deserialize_with = "divisor")]
    pub denominator: u64,
    /// Units of each kind of content count so many times, before the division. Absent: once, whatever it is.
    pub weights: Option<ContentCosts>,
    /// What is different for models of a family: the keys that stand there replace those above. Empty once a model is known.
    pub families: BTreeMap<Family, Estimator>,
    /// What becomes of fractions of a token.
    pub rounding: Rounding,
    /// What is rounded to whole tokens in one step.
    pub round_at: RoundAt,
    /// Tokens added for each message.
    pub per_message: u64,
    /// Units added for each message, before rounding.
    pub message_units: u64,
    /// Units added for each prose part.
    pub text_units: u64,
    /// Units added once for the prose and pictures of a system message, where parts are rounded together; rounded by themselves, where
    /// each part is.
    pub system_units: u64,
    /// Units added like `system_units`, for a user's message.
    pub user_units: u64,
    /// Units added like `system_units`, for an assistant message.
    pub assistant_units: u64,
    /// Units added like `system_units`, for a message of tools' results.
    pub tool_units: u64,
    /// Units added for each tool call.
    pub call_units: u64,
    /// Are tool calls, their names and arguments, counted?
    pub calls: Counting,
    /// Units added for each tool result.
    pub result_units: u64,
    /// Units added for each tool's definition.
    pub definition_units: u64,
    /// Tokens of a picture, added after rounding.
    pub image_tokens: u64,
    /// Units of a picture, added before rounding.
    pub image_units: u64,
    /// Units of it that stand for its address. Where the log tells the address, its length takes their place; 0 where it does not matter.
    pub image_address_units: u64,
    /// Units of a picture that is only referred to, beside its address; 0 where it counts like any other.
    pub image_link_units: u64,
    /// Units added for each piece of reasoning that can be read.
    pub thinking_units: u64,
    /// Are pictures in user messages counted?
    pub user_images: Counting,
    /// Are ids of calls and results counted?
    pub ids: Ids,
    /// Units of a result's text beyond so many do not count, but for errors, where what stays of a compaction becomes text that is cut there;
    /// absent: all do.
    #[serde(skip)]
    pub result_most: Option<u64>,
    /// Do names of tools count in their results as well as in their calls?
    pub result_names: Counting,
    /// Is visible reasoning counted?
    pub thinking: Counting,
    /// Is encrypted reasoning counted? As three quarters of its bytes less 650, which is Codex's rule.
    pub sealed: Counting,
    /// What that rule makes of the encrypted form of 1,000 reported reasoning tokens of the model; 0 where it is not known.
    #[serde(skip)]
    pub sealed_thousandths: u64,
    /// Are tool definitions counted?
    pub tools: Counting,
    /// Are system messages counted?
    pub system: Counting,
    /// Tokens that the system counts for what a log hides (its own prompt and tools), once a request.
    pub overhead: u64,
    /// A final factor on the whole request, in thousandths.
    pub safety_thousandths: u64,
    /// What messages come to where protected ends are counted in tokens or shares, for agents that measure them otherwise than their
    /// context. Absent: the same.
    pub ends: Option<Box<Estimator>>,
}

impl Default for Estimator {
    fn default() -> Estimator {
        Estimator {
            unit: Unit::Chars,
            message_unit: None,
            call_unit: None,
            result_unit: None,
            non_ascii: None,
            numerator: 1,
            denominator: 4,
            weights: None,
            families: BTreeMap::new(),
            rounding: Rounding::Floor,
            round_at: RoundAt::Part,
            per_message: 0,
            message_units: 0,
            text_units: 0,
            system_units: 0,
            user_units: 0,
            assistant_units: 0,
            tool_units: 0,
            call_units: 0,
            calls: Counting::Counted,
            result_units: 0,
            definition_units: 0,
            image_tokens: 0,
            image_units: 0,
            image_address_units: 0,
            image_link_units: 0,
            thinking_units: 0,
            user_images: Counting::Counted,
            ids: Ids::Ignored,
            result_most: None,
            result_names: Counting::Ignored,
            thinking: Counting::Counted,
            sealed: Counting::Ignored,
            sealed_thousandths: 0,
            tools: Counting::Ignored,
            system: Counting::Counted,
            overhead: 0,
            safety_thousandths: 1000,
            ends: None,
        }
    }
}

/// What one part adds to its message's estimate: units that wait for the message's rounding, and tokens that are whole already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Guess {
    /// Units that the message's rounding turns into tokens.
    pub units: u64,
    /// Tokens that are rounded already.
    pub tokens: u64,
    /// Parts that share in the units.
    pub parts: u64,
}

impl Guess {
    /// Tokens that are whole already.
    pub fn whole(tokens: u64) -> Guess {
        Guess { tokens, ..Guess::default() }
    }

    /// The sum of two estimates, field by field.
    pub fn plus(self, other: Guess) -> Guess {
        Guess { units: self.units + other.units, tokens: self.tokens + other.tokens, parts: self.parts + other.parts }
    }

    /// The difference of two estimates, field by field.
    pub fn less(self, other: Guess) -> Guess {
        Guess { units: self.units - other.units, tokens: self.tokens - other.tokens, parts: self.parts - other.parts }
    }
}

impl Estimator {
    /// Units turned into whole tokens by factor and rounding.
    #[inline]
    pub fn whole(&self, units: u64) -> u64 {
        if self.numerator == self.denominator && self.denominator > 0 {
            return units;
        }
        self.rounding.divide(u128::from(units) * u128::from(self.numerator), u128::from(self.denominator.max(1)))
    }

    /// What a text costs by itself, rounded by itself.
    #[inline]
    pub fn text(&self, text: &Text) -> u64 {
        self.whole(self.weighed_text(text, self.unit))
    }

    /// Units of a text that is nothing but text, as often as its kind counts.
    fn weighed_text(&self, text: &Text, unit: Unit) -> u64 {
        let kind = match text.kind {
            TextKind::Prose => ContentKind::Prose,
            TextKind::Code => ContentKind::Code,
            TextKind::Json => ContentKind::Json,
            TextKind::Cjk => ContentKind::Cjk,
        };
        self.weighed(self.units(text, unit), kind)
    }

    /// The length of a text, characters outside ASCII as often as they count.
    fn units(&self, text: &Text, unit: Unit) -> u64 {
        let units = u64::from(text.in_unit(unit));
        match &self.non_ascii {
            Some(beyond) if beyond.up_to.is_none_or(|most| units <= most) => {
                let of_them = u64::from(text.beyond_ascii(unit));
                units.saturating_sub(of_them) + of_them * beyond.units
            }
            _ => units,
        }
    }

    /// Units of a text in calls and results of tools.
    fn tool_units(&self, text: &Text, unit: Unit) -> u64 {
        match &self.non_ascii {
            Some(NonAscii { tools: Counting::Ignored, .. }) => u64::from(text.in_unit(unit)),
            _ => self.units(text, unit),
        }
    }

    /// Units as often as content of this kind counts.
    fn weighed(&self, units: u64, kind: ContentKind) -> u64 {
        let Some(weights) = &self.weights else { return units };
        units
            * match kind {
                ContentKind::Prose => weights.prose,
                ContentKind::Code => weights.code,
                ContentKind::Json => weights.json,
                ContentKind::ToolOutput => weights.tool_output,
                ContentKind::Cjk => weights.cjk,
                ContentKind::Thinking => weights.thinking,
                // A picture has no units of text.
                ContentKind::Image => 1,
            }
    }

    /// What a text adds to the estimate of a message that it is the prose of.
    pub fn message_text(&self, text: &Text) -> Guess {
        self.prose(self.weighed_text(text, self.message_unit.unwrap_or(self.unit)) + self.text_units)
    }

    /// What a part adds to the estimate of a message of this role. `text` stands for the part's own text, which may have been cut since
    /// it was measured.
    pub fn part(&self, part: &PartRow, text: &Text, role: Role) -> Guess {
        let unit = self.message_unit.unwrap_or(self.unit);
        let call_unit = self.call_unit.unwrap_or(unit);
        let kind = ContentKind::of(part, text.kind);
        let of_tool = |unit: Unit| self.weighed(self.tool_units(text, unit), kind);
        let name = |unit: Unit| {
            let length = part.name.get();
            let name = Text { length, json_bytes: length.bytes, tokens: length.bytes.div_ceil(4), ..Text::default() };
            self.weighed(u64::from(name.in_unit(unit)), kind)
        };
        let ids = match (self.ids, part.kind) {
            (Ids::Counted, _) | (Ids::Calls, PartKind::ToolCall) | (Ids::Results, PartKind::ToolResult) => u64::from(part.id_bytes),
            _ => 0,
        };
        match part.kind {
            PartKind::Text | PartKind::Other => self.message_text(text),
            PartKind::Thinking => self.thinking(part, self.weighed(self.units(text, unit), kind)),
            PartKind::ToolCall if self.calls == Counting::Ignored => Guess::default(),
            PartKind::ToolCall => {
                let arguments = of_tool(call_unit) + ids + self.call_units;
                match self.round_at {
                    // Name and arguments are rounded separately, as BaseAgent does it; wrappers go with the arguments.
                    RoundAt::Part => Guess::whole(self.whole(name(call_unit)) + self.whole(arguments)),
                    RoundAt::Item | RoundAt::Message | RoundAt::Prose => self.settle(name(call_unit) + arguments),
                }
            }
            PartKind::ToolResult => {
                let named = if self.result_names == Counting::Counted { name(call_unit) } else { 0 };
                let most = self.result_most.filter(|_| !part.error).unwrap_or(u64::MAX);
                let text = of_tool(self.result_unit.unwrap_or(unit)).min(most);
                self.settle(text + named + ids + self.result_units)
            }
            PartKind::Image if role == Role::User && self.user_images == Counting::Ignored => Guess::default(),
            PartKind::Image => self.prose(self.units_of_picture(&part.image.get())).plus(Guess::whole(self.image_tokens)),
            PartKind::Tools if self.tools == Counting::Counted => self.settle(of_tool(unit)),
            PartKind::Tools => Guess::default(),
        }
    }

    /// What a part costs by itself that adds this to its message.
    #[inline]
    pub fn message_part(&self, part: Guess) -> u64 {
        self.whole(part.units) + part.tokens
    }

    /// The units that something adds where protected ends are counted, by the estimator for those; 0 where there is none apart.
    #[inline]
    pub fn end_units(&self, guess: impl FnOnce(&Estimator) -> Guess) -> u32 {
        let Some(ends) = &self.ends else { return 0 };
        let Guess { units, tokens, .. } = guess(ends);
        let of_tokens = tokens.saturating_mul(ends.denominator) / ends.numerator.max(1);
        u32::try_from(units.saturating_add(of_tokens)).unwrap_or(u32::MAX)
    }

    /// What definitions of tools cost together, each of them given as the text that the system counts: rounded once.
    pub fn definitions<'t>(&self, texts: impl Iterator<Item = &'t Text>) -> u64 {
        let unit = self.call_unit.unwrap_or(self.unit);
        self.whole(texts.map(|text| u64::from(text.in_unit(unit)) + self.definition_units).sum())
    }

    fn units_of_picture(&self, image: &Image) -> u64 {
        let address = u64::from(image.address);
        match image.bytes {
            _ if address == 0 => self.image_units,
            0 if self.image_link_units > 0 => self.image_link_units + address,
            _ if self.image_address_units > 0 => (self.image_units + address).saturating_sub(self.image_address_units),
            _ => self.image_units,
        }
    }

    fn thinking(&self, part: &PartRow, visible: u64) -> Guess {
        if self.sealed == Counting::Counted && part.sealed_bytes > 0 {
            return self.settle((u64::from(part.sealed_bytes) * 3 / 4).saturating_sub(650));
        }
        match self.thinking {
            Counting::Counted if visible > 0 => self.settle(visible + self.thinking_units),
            Counting::Counted | Counting::Ignored => Guess::default(),
        }
    }

    /// The estimate for encrypted reasoning that has been removed from a log, by the tokens that its provider reported. Where the catalogue
    /// knows nothing of the model: in a log of February 2026 that has the encrypted form, a token takes 6.46 bytes of it beyond a fixed head
    /// (51 pieces), and the head is what the estimate leaves out; `docs/fidelity.md` holds recorded compactions against it.
    pub fn sealed_by_report(&self, tokens: u64) -> u64 {
        match (self.sealed, self.sealed_thousandths) {
            (Counting::Counted, 0) => tokens * 1211 / 1000,
            (Counting::Counted, thousandths) => tokens.saturating_mul(thousandths) / 1000,
            (Counting::Ignored, _) => 0,
        }
    }

    /// Units that are rounded with the rest of their message, where anything is.
    fn prose(&self, units: u64) -> Guess {
        match self.round_at {
            RoundAt::Part | RoundAt::Item => Guess::whole(self.whole(units)),
            RoundAt::Message | RoundAt::Prose => Guess { units, tokens: 0, parts: 1 },
        }
    }

    /// Units that are rounded by themselves, unless the whole message is rounded as one.
    fn settle(&self, units: u64) -> Guess {
        match self.round_at {
            RoundAt::Part | RoundAt::Item | RoundAt::Prose => Guess::whole(self.whole(units)),
            RoundAt::Message => Guess { units, tokens: 0, parts: 1 },
        }
    }

    /// What a message of this role costs whose parts add up to this.
    #[inline]
    pub fn message(&self, parts: Guess, role: Role) -> u64 {
        let wrapper = match role {
            _ if parts.parts == 0 && !matches!(self.round_at, RoundAt::Part | RoundAt::Item) => 0,
            Role::System => self.system_units,
            Role::User => self.user_units,
            Role::Assistant => self.assistant_units,
            Role::Tool => self.tool_units,
        };
        self.whole(parts.units + wrapper + self.message_units) + parts.tokens + self.per_message
    }

    /// What a request costs whose messages add up to this.
    pub fn request(&self, messages: u64) -> u64 {
        let sum = u128::from(messages.saturating_add(self.overhead)) * u128::from(self.safety_thousandths) / 1000;
        u64::try_from(sum).unwrap_or(u64::MAX)
    }
}
