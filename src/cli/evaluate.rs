//! `zhuyi evaluate`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::ensemble::EnsembleArgs;
use super::evaluated::{Aligned, answer, report, told};
use super::output::{print, print_json, warn};
use super::searching::SearchArgs;
use super::{Format, RUNS, RunArgs, gold};
use zhuyi::alignment::{Entropy, aer};
use zhuyi::corpus::Pair;
use zhuyi::corpus::read::{self, Gold};
use zhuyi::evaluation::{Criteria, Test, evaluate, frequencies};
use zhuyi::metrics::{BleuConfig, ChrfConfig, TerConfig, Tokenization};
use zhuyi::ranks::Ranks;
use zhuyi::run::RunDir;
use zhuyi::translator::Translator;
use zhuyi::{Error, Result};

/// Score translations.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  zhuyi evaluate                                      # the newest run on its own test data
  zhuyi evaluate --source test.en --reference test.zh
  zhuyi evaluate --hypothesis out.zh --reference a.zh --reference b.zh --target-language zh
  zhuyi evaluate --hypothesis ours.de --against theirs.de --reference ref.de   # is ours better?
  zhuyi evaluate --worst 20 --rare-words --report report.html")]
pub struct EvaluateArgs {
    /// Sentences to translate, with --reference; with --hypothesis, what that is a translation of
    #[arg(long, value_name = "FILE", conflicts_with = "tsv")]
    source: Option<PathBuf>,
    /// Their translations by people; several for several references
    #[arg(long, value_name = "FILE", conflicts_with = "tsv")]
    reference: Vec<PathBuf>,
    /// Translations to score, instead of a run's
    #[arg(long, value_name = "FILE", conflicts_with = "tsv", requires = "reference")]
    hypothesis: Option<PathBuf>,
    /// Pairs to translate and score: source TAB reference (TAB gold links)
    #[arg(long, value_name = "FILE")]
    tsv: Option<PathBuf>,
    /// Another system's translations of the same sentences: is the difference more than luck?
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Tell the worst sentences, and where the model looked
    #[arg(long, value_name = "N", default_value_t = 0)]
    worst: usize,
    /// Tell how many words are right by how often they occur in the training data (the run's, or --training's)
    #[arg(long)]
    rare_words: bool,
    /// Target sentences whose words are counted for --rare-words
    #[arg(long, value_name = "FILE", requires = "rare_words")]
    training: Option<PathBuf>,
    /// Write a report: .md, .html or .json
    #[arg(long, value_name = "FILE", value_parser = report_path)]
    report: Option<PathBuf>,
    /// How BLEU cuts words [default: by target language]
    #[arg(long, value_enum, help_heading = "Scores")]
    tokenize: Option<TokenizeArg>,
    /// The target language [default: the run's]
    #[arg(long, value_name = "CODE", help_heading = "Scores")]
    target_language: Option<String>,
    /// Ignore case (TER always does, unless --ter case-sensitive)
    #[arg(long, help_heading = "Scores")]
    lowercase: bool,
    /// Leave out orders of n-grams that the text is too short for
    #[arg(long, help_heading = "Scores")]
    effective_order: bool,
    /// How TER cuts words; several with commas between them
    #[arg(long, value_enum, value_delimiter = ',', help_heading = "Scores")]
    ter: Vec<TerArg>,
    /// The form of the answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    ensemble: EnsembleArgs,
    #[command(flatten)]
    search: SearchArgs,
}

/// sacreBLEU's switches of TER.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TerArg {
    /// Cut punctuation off
    Normalized,
    /// Leave punctuation out
    NoPunctuation,
    /// Of the two before: for East Asian punctuation and characters too
    Asian,
    /// Tell upper from lower case
    CaseSensitive,
}

/// Where a report goes.
fn report_path(path: &str) -> std::result::Result<PathBuf, String> {
    let path = PathBuf::from(path);
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("md" | "html" | "json") => Ok(path),
        _ => Err("the name must end in .md, .html or .json".into()),
    }
}

#[derive(Clone, Copy, Debug)]
struct TokenizeArg(Tokenization);

impl ValueEnum for TokenizeArg {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: std::sync::LazyLock<Vec<TokenizeArg>> =
            std::sync::LazyLock::new(|| Tokenization::ALL.map(TokenizeArg).to_vec());
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.name()))
    }
}

/// What is judged, and what is known of it beside.
struct Judged {
    test: Test,
    /// Of pairs with gold links, reference forced.
    aligned: Option<Aligned>,
    language: Option<String>,
    /// What it is called in a report.
    name: String,
}

pub fn run(args: &EvaluateArgs, ranks: &Ranks) -> anyhow::Result<()> {
    if !args.reference.is_empty() && args.source.is_none() && args.hypothesis.is_none() {
        return Err(Error::Usage("--reference needs --source or --hypothesis".into()).into());
    }
    let mut judged = match &args.hypothesis {
        Some(path) => given(args, path)?,
        None => translated(args, ranks)?,
    };
    if !ranks.leads() {
        return Ok(());
    }
    let criteria = args.criteria(&judged);
    if args.rare_words {
        judged.test.frequencies = Some(args.frequencies(&criteria.bleu)?);
    }
    if let Some(against) = &args.against {
        let other = read::lines_of(against)?;
        read::check_equal(
            [args.hypothesis.as_deref().unwrap_or(Path::new("the test set")), against],
            [judged.test.hypotheses.len(), other.len()],
        )?;
        judged.test.against = Some(other);
    }
    let evaluation = evaluate(&judged.test, &criteria);
    let answer = answer(&evaluation, judged.aligned.as_ref())?;
    evaluation.warnings.iter().for_each(|warning| warn(warning));
    if let Some(path) = &args.report {
        report(path, &evaluation, &answer, &judged.name)?;
    }
    match args.format {
        Format::Json => print_json(&answer),
        Format::Text => print(&told(&evaluation, judged.aligned.as_ref())),
    }
}

impl EvaluateArgs {
    fn criteria(&self, judged: &Judged) -> Criteria {
        let language = self.target_language.clone().or_else(|| judged.language.clone());
        let tokenization = match self.tokenize {
            Some(tokenize) => tokenize.0,
            None => Tokenization::choose(language.as_deref(), &judged.test.references[0]),
        };
        let (lowercase, effective_order) = (self.lowercase, self.effective_order);
        Criteria {
            bleu: BleuConfig { tokenization, lowercase, effective_order, ..BleuConfig::default() },
            chrf: ChrfConfig { lowercase, ..ChrfConfig::default() },
            ter: TerConfig {
                normalized: self.ter.contains(&TerArg::Normalized),
                no_punctuation: self.ter.contains(&TerArg::NoPunctuation),
                asian: self.ter.contains(&TerArg::Asian),
                case_sensitive: self.ter.contains(&TerArg::CaseSensitive),
            },
            worst: self.worst,
        }
    }

    /// How often words occur in training.
    fn frequencies(&self, bleu: &BleuConfig) -> Result<std::collections::HashMap<String, usize>> {
        if let Some(path) = &self.training {
            return frequencies(read::Lines::open(path)?, bleu);
        }
        if self.hypothesis.is_some() && self.run.run.is_none() {
            let message =
                "--rare-words counts words in training data: name it with --training, or a run with --run";
            return Err(Error::Usage(message.into()));
        }
        let run = RunDir::find(self.run.run.as_deref(), Path::new(RUNS))?;
        let (config, _) = run.read_manifest()?;
        let target = |pair: Pair| if config.data.reverse { pair.source } else { pair.target };
        frequencies(config.data.train.stream(Gold::Ignored)?.map(|pair| pair.map(target)), bleu)
    }
}

/// Hypotheses from a file.
fn given(args: &EvaluateArgs, path: &Path) -> Result<Judged> {
    args.run.check_no_heads("--hypothesis")?;
    let hypotheses = read::lines_of(path)?;
    let references = references(args, path, hypotheses.len())?;
    let sources = args.source.as_deref().map(read::lines_of).transpose()?;
    if let (Some(source), Some(sources)) = (&args.source, &sources) {
        read::check_equal([path, source], [hypotheses.len(), sources.len()])?;
    }
    let run = args.run.run.as_deref().map(|run| RunDir::find(Some(run), Path::new(RUNS))).transpose()?;
    let language = run.map(|run| run.read_manifest()).transpose()?.map(|(_, manifest)| manifest.target_language);
    let test = Test { sources, references, hypotheses, ..Test::default() };
    Ok(Judged { test, aligned: None, language, name: path.display().to_string() })
}

/// Hypotheses from a run.
fn translated(args: &EvaluateArgs, ranks: &Ranks) -> Result<Judged> {
    let translator = args.ensemble.open(&args.run, ranks)?;
    let (pairs, references) = match (&args.source, &args.tsv) {
        (Some(source), _) => {
            let sources = read::lines_of(source)?;
            if args.reference.is_empty() {
                return Err(Error::Usage("--source needs --reference".into()));
            }
            let references = references(args, source, sources.len())?;
            let pairs = sources.into_iter().map(|source| Pair { source, ..Pair::default() }).collect();
            (pairs, references)
        }
        (None, tsv) => {
            let pairs = test_pairs(tsv.as_deref(), &translator)?;
            let references = pairs.iter().map(|pair: &Pair| pair.target.clone()).collect();
            (pairs, vec![references])
        }
    };
    let mut options = translator.options();
    options.search = args.search.over(&translator)?;
    let sources: Vec<&str> = pairs.iter().map(|pair| pair.source.as_str()).collect();
    let best = translator.translate(&sources, &options, 0)?.into_iter().map(|mut it| it.hypotheses.swap_remove(0));
    let (hypotheses, alignments) = best.map(|best| (best.translation, best.alignment)).unzip();
    let aligned = aligned(&translator, &pairs, args.tsv.as_deref().unwrap_or(Path::new("test data")))?;
    let sources = Some(pairs.into_iter().map(|pair| pair.source).collect());
    let run = translator.run();
    Ok(Judged {
        test: Test { sources, references, hypotheses, alignments, ..Test::default() },
        aligned,
        language: Some(run.manifest.target_language.clone()),
        name: run.dir.path().display().to_string(),
    })
}

/// Pairs of a TSV, or of the run's own test data.
fn test_pairs(tsv: Option<&Path>, translator: &Translator) -> Result<Vec<Pair>> {
    let data = &translator.run().config.data;
    let location = match (tsv, &data.test) {
        (Some(path), _) => return read::tsv(path, Gold::ThirdColumn { base: 0 })?.collect(),
        (None, Some(location)) => location,
        (None, None) => {
            return Err(Error::Usage(
                "this run names no test data (data.test): give --source and --reference, or --tsv".into(),
            ));
        }
    };
    // Only what we write is known to have links in its third column; elsewhere it may hold anything.
    let gold = if location.is_made() { Gold::ThirdColumn { base: 0 } } else { Gold::Ignored };
    data.read(location, gold)
}

/// Where the model looks, reference forced, where there are gold links.
fn aligned(translator: &Translator, pairs: &[Pair], place: &Path) -> Result<Option<Aligned>> {
    let (Some(gold), true) = (gold::of_pairs(place, pairs, 0)?, translator.has_attention()) else {
        return Ok(None);
    };
    let found = translator.align(pairs)?;
    Ok(Some(Aligned {
        links: aer::sum(found.error_rates(&gold)),
        entropy: found.entropies().into_iter().sum::<Entropy>().mean(),
    }))
}

fn references(args: &EvaluateArgs, other: &Path, count: usize) -> Result<Vec<Vec<String>>> {
    args.reference
        .iter()
        .map(|path| {
            let reference = read::lines_of(path)?;
            read::check_equal([other, path], [count, reference.len()])?;
            Ok(reference)
        })
        .collect()
}
