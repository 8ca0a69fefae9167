//! Paths: a network as a list of steps with one or two operands, and their costs.

use crate::Result;
use crate::order::{OrderProblem, Strategy};
use crate::set::Set;
use crate::spec::{Extents, Label, Member, Network};
use std::fmt;

/// Extent that is assumed for an unknown one.
const ASSUMED_EXTENT: f64 = 64.0;

/// One step: the contraction of one or two operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractionStep {
    /// One or two positions. Operands of the network come first, then results of steps.
    pub operands: Vec<usize>,
    /// Labels of the result, without duplicates. Other labels are summed over. A label that occurs
    /// twice in one operand denotes a diagonal.
    pub labels: Vec<Label>,
}

/// A network as steps. The result of the last step (or the only operand) has the labels of the
/// network's result, in any order.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Steps in execution order.
    pub steps: Vec<ContractionStep>,
    /// Number of multiplications and additions of all steps.
    pub flops: f64,
    /// Number of multiplications and additions of one loop over all indices.
    pub naive_flops: f64,
    /// Number of elements of the largest result of a step.
    pub largest: f64,
    /// One line of text per step.
    report: Vec<String>,
}

/// An intermediate tensor of the contraction.
struct Intermediate {
    position: usize,
    /// Labels, as numbers.
    labels: Set,
    /// Whether a label occurs twice.
    diagonal: bool,
}

/// A path under construction.
struct PathState<'a> {
    network: &'a Network,
    names: Vec<Label>,
    extents: Vec<f64>,
    path: Path,
    /// Labels of every position.
    position_labels: Vec<Vec<Label>>,
}

impl Network {
    /// A cheap path for the network. Groups are contracted in their order, each by the strategy.
    pub fn path(&self, extents: &Extents, strategy: Strategy) -> Result<Path> {
        let names: Vec<Label> = extents.keys().copied().collect();
        let of = |l: &Label| extents[l].map_or(ASSUMED_EXTENT, |n| n as f64);
        let sizes: Vec<f64> = names.iter().map(of).collect();
        let factors = self.inputs.len().max(1) as f64;
        let path = Path {
            steps: Vec::new(),
            flops: 0.0,
            naive_flops: factors * sizes.iter().product::<f64>(),
            largest: 0.0,
            report: Vec::new(),
        };
        let mut state = PathState {
            network: self,
            names,
            extents: sizes,
            path,
            position_labels: self.inputs.clone(),
        };
        state.contract_groups(strategy)?;
        Ok(state.path)
    }
}

impl PathState<'_> {
    fn number(&self, l: &Label) -> usize {
        self.names
            .binary_search(l)
            .expect("every label has an extent")
    }

    fn set(&self, labels: &[Label]) -> Set {
        Set::of(self.names.len(), labels.iter().map(|l| self.number(l)))
    }

    fn contract_groups(&mut self, strategy: Strategy) -> Result<()> {
        let n = self.network.inputs.len();
        let mut operands: Vec<Option<Intermediate>> = (0..n)
            .map(|position| {
                let of = &self.network.inputs[position];
                let diagonal = of.iter().enumerate().any(|(k, l)| of[..k].contains(l));
                Some(Intermediate {
                    position,
                    labels: self.set(of),
                    diagonal,
                })
            })
            .collect();
        let mut groups: Vec<Option<Intermediate>> = Vec::new();
        let output = self.set(&self.network.output);
        for list in &self.network.groups {
            let mut parts: Vec<Intermediate> = list
                .iter()
                .filter_map(|m| match m {
                    Member::Operand(k) => operands[*k].take(),
                    Member::Group(k) => groups[*k].take(),
                })
                .collect();
            let others = operands.iter().chain(&groups).flatten();
            let keep = others.fold(output.clone(), |s, p| s.or(&p.labels));
            self.simplify(&mut parts, &keep);
            groups.push(self.contract(parts, &keep, strategy)?);
        }
        Ok(())
    }

    /// Takes diagonals, and sums over labels that occur in no other operand and not in the result.
    fn simplify(&mut self, parts: &mut [Intermediate], keep: &Set) {
        for k in 0..parts.len() {
            let others = parts.iter().enumerate().filter(|(j, _)| *j != k);
            let needed = others.fold(keep.clone(), |s, (_, p)| s.or(&p.labels));
            let own = &parts[k].labels;
            if parts[k].diagonal || !own.within(&needed) {
                let kept_labels = own.minus(&own.minus(&needed));
                let position = self.step(vec![parts[k].position], &kept_labels, self.size(own));
                parts[k] = Intermediate {
                    position,
                    labels: kept_labels,
                    diagonal: false,
                };
            }
        }
    }

    fn size(&self, labels: &Set) -> f64 {
        labels.iter().map(|l| self.extents[l]).product()
    }

    fn contract(
        &mut self,
        parts: Vec<Intermediate>,
        keep: &Set,
        strategy: Strategy,
    ) -> Result<Option<Intermediate>> {
        let tensors: Vec<Set> = parts.iter().map(|p| p.labels.clone()).collect();
        let pairs = OrderProblem {
            tensors: &tensors,
            keep,
            extents: &self.extents,
        }
        .solve(strategy)?;
        let mut parts: Vec<Option<Intermediate>> = parts.into_iter().map(Some).collect();
        for (a, b) in pairs {
            let (Some(x), Some(y)) = (parts[a].take(), parts[b].take()) else {
                continue;
            };
            let needed = parts
                .iter()
                .flatten()
                .fold(keep.clone(), |s, p| s.or(&p.labels));
            let both = x.labels.or(&y.labels);
            let kept_labels = both.minus(&both.minus(&needed));
            let summed = if kept_labels == both { 1.0 } else { 2.0 };
            let position = self.step(
                vec![x.position, y.position],
                &kept_labels,
                summed * self.size(&both),
            );
            parts.push(Some(Intermediate {
                position,
                labels: kept_labels,
                diagonal: false,
            }));
        }
        Ok(parts.pop().flatten())
    }

    /// Adds a step and returns the position of its result.
    fn step(&mut self, operands: Vec<usize>, kept_labels: &Set, flops: f64) -> usize {
        let labels: Vec<Label> = kept_labels.iter().map(|l| self.names[l]).collect();
        let text = |l: &[Label]| l.iter().map(Label::to_string).collect::<String>();
        let inputs: Vec<String> = operands
            .iter()
            .map(|&k| text(&self.position_labels[k]))
            .collect();
        let size = self.size(kept_labels);
        self.path.flops += flops;
        self.path.largest = self.path.largest.max(size);
        self.path.report.push(format!(
            "{:<24} {flops:>12.3e} {size:>12.3e}",
            inputs.join(",") + "->" + &text(&labels)
        ));
        self.position_labels.push(labels.clone());
        self.path.steps.push(ContractionStep { operands, labels });
        self.position_labels.len() - 1
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<24} {:>12} {:>12}", "step", "operations", "elements")?;
        for line in &self.report {
            writeln!(f, "{line}")?;
        }
        writeln!(
            f,
            "operations {:.3e}, as one loop {:.3e}",
            self.flops, self.naive_flops
        )?;
        write!(f, "largest tensor {:.3e} elements", self.largest)
    }
}
