//! Fourier transforms that are composites: inverses, and transforms over several axes.

use super::entry::{Composite, operands};
use crate::ops::support::{take_axes, take_axis};
use crate::shape::Dim;

pub(super) static FOURIER: &[Composite] = &[
    Composite {
        name: "ifft",
        doc: "The inverse Fourier transform along an axis (the last by default).",
        build: |cx, s, x| {
            let ([x], axis) = (operands(s, x)?, take_axis(s)?);
            Ok(vec![cx.ifft(x, axis)])
        },
    },
    Composite {
        name: "irfft",
        doc: "The inverse of `rfft`: real, with `length` elements along an axis (the last by default).",
        build: |cx, s, x| {
            let ([x], axis, length) = (
                operands(s, x)?,
                take_axis(s)?,
                s.attrs.get::<Dim>("length")?,
            );
            Ok(vec![cx.irfft(x, length, axis)])
        },
    },
    Composite {
        name: "fftn",
        doc: "The Fourier transform over axes (all by default).",
        build: |cx, s, x| {
            let ([x], axes) = (operands(s, x)?, take_axes(s)?);
            Ok(vec![cx.fftn(x, &axes)])
        },
    },
    Composite {
        name: "ifftn",
        doc: "The inverse Fourier transform over axes (all by default).",
        build: |cx, s, x| {
            let ([x], axes) = (operands(s, x)?, take_axes(s)?);
            Ok(vec![cx.ifftn(x, &axes)])
        },
    },
    Composite {
        name: "rfftn",
        doc: "The Fourier transform of a real x over axes (all by default): half of the spectrum along the last of them.",
        build: |cx, s, x| {
            let ([x], axes) = (operands(s, x)?, take_axes(s)?);
            Ok(vec![cx.rfftn(x, &axes)])
        },
    },
    Composite {
        name: "irfftn",
        doc: "The inverse of `rfftn`, with `length` elements along the last of the axes.",
        build: |cx, s, x| {
            let ([x], axes, length) = (
                operands(s, x)?,
                take_axes(s)?,
                s.attrs.get::<Dim>("length")?,
            );
            Ok(vec![cx.irfftn(x, length, &axes)])
        },
    },
];
