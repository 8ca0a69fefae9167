//! Random numbers against those of JAX 0.10.2: keys and bits exactly, floating-point functions of
//! them to a tolerance.

use cotangent_core::transform::{AdContext, Session};
use cotangent_core::{Array, Builder, DType, Dim, Emit, Type, Val, reference, transform};

/// Results of `f` for the key of seed 42.
fn sample(f: impl FnOnce(&dyn Emit, Val) -> Vec<Val>) -> Vec<Array> {
    let b = Builder::new("sample", Session::default());
    let key = (&b as &dyn Emit).random_key(42);
    let y = f(&b, key);
    reference::run(&b.finish(&y).unwrap(), &[]).unwrap()
}

fn numbers(f: impl FnOnce(&dyn Emit, Val) -> Val) -> Vec<f64> {
    let y = sample(|cx, key| vec![f(cx, key)]).remove(0);
    match y.dtype().is_complex() {
        true => y.to_c128().into_iter().flat_map(|z| [z.re, z.im]).collect(),
        false => y.to_f64(),
    }
}

fn words(x: &Array) -> Vec<u64> {
    match x.wide() {
        cotangent_core::Wide::I(v) => v.into_iter().map(|i| i as u64).collect(),
        other => panic!("{other:?}"),
    }
}

fn dims(v: &[usize]) -> Vec<Dim> {
    v.iter().map(|&d| d.into()).collect()
}

fn close(got: &[f64], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len());
    for (g, w) in got.iter().zip(want) {
        assert!(
            (g - w).abs() <= tolerance * w.abs().max(1e-3),
            "{got:?}, not {want:?}"
        );
    }
}

const KEY: [u32; 2] = [514703087, 305419896];
const SPLIT: [u32; 6] = [
    1832780943, 270669613, 64467757, 2916123636, 2465931498, 255383827,
];
const SPLIT_2_2: [u32; 8] = [
    1832780943, 270669613, 64467757, 2916123636, 2465931498, 255383827, 3134548294, 894150801,
];
const FOLD: [u32; 2] = [2547012911, 1371500959];
const BITS8: [u8; 3] = [162, 217, 249];
const BITS16: [u16; 3] = [5026, 12505, 63993];
const BITS32: [u32; 6] = [
    2098992034, 2919706841, 2646866425, 2409546199, 1935504149, 2516274904,
];
const BITS64: [u64; 3] = [
    7871734211187709741,
    276886910877598708,
    10591095138341673235,
];
const UNIFORM_F32: [f64; 4] = [
    0.48870956897735596,
    0.6797971725463867,
    0.6162714958190918,
    0.5610160827636719,
];
const UNIFORM_F64: [f64; 4] = [
    0.4267275666499091,
    0.015010069515314584,
    0.5741444178995352,
    0.7298188969046309,
];
const UNIFORM_BF16: [f64; 4] = [0.6328125, 0.84375, 0.96875, 0.8359375];
const UNIFORM_F16: [f64; 4] = [0.076171875, 0.1904296875, 0.9755859375, 0.7568359375];
const UNIFORM_RANGE: [f64; 4] = [
    0.9096765518188477,
    2.4383773803710938,
    1.9301719665527344,
    1.488128662109375,
];
const NORMAL_F32: [f64; 4] = [
    -0.02830461598932743,
    0.4671318531036377,
    0.2957029640674591,
    0.15354591608047485,
];
const NORMAL_F64: [f64; 4] = [
    -0.18471174528191162,
    -2.169824560397754,
    0.18693555179382582,
    0.6122653570510959,
];
const NORMAL_C128: [f64; 4] = [
    -0.5093295292642132,
    0.45954304860759587,
    -0.18428781404443714,
    0.08377702715980621,
];
const BERNOULLI: [u8; 8] = [0, 1, 0, 0, 0, 0, 0, 0];
const CATEGORICAL: [i64; 4] = [1, 2, 1, 2];
const PERMUTATION: [i64; 10] = [7, 4, 2, 5, 3, 6, 8, 9, 0, 1];
const PERMUTATION_ROWS: [i64; 10] = [8, 9, 4, 5, 6, 7, 0, 1, 2, 3];
const RANDINT: [i32; 6] = [94, 49, 76, -1, 84, 19];
const RANDINT64: [i64; 4] = [
    679464050633427,
    242604979425688,
    727848944875266,
    106550063512609,
];
const TRUNCATED: [f64; 4] = [
    0.01998452592513169,
    -0.9504476695340623,
    0.32827144083703297,
    0.693751830608632,
];
const EXPONENTIAL: [f64; 4] = [
    0.5563942243855916,
    0.015123860720489336,
    0.8536549993431988,
    1.30866279263241,
];
const GUMBEL: [f64; 4] = [
    0.16062720630382138,
    -1.4348544993307841,
    0.5890136500161952,
    1.1553132453508888,
];
const THREEFRY_5_STATE: [u64; 2] = [81985529216486895, 1];
const THREEFRY_5: [u64; 5] = [2968789339, 3784990900, 188576916, 2901984476, 2862930057];
const THREEFRY_34_STATE: [u64; 2] = [81985529216486895, 4];
const THREEFRY_34: [u64; 12] = [
    2968789339, 3784990900, 188576916, 2901984476, 2862930057, 1798685940, 1973758215, 3554510355,
    902882801, 2396094436, 2083461592, 42261475,
];
const THREEFRY_33_STATE: [u64; 2] = [81985529216486895, 7];
const THREEFRY_33: [u64; 9] = [
    16256412134126395739,
    12463928418108273812,
    7725297290937948297,
    15266505729992108295,
    10291147241650447857,
    181511655089183192,
    1662950970683407293,
    9044622514639930014,
    11834170340226098994,
];
const THREEFRY_S_STATE: [u64; 2] = [81985529216486895, 18446744073709551615];
const THREEFRY_S: [u64; 1] = [2968789339];
const THREEFRY_8_STATE: [u64; 2] = [81985529216486895, 0];
const THREEFRY_8: [u64; 3] = [91, 180, 148];
const PHILOX_5_STATE: [u64; 2] = [81985529216486895, 0];
const PHILOX_5: [u64; 5] = [172511636, 1103493126, 3598856174, 948282324, 1105943027];
const PHILOX_34_STATE: [u64; 2] = [81985529216486895, 1];
const PHILOX_34: [u64; 12] = [
    172511636, 1103493126, 3598856174, 948282324, 1105943027, 812877280, 1535849353, 2724394620,
    1879495268, 3609187550, 989808270, 1085667176,
];
const PHILOX_33_STATE: [u64; 2] = [81985529216486895, 3];
const PHILOX_33: [u64; 9] = [
    4739466887703318932,
    4072841572553732078,
    3491281334367377907,
    11701185795834196873,
    15501342494259860068,
    4662905016250484366,
    11719747591571397905,
    8684573440394515961,
    6100441477895883302,
];
const PHILOX_S_STATE: [u64; 2] = [81985529216486895, 18446744073709551615];
const PHILOX_S: [u64; 1] = [172511636];
const PHILOX_8_STATE: [u64; 2] = [81985529216486895, 18446744073709551615];
const PHILOX_8: [u64; 3] = [148, 6, 238];

#[test]
fn keys() {
    let b = Builder::new("key", Session::default());
    let key = (&b as &dyn Emit).random_key(0x1eadbeef12345678);
    let key = reference::run(&b.finish(&[key]).unwrap(), &[])
        .unwrap()
        .remove(0);
    assert_eq!(key.as_slice::<u32>().unwrap(), KEY);
    let y = sample(|cx, key| {
        let seven = cx.full(&Type::scalar(DType::U32), 7);
        vec![
            cx.random_split(key, &dims(&[3])),
            cx.random_split(key, &dims(&[2, 2])),
            cx.random_fold_in(key, seven),
        ]
    });
    assert_eq!(
        y.iter().map(|y| y.shape().to_vec()).collect::<Vec<_>>(),
        [vec![3, 2], vec![2, 2, 2], vec![2]]
    );
    for (y, want) in y.iter().zip([&SPLIT[..], &SPLIT_2_2, &FOLD]) {
        assert_eq!(y.as_slice::<u32>().unwrap(), want);
    }
}

#[test]
fn bits() {
    let y = sample(|cx, key| {
        let bits = |n: &[usize], dtype| cx.random_bits(key, &dims(n), dtype);
        vec![
            bits(&[3], DType::U8),
            bits(&[3], DType::U16),
            bits(&[2, 3], DType::U32),
            bits(&[3], DType::U64),
        ]
    });
    assert_eq!(y[0].as_slice::<u8>().unwrap(), BITS8);
    assert_eq!(y[1].as_slice::<u16>().unwrap(), BITS16);
    assert_eq!(y[2].as_slice::<u32>().unwrap(), BITS32);
    assert_eq!(y[3].as_slice::<u64>().unwrap(), BITS64);
}

#[test]
fn floats() {
    let unit = |dtype: DType, lo: f64, hi: f64| {
        numbers(|cx, key| {
            let scalar = |c: f64| cx.full(&Type::scalar(dtype), c);
            cx.random_uniform(key, &dims(&[4]), scalar(lo), scalar(hi))
        })
    };
    assert_eq!(unit(DType::F32, 0.0, 1.0), UNIFORM_F32);
    assert_eq!(unit(DType::F64, 0.0, 1.0), UNIFORM_F64);
    assert_eq!(unit(DType::BF16, 0.0, 1.0), UNIFORM_BF16);
    assert_eq!(unit(DType::F16, 0.0, 1.0), UNIFORM_F16);
    assert_eq!(unit(DType::F32, -3.0, 5.0), UNIFORM_RANGE);
    close(
        &numbers(|cx, key| cx.random_normal(key, &dims(&[4]), DType::F32)),
        &NORMAL_F32,
        1e-6,
    );
    close(
        &numbers(|cx, key| cx.random_normal(key, &dims(&[4]), DType::F64)),
        &NORMAL_F64,
        1e-13,
    );
    close(
        &numbers(|cx, key| cx.random_normal(key, &dims(&[2]), DType::C128)),
        &NORMAL_C128,
        1e-13,
    );
    close(
        &numbers(|cx, key| cx.random_exponential(key, &dims(&[4]), DType::F64)),
        &EXPONENTIAL,
        1e-14,
    );
    close(
        &numbers(|cx, key| cx.random_gumbel(key, &dims(&[4]), DType::F64)),
        &GUMBEL,
        1e-13,
    );
    let truncated = numbers(|cx, key| {
        let scalar = |c: f64| cx.full(&Type::scalar(DType::F64), c);
        cx.random_truncated_normal(key, &dims(&[4]), scalar(-1.0), scalar(2.0))
    });
    close(&truncated, &TRUNCATED, 1e-12);
}

#[test]
fn choices() {
    let y = sample(|cx, key| {
        let p = cx.full(&Type::scalar(DType::F64), 0.3);
        let logits = Array::from_vec([4, 3], (0..12).map(|i| i as f32 * 0.1).collect()).unwrap();
        let count = |n: usize| cx.iota(&Type::new(DType::I64, [n]), 0);
        let int = |n: i64, dtype| cx.full(&Type::scalar(dtype), n);
        vec![
            cx.random_bernoulli(key, &dims(&[8]), p),
            cx.random_categorical(key, cx.constant(logits), 1),
            cx.random_permutation(key, count(10), 0),
            cx.random_permutation(key, cx.reshape(count(10), &dims(&[5, 2])), 0),
            cx.random_int(key, &dims(&[6]), int(-5, DType::I32), int(100, DType::I32)),
            cx.random_int(
                key,
                &dims(&[4]),
                int(-5, DType::I64),
                int(1_000_000_000_000_000, DType::I64),
            ),
        ]
    });
    assert_eq!(words(&y[0]), BERNOULLI.map(u64::from));
    assert_eq!(y[1].as_slice::<i64>().unwrap(), CATEGORICAL);
    assert_eq!(y[2].as_slice::<i64>().unwrap(), PERMUTATION);
    assert_eq!(y[3].as_slice::<i64>().unwrap(), PERMUTATION_ROWS);
    assert_eq!(y[4].as_slice::<i32>().unwrap(), RANDINT);
    assert_eq!(y[5].as_slice::<i64>().unwrap(), RANDINT64);
}

/// Philox (Threefry otherwise), shape, type, state afterwards, and bits.
type GeneratorCase<'a> = (bool, &'a [usize], DType, &'a [u64], &'a [u64]);

#[test]
fn generators_of_xla() {
    let cases: [GeneratorCase<'_>; 10] = [
        (false, &[5], DType::U32, &THREEFRY_5_STATE, &THREEFRY_5),
        (false, &[3, 4], DType::U32, &THREEFRY_34_STATE, &THREEFRY_34),
        (false, &[3, 3], DType::U64, &THREEFRY_33_STATE, &THREEFRY_33),
        (false, &[], DType::U32, &THREEFRY_S_STATE, &THREEFRY_S),
        (false, &[3], DType::U8, &THREEFRY_8_STATE, &THREEFRY_8),
        (true, &[5], DType::U32, &PHILOX_5_STATE, &PHILOX_5),
        (true, &[3, 4], DType::U32, &PHILOX_34_STATE, &PHILOX_34),
        (true, &[3, 3], DType::U64, &PHILOX_33_STATE, &PHILOX_33),
        (true, &[], DType::U32, &PHILOX_S_STATE, &PHILOX_S),
        (true, &[3], DType::U8, &PHILOX_8_STATE, &PHILOX_8),
    ];
    for (philox, shape, dtype, state, bits) in cases {
        let y = sample(|cx, _| {
            let start = cx.constant(Array::vector(vec![
                0x0123456789abcdefu64,
                0xfffffffffffffffe,
            ]));
            let (state, bits) = cx.rng_bit_generator(philox, start, shape, dtype);
            vec![state, bits]
        });
        assert_eq!(y[1].shape(), shape);
        assert_eq!(
            (words(&y[0]), words(&y[1])),
            (state.to_vec(), bits.to_vec()),
            "{philox} {shape:?} {dtype}"
        );
    }
}

/// Samples have derivatives in the parameters of their distribution; keys and bits have none.
#[test]
fn pathwise_derivatives() {
    let b = Builder::new("sample", Session::default());
    let cx: &dyn Emit = &b;
    let (key, hi) = (
        b.param(Type::new(DType::U32, [2]), None),
        b.param(Type::scalar(DType::F64), None),
    );
    let y = cx.random_uniform(key, &dims(&[3]), cx.full_like(hi, 0.0), hi);
    let f = b.finish(&[y]).unwrap();
    let jvp = transform::jvp(&AdContext::default(), &f, &[f.params()[1]]).unwrap();
    let args = [
        Array::vector(vec![0u32, 42]),
        Array::scalar(3.0),
        Array::scalar(1.0),
    ];
    let out = reference::run(&jvp, &args).unwrap();
    let (y, dy) = (out[0].to_f64(), out[1].to_f64());
    assert!(
        y.iter()
            .zip(&dy)
            .all(|(y, dy)| (y / 3.0 - dy).abs() < 1e-15 && *dy > 0.0),
        "{y:?} {dy:?}"
    );
}
