//! `zhuyi evaluate`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::output::{print, print_json};
use super::{Format, RUNS, RunArgs, gold};
use zhuyi::alignment::{AlignmentErrorRate, Entropy, aer};
use zhuyi::corpus::Pair;
use zhuyi::corpus::read::{self, Gold};
use zhuyi::metrics::by_length::by_length;
use zhuyi::metrics::{BleuConfig, ChrfConfig, Tokenization, exact_match};
use zhuyi::ranks::Ranks;
use zhuyi::run::RunDir;
use zhuyi::search::MOST_BEAM;
use zhuyi::translator::Translator;
use zhuyi::{Error, Result};

/// Score translations.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  zhuyi evaluate                                      # the newest run on its own test data
  zhuyi evaluate --source test.en --reference test.zh
  zhuyi evaluate --hypothesis out.zh --reference a.zh --reference b.zh --target-language zh")]
pub struct EvaluateArgs {
    /// Sentences to translate, with --reference
    #[arg(long, value_name = "FILE", conflicts_with_all = ["hypothesis", "tsv"])]
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
    /// How BLEU cuts words [default: by target language]
    #[arg(long, value_enum)]
    tokenize: Option<TokenizeArg>,
    /// The target language [default: the run's]
    #[arg(long, value_name = "CODE")]
    target_language: Option<String>,
    /// Ignore case
    #[arg(long)]
    lowercase: bool,
    /// Hypotheses that live at a time; 1 is greedy [default: the run's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_BEAM as u64))]
    beam: Option<u64>,
    /// The form of the answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    run: RunArgs,
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

/// What is scored.
struct Test {
    /// Nothing when only hypotheses are given.
    sources: Option<Vec<String>>,
    references: Vec<Vec<String>>,
    hypotheses: Vec<String>,
    /// Of pairs with gold links, reference forced.
    aligned: Option<Aligned>,
    language: Option<String>,
}

/// Where a model looks while it writes references that have gold links.
struct Aligned {
    /// How well its links agree, and the floor.
    links: [AlignmentErrorRate; 2],
    /// The mean entropy of its weights over the pieces of the source and its end, in nats.
    entropy: Option<f64>,
}

pub fn run(args: EvaluateArgs, ranks: &Ranks) -> anyhow::Result<()> {
    if !args.reference.is_empty() && args.source.is_none() && args.hypothesis.is_none() {
        return Err(Error::Usage("--reference needs --source or --hypothesis".into()).into());
    }
    let test = match &args.hypothesis {
        Some(path) => given(&args, path)?,
        None => translated(&args, ranks)?,
    };
    if !ranks.leads() {
        return Ok(());
    }
    let language = args.target_language.clone().or_else(|| test.language.clone());
    let tokenization = match args.tokenize {
        Some(tokenize) => tokenize.0,
        None => Tokenization::choose(language.as_deref(), &test.references[0]),
    };
    let answer = scores(&test, tokenization, args.lowercase);
    match args.format {
        Format::Json => print_json(&answer),
        Format::Text => print(&told(&answer)),
    }
}

/// Hypotheses from a file.
fn given(args: &EvaluateArgs, path: &Path) -> Result<Test> {
    args.run.check_no_heads("--hypothesis")?;
    let hypotheses = lines(path)?;
    let references = references(args, path, hypotheses.len())?;
    let run = args.run.run.as_deref().map(|run| RunDir::find(Some(run), Path::new(RUNS))).transpose()?;
    let language = run.map(|run| run.read_manifest()).transpose()?.map(|(_, manifest)| manifest.target_language);
    Ok(Test { sources: None, references, hypotheses, aligned: None, language })
}

/// Hypotheses from a run.
fn translated(args: &EvaluateArgs, ranks: &Ranks) -> Result<Test> {
    let translator = args.run.open(ranks)?;
    let (pairs, references) = match (&args.source, &args.tsv) {
        (Some(source), _) => {
            let sources = lines(source)?;
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
    if let Some(beam) = args.beam {
        options.search.beam = beam as usize;
    }
    let sources: Vec<&str> = pairs.iter().map(|pair| pair.source.as_str()).collect();
    let translations = translator.translate(&sources, &options, 0)?;
    Ok(Test {
        hypotheses: translations.iter().map(|translation| translation.best().translation.clone()).collect(),
        aligned: aligned(&translator, &pairs, args.tsv.as_deref().unwrap_or(Path::new("test data")))?,
        language: Some(translator.run().manifest.target_language.clone()),
        sources: Some(pairs.into_iter().map(|pair| pair.source).collect()),
        references,
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
            let reference = lines(path)?;
            read::check_equal([other, path], [count, reference.len()])?;
            Ok(reference)
        })
        .collect()
}

fn lines(path: &Path) -> Result<Vec<String>> {
    Ok(read::lines(&read::text(path)?).map(str::to_owned).collect())
}

fn scores(test: &Test, tokenization: Tokenization, lowercase: bool) -> Value {
    let references: Vec<&[String]> = test.references.iter().map(Vec::as_slice).collect();
    let config = BleuConfig { tokenization, lowercase, ..BleuConfig::default() };
    let bleu = config.corpus(&test.hypotheses, &references);
    let chrf = ChrfConfig { lowercase, ..ChrfConfig::default() }.corpus(&test.hypotheses, &references);
    let mut answer = json!({
        "sentences": test.hypotheses.len(),
        "bleu": bleu,
        "chrf": chrf,
        "exact_match": exact_match(&test.hypotheses, &references),
    });
    if let Some(sources) = &test.sources {
        answer["by_length"] = json!(by_length(&config, sources, &test.hypotheses, &references));
    }
    if let Some(Aligned { links: [links, floor], entropy }) = &test.aligned {
        answer["alignment"] = super::align::scores_and_floor(links, floor);
        answer["alignment"]["entropy"] = json!(entropy);
    }
    answer
}

fn told(answer: &Value) -> String {
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let mut told = format!(
        "{} sentences\nBLEU  {:.2}  {}\nchrF2 {:.2}  {}\nexact {:.1} %",
        answer["sentences"],
        number(&answer["bleu"]["score"]),
        answer["bleu"]["signature"].as_str().unwrap_or_default(),
        number(&answer["chrf"]["score"]),
        answer["chrf"]["signature"].as_str().unwrap_or_default(),
        100.0 * number(&answer["exact_match"]),
    );
    if answer["alignment"].is_object() {
        told += &format!(
            "\nAER   {:.4}  reference forced; a perfect aligner of one link a target word: {:.4}\n\
             entropy {:.3} nats a row of weights",
            number(&answer["alignment"]["aer"]),
            number(&answer["alignment"]["floor"]),
            number(&answer["alignment"]["entropy"])
        );
    }
    for bucket in answer["by_length"].as_array().into_iter().flatten() {
        let to = bucket["to"].as_u64().map_or("…".into(), |to| to.to_string());
        told += &format!(
            "\n  {:>2}–{to:<3} source words: {:>5} sentences, BLEU {:.2}",
            bucket["from"],
            bucket["sentences"],
            number(&bucket["bleu"])
        );
    }
    told
}
