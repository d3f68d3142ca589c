//! `zhuyi evaluate`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::ensemble::EnsembleArgs;
use super::evaluated::{report, told};
use super::judging::Work;
use super::output::{check_folder, print, print_json, warn};
use super::searching::SearchArgs;
use super::{Format, RUNS, RunArgs};
use zhuyi::corpus::Pair;
use zhuyi::corpus::read::{self, Gold};
use zhuyi::evaluation::{Criteria, Test, evaluate, frequencies};
use zhuyi::metrics::{BleuConfig, ChrfConfig, TerConfig, Tokenization};
use zhuyi::ranks::Ranks;
use zhuyi::run::RunDir;
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
    #[arg(long, value_name = "FILE", conflicts_with = "tsv", requires = "reference")]
    pub(super) source: Option<PathBuf>,
    /// Their translations by people; several for several references
    #[arg(long, value_name = "FILE", conflicts_with = "tsv", num_args = 1..)]
    reference: Vec<PathBuf>,
    /// Translations to score, instead of a run's
    #[arg(long, value_name = "FILE", requires = "reference",
        conflicts_with_all = ["tsv", "device", "without_head", "EnsembleArgs", "SearchArgs"])]
    hypothesis: Option<PathBuf>,
    /// Pairs to translate and score: source TAB reference (TAB gold links)
    #[arg(long, value_name = "FILE")]
    pub(super) tsv: Option<PathBuf>,
    /// Words in gold links count from this
    #[arg(long, value_name = "0|1", default_value_t = 0, requires = "tsv", value_parser = clap::value_parser!(u8).range(0..=1))]
    pub(super) index_base: u8,
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
    pub(super) run: RunArgs,
    #[command(flatten)]
    pub(super) ensemble: EnsembleArgs,
    #[command(flatten)]
    pub(super) search: SearchArgs,
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

/// What is judged, before anything is translated.
pub(super) struct Asked {
    /// Without translations where a run is to write them.
    pub test: Test,
    pub language: Option<String>,
    /// What it is called in a report.
    pub name: String,
    /// What counts its sentences, for messages.
    pub place: PathBuf,
}

pub fn run(args: &EvaluateArgs, ranks: &Ranks) -> anyhow::Result<()> {
    args.report.as_deref().map_or(Ok(()), check_folder)?;
    let (mut asked, work) = match &args.hypothesis {
        Some(path) => (given(args, path)?, None),
        None => {
            let work = Work::open(args, ranks)?;
            (work.asked(args)?, Some(work))
        }
    };
    // All that is to be read is read before anything is translated.
    if let Some(against) = &args.against {
        let other = read::lines_of(against)?;
        read::check_equal([&asked.place, against], [asked.test.references[0].len(), other.len()])?;
        asked.test.against = Some(other);
    }
    let criteria = args.criteria(&asked);
    if args.rare_words && ranks.leads() {
        asked.test.frequencies = Some(args.frequencies(&criteria.bleu)?);
    }
    if let Some(work) = &work {
        work.translate(&mut asked.test, ranks)?;
    }
    if !ranks.leads() {
        return Ok(());
    }
    let evaluation = evaluate(&asked.test, &criteria);
    evaluation.warnings.iter().for_each(|warning| warn(warning));
    let answer = serde_json::to_value(&evaluation)?;
    if let Some(path) = &args.report {
        report(path, &evaluation, &answer, &asked.name)?;
    }
    match args.format {
        Format::Json => print_json(&answer),
        Format::Text => print(&told(&evaluation)),
    }
}

impl EvaluateArgs {
    fn criteria(&self, asked: &Asked) -> Criteria {
        let language = self.target_language.clone().or_else(|| asked.language.clone());
        let tokenization = match self.tokenize {
            Some(tokenize) => tokenize.0,
            None => Tokenization::choose(language.as_deref(), &asked.test.references[0]),
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
fn given(args: &EvaluateArgs, path: &Path) -> Result<Asked> {
    let hypotheses = read::lines_of(path)?;
    let references = references(args, path, hypotheses.len())?;
    let sources = args.source.as_deref().map(read::lines_of).transpose()?;
    if let (Some(source), Some(sources)) = (&args.source, &sources) {
        read::check_equal([path, source], [hypotheses.len(), sources.len()])?;
    }
    let run = args.run.run.as_deref().map(|run| RunDir::find(Some(run), Path::new(RUNS))).transpose()?;
    let language = run.map(|run| run.read_manifest()).transpose()?.map(|(_, manifest)| manifest.target_language);
    let test = Test { sources, references, hypotheses, ..Test::default() };
    Ok(Asked { test, language, name: path.display().to_string(), place: path.to_path_buf() })
}

/// Each stream of references, as long as the other file.
pub(super) fn references(args: &EvaluateArgs, other: &Path, count: usize) -> Result<Vec<Vec<String>>> {
    args.reference
        .iter()
        .map(|path| {
            let reference = read::lines_of(path)?;
            read::check_equal([other, path], [count, reference.len()])?;
            Ok(reference)
        })
        .collect()
}
