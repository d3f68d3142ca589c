//! What people read, in two languages: lessons and reports.

/// The language of what people read; numbers are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Chinese.
    Chinese,
}

/// A text in both languages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    english: String,
    chinese: String,
}

impl Text {
    /// A text in both languages.
    pub fn new(english: impl Into<String>, chinese: impl Into<String>) -> Self {
        Self { english: english.into(), chinese: chinese.into() }
    }

    /// It, in one of them.
    pub fn to(&self, language: Language) -> &str {
        match language {
            Language::English => &self.english,
            Language::Chinese => &self.chinese,
        }
    }
}

impl Language {
    /// Both.
    pub const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// Its code, for pages (BCP 47).
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-Hans",
        }
    }
}

/// The same in both languages.
impl From<String> for Text {
    fn from(text: String) -> Self {
        Self { english: text.clone(), chinese: text }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// A [`Text`] from two format strings, English first.
macro_rules! text {
    ($english:literal, $chinese:literal) => {
        $crate::language::Text::new(format!($english), format!($chinese))
    };
}
pub(crate) use text;
