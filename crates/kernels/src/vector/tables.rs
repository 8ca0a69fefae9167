//! The constants of the elementary functions, for each float.
//!
//! Polynomials interpolate at Chebyshev nodes. Coefficients are computed with 50 digits and
//! rounded; the errors are below 0.1 units in the last place of the function. A number with several
//! parts is an unevaluated sum in which each part is the nearest float to the remainder.

// A constant is the nearest float to a mathematical constant, and may differ from the constant of
// the standard library.
#![allow(clippy::approx_constant, clippy::excessive_precision)]

/// Constants of a float type for the functions of [`math`](super::math).
pub(crate) trait Tables: Sized + 'static {
    /// 0
    const ZERO: Self;
    /// The sign bit.
    const SIGN: Self;
    /// All bits but the sign.
    const MAGNITUDE: Self;
    /// ∞
    const INFINITY: Self;
    /// -∞
    const MINUS_INFINITY: Self;
    /// NaN
    const NAN: Self;
    /// The least normal number.
    const MIN_NORMAL: Self;
    /// A power of two that makes subnormal numbers normal.
    const SCALE_UP: Self;
    /// The exponent of [`Tables::SCALE_UP`].
    const SCALED_BY: Self;
    /// The sum with a small integer has that integer, plus the bias of the exponent, in its lowest
    /// bits.
    const TO_EXPONENT: Self;
    /// The difference of the bits of 1 and of √½.
    const ONE_MINUS_SQRT_HALF: Self;
    /// Bits that turn the bits of a small integer into a float: that integer plus this number.
    const INTEGER: Self;
    /// The number in the previous constant plus the bias of the exponent.
    const INTEGER_BIAS: Self;
    /// 1 / ln 2.
    const LOG2E: [Self; 2];
    /// ln 2.
    const LN2: [Self; 2];
    /// -ln 2.
    const MINUS_LN2: [Self; 2];
    /// ln 2 in two parts. The first has so few digits that its product with an exponent is exact.
    const LN2_SHORT: [Self; 2];
    /// Bounds of the argument: below the first `e^x` is 0, above the second it is ∞.
    const EXP_RANGE: (Self, Self);
    /// Bounds of the argument: below the first `2^x` is 0, above the second it is ∞.
    const EXP2_RANGE: (Self, Self);
    /// Bounds of the argument: below the first `e^x - 1` is -1, above the second `e^x / 2` is ∞.
    const EXPM1_RANGE: (Self, Self);
    /// Least argument for which tanh rounds to 1.
    const TANH_ONE: Self;
    /// 2/π
    const TWO_OVER_PI: Self;
    /// -π/2.
    const MINUS_HALF_PI: [Self; 3];
    /// π/2.
    const HALF_PI: [Self; 2];
    /// π.
    const PI: [Self; 2];
    /// Bound below which `sin x` and `tan x` round to `x`.
    const TINY: Self;
    /// Maximum argument for which three parts of π are sufficient.
    const ANGLE_MAX: Self;
    /// atan of ½, 1 and 1½.
    const ATAN_AT: [[Self; 2]; 3];
    /// 2/√π.
    const TWO_OVER_ROOT_PI: [Self; 2];
    /// Least argument for which erfc rounds to 0.
    const ERFC_ZERO: Self;
    /// `a` of the variable `(x - a) / (x + a)` of [`Tables::ERFC`].
    const ERFC_AT: f64;
    /// 2/3.
    const TWO_THIRDS: [Self; 2];
    /// `(e^r - 1 - r) / r²` for `|r| <= ln 2 / 2`.
    const EXP: &'static [Self];
    /// `(log((1+s)/(1-s)) - 2s) / s³` in `s²`, for `(1+s)/(1-s)` in `[√½, √2]`.
    const LOG: &'static [Self];
    /// `(sin r - r) / r³` in `r²`, `|r| <= π/4`.
    const SIN: &'static [Self];
    /// `(cos r - 1 + r²/2) / r⁴` in `r²`, `|r| <= π/4`.
    const COS: &'static [Self];
    /// `(erf x / x - 2/√π) / x²` in `x²`, `|x| <= 1`.
    const ERF: &'static [Self];
    /// `(x + a) e^(x²) erfc x` in `(x - a) / (x + a)`, for `x` between 0.45 and the least argument
    /// with erfc 0.
    const ERFC: &'static [Self];
    /// The remainder of the value at `a` after its nearest float.
    const ERFC_LOW: Self;
    /// `(atan t - t) / t³` in `t²`, `|t| <= 7/16`.
    const ATAN: &'static [Self];
    /// `(asin x - x) / x³` in `x²`, `|x| <= 1/2`.
    const ASIN: &'static [Self];
    /// `x^-⅓` in `x - 1`, for `x` in `[√½, √2]`, with low precision.
    const ROOT: &'static [Self];
    /// `erf⁻¹ x / x` in `w = -log(1 - x²)`, which is at most 5.
    const ERF_INV_NEAR: &'static [Self];
    /// `erf⁻¹ x / x` for larger `w`, by intervals of `√w`. Each has its start, a center and a
    /// polynomial in the distance from the center. All polynomials have the same number of
    /// coefficients.
    const ERF_INV_FAR: &'static [(Self, Self, &'static [Self])];
}

impl Tables for f32 {
    const ZERO: f32 = 0.0;
    const SIGN: f32 = -0.0;
    const MAGNITUDE: f32 = f32::from_bits(!(1 << 31));
    const INFINITY: f32 = f32::INFINITY;
    const MINUS_INFINITY: f32 = f32::NEG_INFINITY;
    const NAN: f32 = f32::NAN;
    const MIN_NORMAL: f32 = f32::MIN_POSITIVE;
    const SCALE_UP: f32 = 33554432.0;
    const SCALED_BY: f32 = 25.0;
    const TO_EXPONENT: f32 = 12582912.0 + 127.0;
    const ONE_MINUS_SQRT_HALF: f32 = f32::from_bits(0x3f80_0000 - 0x3f35_04f3);
    const INTEGER: f32 = 8388608.0;
    const INTEGER_BIAS: f32 = 8388608.0 + 127.0;
    const LOG2E: [f32; 2] = [1.442695, 1.925963e-8];
    const LN2: [f32; 2] = [0.6931472, -1.9046542e-9];
    const MINUS_LN2: [f32; 2] = [-0.6931472, 1.9046542e-9];
    const LN2_SHORT: [f32; 2] = [0.693115234375, 3.1946183e-5];
    const EXP_RANGE: (f32, f32) = (-104.5, 89.0);
    const EXP2_RANGE: (f32, f32) = (-160.0, 135.0);
    const EXPM1_RANGE: (f32, f32) = (-18.0, 89.6);
    const TANH_ONE: f32 = 9.5;
    const TWO_OVER_PI: f32 = 0.63661975;
    const MINUS_HALF_PI: [f32; 3] = [-1.5707964, 4.371139e-8, 1.7151245e-15];
    const HALF_PI: [f32; 2] = [1.5707964, -4.371139e-8];
    const PI: [f32; 2] = [3.1415927, -8.742278e-8];
    const TINY: f32 = 1e-4;
    const ANGLE_MAX: f32 = 8192.0;
    const ATAN_AT: [[f32; 2]; 3] = [
        [0.4636476, 5.0121587e-9],
        [0.78539819, -2.1855694e-8],
        [0.98279375, -2.5131424e-8],
    ];
    const TWO_OVER_ROOT_PI: [f32; 2] = [1.1283792, -5.8635383e-8];
    const ERFC_ZERO: f32 = 10.5;
    const ERFC_AT: f64 = 3.0;
    const TWO_THIRDS: [f32; 2] = [0.6666667, -1.9868216e-8];
    const EXP: &[f32] = &[
        0.5,
        0.16666667,
        0.041666456,
        0.0083333105,
        0.0013934541,
        0.0001989198,
    ];
    const LOG: &[f32] = &[0.6666667, 0.4000013, 0.2854997, 0.23353428];
    const SIN: &[f32] = &[-0.16666667, 0.008333332, -0.0001983999, 2.7237577e-06];
    const COS: &[f32] = &[0.041666668, -0.0013888888, 2.480052e-05, -2.7290653e-07];
    const ERF: &[f32] = &[
        -0.37612638,
        0.11283782,
        -0.02686543,
        0.0052210316,
        -0.00084840803,
        0.00011265959,
        -9.667045e-06,
    ];
    const ERFC: &[f32] = &[
        1.0740069,
        -0.8833945,
        0.5902283,
        -0.3104673,
        0.11952888,
        -0.026826529,
        -0.001221697,
        0.0030282277,
        -0.00051552866,
        -0.00025502202,
        6.0644736e-05,
    ];
    const ERFC_LOW: f32 = -8.0041286e-9;
    const ATAN: &[f32] = &[
        -0.33333334,
        0.19999962,
        -0.14283377,
        0.11057851,
        -0.085296124,
        0.048164967,
    ];
    const ASIN: &[f32] = &[
        0.16666666,
        0.075000964,
        0.044598572,
        0.03111137,
        0.01709383,
        0.03378981,
    ];
    const ROOT: &[f32] = &[0.9998066, -0.33499816, 0.23687248, -0.15440032];
    const ERF_INV_NEAR: &[f32] = &[
        0.88622695,
        0.23201348,
        0.0115509005,
        -0.0023400271,
        -0.0001200257,
        0.000038981638,
        6.5314307e-6,
        -2.6965336e-6,
        3.4401015e-7,
        -2.0418842e-8,
        4.6719323e-10,
    ];
    const ERF_INV_FAR: &[(Self, Self, &[Self])] = &[(
        2.236068,
        2.5,
        &[
            2.3359454,
            0.9822729,
            0.035190474,
            -0.031153945,
            0.018690944,
            -0.0052214693,
            -0.0018331349,
            0.0023668346,
            -0.00090151455,
            0.00012924176,
        ],
    )];
}

impl Tables for f64 {
    const ZERO: f64 = 0.0;
    const SIGN: f64 = -0.0;
    const MAGNITUDE: f64 = f64::from_bits(!(1 << 63));
    const INFINITY: f64 = f64::INFINITY;
    const MINUS_INFINITY: f64 = f64::NEG_INFINITY;
    const NAN: f64 = f64::NAN;
    const MIN_NORMAL: f64 = f64::MIN_POSITIVE;
    const SCALE_UP: f64 = 18014398509481984.0;
    const SCALED_BY: f64 = 54.0;
    const TO_EXPONENT: f64 = 6755399441055744.0 + 1023.0;
    const ONE_MINUS_SQRT_HALF: f64 = f64::from_bits(0x3ff0_0000_0000_0000 - 0x3fe6_a09e_667f_3bcd);
    const INTEGER: f64 = 4503599627370496.0;
    const INTEGER_BIAS: f64 = 4503599627370496.0 + 1023.0;
    const LOG2E: [f64; 2] = [1.4426950408889634, 2.0355273740931033e-17];
    const LN2: [f64; 2] = [0.6931471805599453, 2.3190468138462996e-17];
    const MINUS_LN2: [f64; 2] = [-0.6931471805599453, -2.3190468138462996e-17];
    const LN2_SHORT: [f64; 2] = [0.693147180559663, 2.8235290563031577e-13];
    const EXP_RANGE: (f64, f64) = (-746.0, 710.0);
    const EXP2_RANGE: (f64, f64) = (-1080.0, 1030.0);
    const EXPM1_RANGE: (f64, f64) = (-40.0, 710.8);
    const TANH_ONE: f64 = 20.0;
    const TWO_OVER_PI: f64 = 0.6366197723675814;
    const MINUS_HALF_PI: [f64; 3] = [
        -1.5707963267948966,
        -6.123233995736766e-17,
        1.4973849048591698e-33,
    ];
    const HALF_PI: [f64; 2] = [1.5707963267948966, 6.123233995736766e-17];
    const PI: [f64; 2] = [3.141592653589793, 1.2246467991473532e-16];
    const TINY: f64 = 1e-8;
    const ANGLE_MAX: f64 = 1048576.0;
    const ATAN_AT: [[f64; 2]; 3] = [
        [0.4636476090008061, 2.2698777452961687e-17],
        [0.7853981633974483, 3.061616997868383e-17],
        [0.982793723247329, 1.3903311031230998e-17],
    ];
    const TWO_OVER_ROOT_PI: [f64; 2] = [1.1283791670955126, 1.533545961316588e-17];
    const ERFC_ZERO: f64 = 27.5;
    const ERFC_AT: f64 = 4.0;
    const TWO_THIRDS: [f64; 2] = [0.6666666666666666, 3.700743415417188e-17];
    const EXP: &[f64] = &[
        0.5,
        0.1666666666666667,
        0.04166666666666667,
        0.008333333333325544,
        0.0013888888888883327,
        0.00019841269876864356,
        2.4801587327007187e-05,
        2.755725283351691e-06,
        2.75572718102198e-07,
        2.5106274733573296e-08,
        2.0915442297780116e-09,
    ];
    const LOG: &[f64] = &[
        0.6666666666666666,
        0.40000000000001007,
        0.2857142857072325,
        0.22222222409750114,
        0.18181793732111753,
        0.15386342449645143,
        0.13266048812203002,
        0.131148348695975,
    ];
    const SIN: &[f64] = &[
        -0.16666666666666666,
        0.008333333333333331,
        -0.0001984126984126402,
        2.7557319218542833e-06,
        -2.5052105961377e-08,
        1.605848950955874e-10,
        -7.584263996034166e-13,
    ];
    const COS: &[f64] = &[
        0.041666666666666664,
        -0.0013888888888888887,
        2.4801587301584066e-05,
        -2.755731922096008e-07,
        2.087675564036913e-09,
        -1.1470437475266499e-11,
        4.7445191096480046e-14,
    ];
    const ERF: &[f64] = &[
        -0.37612638903183754,
        0.1128379167095512,
        -0.02686617064512984,
        0.0052239776254232985,
        -0.000854832702193483,
        0.00012055332902888736,
        -1.4925647567519332e-05,
        1.6462045441468418e-06,
        -1.6364642158167616e-07,
        1.4792401209404813e-08,
        -1.216456005728345e-09,
        8.709045129053106e-11,
        -4.230945824295338e-12,
    ];
    const ERFC: &[f64] = &[
        1.095995661000491,
        -0.976548729080882,
        0.7732087022652371,
        -0.5408538313132362,
        0.33085158787800784,
        -0.17401093723988606,
        0.07638151490949366,
        -0.02637005334128358,
        0.006112055652350127,
        -0.000280958855403154,
        -0.00045505265204502947,
        0.00017681275600601358,
        -3.6353535196778674e-06,
        -1.886064698085194e-05,
        4.695078206410991e-06,
        1.4236134852464628e-06,
        -8.477774011901504e-07,
        -7.466534551675101e-08,
        1.265296872246248e-07,
        1.578743312725121e-10,
        -1.7516348297943007e-08,
        3.467503335619652e-10,
        1.762420412954001e-09,
        4.4771114563046153e-11,
    ];
    const ERFC_LOW: f64 = 5.757254511326975e-17;
    const ATAN: &[f64] = &[
        -0.3333333333333333,
        0.19999999999999393,
        -0.14285714285563098,
        0.11111111096321562,
        -0.0909090834119986,
        0.0769228518226094,
        -0.06666235934309478,
        0.05876884832611901,
        -0.0521627356347991,
        0.044906011485620664,
        -0.03308996909582452,
        0.014735330485630437,
    ];
    const ASIN: &[f64] = &[
        0.16666666666666666,
        0.07500000000000125,
        0.0446428571425344,
        0.03038194447718173,
        0.022372157363072055,
        0.017352818864697632,
        0.013963737065607995,
        0.01156698944442246,
        0.009617383556655952,
        0.009345251651161767,
        0.0029452290980146465,
        0.01980325795035846,
        -0.01960247019450132,
        0.029843065460634383,
    ];
    const ROOT: &[f64] = &[
        1.0000029025916812,
        -0.33325182904340656,
        0.22169688854286798,
        -0.17618293832118667,
        0.15936429637730595,
        -0.10484262703707782,
    ];
    const ERF_INV_NEAR: &[f64] = &[
        0.886226925452758,
        0.23201366653465447,
        0.011549342038271269,
        -0.0023351016416132786,
        -0.00012804329426957493,
        4.6611440619793335e-05,
        2.0199875410115092e-06,
        -1.0125499088838222e-06,
        -3.7305538432280765e-08,
        2.2810717376713785e-08,
        7.328493332230435e-10,
        -5.034243614405025e-10,
        -3.19816551203337e-11,
        2.163123461334697e-11,
        -4.024889366473407e-12,
        1.3241519030404648e-12,
        -4.720191835482685e-13,
        1.0889621576168297e-13,
        -1.6256824781182754e-14,
        1.6090319045571103e-15,
        -1.0350553716829025e-16,
        3.960001804019825e-18,
        -6.890747263782666e-20,
    ];
    const ERF_INV_FAR: &[(Self, Self, &[Self])] = &[
        (
            2.23606797749979,
            2.75,
            &[
                2.583293808458299,
                0.9950856902414802,
                0.01795395985116558,
                -0.016017298397167114,
                0.011501660642556156,
                -0.005623246667179933,
                0.0009567609500959327,
                0.0009185021430041876,
                -0.0007694550254433377,
                0.00015709317959590512,
                0.00012011924182388102,
                -9.554751651355817e-05,
                1.4610021900958029e-05,
                1.6369499731416247e-05,
                -1.08992623705046e-05,
                1.708859617988538e-07,
                2.394034567587814e-06,
            ],
        ),
        (
            3.2,
            3.75,
            &[
                3.5875041872852242,
                1.0086776396099646,
                0.002054444639929362,
                -0.0012866869044454784,
                0.0005446400148591819,
                -0.0002655766363169744,
                0.00015953582839613225,
                -9.572786869524059e-05,
                4.729760154916864e-05,
                -1.603783105169964e-05,
                1.5636096237700436e-06,
                2.144338424661146e-06,
                -1.6165190796780168e-06,
                5.66028469931882e-07,
                -3.962826028675539e-08,
                -7.732880518383586e-08,
                3.7950103638934504e-08,
            ],
        ),
        (
            4.3,
            5.125,
            &[
                4.9761913900163,
                1.0102562759886626,
                -0.00021259950369961408,
                -0.00017993907258188993,
                6.46907577721295e-05,
                -1.6589895224389644e-05,
                3.747577861522262e-06,
                -7.96238984496514e-07,
                1.6935423857151162e-07,
                -4.1555716851374217e-08,
                1.448402855166383e-08,
                -6.973130268939104e-09,
                3.632141341785264e-09,
                -1.7670986169123625e-09,
                7.588274135694595e-10,
                -2.5351741707155466e-10,
                4.546949762933443e-11,
            ],
        ),
    ];
}
