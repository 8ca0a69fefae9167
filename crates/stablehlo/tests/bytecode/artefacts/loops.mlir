module @jit_loops attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf64>, %arg1: tensor<i64>) -> (tensor<f64> {jax.result_info = "result[0]"}, tensor<4xf64> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.slice %arg0 [0:1] : (tensor<4xf64>) -> tensor<1xf64>
    %1 = stablehlo.reshape %0 : (tensor<1xf64>) -> tensor<f64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<4xf64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %3:4 = stablehlo.while(%iterArg = %arg0, %iterArg_4 = %c, %iterArg_5 = %1, %iterArg_6 = %2) : tensor<4xf64>, tensor<i64>, tensor<f64>, tensor<4xf64>
    cond {
      %c_7 = stablehlo.constant dense<4> : tensor<i64>
      %9 = stablehlo.compare LT, %iterArg_4, %c_7, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %9 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_4) : (tensor<4xf64>, tensor<i64>) -> tensor<f64>
      %10:2 = func.call @closed_call(%iterArg_5, %9) : (tensor<f64>, tensor<f64>) -> (tensor<f64>, tensor<f64>)
      %11 = func.call @dynamic_update_index_in_dim(%iterArg_6, %10#1, %iterArg_4) : (tensor<4xf64>, tensor<f64>, tensor<i64>) -> tensor<4xf64>
      %c_7 = stablehlo.constant dense<1> : tensor<i64>
      %12 = stablehlo.add %iterArg_4, %c_7 : tensor<i64>
      stablehlo.return %iterArg, %12, %10#0, %11 : tensor<4xf64>, tensor<i64>, tensor<f64>, tensor<4xf64>
    }
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %4:4 = stablehlo.while(%iterArg = %3#3, %iterArg_4 = %c_0, %iterArg_5 = %arg1, %iterArg_6 = %3#2) : tensor<4xf64>, tensor<i64>, tensor<i64>, tensor<f64>
    cond {
      %9 = stablehlo.compare LT, %iterArg_4, %iterArg_5, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %c_7 = stablehlo.constant dense<1> : tensor<i64>
      %9 = stablehlo.add %iterArg_4, %c_7 : tensor<i64>
      %cst_8 = stablehlo.constant dense<5.000000e-01> : tensor<f64>
      %10 = stablehlo.multiply %iterArg_6, %cst_8 : tensor<f64>
      %c_9 = stablehlo.constant dense<0> : tensor<i64>
      %11 = stablehlo.compare LT, %iterArg_4, %c_9, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      %12 = stablehlo.convert %iterArg_4 : tensor<i64>
      %c_10 = stablehlo.constant dense<4> : tensor<i64>
      %13 = stablehlo.add %12, %c_10 : tensor<i64>
      %14 = stablehlo.select %11, %13, %iterArg_4 : tensor<i1>, tensor<i64>
      %15 = stablehlo.dynamic_slice %iterArg, %14, sizes = [1] : (tensor<4xf64>, tensor<i64>) -> tensor<1xf64>
      %16 = stablehlo.reshape %15 : (tensor<1xf64>) -> tensor<f64>
      %17 = stablehlo.add %10, %16 : tensor<f64>
      stablehlo.return %iterArg, %9, %iterArg_5, %17 : tensor<4xf64>, tensor<i64>, tensor<i64>, tensor<f64>
    }
    %c_1 = stablehlo.constant dense<3> : tensor<i64>
    %5 = call @remainder(%arg1, %c_1) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %6 = stablehlo.convert %5 : (tensor<i64>) -> tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<2> : tensor<i32>
    %7 = stablehlo.clamp %c_2, %6, %c_3 : tensor<i32>
    %8 = "stablehlo.case"(%7) ({
      stablehlo.return %4#3 : tensor<f64>
    }, {
      %9 = stablehlo.negate %4#3 : tensor<f64>
      stablehlo.return %9 : tensor<f64>
    }, {
      %9 = stablehlo.slice %arg0 [1:2] : (tensor<4xf64>) -> tensor<1xf64>
      %10 = stablehlo.reshape %9 : (tensor<1xf64>) -> tensor<f64>
      %11 = stablehlo.multiply %4#3, %10 : tensor<f64>
      stablehlo.return %11 : tensor<f64>
    }) : (tensor<i32>) -> tensor<f64>
    return %8, %3#3 : tensor<f64>, tensor<4xf64>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<4xf64>, %arg1: tensor<i64>) -> tensor<f64> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<4xf64>, tensor<i64>) -> tensor<1xf64>
    %1 = stablehlo.reshape %0 : (tensor<1xf64>) -> tensor<f64>
    return %1 : tensor<f64>
  }
  func.func private @closed_call(%arg0: tensor<f64>, %arg1: tensor<f64>) -> (tensor<f64>, tensor<f64>) {
    %0 = stablehlo.sine %arg0 : tensor<f64>
    %1 = stablehlo.multiply %0, %arg1 : tensor<f64>
    %2 = stablehlo.add %arg0, %arg1 : tensor<f64>
    return %1, %2 : tensor<f64>, tensor<f64>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<4xf64>, %arg1: tensor<f64>, %arg2: tensor<i64>) -> tensor<4xf64> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f64>) -> tensor<1xf64>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<4xf64>, tensor<1xf64>, tensor<i64>) -> tensor<4xf64>
    return %1 : tensor<4xf64>
  }
  func.func private @remainder(%arg0: tensor<i64>, %arg1: tensor<i64>) -> tensor<i64> {
    %0 = stablehlo.convert %arg1 : tensor<i64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i64>
    %2 = call @_where(%1, %c_0, %0) : (tensor<i1>, tensor<i64>, tensor<i64>) -> tensor<i64>
    %3 = stablehlo.remainder %arg0, %2 : tensor<i64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %4 = stablehlo.compare NE, %3, %c_1, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %5 = stablehlo.compare LT, %3, %c_2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<0> : tensor<i64>
    %6 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %7 = stablehlo.compare NE, %5, %6, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %8 = stablehlo.and %7, %4 : tensor<i1>
    %9 = stablehlo.add %3, %2 : tensor<i64>
    %10 = stablehlo.select %8, %9, %3 : tensor<i1>, tensor<i64>
    return %10 : tensor<i64>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<i64>, %arg2: tensor<i64>) -> tensor<i64> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i64>
    return %0 : tensor<i64>
  }
}
