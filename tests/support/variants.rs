//! The attentions that tests loop over, from the library's own lists: what is added there is tested the same day.

use zhuyi::attention::{AttentionConfig, ChoiceKind, ScoreKind, WindowKind};
use zhuyi::model::Timing;

/// Every score function as it is, and none.
pub fn plain(base: &AttentionConfig) -> Vec<AttentionConfig> {
    let scores = [ScoreKind::None].into_iter().chain(ScoreKind::ALL.iter().copied());
    scores.map(|score| AttentionConfig { score, ..base.clone() }).collect()
}

/// Every score function with every other choice, one at a time; and for a product and the additive score all
/// of them together in every combination.
pub fn varied(base: &AttentionConfig) -> Vec<AttentionConfig> {
    let mut found: Vec<AttentionConfig> = Vec::new();
    for &score in ScoreKind::ALL {
        let whole = [ScoreKind::ScaledDot, ScoreKind::Additive].contains(&score);
        for window in WindowKind::ALL {
            for choice in ChoiceKind::ALL {
                for (heads, coverage) in [(1, false), (2, false), (1, true), (2, true)] {
                    let changes = [
                        window != WindowKind::Global,
                        choice != ChoiceKind::Soft,
                        heads > 1,
                        coverage && score != ScoreKind::Location,
                    ];
                    let changed = changes.into_iter().filter(|&is| is).count();
                    let allowed = !(coverage && score == ScoreKind::Location);
                    if allowed && (changed == 1 || changed > 1 && whole) {
                        found.push(AttentionConfig { score, window, choice, heads, coverage, ..base.clone() });
                    }
                }
            }
        }
        found.push(AttentionConfig {
            score,
            window: WindowKind::LocalP,
            window_renormalized: true,
            ..base.clone()
        });
    }
    found
}

/// Timings and feedings: all of them for plain attentions, one after the other for varied ones.
pub fn decoders(base: &AttentionConfig) -> Vec<(AttentionConfig, Timing, bool)> {
    let kinds: Vec<(Timing, bool)> =
        Timing::ALL.into_iter().flat_map(|timing| [(timing, false), (timing, true)]).collect();
    let plain = plain(base).into_iter().flat_map(|config| kinds.iter().map(move |&kind| (config.clone(), kind)));
    let varied = varied(base);
    let varied = varied.into_iter().enumerate();
    // Not by `i` alone: the variants repeat with the same period.
    let varied = varied.map(|(i, config)| (config, kinds[(i + i / kinds.len()) % kinds.len()]));
    let all: Vec<_> = plain.chain(varied).collect();
    all.into_iter().map(|(config, (timing, feeding))| (config, timing, feeding)).collect()
}

/// The name of a model in messages.
pub fn named(config: &AttentionConfig, timing: Timing, feeding: bool) -> String {
    let feeding = if feeding { "input feeding" } else { "no feeding" };
    let renormalized = if config.window_renormalized { ", renormalized" } else { "" };
    format!("{}{renormalized}, {timing:?}, {feeding}", config.told())
}
