//! `zhuyi lesson`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::RUNS;
use super::language::LanguageArg;
use super::output::{print, print_json};
use super::plotting::{self, PlotPath};
use zhuyi::Error;
use zhuyi::lesson::{self, Entry, LESSONS, Language, Lesson, Work};
use zhuyi::model::Timing;
use zhuyi::translator::Translator;

/// The worked examples of the course, step by step.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  zhuyi lesson                                  # the list
  zhuyi lesson qkv
  zhuyi lesson saturation --plot saturation.svg
  zhuyi lesson heads --language zh --format html > heads.html")]
pub struct LessonArgs {
    /// Which one; without it the list
    #[arg(value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(LESSONS.map(|entry| entry.name)))]
    name: Option<String>,
    /// The language of the text; numbers are the same
    #[arg(long, value_enum, default_value = "en")]
    language: LanguageArg,
    /// The form of the answer
    #[arg(long, value_enum, default_value = "text")]
    format: LessonFormat,
    /// Draw the lesson's picture into a file, .svg or .png
    #[arg(long, value_name = "FILE", requires = "name")]
    plot: Option<PlotPath>,
    /// The decoder of `dataflow`
    #[arg(long, value_enum, requires = "name")]
    attention: Option<DecoderArg>,
    /// A run for lessons with a trained model [default: a small one that is built in]
    #[arg(long, value_name = "DIR", requires = "name")]
    run: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LessonFormat {
    /// For people
    Text,
    /// The numbers, for programs
    Json,
    /// A page that stands alone
    Html,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DecoderArg {
    /// Looks after the recurrent step
    Luong,
    /// Looks before the recurrent step
    Bahdanau,
}

pub fn run(args: LessonArgs) -> anyhow::Result<()> {
    let language = args.language.language();
    let Some(entry) = args.name.as_deref().and_then(lesson::find) else { return list(&args, language) };
    if args.plot.is_some() && !entry.drawn {
        let drawn: Vec<&str> = LESSONS.iter().filter(|entry| entry.drawn).map(|entry| entry.name).collect();
        let message = format!("the lesson `{}` has no picture; these have: {}", entry.name, drawn.join(", "));
        return Err(Error::Usage(message).into());
    }
    let worked = work(&args, entry)?;
    if let Some(path) = &args.plot {
        let svg = lesson::svg(&worked, language)?;
        let svg = svg.ok_or_else(|| {
            let message = "this run has no attention, so there is nothing to draw: leave --plot or --run out";
            Error::Usage(message.into())
        })?;
        plotting::write_svg(&svg, &path.numbered(1))?;
    }
    match args.format {
        LessonFormat::Text => print(lesson::told(&worked, language).trim_end()),
        LessonFormat::Json => print_json(&worked.numbers),
        LessonFormat::Html => print(lesson::html(&worked, language)?.trim_end()),
    }
}

fn list(args: &LessonArgs, language: Language) -> anyhow::Result<()> {
    match args.format {
        LessonFormat::Json => {
            let entry = |entry: &Entry| serde_json::json!({ "name": entry.name, "about": entry.about(language) });
            print_json(&LESSONS.iter().map(entry).collect::<Vec<_>>())
        }
        LessonFormat::Text => {
            LESSONS.iter().try_for_each(|entry| print(&format!("{:<16}{}", entry.name, entry.about(language))))
        }
        LessonFormat::Html => {
            Err(Error::Usage("name a lesson for --format html; without a name there is a list".into()).into())
        }
    }
}

fn work(args: &LessonArgs, entry: &Entry) -> anyhow::Result<Lesson> {
    let refused = |flag: &str, takes: fn(&Work) -> bool| {
        let takers = LESSONS.iter().filter(|entry| takes(&entry.work));
        let names: Vec<String> = takers.map(|entry| format!("`{}`", entry.name)).collect();
        Error::Usage(format!("--{flag} belongs to {}, not to `{}`", names.join(" and "), entry.name))
    };
    if args.run.is_some() && !matches!(entry.work, Work::Model(..)) {
        return Err(refused("run", |work| matches!(work, Work::Model(..))).into());
    }
    if args.attention.is_some() && !matches!(entry.work, Work::Timing(_)) {
        return Err(refused("attention", |work| matches!(work, Work::Timing(_))).into());
    }
    Ok(match entry.work {
        Work::Alone(work) => work()?,
        Work::Model(_, work) => work(&translator(args)?)?,
        Work::Timing(work) => work(match args.attention {
            Some(DecoderArg::Bahdanau) => Timing::Before,
            Some(DecoderArg::Luong) | None => Timing::After,
        })?,
    })
}

fn translator(args: &LessonArgs) -> zhuyi::Result<Translator> {
    let device = zhuyi::device::DeviceKind::default().open(None)?.device;
    match &args.run {
        Some(path) => Translator::open(&zhuyi::run::RunDir::find(Some(path), Path::new(RUNS))?, &device),
        None => Translator::shipped(&device),
    }
}
