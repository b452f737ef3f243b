//! A session's messages, of which those that came long ago are held as bytes.

use ctxsim::statistics::Chance;
use ctxsim::transcript::{Call, Evidence, Message, Messages, Part, Role, Text, Usage};

fn message(number: usize) -> Message {
    let evidence = Some(Box::new(Evidence { identity: number as u64, ..Evidence::default() })).filter(|_| !number.is_multiple_of(3));
    let text = Text { tokens: number as u32, evidence, ..Text::default() };
    let mut parts = vec![Part::Text(text); number % 3];
    parts.extend((number % 7 == 0).then(|| Part::ToolCall {
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

/// Many more than stay as they are.
const MANY: usize = 40_000;

#[test]
fn packed_messages_are_as_they_were() {
    let plain: Vec<Message> = (0..MANY).map(message).collect();
    let packed: Messages = plain.iter().cloned().collect();
    assert!(packed.each().map(|message| message.into_owned()).eq(plain.iter().cloned()));
    assert!(packed.each().rev().map(|message| message.into_owned()).eq(plain.iter().rev().cloned()));
    assert!(packed.iter().eq(&plain));
    let sizes = packed.sizes();
    assert_eq!(sizes.parts, plain.iter().map(|message| message.parts.len()).sum::<usize>());
    assert_eq!(sizes.calls, plain.iter().filter(|message| message.call.is_some()).count());
    assert!(packed.into_iter().eq(plain));
}

#[test]
fn packed_messages_change_as_a_list_does() {
    let (mut plain, mut packed) = (Vec::new(), Messages::default());
    let chance = &mut Chance::new(7);
    for number in 0..MANY {
        plain.push(message(number));
        packed.push(message(number));
        if number % 50 != 0 {
            continue;
        }
        let at = chance.below(plain.len());
        plain[at].synthetic = true;
        packed.get_mut(at).unwrap().synthetic = true;
        let near = plain.len() - 1 - chance.below(100.min(plain.len()));
        match number % 200 {
            0 => {
                plain.insert(near, message(number + MANY));
                packed.insert(near, message(number + MANY));
            }
            50 => {
                plain.remove(near);
                packed.remove(near);
            }
            100 => assert_eq!(packed.pop(), plain.pop()),
            _ => assert!(packed.split_off(near).into_iter().eq(plain.split_off(near))),
        }
        assert_eq!((packed.len(), packed.last()), (plain.len(), plain.last()));
    }
    packed.change(|message| message.id.push('x'));
    plain.iter_mut().for_each(|message| message.id.push('x'));
    packed.iter_mut().zip(&mut plain).for_each(|(one, other)| (one.time, other.time) = (None, None));
    assert!(plain.len() > 17_000, "{}", plain.len());
    packed.extend(plain.clone());
    plain.extend(plain.clone());
    assert!(packed == Messages::from(plain.clone()) && packed.into_iter().eq(plain));
}
