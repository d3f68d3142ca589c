//! What a translation has of its reference: the longest common subsequence of their words (Hunt & McIlroy 1976). What is not
//! in it was left out, made up, or moved.

use crate::text::is_unspaced;

/// A piece of a translation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    /// The text, with the space before it.
    pub text: String,
    /// Whether the reference has it, in this order.
    pub right: bool,
}

/// A translation in pieces, each right or not. Words stand between spaces; characters of scripts without spaces stand
/// alone.
pub fn marked(translation: &str, reference: &str) -> Vec<Marked> {
    let (ours, theirs) = (pieces(translation), pieces(reference));
    let right = common(&ours, &theirs);
    let mut joined: Vec<Marked> = Vec::new();
    for (text, right) in ours.into_iter().zip(right) {
        match joined.last_mut() {
            Some(last) if last.right == right => last.text += &text,
            _ => joined.push(Marked { text, right }),
        }
    }
    joined
}

/// Words and characters, each with the space before it.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for (i, word) in text.split_whitespace().enumerate() {
        let mut piece = if i > 0 { " ".to_owned() } else { String::new() };
        for c in word.chars() {
            if is_unspaced(c) && !piece.trim().is_empty() {
                pieces.push(std::mem::take(&mut piece));
            }
            piece.push(c);
            if is_unspaced(c) {
                pieces.push(std::mem::take(&mut piece));
            }
        }
        if !piece.is_empty() {
            pieces.push(piece);
        }
    }
    pieces
}

/// Which of ours are in the longest common subsequence.
fn common(ours: &[String], theirs: &[String]) -> Vec<bool> {
    let same = |i: usize, j: usize| ours[i].trim() == theirs[j].trim();
    // `longest[i][j]`: of what follows from i and from j on.
    let mut longest = vec![vec![0usize; theirs.len() + 1]; ours.len() + 1];
    for i in (0..ours.len()).rev() {
        for j in (0..theirs.len()).rev() {
            longest[i][j] =
                if same(i, j) { 1 + longest[i + 1][j + 1] } else { longest[i + 1][j].max(longest[i][j + 1]) };
        }
    }
    let (mut right, mut j) = (vec![false; ours.len()], 0);
    for i in 0..ours.len() {
        while j < theirs.len() && !same(i, j) && longest[i][j] == longest[i][j + 1] {
            j += 1;
        }
        if j < theirs.len() && same(i, j) {
            right[i] = true;
            j += 1;
        }
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(translation: &str, reference: &str) -> String {
        let piece = |piece: &Marked| if piece.right { piece.text.clone() } else { format!("[{}]", piece.text) };
        marked(translation, reference).iter().map(piece).collect()
    }

    #[test]
    fn wrong_words_are_marked_whatever_the_script() {
        assert_eq!(told("猫 吃 鱼", "猫 吃 鱼"), "猫 吃 鱼");
        assert_eq!(told("猫 看见 鱼", "猫 吃 鱼"), "猫[ 看见] 鱼");
        assert_eq!(told("猫吃狗", "猫吃鱼"), "猫吃[狗]");
        assert_eq!(told("我用它写", "我用 Python 写"), "我用[它]写");
        assert_eq!(told("我用 Python写 a", "我用Python 写 a"), "我用 Python写 a");
        assert_eq!(told("a b a b", "b a"), "[a] b a[ b]");
        assert_eq!(told("x a", "a b"), "[x] a");
        assert_eq!(told("", "a"), "");
        assert_eq!(told("a", ""), "[a]");
    }

    /// As many are right as the longest common subsequence has words.
    #[test]
    fn as_much_as_can_be_is_right() {
        let (a, b) = ("1 2 3 2 4 1 2", "2 4 3 1 2 1");
        let right: usize = marked(a, b)
            .iter()
            .filter(|piece| piece.right)
            .map(|piece| piece.text.split_whitespace().count())
            .sum();
        assert_eq!(right, 4);
    }
}
