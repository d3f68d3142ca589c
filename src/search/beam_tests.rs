//! Beam search over small made-up models.

use super::*;
use crate::kernels::log_probs::LogProbs;
use crate::search::{
    Fate, LengthPenalty, Look, Phrase, SearchConfig, Step, Task, beam_tree, forced, sample, tree,
};
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
        let attention =
            state.iter().map(|(sentence, tokens)| Look::single(look(*sentence, &tokens[1..]))).collect();
        Step { log_probs: LogProbs::given(log_probs, self.0), attention, state }
    }

    fn select(&self, state: Self::State, rows: &[usize]) -> Self::State {
        rows.iter().map(|&row| state[row].clone()).collect()
    }
}

/// Where a made-up model looks when it has written some tokens; no two sentences of a few tokens look alike.
fn look(sentence: usize, tokens: &[usize]) -> Vec<f32> {
    let first = tokens.iter().fold(0.1, |look, &token| (look + token as f32 * 0.37) % 1.0);
    vec![sentence as f32, first, 1.0 - first]
}

fn sentences(n: usize) -> Vec<(usize, Vec<usize>)> {
    (0..n).map(|i| (i, Vec::new())).collect()
}

/// Plain search with a beam, told how far each sentence may go; as many translations as the beam is wide.
fn search<S: Stepper>(
    mut stepper: S,
    state: S::State,
    config: &SearchConfig,
    limits: &[usize],
) -> Vec<Vec<Hypothesis>> {
    let tasks: Vec<Task<'_>> = limits.iter().map(|&most| Task::of(2, most)).collect();
    search_for(&mut stepper, state, config, &tasks)
}

fn search_for<S: Stepper>(
    stepper: &mut S,
    state: S::State,
    config: &SearchConfig,
    tasks: &[Task<'_>],
) -> Vec<Vec<Hypothesis>> {
    let request = Request { config, n_best: config.beam, forbidden: &[], tasks };
    beam_search(stepper, state, &request)
}

fn plain(beam: usize) -> SearchConfig {
    SearchConfig { beam, length_penalty: LengthPenalty::None, ..SearchConfig::default() }
}

/// Penalties of every kind.
const PENALTIES: [LengthPenalty; 8] = [
    LengthPenalty::None,
    LengthPenalty::Mean(1.0),
    LengthPenalty::Mean(0.4),
    LengthPenalty::Mean(-0.5),
    LengthPenalty::Gnmt(1.0),
    LengthPenalty::Gnmt(0.6),
    LengthPenalty::Reward(1.5),
    LengthPenalty::Reward(-0.5),
];

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
        let found = search(Made(6, scrambled(seed, 6)), sentences(1), &plain(1), &[8]).remove(0).remove(0);
        assert_eq!((&found.tokens, found.cut), (&tokens, cut));
        assert!((found.log_prob - log_prob).abs() < 1e-5);
        assert_eq!(found.attention.len(), tokens.len() + usize::from(!cut));
    }
}

/// Everything that a model can say in at most `most` tokens, the end counted, with its log-probability.
fn everything(next: impl Fn(usize, &[usize]) -> Vec<f32>, most: usize) -> Vec<(Vec<usize>, f64)> {
    let mut ended = Vec::new();
    let mut open: Vec<(Vec<usize>, f64)> = vec![(Vec::new(), 0.0)];
    while let Some((tokens, log_prob)) = open.pop() {
        for (token, probability) in next(0, &tokens).into_iter().enumerate() {
            let log_prob = log_prob + f64::from(probability.ln());
            if token == EOS {
                ended.push((tokens.clone(), log_prob));
            } else if tokens.len() + 1 < most {
                open.push(([tokens.clone(), vec![token]].concat(), log_prob));
            }
        }
    }
    ended
}

/// X3, second half: of four words and the end, with a beam wide enough for everything, the n best are the n best there are,
/// whatever ranks them.
#[test]
fn a_wide_beam_finds_the_best() {
    let mut moved_by_coverage = 0;
    for seed in 0..10 {
        // With at most 3 tokens before the end: 1 + 4 + 16 + 64 sentences.
        let everything = everything(scrambled(seed, 5), 4);
        assert_eq!(everything.len(), 85);
        for length_penalty in PENALTIES {
            let best = [0.0, 0.7].map(|coverage_penalty| {
                let all = ranked_by_hand(&everything, length_penalty, coverage_penalty);
                for n_best in [1, 3, 85] {
                    let config =
                        SearchConfig { beam: 500, length_penalty, coverage_penalty, ..SearchConfig::default() };
                    let request = Request { config: &config, n_best, forbidden: &[], tasks: &[Task::of(3, 4)] };
                    let found = beam_search(&mut Made(5, scrambled(seed, 5)), sentences(1), &request).remove(0);
                    assert_eq!(found.len(), n_best);
                    for (found, (score, _)) in found.iter().zip(&all) {
                        let name = format!("{length_penalty:?} {coverage_penalty}");
                        assert!((found.score - score).abs() < 1e-5, "{name}: {} {score}", found.score);
                    }
                    assert_eq!(found[0].tokens, all[0].1, "{length_penalty:?}, {n_best} best");
                }
                all[0].1.clone()
            });
            moved_by_coverage += usize::from(best[0] != best[1]);
        }
    }
    // The penalty counts: otherwise this test would say nothing about it.
    assert!(moved_by_coverage > 5, "{moved_by_coverage}");
}

/// Sentences with what they should score, best first. A word is looked at by the step that writes it, knowing those before.
fn ranked_by_hand(
    everything: &[(Vec<usize>, f64)],
    length_penalty: LengthPenalty,
    coverage_penalty: f64,
) -> Vec<(f64, Vec<usize>)> {
    let score = |(tokens, log_prob): &(Vec<usize>, f64)| {
        let looks: Vec<Vec<f32>> = (0..tokens.len()).map(|written| look(0, &tokens[..written])).collect();
        let seen = |place: usize| looks.iter().map(|look| f64::from(look[place])).sum::<f64>();
        let lost: f64 = (0..3).map(|place| seen(place).clamp(1e-6, 1.0).ln()).sum();
        (length_penalty.score(*log_prob, tokens.len() + 1) + coverage_penalty * lost, tokens.clone())
    };
    let mut all: Vec<_> = everything.iter().map(score).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all
}

/// What is asked for does not change what is first, and a narrow beam goes on while anything that it holds could win.
#[test]
fn the_first_of_many_is_the_one_of_one() {
    for seed in 0..50 {
        for (length_penalty, groups) in PENALTIES.into_iter().flat_map(|it| [(it, 1), (it, 2), (it, 4)]) {
            let config = SearchConfig { length_penalty, groups, ..plain(4) };
            let found = |n_best| {
                let request = Request { config: &config, n_best, forbidden: &[], tasks: &[Task::of(2, 9)] };
                beam_search(&mut Made(6, scrambled(seed, 6)), sentences(1), &request).remove(0)
            };
            let (one, four) = (found(1), found(4));
            assert_eq!(one[0], four[0], "{length_penalty:?}, {groups} groups");
            assert!(four.windows(2).all(|pair| pair[0].score >= pair[1].score));
            let mut tokens: Vec<_> = four.iter().map(|it| &it.tokens).collect();
            tokens.sort();
            tokens.dedup();
            assert_eq!(tokens.len(), four.len(), "none twice");
        }
    }
}

/// A model that ends early with a middling probability or, sure of the rest, later: under a mean the later end is the better one,
/// and a search that stops with the first end misses it.
#[test]
fn search_goes_on_while_something_could_win() {
    let later = |_: usize, tokens: &[usize]| match tokens.len() {
        0 => vec![0.0, 0.0, 0.6, 0.4],
        1..=4 => vec![0.0, 0.0, 0.0, 1.0],
        _ => vec![0.0, 0.0, 1.0, 0.0],
    };
    let found = |length_penalty| {
        let config = SearchConfig { length_penalty, ..plain(2) };
        let request = Request { config: &config, n_best: 1, forbidden: &[], tasks: &[Task::of(2, 9)] };
        beam_search(&mut Made(4, later), sentences(1), &request).remove(0).remove(0)
    };
    assert!(found(LengthPenalty::None).tokens.is_empty());
    let best = found(LengthPenalty::Mean(1.0));
    assert_eq!(best.tokens, [3; 5]);
    assert!((best.score - 0.4f64.ln() / 6.0).abs() < 1e-6);
}

/// Known fault X4: a model that never ends is cut; one that only ends says nothing; limits of 0 and 1 work.
#[test]
fn never_ending_and_empty_translations() {
    let never = |_: usize, _: &[usize]| vec![0.5, 0.3, 0.0, 0.2];
    for (limit, expected) in [(0, vec![]), (1, vec![0]), (3, vec![0, 0, 0])] {
        for beam in [1, 3] {
            let found = search(Made(4, never), sentences(1), &plain(beam), &[limit]).remove(0).remove(0);
            assert_eq!((found.tokens, found.cut), (expected.clone(), true));
        }
    }
    let only_end = |_: usize, _: &[usize]| vec![0.0, 0.0, 1.0, 0.0];
    for beam in [1, 3] {
        let found = search(Made(4, only_end), sentences(1), &plain(beam), &[5]).remove(0).remove(0);
        assert_eq!((found.tokens, found.cut, found.log_prob), (vec![], false, 0.0));
    }
    // A model that has gone wrong still gives something.
    let broken = |_: usize, _: &[usize]| vec![f32::NAN; 4];
    let found = search(Made(4, broken), sentences(2), &plain(3), &[5, 5]);
    assert!(found.iter().all(|n_best| n_best.len() == 1 && n_best[0].cut && n_best[0].tokens.is_empty()));
    assert!(found.iter().all(|n_best| n_best[0].log_prob.is_nan()));
    let nothing = search(Made(4, only_end), sentences(0), &plain(2), &[]);
    assert!(nothing.is_empty());
}

/// Known fault X1: a sentence's translation does not depend on its neighbours in the batch.
#[test]
fn a_batch_is_its_sentences() {
    let limits = [6, 2, 9, 0, 5, 7, 1];
    let together = search(Made(6, scrambled(3, 6)), sentences(7), &plain(3), &limits);
    for (i, &limit) in limits.iter().enumerate() {
        let alone = search(Made(6, scrambled(3, 6)), vec![(i, vec![])], &plain(3), &[limit]).remove(0);
        assert_eq!(together[i], alone, "sentence {i}");
    }
}

/// Every branch's log-probability is its own, only what lives on has children, and each translation is at the end of its branch.
#[test]
fn a_tree_is_the_search() {
    let [mut given_up, mut outrun, mut cut] = [0; 3];
    for seed in 0..20 {
        for (beam, groups, most) in [(1, 1, 8), (3, 1, 8), (4, 2, 8), (3, 1, 2)] {
            let config = SearchConfig { beam, groups, ..plain(beam) };
            let tasks = [Task::of(2, most)];
            let request = Request { config: &config, n_best: 2, forbidden: &[], tasks: &tasks };
            let next = scrambled(seed, 6);
            let (branches, found) = beam_tree(&mut Made(6, &next), sentences(1), &request);
            assert_eq!(found, beam_search(&mut Made(6, &next), sentences(1), &request).remove(0));
            for (i, branch) in branches.iter().enumerate() {
                let (mut at, mut tokens) = (branch.parent, Vec::new());
                while let Some(place) = at {
                    assert!(place < i && branches[place].fate == Fate::GoesOn);
                    tokens.insert(0, branches[place].token);
                    at = branches[place].parent;
                }
                let before = branch.parent.map_or(0.0, |parent| branches[parent].log_prob);
                let log_prob = before + f64::from(next(0, &tokens)[branch.token].ln());
                assert!((branch.log_prob - log_prob).abs() < 1e-5);
                assert_eq!(branch.fate == Fate::Ends, branch.token == EOS);
                given_up += usize::from(branch.fate == Fate::GivenUp);
                outrun += usize::from(branch.fate == Fate::Outrun);
            }
            for hypothesis in &found {
                let end = (!hypothesis.cut).then_some(EOS);
                let tokens: Vec<usize> = hypothesis.tokens.iter().copied().chain(end).collect();
                let last = tree::place(&branches, &tokens).unwrap();
                assert_eq!(branches[last].log_prob, hypothesis.log_prob);
                cut += usize::from(hypothesis.cut && branches[last].fate == Fate::GoesOn);
            }
        }
    }
    assert!(given_up > 0 && outrun > 0 && cut > 0, "{given_up} {outrun} {cut}");
}

#[test]
fn forced_scoring_returns_what_search_found() {
    let limits = [8; 4];
    let found = search(Made(5, scrambled(9, 5)), sentences(4), &plain(4), &limits);
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
    let tasks = [Task { least: 2, ..Task::of(2, 4) }];
    let request = Request { config: &plain(2), n_best: 2, forbidden: &[0], tasks: &tasks };
    for hypothesis in beam_search(&mut Made(4, likes), sentences(1), &request).remove(0) {
        assert!(!hypothesis.tokens.contains(&0) && hypothesis.tokens.len() >= 2, "{hypothesis:?}");
    }
}

/// A model that loves to repeat itself, with and without leave.
#[test]
fn no_ngram_comes_twice() {
    let loves = |_: usize, tokens: &[usize]| {
        let end = if tokens.len() < 7 { 0.01 } else { 0.9 };
        vec![0.1 * (1.0 - end), 0.1 * (1.0 - end), end, 0.8 * (1.0 - end)]
    };
    let found = |no_repeat_ngram, beam| {
        let config = SearchConfig { no_repeat_ngram, length_penalty: LengthPenalty::Mean(1.0), ..plain(beam) };
        search(Made(4, loves), sentences(1), &config, &[12]).remove(0)
    };
    assert!(found(0, 3)[0].tokens.starts_with(&[3, 3, 3, 3]));
    for n in [1, 2, 3] {
        for hypothesis in found(n, 3) {
            let mut ngrams: Vec<_> = hypothesis.tokens.windows(n).collect();
            ngrams.sort();
            assert!(ngrams.windows(2).all(|pair| pair[0] != pair[1]), "{n}: {:?}", hypothesis.tokens);
        }
    }
}

/// Rules that leave no way to go on end a sentence, and its probability is still a number.
#[test]
fn a_dead_end_of_rules_is_no_fault_of_the_model() {
    let tasks = [Task { least: 3, ..Task::of(2, 9) }];
    let config = SearchConfig { no_repeat_ngram: 1, ..plain(1) };
    let two_words = |_: usize, _: &[usize]| vec![0.5, 0.3, 0.2];
    let request = Request { config: &config, n_best: 1, forbidden: &[], tasks: &tasks };
    let found = beam_search(&mut Made(3, two_words), sentences(1), &request).remove(0).remove(0);
    assert_eq!((found.tokens, found.cut), (vec![0, 1], true));
    assert!((found.log_prob - 0.15f64.ln()).abs() < 1e-6);
    let drawn = sample(&mut Made(3, two_words), sentences(1), &request).remove(0).remove(0);
    assert!(drawn.cut && drawn.tokens.len() == 2 && drawn.log_prob.is_finite());
    let broken = sample(&mut Made(3, |_: usize, _: &[usize]| vec![f32::NAN; 3]), sentences(1), &request);
    assert!(broken[0][0].log_prob.is_nan());
}

/// A translation that must begin with something does, and is scored as if it had been given.
#[test]
fn a_prefix_stands_first_and_is_scored() {
    for (prefix, beam) in [(vec![3], 1), (vec![1, 4], 3), (vec![0, 0, 0], 3)] {
        let task = [Task { prefix: &prefix, ..Task::of(2, 6) }];
        let found = search_for(&mut Made(5, scrambled(4, 5)), sentences(1), &plain(beam), &task).remove(0);
        for hypothesis in found.iter().filter(|it| !it.cut) {
            assert!(hypothesis.tokens.starts_with(&prefix), "{hypothesis:?}");
            let given = forced(&mut Made(5, scrambled(4, 5)), sentences(1), &[&hypothesis.tokens]).remove(0);
            assert!((given.log_prob() - hypothesis.log_prob).abs() < 1e-6);
        }
        // The best is the best of all that begin so.
        let best = everything_of_5(4, 6).into_iter().filter(|(tokens, _)| tokens.starts_with(&prefix));
        let best = best.map(|(_, log_prob)| log_prob).fold(f64::NEG_INFINITY, f64::max);
        let wide = search_for(&mut Made(5, scrambled(4, 5)), sentences(1), &plain(1000), &task).remove(0);
        assert!((wide[0].score - best).abs() < 1e-6);
    }
    // However short the source.
    let task = [Task { prefix: &[3, 3, 3], ..Task::of(1, 1) }];
    assert!(
        search_for(&mut Made(5, scrambled(4, 5)), sentences(1), &plain(2), &task)[0][0]
            .tokens
            .starts_with(&[3; 3])
    );
}

/// Of a model of 5 words.
fn everything_of_5(seed: usize, most: usize) -> Vec<(Vec<usize>, f64)> {
    everything(scrambled(seed, 5), most)
}

/// Phrases are there, whole, and with a beam wide enough the best of all sentences that hold them is found.
#[test]
fn phrases_are_held_at_the_least_cost() {
    for seed in 0..10 {
        for phrases in [
            vec![vec![3].into()],
            vec![vec![4, 1].into()],
            vec![vec![3, 0].into(), vec![4].into()],
            vec![vec![1].into(), vec![1, 1].into()],
            vec![Phrase::new(vec![vec![3, 3, 0], vec![1]]), vec![4].into()],
        ] {
            let task = [Task { constraints: &phrases, ..Task::of(2, 5) }];
            let holds = |tokens: &[usize], phrase: &Phrase| {
                phrase.ways().iter().any(|way| tokens.windows(way.len()).any(|window| window == way))
            };
            let best = everything_of_5(seed, 5)
                .into_iter()
                .filter(|(tokens, _)| phrases.iter().all(|phrase| holds(tokens, phrase)))
                .map(|(_, log_prob)| log_prob)
                .fold(f64::NEG_INFINITY, f64::max);
            let wide = search_for(&mut Made(5, scrambled(seed, 5)), sentences(1), &plain(1000), &task).remove(0);
            assert!((wide[0].score - best).abs() < 1e-6, "{phrases:?}: {} {best}", wide[0].score);
            for beam in [1, 2, 4] {
                let found =
                    search_for(&mut Made(5, scrambled(seed, 5)), sentences(1), &plain(beam), &task).remove(0);
                for hypothesis in &found {
                    let all = phrases.iter().all(|phrase| holds(&hypothesis.tokens, phrase));
                    assert!(all, "{phrases:?} {hypothesis:?}");
                }
            }
        }
    }
}

/// One sentence's phrases and prefix are not its neighbours'.
#[test]
fn wishes_are_each_sentences_own() {
    let (must, prefix) = ([vec![4, 4].into()], [3]);
    let tasks = [
        Task::of(2, 6),
        Task { constraints: &must, ..Task::of(2, 6) },
        Task { prefix: &prefix, ..Task::of(2, 6) },
        Task { prefix: &prefix, constraints: &must, least: 4, ..Task::of(2, 6) },
    ];
    let together = search_for(&mut Made(5, scrambled(8, 5)), sentences(4), &plain(3), &tasks);
    for (i, task) in tasks.iter().enumerate() {
        let alone =
            search_for(&mut Made(5, scrambled(8, 5)), vec![(i, vec![])], &plain(3), std::slice::from_ref(task));
        assert_eq!(together[i], alone[0], "sentence {i}");
    }
    assert!(together[3][0].tokens.starts_with(&[3]) && together[3][0].tokens.len() >= 4);
}

/// By hand: two groups of one. Alike, both write 3; for ln 4 a group leaves what the one before it writes.
#[test]
fn groups_keep_from_what_others_write() {
    let one_step = |_: usize, tokens: &[usize]| match tokens.len() {
        0 => vec![0.1, 0.3, 0.0, 0.6],
        _ => vec![0.0, 0.0, 1.0, 0.0],
    };
    let found = |diversity| {
        let config = SearchConfig { groups: 2, diversity, ..plain(2) };
        search(Made(4, one_step), sentences(1), &config, &[5]).remove(0)
    };
    // What both find stands there once.
    assert_eq!(found(0.0).iter().map(|it| it.tokens.clone()).collect::<Vec<_>>(), [vec![3]]);
    let diverse = found(4f64.ln());
    assert_eq!(diverse.iter().map(|it| it.tokens.clone()).collect::<Vec<_>>(), [vec![3], vec![1]]);
    // Scores are the model's own.
    assert!((diverse[1].score - f64::from(0.3f32.ln())).abs() < 1e-6);
}

/// One group of diverse beam search is beam search.
#[test]
fn a_single_group_is_plain_search() {
    for seed in 0..20 {
        let found = |groups, diversity| {
            let config = SearchConfig { groups, diversity, ..plain(4) };
            search(Made(6, scrambled(seed, 6)), sentences(2), &config, &[8, 5])
        };
        assert_eq!(found(1, 9.0), found(1, 0.0));
        // The first of two groups is a search with its own, narrower beam; the second's are beside it.
        let narrow = search(Made(6, scrambled(seed, 6)), sentences(2), &plain(2), &[8, 5]);
        for (grouped, narrow) in found(2, 1.0).iter().zip(&narrow) {
            assert!(grouped[0].score >= narrow[0].score);
        }
    }
}

/// Samples follow the model: as often as it is likely; and none depends on its batch.
#[test]
fn samples_are_the_models_and_their_own() {
    let config = SearchConfig { length_penalty: LengthPenalty::None, ..SearchConfig::default() };
    let drawn = |numbers: &[usize], n_best| {
        let tasks: Vec<Task<'_>> = numbers.iter().map(|&number| Task { number, ..Task::of(2, 6) }).collect();
        let request = Request { config: &config, n_best, forbidden: &[], tasks: &tasks };
        let state = numbers.iter().map(|_| (0, Vec::new())).collect();
        sample(&mut Made(5, scrambled(2, 5)), state, &request)
    };
    let together = drawn(&[0, 1, 2], 3);
    assert_eq!(together[1], drawn(&[1], 3)[0]);
    assert_ne!(together[1], together[2]);
    for hypothesis in together.iter().flatten() {
        let given = forced(&mut Made(5, scrambled(2, 5)), sentences(1), &[&hypothesis.tokens]).remove(0);
        if !hypothesis.cut {
            assert!((given.log_prob() - hypothesis.score).abs() < 1e-6);
        }
        assert_eq!(given.attention[..hypothesis.attention.len()], hypothesis.attention[..]);
    }
    // The empty sentence, of 1000 draws, within four standard errors.
    let end = f64::from(scrambled(2, 5)(0, &[])[EOS]);
    let empty = drawn(&[7], 1000)[0].iter().filter(|it| it.tokens.is_empty() && !it.cut).count() as f64;
    assert!((empty - 1000.0 * end).abs() < 4.0 * (1000.0 * end * (1.0 - end)).sqrt(), "{empty} of {end}");
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
            let config = SearchConfig { length_penalty, ..plain(beam) };
            let found = search(Made(5, sure), sentences(1), &config, &[30]).remove(0);
            assert_eq!(found[0].tokens, [3; 9], "beam {beam}, {length_penalty:?}");
            assert!((found[0].log_prob - 10.0 * f64::from(0.99f32).ln()).abs() < 1e-6, "{}", found[0].log_prob);
            assert_eq!(found.len(), beam);
        }
    }
}

/// A model that would rather write in circles than end: where anything has ended, the circle is no translation, however sure.
#[test]
fn circles_do_not_win_where_something_has_ended() {
    let circles = |_: usize, tokens: &[usize]| {
        let end = if [3, 4].contains(&tokens.len()) { 0.2 } else { 0.0 };
        let likely = |token| match token {
            3 => 1.0 - end,
            EOS => end,
            _ => 0.0,
        };
        (0..5).map(likely).collect::<Vec<f32>>()
    };
    for beam in [2, 3] {
        let config = SearchConfig { length_penalty: LengthPenalty::Gnmt(1.0), ..plain(beam) };
        let found = search(Made(5, circles), sentences(1), &config, &[20]).remove(0);
        let told: Vec<_> = found.iter().map(|it| (it.tokens.len(), it.cut)).collect();
        assert_eq!(told, [(3, false), (4, false)]);
    }
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
        let config = SearchConfig { length_penalty: penalty, ..plain(2) };
        let found = search(Ranked(0), 0, &config, &[10]).remove(0);
        for (hypothesis, (tokens, score)) in found.iter().zip(expected) {
            assert_eq!(hypothesis.tokens, tokens, "{penalty:?}");
            assert!((hypothesis.score - score).abs() < 1e-6, "{penalty:?}: {}", hypothesis.score);
        }
    }
}

/// Of two translations that are as likely, the one that looked at all of the source comes first, and its score says so.
#[test]
fn the_coverage_penalty_ranks_by_what_was_looked_at() {
    // Token 2 looks at the first of two positions, token 3 at the second; then comes a last word, and the end. By itself "2 2" is likeliest.
    struct Looks;
    impl Stepper for Looks {
        type State = Vec<usize>;
        fn step(&mut self, state: Self::State, last: &[usize]) -> Step<Self::State> {
            let steps = state[0];
            let likely: [f32; 4] = match steps {
                0 | 1 => [0.0, 0.0, 0.6, 0.4],
                2 => [1.0, 0.0, 0.0, 0.0],
                _ => [0.0, 1.0, 0.0, 0.0],
            };
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
        let config = SearchConfig { coverage_penalty, ..plain(4) };
        search(Looks, vec![0], &config, &[5]).remove(0).remove(0)
    };
    assert_eq!(best(0.0).tokens, [2, 2, 0]);
    let covered = best(1.0);
    assert!(covered.tokens == [2, 3, 0] || covered.tokens == [3, 2, 0]);
    assert!((covered.score - covered.log_prob).abs() < 1e-9, "all of it was looked at: nothing is lost");
    assert!((covered.log_prob - 0.24f64.ln()).abs() < 1e-6);
}
