//! How logs spell the names of models.

/// The marks by which agents ask for the bigger window: Claude Code, Copilot.
const LONG_CONTEXT: [&str; 2] = ["[1m]", "-1m"];

/// Words behind a model's name that leave its price as it is: editions, efforts of reasoning, number formats of open weights.
const SAME_PRICE: &str = "latest preview beta stable default v0 v1 v2 customtools instruct chat it thinking thought reasoning non maas \
                          none minimal low medium high xhigh extra fp4 fp8 fp16 bf16 nvfp4 mxfp4 int4 int8 awq gptq gguf";

/// The tiers with prices of their own that stand behind a model's name.
const TIERS: [&str; 3] = [":flex", ":batch", ":fast"];

/// A model's name and the tier behind it, where that has prices of its own (`gpt-5:flex`).
pub(super) fn without_tier(spelled: &str) -> (&str, Option<&'static str>) {
    let found = TIERS.iter().find_map(|tier| Some((spelled.strip_suffix(tier)?, Some(*tier))));
    found.unwrap_or((spelled, None))
}

/// A model's name in a log, less what says where it is hosted.
#[derive(Clone, Copy)]
pub(super) struct Name<'a> {
    spelled: &'a str,
    /// Was the bigger window asked for?
    pub(super) long_context: bool,
}

impl<'a> Name<'a> {
    /// Takes a name apart: the path in front (`openrouter/anthropic/`), Droid's remark on a user's own model (`-[OpenAI-BYOK]-0`), the mark of
    /// the bigger window, the revision of Bedrock (`-v1:0`).
    pub(super) fn new(spelled: &'a str) -> Name<'a> {
        let spelled = spelled.rsplit('/').next().unwrap_or(spelled).trim();
        let spelled = spelled.split_once("-[").map_or(spelled, |(stem, _)| stem);
        let marked = |mark: &&str| {
            let (stem, end) = spelled.split_at_checked(spelled.len().checked_sub(mark.len())?)?;
            end.eq_ignore_ascii_case(mark).then_some(stem)
        };
        let stem = LONG_CONTEXT.iter().find_map(marked);
        Name { spelled: without_revision(stem.unwrap_or(spelled)), long_context: stem.is_some() }
    }

    /// Is it a model that a customer has tuned (`ft:gpt-4o-mini:someone::abc`)?
    pub(super) fn is_tuned(self) -> bool {
        self.spelled.get(..3).is_some_and(|front| front.eq_ignore_ascii_case("ft:"))
    }

    /// The spelling under which names are compared: lower case, and a dash for each dot, colon and at sign.
    pub(super) fn key(self) -> String {
        self.spelled.chars().map(|letter| if letter.is_alphanumeric() { letter.to_ascii_lowercase() } else { '-' }).collect()
    }

    /// Does it begin so as it is compared, with or without a vendor in front of it?
    pub(super) fn begins_with(self, front: &str) -> bool {
        std::iter::successors(Some(self), |name| name.without_vendor()).any(|name| name.key().starts_with(front))
    }

    /// The name without a vendor in front of it (`us.anthropic.`, `openai:`), where the first word can be one.
    pub(super) fn without_vendor(self) -> Option<Name<'a>> {
        let (vendor, spelled) = self.spelled.split_once(['.', ':'])?;
        let vendor = vendor.chars().all(|letter| letter.is_ascii_alphabetic() || letter == '-');
        (vendor && spelled.starts_with(|first: char| first.is_ascii_alphabetic())).then_some(Name { spelled, ..self })
    }
}

/// Is this a spelling of a model's id: with vendors, dates, revisions or the mark of the bigger window around it, but of no other version?
pub fn is_spelled(spelled: &str, id: &str) -> bool {
    let begins = |name: Name<'_>| {
        let key = name.key();
        let rest = key.strip_prefix(id);
        rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix('-').is_some_and(|rest| !names_another_version(rest)))
    };
    std::iter::successors(Some(Name::new(spelled)), |name| name.without_vendor()).any(begins)
}

/// Cuts off `-v1:0` and `-1:0`.
fn without_revision(spelled: &str) -> &str {
    match spelled.rsplit_once(':') {
        Some((stem, minor)) if !minor.is_empty() && minor.bytes().all(|digit| digit.is_ascii_digit()) => {
            stem.rsplit_once('-').map_or(stem, |(stem, _)| stem)
        }
        _ => spelled,
    }
}

/// Does what follows a model's name make it another version (`9` after `gpt-5`, `6v` after `glm-4`)?
/// Dates, revisions and sizes do not: `2025-08-07`, `0613`, `001`, `70b`.
pub(super) fn names_another_version(rest: &str) -> bool {
    let first = rest.split('-').next().unwrap_or(rest);
    if !first.starts_with(|letter: char| letter.is_ascii_digit()) {
        return false;
    }
    let digits = |text: &str| text.bytes().all(|letter| letter.is_ascii_digit());
    let date_or_revision = digits(first) && (first.len() >= 3 || first.len() == 2 && first.starts_with('0'));
    let size = first.strip_suffix('b').is_some_and(digits);
    !date_or_revision && !size
}

/// Does what follows a model's name leave its price as it is? Dates, revisions and the words of [`SAME_PRICE`] do; `pro`, `fast`, `70b` and
/// unknown names may not.
pub(super) fn keeps_the_price(rest: &str) -> bool {
    rest.split('-').all(|word| word.bytes().all(|letter| letter.is_ascii_digit()) || SAME_PRICE.split(' ').any(|known| known == word))
}
