//! What a token of each kind of content costs: least squares without negative costs, drawn towards what was known before.

use super::sample::Content;
use crate::estimate::ContentKind;

/// What is fitted: a coefficient for each kind of content, and one for messages.
pub const COSTS: usize = ContentKind::ALL.len() + 1;

/// The place of the messages among the costs.
const MESSAGES: usize = COSTS - 1;

/// In what content is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// Tokens of the vocabulary that the session was measured in.
    #[default]
    Tokens,
    /// Unicode code points, as `chars/4` counts them.
    Chars,
}

/// What content costs, in thousandths of a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// A token or code point of each kind, in the order of [`ContentKind::ALL`]. Pictures: a token of the catalogue's rule.
    pub kinds: [u64; ContentKind::ALL.len()],
    /// The wrapping of a message.
    pub message: u64,
}

/// Sums of products: whatever rows were added, in whatever order.
#[derive(Clone, Debug)]
pub(super) struct Normal {
    products: [[f64; COSTS]; COSTS],
    targets: [f64; COSTS],
}

impl Default for Normal {
    fn default() -> Normal {
        Normal { products: [[0.0; COSTS]; COSTS], targets: [0.0; COSTS] }
    }
}

/// Rounds of coordinate descent; eight coefficients settle in far fewer.
const ROUNDS: usize = 400;

impl Normal {
    /// Adds content that cost so many tokens.
    pub fn add(&mut self, row: &[f64; COSTS], target: f64, weight: f64) {
        for ((products, sum), here) in self.products.iter_mut().zip(&mut self.targets).zip(row) {
            *sum += weight * here * target;
            for (product, other) in products.iter_mut().zip(row) {
                *product += weight * here * other;
            }
        }
    }

    /// Adds another's rows, so many times.
    pub fn plus(&mut self, other: &Normal, times: f64) {
        for (mine, theirs) in self.targets.iter_mut().zip(&other.targets) {
            *mine += times * theirs;
        }
        for (mine, theirs) in self.products.iter_mut().flatten().zip(other.products.iter().flatten()) {
            *mine += times * theirs;
        }
    }

    /// The costs that fit best, none below zero. `prior` weighs as if rows of this strength had shown it.
    pub fn solve(&self, prior: &Costs, strength: f64) -> Costs {
        let believed = prior.array();
        let mut costs = believed;
        for _ in 0..ROUNDS {
            let before = costs;
            for place in 0..COSTS {
                // A message is a few tokens, a text many: in units of messages the same prior weighs less.
                let strength = if place == MESSAGES { strength / 100.0 } else { strength };
                let (Some(products), Some(target), Some(belief)) = (self.products.get(place), self.targets.get(place), believed.get(place))
                else {
                    continue;
                };
                let own = products.get(place).copied().unwrap_or_default();
                let others = (0..COSTS).filter(|at| *at != place).filter_map(|at| Some(products.get(at)? * costs.get(at)?)).sum::<f64>();
                if let Some(cost) = costs.get_mut(place) {
                    *cost = ((target + strength * belief - others) / (own + strength)).max(0.0);
                }
            }
            // What a round has not moved, no later one moves.
            if costs == before {
                break;
            }
        }
        Costs::from_array(&costs)
    }
}

impl Costs {
    /// One cost for all kinds, and that of a message.
    pub fn flat(kind: u64, message: u64) -> Costs {
        Costs { kinds: [kind; ContentKind::ALL.len()], message }
    }

    /// The cost of one kind.
    pub fn of(&self, kind: ContentKind) -> u64 {
        self.kinds.get(kind.place()).copied().unwrap_or_default()
    }

    /// What content costs, in tokens.
    pub fn tokens(&self, content: &Content, basis: Basis) -> u64 {
        let kinds: u128 = self.kinds.iter().zip(sizes(content, basis)).map(|(cost, size)| u128::from(*cost) * u128::from(size)).sum();
        u64::try_from((kinds + u128::from(self.message) * u128::from(content.messages) + 500) / 1000).unwrap_or(u64::MAX)
    }

    fn array(&self) -> [f64; COSTS] {
        let mut all = [self.message as f64 / 1000.0; COSTS];
        all.iter_mut().zip(self.kinds).for_each(|(cost, kind)| *cost = kind as f64 / 1000.0);
        all
    }

    fn from_array(all: &[f64; COSTS]) -> Costs {
        let thousandths = |cost: f64| (cost * 1000.0).round() as u64;
        let mut costs = Costs::flat(0, all.last().map_or(0, |cost| thousandths(*cost)));
        costs.kinds.iter_mut().zip(all).for_each(|(kind, cost)| *kind = thousandths(*cost));
        costs
    }
}

/// The sizes of the kinds. Pictures have no characters: they are counted by their rule in either basis.
fn sizes(content: &Content, basis: Basis) -> [u64; ContentKind::ALL.len()] {
    let mut sizes = [0; ContentKind::ALL.len()];
    for (size, kind) in sizes.iter_mut().zip(ContentKind::ALL) {
        let amount = content.of(kind);
        *size = if basis == Basis::Tokens || kind == ContentKind::Image { amount.tokens } else { amount.chars };
    }
    sizes
}

/// A row of the regression.
pub(super) fn row(content: &Content, basis: Basis) -> [f64; COSTS] {
    let mut row = [content.messages as f64; COSTS];
    row.iter_mut().zip(sizes(content, basis)).for_each(|(cell, size)| *cell = size as f64);
    row
}
