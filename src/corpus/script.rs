//! The script that a language is written in, to find lines in another language.

use unicode_script::{Script, UnicodeScript};

/// The scripts of languages that are not written in Latin letters, by ISO 639 code.
const OTHERS: &[(&[&str], &[Script])] = &[
    (&["zh", "yue", "cmn", "wuu", "lzh"], &[Script::Han, Script::Bopomofo]),
    (&["ja"], &[Script::Han, Script::Hiragana, Script::Katakana]),
    (&["ko"], &[Script::Hangul, Script::Han]),
    (&["ru", "uk", "be", "bg", "mk", "kk", "ky", "mn", "tg"], &[Script::Cyrillic]),
    (&["sr"], &[Script::Cyrillic, Script::Latin]),
    (&["el"], &[Script::Greek]),
    (&["he", "yi"], &[Script::Hebrew]),
    (&["ar", "fa", "ur", "ps", "ug"], &[Script::Arabic]),
    (&["hi", "mr", "ne", "sa"], &[Script::Devanagari]),
    (&["bn", "as"], &[Script::Bengali]),
    (&["ta"], &[Script::Tamil]),
    (&["te"], &[Script::Telugu]),
    (&["th"], &[Script::Thai]),
    (&["lo"], &[Script::Lao]),
    (&["km"], &[Script::Khmer]),
    (&["my"], &[Script::Myanmar]),
    (&["ka"], &[Script::Georgian]),
    (&["hy"], &[Script::Armenian]),
    (&["am", "ti"], &[Script::Ethiopic]),
];

/// Languages that are written in Latin letters, of those that corpora are made of.
const LATIN: &[&str] = &[
    "en", "de", "fr", "es", "it", "pt", "nl", "pl", "cs", "sk", "sl", "hr", "hu", "ro", "sv", "da", "no", "nb",
    "nn", "is", "fi", "et", "lv", "lt", "tr", "vi", "id", "ms", "tl", "sw", "eu", "ca", "gl", "ga", "cy", "mt",
    "sq", "af", "eo", "la", "az", "uz",
];

/// The scripts of a language (an ISO 639 code, which a country may follow); nothing if it is not known.
fn of(language: &str) -> Option<&'static [Script]> {
    let code = language.split(['-', '_']).next()?.to_ascii_lowercase();
    if LATIN.contains(&code.as_str()) {
        return Some(&[Script::Latin]);
    }
    OTHERS.iter().find(|(codes, _)| codes.contains(&code.as_str())).map(|(_, scripts)| *scripts)
}

/// Whether fewer than half of a text's letters are in the script of its language. Never where the language is not known
/// or there is no letter: numbers and signs belong to all.
pub fn is_wrong(text: &str, language: &str) -> bool {
    let Some(expected) = of(language) else { return false };
    // Some letters, such as the mark of a long vowel in kana, are of no one script.
    let letters = text.chars().filter(|c| c.is_alphabetic()).map(|c| c.script());
    let letters = letters.filter(|script| !matches!(script, Script::Common | Script::Inherited));
    let (right, all) =
        letters.fold((0, 0), |(right, all), script| (right + usize::from(expected.contains(&script)), all + 1));
    2 * right < all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_another_script_are_noticed() {
        for (text, language, wrong) in [
            ("the cat eats fish", "en", false),
            ("猫 吃 鱼", "en", true),
            ("我用 Python 写一个很小的程序", "zh", false),
            ("I use Python 吧", "zh", true),
            ("コーヒー", "ja", false),
            ("コーヒー", "zh", true),
            ("Привет", "ru", false),
            ("Привет", "de-AT", true),
            ("42 + 1", "ru", false),
            ("Привет", "", false),
            ("Привет", "tlh", false),
        ] {
            assert_eq!(is_wrong(text, language), wrong, "{text} in {language}");
        }
    }
}
