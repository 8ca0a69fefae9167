//! Lexer of MLIR text: names with their sigils, numbers, strings and punctuation. Comments and
//! white space are skipped.
//!
//! Shapes (`2x3xf32`) are not tokens: inside `tensor<` the parser reads raw text
//! ([`Lexer::raw_type`]).

use cotangent_core::{Code, Error, Loc, Result};

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A word, dots included: `stablehlo.add`, `LT`, `tensor`.
    Word,
    /// `%0`, `%arg1` (without the sigil).
    Value,
    /// `@main`, `@"<lambda>"` (without the sigil; quotes stay).
    Symbol,
    /// `^bb0` (without the sigil).
    Block,
    /// `#loc1`, `#stablehlo.gather` (without the sigil); also a bare `#`.
    Hash,
    /// `!stablehlo.token` (without the sigil).
    Bang,
    /// `12`, `-3`, `0xFF`.
    Int,
    /// `1.5`, `-2.0e+3`.
    Float,
    /// A quoted string, quotes included.
    Str,
    /// `->`.
    Arrow,
    /// `{-#`: resources follow.
    Resources,
    /// Any other character.
    Punct(u8),
    /// The end of the text.
    End,
}

/// A position in the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pos {
    /// Line, counted from 1.
    pub line: u32,
    /// Column in bytes, counted from 1.
    pub column: u32,
}

impl From<Pos> for Loc {
    fn from(p: Pos) -> Loc {
        Loc::Text(p.line, p.column)
    }
}

/// A token and its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    /// Its kind.
    pub kind: TokenKind,
    /// Its text, without the sigil of names.
    pub text: &'a str,
    /// Position of its first character.
    pub pos: Pos,
}

impl Token<'_> {
    /// The token as error messages show it, shortened.
    pub(crate) fn show(&self) -> String {
        const MAX_SHOWN_CHARS: usize = 40;
        let sigil = match self.kind {
            TokenKind::End => return "the end of the text".into(),
            TokenKind::Value => "%",
            TokenKind::Symbol => "@",
            TokenKind::Block => "^",
            TokenKind::Hash => "#",
            TokenKind::Bang => "!",
            _ => "",
        };
        match self.text.char_indices().nth(MAX_SHOWN_CHARS) {
            Some((end, _)) => format!("`{sigil}{}..`", &self.text[..end]),
            None => format!("`{sigil}{}`", self.text),
        }
    }
}

/// Lexer state: the text and the current position.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    line_start: usize,
}

/// A syntax error at a position.
pub(crate) fn syntax(pos: impl Into<Loc>, message: impl Into<String>) -> Error {
    Error::new(Code::Syntax, message).at(pos.into())
}

fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'.' | b'$')
}

/// Whether a byte may be part of a name after a sigil, where dashes are permitted.
fn is_suffix(c: u8) -> bool {
    is_word(c) || c == b'-'
}

impl<'a> Lexer<'a> {
    /// A lexer at the start of a text.
    pub(crate) fn new(text: &'a str) -> Result<Lexer<'a>> {
        if text.len() > u32::MAX as usize {
            return Err(Error::new(
                Code::Limit,
                "texts of 4 GiB and more are not supported",
            ));
        }
        Ok(Lexer {
            text,
            at: 0,
            line: 1,
            line_start: 0,
        })
    }

    fn pos(&self, at: usize) -> Pos {
        Pos {
            line: self.line,
            column: (at - self.line_start + 1) as u32,
        }
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn skip_blank(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(&c) = bytes.get(self.at) {
            match c {
                b'\n' => {
                    self.at += 1;
                    self.line += 1;
                    self.line_start = self.at;
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'/' if self.byte(self.at + 1) == b'/' => {
                    self.at = bytes[self.at..]
                        .iter()
                        .position(|&c| c == b'\n')
                        .map_or(bytes.len(), |n| self.at + n);
                }
                _ => break,
            }
        }
    }

    fn run(&self, from: usize, ok: fn(u8) -> bool) -> usize {
        let rest = &self.text.as_bytes()[from..];
        from + rest.iter().position(|&c| !ok(c)).unwrap_or(rest.len())
    }

    /// The position after the string that starts at `from`.
    fn string(&mut self, from: usize) -> Result<usize> {
        let bytes = self.text.as_bytes();
        let start = self.pos(from);
        let mut at = from + 1;
        loop {
            match bytes.get(at) {
                Some(b'"') => return Ok(at + 1),
                Some(b'\\') => at += 2,
                Some(b'\n') | None => {
                    return Err(syntax(
                        start,
                        "this string has no closing quote on its line",
                    ));
                }
                Some(_) => at += 1,
            }
        }
    }

    fn number(&self, from: usize) -> (TokenKind, usize) {
        let digits = |at| self.run(at, |c| c.is_ascii_digit());
        let start = from + usize::from(self.byte(from) == b'-');
        if self.byte(start) == b'0'
            && self.byte(start + 1) == b'x'
            && self.byte(start + 2).is_ascii_hexdigit()
        {
            return (
                TokenKind::Int,
                self.run(start + 2, |c| c.is_ascii_hexdigit()),
            );
        }
        let mut end = digits(start);
        if self.byte(end) != b'.' {
            return (TokenKind::Int, end);
        }
        end = digits(end + 1);
        if matches!(self.byte(end), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(end + 1), b'+' | b'-'));
            if self.byte(end + 1 + sign).is_ascii_digit() {
                end = digits(end + 1 + sign);
            }
        }
        (TokenKind::Float, end)
    }

    /// The next token.
    pub(crate) fn next(&mut self) -> Result<Token<'a>> {
        self.skip_blank();
        let (from, pos) = (self.at, self.pos(self.at));
        let (kind, start, end) = match self.byte(from) {
            0 if from >= self.text.len() => (TokenKind::End, from, from),
            c if c.is_ascii_alphabetic() || c == b'_' => {
                (TokenKind::Word, from, self.run(from, is_word))
            }
            b'%' => (TokenKind::Value, from + 1, self.run(from + 1, is_suffix)),
            b'^' => (TokenKind::Block, from + 1, self.run(from + 1, is_suffix)),
            b'#' if self.text[from..].starts_with("#-}") => {
                (TokenKind::Punct(b'#'), from, from + 3)
            }
            b'#' => (TokenKind::Hash, from + 1, self.run(from + 1, is_word)),
            b'!' => (TokenKind::Bang, from + 1, self.run(from + 1, is_word)),
            b'@' if self.byte(from + 1) == b'"' => {
                (TokenKind::Symbol, from + 1, self.string(from + 1)?)
            }
            b'@' => (TokenKind::Symbol, from + 1, self.run(from + 1, is_suffix)),
            b'"' => (TokenKind::Str, from, self.string(from)?),
            b'-' if self.byte(from + 1) == b'>' => (TokenKind::Arrow, from, from + 2),
            b'{' if self.text[from..].starts_with("{-#") => (TokenKind::Resources, from, from + 3),
            c if c.is_ascii_digit() || (c == b'-' && self.byte(from + 1).is_ascii_digit()) => {
                let (kind, end) = self.number(from);
                (kind, from, end)
            }
            c => {
                let len = self.text[from..].chars().next().map_or(1, char::len_utf8);
                (TokenKind::Punct(c), from, from + len)
            }
        };
        self.at = end;
        Ok(Token {
            kind,
            text: &self.text[start..end],
            pos,
        })
    }

    /// The text up to the `>` that closes an already opened `<`. The `>` is consumed.
    pub(crate) fn raw_type(&mut self) -> Result<&'a str> {
        let (from, pos) = (self.at, self.pos(self.at));
        let bytes = self.text.as_bytes();
        let mut depth = 1usize;
        while let Some(&c) = bytes.get(self.at) {
            match c {
                b'<' => depth += 1,
                b'>' => depth -= 1,
                b'"' => {
                    self.at = self.string(self.at)?;
                    continue;
                }
                b'\n' => break,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(&self.text[from..self.at - 1]);
            }
        }
        Err(syntax(pos, "this type has no closing `>` on its line"))
    }
}

/// The content of a quoted string, with escapes resolved.
pub(crate) fn unquote(text: &str) -> String {
    let inner = text
        .strip_prefix('"')
        .and_then(|t| t.strip_suffix('"'))
        .unwrap_or(text);
    if !inner.contains('\\') {
        return inner.to_owned();
    }
    let (mut out, bytes) = (Vec::with_capacity(inner.len()), inner.as_bytes());
    let mut at = 0;
    while at < bytes.len() {
        let hex = |k: usize| bytes.get(at + k).and_then(|&c| (c as char).to_digit(16));
        match (bytes[at], bytes.get(at + 1)) {
            (b'\\', Some(b'n')) => (out.push(b'\n'), at += 2).1,
            (b'\\', Some(b't')) => (out.push(b'\t'), at += 2).1,
            (b'\\', Some(&c @ (b'"' | b'\\'))) => (out.push(c), at += 2).1,
            (b'\\', Some(_)) if hex(1).is_some() && hex(2).is_some() => {
                out.push((hex(1).unwrap_or(0) * 16 + hex(2).unwrap_or(0)) as u8);
                at += 3;
            }
            (c, _) => (out.push(c), at += 1).1,
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
