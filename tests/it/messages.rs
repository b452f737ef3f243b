//! A session's messages, of which those that came long ago are held as bytes.

use ctxsim::statistics::Chance;
use ctxsim::transcript::{Call, Evidence, Message, Messages, Part, Role, Text, Unit, Usage};

fn message(number: usize) -> Message {
    let units = vec![Unit::line(2, 0..1); number % 2].into();
    let evidence = Evidence { identity: number as u64, units, ..Evidence::default() };
    let evidence = Some(Box::new(evidence)).filter(|_| !number.is_multiple_of(3));
    let text = Text { tokens: number as u32, evidence, ..Text::default() };
    let mut parts = vec![Part::Text(text); number % 3];
    parts.extend(number.is_multiple_of(7).then(|| Part::ToolCall {
        id: format!("c{number}"),
        name: "run".to_owned(),
        arguments: Text::default(),
    }));
    let usage = Some(Usage { prompt: number as u64, ..Usage::default() });
    let call = number.is_multiple_of(2).then(|| Box::new(Call { id: format!("r{number}"), usage, ..Call::default() }));
    let id = format!("m{number}");
    Message {
        id,
        call,
        time: Some(number as i64 - 9),
        rewind: number.is_multiple_of(5).then_some(number / 2),
        ..Message::new(Role::User, parts)
    }
}

/// The same in a list that packs what came long ago.
fn packing(messages: impl Iterator<Item = Message>) -> Messages {
    let mut packed = Messages::default();
    packed.pack();
    packed.extend(messages);
    packed
}

/// Many more than stay as they are.
const MANY: usize = 40_000;

#[test]
fn packed_messages_are_as_they_were() {
    let plain: Vec<Message> = (0..MANY).map(message).collect();
    let packed = packing(plain.iter().cloned());
    assert!(packed.each().map(|message| message.into_owned()).eq(plain.iter().cloned()));
    assert!(packed.each().rev().map(|message| message.into_owned()).eq(plain.iter().rev().cloned()));
    assert!(packed.iter().eq(&plain));
    let sizes = packed.sizes();
    assert_eq!(sizes.parts, plain.iter().map(|message| message.parts.len()).sum::<usize>());
    assert_eq!(sizes.calls, plain.iter().filter(|message| message.call.is_some()).count());
    let texts = plain.iter().flat_map(|message| &message.parts).filter_map(|part| part.text()?.evidence.as_ref());
    assert_eq!(sizes.units, texts.map(|evidence| evidence.units.len()).sum::<usize>());
    assert!(packed.into_iter().eq(plain));
}

#[test]
fn packed_messages_change_as_a_list_does() {
    let (mut plain, mut packed) = (Vec::new(), packing(std::iter::empty()));
    let chance = &mut Chance::new(7);
    for number in 0..2 * MANY {
        plain.push(message(number));
        packed.push(message(number));
        // In the second half so often that nothing stays packed.
        if number % if number < MANY { 100 } else { 10 } == 0 {
            let at = chance.below(plain.len());
            (plain[at].synthetic, packed.get_mut(at).unwrap().synthetic) = (true, true);
        }
        assert_eq!((packed.len(), packed.last()), (plain.len(), plain.last()));
    }
    let mut again = packing(plain.iter().cloned());
    assert!(packed == again);
    again.change(|message| message.id.push('x'));
    plain.iter_mut().for_each(|message| message.id.push('x'));
    again.iter_mut().zip(&mut plain).for_each(|(one, other)| (one.time, other.time) = (None, None));
    again.extend([message(1)]);
    plain.push(message(1));
    assert!(again.into_iter().eq(plain));
}

#[test]
fn packed_messages_may_be_cut_anywhere() {
    let all = || (0..20_000).map(message);
    for at in [0, 1, 63, 64, 65, 70, 128, 9_000, 19_967, 19_968, 19_999, 20_000] {
        let (mut plain, mut packed) = (all().collect::<Vec<_>>(), packing(all()));
        plain.insert(at, message(MANY));
        packed.insert(at, message(MANY));
        assert_eq!((packed.len(), packed.last()), (plain.len(), plain.last()), "{at}");
        plain.remove(at);
        packed.remove(at);
        assert_eq!(packed.pop(), plain.pop());
        let (behind, rest) = (plain.split_off(at.min(19_999)), packed.split_off(at.min(19_999)));
        assert!(packed.into_iter().eq(plain) && rest.into_iter().eq(behind), "{at}");
    }
}
