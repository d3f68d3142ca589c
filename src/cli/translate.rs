//! `zhuyi translate`.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::RunArgs;
use super::counter::Counter;
use super::ensemble::EnsembleArgs;
use super::lines::{self, Incoming};
use super::output::{note, stdout, warn};
use super::plotting::{self, PlotPath};
use super::searching::SearchArgs;
use super::wishes::{WishArgs, Wishes};
use zhuyi::alignment::Lexicon;
use zhuyi::corpus::read;
use zhuyi::plot::terminal;
use zhuyi::ranks::Ranks;
use zhuyi::search::{Long, MOST_BEAM, Method, SearchConfig, Unknown};
use zhuyi::text::preview;
use zhuyi::text::words::Level;
use zhuyi::translator::{Ends, Options, Sentence, TooLong, Translation, Translator};
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
  zhuyi translate \"welcome to shenzhen\" --plot alignment.svg
  zhuyi translate \"the cat eats fish\" --prefix 猫 --n-best 5 --beam 8
  zhuyi translate --input in.en --sample --n-best 4 --temperature 0.7")]
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
    /// Translations told of each sentence; of a search at most the beam, and fewer where fewer are found
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=MOST_BEAM as u64))]
    n_best: u64,
    /// With --replace-unknown: lines of a source word, a tab and its translation (`zhuyi align --learn-lexicon` writes one)
    #[arg(long, value_name = "FILE")]
    lexicon: Option<PathBuf>,
    /// Draw where the model looked
    #[arg(long)]
    show: bool,
    /// Draw it into a file, .svg, .png or .html; of several sentences each into its own (`--plot x.svg` tells how)
    #[arg(long, value_name = "FILE")]
    plot: Option<PlotPath>,
    /// The form of the answer
    #[arg(long, value_enum, default_value = "text")]
    format: TranslationFormat,
    #[command(flatten)]
    view: ViewArgs,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    ensemble: EnsembleArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    wishes: WishArgs,
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
    /// Words; to look at (not for links) the model's pieces for a sentence without spaces
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
        let ends = if self.ends { Ends::Shown } else { Ends::Hidden };
        zhuyi::translator::View { level, ends, ..zhuyi::translator::View::default() }
    }
}

pub fn run(args: &TranslateArgs, ranks: &Ranks) -> anyhow::Result<()> {
    if args.text.len() > 1 {
        args.plot.as_ref().map_or(Ok(()), PlotPath::check_numbered)?;
    }
    if let (Some(input), Some(output)) = (&args.input, &args.output) {
        refuse_same_file(input, output)?;
    }
    let translator = args.ensemble.open(&args.run, ranks)?;
    let options = options(args, &translator)?;
    let wishes = args.wishes.read(&options.search)?;
    if !translator.has_attention() && (args.format == TranslationFormat::Pharaoh || args.plot.is_some()) {
        return Err(Error::Usage("this run has no attention, so there is nothing to link or draw".into()).into());
    }
    if args.format == TranslationFormat::Pharaoh && args.view.ends {
        return Err(Error::Usage("links are told between words: --ends needs --format json".into()).into());
    }
    if args.format == TranslationFormat::Pharaoh && args.n_best > 1 {
        let message = "--format pharaoh tells the links of the best translation: --n-best needs text or json";
        return Err(Error::Usage(message.into()).into());
    }
    let sentences = sentences(args)?;
    sentences.map_or(Ok(()), |sentences| wishes.check_all_used(sentences))?;
    if !ranks.leads() {
        return follow(args, &translator, &options, &wishes, ranks);
    }
    // Opened before the output is made, so that a mistyped name costs nothing.
    let input = if args.text.is_empty() { Some(open_input(args)?) } else { None };
    let counter = sentences.filter(|_| args.input.is_some() && args.output.is_some()).map(Counter::new);
    let out: Box<dyn Write> = match &args.output {
        Some(path) => Box::new(BufWriter::new(File::create(path).map_err(Error::io(path))?)),
        None => Box::new(stdout()),
    };
    let mut teller = Teller { args, out, told: 0, unknown: BTreeSet::new(), counter };
    let Some((place, incoming)) = input else {
        let sentences = wished(&args.text, &wishes, 0)?;
        return teller.tell(translator.translate(&sentences, &options, 0)?, &options);
    };
    // Enough for every core to have whole batches; a line that comes alone is still answered at once.
    let most = options.search.batch.saturating_mul(4 * rayon::current_num_threads() * ranks.size());
    lines::in_batches(&incoming, place, most, |batch| {
        if batch.is_empty() {
            return Ok(());
        }
        ranks.tell(Some(batch.to_vec()))?;
        let sentences = wished(batch, &wishes, teller.told)?;
        teller.tell(translator.translate(&sentences, &options, teller.told)?, &options)
    })?;
    ranks.tell(Some(NO_MORE))?;
    Ok(wishes.check_all_used(teller.told)?)
}

/// Sentences with their wishes; `before` came before these.
fn wished<'a>(texts: &'a [String], wishes: &'a Wishes, before: usize) -> Result<Vec<Sentence<'a>>> {
    texts.iter().enumerate().map(|(i, text)| wishes.with(text, before + i)).collect()
}

/// How many sentences there are, where that is known beforehand.
fn sentences(args: &TranslateArgs) -> Result<Option<usize>> {
    match &args.input {
        Some(input) if input.is_file() => lines::count(input).map(Some),
        None if !args.text.is_empty() => Ok(Some(args.text.len())),
        _ => Ok(None),
    }
}

/// What rank 0 tells the others after the last lines.
const NO_MORE: Vec<String> = Vec::new();

/// Does this rank's share of what rank 0 reads and tells.
fn follow(
    args: &TranslateArgs,
    translator: &Translator,
    options: &Options,
    wishes: &Wishes,
    ranks: &Ranks,
) -> anyhow::Result<()> {
    if !args.text.is_empty() {
        translator.translate(&wished(&args.text, wishes, 0)?, options, 0)?;
        return Ok(());
    }
    let mut told = 0;
    loop {
        let batch: Vec<String> = ranks.tell(None)?;
        if batch.is_empty() {
            return Ok(());
        }
        told += translator.translate(&wished(&batch, wishes, told)?, options, told)?.len();
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
    options.search = args.search.over(translator)?;
    options.n_best = args.n_best as usize;
    if let Some(path) = &args.lexicon {
        if options.search.unknown != Unknown::Copy {
            return Err(Error::Usage("--lexicon is for unknown words: add --replace-unknown".into()));
        }
        let normalize = &translator.run().config.text.normalize;
        options.lexicon = Lexicon::parse(path, read::lines(&read::text(path)?), |word| normalize.apply(word))?;
    }
    // Links are between words, as other tools count them; for people a sentence without spaces is shown in pieces.
    let pharaoh = args.format == TranslationFormat::Pharaoh;
    options.view = args.view.view(if pharaoh { Level::Word } else { Level::Auto });
    if options.n_best > options.search.beam && options.search.method == Method::Beam {
        return Err(Error::Usage(format!(
            "--n-best {} needs a beam at least as wide; it is {}: add --beam {}",
            options.n_best, options.search.beam, options.n_best
        )));
    }
    Ok(options)
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

/// Warns of a sentence, which counts from 1, that was too long.
pub(super) fn told_too_long(number: usize, TooLong { tokens, most }: TooLong, search: &SearchConfig) -> String {
    let became = if search.long == Long::Skip { "left out" } else { "only its beginning is translated" };
    format!("sentence {number}: {tokens} tokens are too many ({most} at most), {became}")
}

/// Tells translations in the form asked for.
struct Teller<'a> {
    args: &'a TranslateArgs,
    out: Box<dyn Write>,
    told: usize,
    unknown: BTreeSet<String>,
    counter: Option<Counter>,
}

impl Teller<'_> {
    fn tell(&mut self, translations: Vec<Translation>, options: &Options) -> anyhow::Result<()> {
        let sentences = translations.len();
        for translation in translations {
            if options.search.unknown == Unknown::Never {
                self.warn_unknown(&translation.unknown);
            }
            if let Some(too_long) = translation.too_long {
                self.warn(&told_too_long(self.told + 1, too_long, &options.search));
            }
            match self.args.format {
                TranslationFormat::Text => self.text(&translation)?,
                TranslationFormat::Json => {
                    let told = translation.told(self.told, self.args.n_best > 1);
                    writeln!(self.out, "{}", serde_json::to_string(&told)?)?
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
        self.counter.iter_mut().for_each(|counter| counter.add(sentences));
        Ok(())
    }

    fn warn(&self, message: &str) {
        self.beside(|| warn(message));
    }

    /// Says something, beside the bar if there is one.
    fn beside(&self, say: impl FnOnce()) {
        match &self.counter {
            Some(counter) => counter.beside(say),
            None => say(),
        }
    }

    /// Draws beside the translation for people, on standard error where the answer is for a program or a file.
    fn show(&mut self, translation: &Translation) -> anyhow::Result<()> {
        let drawn = terminal::draw(&translation.best().alignment);
        if self.args.format == TranslationFormat::Text && self.args.output.is_none() {
            return Ok(write!(self.out, "{drawn}")?);
        }
        self.beside(|| note(drawn.trim_end()));
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
        self.warn(&format!("the model does not know {}", named.join(", ")));
        self.unknown.extend(new.into_iter().cloned());
        if self.unknown.len() > MOST_WARNINGS {
            self.warn("more words that the model does not know are not told");
        }
    }
}
