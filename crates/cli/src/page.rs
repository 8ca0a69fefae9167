//! One self-contained HTML page about a program: its graph, its derivative, the steps that it is
//! compiled to, and memory over time. It has no script and refers to nothing outside.

use crate::draw::{equations_svg, escape, steps_svg};
use crate::show;
use cotangent::Function;
use cotangent::cpu::{Memory, steps};
use cotangent::text::print_function;
use std::fmt::Write;

const STYLE: &str = "
body { font-family: sans-serif; color: #1d2433; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; line-height: 1.4 }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem; border-bottom: 1px solid #cfd6e1 }
pre { background: #f5f7fa; padding: .75rem; overflow: auto; font-size: .8rem }
.drawing { overflow: auto; border: 1px solid #cfd6e1; max-height: 45rem }
table { border-collapse: collapse; font-size: .85rem; margin-top: 1rem } th, td { padding: .2rem .8rem .2rem 0; text-align: left }
td.number { text-align: right; font-variant-numeric: tabular-nums } summary { cursor: pointer }
.box { display: inline-block; width: .8rem; height: .8rem; border: 1px solid #566073; margin: 0 .3rem 0 .8rem }
";

/// Width of the chart of memory, in pixels, without its labels.
const CHART_WIDTH: f64 = 880.0;
/// Height of the chart of memory, in pixels, without its labels.
const CHART_HEIGHT: f64 = 200.0;

/// The contents of the page.
pub(crate) struct Page<'a> {
    /// The name of the file.
    pub file: &'a str,
    /// The text that `explain` prints.
    pub summary: &'a str,
    pub primal: &'a Function,
    /// The derivative, if there is one.
    pub adjoint: Option<&'a Function>,
    /// Memory of a run of the derivative (of the primal without it), if its extents are known.
    pub memory: Option<Memory>,
}

impl Page<'_> {
    /// The page.
    pub(crate) fn html(&self) -> String {
        let title = format!("@{} of {}", escape(&self.primal.name), escape(self.file));
        let mut out = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
             <style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<pre>{}</pre>\n",
            escape(self.summary)
        );
        let mut section = |heading: &str, body: &str| {
            let _ = write!(out, "<h2>{heading}</h2>\n{body}");
        };
        section("Graph", &graph(self.primal));
        let planned = self.adjoint.unwrap_or(self.primal);
        if let Some(g) = self.adjoint {
            section("Derivative", &graph(g));
        }
        let whose = self.adjoint.map_or("the program", |_| "the derivative");
        section(&format!("Steps of {whose}"), &self.plan(planned));
        section("Memory over time", &self.memory_over_time(planned));
        out.push_str("</body>\n</html>\n");
        out
    }

    /// The drawing and the table of steps.
    fn plan(&self, f: &Function) -> String {
        let mut out = format!(
            "<p>A step runs\n<span class=\"box\" style=\"background:#fff2cc\"></span>one operation or\n\
             <span class=\"box\" style=\"background:#d9ead3\"></span>a fused group. Rows run in order; a row with several operations is one loop over memory.\n\
             The chapter Performance of the book lists what prevents fusion.</p>\n\
             <div class=\"drawing\">{}</div>\n\
             <table>\n<tr><th>step</th><th>operations</th><th>writes</th><th>bytes in use while the step runs</th></tr>\n",
            steps_svg(f)
        );
        for (k, step) in steps(f).iter().enumerate() {
            let names: Vec<&str> = step
                .equations
                .iter()
                .map(|&e| f.eqns()[e].op.name())
                .collect();
            let write = |v: &cotangent::Val| format!("{}: {}", f.show(*v), f.ty(*v));
            let writes: Vec<String> = step.writes.iter().map(write).collect();
            let live = self.memory.as_ref().and_then(|m| m.live.get(k));
            let live = live.map_or(String::new(), |&b| show::bytes(b as f64));
            let _ = writeln!(
                out,
                "<tr><td>{k}</td><td>{}</td><td>{}</td><td class=\"number\">{live}</td></tr>",
                escape(&names.join(" ")),
                escape(&writes.join(", "))
            );
        }
        out + "</table>\n"
    }

    /// The chart of live memory.
    fn memory_over_time(&self, f: &Function) -> String {
        match &self.memory {
            Some(m) if m.peak > 0 => chart(f, m),
            Some(_) => "<p>No step allocates memory.</p>\n".into(),
            None => {
                "<p>Some extents are not known: give arrays with <code>--in</code>.</p>\n".into()
            }
        }
    }
}

/// The text and the drawing of a function.
fn graph(f: &Function) -> String {
    format!(
        "<details><summary>text, {} equations</summary><pre>{}</pre></details>\n<div class=\"drawing\">{}</div>\n",
        f.eqns().len(),
        escape(&print_function(f)),
        equations_svg(f)
    )
}

/// A bar of live bytes for each step. A bar names its step when the pointer is on it.
fn chart(f: &Function, m: &Memory) -> String {
    const LEFT: f64 = 80.0;
    const TOP: f64 = 20.0;
    let bottom = TOP + CHART_HEIGHT;
    let (width, height) = (LEFT + CHART_WIDTH + 20.0, bottom + 40.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n"
    );
    for share in [0.0, 0.5, 1.0] {
        let y = bottom - share * CHART_HEIGHT;
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\" stroke=\"#cfd6e1\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            LEFT + CHART_WIDTH,
            LEFT - 8.0,
            y + 4.0,
            show::bytes(share * m.peak as f64)
        );
    }
    let bar = CHART_WIDTH / m.live.len().max(1) as f64;
    for (k, (&live, step)) in m.live.iter().zip(&steps(f)).enumerate() {
        let tall = live as f64 / m.peak as f64 * CHART_HEIGHT;
        let colour = if m.step == Some(k) {
            "#d9534f"
        } else {
            "#6f9bd1"
        };
        let _ = writeln!(
            out,
            "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{tall:.2}\" fill=\"{colour}\"><title>step {k}: {}, {}</title></rect>",
            LEFT + bar * k as f64,
            bottom - tall,
            (bar - 1.0).max(bar * 0.8),
            escape(&step.label(f)),
            show::bytes(live as f64)
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">steps 0 to {}; the peak is red; arguments are not counted</text>\n</svg>",
        LEFT + CHART_WIDTH / 2.0,
        bottom + 25.0,
        m.live.len().saturating_sub(1)
    );
    out
}
