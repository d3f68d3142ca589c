//! A run that is asked for the translations that are judged.

use std::path::PathBuf;

use super::counter::Counter;
use super::evaluate::{Asked, EvaluateArgs, references};
use super::gold;
use super::output::warn;
use super::translate::told_too_long;
use zhuyi::alignment::{Entropy, SentenceLinks, aer};
use zhuyi::corpus::Pair;
use zhuyi::corpus::read::{self, Gold};
use zhuyi::evaluation::{Linked, Test};
use zhuyi::ranks::Ranks;
use zhuyi::translator::{Options, Translator};
use zhuyi::{Error, Result};

/// What is to be translated, and with what.
pub(super) struct Work {
    translator: Translator,
    options: Options,
    place: PathBuf,
    pairs: Vec<Pair>,
    /// Where the pairs have them and the model looks anywhere.
    gold: Option<Vec<SentenceLinks>>,
}

impl Work {
    /// Opens the run and reads what it is to translate.
    pub fn open(args: &EvaluateArgs, ranks: &Ranks) -> Result<Self> {
        let translator = args.ensemble.open(&args.run, ranks)?;
        let mut options = translator.options();
        options.search = args.search.over(&translator)?;
        let base = usize::from(args.index_base);
        let (place, pairs) = match (&args.source, &args.tsv) {
            (Some(source), _) => {
                let pair = |source| Pair { source, ..Pair::default() };
                (source.clone(), read::lines_of(source)?.into_iter().map(pair).collect())
            }
            (None, Some(tsv)) => {
                (tsv.clone(), read::tsv(tsv, Gold::ThirdColumn { base })?.collect::<Result<_>>()?)
            }
            (None, None) => (PathBuf::from("test data"), test_pairs(&translator)?),
        };
        let gold = gold::of_pairs(&place, &pairs, base)?.filter(|_| translator.has_attention());
        Ok(Self { translator, options, place, pairs, gold })
    }

    /// What is judged, without its translations.
    pub fn asked(&self, args: &EvaluateArgs) -> Result<Asked> {
        let references = match &args.source {
            Some(source) => references(args, source, self.pairs.len())?,
            None => vec![self.pairs.iter().map(|pair| pair.target.clone()).collect()],
        };
        let sources = Some(self.pairs.iter().map(|pair| pair.source.clone()).collect());
        let run = self.translator.run();
        Ok(Asked {
            test: Test { sources, references, ..Test::default() },
            language: Some(run.manifest.target_language.clone()),
            name: run.dir.path().display().to_string(),
            place: self.place.clone(),
        })
    }

    /// Adds the translations, and where the model looked.
    pub fn translate(&self, test: &mut Test, ranks: &Ranks) -> Result<()> {
        let mut counter = Counter::new(self.pairs.len());
        let size = Counter::batch(&self.translator, ranks);
        for (number, batch) in self.pairs.chunks(size).enumerate() {
            let before = number * size;
            let sources: Vec<&str> = batch.iter().map(|pair| pair.source.as_str()).collect();
            for mut translation in self.translator.translate(&sources, &self.options, before)? {
                if let Some(too_long) = translation.too_long {
                    let told = told_too_long(translation.id + 1, too_long, &self.options.search);
                    counter.beside(|| warn(&told));
                }
                let best = translation.hypotheses.swap_remove(0);
                test.hypotheses.push(best.translation);
                test.alignments.push(best.alignment);
            }
            counter.add(batch.len());
        }
        test.linked = self.linked()?;
        Ok(())
    }

    /// Where the model looks, reference forced.
    fn linked(&self) -> Result<Option<Linked>> {
        let Some(gold) = &self.gold else { return Ok(None) };
        let found = self.translator.align(&self.pairs, &self.options.search, 0)?;
        let left_out = found.too_long().flatten().count();
        if left_out > 0 {
            let pairs = if left_out == 1 { "pair is" } else { "pairs are" };
            warn(&format!("{left_out} {pairs} no part of the alignment error rate: too long"));
        }
        let entropy = found.entropies().into_iter().sum::<Entropy>().mean();
        Ok(Some(Linked::of(aer::sum(found.error_rates(gold)), entropy)))
    }
}

/// Pairs of the run's own test data.
fn test_pairs(translator: &Translator) -> Result<Vec<Pair>> {
    let data = &translator.run().config.data;
    let Some(location) = &data.test else {
        return Err(Error::Usage(
            "this run names no test data (data.test): give --source and --reference, or --tsv".into(),
        ));
    };
    // Only what we write is known to have links in its third column; elsewhere it may hold anything.
    let gold = if location.is_made() { Gold::ThirdColumn { base: 0 } } else { Gold::Ignored };
    data.read(location, gold)
}
