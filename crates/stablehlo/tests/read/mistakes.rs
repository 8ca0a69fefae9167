//! Errors in texts, and unsupported operations, are reported with their position.

use super::*;
use cotangent_core::Loc;

#[test]
fn what_is_not_supported_is_named_where_it_is_reached() {
    let text = |op: &str| {
        format!(
            "module {{
  func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {{
    %0 = call @f(%x) : (tensor<2xf64>) -> tensor<2xf64>
    return %0 : tensor<2xf64>
  }}
  func.func private @f(%x: tensor<2xf64>) -> tensor<2xf64> {{
    %0 = {op} : (tensor<2xf64>) -> tensor<2xf64>
    return %0 : tensor<2xf64>
  }}
}}"
        )
    };
    for (op, name) in [
        ("stablehlo.frobnicate %x, depth = 3", "stablehlo.frobnicate"),
        (
            "stablehlo.custom_call @some_library(%x) {api_version = 4 : i32}",
            "@some_library",
        ),
        ("mine.op %x <@a, [1]> {k}", "mine.op"),
    ] {
        let e = refused(&text(op));
        assert_eq!(
            (e.code(), e.loc()),
            (Code::UnknownOperation, Loc::Text(7, 5)),
            "{e}"
        );
        assert!(e.message().contains(name), "{e}");
    }
    // An unreachable function causes no error until it is requested.
    let unused = text("stablehlo.frobnicate %x").replace("call @f(%x)", "stablehlo.sine %x");
    let module = read(&unused, None).unwrap();
    assert_eq!(
        module.function("f").unwrap_err().code(),
        Code::UnknownOperation
    );
    assert_eq!(module.function("g").unwrap_err().code(), Code::UnknownName);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn mistakes_carry_their_place() {
    let line =
        |body: &str| format!("func.func @main(%x: tensor<2xf64>) -> tensor<2xf64> {{\n{body}\n}}");
    let done = "return %x : tensor<2xf64>";
    for (text, code, at) in [
        (
            line(&format!("%0 = stablehlo.sine %y : tensor<2xf64>\n{done}")),
            Code::UnknownName,
            (2, 21),
        ),
        (
            line(&format!("%x = stablehlo.sine %x : tensor<2xf64>\n{done}")),
            Code::DuplicateName,
            (2, 1),
        ),
        (
            line(&format!("%0 = stablehlo.sine %x : tensor<3xf64>\n{done}")),
            Code::ShapeMismatch,
            (2, 1),
        ),
        (
            line(&format!("%0 = stablehlo.add %x : tensor<2xf64>\n{done}")),
            Code::Arity,
            (2, 1),
        ),
        (
            line(&format!(
                "%0 = stablehlo.sine %x : tensor<2xf8E4M3FN>\n{done}"
            )),
            Code::ShapeMismatch,
            (2, 1),
        ),
        (
            line(&format!(
                "%0 = stablehlo.sine %x : tensor<2xf80>\n%1 = stablehlo.convert %x : (tensor<2xf64>) -> tensor<2xf80>\n{done}"
            )),
            Code::UnknownDType,
            (3, 1),
        ),
        (
            line(&format!(
                "%0:2 = call @main(%x) : (tensor<2xf64>) -> (tensor<2xf64>, tensor<2xf64>)\n{done}"
            )),
            Code::Invalid,
            (2, 1),
        ),
        (
            line("%0 = stablehlo.sine %x : tensor<2xf64>"),
            Code::Syntax,
            (2, 1),
        ),
        (line(""), Code::Syntax, (1, 53)),
        (
            line("^bb1(%a: tensor<f64>):\nreturn %a : tensor<f64>")
                .replace("%x: tensor<2xf64>", ""),
            Code::ShapeMismatch,
            (1, 1),
        ),
        (
            "func.func @main(%x: tensor<2xf64) {".into(),
            Code::Syntax,
            (1, 28),
        ),
        (
            "module { func.func @f() { return } func.func @f() { return } }".into(),
            Code::DuplicateName,
            (1, 36),
        ),
        ("hello".into(), Code::Syntax, (1, 1)),
        ("module @m {".into(), Code::Syntax, (1, 12)),
        ("module {} \"".into(), Code::Syntax, (1, 11)),
    ] {
        let e = refused(&text);
        assert_eq!(
            (e.code(), e.loc()),
            (code, Loc::Text(at.0, at.1)),
            "{e}\n{text}"
        );
    }
    assert_eq!(refused("").code(), Code::Input);
    let e = read("module {", Some("m.mlir")).unwrap_err().to_string();
    assert!(e.starts_with("m.mlir:1:9: expected"), "{e}");
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn what_is_wrong_is_said_with_its_place() {
    let choice = "%i = stablehlo.constant dense<0> : tensor<i32>\n ";
    let truth = "%p = stablehlo.constant dense<true> : tensor<i1>\n ";
    let reduced = ": (tensor<4xf64>, tensor<f64>) -> tensor<f64>";
    for (body, code, line, says) in [
        (
            format!("%y = \"stablehlo.reduce\"(%x, %c) <{{dimensions = array<i64: 0>}}> {reduced}"),
            Code::Arity,
            3,
            "`stablehlo.reduce` needs a body",
        ),
        (
            "%y = \"stablehlo.reduce\"(%x) <{dimensions = array<i64: 0>}> : (tensor<4xf64>) -> tensor<f64>".into(),
            Code::Arity,
            3,
            "takes operands and one initial value per operand",
        ),
        (
            format!("%y = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [3] {reduced}"),
            Code::Attribute,
            3,
            "`dimensions` must be different axes of the operand",
        ),
        (
            format!("%y = stablehlo.reduce(%x init: %c) applies stablehlo.atan2 across dimensions = [0] {reduced}"),
            Code::UnknownOperation,
            3,
            "that applies `atan2` is not supported",
        ),
        (
            format!("{truth}%y = \"stablehlo.if\"(%p) ({{ stablehlo.return %c : tensor<f64> }}) : (tensor<i1>) -> tensor<f64>"),
            Code::Arity,
            4,
            "`stablehlo.if` has two branches, not 1",
        ),
        (
            format!("{choice}%y = \"stablehlo.case\"(%i) : (tensor<i32>) -> tensor<f64>"),
            Code::Arity,
            4,
            "`stablehlo.case` needs at least one branch",
        ),
        (
            format!("{choice}%y = \"stablehlo.case\"(%i) ({{\n ^bb0(%a: tensor<f64>):\n stablehlo.return %a : tensor<f64>\n }}) : (tensor<i32>) -> tensor<f64>"),
            Code::Arity,
            4,
            "a branch takes no arguments, this one has 1",
        ),
        (
            "%y = \"stablehlo.while\"(%c) ({\n ^bb0(%a: tensor<f64>):\n stablehlo.return %a : tensor<f64>\n }) : (tensor<f64>) -> tensor<f64>".into(),
            Code::Arity,
            3,
            "`stablehlo.while` has a condition and a body",
        ),
        (
            "%y = stablehlo.cholesky %x : tensor<4xf64>".into(),
            Code::ShapeMismatch,
            3,
            "`stablehlo.cholesky` takes matrices, got f64[4]",
        ),
        // A token is an empty array, so that loops and branches can carry it. It is no number.
        ("%t = stablehlo.create_token : !stablehlo.token\n %y = stablehlo.sine %t : tensor<f64>".into(), Code::DTypeMismatch, 4, "`sin` is not defined on i1"),
        ("%y = func.call @f(%c) : (tensor<f64>) -> tensor<f64>".into(), Code::UnknownName, 3, "no function `@f`"),
        (
            "%y = func.call @main(%c, %c) : (tensor<f64>, tensor<f64>) -> tensor<f64>".into(),
            Code::Invalid,
            3,
            "`@main` calls itself",
        ),
        ("%y = stablehlo.sine %x : tensor<4xf64>".into(), Code::ShapeMismatch, 1, "`main` returns f64[4], but the text has f64[]"),
        (
            "%y = stablehlo.custom_call @frobnicate(%c) : (tensor<f64>) -> tensor<f64>".into(),
            Code::UnknownOperation,
            3,
            "the custom call `@frobnicate` is not supported",
        ),
        (
            format!("{truth}%y = \"stablehlo.if\"(%p) ({{\n %a = stablehlo.sine %c : tensor<f64>\n }}, {{\n stablehlo.return %c : tensor<f64>\n }}) : (tensor<i1>) -> tensor<f64>"),
            Code::Syntax,
            5,
            "a region without `return`",
        ),
    ] {
        let e = refused(&format!(
            "func.func @main(%x: tensor<4xf64>) -> tensor<f64> {{\n %c = stablehlo.constant dense<0.0> : tensor<f64>\n {body}\n return %y : tensor<f64>\n}}"
        ));
        assert!(e.code() == code && e.to_string().contains(says), "{body}\nsays {e}");
        assert!(matches!(e.loc(), Loc::Text(l, _) if l == line), "{body}\nsays {e}");
    }
}
