//! Requests that may be no part of the session that they go on with: what a session is before them, and how it parts from them.

use super::entry::Exchange;
use super::prints::{Print, Replies, begins};
use super::session::{Session, Setting, Uncut};
use crate::transcript::{Call, Compaction, Message, Role, Scale, Transcript};

impl Session {
    /// The session as it was before a cut that may be none, where there is one, and as it is. Is it the former?
    pub fn states(&self) -> impl Iterator<Item = (bool, &Session)> {
        self.uncut.iter().map(|uncut| (true, &uncut.before)).chain([(false, self)])
    }

    /// Keeps what the request replaces that seems to cut the session.
    pub fn keep_uncut(&mut self, exchange: Exchange) {
        self.uncut = Some(Box::new(Uncut { before: self.before(), asked: 0, exchange, had: self.extent(), has: None }));
    }

    /// Keeps what the session is before a request that asks something, or with other instructions: that may be no part of it.
    pub fn keep_aside(&mut self, exchange: &Exchange, setting: &Setting, request: &[Print], known: usize) {
        let is_cut = self.uncut.as_ref().is_some_and(|uncut| uncut.has.is_none());
        let asks = |print: &Print| matches!(print.role, Role::User | Role::System);
        let led = self.setting.lead == setting.lead;
        if exchange.follows.is_none() && !is_cut && known > 0 && (!led || request.iter().skip(known).any(asks)) {
            let mut before = self.before();
            before.prints = request.iter().take(known).cloned().collect();
            before.asked = before.asked.min(known);
            before.places.resize(known, None);
            self.aside = Some(Box::new(Uncut { before, asked: request.len(), exchange: exchange.clone(), had: self.extent(), has: None }));
        } else {
            // Who has other instructions may work on.
            self.aside.take_if(|aside| is_cut || !led || aside.before.setting.lead == setting.lead);
        }
    }

    /// What stood before the conversation until its last request, where that had other instructions.
    pub fn before_last_aside(&self) -> Option<&Setting> {
        let aside = self.aside.as_ref().filter(|aside| aside.asked == self.asked)?;
        Some(&aside.before.setting).filter(|setting| !self.setting.begins_as(setting))
    }

    /// Does the request go on from before what was asked aside, and ask something else? How many of its parts are known.
    pub fn before_aside(&self, request: &[Print]) -> Option<usize> {
        let aside = self.aside.as_ref()?;
        let before = &aside.before.prints;
        let again = request.len() == aside.asked && self.prints.get(..aside.asked).is_some_and(|asked| begins(request, asked));
        let replied = before.iter().any(|print| print.role == Role::Assistant);
        (replied && !again && request.len() > before.len() && begins(request, before)).then_some(before.len())
    }

    /// What this session asked another one aside, if it did no more: the id of that, the requests that it must have made, and the call.
    pub fn asked_aside(&self) -> Option<(&String, usize, &Call)> {
        let (id, needed) = self.beside.as_ref()?;
        let mut calls =
            self.transcript.messages.iter().filter_map(|message| message.call.as_deref()).filter(|call| **call != Call::default());
        let call = calls.next().filter(|call| call.usage.is_some())?;
        calls.next().is_none().then_some((id, *needed, call))
    }

    /// Was it asked aside in one of these?
    pub fn is_of(&self, sessions: &[Session]) -> bool {
        let asked = |(id, _): &(String, usize)| sessions.iter().any(|session| session.transcript.id == *id);
        self.beside.as_ref().is_some_and(asked)
    }

    /// The session as it is, without its messages.
    fn before(&self) -> Session {
        let heard_late = self.transcript.messages.last().filter(|_| self.unheard).cloned();
        Session {
            transcript: Transcript { window: self.transcript.window, messages: heard_late.into_iter().collect(), ..Transcript::default() },
            prints: self.prints.clone(),
            asked: self.asked,
            places: self.places.clone(),
            said: self.said.clone(),
            unheard: self.unheard,
            setting: self.setting.clone(),
            model: self.model.clone(),
            known_as: self.known_as.clone(),
            interrupted: self.interrupted,
            own: self.own.get(self.before_last..).unwrap_or_default().to_vec(),
            before_last: self.before_last,
            requests: self.requests,
            beside: self.beside.clone(),
            left_out: self.left_out.clone(),
            ..Session::default()
        }
    }

    /// Ends the session with a request that seems to cut it, and asks more than what to do behind the last results? Then it may be one apart, unless the session
    /// was cut before and most of it stays once more: a window that slides.
    pub fn may_be_uncut(&self) -> bool {
        self.uncut.as_ref().filter(|uncut| !uncut.exchange.failed).is_some_and(|uncut| {
            let Transcript { messages, .. } = &self.transcript;
            let asks = |message: &Message| !matches!(message.role, Role::Assistant | Role::Tool);
            let earlier = self.transcript.compactions.get(..uncut.had.compactions).unwrap_or_default();
            let slides = earlier.iter().any(|event| event.kept_from.is_some()) && 2 * self.asked > uncut.before.prints.len();
            let is_last = uncut.has.as_ref().is_some_and(|has| has.messages == messages.len());
            is_last && !slides && messages.iter().skip(uncut.had.messages).any(asks)
        })
    }

    /// Takes back the last cut. The request that seemed to make it, and what went on from there, become a session `apart`, which holds nothing yet.
    pub fn part(&mut self, uncut: Uncut, mut apart: Session, scale: &dyn Scale, replies: &mut Replies) -> Session {
        let Uncut { mut before, exchange, had, has, .. } = uncut;
        let has = has.unwrap_or_else(|| self.extent());
        apart.take(exchange, 0, scale, replies);
        let shift = apart.transcript.messages.len();
        let moved = |at: usize| (shift + at).saturating_sub(has.messages);
        let Transcript { messages, compactions, .. } = &mut self.transcript;
        apart.transcript.messages.extend(messages.split_off(has.messages));
        messages.split_off(had.messages.saturating_sub(before.transcript.messages.len()));
        messages.extend(std::mem::take(&mut before.transcript.messages));
        let events = compactions.drain(has.compactions.min(compactions.len())..).map(|event| {
            let taken = event.taken.iter().filter(|(at, _)| *at >= has.messages).map(|(at, part)| (moved(*at), *part)).collect();
            Compaction { before: moved(event.before), taken, ..event }
        });
        apart.transcript.compactions.extend(events);
        compactions.truncate(had.compactions);
        self.transcript.window = before.transcript.window;
        apart.places.truncate(self.places.len());
        let later = self.places.get(has.places..).unwrap_or_default().iter();
        apart.places.extend(later.map(|place| place.filter(|(at, _)| *at >= has.messages).map(|(at, part)| (moved(at), part))));
        for mut reply in std::mem::take(&mut self.repeated) {
            if reply.at < had.messages {
                self.repeated.push(reply);
            } else if reply.at >= has.messages {
                reply.at = moved(reply.at);
                apart.repeated.push(reply);
            }
        }
        let later = self.marked.iter().filter(|(at, _)| *at >= has.messages);
        apart.marked.extend(later.map(|(at, name)| (moved(*at), *name)));
        self.marked.retain(|(at, _)| *at < had.messages);
        apart.own.extend(self.own.drain(has.own.min(self.own.len())..));
        self.own.truncate(before.before_last);
        self.own.extend(&before.own);
        let uncut = Session {
            transcript: std::mem::take(&mut self.transcript),
            names: self.names.clone(),
            repeated: std::mem::take(&mut self.repeated),
            marked: std::mem::take(&mut self.marked),
            own: std::mem::take(&mut self.own),
            ..before
        };
        let cut = std::mem::replace(self, uncut);
        Session {
            transcript: apart.transcript,
            places: apart.places,
            repeated: apart.repeated,
            marked: apart.marked,
            own: apart.own,
            before_last: cut.before_last.saturating_sub(has.own),
            beside: None,
            left_out: apart.left_out,
            ..cut
        }
    }
}
