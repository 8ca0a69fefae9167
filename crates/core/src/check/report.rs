//! What a check found: a row per value and law, printed as a table.

use std::fmt;

/// A law of derivatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// `<ct, J t> = <Jᵀ ct, t>`.
    Adjoint,
    /// `J t` against finite differences of the function.
    Difference,
    /// `J (a t + b u) = a J t + b J u`.
    Linear,
    /// Forward over reverse against reverse over forward.
    Orders,
    /// `<u, H v> = <v, H u>`.
    Symmetry,
    /// `H v` against finite differences of the gradient.
    SecondDifference,
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Law::Adjoint => "adjoint",
            Law::Difference => "jvp against differences",
            Law::Linear => "linear",
            Law::Orders => "hvp in both orders",
            Law::Symmetry => "hvp symmetric",
            Law::SecondDifference => "hvp against differences",
        })
    }
}

/// The outcome of one law for one value.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It holds.
    Pass,
    /// It does not.
    Fail,
    /// The differences do not settle: a kink, a jump, or numbers beyond double precision.
    Unsure,
    /// There is no such derivative; the error says why.
    Skipped(String),
}

/// One law for one value.
#[derive(Clone, Debug)]
pub struct Row {
    /// The value differentiated with respect to, as `%x`.
    pub value: String,
    /// The law.
    pub law: Law,
    /// The two sides where they differ most, relative to their bound.
    pub sides: (f64, f64),
    /// The largest difference of the two sides.
    pub error: f64,
    /// The difference that is accepted.
    pub bound: f64,
    /// The estimated error of the finite difference; 0 for laws without one.
    pub estimate: f64,
    /// What follows.
    pub verdict: Verdict,
}

/// The outcome of [`check_function`](super::check_function).
#[derive(Clone, Debug)]
pub struct Report {
    /// The function's name.
    pub function: String,
    /// A row per value and law.
    pub rows: Vec<Row>,
}

impl Report {
    /// No law is violated.
    pub fn passed(&self) -> bool {
        self.rows.iter().all(|r| r.verdict != Verdict::Fail)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Row { value, law, sides, error, bound, estimate, verdict } = self;
        let values = |f: &mut fmt::Formatter<'_>| {
            write!(f, "{value:<12} {law:<24} {error:>9.1e} {estimate:>9.1e} {bound:>9.1e}  ")
        };
        match verdict {
            Verdict::Pass => values(f).and_then(|()| f.write_str("ok")),
            Verdict::Fail => values(f).and_then(|()| write!(f, "WRONG: {:e} is not {:e}", sides.0, sides.1)),
            Verdict::Unsure => values(f).and_then(|()| f.write_str("unsure: not smooth here, or too steep")),
            Verdict::Skipped(why) => write!(f, "{value:<12} {law:<24} {:>31}skipped: {why}", ""),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.passed() { "passed" } else { "FAILED" };
        writeln!(f, "check of `{}`: {verdict}", self.function)?;
        if self.rows.is_empty() {
            return writeln!(f, "nothing to differentiate");
        }
        writeln!(f, "{:<12} {:<24} {:>9} {:>9} {:>9}  verdict", "value", "law", "error", "estimate", "bound")?;
        for r in &self.rows {
            writeln!(f, "{r}")?;
        }
        Ok(())
    }
}
