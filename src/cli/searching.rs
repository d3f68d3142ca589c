//! How translations are searched for, from the command line.

use clap::{Args, ValueEnum};

use zhuyi::kernels::Precision;
use zhuyi::search::{COVERAGE_PENALTIES, LengthPenalty, Long, MOST_BEAM, Method, SearchConfig, Unknown};
use zhuyi::translator::Translator;
use zhuyi::{Error, Result};

/// Each stands for a key `search.…` of the config, in place of the run's.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search [default: the run's]")]
pub(super) struct SearchArgs {
    /// Hypotheses that live at a time; 1 is greedy
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_BEAM as u64))]
    beam: Option<u64>,
    /// Sentences in a batch
    #[arg(long, value_name = "N")]
    batch: Option<usize>,
    /// How lengths are made comparable: none, mean[:ALPHA], gnmt[:ALPHA], reward[:GAMMA]
    #[arg(long, value_name = "PENALTY", allow_hyphen_values = true)]
    length_penalty: Option<LengthPenalty>,
    /// What it costs to leave source words unseen; 0 for nothing
    #[arg(long, value_name = "BETA", value_parser = penalty)]
    coverage_penalty: Option<f64>,
    /// Groups that the beam is dealt to, which keep from writing the same
    #[arg(long, value_name = "N")]
    groups: Option<usize>,
    /// What it costs a group to write what another writes, in nats
    #[arg(long, value_name = "NATS")]
    diversity: Option<f64>,
    /// No translation holds the same N tokens twice; 0 for no such rule
    #[arg(long, value_name = "N")]
    no_repeat_ngram: Option<usize>,
    /// The fewest tokens of a translation, for each source token
    #[arg(long, value_name = "RATIO")]
    min_ratio: Option<f64>,
    /// The most tokens of a translation, for each source token …
    #[arg(long, value_name = "RATIO")]
    max_ratio: Option<f64>,
    /// … and this many more
    #[arg(long, value_name = "N")]
    max_extra: Option<usize>,
    /// The most tokens of a source …
    #[arg(long, value_name = "N")]
    max_source: Option<usize>,
    /// … and what becomes of longer ones
    #[arg(long, value_enum)]
    long: Option<LongArg>,
    /// Draw translations by chance; --n-best of each sentence
    #[arg(long, conflicts_with_all = ["beam", "groups", "diversity"])]
    sample: bool,
    /// With --sample: below 1 likely tokens become more so
    #[arg(long, value_name = "T", requires = "sample")]
    temperature: Option<f64>,
    /// With --sample: only the N likeliest tokens; 0 for all
    #[arg(long, value_name = "N", requires = "sample")]
    top_k: Option<usize>,
    /// With --sample: only the likeliest tokens that have this probability together
    #[arg(long, value_name = "P", requires = "sample")]
    top_p: Option<f64>,
    /// With --sample: decides what is drawn
    #[arg(long, value_name = "N", requires = "sample")]
    sample_seed: Option<u64>,
    /// Where a word-level model knows no word, write the source's that it looked at, or --lexicon's for that
    #[arg(long)]
    replace_unknown: bool,
    /// Multiply with weights in 8 bits, on the processor and with plain attention: faster, and a little off
    #[arg(long)]
    int8: bool,
}

/// [`Long`] for clap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LongArg {
    /// Translate their beginning, with a warning
    Cut,
    /// Leave their line empty, with a warning
    Skip,
    /// Stop with an error
    Refuse,
}

impl SearchArgs {
    /// The run's search with what was asked for in its place.
    pub fn over(&self, translator: &Translator) -> Result<SearchConfig> {
        let mut search = translator.options().search;
        set(&mut search.beam, self.beam.map(|beam| beam as usize));
        set(&mut search.batch, self.batch);
        set(&mut search.length_penalty, self.length_penalty);
        set(&mut search.coverage_penalty, self.coverage_penalty);
        set(&mut search.groups, self.groups);
        set(&mut search.diversity, self.diversity);
        set(&mut search.no_repeat_ngram, self.no_repeat_ngram);
        set(&mut search.min_ratio, self.min_ratio);
        set(&mut search.max_ratio, self.max_ratio);
        set(&mut search.max_extra, self.max_extra);
        set(&mut search.max_source, self.max_source);
        let long = self.long.map(|long| match long {
            LongArg::Cut => Long::Cut,
            LongArg::Skip => Long::Skip,
            LongArg::Refuse => Long::Refuse,
        });
        set(&mut search.long, long);
        set(&mut search.method, self.sample.then_some(Method::Sample));
        set(&mut search.sampling.temperature, self.temperature);
        set(&mut search.sampling.top_k, self.top_k);
        set(&mut search.sampling.top_p, self.top_p);
        set(&mut search.sampling.seed, self.sample_seed);
        set(&mut search.unknown, self.replace_unknown.then_some(Unknown::Copy));
        set(&mut search.precision, self.int8.then_some(Precision::Int8));
        if self.diversity.is_some() && search.groups < 2 {
            return Err(Error::Usage("--diversity is between groups, and there is one: add --groups".into()));
        }
        // What a flag stands for is told by its key, with what it may be.
        let config = zhuyi::config::Config { search: search.clone(), ..translator.run().config.clone() };
        config.check_search(translator.has_attention()).map_err(|why| Error::Usage(why.to_string()))?;
        Ok(search)
    }
}

fn set<T>(value: &mut T, asked: Option<T>) {
    if let Some(asked) = asked {
        *value = asked;
    }
}

/// A coverage penalty as typed.
fn penalty(text: &str) -> std::result::Result<f64, String> {
    let penalty = text.parse::<f64>().ok().filter(|penalty| COVERAGE_PENALTIES.contains(penalty));
    let (from, to) = (COVERAGE_PENALTIES.start(), COVERAGE_PENALTIES.end());
    penalty.ok_or_else(|| format!("it must be a number from {from} to {to}"))
}
