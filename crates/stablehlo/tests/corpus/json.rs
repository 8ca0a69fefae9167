//! A minimal JSON parser for the descriptions of cases.

use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

impl Json {
    pub(crate) fn parse(text: &str) -> Json {
        let mut p = Parser {
            text: text.as_bytes(),
            at: 0,
        };
        p.value()
    }

    pub(crate) fn get(&self, key: &str) -> &Json {
        match self {
            Json::Object(o) => o.get(key).unwrap_or(&Json::Null),
            _ => &Json::Null,
        }
    }

    pub(crate) fn number(&self) -> Option<f64> {
        if let Json::Number(x) = self {
            Some(*x)
        } else {
            None
        }
    }

    pub(crate) fn indices(&self) -> Vec<usize> {
        match self {
            Json::List(l) => l
                .iter()
                .filter_map(|j| j.number().map(|x| x as usize))
                .collect(),
            _ => Vec::new(),
        }
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn peek(&mut self) -> u8 {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text[self.at]
    }

    fn eat(&mut self, c: u8) -> bool {
        let yes = self.peek() == c;
        self.at += usize::from(yes);
        yes
    }

    fn string(&mut self) -> String {
        assert!(self.eat(b'"'), "a string at {}", self.at);
        let mut out = Vec::new();
        while self.text[self.at] != b'"' {
            if self.text[self.at] == b'\\' {
                self.at += 1;
            }
            out.push(self.text[self.at]);
            self.at += 1;
        }
        self.at += 1;
        String::from_utf8_lossy(&out).into_owned()
    }

    fn value(&mut self) -> Json {
        match self.peek() {
            b'"' => Json::Text(self.string()),
            b'[' => {
                let mut out = Vec::new();
                self.at += 1;
                while !self.eat(b']') {
                    out.push(self.value());
                    self.eat(b',');
                }
                Json::List(out)
            }
            b'{' => {
                let mut out = BTreeMap::new();
                self.at += 1;
                while !self.eat(b'}') {
                    let key = self.string();
                    assert!(self.eat(b':'), "a colon at {}", self.at);
                    out.insert(key, self.value());
                    self.eat(b',');
                }
                Json::Object(out)
            }
            _ => {
                let rest = &self.text[self.at..];
                let n = rest
                    .iter()
                    .position(|c| b",]} \n".contains(c))
                    .unwrap_or(rest.len());
                self.at += n;
                match std::str::from_utf8(&rest[..n]).expect("the file is text") {
                    "null" => Json::Null,
                    "true" => Json::Bool(true),
                    "false" => Json::Bool(false),
                    t => Json::Number(
                        t.parse()
                            .unwrap_or_else(|_| panic!("`{t}` is not a number")),
                    ),
                }
            }
        }
    }
}
