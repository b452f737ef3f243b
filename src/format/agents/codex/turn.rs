//! Who asked for a compaction: the agent within its work, or the user, whose `/compact` is a turn of its own.

use crate::transcript::Transcript;

/// The turn that the program is in, as far as its records show it; files of old versions record none.
#[derive(Default)]
pub(super) struct Turn {
    told: Told,
    /// The compaction, by its place, that is all that the turn has done so far.
    alone: Option<usize>,
}

#[derive(Default, PartialEq, Eq)]
enum Told {
    #[default]
    Nothing,
    Begun,
    /// The turn has done something.
    Working,
    /// The last turn was broken off. Old versions say so, and not where the next one begins.
    Aborted,
}

impl Turn {
    /// The program says that a turn begins.
    pub fn begins(&mut self) {
        *self = Turn { told: Told::Begun, alone: None };
    }

    /// Something stands in the conversation that belongs to the turn. A compaction before it was the agent's own.
    pub fn works(&mut self, transcript: &mut Transcript) {
        self.told = match self.told {
            Told::Nothing | Told::Aborted => Told::Nothing,
            Told::Begun | Told::Working => Told::Working,
        };
        self.settle(transcript, true);
    }

    /// The compaction at this place has been made.
    pub fn compacts(&mut self, place: usize, transcript: &mut Transcript) {
        self.settle(transcript, true);
        match self.told {
            Told::Nothing => {}
            Told::Begun => self.alone = Some(place),
            Told::Working => said(transcript, place, true),
            Told::Aborted => transcript.compactions.get_mut(place).into_iter().for_each(|event| event.between_turns = true),
        }
    }

    /// The program says that the turn is broken off. Up to the next message of the user it does nothing that it is not asked for.
    pub fn aborts(&mut self) {
        self.told = Told::Aborted;
    }

    /// The program says that the turn is over. Where it did nothing but compact, the user asked for that.
    pub fn ends(&mut self, transcript: &mut Transcript) {
        self.settle(transcript, false);
        self.told = Told::Nothing;
    }

    fn settle(&mut self, transcript: &mut Transcript, automatic: bool) {
        if let Some(place) = self.alone.take() {
            said(transcript, place, automatic);
        }
    }
}

fn said(transcript: &mut Transcript, place: usize, automatic: bool) {
    if let Some(compaction) = transcript.compactions.get_mut(place) {
        compaction.automatic = Some(automatic);
    }
}
