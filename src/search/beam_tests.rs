//! Beam search over small made-up models.

use super::*;
use crate::search::{Step, forced};
use crate::text::EOS;

/// A model whose next-token probabilities depend on the tokens before, by a function.
struct Made<F>(usize, F);

impl<F: Fn(usize, &[usize]) -> Vec<f32>> Stepper for Made<F> {
    /// Sentence number and tokens so far.
    type State = Vec<(usize, Vec<usize>)>;

    fn step(&mut self, mut state: Self::State, last: &[usize]) -> Step<Self::State> {
        let mut log_probs = Vec::new();
        for ((sentence, tokens), &token) in state.iter_mut().zip(last) {
            tokens.push(token);
            log_probs.extend((self.1)(*sentence, &tokens[1..]).into_iter().map(f32::ln));
        }
        let attention = state
            .iter()
            .map(|(sentence, tokens)| Look::single(vec![*sentence as f32, tokens.len() as f32]))
            .collect();
        Step { log_probs: LogProbs::given(log_probs, self.0), attention, state }
    }

    fn select(&self, state: Self::State, rows: &[usize]) -> Self::State {
        rows.iter().map(|&row| state[row].clone()).collect()
    }
}

fn sentences(n: usize) -> Vec<(usize, Vec<usize>)> {
    (0..n).map(|i| (i, Vec::new())).collect()
}

fn request(beam: usize, limits: &[usize]) -> Request<'_> {
    Request {
        beam,
        length_penalty: LengthPenalty::None,
        coverage_penalty: 0.0,
        sources: limits,
        limits,
        forbidden: &[],
        min_length: 0,
    }
}

/// Probabilities that look random but depend on nothing but their arguments.
fn scrambled(seed: usize, vocabulary: usize) -> impl Fn(usize, &[usize]) -> Vec<f32> {
    move |sentence, tokens| {
        let key = tokens.iter().fold(seed * 31 + sentence, |key, token| key * 7 + token + 1);
        let mut rng = crate::rng::Rng::new(key as u64, 0);
        let weights: Vec<f32> = (0..vocabulary).map(|_| 1.0 + rng.below(50) as f32).collect();
        let sum: f32 = weights.iter().sum();
        weights.iter().map(|weight| weight / sum).collect()
    }
}

/// Known fault X3: a beam of one is greedy, with the same score and attention; ties to the lower token.
#[test]
fn beam_one_is_greedy() {
    for seed in 0..50 {
        let next = scrambled(seed, 6);
        let mut tokens = Vec::new();
        let mut log_prob = 0.0;
        let cut = loop {
            let probabilities = next(0, &tokens);
            let best = (0..6)
                .fold(0, |best, token| if probabilities[token] > probabilities[best] { token } else { best });
            if tokens.len() == 8 {
                break true;
            }
            log_prob += f64::from(probabilities[best].ln());
            if best == 2 {
                break false;
            }
            tokens.push(best);
        };
        let found =
            beam_search(&mut Made(6, scrambled(seed, 6)), sentences(1), &request(1, &[8])).remove(0).remove(0);
        assert_eq!((&found.tokens, found.cut), (&tokens, cut));
        assert!((found.log_prob - log_prob).abs() < 1e-5);
        assert_eq!(found.attention.len(), tokens.len() + usize::from(!cut));
    }
}

/// X3, second half: with a beam wide enough for everything, the best is the best there is.
#[test]
fn a_wide_beam_finds_the_best() {
    for seed in 0..20 {
        let next = scrambled(seed, 4);
        // Every sentence of at most 3 tokens out of {0, 1, 3} with its end, or cut at 3.
        let mut best = f64::NEG_INFINITY;
        let mut open: Vec<(Vec<usize>, f64)> = vec![(Vec::new(), 0.0)];
        while let Some((tokens, log_prob)) = open.pop() {
            if tokens.len() == 3 {
                best = best.max(log_prob);
                continue;
            }
            for (token, probability) in next(0, &tokens).into_iter().enumerate() {
                let log_prob = log_prob + f64::from(probability.ln());
                if token == 2 {
                    best = best.max(log_prob);
                } else {
                    open.push(([tokens.clone(), vec![token]].concat(), log_prob));
                }
            }
        }
        let found = beam_search(&mut Made(4, scrambled(seed, 4)), sentences(1), &request(64, &[3])).remove(0);
        assert!((found[0].score - best).abs() < 1e-6);
        assert!(found.windows(2).all(|pair| pair[0].score >= pair[1].score));
    }
}

/// Known fault X4: a model that never ends is cut; one that only ends says nothing; limits of 0 and 1 work.
#[test]
fn never_ending_and_empty_translations() {
    let never = |_: usize, _: &[usize]| vec![0.5, 0.3, 0.0, 0.2];
    for (limit, expected) in [(0, vec![]), (1, vec![0]), (3, vec![0, 0, 0])] {
        for beam in [1, 3] {
            let found =
                beam_search(&mut Made(4, never), sentences(1), &request(beam, &[limit])).remove(0).remove(0);
            assert_eq!((found.tokens, found.cut), (expected.clone(), true));
        }
    }
    let only_end = |_: usize, _: &[usize]| vec![0.0, 0.0, 1.0, 0.0];
    for beam in [1, 3] {
        let found = beam_search(&mut Made(4, only_end), sentences(1), &request(beam, &[5])).remove(0).remove(0);
        assert_eq!((found.tokens, found.cut, found.log_prob), (vec![], false, 0.0));
    }
    // A model that has gone wrong still gives something.
    let broken = |_: usize, _: &[usize]| vec![f32::NAN; 4];
    let found = beam_search(&mut Made(4, broken), sentences(2), &request(3, &[5, 5]));
    assert!(found.iter().all(|n_best| n_best.len() == 1 && n_best[0].cut && n_best[0].tokens.is_empty()));
    let nothing = beam_search(&mut Made(4, only_end), sentences(0), &request(2, &[]));
    assert!(nothing.is_empty());
}

/// Known fault X1: a sentence's translation does not depend on its neighbours in the batch.
#[test]
fn a_batch_is_its_sentences() {
    let limits = [6, 2, 9, 0, 5, 7, 1];
    let together = beam_search(&mut Made(6, scrambled(3, 6)), sentences(7), &request(3, &limits));
    for (i, &limit) in limits.iter().enumerate() {
        let alone = beam_search(&mut Made(6, scrambled(3, 6)), vec![(i, vec![])], &request(3, &[limit])).remove(0);
        assert_eq!(together[i], alone, "sentence {i}");
    }
}

#[test]
fn forced_scoring_returns_what_search_found() {
    let limits = [8; 4];
    let found = beam_search(&mut Made(5, scrambled(9, 5)), sentences(4), &request(4, &limits));
    for (i, hypothesis) in found.iter().flat_map(|n_best| n_best.iter().filter(|h| !h.cut)).enumerate() {
        let sentence = hypothesis.attention[0].weights[0] as usize;
        let scored =
            forced(&mut Made(5, scrambled(9, 5)), vec![(sentence, vec![])], &[&hypothesis.tokens]).remove(0);
        assert!((scored.log_prob() - hypothesis.log_prob).abs() < 1e-6, "{i}");
        assert_eq!(scored.attention, hypothesis.attention);
    }
}

#[test]
fn forbidden_tokens_and_early_ends_are_never_written() {
    let likes = |_: usize, _: &[usize]| vec![0.5, 0.2, 0.2, 0.1];
    let request = Request { forbidden: &[0], min_length: 2, ..request(2, &[4]) };
    for hypothesis in beam_search(&mut Made(4, likes), sentences(1), &request).remove(0) {
        assert!(!hypothesis.tokens.contains(&0) && hypothesis.tokens.len() >= 2, "{hypothesis:?}");
    }
}

/// A model that is sure of nine tokens and then of the end: at each step before, to end is the second best way to go on. A
/// search that is done with any k that ended returns stumps.
#[test]
fn ends_on_the_way_do_not_end_the_search() {
    let sure = |_: usize, tokens: &[usize]| {
        let next = if tokens.len() < 9 { 3 } else { EOS };
        let likely = |token| match token {
            _ if token == next => 0.99,
            EOS => 0.007,
            _ => 0.001,
        };
        (0..5).map(likely).collect::<Vec<f32>>()
    };
    for beam in [1, 2, 3, 5] {
        for length_penalty in [LengthPenalty::None, LengthPenalty::Mean(1.0), LengthPenalty::Gnmt(1.0)] {
            let request = Request { length_penalty, ..request(beam, &[30]) };
            let found = beam_search(&mut Made(5, sure), sentences(1), &request).remove(0);
            assert_eq!(found[0].tokens, [3; 9], "beam {beam}, {length_penalty:?}");
            assert!((found[0].log_prob - 10.0 * f64::from(0.99f32).ln()).abs() < 1e-6, "{}", found[0].log_prob);
            assert_eq!(found.len(), beam);
        }
    }
}

/// A model that would rather write in circles than end: with enough that ended, the circle is none of them, however sure.
#[test]
fn circles_do_not_win_where_enough_has_ended() {
    let circles = |_: usize, tokens: &[usize]| {
        let end = if [3, 4].contains(&tokens.len()) { 0.2 } else { 0.0 };
        let likely = |token| match token {
            3 => 1.0 - end,
            EOS => end,
            _ => 0.0,
        };
        (0..5).map(likely).collect::<Vec<f32>>()
    };
    let found = |beam: usize| {
        let request = Request { length_penalty: LengthPenalty::Gnmt(1.0), ..request(beam, &[20]) };
        beam_search(&mut Made(5, circles), sentences(1), &request).remove(0)
    };
    let told = |beam: usize| found(beam).iter().map(|it| (it.tokens.len(), it.cut)).collect::<Vec<_>>();
    assert_eq!(told(2), [(3, false), (4, false)]);
    // Two ended, and three were asked for.
    assert_eq!(told(3), [(20, true), (3, false), (4, false)]);
}

/// The stub model and results of fairseq's own tests (tests/test_sequence_generator.py, MIT): the
/// probabilities are by step and by the rank of the live hypothesis, whatever its tokens.
#[test]
fn finds_what_fairseq_finds() {
    // Sentence 1 of the case: at step t the live hypothesis of rank r has these probabilities of
    // [end, unknown, w1, w2], here at the ids 2, 3, 4, 5.
    const STEPS: [[[f32; 4]; 2]; 4] = [
        [[0.0, 0.0, 0.9, 0.1], [0.0, 0.0, 0.9, 0.1]],
        [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.9, 0.1]],
        [[0.0, 0.0, 0.1, 0.9], [0.6, 0.0, 0.2, 0.2]],
        [[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]],
    ];
    struct Ranked(usize);
    impl Stepper for Ranked {
        type State = usize;
        fn step(&mut self, _: usize, last: &[usize]) -> Step<usize> {
            let rows = (0..last.len()).flat_map(|rank| {
                let [end, unknown, w1, w2] = STEPS[self.0][rank];
                [0.0, 0.0, end, unknown, w1, w2].map(f32::ln)
            });
            let log_probs = LogProbs::given(rows.collect(), 6);
            self.0 += 1;
            Step { log_probs, attention: vec![], state: 0 }
        }
        fn select(&self, state: usize, _: &[usize]) -> usize {
            state
        }
    }
    for (penalty, expected) in [
        (LengthPenalty::Mean(1.0), [(vec![4], -0.0526803), (vec![5, 4, 5], -0.6283265)]),
        (LengthPenalty::None, [(vec![4], -0.1053605), (vec![5, 4, 5], -2.5133061)]),
        (LengthPenalty::Mean(0.6), [(vec![4], -0.069512), (vec![5, 4, 5], -1.09398)]),
        (LengthPenalty::Mean(5.0), [(vec![5, 4, 5], -0.0024544), (vec![4], -0.0032925)]),
    ] {
        let request = Request { length_penalty: penalty, ..request(2, &[10]) };
        let found = beam_search(&mut Ranked(0), 0, &request).remove(0);
        for (hypothesis, (tokens, score)) in found.iter().zip(expected) {
            assert_eq!(hypothesis.tokens, tokens, "{penalty:?}");
            assert!((hypothesis.score - score).abs() < 1e-6, "{penalty:?}: {}", hypothesis.score);
        }
    }
}

/// Of two translations that are as likely, the one that looked at all of the source comes first, and its score says so.
#[test]
fn the_coverage_penalty_ranks_by_what_was_looked_at() {
    // Token 1 looks at the first of two positions, token 2 at the second; then both end. By itself "1 1" is likeliest.
    struct Looks;
    impl Stepper for Looks {
        type State = Vec<usize>;
        fn step(&mut self, state: Self::State, last: &[usize]) -> Step<Self::State> {
            let steps = state[0];
            let likely: [f32; 4] = if steps < 2 { [0.0, 0.0, 0.6, 0.4] } else { [0.0, 1.0, 0.0, 0.0] };
            let log_probs = last.iter().flat_map(|_| likely.map(f32::ln)).collect();
            // The look of a step is at what the last token stands for; the first step looks at nothing.
            let look = |&token: &usize| {
                Look::single(vec![f32::from(u8::from(token == 2)), f32::from(u8::from(token == 3))])
            };
            let attention = last.iter().map(look).collect();
            Step { log_probs: LogProbs::given(log_probs, 4), attention, state: vec![steps + 1; last.len()] }
        }
        fn select(&self, state: Self::State, rows: &[usize]) -> Self::State {
            rows.iter().map(|&row| state[row]).collect()
        }
        fn begin(&self) -> usize {
            0
        }
        fn end(&self) -> usize {
            1
        }
    }
    let best = |coverage_penalty| {
        let request = Request { coverage_penalty, sources: &[2], ..request(4, &[5]) };
        beam_search(&mut Looks, vec![0], &request).remove(0).remove(0)
    };
    assert_eq!(best(0.0).tokens, [2, 2]);
    let covered = best(1.0);
    assert!(covered.tokens == [2, 3] || covered.tokens == [3, 2]);
    assert!((covered.score - covered.log_prob).abs() < 1e-9, "all of it was looked at: nothing is lost");
    assert!((covered.log_prob - 0.24f64.ln()).abs() < 1e-6);
}
