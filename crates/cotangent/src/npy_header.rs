//! The header of a `.npy` file: a Python dictionary of three entries, each once, in any order.
//!
//! It is parsed as a dictionary, not searched for keys, so that headers that NumPy rejects and
//! duplicate keys are errors.

use cotangent_core::DType;

type Parsed<T> = Result<T, String>;

/// Characters of a header.
struct Text<'a>(&'a str);

/// The entries of a header.
#[derive(Debug)]
pub(crate) struct Header {
    pub dtype: DType,
    pub big_endian: bool,
    pub column_major: bool,
    pub shape: Vec<usize>,
}

/// Reads `{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }`.
pub(crate) fn parse(text: &str) -> Parsed<Header> {
    let mut t = Text(text);
    let (mut element, mut order, mut shape) = (None, None, None);
    if !t.eat('{') {
        return Err("the header is not a dictionary".into());
    }
    while !t.eat('}') {
        let key = t.string()?;
        t.expect(':')?;
        let twice = match key {
            "descr" => element.replace(t.element()?).is_some(),
            "fortran_order" => order.replace(t.truth()?).is_some(),
            "shape" => shape.replace(t.tuple()?).is_some(),
            _ => {
                return Err(format!(
                    "the header has an entry {key:?}; it may have descr, fortran_order and shape"
                ));
            }
        };
        if twice {
            return Err(format!("the header has two entries {key:?}"));
        }
        if !t.eat(',') {
            t.expect('}')?;
            break;
        }
    }
    if !t.0.trim_start().is_empty() {
        return Err("the header has text after its dictionary".into());
    }
    match (element, order, shape) {
        (Some((dtype, big_endian)), Some(column_major), Some(shape)) => Ok(Header {
            dtype,
            big_endian,
            column_major,
            shape,
        }),
        (None, ..) => Err("the header has no `descr`".into()),
        (_, None, _) => Err("the header has no `fortran_order`".into()),
        _ => Err("the header has no `shape`".into()),
    }
}

impl<'a> Text<'a> {
    fn eat(&mut self, c: char) -> bool {
        self.0 = self.0.trim_start_matches([' ', '\t', '\n', '\r']);
        let rest = self.0.strip_prefix(c);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, c: char) -> Parsed<()> {
        if self.eat(c) {
            Ok(())
        } else {
            Err(format!(
                "expected `{c}` in the header, found {}",
                self.found()
            ))
        }
    }

    fn found(&self) -> String {
        self.0
            .chars()
            .next()
            .map_or("its end".into(), |c| format!("`{}`", c.escape_debug()))
    }

    /// The word or number at the current position, possibly empty.
    fn word(&mut self) -> &'a str {
        self.eat(' ');
        let end = self
            .0
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '+' | '-')));
        let (word, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        word
    }

    /// A string without escapes.
    fn string(&mut self) -> Parsed<&'a str> {
        let quote = if self.eat('\'') {
            '\''
        } else if self.eat('"') {
            '"'
        } else {
            return Err(format!(
                "expected a string in the header, found {}",
                self.found()
            ));
        };
        match self.0.split_once(quote) {
            Some((text, rest)) if !text.contains(['\\', '\n']) => {
                self.0 = rest;
                Ok(text)
            }
            _ => Err("a string of the header does not end, or has an escape".into()),
        }
    }

    /// The element type, and whether it is big-endian.
    fn element(&mut self) -> Parsed<(DType, bool)> {
        if self.eat('[') {
            return Err("structured element types are not supported".into());
        }
        let name = self.string()?;
        let (order, kind) = match name.split_at_checked(1) {
            Some((o @ ("<" | ">" | "|" | "="), k)) => (o, k),
            _ => ("=", name),
        };
        let dtype = match kind {
            "b1" | "?" => DType::Bool,
            "i1" => DType::I8,
            "i2" => DType::I16,
            "i4" => DType::I32,
            "i8" => DType::I64,
            "u1" => DType::U8,
            "u2" => DType::U16,
            "u4" => DType::U32,
            "u8" => DType::U64,
            "f2" => DType::F16,
            "V2" => DType::BF16,
            "f4" => DType::F32,
            "f8" => DType::F64,
            "c8" => DType::C64,
            "c16" => DType::C128,
            _ => return Err(format!("the element type {name:?} is not supported")),
        };
        Ok((dtype, order == ">"))
    }

    fn truth(&mut self) -> Parsed<bool> {
        match self.word() {
            "True" => Ok(true),
            "False" => Ok(false),
            _ => Err("`fortran_order` must be True or False".into()),
        }
    }

    /// Parses a tuple: `(2, 3)`, `(2,)`, `()`. A number in parentheses is not a tuple.
    fn tuple(&mut self) -> Parsed<Vec<usize>> {
        if !self.eat('(') {
            return Err(format!(
                "expected `(` and the extents of the shape, found {}",
                self.found()
            ));
        }
        let (mut shape, mut comma) = (Vec::new(), true);
        while !self.eat(')') {
            if !comma {
                return Err("the shape needs `,` between its extents".into());
            }
            let word = self.word();
            // Python 2 writes an `L` after long integers. Leading zeros are not allowed.
            let digits = word.strip_suffix('L').unwrap_or(word);
            let plain = digits.bytes().all(|b| b.is_ascii_digit())
                && (digits.len() < 2 || !digits.starts_with('0'));
            let extent = digits.parse::<usize>().ok().filter(|_| plain);
            shape.push(extent.ok_or_else(|| format!("{word:?} is not an extent"))?);
            comma = self.eat(',');
        }
        if shape.len() == 1 && !comma {
            return Err("the shape is a number in parentheses, not a tuple".into());
        }
        Ok(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";

    #[test]
    fn dictionaries_are_read_in_any_order() {
        for text in [
            GOOD,
            "{\"shape\":(2,3),'descr':'f8' , 'fortran_order' : False}\n",
            "{'fortran_order': False, 'shape': (2L, 3L), 'descr': '=f8'}   ",
        ] {
            let h = parse(text).unwrap();
            assert_eq!(
                (h.dtype, h.big_endian, h.column_major, h.shape),
                (DType::F64, false, false, vec![2, 3])
            );
        }
        assert!(parse(&GOOD.replace("2, 3", "")).unwrap().shape.is_empty());
    }

    /// With one character deleted, doubled or replaced, a header is either an error or well formed,
    /// possibly with another shape or type.
    #[test]
    fn every_change_of_one_character_is_an_error_or_well_formed() {
        let mut refused = 0;
        for at in 0..GOOD.len() {
            for with in ["", &GOOD[at..=at].repeat(2), "#", "'", "(", "x"] {
                let text = format!("{}{with}{}", &GOOD[..at], &GOOD[at + 1..]);
                match parse(&text) {
                    Err(_) => refused += 1,
                    Ok(h) => {
                        let canonical: String = text.split_whitespace().collect();
                        let shape = h
                            .shape
                            .iter()
                            .map(usize::to_string)
                            .collect::<Vec<_>>()
                            .join(",");
                        assert!(
                            canonical.contains(&format!("'shape':({shape}")),
                            "{text}: {h:?}"
                        );
                        assert!(
                            canonical.starts_with("{'descr':'") && canonical.ends_with('}'),
                            "{text}: {h:?}"
                        );
                    }
                }
            }
        }
        assert!(refused > 200, "{refused}");
    }

    #[test]
    fn other_texts_are_errors() {
        for text in [
            "'descr': '<f8', 'fortran_order': False, 'shape': (2,)",
            "junk {'descr': '<f8', 'fortran_order': False, 'shape': (2,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)} junk",
            "{'descr': '<f8', 'descr': '<i8', 'fortran_order': False, 'shape': (2,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), 'shape': (1,)}",
            "{'descr': '<f8', 'fortran_order': Falsehood, 'shape': (2,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (,2,,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (2)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (02,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
            "{'descr': '<f8', 'fortran_order': False}",
            "{'descr': '<f8' 'fortran_order': False, 'shape': (2,)}",
            "",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
