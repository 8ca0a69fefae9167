//! Valid and invalid specifications, and the contraction orders that are found.

use cotangent_einsum::{Extents, Label, Network, Path, Spec, Strategy};

fn network(text: &str, shapes: &[&[usize]]) -> Result<(Network, Extents), String> {
    let ranks: Vec<usize> = shapes.iter().map(|s| s.len()).collect();
    let shapes: Vec<Vec<Option<usize>>> = shapes
        .iter()
        .map(|s| s.iter().map(|&n| Some(n)).collect())
        .collect();
    let n = Spec::parse(text)
        .and_then(|s| s.network(&ranks))
        .and_then(|n| n.bind(&shapes));
    n.map_err(|e| e.to_string())
}

fn path(text: &str, shapes: &[&[usize]], strategy: Strategy) -> Path {
    let (n, extents) = network(text, shapes).unwrap();
    n.path(&extents, strategy).unwrap()
}

fn output(text: &str, ranks: &[usize]) -> String {
    Spec::parse(text)
        .unwrap()
        .network(ranks)
        .unwrap()
        .output
        .iter()
        .map(Label::to_string)
        .collect()
}

fn error(text: &str, shapes: &[&[usize]]) -> String {
    network(text, shapes).unwrap_err()
}

/// Checks that every step uses existing, unused tensors, and that one tensor is left.
fn check(p: &Path, operands: usize) {
    let mut used = vec![false; operands + p.steps.len()];
    for (k, s) in p.steps.iter().enumerate() {
        for &x in &s.operands {
            assert!(
                x < operands + k && !std::mem::replace(&mut used[x], true),
                "{p:?}"
            );
        }
    }
    assert_eq!(used.iter().filter(|u| !**u).count(), 1, "{p:?}");
}

#[test]
fn implicit_outputs_are_numpys() {
    assert_eq!(output("ij,jk", &[2, 2]), "ik");
    assert_eq!(output("ba", &[2]), "ab");
    assert_eq!(output("ii", &[2]), "");
    assert_eq!(output("...ij,...jk", &[4, 3]), "<1><0>ik");
    assert_eq!(output("i...", &[3]), "<1><0>i");
    assert_eq!(output(" i j , j -> i ", &[2, 1]), "i");
    assert_eq!(output("...i->...", &[3]), "<1><0>");
    assert_eq!(output(",", &[0, 0]), "");
}

#[test]
fn mistakes_are_named() {
    for (text, shapes, says) in [
        (
            "ij,jk->ii",
            &[&[2, 2][..], &[2, 2]][..],
            "`i` occurs twice in the result",
        ),
        (
            "ij->k",
            &[&[2, 2]],
            "`k` of the result occurs in no operand",
        ),
        ("i1", &[&[2, 2]], "`1` is not a letter"),
        ("i....j", &[&[2, 2]], "ellipsis"),
        ("(ij,jk->ik", &[&[2, 2], &[2, 2]], "a `(` without its `)`"),
        ("ij),jk->ik", &[&[2, 2], &[2, 2]], "a `)` without its `(`"),
        ("(ij)jk->ik", &[&[2, 2], &[2, 2]], "a comma is missing"),
        ("ij,jk", &[&[2, 2]], "names 2 operands, got 1"),
        (
            "ijk",
            &[&[2, 2]],
            "operand #0 is `ijk`, 3 axes, but its rank is 2",
        ),
        ("i...jk", &[&[2, 2]], "at least 3 axes"),
        (
            "ij,jk",
            &[&[2, 3], &[4, 5]],
            "`j` has the extent 3 in operand #0 and 4 in operand #1",
        ),
        (
            "ii",
            &[&[2, 3]],
            "`i` has the extent 2 in operand #0 and 3 in operand #0",
        ),
    ] {
        let e = error(text, shapes);
        assert!(e.contains(says), "{text}: {e}");
    }
}

#[test]
fn extents_of_one_repeat() {
    let (n, extents) = network("...i,...i->...", &[&[5, 1, 3], &[4, 3]]).unwrap();
    assert_eq!(n.repeated, [vec![1], vec![]]);
    assert_eq!(extents[&Label::Dots(0)], Some(4));
    let shapes = [vec![None], vec![Some(1)]];
    let (n, extents) = Spec::parse("i,i")
        .unwrap()
        .network(&[1, 1])
        .unwrap()
        .bind(&shapes)
        .unwrap();
    assert_eq!(
        (n.repeated, extents[&Label::Letter('i')]),
        (vec![vec![], vec![0]], None)
    );
}

#[test]
fn chains_are_optimal() {
    // A textbook chain: 15125 multiplications, as ((A (B C)) ((D E) F)).
    let dims = [30, 35, 15, 5, 10, 20, 25];
    let shapes: Vec<[usize; 2]> = dims.windows(2).map(|w| [w[0], w[1]]).collect();
    let shapes: Vec<&[usize]> = shapes.iter().map(|s| &s[..]).collect();
    let p = path("ab,bc,cd,de,ef,fg->ag", &shapes, Strategy::Exhaustive);
    assert_eq!(p.flops, 2.0 * 15125.0);
    check(&p, 6);
    for strategy in [Strategy::Greedy, Strategy::InOrder, Strategy::Auto] {
        let q = path("ab,bc,cd,de,ef,fg->ag", &shapes, strategy);
        check(&q, 6);
        assert!(q.flops >= p.flops && q.flops < q.naive_flops);
    }
}

#[test]
fn parentheses_decide() {
    let shapes: &[&[usize]] = &[&[2, 9], &[9, 9], &[9, 2]];
    let p = path("ij,(jk,kl)->il", shapes, Strategy::Auto);
    assert_eq!(p.steps[0].operands, [1, 2]);
    let p = path("(ij,jk),kl->il", shapes, Strategy::Auto);
    assert_eq!(p.steps[0].operands, [0, 1]);
    // A label used outside of a group is kept: j is summed over at the end.
    let p = path("(ij,ij),j->i", &[&[2, 3], &[2, 3], &[3]], Strategy::Auto);
    assert_eq!(p.steps[0].labels.len(), 2);
    check(&p, 3);
}

#[test]
fn sums_and_diagonals_come_first() {
    let p = path("iij,k->i", &[&[3, 3, 4], &[5]], Strategy::Auto);
    check(&p, 2);
    assert_eq!(p.steps[0].operands, [0]);
    assert_eq!(p.steps[1].operands, [1]);
    assert_eq!(p.largest, 3.0);
    assert!(path("ij->ij", &[&[2, 2]], Strategy::Auto).steps.is_empty());
}

/// A square lattice with one index per bond.
fn lattice(rows: usize, columns: usize) -> (String, Vec<Vec<usize>>) {
    let mut next = (0..).filter_map(|k| char::from_u32(0x4e00 + k));
    let down: Vec<char> = next.by_ref().take(rows * columns).collect();
    let right: Vec<char> = next.take(rows * columns).collect();
    let mut terms = Vec::new();
    for i in 0..rows {
        for j in 0..columns {
            let at = i * columns + j;
            let mut t = String::new();
            if i > 0 {
                t.push(down[at - columns]);
            }
            if i + 1 < rows {
                t.push(down[at]);
            }
            if j > 0 {
                t.push(right[at - 1]);
            }
            if j + 1 < columns {
                t.push(right[at]);
            }
            terms.push(t);
        }
    }
    let shapes = terms.iter().map(|t| vec![4; t.chars().count()]).collect();
    (terms.join(",") + "->", shapes)
}

#[test]
fn fifty_tensors() {
    // A lattice of 5 by 10: contracted row by row no tensor has more than six indices.
    let (text, shapes) = lattice(5, 10);
    let shapes: Vec<&[usize]> = shapes.iter().map(|s| &s[..]).collect();
    let p = path(&text, &shapes, Strategy::Auto);
    check(&p, 50);
    assert!(p.largest <= 4f64.powi(6), "{p}");
    assert!(p.flops < 1e7, "{p}");
    // A chain with open ends: exhaustive search, as cheap as contraction from one end.
    let letters: Vec<char> = (0..51u32)
        .filter_map(|k| char::from_u32(0x4e00 + k))
        .collect();
    let terms: Vec<String> = letters.windows(2).map(|w| w.iter().collect()).collect();
    let text = format!("{}->{}{}", terms.join(","), letters[0], letters[50]);
    let shapes: Vec<Vec<usize>> = (0..50)
        .map(|k| vec![2 + (k * 7) % 11, 2 + ((k + 1) * 7) % 11])
        .collect();
    let shapes: Vec<&[usize]> = shapes.iter().map(|s| &s[..]).collect();
    let best = path(&text, &shapes, Strategy::Exhaustive);
    check(&best, 50);
    assert_eq!(path(&text, &shapes, Strategy::Auto).flops, best.flops);
    assert!(best.flops < path(&text, &shapes, Strategy::InOrder).flops);
    assert!(best.to_string().lines().count() > 50);
}

#[test]
fn searches_that_take_too_long_say_so() {
    // Every two tensors share an index: 2^24 subsets.
    let n = 24;
    let letter =
        |i: usize, j: usize| char::from_u32(0x4e00 + (i.min(j) * n + i.max(j)) as u32).unwrap();
    let terms: Vec<String> = (0..n)
        .map(|i| (0..n).filter(|&j| j != i).map(|j| letter(i, j)).collect())
        .collect();
    let shapes: Vec<Vec<usize>> = vec![vec![2; n - 1]; n];
    let shapes: Vec<&[usize]> = shapes.iter().map(|s| &s[..]).collect();
    let (net, extents) = network(&(terms.join(",") + "->"), &shapes).unwrap();
    assert!(
        net.path(&extents, Strategy::Exhaustive)
            .unwrap_err()
            .to_string()
            .contains("too long")
    );
    check(&net.path(&extents, Strategy::Auto).unwrap(), n);
}
