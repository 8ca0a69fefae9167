//! The [`Emit`] implementation of the writer: an operation becomes a line, or is decomposed.

use super::composite;
use super::text::TextEmitter;
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::shape::Sym;
use cotangent_core::transform::Session;
use cotangent_core::{DType, Emit, Error, Loc, Op, Type};

impl Emit for TextEmitter<'_> {
    fn emit(&self, op: Op, x: &[Val]) -> Vals {
        let n = op.results();
        if !x.contains(&Val::POISON) {
            let types = self.types(x);
            let written = op
                .infer(&types)
                .and_then(|y| composite::write_operation(self, &op, x, y));
            match written {
                Ok(y) => return y,
                Err(e) => self.fail(e.at(self.loc())),
            }
        }
        smallvec::smallvec![Val::POISON; n]
    }

    fn ty(&self, v: Val) -> Type {
        self.state
            .borrow()
            .types
            .get(v.index())
            .cloned()
            .unwrap_or_else(|| Type::scalar(DType::F64))
    }

    fn fail(&self, e: Error) {
        self.status.fail(e);
    }

    fn failed(&self) -> bool {
        self.status.failed()
    }

    fn session(&self) -> &Session {
        &self.session
    }

    fn set_loc(&self, loc: Loc) {
        self.status.set_loc(loc);
    }

    fn loc(&self) -> Loc {
        self.status.loc()
    }

    fn fresh_sym(&self, base: &str) -> Sym {
        let mut s = self.state.borrow_mut();
        s.symbols += 1;
        format!("{base}_{}", s.symbols).into()
    }
}
