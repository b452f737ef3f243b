//! Requests whose agent cut its history: what stands in them goes on from an open session, and a part of that left or was written shorter.
//!
//! Such a request ends with what the session holds last, its newest reply, and what is new behind it. Going back from there, each part of the request is
//! one that the session holds, one that stands in the place of another (a result that was shortened), or one that the agent put in (a summary).

use super::prints::{Print, begins};
use crate::transcript::Role;
use std::collections::HashMap;
use std::ops::Range;

/// More places at which the newest reply may stand in a request are not looked at.
const MOST_PLACES: usize = 4;
/// A request for a summary has no more parts than this.
const MOST_QUESTIONS: usize = 4;
/// What goes with one request alone is among so many of its last parts.
pub const MOST_PASSING: usize = 16;
/// Parts that stand one behind the other in both tell the session, where no single one does.
const FEWEST_PARTS: usize = 3;
/// Bytes that they say at least.
pub const FEWEST_BYTES: usize = 100;

/// What a session knows of its last request.
pub struct Held<'a> {
    /// What identifies each part so far, the last reply included.
    pub prints: &'a [Print],
    /// How many of them the last request held.
    pub asked: usize,
    /// The last reply, where it is a text that tells; empty otherwise.
    pub said: &'a str,
    /// Does it stand behind instructions that begin as those of the request, which are not among the parts?
    pub instructed: bool,
    /// Did the last request stand behind other instructions than those before it?
    pub apart: bool,
}

/// What a request says.
pub struct Sent<'a, 't> {
    /// What identifies each part of its conversation.
    pub prints: &'a [Print],
    /// What each of them says.
    pub texts: &'a [&'t str],
    /// Instructions in front of the conversation that those of the session lack.
    pub instructions: &'a [&'t str],
}

/// What an agent did to its history.
pub struct Cut<'t> {
    /// The part of the session that stands in the place of each part of the request, as far as nothing is new; `None` where the agent put it in.
    pub stands_for: Vec<Option<usize>>,
    /// So many parts of the session are its history: what comes behind them is the reply, or the request for a summary with that.
    pub base: usize,
    /// Parts that left.
    pub dropped: Vec<usize>,
    /// Parts that stand there with fewer words.
    pub shortened: Vec<usize>,
    /// From this part on the history stayed.
    pub kept: usize,
    /// Does the request begin as the session does?
    begins: bool,
    /// Does the request go on with the session for certain? If not, it only repeats what that said.
    pub certain: bool,
    /// Did the last request ask for the summary?
    pub summarised: bool,
    /// What the agent put in front of the conversation.
    pub instructions: Vec<&'t str>,
    /// Is all that left what the last request alone was sent with? It is no history.
    pub passing: bool,
}

/// How a request with these parts, which say this, goes on with a session whose agent cut its history; `None` where it does not.
pub fn find<'t>(held: &Held<'_>, sent: &Sent<'_, 't>) -> Option<Cut<'t>> {
    let request = sent.prints;
    let replied = held.prints.len() > held.asked;
    let own = &Held { instructed: held.instructed && !held.apart, ..*held };
    let whole = ends(held.prints, request).find_map(|end| of(own, request, held.prints.len(), end..end, false));
    // Clients send replies back as they understood them.
    let reshaped = || {
        let asked = held.prints.get(..held.asked).filter(|_| replied)?;
        ends(asked, request).find_map(|end| {
            let reply = request.get(end..)?.iter().take_while(|print| print.role == Role::Assistant).count();
            (reply > 0).then(|| of(own, request, held.asked, end..end + reply, false)).flatten()
        })
    };
    let instructions = if own.instructed { sent.instructions } else { &[] };
    let cut = whole.or_else(reshaped).map(|cut| Cut { instructions: instructions.to_vec(), ..cut });
    cut.or_else(|| summarised(held, sent))
}

/// The calls of tools whose arguments a request masks that begins with the parts.
pub fn masked<'a>(held: &'a [Print], request: &'a [Print]) -> impl Iterator<Item = usize> + 'a {
    let same = held.iter().zip(request).take_while(|(held, print)| held.is(print)).enumerate();
    same.filter(|(_, (held, print))| print.masks(held)).map(|(at, _)| at)
}

/// A request that begins as the last one did and goes on with its reply, but for some of the last parts of that: the state of a page, a reminder, the time.
pub fn passing(held: &Held<'_>, request: &[Print]) -> Option<Cut<'static>> {
    let asked = held.prints.get(..held.asked)?;
    let same = asked.iter().zip(request).take_while(|(held, print)| held.is(print)).count();
    let (before, tail) = asked.split_at(same);
    if tail.len() > MOST_PASSING {
        return None;
    }
    let mut stands_for: Vec<Option<usize>> = (0..same).map(Some).collect();
    let mut dropped = Vec::new();
    let mut sent = request.get(same..)?.iter().take_while(|print| print.role != Role::Assistant).peekable();
    for (at, print) in tail.iter().enumerate() {
        match sent.next_if(|sent| print.is(sent)) {
            Some(_) => stands_for.push(Some(same + at)),
            None => dropped.push(same + at),
        }
    }
    let is_passing = |at: &usize| asked.get(*at).is_some_and(|print| matches!(print.role, Role::User | Role::System));
    let is_told = stands_for.iter().flatten().filter_map(|at| asked.get(*at)).any(|print| print.role != Role::System);
    if sent.next().is_some() || !is_told || !dropped.iter().all(is_passing) {
        return None;
    }
    let (reply, behind) = (held.prints.get(held.asked..)?, request.get(stands_for.len()..)?);
    // Clients send replies back as they understood them.
    let known = if !reply.is_empty() && begins(behind, reply) {
        reply.len()
    } else {
        behind.iter().take_while(|print| print.role == Role::Assistant && before.iter().any(|print| print.role == Role::Assistant)).count()
    };
    let base = if known == reply.len() && begins(behind, reply) { held.prints.len() } else { held.asked };
    let last = held.prints.len().checked_sub(1)?;
    stands_for.extend((0..known).map(|at| Some((held.asked + at).min(last))));
    let cut = Cut {
        stands_for,
        base,
        dropped,
        shortened: masked(asked, request).collect(),
        kept: base,
        begins: true,
        certain: true,
        summarised: false,
        instructions: Vec::new(),
        passing: true,
    };
    (known > 0).then_some(cut)
}

/// The same where the last request of the session asked for the summary: neither that nor its reply stays. The summary stands in the request as it was said.
fn summarised<'t>(held: &Held<'_>, sent: &Sent<'_, 't>) -> Option<Cut<'t>> {
    let request = sent.prints;
    let said = Some(held.said).filter(|said| !said.is_empty())?;
    let instructions: Vec<&str> = sent.instructions.iter().copied().filter(|text| text.contains(said)).collect();
    let summary = if instructions.is_empty() { Some(sent.texts.iter().position(|text| text.contains(said))?) } else { None };
    let is_instruction = summary.is_none_or(|summary| request.get(summary).is_some_and(|print| print.role == Role::System));
    let front = summary.map_or(0, |summary| summary + 1);
    let asks = |print: &&Print| matches!(print.role, Role::User | Role::System);
    let questions = held.prints.get(..held.asked)?.iter().rev().take(MOST_QUESTIONS).take_while(asks).count();
    // Other instructions may be all that asks for it.
    let fewest = if held.apart { questions.min(1) } else { 1 };
    (fewest..=questions).find_map(|asked| {
        let base = held.asked - asked;
        let behind = ends(held.prints.get(..base)?, request).find(|end| *end >= front.max(1));
        let end = behind.unwrap_or(front);
        let cut = of(held, request, base, end..end, true)?;
        // Who goes on with the last reply alone asks something else about it, unless that was one of many.
        let replies = cut.dropped.iter().filter(|at| held.prints.get(**at).is_some_and(|print| print.role == Role::Assistant)).count();
        let put_in = summary.is_none_or(|summary| cut.stands_for.get(summary).is_some_and(Option::is_none)) && replies > 1;
        let instructions = || instructions.clone();
        (put_in && (cut.begins || is_instruction)).then(|| Cut { certain: true, summarised: true, instructions: instructions(), ..cut })
    })
}

/// Where in a request the last one of these parts may stand: how many parts end with it, the most first.
fn ends<'a>(held: &'a [Print], request: &'a [Print]) -> impl Iterator<Item = usize> + 'a {
    let last = held.last();
    let is_last = move |end: &usize| last.zip(request.get(*end - 1)).is_some_and(|(last, print)| last.is(print));
    (1..=request.len()).rev().filter(is_last).take(MOST_PLACES)
}

/// The cut where what stands before the `reply` in the request is what is left of the first `base` parts of the session, by a summary of them or without.
fn of(held: &Held<'_>, request: &[Print], base: usize, reply: Range<usize>, summary: bool) -> Option<Cut<'static>> {
    let end = reply.start;
    let (history, sent) = (held.prints.get(..base)?, request.get(..end)?);
    let mut stands_for = aligned(history, sent);
    let mut stays = vec![false; base];
    stands_for.iter().flatten().for_each(|at| stays.iter_mut().skip(*at).take(1).for_each(|stays| *stays = true));
    // Clients send replies back as they understood them: what the last one lacks, its client left out.
    let dropped: Vec<usize> = stays.iter().enumerate().take(held.asked).filter(|(_, stays)| !**stays).map(|(at, _)| at).collect();
    let kept = dropped.last().map_or(0, |last| last + 1);
    let bytes = |parts: &mut dyn Iterator<Item = &Print>| parts.map(|print| print.bytes).sum::<usize>();
    let pairs = || sent.iter().zip(&stands_for).filter_map(|(print, at)| Some((print, (*at)?)));
    let original = |at: &usize| history.get(*at);
    // Arguments of calls are masked, too. A text of the same length or so is another state of what it says.
    let most = |print: &Print| if print.role == Role::Tool || print.call { print.bytes + 1 } else { 2 * print.bytes };
    let is_shorter =
        |(print, at): &(&Print, usize)| history.get(*at).is_some_and(|held| held.words != print.words && most(print) <= held.bytes);
    let shortened: Vec<usize> = pairs().filter(is_shorter).map(|(_, at)| at).filter(|at| *at < held.asked).collect();
    // What is put in stands before what stayed, and is a text.
    let tail = stands_for.iter().position(|at| at.is_some_and(|at| at >= kept)).unwrap_or(end);
    let put_in = || sent.iter().zip(&stands_for).enumerate().filter(|(_, (_, at))| at.is_none()).map(|(place, (print, _))| (place, print));
    let is_text = |print: &Print| print.role != Role::Tool && !print.call;
    let in_place = put_in().all(|(place, print)| (place < tail || kept == base) && is_text(print));
    let spoken = dropped.iter().filter_map(original).any(|print| print.role != Role::System);
    // A message that takes the place of one is another state of that, and cuts nothing.
    let put = put_in().count();
    let less =
        put == 0 || dropped.len() > put && bytes(&mut dropped.iter().filter_map(original)) > bytes(&mut put_in().map(|(_, print)| print));
    let is_other = |(print, at): (&Print, usize)| history.get(at).is_some_and(|held| !held.is(print));
    if !in_place || !less || !(spoken || dropped.is_empty() && (!shortened.is_empty() || pairs().any(is_other))) {
        return None;
    }
    let is_first = || stands_for.first() == Some(&Some(0)) && history.first().zip(sent.first()).is_some_and(|(held, print)| held.is(print));
    let begins = held.instructed || is_first();
    let told = if summary { false } else { told(history, sent, &stands_for)? };
    let last = held.prints.len() - 1;
    stands_for.extend(reply.map(|place| Some((base + place - end).min(last))));
    Some(Cut {
        stands_for,
        base,
        dropped,
        shortened,
        kept,
        begins,
        certain: begins && told,
        summarised: false,
        instructions: Vec::new(),
        passing: false,
    })
}

/// Do the parts that stand in both, back from the last ones, tell the session: by a drawn id of a call, or by several messages that say enough? `None` where they tell nothing.
fn told(history: &[Print], sent: &[Print], stands_for: &[Option<usize>]) -> Option<bool> {
    let run = sent.iter().rev().zip(history.iter().enumerate().rev()).zip(stands_for.iter().rev());
    let run = run.take_while(|((_, (at, _)), stands_for)| **stands_for == Some(*at)).map(|((print, (_, held)), _)| (print, held));
    // Two agents say the same, and each call has an id of its own.
    let is_same = |(print, held): &(&Print, &Print)| held.is(print) && (!print.call || !print.rare || print.id == held.id);
    let mut same: Vec<&Print> = run.filter(is_same).map(|(print, _)| print).filter(|print| print.role != Role::System).collect();
    let is_drawn = same.iter().any(|print| print.call && print.rare);
    same.sort_unstable_by_key(|print| print.words);
    same.dedup_by_key(|print| print.words);
    let replies = same.iter().filter(|print| print.role == Role::Assistant).count();
    let bytes: usize = same.iter().map(|print| print.bytes).sum();
    let several = replies > 1 && same.len() >= FEWEST_PARTS && bytes >= FEWEST_BYTES;
    let tells = replies > 0 && (bytes >= FEWEST_BYTES || same.iter().any(|print| print.call));
    tells.then_some(is_drawn || several)
}

/// The part of the history that stands in the place of each part of the request, both of which end with the same one.
fn aligned(history: &[Print], sent: &[Print]) -> Vec<Option<usize>> {
    let mut stands_for = vec![None; sent.len()];
    let mut earlier: Option<HashMap<u64, Vec<usize>>> = None;
    // Both up to where they are compared, and how many parts behind that are other words in the place of the session's: so they are where a part before is
    // the same in both.
    let (mut at, mut place, mut unsure) = (history.len(), sent.len(), 0);
    // Parts from here on are no other words for those before them.
    let mut paired_before = sent.len();
    while place > 0 || unsure > 0 {
        let print = place.checked_sub(1).and_then(|place| sent.get(place));
        let pair = print.zip(at.checked_sub(1).and_then(|at| history.get(at)));
        let same = pair.is_some_and(|(print, before)| before.is(print));
        if same || place <= paired_before && pair.is_some_and(|(print, before)| print.may_replace(before)) {
            (at, place, unsure) = (at - 1, place - 1, if same { 0 } else { unsure + 1 });
            stands_for.iter_mut().skip(place).take(1).for_each(|stands_for| *stands_for = Some(at));
            continue;
        }
        // Both begin with it.
        if unsure > 0 && (at, place) == (0, 0) {
            break;
        }
        if unsure > 0 {
            stands_for.iter_mut().skip(place).take(unsure).for_each(|stands_for| *stands_for = None);
            paired_before = place;
            (at, place, unsure) = (at + unsure, place + unsure, 0);
            continue;
        }
        let Some(print) = print else { break };
        let earlier = earlier.get_or_insert_with(|| places(history));
        let found = known_as(print).into_iter().filter_map(|name| {
            let places = earlier.get_mut(&name)?;
            while places.last().is_some_and(|found| *found >= at) {
                places.pop();
            }
            places.last().copied().filter(|found| history.get(*found).is_some_and(|held| held.is(print)))
        });
        place -= 1;
        if let Some(found) = found.max() {
            at = found;
            stands_for.iter_mut().skip(place).take(1).for_each(|stands_for| *stands_for = Some(found));
        }
    }
    stands_for
}

/// Where each part stands, by what it is known by, the last one at the end.
fn places(history: &[Print]) -> HashMap<u64, Vec<usize>> {
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, print) in history.iter().enumerate() {
        known_as(print).into_iter().for_each(|name| places.entry(name).or_default().push(at));
    }
    places
}

fn known_as(print: &Print) -> impl IntoIterator<Item = u64> {
    [Some(print.words), print.id].into_iter().flatten()
}
