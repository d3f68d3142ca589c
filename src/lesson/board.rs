//! What a lesson writes on the board: text in two languages, matrices with names, comparisons with what the course
//! printed, and a picture.

use serde_json::{Map, Value};

pub(super) use crate::language::text;
pub use crate::language::{Language, Text};

/// A matrix with the names of its rows and columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// What it is.
    pub name: Text,
    /// One name a row.
    pub rows: Vec<Text>,
    /// One name a column.
    pub columns: Vec<Text>,
    /// `values[row][column]`.
    pub values: Vec<Vec<f64>>,
    /// Whether its rows are weights, which are shown by shade too.
    pub weights: bool,
}

/// What the course printed beside what is right.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// What is compared.
    pub what: Text,
    /// As the course printed it.
    pub printed: Text,
    /// As it is.
    pub computed: String,
    /// Whether what was printed is the rounding of what is right.
    pub agrees: bool,
    /// Why not, or what to keep in mind.
    pub why: Text,
}

/// Something on the board.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// A heading.
    Step(Text),
    /// A paragraph.
    Say(Text),
    /// A matrix.
    Matrix(Matrix),
    /// A table of words and numbers, its first row the head.
    Table(Vec<Vec<Text>>),
    /// The course and we.
    Compared(Compared),
}

/// A picture of a lesson.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// Matrices beside each other, each with the value of its darkest colour; the axes' names.
    Panels([Text; 2], Vec<(Matrix, f64)>),
    /// Curves.
    Curves(Curves),
}

/// Curves over common places.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    /// What they show.
    pub title: Text,
    /// The axes' names: across, up.
    pub axes: [Text; 2],
    /// Whether each axis is logarithmic.
    pub logarithmic: [bool; 2],
    /// The places.
    pub x: Vec<f64>,
    /// Names and values.
    pub series: Vec<(Text, Vec<f64>)>,
}

/// A lesson, worked out.
#[derive(Clone, Debug, PartialEq)]
pub struct Lesson {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its title.
    pub title: Text,
    /// What is on the board, from the top.
    pub parts: Vec<Part>,
    /// Its numbers, for programs.
    pub numbers: Map<String, Value>,
    /// Its picture, if it has one.
    pub figure: Option<Figure>,
}

impl Lesson {
    /// An empty board.
    pub fn new(name: &'static str, title: Text) -> Self {
        Self { name, title, parts: Vec::new(), numbers: Map::new(), figure: None }
    }

    /// A heading.
    pub fn step(&mut self, text: Text) {
        self.parts.push(Part::Step(text));
    }

    /// A paragraph.
    pub fn say(&mut self, text: Text) {
        self.parts.push(Part::Say(text));
    }

    /// A matrix.
    pub fn matrix(&mut self, name: Text, rows: &[&str], columns: &[&str], values: &[Vec<f64>]) {
        self.parts.push(Part::Matrix(Matrix { weights: false, ..matrix(name, rows, columns, values) }));
    }

    /// A matrix of weights.
    pub fn weights(&mut self, name: Text, rows: &[&str], columns: &[&str], values: &[Vec<f64>]) {
        self.parts.push(Part::Matrix(matrix(name, rows, columns, values)));
    }

    /// A table, its first row the head.
    pub fn table(&mut self, rows: Vec<Vec<Text>>) {
        self.parts.push(Part::Table(rows));
    }

    /// What the course printed beside what is right; `agrees` says whether the one is the rounding of the other.
    pub fn compare(&mut self, what: Text, printed: &Printed, computed: &[Vec<f64>], why: Text) -> bool {
        let agrees = printed.agrees(computed);
        self.compared(what, printed.told().into(), told(computed, printed.decimals().max(4)), agrees, why);
        agrees
    }

    /// The same for what is no matrix.
    pub fn compared(&mut self, what: Text, printed: Text, computed: String, agrees: bool, why: Text) {
        self.parts.push(Part::Compared(Compared { what, printed, computed, agrees, why }));
    }

    /// Numbers under a name.
    pub fn number(&mut self, name: &str, value: Value) {
        self.numbers.insert(name.to_owned(), value);
    }
}

/// A named matrix of weights.
pub fn matrix(name: Text, rows: &[&str], columns: &[&str], values: &[Vec<f64>]) -> Matrix {
    let owned = |names: &[&str]| names.iter().map(|&name| name.into()).collect();
    Matrix { name, rows: owned(rows), columns: owned(columns), values: values.to_vec(), weights: true }
}

/// Numbers as the course printed them, digit by digit: rows between semicolons, numbers between spaces.
#[derive(Clone, Copy, Debug)]
pub struct Printed(pub &'static str);

impl Printed {
    fn cells(&self) -> impl Iterator<Item = Vec<&'static str>> {
        self.0.split(';').map(|row| row.split_whitespace().collect())
    }

    /// As numbers.
    pub fn values(&self) -> Vec<Vec<f64>> {
        self.cells().map(|row| row.iter().filter_map(|cell| cell.parse().ok()).collect()).collect()
    }

    /// Whether every number is the rounding of the right one to as many decimals.
    pub fn agrees(&self, computed: &[Vec<f64>]) -> bool {
        let rounds = |(printed, right): (&&str, &f64)| {
            let decimals = decimals(printed);
            let rounded = format!("{right:.decimals$}");
            // −0.00 is 0.00.
            let is_zero = rounded.trim_start_matches(['-', '0', '.']).is_empty();
            if is_zero { rounded.trim_start_matches('-') == *printed } else { rounded == **printed }
        };
        self.cells().count() == computed.len()
            && self
                .cells()
                .zip(computed)
                .all(|(printed, right)| printed.len() == right.len() && printed.iter().zip(right).all(rounds))
    }

    fn decimals(&self) -> usize {
        self.cells().flatten().map(decimals).max().unwrap_or(0)
    }

    fn told(&self) -> String {
        self.cells().map(|row| row.join(" ")).collect::<Vec<_>>().join("; ")
    }
}

fn decimals(number: &str) -> usize {
    number.split_once('.').map_or(0, |(_, digits)| digits.len())
}

/// Numbers with so many decimals: rows between semicolons.
pub fn told(values: &[Vec<f64>], decimals: usize) -> String {
    let row = |row: &Vec<f64>| row.iter().map(|x| format!("{x:.decimals$}")).collect::<Vec<_>>().join(" ");
    values.iter().map(row).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_number_agrees_if_it_is_the_rounding() {
        let right = [vec![0.451_862_8, 1.266_956_4], vec![1.125e-7, 1.0]];
        assert!(Printed("0.4519 1.267; 0 1.0").agrees(&right));
        assert!(!Printed("0.4519 1.2669; 0 1.0").agrees(&right));
        assert!(!Printed("-0.4519 1.267; 0 1.0").agrees(&right));
        assert!(Printed("0.0 -0.2").agrees(&[vec![-0.04, -0.21]]));
        assert!(!Printed("0.4519 1.267").agrees(&right));
        assert!(!Printed("0.4519; 0 1.0").agrees(&right));
    }
}
