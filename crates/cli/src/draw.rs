//! Drawing of the steps of a compiled program, or of the equations of a function: a box per step, a
//! line per operand.
//!
//! A step is placed in the row below the lowest step that it reads. Within a row, steps are in
//! execution order.

use cotangent::cpu::{StepInfo, steps};
use cotangent::graph::{Eqn, Function};
use std::fmt::Write;

/// Width of a box, in pixels.
const BOX_WIDTH: usize = 210;
/// Height of a box, in pixels.
const BOX_HEIGHT: usize = 44;
/// Horizontal distance of boxes, in pixels.
const GAP_X: usize = 24;
/// Vertical distance of boxes, in pixels.
const GAP_Y: usize = 36;

/// Names of the operations of a step, abridged.
pub(crate) fn label(f: &Function, step: &StepInfo) -> String {
    const MAX_SHOWN_OPERATIONS: usize = 4;
    let names: Vec<&str> = step
        .equations
        .iter()
        .map(|&e| f.eqns()[e].op.name())
        .collect();
    match names.len() {
        n if n <= MAX_SHOWN_OPERATIONS + 1 => names.join(" "),
        n => format!(
            "{} .. {} ({n})",
            names[..MAX_SHOWN_OPERATIONS - 1].join(" "),
            names[n - 1]
        ),
    }
}

/// A box of the drawing.
struct Node {
    text: [String; 2],
    reads: Vec<usize>,
    colour: &'static str,
}

/// An SVG of the steps that `f` is compiled to.
pub(crate) fn steps_svg(f: &Function) -> String {
    svg(f, &steps(f))
}

/// An SVG of the equations of `f`.
pub(crate) fn equations_svg(f: &Function) -> String {
    let equation = |(k, e): (usize, &Eqn)| StepInfo {
        equations: vec![k],
        reads: f.operands(e).to_vec(),
        writes: e.results().collect(),
    };
    let each: Vec<StepInfo> = f.eqns().iter().enumerate().map(equation).collect();
    svg(f, &each)
}

fn svg(f: &Function, steps: &[StepInfo]) -> String {
    let mut nodes: Vec<Node> = Vec::new();
    let mut producer = vec![None; f.len()];
    for &p in f.params() {
        producer[p.index()] = Some(nodes.len());
        nodes.push(Node {
            text: [f.show(p), f.ty(p).to_string()],
            reads: Vec::new(),
            colour: "#eef2f7",
        });
    }
    for step in steps {
        let reads = step
            .reads
            .iter()
            .filter_map(|v| producer[v.index()])
            .collect();
        for e in &step.equations {
            f.eqns()[*e]
                .results()
                .for_each(|r| producer[r.index()] = Some(nodes.len()));
        }
        let types: Vec<String> = step.writes.iter().map(|&v| f.ty(v).to_string()).collect();
        let colour = if step.equations.len() > 1 {
            "#d9ead3"
        } else {
            "#fff2cc"
        };
        nodes.push(Node {
            text: [label(f, step), types.join(", ")],
            reads,
            colour,
        });
    }
    let reads = f
        .results()
        .iter()
        .filter_map(|v| producer[v.index()])
        .collect();
    nodes.push(Node {
        text: [format!("results of @{}", f.name), String::new()],
        reads,
        colour: "#eef2f7",
    });
    draw(&nodes)
}

fn draw(nodes: &[Node]) -> String {
    let mut row = vec![0usize; nodes.len()];
    let mut row_lengths: Vec<usize> = Vec::new();
    let mut corner = Vec::with_capacity(nodes.len());
    for (i, n) in nodes.iter().enumerate() {
        row[i] = n.reads.iter().map(|&r| row[r] + 1).max().unwrap_or(0);
        row_lengths.resize(row_lengths.len().max(row[i] + 1), 0);
        corner.push((
            GAP_X + row_lengths[row[i]] * (BOX_WIDTH + GAP_X),
            GAP_Y + row[i] * (BOX_HEIGHT + GAP_Y),
        ));
        row_lengths[row[i]] += 1;
    }
    let width = GAP_X + row_lengths.iter().max().unwrap_or(&1) * (BOX_WIDTH + GAP_X);
    let height = GAP_Y + row_lengths.len() * (BOX_HEIGHT + GAP_Y);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (n, &(x, y)) in nodes.iter().zip(&corner) {
        for &r in &n.reads {
            let (fx, fy) = (corner[r].0 + BOX_WIDTH / 2, corner[r].1 + BOX_HEIGHT);
            let (tx, bend) = (x + BOX_WIDTH / 2, GAP_Y / 2);
            let _ = writeln!(
                out,
                "<path d=\"M{fx},{fy} C{fx},{} {tx},{} {tx},{y}\" fill=\"none\" stroke=\"#8a94a6\"/>",
                fy + bend,
                y - bend
            );
        }
    }
    for (n, &(x, y)) in nodes.iter().zip(&corner) {
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{BOX_WIDTH}\" height=\"{BOX_HEIGHT}\" rx=\"6\" fill=\"{}\" stroke=\"#566073\"/>",
            n.colour
        );
        for (text, down) in n.text.iter().zip([18, 34]) {
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                x + BOX_WIDTH / 2,
                y + down,
                escape(&shorten(text))
            );
        }
    }
    out.push_str("</svg>\n");
    out
}

/// A text, shortened to the width of a box.
fn shorten(text: &str) -> String {
    const MAX_BOX_CHARS: usize = 32;
    match text.char_indices().nth(MAX_BOX_CHARS) {
        Some(_) => format!(
            "{}..",
            text.chars().take(MAX_BOX_CHARS - 2).collect::<String>()
        ),
        None => text.to_owned(),
    }
}

/// Text for HTML and SVG.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
