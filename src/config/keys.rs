//! Every key of a config with what it decides: for `zhuyi config show` and the documentation. A test holds the
//! list against the config itself.

use toml::{Table, Value};

use super::Config;
use crate::error::{Error, Result};

/// Keys and what they decide, in the order of the file.
pub const KEYS: &[(&str, &str)] = &[
    (
        "data.train",
        "pairs to train on: \"pairs.tsv\", [\"x.de\", \"x.en\"], \"toy:train\" (or toy:long/, copy:, reverse:); .gz, .zst and ${NAME} allowed",
    ),
    ("data.dev", "pairs to choose the best model on"),
    ("data.test", "pairs for the final figures"),
    ("data.reverse", "translate from the second side to the first"),
    ("data.source_language", "the first side's language, an ISO 639 code"),
    ("data.target_language", "the second side's language; if empty, BLEU goes by the script"),
    (
        "data.links",
        "links of the training pairs for train.guided_alignment, a file of Pharaoh lines; unset: data.train's third column",
    ),
    ("data.buffer", "pairs that are held in memory at most; a larger corpus goes through a file in TMPDIR"),
    ("data.filter.max_chars", "pairs with more characters on a side are left out"),
    (
        "data.filter.max_ratio",
        "… and those with a side that is so many times as long as the other, in bytes; 0 for no limit",
    ),
    ("data.filter.drop_duplicates", "… and those that came before"),
    ("data.filter.drop_identical", "… and those with the same text on both sides"),
    ("data.filter.drop_wrong_script", "… and those with a side that is not in its language's script"),
    ("text.joint", "one tokenizer for both sides, with the source's settings"),
    ("text.learn_from", "pairs that vocabularies are learnt from at most, evenly spread"),
    ("text.normalize.lowercase", "lower-case the source side"),
    ("text.normalize.strip_final_punctuation", "leave out punctuation at the end of the source"),
    ("text.source.kind", "word, char, bpe or unigram"),
    ("text.source.size", "the most ids of the vocabulary, control tokens included"),
    ("text.target.kind", "word, char, bpe or unigram"),
    ("text.target.size", "the most ids of the vocabulary, control tokens included"),
    ("embedding.size", "size of both embeddings"),
    (
        "embedding.shared",
        "whether source and target share their vectors (needs text.joint; with decoder.tied three-way)",
    ),
    ("encoder.hidden", "state of one direction"),
    ("encoder.layers", "GRU layers"),
    ("encoder.bidirectional", "whether each layer also reads backward"),
    ("encoder.gru", "reset-after (PyTorch's) or reset-before"),
    ("decoder.hidden", "state of the decoder"),
    ("decoder.layers", "GRU layers; the top one asks"),
    ("decoder.gru", "reset-after (PyTorch's) or reset-before"),
    ("decoder.timing", "when it looks: before the step (Bahdanau) or after it (Luong)"),
    ("decoder.input_feeding", "whether each step gets the last readout too"),
    ("decoder.tied", "share target embedding and output"),
    ("attention.score", "none, dot, scaled-dot, general, additive, concat, linear or location"),
    ("attention.window", "where it may look: global, local-m or local-p (Luong)"),
    ("attention.choice", "how scores become weights: soft, hard, gumbel or sparsemax"),
    ("attention.heads", "how many subspaces look at once; they share attention.size"),
    ("attention.coverage", "whether keys know how much they have been looked at"),
    ("attention.size", "size in which queries and keys are compared (additive, concat, scaled-dot, heads)"),
    ("attention.window_size", "D, how many positions a window reaches to each side"),
    ("attention.window_renormalized", "scale local-p's rows up to a sum of 1 (Luong's are not)"),
    ("attention.temperature", "of gumbel: the smaller, the nearer its gradient is to that of the choice"),
    ("attention.max_positions", "the longest source that location can point into"),
    ("model.dropout", "share of values set to 0 in training"),
    (
        "model.dropout_kind",
        "plain, or variational: the same values at every step of a sentence (Gal & Ghahramani)",
    ),
    ("model.word_dropout", "share of words whose vectors are set to 0 in training"),
    ("train.seed", "decides first weights, order of batches and (with the number of cores) dropout and draws"),
    ("train.max_epochs", "the most passes over the data"),
    ("train.max_steps", "the most updates"),
    ("train.max_minutes", "the most minutes, validation included"),
    ("train.batch_sentences", "sentences in a batch (64 if neither this nor batch_tokens is set)"),
    ("train.batch_tokens", "target tokens in a batch, about"),
    ("train.max_tokens", "sentences with more tokens on a side are left out"),
    ("train.learning_rate", "the highest learning rate"),
    ("train.warmup_steps", "updates in which the rate rises to it"),
    ("train.decay", "how the rate falls afterwards: constant, linear, inverse-sqrt, cosine or plateau"),
    ("train.plateau_factor", "of plateau: what the rate is multiplied by …"),
    ("train.plateau_patience", "… after so many validations without a better score"),
    ("train.optimizer", "how gradients move weights: adam, adamw, sgd or adafactor"),
    (
        "train.weight_decay",
        "what an update takes from every weight of a matrix, times the learning rate (not with adam)",
    ),
    ("train.momentum", "how much of its velocity sgd keeps"),
    ("train.accumulate", "batches that make an update together"),
    (
        "train.ema",
        "how much the moving average of the weights keeps of itself; that is what is scored and kept then; 0 for none",
    ),
    ("train.label_smoothing", "share of the target's probability that is spread over the other tokens"),
    ("train.entropy_bonus", "what a nat of entropy of a hard choice is worth, in nats"),
    ("train.baseline_decay", "how much of the baseline of hard choices each batch leaves"),
    ("train.clip_norm", "the largest norm of all gradients together; 0 for no limit"),
    (
        "train.guided_alignment",
        "what a nat between attention and the training data's links is worth, in nats; 0 for nothing",
    ),
    ("train.scheduled_sampling", "share of the decoder's inputs that are its own …"),
    ("train.sampling_warmup", "… after so many updates, up to which it rises from 0"),
    ("train.freeze", "parts that do not learn, such as [\"encoder\", \"target_embedding\"]"),
    ("train.validate_every", "updates between validations; unset: one after each epoch"),
    ("train.patience", "validations without a better score after which training stops"),
    ("train.choose_by", "by which score the best model is chosen: bleu, chrf or loss"),
    ("train.report_every", "updates between reports"),
    ("log.tensorboard", "whether curves and alignment pictures are written for TensorBoard, in tensorboard/"),
    ("log.pictures", "dev sentences, from the first, whose alignment is drawn at each validation"),
    ("start.run", "a run to start from: its vocabularies, and of its model all that has a place here"),
    (
        "start.source_vectors",
        "vectors for the source's words to start from, in word2vec's text form; .gz and .zst allowed",
    ),
    ("start.target_vectors", "… for the target's words"),
    (
        "batch.memory",
        "memory for training, such as \"4GB\", from which train.batch_tokens follows; in place of batch_sentences and batch_tokens",
    ),
    ("checkpoint.every", "updates between checkpoints; unset: one after each validation (and one at the end)"),
    ("checkpoint.keep_last", "how many checkpoints are kept, the newest"),
    ("checkpoint.keep_best", "how many models are kept beside the best one, by their scores, in best/"),
    ("search.method", "beam, or sample: by chance"),
    ("search.beam", "hypotheses that live at a time; 1 is greedy"),
    ("search.batch", "sentences in a batch"),
    ("search.length_penalty", "none, mean:ALPHA, gnmt:ALPHA or reward:GAMMA"),
    ("search.coverage_penalty", "what it costs to leave source words unseen, 0 for nothing (GNMT's β)"),
    ("search.groups", "groups that the beam is dealt to, each kept from writing what those before it write"),
    ("search.diversity", "… by so many nats for each hypothesis that writes the same token in the same step"),
    ("search.no_repeat_ngram", "no translation holds the same so many tokens twice; 0 for no such rule"),
    ("search.min_ratio", "the fewest tokens of a translation, for each source token"),
    ("search.max_ratio", "the most tokens of a translation: this many for each source token …"),
    ("search.max_extra", "… and this many more"),
    ("search.max_source", "the most tokens of a source"),
    ("search.long", "what becomes of longer ones: cut, skip (an empty translation) or refuse"),
    ("search.unknown", "never, or copy: where a word-level model knows no word, the source's takes its place"),
    ("search.precision", "f32, or int8: faster translation of plain attention on the processor, a little off"),
    ("search.sampling.temperature", "of sample: what logits are divided by"),
    ("search.sampling.top_k", "… only so many of the likeliest tokens may be drawn; 0 for all"),
    ("search.sampling.top_p", "… and of them only the likeliest that have this probability together"),
    ("search.sampling.seed", "… what decides what is drawn"),
];

/// A config as a file with a comment a key; keys without a value are there as comments.
///
/// # Errors
/// None that a user could cause.
pub fn commented(config: &Config) -> Result<String> {
    let table = Table::try_from(config).map_err(|why| Error::Config(why.to_string()))?;
    let mut text = String::new();
    let mut section = "";
    for (key, about) in KEYS {
        let (head, name) = key.split_once('.').unwrap_or(("", key));
        if head != section {
            let blank = if section.is_empty() { "" } else { "\n" };
            text += &format!("{blank}[{head}]\n");
            section = head;
        }
        text += &match lookup(&table, key) {
            Some(value) => format!("# {about}\n{name} = {value}\n"),
            None => format!("# {about}\n# {name} =\n"),
        };
    }
    Ok(text)
}

/// Keys that may change between two parts of one training: they say where it stops, what is told, and what is kept. (A stop by
/// a limit is scored, and a training that goes further has that score more than one that did not stop there.)
const MAY_CHANGE: &[&str] = &[
    "train.max_epochs",
    "train.max_steps",
    "train.max_minutes",
    "train.patience",
    "train.report_every",
    "checkpoint.every",
    "checkpoint.keep_last",
    "checkpoint.keep_best",
    "log.tensorboard",
    "log.pictures",
];

/// The config to go on with, `now`, of a run that began with another. Batches that followed from a memory budget are those
/// of the beginning, as long as the budget is.
///
/// # Errors
/// Names each key that can't change, with both values.
pub fn continued(before: &Config, mut now: Config) -> Result<Config> {
    if now.batch.memory.is_some() && now.batch.memory == before.batch.memory {
        now.train.batch_sentences = before.train.batch_sentences;
        now.train.batch_tokens = before.train.batch_tokens;
    }
    let table = |config: &Config| Table::try_from(config).map_err(|why| Error::Config(why.to_string()));
    let (then, here) = (table(before)?, table(&now)?);
    let told = |value: Option<&Value>| value.map_or("unset".to_owned(), Value::to_string);
    let differ = KEYS.iter().map(|(key, _)| *key).filter(|key| !MAY_CHANGE.contains(key)).filter_map(|key| {
        let (before, now) = (lookup(&then, key), lookup(&here, key));
        (before != now).then(|| format!("{key} was {} and would be {}", told(before), told(now)))
    });
    match differ.collect::<Vec<_>>() {
        none if none.is_empty() => Ok(now),
        some => Err(Error::Usage(format!(
            "a run goes on with the settings that it began with, and {}; begin another run, or leave it out (what may \
             change: {})",
            some.join(", "),
            MAY_CHANGE.join(", ")
        ))),
    }
}

fn lookup<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    let mut parts = key.split('.');
    let first = table.get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.as_table()?.get(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{OWN, TOY};

    fn leaves(prefix: &str, value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Table(table) => table.iter().for_each(|(name, value)| {
                let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                leaves(&key, value, found);
            }),
            _ => found.push(prefix.to_owned()),
        }
    }

    /// What a key may be is what the lists say.
    #[test]
    fn every_choice_is_named() {
        use crate::attention::{ChoiceKind, ScoreKind, WindowKind};
        use crate::kernels::dropout::DropoutKind;
        use crate::train::Decay;
        use crate::train::optimizer::OptimizerKind;
        let about = |key: &str| KEYS.iter().find(|(known, _)| *known == key).unwrap().1;
        for (key, names) in [
            ("attention.score", ScoreKind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>()),
            ("attention.window", WindowKind::ALL.iter().map(|kind| kind.name()).collect()),
            ("attention.choice", ChoiceKind::ALL.iter().map(|kind| kind.name()).collect()),
            ("train.optimizer", OptimizerKind::ALL.iter().map(|kind| kind.name()).collect()),
            ("model.dropout_kind", DropoutKind::ALL.iter().map(|kind| kind.name()).collect()),
            ("train.decay", Decay::ALL.iter().map(|decay| decay.name()).collect()),
        ] {
            assert!(names.iter().all(|name| about(key).contains(name)), "{key}: {names:?}");
        }
    }

    #[test]
    fn the_list_is_the_config() {
        let unset =
            ["train.max_steps", "train.max_minutes", "train.validate_every", "train.patience", "checkpoint.every"];
        let texts = [
            "data.links=x",
            "start.run=x",
            "start.source_vectors=x",
            "start.target_vectors=x",
            "batch.memory=1GB",
        ];
        let settings = unset.map(|key| format!("{key}=1")).into_iter().chain(texts.map(str::to_owned));
        let settings: Vec<String> = settings.collect();
        let config = Config::parse("toy.toml".as_ref(), TOY, &settings).unwrap();
        let mut found = Vec::new();
        leaves("", &Value::Table(Table::try_from(&config).unwrap()), &mut found);
        // One of two keys that exclude each other.
        found.push("train.batch_tokens".into());
        let mut listed: Vec<String> = KEYS.iter().map(|(key, _)| (*key).to_owned()).collect();
        found.sort();
        listed.sort();
        assert_eq!(found, listed);
    }

    #[test]
    fn the_commented_file_parses_to_the_same_config() {
        let own = ["data.train=a.tsv".to_owned(), "data.dev=[\"b.de\", \"b.en\"]".to_owned()];
        for (text, settings) in [(TOY, &[][..]), (OWN, &own)] {
            let config = Config::parse("x.toml".as_ref(), text, settings).unwrap();
            let written = commented(&config).unwrap();
            assert_eq!(Config::parse("y.toml".as_ref(), &written, &[]).unwrap(), config, "{written}");
        }
    }
}
