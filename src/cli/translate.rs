//! `zhuyi translate`.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::RunArgs;
use super::lines::{self, Incoming};
use super::output::{note, stdout, warn};
use super::plotting::{self, PlotPath};
use zhuyi::kernels::Precision;
use zhuyi::plot::terminal;
use zhuyi::ranks::Ranks;
use zhuyi::search::{COVERAGE_PENALTIES, LengthPenalty, MOST_BEAM};
use zhuyi::text::preview;
use zhuyi::text::words::Level;
use zhuyi::translator::{Ends, Options, Translation, Translator};
use zhuyi::{Error, Result};

/// Characters of an unknown word that are told.
const WORD_SHOWN: usize = 40;
/// Unknown words that are named; after that one line says that there are more.
const MOST_WARNINGS: usize = 20;

/// Translate sentences, a file, or standard input line by line.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  zhuyi translate \"the cat eats fish\" --show
  zhuyi translate --input in.en --output out.zh --beam 5
  zhuyi translate \"welcome to shenzhen\" --plot alignment.svg")]
pub struct TranslateArgs {
    /// Sentences; each argument is one [default: standard input, a sentence a line]
    #[arg(value_name = "TEXT", conflicts_with = "input")]
    text: Vec<String>,
    /// A file with a sentence a line
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Where to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Hypotheses that live at a time; 1 is greedy [default: the run's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_BEAM as u64))]
    beam: Option<u64>,
    /// Translations told of each sentence, at most the beam
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=MOST_BEAM as u64))]
    n_best: u64,
    /// How lengths are made comparable: none, mean[:ALPHA], gnmt[:ALPHA] [default: the run's]
    #[arg(long, value_name = "PENALTY")]
    length_penalty: Option<LengthPenalty>,
    /// What it costs to leave source words unseen; 0 for nothing [default: the run's]
    #[arg(long, value_name = "BETA", value_parser = penalty)]
    coverage_penalty: Option<f64>,
    /// Multiply with weights in 8 bits, on the processor and with plain attention: faster, and a little off
    #[arg(long)]
    int8: bool,
    /// Draw where the model looked
    #[arg(long)]
    show: bool,
    /// Draw it into a file, .svg or .png; for several sentences put {n} into the name
    #[arg(long, value_name = "FILE")]
    plot: Option<PlotPath>,
    /// The form of the answer
    #[arg(long, value_enum, default_value = "text")]
    format: TranslationFormat,
    #[command(flatten)]
    view: ViewArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// How alignments are told.
#[derive(Debug, Args)]
pub struct ViewArgs {
    /// Tokens of the alignment
    #[arg(long, value_enum, default_value = "auto")]
    level: LevelArg,
    /// Give the end of the sentence a row and a column
    #[arg(long)]
    ends: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum LevelArg {
    /// Words; the model's pieces for a sentence without spaces
    Auto,
    /// Words between spaces
    Word,
    /// The model's pieces
    Subword,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TranslationFormat {
    /// A translation a line
    Text,
    /// An object a line, with the alignment
    Json,
    /// The links of the alignment
    Pharaoh,
}

impl ViewArgs {
    /// The view asked for; `auto` becomes `default`.
    pub fn view(&self, default: Level) -> zhuyi::translator::View {
        let level = match self.level {
            LevelArg::Auto => default,
            LevelArg::Word => Level::Word,
            LevelArg::Subword => Level::Subword,
        };
        zhuyi::translator::View { level, ends: if self.ends { Ends::Shown } else { Ends::Hidden } }
    }
}

pub fn run(args: TranslateArgs, ranks: &Ranks) -> anyhow::Result<()> {
    if args.text.len() > 1 {
        args.plot.as_ref().map_or(Ok(()), PlotPath::check_numbered)?;
    }
    if let (Some(input), Some(output)) = (&args.input, &args.output) {
        refuse_same_file(input, output)?;
    }
    let translator = args.run.open(ranks)?;
    let options = options(&args, &translator)?;
    if !translator.has_attention() && (args.format == TranslationFormat::Pharaoh || args.plot.is_some()) {
        return Err(Error::Usage("this run has no attention, so there is nothing to link or draw".into()).into());
    }
    if args.format == TranslationFormat::Pharaoh && args.view.ends {
        return Err(Error::Usage("links are told between words: --ends needs --format json".into()).into());
    }
    if !ranks.leads() {
        return follow(&args, &translator, &options, ranks);
    }
    // Opened before the output is made, so that a mistyped name costs nothing.
    let input = if args.text.is_empty() { Some(open_input(&args)?) } else { None };
    let out: Box<dyn Write> = match &args.output {
        Some(path) => Box::new(BufWriter::new(File::create(path).map_err(Error::io(path))?)),
        None => Box::new(stdout()),
    };
    let mut teller = Teller { args: &args, out, told: 0, unknown: BTreeSet::new() };
    let Some((place, incoming)) = input else {
        let sentences: Vec<&str> = args.text.iter().map(String::as_str).collect();
        return teller.tell(translator.translate(&sentences, &options, 0)?);
    };
    // Enough for every core to have whole batches; a line that comes alone is still answered at once.
    let most = options.search.batch.saturating_mul(4 * rayon::current_num_threads() * ranks.size());
    lines::in_batches(&incoming, place, most, |batch| {
        if batch.is_empty() {
            return Ok(());
        }
        ranks.tell(Some(batch.to_vec()))?;
        let batch: Vec<&str> = batch.iter().map(String::as_str).collect();
        teller.tell(translator.translate(&batch, &options, teller.told)?)
    })?;
    ranks.tell(Some(NO_MORE))?;
    Ok(())
}

/// What rank 0 tells the others after the last lines.
const NO_MORE: Vec<String> = Vec::new();

/// Does this rank's share of what rank 0 reads and tells.
fn follow(args: &TranslateArgs, translator: &Translator, options: &Options, ranks: &Ranks) -> anyhow::Result<()> {
    if !args.text.is_empty() {
        let sentences: Vec<&str> = args.text.iter().map(String::as_str).collect();
        translator.translate(&sentences, options, 0)?;
        return Ok(());
    }
    let mut told = 0;
    loop {
        let batch: Vec<String> = ranks.tell(None)?;
        if batch.is_empty() {
            return Ok(());
        }
        let batch: Vec<&str> = batch.iter().map(String::as_str).collect();
        told += translator.translate(&batch, options, told)?.len();
    }
}

/// Where lines come from, and its name for messages.
fn open_input(args: &TranslateArgs) -> Result<(&Path, Incoming)> {
    match &args.input {
        Some(path) => {
            let file = File::open(path).map_err(Error::io(path))?;
            Ok((path, lines::read(BufReader::new(file))))
        }
        None => Ok((Path::new("standard input"), lines::read(BufReader::new(std::io::stdin())))),
    }
}

fn options(args: &TranslateArgs, translator: &Translator) -> Result<Options> {
    let mut options = translator.options();
    if let Some(beam) = args.beam {
        options.search.beam = beam as usize;
    }
    if let Some(penalty) = args.length_penalty {
        options.search.length_penalty = penalty;
    }
    if let Some(penalty) = args.coverage_penalty {
        options.search.coverage_penalty = penalty;
        if penalty > 0.0 && !translator.has_attention() {
            let message = "--coverage-penalty counts where attention looked, and this run has none";
            return Err(Error::Usage(message.into()));
        }
    }
    if args.int8 {
        options.search.precision = Precision::Int8;
    }
    options.n_best = args.n_best as usize;
    // Links are between words, as other tools count them; for people a sentence without spaces is shown in pieces.
    let pharaoh = args.format == TranslationFormat::Pharaoh;
    options.view = args.view.view(if pharaoh { Level::Word } else { Level::Auto });
    if options.n_best > options.search.beam {
        return Err(Error::Usage(format!(
            "--n-best {} needs a beam at least as wide; it is {}: add --beam {}",
            options.n_best, options.search.beam, options.n_best
        )));
    }
    Ok(options)
}

/// A coverage penalty as typed.
fn penalty(text: &str) -> std::result::Result<f64, String> {
    let penalty = text.parse::<f64>().ok().filter(|penalty| COVERAGE_PENALTIES.contains(penalty));
    let (from, to) = (COVERAGE_PENALTIES.start(), COVERAGE_PENALTIES.end());
    penalty.ok_or_else(|| format!("it must be a number from {from} to {to}"))
}

fn refuse_same_file(input: &Path, output: &Path) -> Result<()> {
    match (input.canonicalize(), output.canonicalize()) {
        (Ok(a), Ok(b)) if a == b => Err(Error::Usage(format!(
            "--output {} is the input, which would be lost: name another file",
            output.display()
        ))),
        _ => Ok(()),
    }
}

/// Tells translations in the form asked for.
struct Teller<'a> {
    args: &'a TranslateArgs,
    out: Box<dyn Write>,
    told: usize,
    unknown: BTreeSet<String>,
}

impl Teller<'_> {
    fn tell(&mut self, translations: Vec<Translation>) -> anyhow::Result<()> {
        for translation in translations {
            self.warn_unknown(&translation.unknown);
            match self.args.format {
                TranslationFormat::Text => self.text(&translation)?,
                TranslationFormat::Json => {
                    writeln!(self.out, "{}", json(&translation, self.told, self.args.n_best > 1)?)?
                }
                TranslationFormat::Pharaoh => writeln!(self.out, "{}", translation.best().alignment.links())?,
            }
            if self.args.show {
                self.show(&translation)?;
            }
            if let Some(plot) = &self.args.plot {
                if self.told > 0 {
                    plot.check_numbered()?;
                }
                plotting::write(&translation.best().alignment, None, &plot.numbered(self.told + 1))?;
            }
            self.told += 1;
        }
        self.out.flush()?;
        Ok(())
    }

    /// Draws beside the translation for people, on standard error where the answer is for a program or a file.
    fn show(&mut self, translation: &Translation) -> anyhow::Result<()> {
        let drawn = terminal::draw(&translation.best().alignment);
        if self.args.format == TranslationFormat::Text && self.args.output.is_none() {
            return Ok(write!(self.out, "{drawn}")?);
        }
        note(drawn.trim_end());
        Ok(())
    }

    fn text(&mut self, translation: &Translation) -> anyhow::Result<()> {
        if self.args.n_best == 1 {
            return Ok(writeln!(self.out, "{}", translation.best().translation)?);
        }
        for hypothesis in &translation.hypotheses {
            writeln!(self.out, "{} ||| {} ||| {:.4}", self.told, hypothesis.translation, hypothesis.score)?;
        }
        Ok(())
    }

    fn warn_unknown(&mut self, words: &[String]) {
        let new: Vec<&String> = words.iter().filter(|word| !self.unknown.contains(*word)).collect();
        if new.is_empty() || self.unknown.len() > MOST_WARNINGS {
            return;
        }
        let named: Vec<String> = new.iter().map(|word| format!("`{}`", preview(word, WORD_SHOWN))).collect();
        warn(&format!("the model does not know {}", named.join(", ")));
        self.unknown.extend(new.into_iter().cloned());
        if self.unknown.len() > MOST_WARNINGS {
            warn("more words that the model does not know are not told");
        }
    }
}

fn json(translation: &Translation, id: usize, n_best: bool) -> anyhow::Result<serde_json::Value> {
    let mut object = serde_json::to_value(translation.best())?;
    object["id"] = id.into();
    if n_best {
        object["hypotheses"] = serde_json::to_value(&translation.hypotheses)?;
    }
    Ok(object)
}
