//! The rules of the toy language. Each rule writes both sides at once, so the links are right by
//! construction, and the Chinese depends on the English alone (one right answer).

use super::lexicon::*;
use super::phrase::Phrase;
use crate::rng::Rng;

/// Who does it: the words, and whether the verb takes an -s.
struct Subject {
    words: Phrase,
    third_person: bool,
}

/// One random sentence.
pub fn sentence(rng: &mut Rng) -> Phrase {
    with_articles(drawn(rng))
}

/// The same with "an" where it must be.
pub fn with_articles(mut sentence: Phrase) -> Phrase {
    for i in 1..sentence.english.len() {
        if sentence.english[i - 1] == "a" && sentence.english[i].starts_with(['a', 'e', 'i', 'o', 'u']) {
            sentence.english[i - 1] = "an";
        }
    }
    sentence
}

fn drawn(rng: &mut Rng) -> Phrase {
    match rng.below(20) {
        0..=8 => statement(rng),
        9 | 10 => negation(rng),
        11 | 12 => modal(rng),
        13 => description(rng),
        14 => question(rng),
        15 => yes_or_no(rng),
        16 => giving(rng),
        17 => journey(rng),
        18 => joined(rng),
        _ => short(rng),
    }
}

/// A statement that others can be joined to.
pub fn clause(rng: &mut Rng) -> Phrase {
    match rng.below(12) {
        0..=4 => statement(rng),
        5 | 6 => negation(rng),
        7 | 8 => modal(rng),
        9 => description(rng),
        10 => giving(rng),
        _ => journey(rng),
    }
}

/// What stands between two clauses of a long sentence.
pub fn between(rng: &mut Rng) -> Phrase {
    const BETWEEN: &[Word] =
        &[("but", "但是"), ("because", "因为"), ("so", "所以"), ("then", "然后"), ("while", "同时")];
    of(rng.pick(BETWEEN))
}

/// "the cat eats fish in the garden every day" → 猫 每天 在 花园 里 吃 鱼: time and place move before the verb.
fn statement(rng: &mut Rng) -> Phrase {
    let subject = subject(rng);
    let (verb, object) = action(rng);
    let verb = conjugated(verb, subject.third_person);
    let (place, time) = (maybe_place(rng), maybe_time(rng));
    Phrase::join([subject.words, verb, object, place, time], [0, 4, 3, 1, 2])
}

/// "tom does not eat rice" → 汤姆 不 吃 米饭. To have is negated with 没.
fn negation(rng: &mut Rng) -> Phrase {
    let subject = subject(rng);
    let (verb, object) = action(rng);
    let helper = if subject.third_person { "does" } else { "do" };
    let not = if verb.0 == "have" { "没" } else { "不" };
    let not = Phrase::word("not", not).after_silent(&[helper]);
    let verb = Phrase::word(verb.0, verb.2);
    let time = maybe_time(rng);
    Phrase::join([subject.words, not, verb, object, time], [0, 4, 1, 2, 3])
}

/// "i want to buy a book today" → 我 今天 想 买 一 本 书.
fn modal(rng: &mut Rng) -> Phrase {
    let subject = subject(rng);
    let &(bare, third, chinese, to) = rng.pick(MODALS);
    let mut modal = Phrase::word(if subject.third_person { third } else { bare }, chinese);
    if to {
        modal = modal.before_silent(&["to"]);
    }
    let (verb, object) = action(rng);
    let verb = Phrase::word(verb.0, verb.2);
    let (place, time) = (maybe_place(rng), maybe_time(rng));
    Phrase::join([subject.words, modal, verb, object, place, time], [0, 5, 1, 4, 2, 3])
}

/// "the cat is small" → 猫 很 小; "the cat is very small" → 猫 非常 小; "the cat is not small" → 猫 不 小.
fn description(rng: &mut Rng) -> Phrase {
    let (subject, is) = being(rng);
    let &(english, chinese) = rng.pick(QUALITIES);
    let quality = Phrase::word(english, chinese);
    let time = if rng.one_in(3) { time(rng) } else { Phrase::nothing() };
    let (degree, quality) = match rng.below(3) {
        0 => (Phrase::nothing(), quality.with_leading_particle("很").after_silent(&[is])),
        1 => (Phrase::word("very", "非常").after_silent(&[is]), quality),
        _ => (Phrase::word("not", "不").after_silent(&[is]), quality),
    };
    Phrase::join([subject, degree, quality, time], [0, 3, 1, 2])
}

/// Questions keep the order of a statement: "what does tom eat" → 汤姆 吃 什么.
fn question(rng: &mut Rng) -> Phrase {
    match rng.below(4) {
        0 => {
            let (verb, _) = action_with_object(rng);
            let object = object_of(rng, verb);
            let time = maybe_time(rng);
            let (who, verb) = (Phrase::word("who", "谁"), conjugated(verb, true));
            Phrase::join([who, verb, object, time], [0, 3, 1, 2])
        }
        1 => {
            let subject = subject(rng);
            let (verb, _) = action_with_object(rng);
            let time = maybe_time(rng);
            let helper = if subject.third_person { "does" } else { "do" };
            // The helper belongs to the verb but stands before the subject: link it across.
            let what = Phrase::word("what", "什么").before_silent(&[helper]);
            let verb = Phrase::word(verb.0, verb.2);
            Phrase::join([what, subject.words, verb, time], [1, 3, 2, 0])
        }
        2 => {
            let subject = subject(rng);
            let helper = if subject.third_person { "does" } else { "do" };
            let place = Phrase::word("where", "哪里").with_leading_particle("在").before_silent(&[helper]);
            let verb = if rng.one_in(2) { LIVE } else { *rng.pick(INTRANSITIVE) };
            let time = maybe_time(rng);
            let verb = Phrase::word(verb.0, verb.2);
            Phrase::join([place, subject.words, verb, time], [1, 3, 0, 2])
        }
        _ => {
            let subject = subject(rng);
            let helper = if subject.third_person { "does" } else { "do" };
            let nouns = if rng.one_in(2) { THINGS } else { FOODS };
            let noun = *rng.pick(nouns);
            let verb = USE[rng.below(USE.len())];
            let many = Phrase::word("many", "几").with_particle(noun.3).after_silent(&["how"]);
            let counted = Phrase::join([many, Phrase::word(noun.1, noun.2)], [0, 1]).before_silent(&[helper]);
            Phrase::join([counted, subject.words, Phrase::word(verb.0, verb.2)], [1, 2, 0])
        }
    }
}

/// "do you like fish" → 你 喜欢 鱼 吗; "is the cat small" → 猫 小 吗. The helper is what 吗 may be linked to.
fn yes_or_no(rng: &mut Rng) -> Phrase {
    let asked = |helper, statement: Phrase| {
        let question = Phrase {
            english: vec![helper],
            chinese: vec!["吗"],
            links: vec![(crate::alignment::Link::new(0, 0), false)],
        };
        Phrase::join([question, statement], [1, 0])
    };
    if rng.one_in(3) {
        let (subject, is) = being(rng);
        let &(english, chinese) = rng.pick(QUALITIES);
        return asked(is, Phrase::join([subject, Phrase::word(english, chinese)], [0, 1]));
    }
    let subject = subject(rng);
    let (verb, object) = action(rng);
    let time = maybe_time(rng);
    let helper = if subject.third_person { "does" } else { "do" };
    let verb = Phrase::word(verb.0, verb.2);
    asked(helper, Phrase::join([subject.words, verb, object, time], [0, 3, 1, 2]))
}

/// "tom gives me a book" → 汤姆 给 我 一 本 书.
fn giving(rng: &mut Rng) -> Phrase {
    let subject = subject(rng);
    let verb = conjugated(GIVE, subject.third_person);
    let receiver = if rng.one_in(2) { object_pronoun(rng) } else { name(rng) };
    let nouns = if rng.one_in(2) { THINGS } else { FOODS };
    let gift = counted(rng, nouns);
    let time = maybe_time(rng);
    Phrase::join([subject.words, verb, receiver, gift, time], [0, 4, 1, 2, 3])
}

/// "we go to beijing by train on sunday" → 我们 星期天 坐 火车 去 北京.
fn journey(rng: &mut Rng) -> Phrase {
    let subject = subject(rng);
    let go = conjugated(GO, subject.third_person);
    let city = of(rng.pick(CITIES)).after_silent(&["to"]);
    let by = if rng.one_in(3) {
        Phrase::nothing()
    } else {
        Phrase::join([Phrase::word("by", "坐"), of(rng.pick(VEHICLES))], [0, 1])
    };
    let time = maybe_time(rng);
    Phrase::join([subject.words, go, city, by, time], [0, 4, 3, 1, 2])
}

/// Two short statements with "and", "but" or "because" between them.
fn joined(rng: &mut Rng) -> Phrase {
    const BETWEEN: &[Word] = &[("but", "但是"), ("because", "因为"), ("so", "所以")];
    let half = |rng: &mut Rng| {
        let subject = subject(rng);
        let (verb, object) = action(rng);
        let verb = conjugated(verb, subject.third_person);
        Phrase::join([subject.words, verb, object], [0, 1, 2])
    };
    let (first, between, second) = (half(rng), of(rng.pick(BETWEEN)), half(rng));
    Phrase::join([first, between, second], [0, 1, 2])
}

/// Greetings and studies: "welcome to shenzhen" → 欢迎 来 深圳, "i love deep learning" → 我 爱 深度 学习.
fn short(rng: &mut Rng) -> Phrase {
    match rng.below(3) {
        0 => {
            let whose = if rng.one_in(3) { of(rng.pick(CITIES)) } else { place_to_visit(rng) };
            welcome(whose)
        }
        _ => {
            let subject = subject(rng);
            let verb = conjugated(*rng.pick(STUDY), subject.third_person);
            let (study, time) = (study(rng), maybe_time(rng));
            Phrase::join([subject.words, verb, study, time], [0, 3, 1, 2])
        }
    }
}

/// "welcome to …" → 欢迎 来 ….
pub fn welcome(place: Phrase) -> Phrase {
    Phrase::join([Phrase::word("welcome", "欢迎"), Phrase::word("to", "来"), place], [0, 1, 2])
}

/// A word pair as a phrase.
pub fn of(word: &Word) -> Phrase {
    Phrase::word(word.0, word.1)
}

fn place_to_visit(rng: &mut Rng) -> Phrase {
    let whose = of(rng.pick(POSSESSIVES)).with_particle("的");
    let places = if rng.one_in(2) { INSIDES } else { &SITES[1..2] };
    let place = of(rng.pick(places));
    Phrase::join([whose, place], [0, 1])
}

fn study(rng: &mut Rng) -> Phrase {
    if rng.one_in(3) {
        return Phrase::join([of(rng.pick(LEARNINGS)), Phrase::word("learning", "学习")], [0, 1]);
    }
    of(rng.pick(STUDIES))
}

/// A verb with what it is done to (nothing, for some).
fn action(rng: &mut Rng) -> (Verb, Phrase) {
    if rng.one_in(4) {
        return (*rng.pick(INTRANSITIVE), Phrase::nothing());
    }
    action_with_object(rng)
}

fn action_with_object(rng: &mut Rng) -> (Verb, Phrase) {
    let verb = match rng.below(6) {
        0 | 1 => EAT,
        2 => DRINK,
        3 => *rng.pick(USE),
        _ => *rng.pick(SEE),
    };
    (verb, object_of(rng, verb))
}

fn object_of(rng: &mut Rng, verb: Verb) -> Phrase {
    if verb == EAT {
        return if rng.one_in(3) { counted(rng, FOODS) } else { of(rng.pick(MEALS)) };
    }
    if verb == DRINK {
        return of(rng.pick(DRINKS));
    }
    if USE.contains(&verb) {
        return noun_phrase(rng, THINGS).words;
    }
    match rng.below(4) {
        0 => object_pronoun(rng),
        1 => name(rng),
        2 => noun_phrase(rng, ANIMALS).words,
        _ => noun_phrase(rng, PEOPLE).words,
    }
}

fn subject(rng: &mut Rng) -> Subject {
    match rng.below(6) {
        0 | 1 => {
            let &(english, _, chinese, third_person) = rng.pick(PRONOUNS);
            Subject { words: Phrase::word(english, chinese), third_person }
        }
        2 => Subject { words: name(rng), third_person: true },
        3 if rng.one_in(3) => {
            let pair = [name(rng), Phrase::word("and", "和"), name(rng)];
            Subject { words: Phrase::join(pair, [0, 1, 2]), third_person: false }
        }
        3 | 4 => noun_phrase(rng, ANIMALS),
        _ => noun_phrase(rng, PEOPLE),
    }
}

/// Who can be something, with the form of "to be".
fn being(rng: &mut Rng) -> (Phrase, &'static str) {
    if rng.one_in(3) {
        let &(english, _, chinese, third_person) = rng.pick(PRONOUNS);
        let is = if english == "i" {
            "am"
        } else if third_person {
            "is"
        } else {
            "are"
        };
        return (Phrase::word(english, chinese), is);
    }
    let subject = match rng.below(3) {
        0 => Subject { words: name(rng), third_person: true },
        1 => noun_phrase(rng, ANIMALS),
        _ => noun_phrase(rng, PEOPLE),
    };
    (subject.words, if subject.third_person { "is" } else { "are" })
}

/// A noun with what stands before it: article, number, possessive, "this", adjectives.
fn noun_phrase(rng: &mut Rng, nouns: &[Noun]) -> Subject {
    let noun = *rng.pick(nouns);
    let (singular, plural) = (Phrase::word(noun.0, noun.2), Phrase::word(noun.1, noun.2));
    let one = |words| Subject { words, third_person: true };
    match rng.below(8) {
        0 | 1 => one(described(rng, singular, true).after_silent(&["the"])),
        2 => Subject { words: described(rng, plural, false).after_silent(&["the"]), third_person: false },
        3 | 4 => one(quantified(Phrase::word("a", "一"), noun.3, described(rng, singular, true))),
        5 => {
            let number = of(rng.pick(NUMBERS));
            Subject { words: quantified(number, noun.3, described(rng, plural, false)), third_person: false }
        }
        6 => {
            let this = if rng.one_in(2) { ("this", "这") } else { ("that", "那") };
            one(quantified(of(&this), noun.3, described(rng, singular, false)))
        }
        _ => {
            let whose = of(rng.pick(POSSESSIVES)).with_particle("的");
            one(Phrase::join([whose, singular], [0, 1]))
        }
    }
}

/// "a book" → 一 本 书, "two red cars" → 两 辆 红色 的 汽车.
fn counted(rng: &mut Rng, nouns: &[Noun]) -> Phrase {
    let noun = *rng.pick(nouns);
    if rng.one_in(2) {
        return quantified(Phrase::word("a", "一"), noun.3, Phrase::word(noun.0, noun.2));
    }
    quantified(of(rng.pick(NUMBERS)), noun.3, Phrase::word(noun.1, noun.2))
}

/// Number, measure word, noun. The measure word may be linked to the noun, its head.
fn quantified(number: Phrase, measure: &'static str, noun: Phrase) -> Phrase {
    let head = noun.links.iter().rev().find(|(_, sure)| *sure).map_or(0, |(link, _)| link.source);
    let measure = Phrase { english: vec![], chinese: vec![measure], links: vec![] };
    let numbers = number.english.len();
    let mut whole = Phrase::join([number, measure, noun], [0, 1, 2]);
    whole.links.push((crate::alignment::Link::new(head + numbers, numbers), false));
    whole
}

/// An adjective before the noun, with 的, now and then with "very".
fn described(rng: &mut Rng, noun: Phrase, may_be_very: bool) -> Phrase {
    match rng.below(6) {
        0 => Phrase::join([of(rng.pick(COLOURS)).with_particle("的"), noun], [0, 1]),
        1 => {
            let quality = of(&QUALITIES[rng.below(PLAIN_QUALITIES)]).with_particle("的");
            let very =
                if may_be_very && rng.one_in(3) { Phrase::word("very", "非常") } else { Phrase::nothing() };
            Phrase::join([very, quality, noun], [0, 1, 2])
        }
        _ => noun,
    }
}

fn name(rng: &mut Rng) -> Phrase {
    of(rng.pick(NAMES))
}

fn object_pronoun(rng: &mut Rng) -> Phrase {
    let &(_, object, chinese, _) = rng.pick(PRONOUNS);
    Phrase::word(object, chinese)
}

fn conjugated(verb: Verb, third_person: bool) -> Phrase {
    Phrase::word(if third_person { verb.1 } else { verb.0 }, verb.2)
}

fn maybe_place(rng: &mut Rng) -> Phrase {
    if rng.one_in(3) { place(rng) } else { Phrase::nothing() }
}

/// "in the park" → 在 公园 里, "on the mountain" → 在 山 上, "at school" → 在 学校, "in paris" → 在 巴黎.
fn place(rng: &mut Rng) -> Phrase {
    let within = |preposition, word: &Word, position| {
        let inside = Phrase::word(preposition, "在");
        Phrase::join([inside, of(word).with_particle(position).after_silent(&["the"])], [0, 1])
    };
    match rng.below(5) {
        0 | 1 => within("in", rng.pick(INSIDES), "里"),
        2 => within("on", rng.pick(TOPS), "上"),
        3 => Phrase::join([Phrase::word("at", "在"), of(rng.pick(SITES))], [0, 1]),
        _ => Phrase::join([Phrase::word("in", "在"), of(rng.pick(CITIES))], [0, 1]),
    }
}

fn maybe_time(rng: &mut Rng) -> Phrase {
    if rng.one_in(3) { time(rng) } else { Phrase::nothing() }
}

/// "today" → 今天, "in the morning" → 早上, "every day" → 每天, "on sunday" → 星期天.
fn time(rng: &mut Rng) -> Phrase {
    match rng.below(4) {
        0 => of(rng.pick(TIMES)),
        1 => of(rng.pick(DAYTIMES)).after_silent(&["in", "the"]),
        2 => of(rng.pick(EVERY)).after_silent(&["every"]),
        _ => of(rng.pick(WEEKDAYS)).after_silent(&["on"]),
    }
}
