//! What a report says whatever the figures are.

use crate::attention::ScoreKind;
use crate::language::{Text, text};

pub fn title() -> Text {
    text!("What attention is worth", "注意力的作用有多大")
}

/// What a control can't do, and why; nothing for what is no control.
pub fn limit(score: &str) -> Option<Text> {
    if score == ScoreKind::Linear.name() {
        return Some(text!(
            "`linear` is a control. Its score is one number of the query plus one number of the key. The query's number is \
             the same for every key of a step and cancels in the softmax, so every word of a translation looks at the same \
             places: the decoder gets one fixed vector again, a learnt mean of the source instead of its last state, with \
             the same bottleneck.",
            "`linear` 是对照。它的得分是查询的一个数加上键的一个数。查询的那个数对同一步的每个键都相同，在 softmax 中被消去，\
             所以译文的每个词都看同样的位置：解码器得到的仍是一个固定的向量，只是用学到的加权平均代替了最后的状态，\
             瓶颈依旧。"
        ));
    }
    if score == ScoreKind::Location.name() {
        return Some(text!(
            "`location` is a control. Its weights come from the decoder's state alone; it never sees what stands at a \
             position. It can learn a path over positions and the state can count how far it has got, so it follows a fixed \
             order as far as `attention.max_positions`; it can't go and find a word that has moved.",
            "`location` 是对照。它的权重只来自解码器的状态，从不看某个位置上是什么词。它可以学会沿着位置走一条路，\
             由状态数着走到了哪里，因此在 `attention.max_positions` 之内能跟随固定的语序；却不能去找一个换了位置的词。"
        ));
    }
    None
}

/// What all variants share.
pub fn fair() -> Text {
    text!(
        "All variants have the same tokenizers, the same batches in the same order and as many updates; encoder and decoder \
         are built alike and only the attention differs. The model of each run is the best on the dev set; the test set \
         decides nothing.",
        "所有变体的分词器相同，批次及其顺序相同，更新次数相同；编码器和解码器的构造相同，不同的只有注意力。\
         每次训练取开发集上最好的模型；测试集不参与任何选择。"
    )
}

/// What the wide baseline is.
pub fn wide() -> Text {
    text!(
        "`none-wide` is the baseline with encoder and decoder widened until it has at least as many parameters as the largest \
         variant that looks.",
        "`none-wide` 是把编码器和解码器加宽、参数不少于最大的注意力变体的基线。"
    )
}

/// What seeds tell.
pub fn seeds(n: usize) -> Text {
    match n {
        1 => text!(
            "One seed was trained; how much another would change is not in these figures.",
            "只训练了一个随机种子；换一个种子会变多少，这里看不出来。"
        ),
        n => text!(
            "{n} seeds were trained. Scores are means over them, ± is their standard deviation, and the bounds of bands \
             are averaged.",
            "训练了 {n} 个随机种子。得分是它们的平均，± 是标准差，置信带的上下界也取平均。"
        ),
    }
}

/// What bands and p mean, and what they don't.
pub fn bands() -> Text {
    text!(
        "Bands hold 95 of 100 bootstrap samples of the test sentences of those lengths (1,000 samples). p is that of a \
         paired bootstrap over the same samples, as sacreBLEU computes it: how likely a difference as large is if there is \
         none. Both are about the choice of sentences, not of seeds; and the variant that is best on some sentences is \
         named by the same sentences. Alignment error rates and entropies are with the reference forced; tokens a second are those of \
         training, with whatever else the machine had to do.",
        "置信带含对该长度的测试句做 1000 次自助抽样所得结果的 95%。p 来自同样样本上的配对自助检验，算法与 sacreBLEU 相同：\
         假如没有差别，出现这么大的差别有多大可能。两者说的是句子的选取，不是种子的选取；而“最好的变体”也是用同样的句子选出来的。\
         对齐错误率和熵是在强制输出参考译文时测得的；词元/秒是训练速度，受机器上其他任务影响。"
    )
}
