//! The conversation of a replay with the program that decides for its policy.

use super::conditions::Guesses;
use super::inputs::Inputs;
use super::known::KnownContext;
use crate::policy::{Answer, Consult, Opening, Question, Refusal, Session};
use crate::trace::Trace;
use crate::transcript::Text;
use std::cell::RefCell;
use std::rc::Rc;

/// The conversation, shared by whatever goes on with the replay.
#[derive(Clone)]
pub(super) struct Talk(Rc<RefCell<Conversation>>);

/// What has been said.
pub(super) struct Conversation {
    /// `None` where the program was not started.
    consult: Option<Box<dyn Consult>>,
    pub known: KnownContext,
    /// It has failed: nothing is asked any more.
    over: bool,
}

impl Talk {
    /// A session begins; `None` where its policy asks no program.
    pub fn begin(inputs: &Inputs<'_>) -> Option<Talk> {
        let program = inputs.plan.program.as_ref()?;
        let (trace, conditions): (&Trace, _) = (inputs.trace, inputs.conditions);
        let opening = Opening {
            window: conditions.window,
            prompt_limit: conditions.prompt_limit,
            reserve: conditions.reserve.unwrap_or(inputs.plan.window.reserve),
            model: trace.main_model(),
            params: &program.params,
        };
        let session = Session { id: &trace.id, source: &trace.source, parts: trace.parts.len(), opening };
        // Where estimates are true sizes, no program is asked: it would see them.
        let decider = program.decider.as_ref().filter(|_| conditions.guesses == Guesses::Own);
        let consult = decider.map(|decider| decider.0.begin(&session));
        Some(Talk(Rc::new(RefCell::new(Conversation { consult, known: KnownContext::default(), over: false }))))
    }

    /// Is there nothing more to ask?
    pub fn is_over(&self) -> bool {
        self.0.borrow().over
    }

    /// The question is made from what the program knows, and asked.
    pub fn ask(&self, question: impl FnOnce(&mut KnownContext) -> Question) -> Result<Answer, Refusal> {
        let Conversation { consult, known, .. } = &mut *self.0.borrow_mut();
        match consult {
            Some(consult) => consult.ask(question(known)),
            None => Err(Refusal::NotStarted),
        }
    }

    /// It is over. Where an answer could not be carried out, `why` says the reason, without a word of the answer.
    pub fn end(&self, call: usize, why: Option<&str>) {
        let Conversation { consult, over, .. } = &mut *self.0.borrow_mut();
        *over = true;
        if let Some((consult, why)) = consult.as_mut().zip(why) {
            consult.wrong(u32::try_from(call).unwrap_or(u32::MAX), why);
        }
    }

    /// The size of a text that the program has written.
    pub fn weigh(&self, text: &str) -> Option<Text> {
        self.0.borrow().consult.as_ref().map(|consult| consult.weigh(text))
    }
}
