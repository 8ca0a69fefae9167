//! Operators of traced and eager tensors, between tensors and with numbers, by reference and by
//! value.
//!
//! A failed operator returns a tensor that carries the error.

use crate::ops::{Binary, Unary};
use crate::{EagerTensor, TracedTensor};
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Shl, Shr, Sub};

/// Operators of two tensors of type `$T`.
macro_rules! binary {
    ($T:ident: $($Trait:ident $method:ident $op:ident),*) => {$(
        impl $Trait<&$T> for &$T {
            type Output = $T;
            #[track_caller]
            fn $method(self, y: &$T) -> $T {
                self.operator(Binary::$op, y)
            }
        }

        impl $Trait<$T> for &$T {
            type Output = $T;
            #[track_caller]
            fn $method(self, y: $T) -> $T {
                self.operator(Binary::$op, &y)
            }
        }

        impl $Trait<&$T> for $T {
            type Output = $T;
            #[track_caller]
            fn $method(self, y: &$T) -> $T {
                self.operator(Binary::$op, y)
            }
        }

        impl $Trait<$T> for $T {
            type Output = $T;
            #[track_caller]
            fn $method(self, y: $T) -> $T {
                self.operator(Binary::$op, &y)
            }
        }
    )*};
}

/// Operators of a tensor of type `$T` and a number.
macro_rules! numbers {
    ($T:ident: $($Trait:ident $method:ident),*) => {$(
        impl $Trait<f64> for &$T {
            type Output = $T;
            #[track_caller]
            fn $method(self, c: f64) -> $T {
                self.operator_number(Binary::$Trait, c, false)
            }
        }

        impl $Trait<f64> for $T {
            type Output = $T;
            #[track_caller]
            fn $method(self, c: f64) -> $T {
                self.operator_number(Binary::$Trait, c, false)
            }
        }

        impl $Trait<&$T> for f64 {
            type Output = $T;
            #[track_caller]
            fn $method(self, y: &$T) -> $T {
                y.operator_number(Binary::$Trait, self, true)
            }
        }

        impl $Trait<$T> for f64 {
            type Output = $T;
            #[track_caller]
            fn $method(self, y: $T) -> $T {
                y.operator_number(Binary::$Trait, self, true)
            }
        }
    )*};
}

/// Operators of one tensor of type `$T`.
macro_rules! unary {
    ($T:ident: $($Trait:ident $method:ident),*) => {$(
        impl $Trait for &$T {
            type Output = $T;
            #[track_caller]
            fn $method(self) -> $T {
                self.operator_unary(Unary::$Trait)
            }
        }

        impl $Trait for $T {
            type Output = $T;
            #[track_caller]
            fn $method(self) -> $T {
                self.operator_unary(Unary::$Trait)
            }
        }
    )*};
}

/// The operators of both types.
macro_rules! operators {
    ($($T:ident)*) => {$(
        binary! { $T: Add add Add, Sub sub Sub, Mul mul Mul, Div div Div, Rem rem Rem,
            BitAnd bitand And, BitOr bitor Or, BitXor bitxor Xor,
            Shl shl ShiftLeft, Shr shr ShiftRightArithmetic }
        numbers! { $T: Add add, Sub sub, Mul mul, Div div, Rem rem }
        unary! { $T: Neg neg, Not not }
    )*};
}

operators! { TracedTensor EagerTensor }
