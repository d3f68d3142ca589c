//! A piece of a sentence in both languages with its links, and how pieces are put together.

use crate::alignment::{Link, SentenceLinks};

/// English and Chinese words that belong together, linked.
#[derive(Clone, Debug, Default)]
pub struct Phrase {
    /// English words.
    pub english: Vec<&'static str>,
    /// Chinese words.
    pub chinese: Vec<&'static str>,
    /// Links, English–Chinese, counted inside the phrase.
    pub links: Vec<(Link, bool)>,
}

impl Phrase {
    /// One word for one word, a sure link.
    pub fn word(english: &'static str, chinese: &'static str) -> Self {
        Self { english: vec![english], chinese: vec![chinese], links: vec![(Link::new(0, 0), true)] }
    }

    /// Nothing in either language.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// English words that Chinese does not say; they may be linked to the first Chinese word of `self`.
    pub fn after_silent(mut self, words: &[&'static str]) -> Self {
        let head = self.first_sure_chinese();
        self.links.iter_mut().for_each(|(link, _)| link.source += words.len());
        self.english.splice(0..0, words.iter().copied());
        self.links.extend((0..words.len()).map(|i| (Link::new(i, head), false)));
        self
    }

    /// The same with the silent words at the end.
    pub fn before_silent(mut self, words: &[&'static str]) -> Self {
        let (head, start) = (self.first_sure_chinese(), self.english.len());
        self.english.extend(words);
        self.links.extend((start..self.english.len()).map(|i| (Link::new(i, head), false)));
        self
    }

    /// A Chinese word that English does not say, put at the end; it may be linked to the English word
    /// of `self` that has the first sure link.
    pub fn with_particle(mut self, particle: &'static str) -> Self {
        let head = self.links.iter().find(|(_, sure)| *sure).map_or(0, |(link, _)| link.source);
        self.links.push((Link::new(head, self.chinese.len()), false));
        self.chinese.push(particle);
        self
    }

    /// The same with the word in front.
    pub fn with_leading_particle(mut self, particle: &'static str) -> Self {
        let head = self.links.iter().find(|(_, sure)| *sure).map_or(0, |(link, _)| link.source);
        self.links.iter_mut().for_each(|(link, _)| link.target += 1);
        self.links.push((Link::new(head, 0), false));
        self.chinese.insert(0, particle);
        self
    }

    /// The phrases side by side in English, in the order of `chinese` in Chinese.
    pub fn join<const N: usize>(parts: [Self; N], chinese: [usize; N]) -> Self {
        let mut english_at = [0; N];
        let mut joined = Self::nothing();
        for (at, part) in english_at.iter_mut().zip(&parts) {
            *at = joined.english.len();
            joined.english.extend(&part.english);
        }
        for i in chinese {
            let at = joined.chinese.len();
            joined.chinese.extend(&parts[i].chinese);
            let moved =
                |(link, sure): &(Link, bool)| (Link::new(link.source + english_at[i], link.target + at), *sure);
            joined.links.extend(parts[i].links.iter().map(moved));
        }
        joined
    }

    /// The links as a set.
    pub fn sentence_links(&self) -> SentenceLinks {
        let mut links = SentenceLinks::default();
        self.links.iter().for_each(|&(link, sure)| links.add(link, sure));
        links
    }

    fn first_sure_chinese(&self) -> usize {
        self.links.iter().find(|(_, sure)| *sure).map_or(0, |(link, _)| link.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_keep_their_links_when_they_move() {
        let place =
            Phrase::join([Phrase::word("in", "在"), Phrase::word("park", "公园").after_silent(&["the"])], [0, 1]);
        let sentence =
            Phrase::join([Phrase::word("tom", "汤姆"), Phrase::word("sings", "唱歌"), place], [0, 2, 1]);
        assert_eq!(sentence.english.join(" "), "tom sings in the park");
        assert_eq!(sentence.chinese.join(" "), "汤姆 在 公园 唱歌");
        assert_eq!(sentence.sentence_links().to_string(), "0-0 1-3 2-1 3p2 4-2");
    }

    #[test]
    fn particles_link_to_their_head() {
        let big = Phrase::word("big", "大").with_particle("的");
        assert_eq!(big.sentence_links().to_string(), "0-0 0p1");
        let very = Phrase::word("small", "小").with_leading_particle("很").after_silent(&["is"]);
        assert_eq!(very.sentence_links().to_string(), "0p1 1p0 1-1");
    }
}
