//! The script that a language is written in, to find lines in another language.

use unicode_script::{Script, UnicodeScript};

/// The scripts of languages that are not written in Latin letters, by ISO 639 codes of two and three letters.
const OTHERS: &[(&[&str], &[Script])] = &[
    (&["zh", "zho", "yue", "cmn", "wuu", "lzh"], &[Script::Han, Script::Bopomofo]),
    (&["ja", "jpn"], &[Script::Han, Script::Hiragana, Script::Katakana]),
    (&["ko", "kor"], &[Script::Hangul, Script::Han]),
    (
        &[
            "ru", "rus", "uk", "ukr", "be", "bel", "bg", "bul", "mk", "mkd", "kk", "kaz", "ky", "kir", "mn",
            "mon", "tg", "tgk",
        ],
        &[Script::Cyrillic],
    ),
    (&["sr", "srp"], &[Script::Cyrillic, Script::Latin]),
    (&["el", "ell"], &[Script::Greek]),
    (&["he", "heb", "yi", "yid"], &[Script::Hebrew]),
    (&["ar", "ara", "fa", "fas", "pes", "ur", "urd", "ps", "pus", "ug", "uig"], &[Script::Arabic]),
    (&["hi", "hin", "mr", "mar", "ne", "nep", "sa", "san"], &[Script::Devanagari]),
    (&["bn", "ben", "as", "asm"], &[Script::Bengali]),
    (&["ta", "tam"], &[Script::Tamil]),
    (&["te", "tel"], &[Script::Telugu]),
    (&["th", "tha"], &[Script::Thai]),
    (&["lo", "lao"], &[Script::Lao]),
    (&["km", "khm"], &[Script::Khmer]),
    (&["my", "mya"], &[Script::Myanmar]),
    (&["ka", "kat"], &[Script::Georgian]),
    (&["hy", "hye"], &[Script::Armenian]),
    (&["am", "amh", "ti", "tir"], &[Script::Ethiopic]),
];

/// Languages that are written in Latin letters, of those that corpora are made of.
const LATIN: &[&str] = &[
    "en", "eng", "de", "deu", "fr", "fra", "es", "spa", "it", "ita", "pt", "por", "nl", "nld", "pl", "pol", "cs",
    "ces", "sk", "slk", "sl", "slv", "hr", "hrv", "hu", "hun", "ro", "ron", "sv", "swe", "da", "dan", "no", "nor",
    "nb", "nob", "nn", "nno", "is", "isl", "fi", "fin", "et", "est", "lv", "lav", "lt", "lit", "tr", "tur", "vi",
    "vie", "id", "ind", "ms", "msa", "tl", "tgl", "sw", "swa", "eu", "eus", "ca", "cat", "gl", "glg", "ga", "gle",
    "cy", "cym", "mt", "mlt", "sq", "sqi", "af", "afr", "eo", "epo", "la", "lat", "az", "aze", "uz", "uzb",
];

/// Whether it is known how a language is written.
pub fn is_known(language: &str) -> bool {
    of(language).is_some()
}

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
            ("Привет", "eng", true),
            ("42 + 1", "ru", false),
            ("Привет", "", false),
            ("Привет", "tlh", false),
        ] {
            assert_eq!(is_wrong(text, language), wrong, "{text} in {language}");
        }
    }
}
