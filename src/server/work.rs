//! What the thread that serves does: rounds of sentences through the models.

use std::panic::{AssertUnwindSafe, catch_unwind};

use burn::tensor::Device;
use rayon::prelude::*;

use super::app::App;
use super::queue::Share;
use super::refusal::{Answer, Refusal};
use crate::corpus::Pair;
use crate::error::Result;
use crate::language::Language;
use crate::lesson::{self, Work};
use crate::model::Timing;
use crate::search::{Method, SearchConfig};
use crate::translator::{Options, Rendered, Sentence, Steps, Translation, Translator, Tree, View, Wishes};

/// One thing to compute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// A sentence to translate, with what its translation begins with and holds.
    Sentence { text: String, prefix: String, must: Vec<String> },
    /// A sentence and its translation.
    Pair(String, String),
}

/// What to compute of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum How {
    /// Translations.
    Translate(Options),
    /// Where the model looks.
    Align(View, SearchConfig),
    /// How likely it is.
    Score(SearchConfig),
    /// Every step of a greedy translation.
    Steps(Wishes, SearchConfig),
    /// The tree of a beam search.
    Tree(SearchConfig),
    /// A lesson as a page.
    Lesson(&'static str, Language, Teacher),
}

/// With which model a lesson is worked out that needs one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Teacher {
    /// The small one that is part of the program.
    Shipped,
    /// The one that is asked.
    Run,
}

impl How {
    /// What a sentence is worth, in sentences with a usual beam. What is looked into counts for a whole round.
    pub fn weight(&self) -> usize {
        match self {
            Self::Translate(options) => options.search.beam.max(options.n_best).div_ceil(USUAL_BEAM),
            Self::Align(..) | Self::Score(_) => 1,
            Self::Steps(..) | Self::Tree(_) | Self::Lesson(..) => usize::MAX,
        }
    }

    /// Whether what is found depends on the place of a sentence in its request.
    fn is_by_chance(&self) -> bool {
        matches!(self, Self::Translate(options) if options.search.method == Method::Sample)
    }
}

/// What was computed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Found {
    Translation(Translation),
    Aligned(Rendered),
    Score { log_prob: f64, tokens: usize },
    Steps(Box<Steps>),
    Tree(Tree),
    Page(String),
}

/// Computes rounds until the queue is closed and empty.
pub(super) fn until_closed(app: &App, translators: &[Translator]) {
    // Enough for every core to have whole batches, and soon done.
    let cores = rayon::current_num_threads();
    while let Some(round) = app.queue.round(ROUND * cores) {
        let Some(first) = round.first() else { continue };
        let translator = &translators[first.job.model];
        app.metrics.round(round.iter().map(|share| share.count).sum());
        if round.len() > 1
            && !first.job.how.is_by_chance()
            && let Ok(found) = compute(translator, &round)
        {
            round.into_iter().zip(found).for_each(|(share, found)| app.queue.finish(share, Ok(found)));
            continue;
        }
        // Alone, so that what goes wrong is told to the one whose request it is.
        for share in round {
            let found = compute(translator, std::slice::from_ref(&share)).map(|mut found| found.swap_remove(0));
            app.queue.finish(share, found);
        }
    }
}

/// Sentences that a batch is worth.
const LEAST_BATCH: usize = 8;

/// A beam that most searches have.
const USUAL_BEAM: usize = 5;

/// Sentences of a round for each core.
const ROUND: usize = 32;

/// Computes shares together, which are all alike: what is found of each.
fn compute(translator: &Translator, shares: &[Share]) -> Answer<Vec<Vec<Found>>> {
    let Some(first) = shares.first() else { return Ok(Vec::new()) };
    let items: Vec<&Item> = shares.iter().flat_map(Share::items).collect();
    // Sentences count from 1 within their request.
    let before = if shares.len() == 1 { first.done() } else { 0 };
    let found = catch_unwind(AssertUnwindSafe(|| all(translator, &first.job.how, &items, before)));
    let found = match found {
        Ok(found) => found?,
        Err(_) => {
            tracing::error!(model = first.job.model, sentences = items.len(), "a round broke off");
            return Err(Refusal::broken());
        }
    };
    let mut found = found.into_iter();
    Ok(shares.iter().map(|share| found.by_ref().take(share.count).collect()).collect())
}

fn all(translator: &Translator, how: &How, items: &[&Item], before: usize) -> Result<Vec<Found>> {
    match how {
        How::Translate(options) => {
            let sentences: Vec<Sentence<'_>> = items.iter().map(|item| sentence(item)).collect();
            let found = match how.is_by_chance() {
                true => translator.translate(&sentences, options, before)?,
                // What goes wrong is told with the number that a sentence has in its request.
                false => on_all_cores(translator, &sentences, options)
                    .or_else(|_| translator.translate(&sentences, options, before))?,
            };
            Ok(found.into_iter().map(Found::Translation).collect())
        }
        How::Align(view, search) => {
            let aligned = translator.align(&pairs(items), search, before)?;
            Ok(aligned.told(*view).into_iter().map(Found::Aligned).collect())
        }
        How::Score(search) => {
            let aligned = translator.align(&pairs(items), search, before)?;
            let told = |(log_prob, tokens)| Found::Score { log_prob, tokens };
            Ok(aligned.log_probs().into_iter().map(told).collect())
        }
        How::Steps(wishes, search) => {
            let steps = |item: &&Item| translator.steps(sentence(item).text, search, wishes);
            items.iter().map(|item| Ok(Found::Steps(Box::new(steps(item)?)))).collect()
        }
        How::Tree(search) => {
            items.iter().map(|item| Ok(Found::Tree(translator.tree(sentence(item).text, search)?))).collect()
        }
        How::Lesson(name, language, teacher) => {
            let page = taught(translator, name, *language, *teacher)?;
            Ok(vec![Found::Page(page); items.len()])
        }
    }
}

/// Translates sentences dealt to the cores, by length in turn, so that all have as much to do: within a batch they would wait for
/// each other at every step. Who is done early helps the others.
fn on_all_cores(
    translator: &Translator,
    sentences: &[Sentence<'_>],
    options: &Options,
) -> Result<Vec<Translation>> {
    let cores = translator.cores().min(sentences.len() / LEAST_BATCH).max(1);
    let mut order: Vec<usize> = (0..sentences.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(sentences[i].text.len()));
    let mut hands: Vec<Vec<usize>> = vec![Vec::new(); cores];
    for (turn, i) in order.into_iter().enumerate() {
        // There and back again: whoever is first in one round is last in the next.
        let place = turn % (2 * cores);
        hands[place.min(2 * cores - 1 - place)].push(i);
    }
    let translate = |hand: &Vec<usize>| {
        let chosen: Vec<Sentence<'_>> = hand.iter().map(|&i| sentences[i].clone()).collect();
        translator.translate(&chosen, options, 0)
    };
    let found = hands.par_iter().with_max_len(1).map(translate).collect::<Result<Vec<_>>>()?;
    let mut placed: Vec<(usize, Translation)> =
        hands.into_iter().flatten().zip(found.into_iter().flatten()).collect();
    placed.sort_by_key(|(place, _)| *place);
    Ok(placed.into_iter().map(|(_, translation)| translation).collect())
}

/// A lesson as a page.
fn taught(translator: &Translator, name: &str, language: Language, teacher: Teacher) -> Result<String> {
    let Some(entry) = lesson::find(name) else { return Ok(String::new()) };
    let worked = match (entry.work, teacher) {
        (Work::Alone(work), _) => work()?,
        (Work::Timing(work), _) => work(Timing::After)?,
        (Work::Model(_, work), Teacher::Run) => work(translator)?,
        (Work::Model(_, work), Teacher::Shipped) => work(&Translator::shipped(&Device::flex())?)?,
    };
    lesson::html(&worked, language)
}

fn sentence(item: &Item) -> Sentence<'_> {
    match item {
        Item::Sentence { text, prefix, must } => {
            Sentence { text, prefix, constraints: must.iter().map(String::as_str).collect() }
        }
        Item::Pair(text, _) => Sentence::from(text.as_str()),
    }
}

fn pairs(items: &[&Item]) -> Vec<Pair> {
    let pair = |item: &&Item| match item {
        Item::Pair(source, target) => Pair { source: source.clone(), target: target.clone(), ..Pair::default() },
        Item::Sentence { text, .. } => Pair { source: text.clone(), ..Pair::default() },
    };
    items.iter().map(pair).collect()
}
