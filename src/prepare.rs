//! From a config to data that can be trained on: read, check, filter, learn vocabularies, encode. Training data passes by
//! and is never held as text: it may be larger than memory.

use rayon::prelude::*;

use crate::alignment::SentenceLinks;
use crate::alignment::links::Link;
use crate::config::Config;
use crate::corpus::links::linked;
use crate::corpus::read::Gold;
use crate::corpus::{Filter, FilterConfig, Location, Pair, Pairs, Report};
use crate::error::{Error, Result};
use crate::metrics::Tokenization;
use crate::text::words::Level;
use crate::text::{Encoded, Tokenizer};
use crate::train::batch::Example;
use crate::train::examples::{Examples, Writer};
use crate::train::validate::DevSet;

/// Everything that training needs but the model.
#[derive(Debug)]
pub struct Prepared {
    /// The source's tokenizer.
    pub source: Tokenizer,
    /// The target's tokenizer.
    pub target: Tokenizer,
    /// What is trained on.
    pub examples: Examples,
    /// What the model is chosen on.
    pub dev: DevSet,
    /// What was left out of the training data and of the dev data.
    pub reports: [Report; 2],
}

/// Reads and prepares the data of a config, and learns its vocabularies.
///
/// # Errors
/// Files that can't be read or don't pair up, and data of which nothing is left.
pub fn prepare(config: &Config) -> Result<Prepared> {
    // What is missing, or wrong with the little data, is told before hours are spent on the much.
    Passed::new(config, "train")?;
    Passed::new(config, "dev")?.rest()?;
    if config.data.links.is_some() && config.train.guided_alignment == 0.0 {
        let message = "data.links is for train.guided_alignment, which is 0: set it, or leave data.links out";
        return Err(Error::Config(message.into()));
    }
    let [source, target] = tokenizers(config)?;
    tracing::info!(source = source.size(), target = target.size(), "learnt the vocabularies");
    prepare_with(config, [source, target])
}

/// The same with vocabularies that are there already.
///
/// # Errors
/// As for [`prepare`].
pub fn prepare_with(config: &Config, [source, target]: [Tokenizer; 2]) -> Result<Prepared> {
    let most = config.train.max_tokens;
    let cutter = Cutter { source: &source, target: &target, positions: config.attention.reach() };
    let mut train = Passed::new(config, "train")?;
    let mut writer = Writer::new(config.data.buffer);
    while let Some(pairs) = train.some()? {
        for (example, _) in cutter.examples(pairs, most, &mut train.filter.report)? {
            writer.push(example)?;
        }
    }
    let examples = writer.finish()?;
    if config.train.guided_alignment > 0.0 && examples.linked() == 0 {
        let message = "train.guided_alignment needs links: a third column in data.train, or a file in data.links";
        return Err(Error::Config(message.into()));
    }
    let mut dev = Passed::new(config, "dev")?;
    let pairs = dev.rest()?;
    let (dev_examples, references): (Vec<_>, Vec<_>) =
        cutter.examples(pairs, usize::MAX, &mut dev.filter.report)?.into_iter().unzip();
    let reports = [train.filter.report, dev.filter.report];
    for ((name, left), report) in
        [("train", examples.len()), ("dev", dev_examples.len())].into_iter().zip(&reports)
    {
        if left == 0 {
            return Err(Error::Config(format!("data.{name}: no pair is left to use ({report})")));
        }
    }
    let language = Some(config.data.direction().1);
    let dev = DevSet {
        tokenization: Tokenization::choose(language, &references),
        examples: dev_examples,
        references,
        target_tokenizer: target.clone(),
        batch: config.search.batch,
    };
    Ok(Prepared { source, target, examples, dev, reports })
}

/// Pairs that are cut at a time: enough for all cores, little for memory.
const AT_ONCE: usize = 8192;

/// The clean pairs of a location, in the direction of the config, as they are read.
struct Passed<'a> {
    pairs: Pairs,
    filter: Filter<'a>,
    name: &'static str,
    location: &'a Location,
    failed: Option<Error>,
}

/// What is judged on is not chosen by how well it fits.
static PLAIN: std::sync::LazyLock<FilterConfig> = std::sync::LazyLock::new(FilterConfig::default);

impl<'a> Passed<'a> {
    fn new(config: &'a Config, name: &'static str) -> Result<Self> {
        let (location, filter, gold) = match name {
            "dev" => (&config.data.dev, &*PLAIN, Gold::Ignored),
            // Of two places that links may stand in, one is asked.
            _ if config.data.links.is_some() => (&config.data.train, &config.data.filter, Gold::Ignored),
            _ => (&config.data.train, &config.data.filter, config.train.gold()),
        };
        location.check_files(name)?;
        let (from, to) = config.data.direction();
        let filter = Filter::new(filter, &config.text.normalize, [from, to]);
        let pairs = config.data.stream(location, gold)?;
        let pairs = match &config.data.links {
            Some(links) if name == "train" => linked(pairs, links, config.data.reverse)?,
            _ => pairs,
        };
        Ok(Self { pairs, filter, name, location, failed: None })
    }

    /// The next ones; none at the end.
    fn some(&mut self) -> Result<Option<Vec<Pair>>> {
        let pairs: Vec<Pair> = self.by_ref().take(AT_ONCE).collect();
        self.failed.take().map_or(Ok(Some(pairs).filter(|pairs| !pairs.is_empty())), Err)
    }

    /// All that are left.
    ///
    /// # Errors
    /// What can't be read, or if there was none at all.
    fn rest(&mut self) -> Result<Vec<Pair>> {
        let pairs = self.by_ref().collect();
        self.ended().map(|()| pairs)
    }

    /// Whether all was well, after the last one.
    fn ended(&mut self) -> Result<()> {
        match self.failed.take() {
            Some(why) => Err(why),
            None if self.filter.report.kept > 0 => Ok(()),
            None => {
                let Self { name, location, filter, .. } = self;
                Err(Error::Config(format!("data.{name} = {location}: no pair is left to use ({})", filter.report)))
            }
        }
    }
}

impl Iterator for Passed<'_> {
    type Item = Pair;

    fn next(&mut self) -> Option<Pair> {
        while self.failed.is_none() {
            match self.pairs.next()? {
                Ok(pair) => match self.filter.take(pair) {
                    Some(pair) => return Some(pair),
                    None => continue,
                },
                Err(why) => self.failed = Some(why),
            }
        }
        None
    }
}

/// Learns both vocabularies from the training pairs; from some of them, evenly spread, if there are very many.
fn tokenizers(config: &Config) -> Result<[Tokenizer; 2]> {
    let text = &config.text;
    // A pass for their number, in which also all that is wrong with them is found before anything is learnt.
    let mut all = Passed::new(config, "train")?;
    let n = all.by_ref().count();
    all.ended()?;
    let learn = |settings, sides: fn(Pair) -> Vec<String>| {
        let mut passed = Passed::new(config, "train")?;
        let most = text.learn_from.min(n) as u128;
        let share = |place: usize| place as u128 * most / n as u128;
        let chosen = passed.by_ref().enumerate().filter(|(place, _)| share(place + 1) > share(*place));
        let learnt = Tokenizer::train(settings, chosen.flat_map(|(_, pair)| sides(pair)));
        passed.ended()?;
        learnt
    };
    if text.joint {
        let joint = learn(&text.source, |pair| vec![pair.source, pair.target])?;
        return Ok([joint.clone(), joint]);
    }
    Ok([learn(&text.source, |pair| vec![pair.source])?, learn(&text.target, |pair| vec![pair.target])?])
}

/// Cuts pairs into ids.
struct Cutter<'a> {
    source: &'a Tokenizer,
    target: &'a Tokenizer,
    /// The longest source that attention can look at.
    positions: Option<usize>,
}

impl Cutter<'_> {
    /// Pairs in ids, with the targets as text; what has more than `most` tokens on a side, ends counted, is reported instead.
    fn examples(&self, pairs: Vec<Pair>, most: usize, report: &mut Report) -> Result<Vec<(Example, String)>> {
        let cut: Vec<Result<Example>> = pairs.par_iter().map(|pair| self.example(pair)).collect();
        let longest_source = most.min(self.positions.unwrap_or(usize::MAX));
        let mut examples = Vec::with_capacity(pairs.len());
        for (pair, example) in pairs.into_iter().zip(cut) {
            let example = example?;
            let reason = if example.source.len() > longest_source {
                format!("more than {longest_source} source tokens")
            } else if example.target_tokens() > most {
                format!("more than {most} target tokens")
            } else {
                examples.push((example, pair.target));
                continue;
            };
            report.kept -= 1;
            report.drop(reason, pair.line);
        }
        Ok(examples)
    }

    fn example(&self, pair: &Pair) -> Result<Example> {
        let (source, target) = (self.source.encode(&pair.source)?, self.target.encode(&pair.target)?);
        let links = pair.links.as_ref().map_or_else(Vec::new, |links| self.links(links, [&source, &target]));
        Ok(Example { links, ..Example::new(source.ids, target.ids) })
    }

    /// Links between words as links between their pieces, as places of source and target. Those of words that normalising took
    /// away are left out.
    fn links(&self, links: &SentenceLinks, [source, target]: [&Encoded; 2]) -> Vec<[usize; 2]> {
        let sources = self.source.words(Level::Word, &source.pieces).word_of_piece;
        let targets = self.target.words(Level::Word, &target.pieces).word_of_piece;
        let mut found = Vec::new();
        for (target, target_word) in targets.iter().enumerate() {
            for (source, source_word) in sources.iter().enumerate() {
                if links.is_sure(Link::new(*source_word, *target_word)) {
                    found.push([source, target]);
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `location` must never meet a source past its last position, in training or on the dev set.
    #[test]
    fn sources_that_location_cannot_reach_are_left_out() {
        let settings = ["attention.score=location".to_owned(), "attention.max_positions=6".to_owned()];
        let config = Config::parse("toy.toml".as_ref(), crate::config::TOY, &settings).unwrap();
        let data = prepare(&config).unwrap();
        let examples = data.examples.first(usize::MAX).unwrap();
        assert!(examples.iter().chain(&data.dev.examples).all(|example| example.source.len() <= 6));
        assert_eq!(data.dev.examples.len(), data.dev.references.len());
        for report in &data.reports {
            assert!(
                report.kept < report.read && report.to_string().contains("more than 6 source tokens"),
                "{report}"
            );
        }
    }
}
