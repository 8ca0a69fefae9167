//! Reports of checks: one row per value and law, printed as a table.

use crate::dtype::DType;
use rustc_hash::FxHashMap;
use std::fmt;

/// A law of derivatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// The derivative of `H v` against finite differences of it.
    ThirdDifference,
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
            Law::ThirdDifference => "third against differences",
        })
    }
}

/// The outcome of one law for one value.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The law holds.
    Pass,
    /// The law is violated.
    Fail,
    /// The differences do not converge: a kink, a jump, or values beyond double precision.
    Unsure,
    /// The derivative does not exist; the message gives the reason.
    Skipped(String),
}

/// One law for one value.
#[derive(Clone, Debug)]
pub struct LawResult {
    /// The value differentiated with respect to, as `%x`.
    pub value: String,
    /// The law.
    pub law: Law,
    /// The narrowest element type of the computation, for a law that is checked both in the types
    /// of the program and in double precision.
    pub dtype: Option<DType>,
    /// The two sides where they differ most, relative to their bound.
    pub sides: (f64, f64),
    /// The largest difference of the two sides.
    pub error: f64,
    /// The accepted difference.
    pub bound: f64,
    /// The estimated error of the finite difference; 0 for laws without finite differences.
    pub estimate: f64,
    /// The verdict of the law.
    pub verdict: Verdict,
}

/// The outcome of [`check_function`](super::check_function).
#[derive(Clone, Debug)]
pub struct Report {
    /// The function's name.
    pub function: String,
    /// A row per value and law.
    pub rows: Vec<LawResult>,
}

impl Report {
    /// Whether every law was checked and none is violated. Unsure rows do not count as violated
    /// ([`unsure`](Self::unsure) counts them).
    pub fn passed(&self) -> bool {
        self.violated() == 0 && self.skipped() == 0
    }

    /// Number of violated laws.
    pub fn violated(&self) -> usize {
        self.count(|v| *v == Verdict::Fail)
    }

    /// Number of laws that were not checked because a derivative does not exist.
    pub fn skipped(&self) -> usize {
        self.count(|v| matches!(v, Verdict::Skipped(_)))
    }

    /// Number of laws without a verdict because the differences do not converge.
    pub fn unsure(&self) -> usize {
        self.count(|v| *v == Verdict::Unsure)
    }

    fn count(&self, of: impl Fn(&Verdict) -> bool) -> usize {
        self.rows.iter().filter(|r| of(&r.verdict)).count()
    }

    /// Merges a report of the same laws at another point. A law violated at one point is violated.
    /// A law that is unsure at one point takes the verdict of the other.
    pub(super) fn merge(&mut self, other: Report) {
        let rank = |v: &Verdict| match v {
            Verdict::Fail => 3,
            Verdict::Pass => 2,
            Verdict::Unsure => 1,
            Verdict::Skipped(_) => 0,
        };
        // A law may have several rows, and their number may differ between points.
        let mut met: FxHashMap<(String, Law), usize> = FxHashMap::default();
        let mut own: FxHashMap<(String, Law, usize), usize> = FxHashMap::default();
        for (at, row) in self.rows.iter().enumerate() {
            let k = met.entry((row.value.clone(), row.law)).or_default();
            own.insert((row.value.clone(), row.law, *k), at);
            *k += 1;
        }
        met.clear();
        for row in other.rows {
            let k = met.entry((row.value.clone(), row.law)).or_default();
            match own.get(&(row.value.clone(), row.law, *k)) {
                Some(&at) if rank(&row.verdict) > rank(&self.rows[at].verdict) => {
                    self.rows[at] = row.clone()
                }
                Some(_) => {}
                None => self.rows.push(row.clone()),
            }
            *k += 1;
        }
    }
}

impl fmt::Display for LawResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LawResult {
            value,
            law,
            dtype,
            sides,
            error,
            bound,
            estimate,
            verdict,
        } = self;
        let law = dtype.map_or(law.to_string(), |d| format!("{law} in {d}"));
        let values = |f: &mut fmt::Formatter<'_>| {
            write!(
                f,
                "{value:<12} {law:<25} {error:>9.1e} {estimate:>9.1e} {bound:>9.1e}  "
            )
        };
        match verdict {
            Verdict::Pass => values(f).and_then(|()| f.write_str("ok")),
            Verdict::Fail => {
                values(f).and_then(|()| write!(f, "WRONG: {:e} is not {:e}", sides.0, sides.1))
            }
            Verdict::Unsure => {
                values(f).and_then(|()| f.write_str("unsure: not smooth here, or too steep"))
            }
            Verdict::Skipped(why) => write!(f, "{value:<12} {law:<25} {:>31}skipped: {why}", ""),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (wrong, skipped, unsure) = (self.violated(), self.skipped(), self.unsure());
        let verdict = match (wrong, skipped) {
            (0, 0) => "passed",
            (0, _) => "NOT CHECKED",
            _ => "FAILED",
        };
        let holds = self.rows.len() - wrong - skipped - unsure;
        write!(
            f,
            "check of `{}`: {verdict}: {holds} of {} laws hold",
            self.function,
            self.rows.len()
        )?;
        for (n, what) in [
            (wrong, "wrong"),
            (skipped, "not checked"),
            (unsure, "unsure"),
        ] {
            if n > 0 {
                write!(f, ", {n} {what}")?;
            }
        }
        writeln!(f)?;
        if self.rows.is_empty() {
            return writeln!(f, "nothing to differentiate");
        }
        writeln!(
            f,
            "{:<12} {:<25} {:>9} {:>9} {:>9}  verdict",
            "value", "law", "error", "estimate", "bound"
        )?;
        for r in &self.rows {
            writeln!(f, "{r}")?;
        }
        Ok(())
    }
}
