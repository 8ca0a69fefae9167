//! The scanner of texts: position, words, numbers, strings.
//!
//! There is no token list, because tokens depend on the context (`2x3xf32` is three tokens in a
//! type and one word elsewhere). The parser backtracks over at most one construct.

use crate::array::Scalar;
use crate::error::{Code, Error, Loc, Result};
use crate::names::{clip, is_name_char};
use std::borrow::Cow;

/// A position in a text.
#[derive(Clone)]
pub(super) struct Cursor<'s> {
    src: &'s str,
    pos: usize,
    line: u32,
    line_start: usize,
    /// A position of this line with its column, so that columns of long lines are counted in linear
    /// time.
    known: (usize, u32),
}

impl<'s> Cursor<'s> {
    pub(super) fn new(src: &'s str) -> Cursor<'s> {
        let pos = if src.starts_with('\u{feff}') { 3 } else { 0 };
        Cursor {
            src,
            pos,
            line: 1,
            line_start: pos,
            known: (pos, 1),
        }
    }

    pub(super) fn src(&self) -> &'s str {
        self.src
    }

    pub(super) fn pos(&self) -> usize {
        self.pos
    }

    pub(super) fn line(&self) -> u32 {
        self.line
    }

    /// Skips white space and comments.
    pub(super) fn ws(&mut self) {
        let bytes = self.src.as_bytes();
        while let Some(&b) = bytes.get(self.pos) {
            match b {
                b'\n' => {
                    self.pos += 1;
                    self.line += 1;
                    self.line_start = self.pos;
                    self.known = (self.pos, 1);
                }
                b' ' | b'\t' | b'\r' => self.pos += 1,
                b'/' if bytes.get(self.pos + 1) == Some(&b'/') => {
                    self.pos += bytes[self.pos..]
                        .iter()
                        .position(|&b| b == b'\n')
                        .unwrap_or(bytes.len() - self.pos);
                }
                _ => break,
            }
        }
    }

    /// Line and column of the next character.
    pub(super) fn loc(&mut self) -> Loc {
        let (pos, col) = self.known;
        if self.pos >= pos {
            let between = &self.src[pos..self.pos];
            let n = if between.is_ascii() {
                between.len()
            } else {
                between.chars().count()
            };
            self.known = (self.pos, col.saturating_add(n as u32));
        } else {
            self.known = (
                self.pos,
                1 + self.src[self.line_start..self.pos].chars().count() as u32,
            );
        }
        Loc::Text(self.line, self.known.1)
    }

    /// The location of the next character after white space.
    pub(super) fn here(&mut self) -> Loc {
        self.ws();
        self.loc()
    }

    /// An error at the next character.
    pub(super) fn error(&mut self, code: Code, message: impl Into<String>) -> Error {
        Error::new(code, message).at(self.loc())
    }

    /// The next byte, 0 at the end.
    pub(super) fn byte(&self) -> u8 {
        self.src.as_bytes().get(self.pos).copied().unwrap_or(0)
    }

    /// The byte after the next one.
    pub(super) fn second(&self) -> u8 {
        self.src.as_bytes().get(self.pos + 1).copied().unwrap_or(0)
    }

    /// The next byte after white space, 0 at the end.
    pub(super) fn peek(&mut self) -> u8 {
        self.ws();
        self.byte()
    }

    /// Whether the text ends here.
    pub(super) fn at_end(&mut self) -> bool {
        self.ws();
        self.pos == self.src.len()
    }

    /// Skips one ASCII character.
    pub(super) fn bump(&mut self) {
        self.pos += 1;
    }

    /// Skips `b` if it is next.
    pub(super) fn eat(&mut self, b: u8) -> bool {
        let yes = self.peek() == b;
        self.pos += usize::from(yes);
        yes
    }

    /// Skips these characters if they are next.
    pub(super) fn eat_str(&mut self, s: &str) -> bool {
        let yes = self.looking_at(s);
        self.pos += if yes { s.len() } else { 0 };
        yes
    }

    /// Skips this word if it is next.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let before = self.clone();
        self.ws();
        let yes = self.word() == word;
        if !yes {
            *self = before;
        }
        yes
    }

    /// Parses `true` or `false` if it is next and not the name of a region.
    pub(super) fn boolean(&mut self) -> Option<bool> {
        self.ws();
        let mut c = self.clone();
        let b = match c.word() {
            "true" => true,
            "false" => false,
            _ => return None,
        };
        if matches!(c.peek(), b'(' | b'[' | b'@') {
            return None;
        }
        self.pos += if b { 4 } else { 5 };
        Some(b)
    }

    /// Whether these characters are next.
    pub(super) fn looking_at(&mut self, s: &str) -> bool {
        self.ws();
        self.src.as_bytes()[self.pos..].starts_with(s.as_bytes())
    }

    /// Skips `b`, or returns an error that names the expected character.
    pub(super) fn expect(&mut self, b: u8, after: &str) -> Result<()> {
        if self.eat(b) {
            return Ok(());
        }
        let found = self.found();
        Err(self.error(
            Code::Syntax,
            format!("expected `{}` {after}, found {found}", b as char),
        ))
    }

    /// The text at the cursor, for error messages.
    pub(super) fn found(&mut self) -> String {
        self.ws();
        let rest = &self.src[self.pos..];
        let Some(c) = rest.chars().next() else {
            return "the end of the text".into();
        };
        if !is_name_char(c) {
            return format!("`{}`", c.escape_debug());
        }
        const MAX_SHOWN_CHARS: usize = 40;
        let word: String = rest
            .chars()
            .take_while(|&c| is_name_char(c))
            .take(MAX_SHOWN_CHARS)
            .collect();
        format!("`{word}`")
    }

    /// The name here, possibly empty.
    pub(super) fn word(&mut self) -> &'s str {
        self.ws();
        let rest = &self.src[self.pos..];
        let bytes = rest.as_bytes();
        let ascii = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.');
        let mut n = bytes.iter().position(|&b| !ascii(b)).unwrap_or(bytes.len());
        if bytes.get(n).is_some_and(|b| !b.is_ascii()) {
            n = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
        }
        self.pos += n;
        &rest[..n]
    }

    /// Characters of a symbol: a name without the letter `x`, because that separates dimensions.
    pub(super) fn symbol(&mut self) -> &'s str {
        let rest = &self.src[self.pos..];
        let n = rest
            .find(|c: char| c == 'x' || c == '.' || !is_name_char(c))
            .unwrap_or(rest.len());
        self.pos += n;
        &rest[..n]
    }

    /// The name after a sigil: bare or in quotes.
    pub(super) fn name(&mut self, what: &str) -> Result<Cow<'s, str>> {
        if self.byte() == b'"' {
            return self.string().map(Cow::Owned);
        }
        let here = self.byte();
        let word = if here.is_ascii_whitespace() {
            ""
        } else {
            self.word()
        };
        if word.is_empty() {
            let found = self.found();
            return Err(self.error(Code::Syntax, format!("expected {what}, found {found}")));
        }
        Ok(word.into())
    }

    /// A quoted string with the escapes `\n`, `\r`, `\t`, `\\`, `\"` and `\u{hex}`.
    pub(super) fn string(&mut self) -> Result<String> {
        let start = self.loc();
        self.bump();
        let mut out = String::new();
        loop {
            let rest = &self.src[self.pos..];
            let Some(c) = rest.chars().next().filter(|&c| c != '\n') else {
                return Err(
                    Error::new(Code::Syntax, "this string does not end on its line").at(start),
                );
            };
            self.pos += c.len_utf8();
            match c {
                '"' => return Ok(out),
                '\\' => match self.escape() {
                    Some(c) => out.push(c),
                    None => {
                        self.pos -= usize::from(self.pos > self.line_start);
                        let text = "unknown escape in a string; known are \\n \\r \\t \\\\ \\\" and \\u{hex}";
                        return Err(Error::new(Code::Syntax, text).at(start));
                    }
                },
                c => out.push(c),
            }
        }
    }

    fn escape(&mut self) -> Option<char> {
        let b = self.byte();
        let c = match b {
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'\\' => '\\',
            b'"' => '"',
            b'u' => {
                let rest = self.src.get(self.pos + 1..)?.strip_prefix('{')?;
                let end = rest.find('}').filter(|&e| e <= 6)?;
                let c = char::from_u32(u32::from_str_radix(&rest[..end], 16).ok()?)?;
                self.pos += end + 2;
                c
            }
            _ => return None,
        };
        self.bump();
        Some(c)
    }

    /// Whether a number starts here, with an optional sign.
    pub(super) fn at_number(&mut self) -> bool {
        self.ws();
        let rest = &self.src[self.pos..];
        let rest = rest.strip_prefix(['-', '+']).unwrap_or(rest);
        let b = rest.as_bytes();
        b.first().is_some_and(u8::is_ascii_digit)
            || (b.first() == Some(&b'.') && b.get(1).is_some_and(u8::is_ascii_digit))
            || ["inf", "nan"].iter().any(|w| {
                rest.strip_prefix(w)
                    .is_some_and(|r| !r.starts_with(is_name_char))
            })
    }

    /// The characters of a number: sign, digits, point, exponent; or `0x` and hexadecimal digits;
    /// `inf`, `nan`.
    pub(super) fn number_text(&mut self) -> &'s str {
        self.ws();
        let rest = &self.src[self.pos..];
        let b = rest.as_bytes();
        let digits = |mut i: usize| {
            while b.get(i).is_some_and(u8::is_ascii_digit) {
                i += 1;
            }
            i
        };
        let mut i = usize::from(matches!(b.first(), Some(b'-' | b'+')));
        if rest[i..].starts_with("0x") && b.get(i + 2).is_some_and(u8::is_ascii_hexdigit) {
            i += 2;
            while b.get(i).is_some_and(u8::is_ascii_hexdigit) {
                i += 1;
            }
        } else if b.get(i).is_some_and(u8::is_ascii_alphabetic) {
            i += 3;
        } else {
            i = digits(i);
            if b.get(i) == Some(&b'.') {
                i = digits(i + 1);
            }
            if matches!(b.get(i), Some(b'e' | b'E')) {
                let sign = usize::from(matches!(b.get(i + 1), Some(b'-' | b'+')));
                if b.get(i + 1 + sign).is_some_and(u8::is_ascii_digit) {
                    i = digits(i + 1 + sign);
                }
            }
        }
        self.pos += i;
        &rest[..i]
    }

    /// A number: an integer unless it has a point or an exponent.
    pub(super) fn number(&mut self) -> Result<Scalar> {
        let loc = self.here();
        let text = self.number_text();
        scalar(text).ok_or_else(|| {
            Error::new(
                Code::Limit,
                format!("the number {} is too large", clip(text)),
            )
            .at(loc)
        })
    }

    /// A natural number: an extent or a position.
    pub(super) fn natural(&mut self) -> Result<usize> {
        let loc = self.here();
        let rest = &self.src[self.pos..];
        let n = rest
            .bytes()
            .position(|b| !b.is_ascii_digit())
            .unwrap_or(rest.len());
        self.pos += n;
        match rest[..n].parse::<usize>() {
            Ok(v) if v <= isize::MAX as usize => Ok(v),
            _ => Err(Error::new(
                Code::Limit,
                format!("the extent {} is too large", clip(&rest[..n])),
            )
            .at(loc)),
        }
    }
}

/// The value of a number's text; `None` if it does not fit.
pub(super) fn scalar(text: &str) -> Option<Scalar> {
    let (negative, body) = match text.strip_prefix('-') {
        Some(t) => (true, t),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let signed = |i: i128| if negative { -i } else { i };
    if let Some(hex) = body.strip_prefix("0x") {
        return i128::from_str_radix(hex, 16)
            .ok()
            .map(|i| Scalar::I(signed(i)));
    }
    if body.bytes().all(|b| b.is_ascii_digit()) {
        return body.parse::<i128>().ok().map(|i| Scalar::I(signed(i)));
    }
    let f: f64 = body.parse().ok()?;
    (f.is_finite() || !body.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
        .then_some(Scalar::F(if negative { -f } else { f }))
}
