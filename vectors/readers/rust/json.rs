// SPDX-License-Identifier: Apache-2.0
//! Reads the JSON of the files, which has no surrogate pairs. A key that is missing is `Null`.
pub enum Json {
    Null,
    True,
    False,
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    pub fn get(&self, key: &str) -> &Json {
        self.members().iter().find(|(name, _)| name == key).map_or(&Json::Null, |(_, value)| value)
    }
    pub fn members(&self) -> &[(String, Json)] {
        if let Json::Object(members) = self { members } else { &[] }
    }
    pub fn list(&self) -> &[Json] {
        if let Json::List(items) = self { items } else { &[] }
    }
    pub fn text(&self) -> &str {
        if let Json::Text(text) = self { text } else { "" }
    }
    pub fn number(&self) -> Option<f64> {
        if let Json::Number(number) = *self { Some(number) } else { None }
    }
}

/// Returns the value of the whole text; None if it is no JSON.
pub fn parse(mut rest: &str) -> Option<Json> {
    let found = value(&mut rest)?;
    rest.trim_start().is_empty().then(|| found)
}

fn value(rest: &mut &str) -> Option<Json> {
    *rest = rest.trim_start();
    match rest.chars().next()? {
        '{' => series(rest, '}', |rest| {
            let name = string(rest)?;
            take(rest, ':').then(|| ())?;
            Some((name, value(rest)?))
        }).map(Json::Object),
        '[' => series(rest, ']', value).map(Json::List),
        '"' => string(rest).map(Json::Text),
        _ => word(rest),
    }
}

/// Drops `sign` from the front of `rest`. False if something else is there.
fn take(rest: &mut &str, sign: char) -> bool {
    let left = rest.trim_start().strip_prefix(sign);
    *rest = left.unwrap_or(rest);
    left.is_some()
}

fn series<T>(rest: &mut &str, end: char, item: impl Fn(&mut &str) -> Option<T>) -> Option<Vec<T>> {
    *rest = &rest[1..];
    let mut items = Vec::new();
    while !take(rest, end) {
        if !items.is_empty() && !take(rest, ',') {
            return None;
        }
        items.push(item(rest)?);
    }
    Some(items)
}

fn string(rest: &mut &str) -> Option<String> {
    take(rest, '"').then(|| ())?;
    let (mut text, mut letters) = (String::new(), rest.chars());
    loop {
        text.push(match letters.next()? {
            '"' => break,
            '\\' => match letters.next()? {
                'n' => '\n',
                't' => '\t',
                'u' => char::from_u32((0..4).try_fold(0, |code, _| Some(code * 16 + letters.next()?.to_digit(16)?))?)?,
                letter => letter,
            },
            letter => letter,
        });
    }
    *rest = letters.as_str();
    Some(text)
}

fn word(rest: &mut &str) -> Option<Json> {
    let (word, left) = rest.split_at(rest.find(|c: char| ",]}".contains(c) || c.is_whitespace()).unwrap_or(rest.len()));
    *rest = left;
    match word {
        "null" => Some(Json::Null),
        "true" => Some(Json::True),
        "false" => Some(Json::False),
        _ => word.parse().ok().map(Json::Number),
    }
}
