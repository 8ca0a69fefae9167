//! The order of groups: each after the groups whose values it reads, in the order of their last
//! nests where that leaves a choice.

/// Calls a visitor with the nests that a nest reads.
pub(super) type NestReads<'a> = &'a dyn Fn(u32, &mut dyn FnMut(u32));

/// The groups in order. `groups` are the members of each group, in ascending order.
pub(super) fn ordered(groups: &[&[u32]], group_of: &[u32], reads: NestReads<'_>) -> Vec<u32> {
    let mut out = Vec::with_capacity(groups.len());
    let mut visited = vec![false; groups.len()];
    let mut last: Vec<(u32, u32)> = Vec::with_capacity(groups.len());
    for (g, members) in groups.iter().enumerate() {
        last.extend(members.last().map(|&n| (n, g as u32)));
    }
    last.sort_unstable();
    // A group, and those of its operands that are not visited yet.
    let mut open: Vec<(u32, Vec<u32>)> = Vec::new();
    let operands = |g: u32| {
        let mut all = Vec::new();
        for &n in groups[g as usize] {
            reads(n, &mut |of| {
                let from = group_of[of as usize];
                if from != g {
                    all.push(from);
                }
            });
        }
        // The first one is the last of the vector.
        all.sort_unstable_by(|a, b| b.cmp(a));
        all.dedup();
        all
    };
    for (_, g) in last {
        if std::mem::replace(&mut visited[g as usize], true) {
            continue;
        }
        open.push((g, operands(g)));
        while let Some((g, rest)) = open.last_mut() {
            match rest.pop() {
                Some(of) => {
                    if !std::mem::replace(&mut visited[of as usize], true) {
                        open.push((of, operands(of)));
                    }
                }
                None => {
                    out.push(*g);
                    open.pop();
                }
            }
        }
    }
    out
}
