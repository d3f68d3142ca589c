//! The words of the toy language. English on the left, Chinese on the right.

/// A countable noun: singular, plural, Chinese, measure word.
pub type Noun = (&'static str, &'static str, &'static str, &'static str);
/// A verb: bare form, third person, Chinese.
pub type Verb = (&'static str, &'static str, &'static str);
/// Two words that say the same.
pub type Word = (&'static str, &'static str);

pub const ANIMALS: &[Noun] = &[
    ("cat", "cats", "猫", "只"),
    ("dog", "dogs", "狗", "只"),
    ("bird", "birds", "鸟", "只"),
    ("rabbit", "rabbits", "兔子", "只"),
    ("panda", "pandas", "熊猫", "只"),
    ("monkey", "monkeys", "猴子", "只"),
    ("horse", "horses", "马", "匹"),
    ("cow", "cows", "牛", "头"),
    ("pig", "pigs", "猪", "头"),
];

pub const PEOPLE: &[Noun] = &[
    ("teacher", "teachers", "老师", "位"),
    ("doctor", "doctors", "医生", "位"),
    ("writer", "writers", "作家", "位"),
    ("student", "students", "学生", "个"),
    ("child", "children", "孩子", "个"),
    ("friend", "friends", "朋友", "个"),
    ("farmer", "farmers", "农民", "个"),
    ("girl", "girls", "女孩", "个"),
    ("boy", "boys", "男孩", "个"),
];

pub const THINGS: &[Noun] = &[
    ("book", "books", "书", "本"),
    ("dictionary", "dictionaries", "词典", "本"),
    ("car", "cars", "汽车", "辆"),
    ("bicycle", "bicycles", "自行车", "辆"),
    ("table", "tables", "桌子", "张"),
    ("picture", "pictures", "画", "张"),
    ("pen", "pens", "笔", "支"),
    ("umbrella", "umbrellas", "雨伞", "把"),
    ("chair", "chairs", "椅子", "把"),
    ("letter", "letters", "信", "封"),
    ("computer", "computers", "电脑", "台"),
    ("flower", "flowers", "花", "朵"),
];

pub const FOODS: &[Noun] = &[
    ("apple", "apples", "苹果", "个"),
    ("egg", "eggs", "鸡蛋", "个"),
    ("orange", "oranges", "橙子", "个"),
    ("banana", "bananas", "香蕉", "根"),
    ("carrot", "carrots", "胡萝卜", "根"),
];

/// Food and drink that is not counted.
pub const MEALS: &[Word] =
    &[("fish", "鱼"), ("rice", "米饭"), ("bread", "面包"), ("soup", "汤"), ("meat", "肉"), ("fruit", "水果")];

pub const DRINKS: &[Word] =
    &[("tea", "茶"), ("water", "水"), ("milk", "牛奶"), ("coffee", "咖啡"), ("juice", "果汁")];

pub const NAMES: &[Word] = &[
    ("tom", "汤姆"),
    ("mary", "玛丽"),
    ("anna", "安娜"),
    ("john", "约翰"),
    ("xiaoming", "小明"),
    ("xiaohong", "小红"),
    ("david", "大卫"),
    ("lily", "莉莉"),
];

pub const CITIES: &[Word] = &[
    ("shenzhen", "深圳"),
    ("beijing", "北京"),
    ("shanghai", "上海"),
    ("guangzhou", "广州"),
    ("chengdu", "成都"),
    ("hangzhou", "杭州"),
    ("london", "伦敦"),
    ("paris", "巴黎"),
    ("tokyo", "东京"),
];

/// Subjects of study that are one word.
pub const STUDIES: &[Word] = &[
    ("chinese", "中文"),
    ("english", "英语"),
    ("mathematics", "数学"),
    ("music", "音乐"),
    ("history", "历史"),
    ("physics", "物理"),
];

/// "deep learning": the first word of a two-word subject; the second is "learning".
pub const LEARNINGS: &[Word] = &[("deep", "深度"), ("machine", "机器"), ("reinforcement", "强化")];

/// Subject pronouns, whether they take the third person singular, and the object form.
pub const PRONOUNS: &[(&str, &str, &str, bool)] = &[
    ("i", "me", "我", false),
    ("you", "you", "你", false),
    ("he", "him", "他", true),
    ("she", "her", "她", true),
    ("we", "us", "我们", false),
    ("they", "them", "他们", false),
];

pub const POSSESSIVES: &[Word] =
    &[("my", "我"), ("your", "你"), ("his", "他"), ("our", "我们"), ("their", "他们")];

/// Words for counting, with plural nouns.
pub const NUMBERS: &[Word] = &[
    ("two", "两"),
    ("three", "三"),
    ("four", "四"),
    ("five", "五"),
    ("six", "六"),
    ("seven", "七"),
    ("eight", "八"),
    ("nine", "九"),
    ("ten", "十"),
];

pub const COLOURS: &[Word] = &[
    ("red", "红色"),
    ("white", "白色"),
    ("black", "黑色"),
    ("yellow", "黄色"),
    ("green", "绿色"),
    ("blue", "蓝色"),
];

pub const QUALITIES: &[Word] = &[
    ("big", "大"),
    ("small", "小"),
    ("new", "新"),
    ("old", "老"),
    ("beautiful", "漂亮"),
    ("happy", "快乐"),
    ("tired", "累"),
    ("busy", "忙"),
];

/// Qualities that go before a noun of any kind.
pub const PLAIN_QUALITIES: usize = 5;

pub const INTRANSITIVE: &[Verb] = &[
    ("sleep", "sleeps", "睡觉"),
    ("run", "runs", "跑步"),
    ("swim", "swims", "游泳"),
    ("sing", "sings", "唱歌"),
    ("dance", "dances", "跳舞"),
    ("work", "works", "工作"),
    ("play", "plays", "玩"),
];

pub const EAT: Verb = ("eat", "eats", "吃");
pub const DRINK: Verb = ("drink", "drinks", "喝");
pub const GIVE: Verb = ("give", "gives", "给");
pub const GO: Verb = ("go", "goes", "去");
pub const LIVE: Verb = ("live", "lives", "住");

/// Verbs that take a thing, an animal or a person.
pub const SEE: &[Verb] = &[
    ("see", "sees", "看见"),
    ("like", "likes", "喜欢"),
    ("love", "loves", "爱"),
    ("know", "knows", "认识"),
    ("help", "helps", "帮助"),
];

/// Verbs that take a thing.
pub const USE: &[Verb] = &[
    ("buy", "buys", "买"),
    ("sell", "sells", "卖"),
    ("draw", "draws", "画"),
    ("need", "needs", "需要"),
    ("have", "has", "有"),
];

/// Verbs that take a subject of study.
pub const STUDY: &[Verb] = &[("study", "studies", "学习"), ("teach", "teaches", "教"), ("love", "loves", "爱")];

/// Verbs that stand before another verb: English, and whether `to` follows.
pub const MODALS: &[(&str, &str, &str, bool)] =
    &[("want", "wants", "想", true), ("can", "can", "会", false), ("must", "must", "必须", false)];

/// Places inside which one is (在 … 里).
pub const INSIDES: &[Word] = &[
    ("park", "公园"),
    ("garden", "花园"),
    ("kitchen", "厨房"),
    ("library", "图书馆"),
    ("house", "房子"),
    ("forest", "森林"),
];

/// Places on which one is (在 … 上).
pub const TOPS: &[Word] = &[("mountain", "山"), ("street", "街"), ("ship", "船")];

/// Places that need no word of position (在 …).
pub const SITES: &[Word] = &[("home", "家"), ("school", "学校"), ("work", "公司")];

/// Times of one word.
pub const TIMES: &[Word] = &[("today", "今天"), ("tonight", "今晚"), ("now", "现在"), ("often", "经常")];

/// Parts of the day, after "in the".
pub const DAYTIMES: &[Word] = &[("morning", "早上"), ("afternoon", "下午"), ("evening", "晚上")];

/// What comes every so often, after "every".
pub const EVERY: &[Word] = &[("day", "每天"), ("week", "每周"), ("year", "每年")];

/// Days of the week, after "on".
pub const WEEKDAYS: &[Word] =
    &[("monday", "星期一"), ("tuesday", "星期二"), ("friday", "星期五"), ("sunday", "星期天")];

/// Ways to travel, after "by".
pub const VEHICLES: &[Word] = &[("train", "火车"), ("plane", "飞机"), ("bus", "公共汽车")];
