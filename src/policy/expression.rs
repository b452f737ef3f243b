//! Arithmetic in policies: `"floor((window - reserve) * 0.85)"` over parameters and facts of the model.
//!
//! Thresholds are computed as the real systems compute them, in double precision, once for each session;
//! tokens themselves are never counted in floats.

use super::suggestion::suggestion;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A number, or a formula that gives one.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    root: Node<String>,
}

/// A formula over names, or over what stands for them.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node<N> {
    Number(f64),
    Name(N),
    Negative(Box<Node<N>>),
    Binary(Operator, Box<Node<N>>, Box<Node<N>>),
    Function(Function, Vec<Node<N>>),
}

/// A formula whose names have become places in a list of values, for those who ask for its value again and again.
pub(super) type Resolved = Node<usize>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    Unequal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Min,
    Max,
    Floor,
    Ceil,
    Round,
    Or,
    If,
}

const FUNCTIONS: &[(&str, Function)] = &[
    ("min", Function::Min),
    ("max", Function::Max),
    ("floor", Function::Floor),
    ("ceil", Function::Ceil),
    ("round", Function::Round),
    ("or", Function::Or),
    ("if", Function::If),
];

/// What is wrong with a formula.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExpressionError {
    /// The text is no formula.
    #[error("`{}`: {reason} at column {column}", shown(text))]
    Syntax {
        /// The formula as it is written.
        text: String,
        /// What the parser expected at the column.
        reason: String,
        /// Byte of the formula at which parsing stopped, from 1.
        column: usize,
    },
    /// The formula names something that is neither a parameter nor a fact of the model.
    #[error("`{}` names `{}`, which is neither a parameter nor a fact of the model{hint}", shown(text), shown(name))]
    UnknownName {
        /// The formula as it is written.
        text: String,
        /// Name without a value.
        name: String,
        /// "; did you mean ..." or nothing.
        hint: String,
    },
    /// The value is no finite number.
    #[error("`{}` has no finite value", shown(text))]
    NotFinite {
        /// The formula as it is written.
        text: String,
    },
    /// Parameters that refer to each other in a ring.
    #[error("parameter `{name}` refers to itself")]
    Circular {
        /// One parameter of the ring.
        name: String,
    },
}

/// So much of a formula is repeated in an error.
const SHOWN: usize = 100;

fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Values by the names that formulas know them by.
pub type Scope = BTreeMap<String, f64>;

impl Expression {
    /// Parses arithmetic over numbers, parameters and facts of the model, with comparisons and functions.
    pub fn parse(text: &str) -> Result<Expression, ExpressionError> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        if text.len() > LONGEST {
            return Err(parser.error(&format!("longer than {LONGEST} characters")));
        }
        let root = parser.comparison()?;
        parser.space();
        if parser.at < text.len() {
            return Err(parser.error("expected an operator or the end"));
        }
        Ok(Expression { text: text.to_owned(), root })
    }

    /// The formula as it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The number that the formula comes to with these names.
    pub fn value(&self, scope: &Scope) -> Result<f64, ExpressionError> {
        let value = self.root.value(&|name| scope.get(name).copied().ok_or(name)).map_err(|name| ExpressionError::UnknownName {
            text: self.text.clone(),
            hint: suggestion(name, scope.keys().map(String::as_str)),
            name: name.clone(),
        })?;
        if value.is_finite() { Ok(value) } else { Err(ExpressionError::NotFinite { text: self.text.clone() }) }
    }

    /// The formula with its names looked up: for each the place of its value. `None` where a name has none.
    pub(super) fn resolve(&self, place: &dyn Fn(&str) -> Option<usize>) -> Option<Resolved> {
        self.root.resolve(place)
    }

    /// Names that the formula refers to.
    pub fn names(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        self.root.each_name(&mut |name| {
            names.insert(name.clone());
        });
        names
    }
}

impl Resolved {
    /// Its value, finite or not; `None` where a place lies outside of the list.
    pub fn at(&self, values: &[f64]) -> Option<f64> {
        self.value(&|place| values.get(*place).copied().ok_or(())).ok()
    }

    /// Does it ask for the value at this place?
    pub fn asks(&self, place: usize) -> bool {
        let mut asks = false;
        self.each_name(&mut |own| asks |= *own == place);
        asks
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<N> Node<N> {
    /// Its value, where this finds that of a name.
    fn value<'n, E>(&'n self, of: &impl Fn(&'n N) -> Result<f64, E>) -> Result<f64, E> {
        Ok(match self {
            Node::Number(value) => *value,
            Node::Name(name) => of(name)?,
            Node::Negative(inner) => -inner.value(of)?,
            Node::Binary(operator, left, right) => operator.apply(left.value(of)?, right.value(of)?),
            Node::Function(function, arguments) => {
                function.apply(&arguments.iter().map(|argument| argument.value(of)).collect::<Result<Vec<f64>, E>>()?)
            }
        })
    }

    fn each_name(&self, see: &mut impl FnMut(&N)) {
        match self {
            Node::Number(_) => {}
            Node::Name(name) => see(name),
            Node::Negative(inner) => inner.each_name(see),
            Node::Binary(_, left, right) => [left, right].into_iter().for_each(|side| side.each_name(see)),
            Node::Function(_, arguments) => arguments.iter().for_each(|argument| argument.each_name(see)),
        }
    }
}

impl Node<String> {
    fn resolve(&self, place: &dyn Fn(&str) -> Option<usize>) -> Option<Resolved> {
        let boxed = |node: &Node<String>| node.resolve(place).map(Box::new);
        Some(match self {
            Node::Number(value) => Node::Number(*value),
            Node::Name(name) => Node::Name(place(name)?),
            Node::Negative(inner) => Node::Negative(boxed(inner)?),
            Node::Binary(operator, left, right) => Node::Binary(*operator, boxed(left)?, boxed(right)?),
            Node::Function(function, arguments) => {
                Node::Function(*function, arguments.iter().map(|argument| argument.resolve(place)).collect::<Option<_>>()?)
            }
        })
    }
}

impl Operator {
    fn apply(self, left: f64, right: f64) -> f64 {
        let truth = |holds: bool| f64::from(u8::from(holds));
        match self {
            Operator::Add => left + right,
            Operator::Subtract => left - right,
            Operator::Multiply => left * right,
            Operator::Divide => left / right,
            Operator::Less => truth(left < right),
            Operator::LessOrEqual => truth(left <= right),
            Operator::Greater => truth(left > right),
            Operator::GreaterOrEqual => truth(left >= right),
            Operator::Equal => truth(left == right),
            Operator::Unequal => truth(left != right),
        }
    }
}

impl Function {
    fn apply(self, values: &[f64]) -> f64 {
        let first = values.first().copied().unwrap_or(0.0);
        match self {
            Function::Min => values.iter().copied().fold(f64::INFINITY, f64::min),
            Function::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Function::Floor => first.floor(),
            Function::Ceil => first.ceil(),
            // Half up, as JavaScript's Math.round.
            Function::Round => (first + 0.5).floor(),
            // The first value that is not zero, as `a || b` in the agents' own code.
            Function::Or => values.iter().copied().find(|value| *value != 0.0).unwrap_or(0.0),
            Function::If => values.get(if first != 0.0 { 1 } else { 2 }).copied().unwrap_or(0.0),
        }
    }

    fn takes(self, count: usize) -> bool {
        match self {
            Function::Min | Function::Max | Function::Or => count >= 1,
            Function::Floor | Function::Ceil | Function::Round => count == 1,
            Function::If => count == 3,
        }
    }
}

/// A longer formula is refused: each sign in it may be one more step of the stack.
const LONGEST: usize = 2_000;

/// Deeper nesting than this is refused rather than risking the stack.
const DEEPEST: usize = 64;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn error(&self, reason: &str) -> ExpressionError {
        ExpressionError::Syntax { text: self.text.to_owned(), reason: reason.to_owned(), column: self.at + 1 }
    }

    fn take(&mut self, symbol: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(symbol);
        if found {
            self.at += symbol.len();
        }
        found
    }

    fn comparison(&mut self) -> Result<Node<String>, ExpressionError> {
        let left = self.sum()?;
        let symbols = [
            ("<=", Operator::LessOrEqual),
            (">=", Operator::GreaterOrEqual),
            ("==", Operator::Equal),
            ("!=", Operator::Unequal),
            ("<", Operator::Less),
            (">", Operator::Greater),
        ];
        for (symbol, operator) in symbols {
            if self.take(symbol) {
                return Ok(Node::Binary(operator, Box::new(left), Box::new(self.sum()?)));
            }
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Node<String>, ExpressionError> {
        self.chain([("+", Operator::Add), ("-", Operator::Subtract)], Self::product)
    }

    fn product(&mut self) -> Result<Node<String>, ExpressionError> {
        self.chain([("*", Operator::Multiply), ("/", Operator::Divide)], Self::atom)
    }

    /// Operands with operators of one rank between them, from left to right.
    fn chain(
        &mut self,
        operators: [(&str, Operator); 2],
        operand: fn(&mut Self) -> Result<Node<String>, ExpressionError>,
    ) -> Result<Node<String>, ExpressionError> {
        let mut left = operand(self)?;
        while let Some((_, operator)) = operators.into_iter().find(|(symbol, _)| self.take(symbol)) {
            left = Node::Binary(operator, Box::new(left), Box::new(operand(self)?));
        }
        Ok(left)
    }

    fn atom(&mut self) -> Result<Node<String>, ExpressionError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error("nested too deeply"));
        }
        let node = self.atom_at_depth();
        self.depth -= 1;
        node
    }

    fn atom_at_depth(&mut self) -> Result<Node<String>, ExpressionError> {
        if self.take("-") {
            return Ok(Node::Negative(Box::new(self.atom()?)));
        }
        if self.take("(") {
            let inner = self.comparison()?;
            return if self.take(")") { Ok(inner) } else { Err(self.error("expected `)`")) };
        }
        self.space();
        let word: String = self.rest().chars().take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.')).collect();
        if word.is_empty() {
            return Err(self.error("expected a number, a name or `(`"));
        }
        if word.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            let value = number(&word).ok_or_else(|| self.error("expected a number"))?;
            self.at += word.len();
            return Ok(Node::Number(value));
        }
        self.at += word.len();
        if !self.take("(") {
            return Ok(Node::Name(word));
        }
        let function = FUNCTIONS.iter().find(|(name, _)| *name == word).map(|(_, function)| *function);
        let function =
            function.ok_or_else(|| self.error("unknown function before this place: known are min, max, floor, ceil, round, or, if"))?;
        let mut arguments = vec![self.comparison()?];
        while self.take(",") {
            arguments.push(self.comparison()?);
        }
        if !self.take(")") {
            return Err(self.error("expected `,` or `)`"));
        }
        if !function.takes(arguments.len()) {
            return Err(self.error("wrong number of arguments before this place"));
        }
        Ok(Node::Function(function, arguments))
    }
}

/// A number as people write it: `40_000`, `40k`, `1.5m`, `85%`.
pub fn number(word: &str) -> Option<f64> {
    let plain = word.replace('_', "");
    let (digits, factor) = match plain.as_bytes().last()? {
        b'k' | b'K' => (plain.get(..plain.len() - 1)?, 1_000.0),
        b'm' | b'M' => (plain.get(..plain.len() - 1)?, 1_000_000.0),
        b'%' => (plain.get(..plain.len() - 1)?, 0.01),
        _ => (plain.as_str(), 1.0),
    };
    let starts_well = digits.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    let value = digits.parse::<f64>().ok().filter(|value| value.is_finite() && starts_well)?;
    Some(value * factor)
}
