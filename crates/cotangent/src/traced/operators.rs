//! `+ - * / -x` on traced tensors and numbers, by reference and by value.

use super::TracedTensor;
use super::record::record_one;
use crate::here::here;
use std::ops::{Add, Div, Mul, Neg, Sub};

macro_rules! operators {
    ($($trait:ident $method:ident),*) => { $(
        impl $trait<&TracedTensor> for &TracedTensor {
            type Output = TracedTensor;
            #[track_caller]
            fn $method(self, y: &TracedTensor) -> TracedTensor {
                TracedTensor::$method(self, y)
            }
        }

        impl $trait<TracedTensor> for &TracedTensor {
            type Output = TracedTensor;
            #[track_caller]
            fn $method(self, y: TracedTensor) -> TracedTensor {
                TracedTensor::$method(self, &y)
            }
        }

        impl $trait<&TracedTensor> for TracedTensor {
            type Output = TracedTensor;
            #[track_caller]
            fn $method(self, y: &TracedTensor) -> TracedTensor {
                TracedTensor::$method(&self, y)
            }
        }

        impl $trait<TracedTensor> for TracedTensor {
            type Output = TracedTensor;
            #[track_caller]
            fn $method(self, y: TracedTensor) -> TracedTensor {
                TracedTensor::$method(&self, &y)
            }
        }

        impl $trait<f64> for &TracedTensor {
            type Output = TracedTensor;
            #[track_caller]
            fn $method(self, y: f64) -> TracedTensor {
                record_one(here(), &[self], |cx, x| cx.$method(x[0], cx.number_for(stringify!($method), x[0], y)))
            }
        }

        impl $trait<f64> for TracedTensor {
            type Output = TracedTensor;
            #[track_caller]
            fn $method(self, y: f64) -> TracedTensor {
                $trait::$method(&self, y)
            }
        }

        impl $trait<&TracedTensor> for f64 {
            type Output = TracedTensor;
            #[track_caller]
            fn $method(self, y: &TracedTensor) -> TracedTensor {
                record_one(here(), &[y], |cx, x| cx.$method(cx.number_for(stringify!($method), x[0], self), x[0]))
            }
        }

        impl $trait<TracedTensor> for f64 {
            type Output = TracedTensor;
            #[track_caller]
            fn $method(self, y: TracedTensor) -> TracedTensor {
                $trait::$method(self, &y)
            }
        }
    )* };
}

operators!(Add add, Sub sub, Mul mul, Div div);

impl Neg for &TracedTensor {
    type Output = TracedTensor;
    #[track_caller]
    fn neg(self) -> TracedTensor {
        TracedTensor::neg(self)
    }
}

impl Neg for TracedTensor {
    type Output = TracedTensor;
    #[track_caller]
    fn neg(self) -> TracedTensor {
        TracedTensor::neg(&self)
    }
}
