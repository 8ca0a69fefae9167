//! Declarations, and the text form of types and of programs.

use crate::language::{Key, PairType, TestOp, operations, real, types};
use cotangent_core::text::{Extensions, Program, print_type};
use cotangent_core::transform::AdContext;
use cotangent_core::{
    Array, Attr, Attrs, Code, Cotangent, DType, Op, Opaque, OpaqueType, Result, Type, verify,
};

fn parsed(text: &str) -> Result<Program> {
    let (operations, types) = (operations(), types());
    let extensions = Extensions {
        operations: &operations,
        types: &types,
    };
    Program::parse_extended(text, None, extensions)
}

/// A declaration of any form.
#[derive(Debug)]
struct Any {
    name: &'static str,
    parameters: Attrs,
    cotangent: Cotangent,
    zero: Option<Op>,
    sum: Option<Op>,
}

impl Opaque for Any {
    fn name(&self) -> &str {
        self.name
    }
    fn parameters(&self) -> Attrs {
        self.parameters.clone()
    }
    fn cotangent(&self) -> Cotangent {
        self.cotangent.clone()
    }
    fn zero(&self, _: OpaqueType) -> Option<Op> {
        self.zero.clone()
    }
    fn sum(&self, _: OpaqueType) -> Option<Op> {
        self.sum.clone()
    }
}

fn plain(name: &'static str) -> Any {
    Any {
        name,
        parameters: Attrs::default(),
        cotangent: Cotangent::None,
        zero: None,
        sum: None,
    }
}

#[test]
fn a_type_is_its_name_and_parameters() -> Result<()> {
    let (a, b, c) = (PairType(0), PairType(3), PairType(3));
    let [a, b, c] = [
        OpaqueType::declare(a)?,
        OpaqueType::declare(b)?,
        OpaqueType::declare(c)?,
    ];
    assert_ne!(a, b);
    assert_eq!(b, c);
    assert_eq!(
        (a.text(), b.text()),
        ("!test.pair", "!test.pair<scale = 3>")
    );
    assert_eq!(b.get::<PairType>(), Some(&PairType(3)));
    assert!(b.get::<Key>().is_none());
    let ty = Type::from(b);
    assert_eq!(
        (ty.to_string(), print_type(&ty)),
        (b.to_string(), b.to_string())
    );
    assert!(ty.dtype.has_tangent() && ty.tangent() == ty);
    let parameters = Attrs::default()
        .with("of", b)
        .with("axes", &[1usize, 2][..])
        .with("word", "a \"b\"")
        .with("number", cotangent_core::Scalar::F(0.5))
        .with("flag", true);
    let all = OpaqueType::declare(Any {
        parameters,
        ..plain("test.all")
    })?;
    let text = "!test.all<of = !test.pair<scale = 3>, axes = [1, 2], word = \"a \\\"b\\\"\", \
                number = 0.5, flag = true>";
    assert_eq!(all.text(), text);
    Ok(())
}

#[test]
fn declarations_that_cannot_be_used_are_errors() {
    let refused = |d: Any| {
        let e = OpaqueType::declare(d).unwrap_err();
        (e.code(), e.to_string())
    };
    let with = |name, parameters| Any {
        parameters,
        ..plain(name)
    };
    for name in ["", "pair", "a b.c", ".a", "a.", "tgraph.x", "a..b", "a\n.b"] {
        assert_eq!(refused(plain(name)).0, Code::Invalid, "{name}");
    }
    let array: Attr = Array::scalar(1.0).into();
    let kinds = [Attrs::default().with("x", array), {
        Attrs::default().with("x", 1usize).with("x", 2usize)
    }];
    for parameters in kinds {
        let (code, text) = refused(with("test.parameters", parameters));
        assert!(code == Code::Attribute && text.contains("`x`"), "{text}");
    }
    // Another Rust type has declared it.
    OpaqueType::declare(Key).unwrap();
    assert_eq!(refused(plain("test.key")).0, Code::DuplicateName);
    let own = |name, zero: Option<Op>, sum: Option<Op>| Any {
        cotangent: Cotangent::Own,
        zero,
        sum,
        ..plain(name)
    };
    let (pairs, add) = (
        OpaqueType::declare(PairType(0)).unwrap(),
        Some(TestOp::Add.into()),
    );
    let zero: Option<Op> = Some(TestOp::Zero(pairs).into());
    let text = refused(own("test.none", None, add.clone())).1;
    assert!(
        text.contains("must declare their zero and their sum"),
        "{text}"
    );
    // The zero of another type, and a failed declaration fails again.
    for _ in 0..2 {
        let text = refused(own("test.other", zero.clone(), add.clone())).1;
        assert!(text.contains("the zero of !test.other"), "{text}");
    }
    let to = |name, ty: Type| Any {
        cotangent: Cotangent::Other(ty),
        ..plain(name)
    };
    let int = Type::scalar(DType::I64);
    let key = OpaqueType::declare(Key).unwrap().into();
    let angle = crate::language::angle();
    for (name, ty) in [("test.i", int), ("test.k", key), ("test.a", angle)] {
        let text = refused(to(name, ty)).1;
        assert!(text.contains("the cotangents of !test."), "{text}");
    }
    let text = refused(Any {
        zero,
        ..to("test.z", real())
    });
    assert!(
        text.1.contains("its cotangents have another type"),
        "{}",
        text.1
    );
}

const TEXT: &str = "\
tgraph.module @m {
  %p = tgraph.arg : !test.pair<scale = 2>
  %a = tgraph.arg : !test.angle
  %c = tgraph.arg : i1
  %e = tgraph.test.exp %p : !test.pair<scale = 2>
  %z = tgraph.test.zero {type = !test.pair<scale = 2>} : !test.pair<scale = 2>
  %s = tgraph.cond %c, %e, %z then(%0: !test.pair<scale = 2>, %1: !test.pair<scale = 2>) {
    tgraph.return %0 : !test.pair<scale = 2>
  } else(%0: !test.pair<scale = 2>, %1: !test.pair<scale = 2>) {
    tgraph.return %1 : !test.pair<scale = 2>
  } : !test.pair<scale = 2>
  %d = tgraph.test.dot %s, %p : f64
  %x = tgraph.test.cosine %a : f64
  %y = tgraph.add %d, %x : f64
  tgraph.return %y : f64
}
";

#[test]
fn text_prints_and_parses_types_and_derivatives() -> Result<()> {
    let program = parsed(TEXT)?;
    assert_eq!(program.to_string(), TEXT);
    let directive = format!("{TEXT}\ntgraph.adjoint @m wrt(%p, %a) -> @g\n");
    let derived = parsed(&directive)?.derive(&AdContext::default())?;
    let g = derived.module("g").unwrap();
    verify(g)?;
    let types = [OpaqueType::declare(PairType(2))?.into(), real()];
    assert_eq!(g.result_types(), types);
    let text = derived.to_string();
    assert_eq!(parsed(&text)?.to_string(), text);
    Ok(())
}

#[test]
fn texts_with_wrong_types_are_errors() {
    let arg =
        |ty: &str| format!("tgraph.module @m {{\n  %p = tgraph.arg : {ty}\n  tgraph.return %p\n}}");
    for (ty, message) in [
        ("!test.pairs", "did you mean `!test.pair`?"),
        ("!", "the name of an opaque type"),
        ("!test.pair<scale = 2", "`>` or `,`"),
        ("!test.pair<scale = 2.5>", "must be an integer"),
        ("!test.pair<size = 2>", "has no attribute `size`"),
        (
            "tensor<2x!test.pair>",
            "an array cannot have elements of type !test.pair",
        ),
    ] {
        let e = parsed(&arg(ty)).err().unwrap_or_else(|| panic!("{ty}"));
        assert!(e.to_string().contains(message), "{ty}: {e}");
    }
    let e = Program::parse(&arg("!test.pair"), None).err().unwrap();
    assert_eq!(e.code(), Code::UnknownDType);
    assert!(e.to_string().contains("parse_extended"), "{e}");
    let nested = "!test.pair<a = ".repeat(200);
    assert_eq!(parsed(&arg(&nested)).err().unwrap().code(), Code::Limit);
}
