//! Operators of traced and eager tensors, between tensors and with numbers, by reference and by
//! value.
//!
//! A failed operator returns a tensor that carries the error. So does the sum of an empty iterator.

use crate::operand::NumberOperand;
use crate::ops::{Binary, Unary};
use crate::{EagerTensor, TracedTensor};
use std::iter::Sum;
use std::ops::{
    Add, AddAssign, BitAnd, BitOr, BitXor, Div, DivAssign, Mul, MulAssign, Neg, Not, Rem,
    RemAssign, Shl, Shr, Sub, SubAssign,
};

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

/// Operators of a tensor of type `$T` and a number. A literal without a suffix on the left is an
/// `f64` or an `i32`.
macro_rules! numbers {
    ($T:ident: $($Trait:ident $method:ident),*) => {$(
        impl<N: NumberOperand> $Trait<N> for &$T {
            type Output = $T;
            #[track_caller]
            fn $method(self, c: N) -> $T {
                self.operator_number(Binary::$Trait, c.scalar(), false)
            }
        }

        impl<N: NumberOperand> $Trait<N> for $T {
            type Output = $T;
            #[track_caller]
            fn $method(self, c: N) -> $T {
                self.operator_number(Binary::$Trait, c.scalar(), false)
            }
        }

        numbers! { left $T: $Trait $method f64 }
        numbers! { left $T: $Trait $method i32 }
    )*};
    (left $T:ident: $Trait:ident $method:ident $N:ty) => {
        impl $Trait<&$T> for $N {
            type Output = $T;
            #[track_caller]
            fn $method(self, y: &$T) -> $T {
                y.operator_number(Binary::$Trait, self.scalar(), true)
            }
        }

        impl $Trait<$T> for $N {
            type Output = $T;
            #[track_caller]
            fn $method(self, y: $T) -> $T {
                y.operator_number(Binary::$Trait, self.scalar(), true)
            }
        }
    };
}

/// Operators that assign their result to the left tensor of type `$T`. Other handles of the tensor
/// keep its elements.
macro_rules! assigning {
    ($T:ident: $($Trait:ident $method:ident $op:ident),*) => {$(
        impl $Trait<&$T> for $T {
            #[track_caller]
            fn $method(&mut self, y: &$T) {
                *self = self.operator(Binary::$op, y);
            }
        }

        impl $Trait<$T> for $T {
            #[track_caller]
            fn $method(&mut self, y: $T) {
                *self = self.operator(Binary::$op, &y);
            }
        }

        impl<N: NumberOperand> $Trait<N> for $T {
            #[track_caller]
            fn $method(&mut self, c: N) {
                *self = self.operator_number(Binary::$op, c.scalar(), false);
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

/// Sums of iterators of tensors of type `$T`, added one by one.
macro_rules! sums {
    ($T:ident) => {
        impl Sum for $T {
            #[track_caller]
            fn sum<I: Iterator<Item = $T>>(mut all: I) -> $T {
                match all.next() {
                    Some(first) => all.fold(first, |sum, x| sum + x),
                    None => $T::no_sum(),
                }
            }
        }

        impl<'a> Sum<&'a $T> for $T {
            #[track_caller]
            fn sum<I: Iterator<Item = &'a $T>>(mut all: I) -> $T {
                match all.next() {
                    Some(first) => all.fold(first.clone(), |sum, x| sum + x),
                    None => $T::no_sum(),
                }
            }
        }
    };
}

/// The operators of both types.
macro_rules! operators {
    ($($T:ident)*) => {$(
        binary! { $T: Add add Add, Sub sub Sub, Mul mul Mul, Div div Div, Rem rem Rem,
            BitAnd bitand And, BitOr bitor Or, BitXor bitxor Xor,
            Shl shl ShiftLeft, Shr shr ShiftRightArithmetic }
        numbers! { $T: Add add, Sub sub, Mul mul, Div div, Rem rem }
        assigning! { $T: AddAssign add_assign Add, SubAssign sub_assign Sub,
            MulAssign mul_assign Mul, DivAssign div_assign Div, RemAssign rem_assign Rem }
        unary! { $T: Neg neg, Not not }
        sums! { $T }
    )*};
}

operators! { TracedTensor EagerTensor }
