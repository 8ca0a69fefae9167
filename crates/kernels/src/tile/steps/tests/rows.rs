//! Random steps on rows of elements, in which neighbours have equal, similar and different
//! operations, against the same steps in Rust.

use super::*;

/// A type of elements.
trait Element: TileFloat + Copy + std::fmt::Debug {
    fn of(x: f64) -> Self;
    fn combined(how: usize, x: Self, y: Self) -> Self;
    fn below(self, y: Self) -> bool;
}

macro_rules! element {
    ($t:ty) => {
        impl Element for $t {
            fn of(x: f64) -> $t {
                x as $t
            }
            fn combined(how: usize, x: $t, y: $t) -> $t {
                match how {
                    0 => x + y,
                    1 => x - y,
                    _ => x * y,
                }
            }
            fn below(self, y: $t) -> bool {
                self < y
            }
        }
    };
}
element!(f32);
element!(f64);

fn bytes_of<T>(x: &T) -> &[u8] {
    // SAFETY: elements are floats, without padding.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(x).cast(), size_of::<T>()) }
}

/// The kernels of a type.
struct Kernels {
    combined: [Body; 3],
    less: Body,
}

impl Kernels {
    fn of<T: Element>(isa: Isa) -> Kernels {
        let size = size_of::<T>();
        Kernels {
            combined: [Binary::Add, Binary::Sub, Binary::Mul]
                .map(|f| of(T::binary(f, isa), &[size, size], size)),
            less: of(T::compare(Comparison::Lt), &[size, size], 1),
        }
    }
}

/// The number of elements of the table that is the same in all steps, for rows of `n`.
fn fixed_elements(n: usize) -> usize {
    2 * n + 1
}

/// The second operand of a row.
#[derive(Clone, Copy, PartialEq)]
enum Second {
    Number,
    Constants,
    One,
    Shifted,
    /// Of a table that is the same in all steps.
    Fixed,
}

/// A row of a step: each element is that of an earlier row combined with another value, or the
/// smaller one of both.
struct RandomRow<T> {
    from: [usize; 2],
    second: Second,
    shift: usize,
    stride: usize,
    how: Vec<usize>,
    chosen: bool,
    constants: Vec<T>,
}

impl<T: Element> RandomRow<T> {
    fn random(random: &mut Random, rows: usize, n: usize) -> RandomRow<T> {
        let own = random.below(6);
        let how = |k: usize| match own {
            0 => k % 3,
            1 => usize::from(k > n / 2),
            _ => own % 3,
        };
        let constant = |k: usize| T::of((k % (own + 1)) as f64 * 0.25);
        let seconds = [
            Second::Number,
            Second::Constants,
            Second::One,
            Second::Fixed,
        ];
        RandomRow {
            from: [(); 2].map(|()| random.below(rows)),
            second: seconds
                .get(random.below(6))
                .copied()
                .unwrap_or(Second::Shifted),
            shift: random.below(n),
            stride: random.below(5),
            how: (0..n).map(how).collect(),
            chosen: own == 4,
            constants: (0..n).map(constant).collect(),
        }
    }

    /// The operands of an element.
    fn operands<V: Copy>(
        &self,
        k: usize,
        rows: &[Vec<V>],
        number: V,
        constant: impl FnOnce(T) -> V,
        fixed: impl FnOnce(usize) -> V,
    ) -> [V; 2] {
        let [i, j] = self.from;
        let n = self.how.len();
        let y = match self.second {
            Second::Number => number,
            Second::Constants => constant(self.constants[k]),
            Second::One => rows[j][self.shift],
            Second::Shifted => rows[j][(k + self.shift) % n],
            Second::Fixed => fixed((k * self.stride + self.shift) % fixed_elements(n)),
        };
        [rows[i][k], y]
    }

    /// The operands of the comparison. A number and an element are the same for all elements.
    fn compared<V: Copy>(&self, x: [V; 2], rows: &[Vec<V>]) -> [V; 2] {
        match self.second {
            Second::Number => [x[1], rows[0][0]],
            _ => x,
        }
    }

    fn record(
        &self,
        b: &mut StepsBuilder,
        kernels: &Kernels,
        rows: &[Vec<StepValue>],
        number: StepValue,
    ) -> Vec<StepValue> {
        let mut out = Vec::new();
        for (k, &how) in self.how.iter().enumerate() {
            let size = size_of::<T>();
            let b = std::cell::RefCell::new(&mut *b);
            let constant = |c| b.borrow_mut().constant(bytes_of(&c));
            let fixed = |k| b.borrow_mut().fixed(at(5, (k * size) as i32), size);
            let x = self.operands(k, rows, number, constant, fixed);
            let b = b.into_inner();
            let mut y = b.body(&kernels.combined[how], &x).expect("recorded")[0];
            if self.chosen {
                let holds = b.body(&kernels.less, &self.compared(x, rows));
                y = b.select(holds.expect("recorded")[0], y, x[0]);
            }
            out.push(y);
        }
        out
    }

    fn computed(&self, rows: &[Vec<T>], number: T, table: &[T]) -> Vec<T> {
        let element = |(k, &how): (usize, &usize)| {
            let x = self.operands(k, rows, number, |c| c, |k| table[k]);
            let [p, q] = self.compared(x, rows);
            match self.chosen && !p.below(q) {
                true => x[0],
                false => T::combined(how, x[0], x[1]),
            }
        };
        self.how.iter().enumerate().map(element).collect()
    }
}

const STEPS: usize = 4;

/// A step of rows: `n` carries, and a window of a table that is read and written at a start. Which
/// rows become the carries and the window, and which one needs the scalar fallback if it is large.
struct RowStep<T> {
    n: usize,
    rows: Vec<RandomRow<T>>,
    kept: usize,
    stored: usize,
    rare: usize,
}

/// Carries, the table, and the sum of the last row of each step.
#[derive(Clone)]
struct RowState<T>(Vec<T>, Vec<T>, Vec<T>);

impl<T: Element> RowStep<T> {
    fn random(random: &mut Random) -> RowStep<T> {
        let n = 1 + random.below(37);
        let mut rows = Vec::new();
        for k in 0..2 + random.below(6) {
            rows.push(RandomRow::random(random, 2 + k, n));
        }
        let [kept, stored, rare] = [(); 3].map(|()| random.below(2 + rows.len()));
        RowStep {
            n,
            rows,
            kept,
            stored,
            rare,
        }
    }

    fn limit() -> T {
        T::of(20.0)
    }

    /// The code. Entries: carries, the table, starts, numbers, sums, a table that is the same in
    /// all steps, and copies of its elements.
    fn compiled(&self, isa: Isa) -> Steps {
        let (size, kernels) = (size_of::<T>(), Kernels::of::<T>(isa));
        let place = |entry: u32, k: usize| at(entry, (k * size) as i32);
        let mut b = StepsBuilder::at(isa).expect("a level with code");
        b.constants(vec![5], 6);
        let start = b.fixed(at(2, 0), 4);
        let start = b.start(start, 4, true, self.n as u32);
        let moved = b.moved(None, start, size as i32);
        let number = b.fixed(at(3, 0), size);
        let carries = (0..self.n).map(|k| b.fixed(place(0, k), size)).collect();
        let window = (0..self.n).map(|k| b.load(place(1, k), Some(moved), size));
        let window = window.collect();
        let mut values: Vec<Vec<StepValue>> = vec![carries, window];
        for row in &self.rows {
            values.push(row.record(&mut b, &kernels, &values, number));
        }
        for &x in &values[self.rare] {
            let most = b.constant(bytes_of(&Self::limit()));
            let holds = b.body(&kernels.less, &[x, most]).expect("recorded")[0];
            b.rare_unless(holds);
        }
        // The last row is read one by one, too.
        let last = values[values.len() - 1].iter().copied();
        let sum = last.reduce(|x, y| b.body(&kernels.combined[0], &[x, y]).expect("recorded")[0]);
        for (k, &x) in values[self.stored].iter().enumerate() {
            b.store(place(1, k), Some(moved), size, x);
        }
        b.store(at(4, 0), None, size, sum.expect("a row has elements"));
        for (k, &x) in values[self.kept].iter().enumerate() {
            b.keep(place(0, k), size, x);
        }
        let advances = vec![(2, 4), (3, size as i32), (4, size as i32)];
        let code = b.finish(advances, vec![1], u32::MAX).compiled();
        code.expect("compiled")
    }

    /// The steps in Rust.
    fn run(&self, s: &mut RowState<T>, starts: &[i32], [numbers, fixed]: [&[T]; 2]) -> StepsEnd {
        for step in 0..STEPS {
            let at = starts[step].clamp(0, self.n as i32) as usize;
            let mut all = vec![s.0.clone(), s.1[at..at + self.n].to_vec()];
            for row in &self.rows {
                all.push(row.computed(&all, numbers[step], fixed));
            }
            if !all[self.rare].iter().all(|x| x.below(Self::limit())) {
                return StepsEnd::Rare(STEPS - step);
            }
            let last = all[all.len() - 1].iter().copied();
            s.2[step] = last.reduce(|x, y| T::combined(0, x, y)).expect("elements");
            s.1[at..at + self.n].copy_from_slice(&all[self.stored]);
            s.0.clone_from(&all[self.kept]);
        }
        StepsEnd::Done
    }
}

/// Checks the step of a seed. Returns the size of its copies, in bytes.
fn check<T: Element>(isa: Isa, seed: u64) -> usize {
    let mut random = Random(seed);
    let step = RowStep::<T>::random(&mut random);
    let n = step.n;
    let mut numbers = |n: usize| (0..n).map(|_| T::of(random.float())).collect::<Vec<T>>();
    let (mut own, first, table) = (numbers(STEPS + 1), numbers(n), numbers(2 * n));
    let mut fixed = numbers(fixed_elements(n));
    let mut starts: Vec<i32> = (0..=STEPS as i32)
        .map(|k| (k * 7 + seed as i32) % (n as i32 + 3) - 1)
        .collect();
    let mut got = RowState(first, table, vec![T::of(0.0); STEPS + 1]);
    let mut want = got.clone();
    let want_end = step.run(&mut want, &starts, [&own, &fixed]);
    let code = step.compiled(isa);
    let mut copies = vec![0u64; code.copied_bytes().div_ceil(8)];
    let mut addresses = [
        bytes(&mut got.0),
        bytes(&mut got.1),
        bytes(&mut starts),
        bytes(&mut own),
        bytes(&mut got.2),
        bytes(&mut fixed),
        bytes(&mut copies),
    ];
    // SAFETY: the entries have the elements that were recorded, for one step more than run.
    let end = unsafe {
        code.copy(&addresses);
        code.run(&mut addresses, STEPS)
    };
    let bits = |x: &[T]| x.iter().map(|x| bytes_of(x).to_vec()).collect::<Vec<_>>();
    let all = |s: &RowState<T>| [&s.0, &s.1, &s.2].map(|x| bits(x));
    let name = format!("seed {seed} of {} bytes at {isa:?}", size_of::<T>());
    assert_eq!(end, want_end, "{name}");
    assert_eq!(all(&got), all(&want), "{name}");
    code.copied_bytes()
}

#[test]
fn operations_on_neighbours_are_packed() {
    for isa in levels() {
        let bytes = (0..300).map(|seed| check::<f32>(isa, seed) + check::<f64>(isa, seed));
        assert!(bytes.sum::<usize>() > 0, "no step has copies at {isa:?}");
    }
}
