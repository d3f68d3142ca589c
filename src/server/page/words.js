// What people read, in two languages.

const WORDS = {
  language: ["Language", "语言"],
  model: ["Model", "模型"],
  key: ["API key", "API 密钥"],
  text: ["Sentence", "句子"],
  working: ["…", "…"],
  offline: [
    "The server does not answer. What you typed is kept; it is asked again when you type.",
    "服务器没有回应。输入的内容仍在；再次输入时会重新请求。",
  ],
  blank: ["Type a sentence to see where each word looks.", "输入一个句子，看每个词看向哪里。"],
  look: ["Translation", "翻译"],
  steps: ["Step by step", "逐步"],
  tree: ["Beam", "束搜索"],
  compare: ["Side by side", "并排"],
  lessons: ["Lessons", "课程"],
  runs: ["Training", "训练"],
  heatmap: [
    "Alignment: a row for each word written, a column for each word read",
    "对齐：每行一个写出的词，每列一个读入的词",
  ],
  threads: ["Where each word looked", "每个词看向哪里"],
  level: ["Pieces", "单位"],
  word: ["words", "词"],
  subword: ["the model's pieces", "模型的子词"],
  withEnds: ["with the end of the sentence", "含句末"],
  head: ["Head", "头"],
  mean: ["mean", "均值"],
  others: ["Translations by score", "译文（按得分）"],
  unlooked: [
    "This model has no attention: every word is written from one vector, and there is nothing to draw.",
    "此模型没有注意力：每个词都由同一个向量写出，没有对齐可画。",
  ],
  numbers: ["Numbers", "数值"],
  source: ["source", "源"],
  output: ["output", "输出"],
  cell: ["{0} looks at {1} with {2}", "{0} 以 {2} 看 {1}"],
  step: ["Step {0} of {1}", "第 {0} 步，共 {1} 步"],
  stepSlider: ["Step", "步"],
  written: ["Written so far; choose a word to go to its step", "已写出的词；点选可跳到该步"],
  ownAgain: ["Back to the model's own translation", "恢复模型自己的译文"],
  ownLook: ["Look where the model looks", "按模型的方式看"],
  next: ["The next word: choose another and see how it goes on", "下一个词：另选一个，看译文如何继续"],
  chooseNext: ["Write {0} here ({1})", "在此写 {0}（{1}）"],
  where: ["Where to look: drag a weight", "看向哪里：拖动权重"],
  whereFixed: ["Where it looks", "看向哪里"],
  piece: ["piece", "子词"],
  score: ["score", "得分"],
  weight: ["weight", "权重"],
  part: ["share of the context", "占上下文"],
  onlyAt: ["Look only at {0}", "只看 {0}"],
  weightOf: ["Weight of {0}", "{0} 的权重"],
  told: ["You say where this step looks.", "这一步由你决定看向哪里。"],
  query: ["Query: {0} numbers", "查询：{0} 个数"],
  context: ["Context: {0} numbers", "上下文：{0} 个数"],
  beforeSoftmax: ["Scores are before softmax, weights after.", "得分在 softmax 之前，权重在之后。"],
  headsMean: [
    "Weights are the mean of the heads; choose one to see its scores.",
    "权重为各头的均值；选择一个头可看其得分。",
  ],
  headsOn: ["Heads that are on", "启用的头"],
  beam: ["Beam", "束宽"],
  treeCaption: [
    "All that the search took up: the best translation is marked, what could not win any more is pale",
    "搜索考虑过的一切：最佳译文已标出，不再可能胜出的变淡",
  ],
  "goes-on": ["goes on", "继续"],
  ends: ["ends", "结束"],
  outrun: ["outrun: others went on better", "落选：别的更好"],
  "given-up": ["given up: it can't win any more", "放弃：已不可能胜出"],
  best: ["best", "最佳"],
  found: ["Found", "结果"],
  translation: ["translation", "译文"],
  logProb: ["log-probability", "对数概率"],
  left: ["Left", "左"],
  right: ["Right", "右"],
  oneModel: [
    "This server has one model. Start it with several to compare them: zhuyi serve --run A --run B",
    "此服务器只有一个模型。启动时给出多个即可比较：zhuyi serve --run A --run B",
  ],
  sureness: ["How sure each word was", "每个词的把握"],
  lessonWith: ["worked out with {0}", "用 {0} 计算"],
  shipped: ["the built-in model", "内置模型"],
  openAlone: ["Open by itself", "单独打开"],
  loss: ["Loss on the dev set, nats a token", "验证集损失（奈特/词元）"],
  bleu: ["BLEU on the dev set", "验证集 BLEU"],
  trainLoss: ["Loss in training", "训练损失"],
  update: ["update", "更新"],
  overTime: [
    "Where the model looked in one sentence of the dev set, as it learnt",
    "训练过程中模型在验证集某一句上看向哪里",
  ],
  noLooks: [
    "This run's log tells nothing of where it looked: it was trained by an older zhuyi, or has no attention.",
    "此训练的日志没有记录看向哪里：由旧版 zhuyi 训练，或没有注意力。",
  ],
  noCurves: ["No training log is beside these models.", "这些模型旁没有训练日志。"],
  play: ["Play", "播放"],
  pause: ["Pause", "暂停"],
  refresh: ["Read again", "重新读取"],
  afterUpdates: ["after {0} updates", "{0} 次更新之后"],
};

let language = "en";

// Takes a language: "en" or "zh".
export function speak(code) {
  language = code === "zh" ? "zh" : "en";
  document.documentElement.lang = language === "zh" ? "zh-Hans" : "en";
}

// The language that is spoken.
export function spoken() {
  return language;
}

// A text with its places filled.
export function t(name, ...places) {
  const text = WORDS[name][language === "zh" ? 1 : 0];
  return text.replace(/\{(\d)\}/g, (_, n) => String(places[n]));
}
