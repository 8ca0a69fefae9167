// Functions as JAX 0.10.2 prints them, each after a line with its name.
// program logistic float32
module @jit_sigmoid attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.negate %arg0 : tensor<2x3xf32>
    %1 = stablehlo.exponential %0 : tensor<2x3xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %3 = stablehlo.add %2, %1 : tensor<2x3xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %5 = stablehlo.divide %4, %3 : tensor<2x3xf32>
    return %5 : tensor<2x3xf32>
  }
}
// program logistic float64
module @jit_sigmoid attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf64>) -> (tensor<2x3xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.negate %arg0 : tensor<2x3xf64>
    %1 = stablehlo.exponential %0 : tensor<2x3xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %3 = stablehlo.add %2, %1 : tensor<2x3xf64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %5 = stablehlo.divide %4, %3 : tensor<2x3xf64>
    return %5 : tensor<2x3xf64>
  }
}
// program logistic bfloat16
module @jit_sigmoid attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xbf16>) -> (tensor<2x3xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.negate %arg0 : tensor<2x3xbf16>
    %1 = stablehlo.exponential %0 : tensor<2x3xbf16>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2x3xbf16>
    %3 = stablehlo.add %2, %1 : tensor<2x3xbf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<2x3xbf16>
    %5 = stablehlo.divide %4, %3 : tensor<2x3xbf16>
    return %5 : tensor<2x3xbf16>
  }
}
// program softplus float32
module @jit_softplus attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %0 = call @softplus(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func private @softplus(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<2x3xf32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %3 = stablehlo.subtract %arg0, %2 : tensor<2x3xf32>
    %4 = stablehlo.compare NE, %3, %3, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %6 = stablehlo.add %arg0, %5 : tensor<2x3xf32>
    %7 = stablehlo.abs %3 : tensor<2x3xf32>
    %8 = stablehlo.negate %7 : tensor<2x3xf32>
    %9 = stablehlo.exponential %8 : tensor<2x3xf32>
    %10 = stablehlo.log_plus_one %9 : tensor<2x3xf32>
    %11 = stablehlo.add %1, %10 : tensor<2x3xf32>
    %12 = stablehlo.select %4, %6, %11 : tensor<2x3xi1>, tensor<2x3xf32>
    return %12 : tensor<2x3xf32>
  }
}
// program softplus float64
module @jit_softplus attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf64>) -> (tensor<2x3xf64> {jax.result_info = "result"}) {
    %0 = call @softplus(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    return %0 : tensor<2x3xf64>
  }
  func.func private @softplus(%arg0: tensor<2x3xf64>) -> tensor<2x3xf64> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %1 = stablehlo.maximum %arg0, %0 : tensor<2x3xf64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %3 = stablehlo.subtract %arg0, %2 : tensor<2x3xf64>
    %4 = stablehlo.compare NE, %3, %3, FLOAT : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xi1>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %6 = stablehlo.add %arg0, %5 : tensor<2x3xf64>
    %7 = stablehlo.abs %3 : tensor<2x3xf64>
    %8 = stablehlo.negate %7 : tensor<2x3xf64>
    %9 = stablehlo.exponential %8 : tensor<2x3xf64>
    %10 = stablehlo.log_plus_one %9 : tensor<2x3xf64>
    %11 = stablehlo.add %1, %10 : tensor<2x3xf64>
    %12 = stablehlo.select %4, %6, %11 : tensor<2x3xi1>, tensor<2x3xf64>
    return %12 : tensor<2x3xf64>
  }
}
// program softplus bfloat16
module @jit_softplus attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xbf16>) -> (tensor<2x3xbf16> {jax.result_info = "result"}) {
    %0 = call @softplus(%arg0) : (tensor<2x3xbf16>) -> tensor<2x3xbf16>
    return %0 : tensor<2x3xbf16>
  }
  func.func private @softplus(%arg0: tensor<2x3xbf16>) -> tensor<2x3xbf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2x3xbf16>
    %1 = stablehlo.maximum %arg0, %0 : tensor<2x3xbf16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2x3xbf16>
    %3 = stablehlo.subtract %arg0, %2 : tensor<2x3xbf16>
    %4 = stablehlo.compare NE, %3, %3, FLOAT : (tensor<2x3xbf16>, tensor<2x3xbf16>) -> tensor<2x3xi1>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2x3xbf16>
    %6 = stablehlo.add %arg0, %5 : tensor<2x3xbf16>
    %7 = stablehlo.abs %3 : tensor<2x3xbf16>
    %8 = stablehlo.negate %7 : tensor<2x3xbf16>
    %9 = stablehlo.exponential %8 : tensor<2x3xbf16>
    %10 = stablehlo.log_plus_one %9 : tensor<2x3xbf16>
    %11 = stablehlo.add %1, %10 : tensor<2x3xbf16>
    %12 = stablehlo.select %4, %6, %11 : tensor<2x3xi1>, tensor<2x3xbf16>
    return %12 : tensor<2x3xbf16>
  }
}
// program log_sigmoid float32
module @jit_log_sigmoid attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %0 = call @log_sigmoid(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func private @log_sigmoid(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.negate %arg0 : tensor<2x3xf32>
    %1 = call @softplus(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %2 = stablehlo.negate %1 : tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
  func.func private @softplus(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<2x3xf32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %3 = stablehlo.subtract %arg0, %2 : tensor<2x3xf32>
    %4 = stablehlo.compare NE, %3, %3, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %6 = stablehlo.add %arg0, %5 : tensor<2x3xf32>
    %7 = stablehlo.abs %3 : tensor<2x3xf32>
    %8 = stablehlo.negate %7 : tensor<2x3xf32>
    %9 = stablehlo.exponential %8 : tensor<2x3xf32>
    %10 = stablehlo.log_plus_one %9 : tensor<2x3xf32>
    %11 = stablehlo.add %1, %10 : tensor<2x3xf32>
    %12 = stablehlo.select %4, %6, %11 : tensor<2x3xi1>, tensor<2x3xf32>
    return %12 : tensor<2x3xf32>
  }
}
// program log_sigmoid float64
module @jit_log_sigmoid attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf64>) -> (tensor<2x3xf64> {jax.result_info = "result"}) {
    %0 = call @log_sigmoid(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    return %0 : tensor<2x3xf64>
  }
  func.func private @log_sigmoid(%arg0: tensor<2x3xf64>) -> tensor<2x3xf64> {
    %0 = stablehlo.negate %arg0 : tensor<2x3xf64>
    %1 = call @softplus(%0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    %2 = stablehlo.negate %1 : tensor<2x3xf64>
    return %2 : tensor<2x3xf64>
  }
  func.func private @softplus(%arg0: tensor<2x3xf64>) -> tensor<2x3xf64> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %1 = stablehlo.maximum %arg0, %0 : tensor<2x3xf64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %3 = stablehlo.subtract %arg0, %2 : tensor<2x3xf64>
    %4 = stablehlo.compare NE, %3, %3, FLOAT : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xi1>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %6 = stablehlo.add %arg0, %5 : tensor<2x3xf64>
    %7 = stablehlo.abs %3 : tensor<2x3xf64>
    %8 = stablehlo.negate %7 : tensor<2x3xf64>
    %9 = stablehlo.exponential %8 : tensor<2x3xf64>
    %10 = stablehlo.log_plus_one %9 : tensor<2x3xf64>
    %11 = stablehlo.add %1, %10 : tensor<2x3xf64>
    %12 = stablehlo.select %4, %6, %11 : tensor<2x3xi1>, tensor<2x3xf64>
    return %12 : tensor<2x3xf64>
  }
}
// program log_sigmoid bfloat16
module @jit_log_sigmoid attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xbf16>) -> (tensor<2x3xbf16> {jax.result_info = "result"}) {
    %0 = call @log_sigmoid(%arg0) : (tensor<2x3xbf16>) -> tensor<2x3xbf16>
    return %0 : tensor<2x3xbf16>
  }
  func.func private @log_sigmoid(%arg0: tensor<2x3xbf16>) -> tensor<2x3xbf16> {
    %0 = stablehlo.negate %arg0 : tensor<2x3xbf16>
    %1 = call @softplus(%0) : (tensor<2x3xbf16>) -> tensor<2x3xbf16>
    %2 = stablehlo.negate %1 : tensor<2x3xbf16>
    return %2 : tensor<2x3xbf16>
  }
  func.func private @softplus(%arg0: tensor<2x3xbf16>) -> tensor<2x3xbf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2x3xbf16>
    %1 = stablehlo.maximum %arg0, %0 : tensor<2x3xbf16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2x3xbf16>
    %3 = stablehlo.subtract %arg0, %2 : tensor<2x3xbf16>
    %4 = stablehlo.compare NE, %3, %3, FLOAT : (tensor<2x3xbf16>, tensor<2x3xbf16>) -> tensor<2x3xi1>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2x3xbf16>
    %6 = stablehlo.add %arg0, %5 : tensor<2x3xbf16>
    %7 = stablehlo.abs %3 : tensor<2x3xbf16>
    %8 = stablehlo.negate %7 : tensor<2x3xbf16>
    %9 = stablehlo.exponential %8 : tensor<2x3xbf16>
    %10 = stablehlo.log_plus_one %9 : tensor<2x3xbf16>
    %11 = stablehlo.add %1, %10 : tensor<2x3xbf16>
    %12 = stablehlo.select %4, %6, %11 : tensor<2x3xi1>, tensor<2x3xbf16>
    return %12 : tensor<2x3xbf16>
  }
}
// program gelu_tanh float32
module @jit_gelu attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<2x3xf32>
    %1 = stablehlo.multiply %0, %arg0 : tensor<2x3xf32>
    %cst = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %3 = stablehlo.multiply %2, %1 : tensor<2x3xf32>
    %4 = stablehlo.add %arg0, %3 : tensor<2x3xf32>
    %cst_0 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %6 = stablehlo.multiply %5, %4 : tensor<2x3xf32>
    %7 = stablehlo.tanh %6 : tensor<2x3xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %9 = stablehlo.add %8, %7 : tensor<2x3xf32>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %11 = stablehlo.multiply %10, %9 : tensor<2x3xf32>
    %12 = stablehlo.multiply %arg0, %11 : tensor<2x3xf32>
    return %12 : tensor<2x3xf32>
  }
}
// program gelu_tanh float64
module @jit_gelu attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf64>) -> (tensor<2x3xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<2x3xf64>
    %1 = stablehlo.multiply %0, %arg0 : tensor<2x3xf64>
    %cst = stablehlo.constant dense<4.471500e-02> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %3 = stablehlo.multiply %2, %1 : tensor<2x3xf64>
    %4 = stablehlo.add %arg0, %3 : tensor<2x3xf64>
    %cst_0 = stablehlo.constant dense<0.79788456080286541> : tensor<f64>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %6 = stablehlo.multiply %5, %4 : tensor<2x3xf64>
    %7 = stablehlo.tanh %6 : tensor<2x3xf64>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %9 = stablehlo.add %8, %7 : tensor<2x3xf64>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f64>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %11 = stablehlo.multiply %10, %9 : tensor<2x3xf64>
    %12 = stablehlo.multiply %arg0, %11 : tensor<2x3xf64>
    return %12 : tensor<2x3xf64>
  }
}
// program gelu_tanh bfloat16
module @jit_gelu attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xbf16>) -> (tensor<2x3xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<2x3xbf16>
    %1 = stablehlo.multiply %0, %arg0 : tensor<2x3xbf16>
    %cst = stablehlo.constant dense<4.467770e-02> : tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2x3xbf16>
    %3 = stablehlo.multiply %2, %1 : tensor<2x3xbf16>
    %4 = stablehlo.add %arg0, %3 : tensor<2x3xbf16>
    %cst_0 = stablehlo.constant dense<7.968750e-01> : tensor<bf16>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<2x3xbf16>
    %6 = stablehlo.multiply %5, %4 : tensor<2x3xbf16>
    %7 = stablehlo.tanh %6 : tensor<2x3xbf16>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<2x3xbf16>
    %9 = stablehlo.add %8, %7 : tensor<2x3xbf16>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<bf16>) -> tensor<2x3xbf16>
    %11 = stablehlo.multiply %10, %9 : tensor<2x3xbf16>
    %12 = stablehlo.multiply %arg0, %11 : tensor<2x3xbf16>
    return %12 : tensor<2x3xbf16>
  }
}
// program gelu float32
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %1 = stablehlo.multiply %0, %arg0 : tensor<2x3xf32>
    %2 = stablehlo.negate %arg0 : tensor<2x3xf32>
    %cst_0 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<2x3xf32>
    %5 = chlo.erfc %4 : tensor<2x3xf32> -> tensor<2x3xf32>
    %6 = stablehlo.multiply %1, %5 : tensor<2x3xf32>
    return %6 : tensor<2x3xf32>
  }
}
// program gelu float64
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf64>) -> (tensor<2x3xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %1 = stablehlo.multiply %0, %arg0 : tensor<2x3xf64>
    %2 = stablehlo.negate %arg0 : tensor<2x3xf64>
    %cst_0 = stablehlo.constant dense<0.70710678118654757> : tensor<f64>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %4 = stablehlo.multiply %2, %3 : tensor<2x3xf64>
    %5 = chlo.erfc %4 : tensor<2x3xf64> -> tensor<2x3xf64>
    %6 = stablehlo.multiply %1, %5 : tensor<2x3xf64>
    return %6 : tensor<2x3xf64>
  }
}
// program gelu bfloat16
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xbf16>) -> (tensor<2x3xbf16> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2x3xbf16>
    %1 = stablehlo.multiply %0, %arg0 : tensor<2x3xbf16>
    %2 = stablehlo.negate %arg0 : tensor<2x3xbf16>
    %cst_0 = stablehlo.constant dense<7.070310e-01> : tensor<bf16>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<2x3xbf16>
    %4 = stablehlo.multiply %2, %3 : tensor<2x3xbf16>
    %5 = chlo.erfc %4 : tensor<2x3xbf16> -> tensor<2x3xbf16>
    %6 = stablehlo.multiply %1, %5 : tensor<2x3xbf16>
    return %6 : tensor<2x3xbf16>
  }
}
// program gelu_erf float32
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<2x3xf32>
    %cst_0 = stablehlo.constant dense<1.41421354> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %3 = stablehlo.divide %arg0, %2 : tensor<2x3xf32>
    %4 = chlo.erf %3 : tensor<2x3xf32> -> tensor<2x3xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %6 = stablehlo.add %5, %4 : tensor<2x3xf32>
    %7 = stablehlo.multiply %1, %6 : tensor<2x3xf32>
    return %7 : tensor<2x3xf32>
  }
}
// program gelu_erf float64
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf64>) -> (tensor<2x3xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %1 = stablehlo.multiply %arg0, %0 : tensor<2x3xf64>
    %cst_0 = stablehlo.constant dense<1.4142135623730951> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %3 = stablehlo.divide %arg0, %2 : tensor<2x3xf64>
    %4 = chlo.erf %3 : tensor<2x3xf64> -> tensor<2x3xf64>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %6 = stablehlo.add %5, %4 : tensor<2x3xf64>
    %7 = stablehlo.multiply %1, %6 : tensor<2x3xf64>
    return %7 : tensor<2x3xf64>
  }
}
// program gelu_erf bfloat16
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xbf16>) -> (tensor<2x3xbf16> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2x3xbf16>
    %1 = stablehlo.multiply %arg0, %0 : tensor<2x3xbf16>
    %cst_0 = stablehlo.constant dense<1.414060e+00> : tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<2x3xbf16>
    %3 = stablehlo.divide %arg0, %2 : tensor<2x3xbf16>
    %4 = chlo.erf %3 : tensor<2x3xbf16> -> tensor<2x3xbf16>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<2x3xbf16>
    %6 = stablehlo.add %5, %4 : tensor<2x3xbf16>
    %7 = stablehlo.multiply %1, %6 : tensor<2x3xbf16>
    return %7 : tensor<2x3xbf16>
  }
}
// program softmax float32
module @jit_softmax attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<2xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x3xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x3xf32>
    %6 = stablehlo.exponential %5 : tensor<2x3xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x3xf32>
    %10 = stablehlo.divide %6, %9 : tensor<2x3xf32>
    return %10 : tensor<2x3xf32>
  }
}
// program softmax float64
module @jit_softmax attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf64>) -> (tensor<2x3xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64>
    %cst_0 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2xf64>
    %2 = stablehlo.maximum %1, %0 : tensor<2xf64>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<2xf64>) -> tensor<2x1xf64>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<2x1xf64>) -> tensor<2x3xf64>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x3xf64>
    %6 = stablehlo.exponential %5 : tensor<2x3xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<2xf64>) -> tensor<2x1xf64>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<2x1xf64>) -> tensor<2x3xf64>
    %10 = stablehlo.divide %6, %9 : tensor<2x3xf64>
    return %10 : tensor<2x3xf64>
  }
}
// program softmax bfloat16
module @jit_softmax attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xbf16>) -> (tensor<2x3xbf16> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xbf16>, tensor<bf16>) -> tensor<2xbf16>
    %cst_0 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<2xbf16>
    %2 = stablehlo.maximum %1, %0 : tensor<2xbf16>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<2xbf16>) -> tensor<2x1xbf16>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<2x1xbf16>) -> tensor<2x3xbf16>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x3xbf16>
    %6 = stablehlo.exponential %5 : tensor<2x3xbf16>
    %7 = stablehlo.convert %6 : (tensor<2x3xbf16>) -> tensor<2x3xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %10 = stablehlo.convert %9 : (tensor<2x1xf32>) -> tensor<2x1xbf16>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<2x1xbf16>) -> tensor<2x3xbf16>
    %12 = stablehlo.divide %6, %11 : tensor<2x3xbf16>
    return %12 : tensor<2x3xbf16>
  }
}
// program log_softmax float32
module @jit_log_softmax attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %0 = call @log_softmax(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
  func.func private @log_softmax(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<2xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x3xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x3xf32>
    %6 = stablehlo.exponential %5 : tensor<2x3xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %9 = stablehlo.log %8 : tensor<2x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x3xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<2x3xf32>
    return %11 : tensor<2x3xf32>
  }
}
// program log_softmax float64
module @jit_log_softmax attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf64>) -> (tensor<2x3xf64> {jax.result_info = "result"}) {
    %0 = call @log_softmax(%arg0) : (tensor<2x3xf64>) -> tensor<2x3xf64>
    return %0 : tensor<2x3xf64>
  }
  func.func private @log_softmax(%arg0: tensor<2x3xf64>) -> tensor<2x3xf64> {
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64>
    %cst_0 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2xf64>
    %2 = stablehlo.maximum %1, %0 : tensor<2xf64>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<2xf64>) -> tensor<2x1xf64>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<2x1xf64>) -> tensor<2x3xf64>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x3xf64>
    %6 = stablehlo.exponential %5 : tensor<2x3xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<2xf64>) -> tensor<2x1xf64>
    %9 = stablehlo.log %8 : tensor<2x1xf64>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<2x1xf64>) -> tensor<2x3xf64>
    %11 = stablehlo.subtract %5, %10 : tensor<2x3xf64>
    return %11 : tensor<2x3xf64>
  }
}
// program log_softmax bfloat16
module @jit_log_softmax attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xbf16>) -> (tensor<2x3xbf16> {jax.result_info = "result"}) {
    %0 = call @log_softmax(%arg0) : (tensor<2x3xbf16>) -> tensor<2x3xbf16>
    return %0 : tensor<2x3xbf16>
  }
  func.func private @log_softmax(%arg0: tensor<2x3xbf16>) -> tensor<2x3xbf16> {
    %cst = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xbf16>, tensor<bf16>) -> tensor<2xbf16>
    %cst_0 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<2xbf16>
    %2 = stablehlo.maximum %1, %0 : tensor<2xbf16>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<2xbf16>) -> tensor<2x1xbf16>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<2x1xbf16>) -> tensor<2x3xbf16>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x3xbf16>
    %6 = stablehlo.exponential %5 : tensor<2x3xbf16>
    %7 = stablehlo.convert %6 : (tensor<2x3xbf16>) -> tensor<2x3xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%7 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %10 = stablehlo.convert %9 : (tensor<2x1xf32>) -> tensor<2x1xbf16>
    %11 = stablehlo.log %10 : tensor<2x1xbf16>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<2x1xbf16>) -> tensor<2x3xbf16>
    %13 = stablehlo.subtract %5, %12 : tensor<2x3xbf16>
    return %13 : tensor<2x3xbf16>
  }
}
// program logsumexp float32
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<2xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<2xf32>
    %3 = stablehlo.is_finite %2 : (tensor<2xf32>) -> tensor<2xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %5 = stablehlo.select %3, %2, %4 : tensor<2xi1>, tensor<2xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x3xf32>
    %8 = stablehlo.subtract %arg0, %7 : tensor<2x3xf32>
    %9 = stablehlo.exponential %8 : tensor<2x3xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %11 = stablehlo.abs %10 : tensor<2xf32>
    %12 = stablehlo.log %11 : tensor<2xf32>
    %13 = stablehlo.add %12, %5 : tensor<2xf32>
    return %13 : tensor<2xf32>
  }
}
// program logsumexp float64
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf64>) -> (tensor<2xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64>
    %cst_0 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2xf64>
    %2 = stablehlo.maximum %1, %0 : tensor<2xf64>
    %3 = stablehlo.is_finite %2 : (tensor<2xf64>) -> tensor<2xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<2xf64>
    %5 = stablehlo.select %3, %2, %4 : tensor<2xi1>, tensor<2xf64>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<2xf64>) -> tensor<2x1xf64>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<2x1xf64>) -> tensor<2x3xf64>
    %8 = stablehlo.subtract %arg0, %7 : tensor<2x3xf64>
    %9 = stablehlo.exponential %8 : tensor<2x3xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %10 = stablehlo.reduce(%9 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64>
    %11 = stablehlo.abs %10 : tensor<2xf64>
    %12 = stablehlo.log %11 : tensor<2xf64>
    %13 = stablehlo.add %12, %5 : tensor<2xf64>
    return %13 : tensor<2xf64>
  }
}
// program logsumexp bfloat16
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xbf16>) -> (tensor<2xbf16> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xbf16>, tensor<bf16>) -> tensor<2xbf16>
    %cst_0 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<2xbf16>
    %2 = stablehlo.maximum %1, %0 : tensor<2xbf16>
    %3 = stablehlo.is_finite %2 : (tensor<2xbf16>) -> tensor<2xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<2xbf16>
    %5 = stablehlo.select %3, %2, %4 : tensor<2xi1>, tensor<2xbf16>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<2xbf16>) -> tensor<2x1xbf16>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<2x1xbf16>) -> tensor<2x3xbf16>
    %8 = stablehlo.subtract %arg0, %7 : tensor<2x3xbf16>
    %9 = stablehlo.exponential %8 : tensor<2x3xbf16>
    %10 = stablehlo.convert %9 : (tensor<2x3xbf16>) -> tensor<2x3xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %12 = stablehlo.convert %11 : (tensor<2xf32>) -> tensor<2xbf16>
    %13 = stablehlo.abs %12 : tensor<2xbf16>
    %14 = stablehlo.log %13 : tensor<2xbf16>
    %15 = stablehlo.add %14, %5 : tensor<2xbf16>
    return %15 : tensor<2xbf16>
  }
}
// program logaddexp float32
module @jit_logaddexp attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> (tensor<2x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.maximum %arg0, %arg1 : tensor<2x3xf32>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<2x3xf32>
    %2 = stablehlo.compare NE, %1, %1, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
    %3 = stablehlo.add %arg0, %arg1 : tensor<2x3xf32>
    %4 = stablehlo.abs %1 : tensor<2x3xf32>
    %5 = stablehlo.negate %4 : tensor<2x3xf32>
    %6 = stablehlo.exponential %5 : tensor<2x3xf32>
    %7 = stablehlo.log_plus_one %6 : tensor<2x3xf32>
    %8 = stablehlo.add %0, %7 : tensor<2x3xf32>
    %9 = stablehlo.select %2, %3, %8 : tensor<2x3xi1>, tensor<2x3xf32>
    return %9 : tensor<2x3xf32>
  }
}
// program logaddexp float64
module @jit_logaddexp attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf64>, %arg1: tensor<2x3xf64>) -> (tensor<2x3xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.maximum %arg0, %arg1 : tensor<2x3xf64>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<2x3xf64>
    %2 = stablehlo.compare NE, %1, %1, FLOAT : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xi1>
    %3 = stablehlo.add %arg0, %arg1 : tensor<2x3xf64>
    %4 = stablehlo.abs %1 : tensor<2x3xf64>
    %5 = stablehlo.negate %4 : tensor<2x3xf64>
    %6 = stablehlo.exponential %5 : tensor<2x3xf64>
    %7 = stablehlo.log_plus_one %6 : tensor<2x3xf64>
    %8 = stablehlo.add %0, %7 : tensor<2x3xf64>
    %9 = stablehlo.select %2, %3, %8 : tensor<2x3xi1>, tensor<2x3xf64>
    return %9 : tensor<2x3xf64>
  }
}
// program logaddexp bfloat16
module @jit_logaddexp attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xbf16>, %arg1: tensor<2x3xbf16>) -> (tensor<2x3xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.maximum %arg0, %arg1 : tensor<2x3xbf16>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<2x3xbf16>
    %2 = stablehlo.compare NE, %1, %1, FLOAT : (tensor<2x3xbf16>, tensor<2x3xbf16>) -> tensor<2x3xi1>
    %3 = stablehlo.add %arg0, %arg1 : tensor<2x3xbf16>
    %4 = stablehlo.abs %1 : tensor<2x3xbf16>
    %5 = stablehlo.negate %4 : tensor<2x3xbf16>
    %6 = stablehlo.exponential %5 : tensor<2x3xbf16>
    %7 = stablehlo.log_plus_one %6 : tensor<2x3xbf16>
    %8 = stablehlo.add %0, %7 : tensor<2x3xbf16>
    %9 = stablehlo.select %2, %3, %8 : tensor<2x3xi1>, tensor<2x3xbf16>
    return %9 : tensor<2x3xbf16>
  }
}
// program softmax axis0
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf64>) -> (tensor<4x3xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [0] : (tensor<4x3xf64>, tensor<f64>) -> tensor<3xf64>
    %cst_0 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %2 = stablehlo.maximum %1, %0 : tensor<3xf64>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<3xf64>) -> tensor<1x3xf64>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1x3xf64>) -> tensor<4x3xf64>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x3xf64>
    %6 = stablehlo.exponential %5 : tensor<4x3xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<4x3xf64>, tensor<f64>) -> tensor<3xf64>
    %8 = stablehlo.broadcast_in_dim %7, dims = [1] : (tensor<3xf64>) -> tensor<1x3xf64>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x3xf64>) -> tensor<4x3xf64>
    %10 = stablehlo.divide %6, %9 : tensor<4x3xf64>
    return %10 : tensor<4x3xf64>
  }
}
// program softmax batch
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x4xf64>) -> (tensor<2x3x4xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x3xf64>
    %cst_0 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %2 = stablehlo.maximum %1, %0 : tensor<2x3xf64>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<2x3xf64>) -> tensor<2x3x1xf64>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x3x1xf64>) -> tensor<2x3x4xf64>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x3x4xf64>
    %6 = stablehlo.exponential %5 : tensor<2x3x4xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x3xf64>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<2x3xf64>) -> tensor<2x3x1xf64>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<2x3x1xf64>) -> tensor<2x3x4xf64>
    %10 = stablehlo.divide %6, %9 : tensor<2x3x4xf64>
    return %10 : tensor<2x3x4xf64>
  }
}
// program log_softmax axis1
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x4xf64>) -> (tensor<2x3x4xf64> {jax.result_info = "result"}) {
    %0 = call @log_softmax(%arg0) : (tensor<2x3x4xf64>) -> tensor<2x3x4xf64>
    return %0 : tensor<2x3x4xf64>
  }
  func.func private @log_softmax(%arg0: tensor<2x3x4xf64>) -> tensor<2x3x4xf64> {
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x4xf64>
    %cst_0 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2x4xf64>
    %2 = stablehlo.maximum %1, %0 : tensor<2x4xf64>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 2] : (tensor<2x4xf64>) -> tensor<2x1x4xf64>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x1x4xf64>) -> tensor<2x3x4xf64>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x3x4xf64>
    %6 = stablehlo.exponential %5 : tensor<2x3x4xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<2x3x4xf64>, tensor<f64>) -> tensor<2x4xf64>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 2] : (tensor<2x4xf64>) -> tensor<2x1x4xf64>
    %9 = stablehlo.log %8 : tensor<2x1x4xf64>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x1x4xf64>) -> tensor<2x3x4xf64>
    %11 = stablehlo.subtract %5, %10 : tensor<2x3x4xf64>
    return %11 : tensor<2x3x4xf64>
  }
}
// program logsumexp all
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<f64>
    %cst_0 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %1 = stablehlo.maximum %cst_0, %0 : tensor<f64>
    %2 = stablehlo.is_finite %1 : (tensor<f64>) -> tensor<i1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %3 = stablehlo.select %2, %1, %cst_1 : tensor<i1>, tensor<f64>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f64>) -> tensor<1x1xf64>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<1x1xf64>) -> tensor<2x3xf64>
    %6 = stablehlo.subtract %arg0, %5 : tensor<2x3xf64>
    %7 = stablehlo.exponential %6 : tensor<2x3xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %8 = stablehlo.reduce(%7 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<f64>
    %9 = stablehlo.abs %8 : tensor<f64>
    %10 = stablehlo.log %9 : tensor<f64>
    %11 = stablehlo.add %10, %3 : tensor<f64>
    return %11 : tensor<f64>
  }
}
// program logsumexp keep
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf64>) -> (tensor<1x3xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [0] : (tensor<2x3xf64>, tensor<f64>) -> tensor<3xf64>
    %cst_0 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %2 = stablehlo.maximum %1, %0 : tensor<3xf64>
    %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<3xf64>) -> tensor<1x3xf64>
    %4 = stablehlo.is_finite %3 : (tensor<1x3xf64>) -> tensor<1x3xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<1x3xf64>
    %6 = stablehlo.select %4, %3, %5 : tensor<1x3xi1>, tensor<1x3xf64>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x3xf64>) -> tensor<2x3xf64>
    %8 = stablehlo.subtract %arg0, %7 : tensor<2x3xf64>
    %9 = stablehlo.exponential %8 : tensor<2x3xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %10 = stablehlo.reduce(%9 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<2x3xf64>, tensor<f64>) -> tensor<3xf64>
    %11 = stablehlo.broadcast_in_dim %10, dims = [1] : (tensor<3xf64>) -> tensor<1x3xf64>
    %12 = stablehlo.abs %11 : tensor<1x3xf64>
    %13 = stablehlo.log %12 : tensor<1x3xf64>
    %14 = stablehlo.add %13, %6 : tensor<1x3xf64>
    return %14 : tensor<1x3xf64>
  }
}
// program silu
module @jit_silu attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5xf64>) -> (tensor<5xf64> {jax.result_info = "result"}) {
    %0 = call @silu(%arg0) : (tensor<5xf64>) -> tensor<5xf64>
    return %0 : tensor<5xf64>
  }
  func.func private @silu(%arg0: tensor<5xf64>) -> tensor<5xf64> {
    %0 = stablehlo.negate %arg0 : tensor<5xf64>
    %1 = stablehlo.exponential %0 : tensor<5xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %3 = stablehlo.add %2, %1 : tensor<5xf64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<5xf64>
    %5 = stablehlo.divide %4, %3 : tensor<5xf64>
    %6 = stablehlo.multiply %arg0, %5 : tensor<5xf64>
    return %6 : tensor<5xf64>
  }
}
// program softmax square
module @jit_softmax attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x3xf64>) -> (tensor<3x3xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<3x3xf64>, tensor<f64>) -> tensor<3xf64>
    %cst_0 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %2 = stablehlo.maximum %1, %0 : tensor<3xf64>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<3xf64>) -> tensor<3x1xf64>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<3x1xf64>) -> tensor<3x3xf64>
    %5 = stablehlo.subtract %arg0, %4 : tensor<3x3xf64>
    %6 = stablehlo.exponential %5 : tensor<3x3xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<3x3xf64>, tensor<f64>) -> tensor<3xf64>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<3xf64>) -> tensor<3x1xf64>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<3x1xf64>) -> tensor<3x3xf64>
    %10 = stablehlo.divide %6, %9 : tensor<3x3xf64>
    return %10 : tensor<3x3xf64>
  }
}
// program log_softmax square
module @jit_log_softmax attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x3xf64>) -> (tensor<3x3xf64> {jax.result_info = "result"}) {
    %0 = call @log_softmax(%arg0) : (tensor<3x3xf64>) -> tensor<3x3xf64>
    return %0 : tensor<3x3xf64>
  }
  func.func private @log_softmax(%arg0: tensor<3x3xf64>) -> tensor<3x3xf64> {
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<3x3xf64>, tensor<f64>) -> tensor<3xf64>
    %cst_0 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %2 = stablehlo.maximum %1, %0 : tensor<3xf64>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<3xf64>) -> tensor<3x1xf64>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<3x1xf64>) -> tensor<3x3xf64>
    %5 = stablehlo.subtract %arg0, %4 : tensor<3x3xf64>
    %6 = stablehlo.exponential %5 : tensor<3x3xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<3x3xf64>, tensor<f64>) -> tensor<3xf64>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<3xf64>) -> tensor<3x1xf64>
    %9 = stablehlo.log %8 : tensor<3x1xf64>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<3x1xf64>) -> tensor<3x3xf64>
    %11 = stablehlo.subtract %5, %10 : tensor<3x3xf64>
    return %11 : tensor<3x3xf64>
  }
}
// program logsumexp square
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x3xf64>) -> (tensor<3xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<3x3xf64>, tensor<f64>) -> tensor<3xf64>
    %cst_0 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %2 = stablehlo.maximum %1, %0 : tensor<3xf64>
    %3 = stablehlo.is_finite %2 : (tensor<3xf64>) -> tensor<3xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %5 = stablehlo.select %3, %2, %4 : tensor<3xi1>, tensor<3xf64>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<3xf64>) -> tensor<3x1xf64>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<3x1xf64>) -> tensor<3x3xf64>
    %8 = stablehlo.subtract %arg0, %7 : tensor<3x3xf64>
    %9 = stablehlo.exponential %8 : tensor<3x3xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %10 = stablehlo.reduce(%9 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<3x3xf64>, tensor<f64>) -> tensor<3xf64>
    %11 = stablehlo.abs %10 : tensor<3xf64>
    %12 = stablehlo.log %11 : tensor<3xf64>
    %13 = stablehlo.add %12, %5 : tensor<3xf64>
    return %13 : tensor<3xf64>
  }
}
// program logistic symbolic
module @jit_sigmoid attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x3xf64>) -> (tensor<?x3xf64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (n, 3). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
    %3 = call @_wrapped_jax_export_main(%1, %arg0) : (tensor<i64>, tensor<?x3xf64>) -> tensor<?x3xf64>
    return %3 : tensor<?x3xf64>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i64> {jax.global_constant = "n"}, %arg1: tensor<?x3xf64>) -> (tensor<?x3xf64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<3> : tensor<1xi32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %0 = stablehlo.negate %arg1 : tensor<?x3xf64>
    %1 = stablehlo.exponential %0 : tensor<?x3xf64>
    %2 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %3 = stablehlo.reshape %2 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.concatenate %3, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = stablehlo.dynamic_broadcast_in_dim %cst, %4, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %6 = stablehlo.add %5, %1 : tensor<?x3xf64>
    %7 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %8 = stablehlo.reshape %7 : (tensor<i32>) -> tensor<1xi32>
    %9 = stablehlo.concatenate %8, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %10 = stablehlo.dynamic_broadcast_in_dim %cst, %9, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %11 = stablehlo.divide %10, %6 : tensor<?x3xf64>
    return %11 : tensor<?x3xf64>
  }
}
// program softplus symbolic
module @jit_softplus attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x3xf64>) -> (tensor<?x3xf64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (n, 3). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
    %3 = call @_wrapped_jax_export_main(%1, %arg0) : (tensor<i64>, tensor<?x3xf64>) -> tensor<?x3xf64>
    return %3 : tensor<?x3xf64>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i64> {jax.global_constant = "n"}, %arg1: tensor<?x3xf64>) -> (tensor<?x3xf64> {jax.result_info = "result"}) {
    %0 = call @softplus(%arg0, %arg1) : (tensor<i64>, tensor<?x3xf64>) -> tensor<?x3xf64>
    return %0 : tensor<?x3xf64>
  }
  func.func private @softplus(%arg0: tensor<i64> {jax.global_constant = "n"}, %arg1: tensor<?x3xf64>) -> tensor<?x3xf64> {
    %c = stablehlo.constant dense<3> : tensor<1xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.concatenate %1, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %3 = stablehlo.dynamic_broadcast_in_dim %cst, %2, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %4 = stablehlo.maximum %arg1, %3 : tensor<?x3xf64>
    %5 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %6 = stablehlo.reshape %5 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.concatenate %6, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %8 = stablehlo.dynamic_broadcast_in_dim %cst, %7, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %9 = stablehlo.subtract %arg1, %8 : tensor<?x3xf64>
    %10 = stablehlo.compare NE, %9, %9, FLOAT : (tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xi1>
    %11 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %12 = stablehlo.reshape %11 : (tensor<i32>) -> tensor<1xi32>
    %13 = stablehlo.concatenate %12, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %14 = stablehlo.dynamic_broadcast_in_dim %cst, %13, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %15 = stablehlo.add %arg1, %14 : tensor<?x3xf64>
    %16 = stablehlo.abs %9 : tensor<?x3xf64>
    %17 = stablehlo.negate %16 : tensor<?x3xf64>
    %18 = stablehlo.exponential %17 : tensor<?x3xf64>
    %19 = stablehlo.log_plus_one %18 : tensor<?x3xf64>
    %20 = stablehlo.add %4, %19 : tensor<?x3xf64>
    %21 = stablehlo.select %10, %15, %20 : tensor<?x3xi1>, tensor<?x3xf64>
    return %21 : tensor<?x3xf64>
  }
}
// program log_sigmoid symbolic
module @jit_log_sigmoid attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x3xf64>) -> (tensor<?x3xf64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (n, 3). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
    %3 = call @_wrapped_jax_export_main(%1, %arg0) : (tensor<i64>, tensor<?x3xf64>) -> tensor<?x3xf64>
    return %3 : tensor<?x3xf64>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i64> {jax.global_constant = "n"}, %arg1: tensor<?x3xf64>) -> (tensor<?x3xf64> {jax.result_info = "result"}) {
    %0 = call @log_sigmoid(%arg0, %arg1) : (tensor<i64>, tensor<?x3xf64>) -> tensor<?x3xf64>
    return %0 : tensor<?x3xf64>
  }
  func.func private @log_sigmoid(%arg0: tensor<i64> {jax.global_constant = "n"}, %arg1: tensor<?x3xf64>) -> tensor<?x3xf64> {
    %0 = stablehlo.negate %arg1 : tensor<?x3xf64>
    %1 = call @softplus(%arg0, %0) : (tensor<i64>, tensor<?x3xf64>) -> tensor<?x3xf64>
    %2 = stablehlo.negate %1 : tensor<?x3xf64>
    return %2 : tensor<?x3xf64>
  }
  func.func private @softplus(%arg0: tensor<i64> {jax.global_constant = "n"}, %arg1: tensor<?x3xf64>) -> tensor<?x3xf64> {
    %c = stablehlo.constant dense<3> : tensor<1xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.concatenate %1, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %3 = stablehlo.dynamic_broadcast_in_dim %cst, %2, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %4 = stablehlo.maximum %arg1, %3 : tensor<?x3xf64>
    %5 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %6 = stablehlo.reshape %5 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.concatenate %6, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %8 = stablehlo.dynamic_broadcast_in_dim %cst, %7, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %9 = stablehlo.subtract %arg1, %8 : tensor<?x3xf64>
    %10 = stablehlo.compare NE, %9, %9, FLOAT : (tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xi1>
    %11 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %12 = stablehlo.reshape %11 : (tensor<i32>) -> tensor<1xi32>
    %13 = stablehlo.concatenate %12, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %14 = stablehlo.dynamic_broadcast_in_dim %cst, %13, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %15 = stablehlo.add %arg1, %14 : tensor<?x3xf64>
    %16 = stablehlo.abs %9 : tensor<?x3xf64>
    %17 = stablehlo.negate %16 : tensor<?x3xf64>
    %18 = stablehlo.exponential %17 : tensor<?x3xf64>
    %19 = stablehlo.log_plus_one %18 : tensor<?x3xf64>
    %20 = stablehlo.add %4, %19 : tensor<?x3xf64>
    %21 = stablehlo.select %10, %15, %20 : tensor<?x3xi1>, tensor<?x3xf64>
    return %21 : tensor<?x3xf64>
  }
}
// program gelu_tanh symbolic
module @jit_gelu attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x3xf64>) -> (tensor<?x3xf64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (n, 3). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
    %3 = call @_wrapped_jax_export_main(%1, %arg0) : (tensor<i64>, tensor<?x3xf64>) -> tensor<?x3xf64>
    return %3 : tensor<?x3xf64>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i64> {jax.global_constant = "n"}, %arg1: tensor<?x3xf64>) -> (tensor<?x3xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %cst_1 = stablehlo.constant dense<0.79788456080286541> : tensor<f64>
    %c = stablehlo.constant dense<3> : tensor<1xi32>
    %cst_2 = stablehlo.constant dense<4.471500e-02> : tensor<f64>
    %0 = stablehlo.multiply %arg1, %arg1 : tensor<?x3xf64>
    %1 = stablehlo.multiply %0, %arg1 : tensor<?x3xf64>
    %2 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %3 = stablehlo.reshape %2 : (tensor<i32>) -> tensor<1xi32>
    %4 = stablehlo.concatenate %3, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %5 = stablehlo.dynamic_broadcast_in_dim %cst_2, %4, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %6 = stablehlo.multiply %5, %1 : tensor<?x3xf64>
    %7 = stablehlo.add %arg1, %6 : tensor<?x3xf64>
    %8 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %9 = stablehlo.reshape %8 : (tensor<i32>) -> tensor<1xi32>
    %10 = stablehlo.concatenate %9, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %11 = stablehlo.dynamic_broadcast_in_dim %cst_1, %10, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %12 = stablehlo.multiply %11, %7 : tensor<?x3xf64>
    %13 = stablehlo.tanh %12 : tensor<?x3xf64>
    %14 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %15 = stablehlo.reshape %14 : (tensor<i32>) -> tensor<1xi32>
    %16 = stablehlo.concatenate %15, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %17 = stablehlo.dynamic_broadcast_in_dim %cst_0, %16, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %18 = stablehlo.add %17, %13 : tensor<?x3xf64>
    %19 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %20 = stablehlo.reshape %19 : (tensor<i32>) -> tensor<1xi32>
    %21 = stablehlo.concatenate %20, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %22 = stablehlo.dynamic_broadcast_in_dim %cst, %21, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %23 = stablehlo.multiply %22, %18 : tensor<?x3xf64>
    %24 = stablehlo.multiply %arg1, %23 : tensor<?x3xf64>
    return %24 : tensor<?x3xf64>
  }
}
// program gelu symbolic
module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x3xf64>) -> (tensor<?x3xf64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (n, 3). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
    %3 = call @_wrapped_jax_export_main(%1, %arg0) : (tensor<i64>, tensor<?x3xf64>) -> tensor<?x3xf64>
    return %3 : tensor<?x3xf64>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i64> {jax.global_constant = "n"}, %arg1: tensor<?x3xf64>) -> (tensor<?x3xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<49267.394260863592> : tensor<f64>
    %cst_0 = stablehlo.constant dense<22629.000061389095> : tensor<f64>
    %cst_1 = stablehlo.constant dense<4594.3238297098014> : tensor<f64>
    %cst_2 = stablehlo.constant dense<521.35794978015269> : tensor<f64>
    %cst_3 = stablehlo.constant dense<33.561714164750313> : tensor<f64>
    %cst_4 = stablehlo.constant dense<55592.301301039493> : tensor<f64>
    %cst_5 = stablehlo.constant dense<7003.3251411280507> : tensor<f64>
    %cst_6 = stablehlo.constant dense<2232.0053459468431> : tensor<f64>
    %cst_7 = stablehlo.constant dense<90.026019720384269> : tensor<f64>
    %cst_8 = stablehlo.constant dense<9.6049737398705161> : tensor<f64>
    %cst_9 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %cst_11 = stablehlo.constant dense<-709.78271289338397> : tensor<f64>
    %cst_12 = stablehlo.constant dense<8.000000e+00> : tensor<f64>
    %cst_13 = stablehlo.constant dense<3.3690764510008151> : tensor<f64>
    %cst_14 = stablehlo.constant dense<9.6089680906328585> : tensor<f64>
    %cst_15 = stablehlo.constant dense<17.081445074756591> : tensor<f64>
    %cst_16 = stablehlo.constant dense<12.048953980809666> : tensor<f64>
    %cst_17 = stablehlo.constant dense<9.3960352493800147> : tensor<f64>
    %cst_18 = stablehlo.constant dense<2.2605286322011726> : tensor<f64>
    %cst_19 = stablehlo.constant dense<2.9788666537210022> : tensor<f64>
    %cst_20 = stablehlo.constant dense<7.4097426995044895> : tensor<f64>
    %cst_21 = stablehlo.constant dense<6.160210979930536> : tensor<f64>
    %cst_22 = stablehlo.constant dense<5.0190504225118051> : tensor<f64>
    %cst_23 = stablehlo.constant dense<1.275366707599781> : tensor<f64>
    %cst_24 = stablehlo.constant dense<0.56418958354775506> : tensor<f64>
    %cst_25 = stablehlo.constant dense<557.53534081772773> : tensor<f64>
    %cst_26 = stablehlo.constant dense<1656.6630919416134> : tensor<f64>
    %cst_27 = stablehlo.constant dense<2246.3376081871097> : tensor<f64>
    %cst_28 = stablehlo.constant dense<1823.9091668790973> : tensor<f64>
    %cst_29 = stablehlo.constant dense<975.70850174320549> : tensor<f64>
    %cst_30 = stablehlo.constant dense<354.93777888781989> : tensor<f64>
    %cst_31 = stablehlo.constant dense<86.707214088598973> : tensor<f64>
    %cst_32 = stablehlo.constant dense<13.228195115474499> : tensor<f64>
    %cst_33 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %cst_34 = stablehlo.constant dense<557.53533536939938> : tensor<f64>
    %cst_35 = stablehlo.constant dense<1027.5518868951572> : tensor<f64>
    %cst_36 = stablehlo.constant dense<934.52852717195765> : tensor<f64>
    %cst_37 = stablehlo.constant dense<526.44519499547732> : tensor<f64>
    %cst_38 = stablehlo.constant dense<196.5208329560771> : tensor<f64>
    %cst_39 = stablehlo.constant dense<48.637197098568137> : tensor<f64>
    %cst_40 = stablehlo.constant dense<7.4632105644226989> : tensor<f64>
    %cst_41 = stablehlo.constant dense<0.56418956483106886> : tensor<f64>
    %cst_42 = stablehlo.constant dense<2.4619698147353052E-10> : tensor<f64>
    %cst_43 = stablehlo.constant dense<0.70710678118654757> : tensor<f64>
    %c = stablehlo.constant dense<3> : tensor<1xi32>
    %cst_44 = stablehlo.constant dense<5.000000e-01> : tensor<f64>
    %0 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.concatenate %1, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %3 = stablehlo.dynamic_broadcast_in_dim %cst_44, %2, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %4 = stablehlo.multiply %3, %arg1 : tensor<?x3xf64>
    %5 = stablehlo.negate %arg1 : tensor<?x3xf64>
    %6 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %7 = stablehlo.reshape %6 : (tensor<i32>) -> tensor<1xi32>
    %8 = stablehlo.concatenate %7, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %9 = stablehlo.dynamic_broadcast_in_dim %cst_43, %8, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %10 = stablehlo.multiply %5, %9 : tensor<?x3xf64>
    %11 = stablehlo.multiply %10, %10 : tensor<?x3xf64>
    %12 = stablehlo.negate %11 : tensor<?x3xf64>
    %13 = stablehlo.exponential %12 : tensor<?x3xf64>
    %14 = stablehlo.abs %10 : tensor<?x3xf64>
    %15 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %16 = stablehlo.reshape %15 : (tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %18 = stablehlo.reshape %17 : (tensor<i32>) -> tensor<1xi32>
    %19 = stablehlo.concatenate %16, %18, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %20 = stablehlo.dynamic_broadcast_in_dim %cst_42, %19, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %21 = stablehlo.multiply %20, %14 : tensor<?x3xf64>
    %22 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %23 = stablehlo.reshape %22 : (tensor<i32>) -> tensor<1xi32>
    %24 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %25 = stablehlo.reshape %24 : (tensor<i32>) -> tensor<1xi32>
    %26 = stablehlo.concatenate %23, %25, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %27 = stablehlo.dynamic_broadcast_in_dim %cst_41, %26, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %28 = stablehlo.add %21, %27 : tensor<?x3xf64>
    %29 = stablehlo.multiply %28, %14 : tensor<?x3xf64>
    %30 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %31 = stablehlo.reshape %30 : (tensor<i32>) -> tensor<1xi32>
    %32 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %33 = stablehlo.reshape %32 : (tensor<i32>) -> tensor<1xi32>
    %34 = stablehlo.concatenate %31, %33, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %35 = stablehlo.dynamic_broadcast_in_dim %cst_40, %34, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %36 = stablehlo.add %29, %35 : tensor<?x3xf64>
    %37 = stablehlo.multiply %36, %14 : tensor<?x3xf64>
    %38 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %39 = stablehlo.reshape %38 : (tensor<i32>) -> tensor<1xi32>
    %40 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %41 = stablehlo.reshape %40 : (tensor<i32>) -> tensor<1xi32>
    %42 = stablehlo.concatenate %39, %41, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %43 = stablehlo.dynamic_broadcast_in_dim %cst_39, %42, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %44 = stablehlo.add %37, %43 : tensor<?x3xf64>
    %45 = stablehlo.multiply %44, %14 : tensor<?x3xf64>
    %46 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %47 = stablehlo.reshape %46 : (tensor<i32>) -> tensor<1xi32>
    %48 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %49 = stablehlo.reshape %48 : (tensor<i32>) -> tensor<1xi32>
    %50 = stablehlo.concatenate %47, %49, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %51 = stablehlo.dynamic_broadcast_in_dim %cst_38, %50, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %52 = stablehlo.add %45, %51 : tensor<?x3xf64>
    %53 = stablehlo.multiply %52, %14 : tensor<?x3xf64>
    %54 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %55 = stablehlo.reshape %54 : (tensor<i32>) -> tensor<1xi32>
    %56 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %57 = stablehlo.reshape %56 : (tensor<i32>) -> tensor<1xi32>
    %58 = stablehlo.concatenate %55, %57, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %59 = stablehlo.dynamic_broadcast_in_dim %cst_37, %58, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %60 = stablehlo.add %53, %59 : tensor<?x3xf64>
    %61 = stablehlo.multiply %60, %14 : tensor<?x3xf64>
    %62 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %63 = stablehlo.reshape %62 : (tensor<i32>) -> tensor<1xi32>
    %64 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %65 = stablehlo.reshape %64 : (tensor<i32>) -> tensor<1xi32>
    %66 = stablehlo.concatenate %63, %65, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %67 = stablehlo.dynamic_broadcast_in_dim %cst_36, %66, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %68 = stablehlo.add %61, %67 : tensor<?x3xf64>
    %69 = stablehlo.multiply %68, %14 : tensor<?x3xf64>
    %70 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %71 = stablehlo.reshape %70 : (tensor<i32>) -> tensor<1xi32>
    %72 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %73 = stablehlo.reshape %72 : (tensor<i32>) -> tensor<1xi32>
    %74 = stablehlo.concatenate %71, %73, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %75 = stablehlo.dynamic_broadcast_in_dim %cst_35, %74, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %76 = stablehlo.add %69, %75 : tensor<?x3xf64>
    %77 = stablehlo.multiply %76, %14 : tensor<?x3xf64>
    %78 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %79 = stablehlo.reshape %78 : (tensor<i32>) -> tensor<1xi32>
    %80 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %81 = stablehlo.reshape %80 : (tensor<i32>) -> tensor<1xi32>
    %82 = stablehlo.concatenate %79, %81, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %83 = stablehlo.dynamic_broadcast_in_dim %cst_34, %82, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %84 = stablehlo.add %77, %83 : tensor<?x3xf64>
    %85 = stablehlo.multiply %13, %84 : tensor<?x3xf64>
    %86 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %87 = stablehlo.reshape %86 : (tensor<i32>) -> tensor<1xi32>
    %88 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %89 = stablehlo.reshape %88 : (tensor<i32>) -> tensor<1xi32>
    %90 = stablehlo.concatenate %87, %89, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %91 = stablehlo.dynamic_broadcast_in_dim %cst_33, %90, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %92 = stablehlo.multiply %91, %14 : tensor<?x3xf64>
    %93 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %94 = stablehlo.reshape %93 : (tensor<i32>) -> tensor<1xi32>
    %95 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %96 = stablehlo.reshape %95 : (tensor<i32>) -> tensor<1xi32>
    %97 = stablehlo.concatenate %94, %96, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %98 = stablehlo.dynamic_broadcast_in_dim %cst_32, %97, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %99 = stablehlo.add %92, %98 : tensor<?x3xf64>
    %100 = stablehlo.multiply %99, %14 : tensor<?x3xf64>
    %101 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %102 = stablehlo.reshape %101 : (tensor<i32>) -> tensor<1xi32>
    %103 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %104 = stablehlo.reshape %103 : (tensor<i32>) -> tensor<1xi32>
    %105 = stablehlo.concatenate %102, %104, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %106 = stablehlo.dynamic_broadcast_in_dim %cst_31, %105, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %107 = stablehlo.add %100, %106 : tensor<?x3xf64>
    %108 = stablehlo.multiply %107, %14 : tensor<?x3xf64>
    %109 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %110 = stablehlo.reshape %109 : (tensor<i32>) -> tensor<1xi32>
    %111 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %112 = stablehlo.reshape %111 : (tensor<i32>) -> tensor<1xi32>
    %113 = stablehlo.concatenate %110, %112, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %114 = stablehlo.dynamic_broadcast_in_dim %cst_30, %113, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %115 = stablehlo.add %108, %114 : tensor<?x3xf64>
    %116 = stablehlo.multiply %115, %14 : tensor<?x3xf64>
    %117 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %118 = stablehlo.reshape %117 : (tensor<i32>) -> tensor<1xi32>
    %119 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %120 = stablehlo.reshape %119 : (tensor<i32>) -> tensor<1xi32>
    %121 = stablehlo.concatenate %118, %120, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %122 = stablehlo.dynamic_broadcast_in_dim %cst_29, %121, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %123 = stablehlo.add %116, %122 : tensor<?x3xf64>
    %124 = stablehlo.multiply %123, %14 : tensor<?x3xf64>
    %125 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %126 = stablehlo.reshape %125 : (tensor<i32>) -> tensor<1xi32>
    %127 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %128 = stablehlo.reshape %127 : (tensor<i32>) -> tensor<1xi32>
    %129 = stablehlo.concatenate %126, %128, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %130 = stablehlo.dynamic_broadcast_in_dim %cst_28, %129, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %131 = stablehlo.add %124, %130 : tensor<?x3xf64>
    %132 = stablehlo.multiply %131, %14 : tensor<?x3xf64>
    %133 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %134 = stablehlo.reshape %133 : (tensor<i32>) -> tensor<1xi32>
    %135 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %136 = stablehlo.reshape %135 : (tensor<i32>) -> tensor<1xi32>
    %137 = stablehlo.concatenate %134, %136, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %138 = stablehlo.dynamic_broadcast_in_dim %cst_27, %137, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %139 = stablehlo.add %132, %138 : tensor<?x3xf64>
    %140 = stablehlo.multiply %139, %14 : tensor<?x3xf64>
    %141 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %142 = stablehlo.reshape %141 : (tensor<i32>) -> tensor<1xi32>
    %143 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %144 = stablehlo.reshape %143 : (tensor<i32>) -> tensor<1xi32>
    %145 = stablehlo.concatenate %142, %144, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %146 = stablehlo.dynamic_broadcast_in_dim %cst_26, %145, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %147 = stablehlo.add %140, %146 : tensor<?x3xf64>
    %148 = stablehlo.multiply %147, %14 : tensor<?x3xf64>
    %149 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %150 = stablehlo.reshape %149 : (tensor<i32>) -> tensor<1xi32>
    %151 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %152 = stablehlo.reshape %151 : (tensor<i32>) -> tensor<1xi32>
    %153 = stablehlo.concatenate %150, %152, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %154 = stablehlo.dynamic_broadcast_in_dim %cst_25, %153, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %155 = stablehlo.add %148, %154 : tensor<?x3xf64>
    %156 = stablehlo.divide %85, %155 : tensor<?x3xf64>
    %157 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %158 = stablehlo.reshape %157 : (tensor<i32>) -> tensor<1xi32>
    %159 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %160 = stablehlo.reshape %159 : (tensor<i32>) -> tensor<1xi32>
    %161 = stablehlo.concatenate %158, %160, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %162 = stablehlo.dynamic_broadcast_in_dim %cst_24, %161, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %163 = stablehlo.multiply %162, %14 : tensor<?x3xf64>
    %164 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %165 = stablehlo.reshape %164 : (tensor<i32>) -> tensor<1xi32>
    %166 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %167 = stablehlo.reshape %166 : (tensor<i32>) -> tensor<1xi32>
    %168 = stablehlo.concatenate %165, %167, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %169 = stablehlo.dynamic_broadcast_in_dim %cst_23, %168, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %170 = stablehlo.add %163, %169 : tensor<?x3xf64>
    %171 = stablehlo.multiply %170, %14 : tensor<?x3xf64>
    %172 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %173 = stablehlo.reshape %172 : (tensor<i32>) -> tensor<1xi32>
    %174 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %175 = stablehlo.reshape %174 : (tensor<i32>) -> tensor<1xi32>
    %176 = stablehlo.concatenate %173, %175, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %177 = stablehlo.dynamic_broadcast_in_dim %cst_22, %176, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %178 = stablehlo.add %171, %177 : tensor<?x3xf64>
    %179 = stablehlo.multiply %178, %14 : tensor<?x3xf64>
    %180 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %181 = stablehlo.reshape %180 : (tensor<i32>) -> tensor<1xi32>
    %182 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %183 = stablehlo.reshape %182 : (tensor<i32>) -> tensor<1xi32>
    %184 = stablehlo.concatenate %181, %183, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %185 = stablehlo.dynamic_broadcast_in_dim %cst_21, %184, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %186 = stablehlo.add %179, %185 : tensor<?x3xf64>
    %187 = stablehlo.multiply %186, %14 : tensor<?x3xf64>
    %188 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %189 = stablehlo.reshape %188 : (tensor<i32>) -> tensor<1xi32>
    %190 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %191 = stablehlo.reshape %190 : (tensor<i32>) -> tensor<1xi32>
    %192 = stablehlo.concatenate %189, %191, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %193 = stablehlo.dynamic_broadcast_in_dim %cst_20, %192, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %194 = stablehlo.add %187, %193 : tensor<?x3xf64>
    %195 = stablehlo.multiply %194, %14 : tensor<?x3xf64>
    %196 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %197 = stablehlo.reshape %196 : (tensor<i32>) -> tensor<1xi32>
    %198 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %199 = stablehlo.reshape %198 : (tensor<i32>) -> tensor<1xi32>
    %200 = stablehlo.concatenate %197, %199, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %201 = stablehlo.dynamic_broadcast_in_dim %cst_19, %200, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %202 = stablehlo.add %195, %201 : tensor<?x3xf64>
    %203 = stablehlo.multiply %13, %202 : tensor<?x3xf64>
    %204 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %205 = stablehlo.reshape %204 : (tensor<i32>) -> tensor<1xi32>
    %206 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %207 = stablehlo.reshape %206 : (tensor<i32>) -> tensor<1xi32>
    %208 = stablehlo.concatenate %205, %207, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %209 = stablehlo.dynamic_broadcast_in_dim %cst_33, %208, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %210 = stablehlo.multiply %209, %14 : tensor<?x3xf64>
    %211 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %212 = stablehlo.reshape %211 : (tensor<i32>) -> tensor<1xi32>
    %213 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %214 = stablehlo.reshape %213 : (tensor<i32>) -> tensor<1xi32>
    %215 = stablehlo.concatenate %212, %214, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %216 = stablehlo.dynamic_broadcast_in_dim %cst_18, %215, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %217 = stablehlo.add %210, %216 : tensor<?x3xf64>
    %218 = stablehlo.multiply %217, %14 : tensor<?x3xf64>
    %219 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %220 = stablehlo.reshape %219 : (tensor<i32>) -> tensor<1xi32>
    %221 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %222 = stablehlo.reshape %221 : (tensor<i32>) -> tensor<1xi32>
    %223 = stablehlo.concatenate %220, %222, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %224 = stablehlo.dynamic_broadcast_in_dim %cst_17, %223, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %225 = stablehlo.add %218, %224 : tensor<?x3xf64>
    %226 = stablehlo.multiply %225, %14 : tensor<?x3xf64>
    %227 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %228 = stablehlo.reshape %227 : (tensor<i32>) -> tensor<1xi32>
    %229 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %230 = stablehlo.reshape %229 : (tensor<i32>) -> tensor<1xi32>
    %231 = stablehlo.concatenate %228, %230, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %232 = stablehlo.dynamic_broadcast_in_dim %cst_16, %231, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %233 = stablehlo.add %226, %232 : tensor<?x3xf64>
    %234 = stablehlo.multiply %233, %14 : tensor<?x3xf64>
    %235 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %236 = stablehlo.reshape %235 : (tensor<i32>) -> tensor<1xi32>
    %237 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %238 = stablehlo.reshape %237 : (tensor<i32>) -> tensor<1xi32>
    %239 = stablehlo.concatenate %236, %238, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %240 = stablehlo.dynamic_broadcast_in_dim %cst_15, %239, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %241 = stablehlo.add %234, %240 : tensor<?x3xf64>
    %242 = stablehlo.multiply %241, %14 : tensor<?x3xf64>
    %243 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %244 = stablehlo.reshape %243 : (tensor<i32>) -> tensor<1xi32>
    %245 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %246 = stablehlo.reshape %245 : (tensor<i32>) -> tensor<1xi32>
    %247 = stablehlo.concatenate %244, %246, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %248 = stablehlo.dynamic_broadcast_in_dim %cst_14, %247, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %249 = stablehlo.add %242, %248 : tensor<?x3xf64>
    %250 = stablehlo.multiply %249, %14 : tensor<?x3xf64>
    %251 = stablehlo.get_dimension_size %14, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %252 = stablehlo.reshape %251 : (tensor<i32>) -> tensor<1xi32>
    %253 = stablehlo.get_dimension_size %14, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %254 = stablehlo.reshape %253 : (tensor<i32>) -> tensor<1xi32>
    %255 = stablehlo.concatenate %252, %254, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %256 = stablehlo.dynamic_broadcast_in_dim %cst_13, %255, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %257 = stablehlo.add %250, %256 : tensor<?x3xf64>
    %258 = stablehlo.divide %203, %257 : tensor<?x3xf64>
    %259 = stablehlo.get_dimension_size %10, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %260 = stablehlo.reshape %259 : (tensor<i32>) -> tensor<1xi32>
    %261 = stablehlo.get_dimension_size %10, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %262 = stablehlo.reshape %261 : (tensor<i32>) -> tensor<1xi32>
    %263 = stablehlo.concatenate %260, %262, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %264 = stablehlo.dynamic_broadcast_in_dim %cst_12, %263, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %265 = stablehlo.compare LT, %14, %264 : (tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xi1>
    %266 = stablehlo.select %265, %156, %258 : tensor<?x3xi1>, tensor<?x3xf64>
    %267 = stablehlo.get_dimension_size %10, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %268 = stablehlo.reshape %267 : (tensor<i32>) -> tensor<1xi32>
    %269 = stablehlo.get_dimension_size %10, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %270 = stablehlo.reshape %269 : (tensor<i32>) -> tensor<1xi32>
    %271 = stablehlo.concatenate %268, %270, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %272 = stablehlo.dynamic_broadcast_in_dim %cst_11, %271, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %273 = stablehlo.compare LT, %12, %272 : (tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xi1>
    %274 = stablehlo.get_dimension_size %10, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %275 = stablehlo.reshape %274 : (tensor<i32>) -> tensor<1xi32>
    %276 = stablehlo.get_dimension_size %10, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %277 = stablehlo.reshape %276 : (tensor<i32>) -> tensor<1xi32>
    %278 = stablehlo.concatenate %275, %277, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %279 = stablehlo.dynamic_broadcast_in_dim %cst_10, %278, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %280 = stablehlo.select %273, %279, %266 : tensor<?x3xi1>, tensor<?x3xf64>
    %281 = stablehlo.compare LT, %10, %279 : (tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xi1>
    %282 = stablehlo.get_dimension_size %10, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %283 = stablehlo.reshape %282 : (tensor<i32>) -> tensor<1xi32>
    %284 = stablehlo.get_dimension_size %10, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %285 = stablehlo.reshape %284 : (tensor<i32>) -> tensor<1xi32>
    %286 = stablehlo.concatenate %283, %285, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %287 = stablehlo.dynamic_broadcast_in_dim %cst_9, %286, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %288 = stablehlo.subtract %287, %280 : tensor<?x3xf64>
    %289 = stablehlo.select %281, %288, %280 : tensor<?x3xi1>, tensor<?x3xf64>
    %290 = stablehlo.get_dimension_size %10, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %291 = stablehlo.reshape %290 : (tensor<i32>) -> tensor<1xi32>
    %292 = stablehlo.get_dimension_size %10, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %293 = stablehlo.reshape %292 : (tensor<i32>) -> tensor<1xi32>
    %294 = stablehlo.concatenate %291, %293, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %295 = stablehlo.dynamic_broadcast_in_dim %cst_33, %294, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %296 = stablehlo.multiply %10, %10 : tensor<?x3xf64>
    %297 = stablehlo.get_dimension_size %296, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %298 = stablehlo.reshape %297 : (tensor<i32>) -> tensor<1xi32>
    %299 = stablehlo.get_dimension_size %296, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %300 = stablehlo.reshape %299 : (tensor<i32>) -> tensor<1xi32>
    %301 = stablehlo.concatenate %298, %300, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %302 = stablehlo.dynamic_broadcast_in_dim %cst_8, %301, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %303 = stablehlo.multiply %302, %296 : tensor<?x3xf64>
    %304 = stablehlo.get_dimension_size %296, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %305 = stablehlo.reshape %304 : (tensor<i32>) -> tensor<1xi32>
    %306 = stablehlo.get_dimension_size %296, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %307 = stablehlo.reshape %306 : (tensor<i32>) -> tensor<1xi32>
    %308 = stablehlo.concatenate %305, %307, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %309 = stablehlo.dynamic_broadcast_in_dim %cst_7, %308, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %310 = stablehlo.add %303, %309 : tensor<?x3xf64>
    %311 = stablehlo.multiply %310, %296 : tensor<?x3xf64>
    %312 = stablehlo.get_dimension_size %296, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %313 = stablehlo.reshape %312 : (tensor<i32>) -> tensor<1xi32>
    %314 = stablehlo.get_dimension_size %296, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %315 = stablehlo.reshape %314 : (tensor<i32>) -> tensor<1xi32>
    %316 = stablehlo.concatenate %313, %315, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %317 = stablehlo.dynamic_broadcast_in_dim %cst_6, %316, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %318 = stablehlo.add %311, %317 : tensor<?x3xf64>
    %319 = stablehlo.multiply %318, %296 : tensor<?x3xf64>
    %320 = stablehlo.get_dimension_size %296, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %321 = stablehlo.reshape %320 : (tensor<i32>) -> tensor<1xi32>
    %322 = stablehlo.get_dimension_size %296, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %323 = stablehlo.reshape %322 : (tensor<i32>) -> tensor<1xi32>
    %324 = stablehlo.concatenate %321, %323, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %325 = stablehlo.dynamic_broadcast_in_dim %cst_5, %324, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %326 = stablehlo.add %319, %325 : tensor<?x3xf64>
    %327 = stablehlo.multiply %326, %296 : tensor<?x3xf64>
    %328 = stablehlo.get_dimension_size %296, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %329 = stablehlo.reshape %328 : (tensor<i32>) -> tensor<1xi32>
    %330 = stablehlo.get_dimension_size %296, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %331 = stablehlo.reshape %330 : (tensor<i32>) -> tensor<1xi32>
    %332 = stablehlo.concatenate %329, %331, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %333 = stablehlo.dynamic_broadcast_in_dim %cst_4, %332, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %334 = stablehlo.add %327, %333 : tensor<?x3xf64>
    %335 = stablehlo.multiply %10, %334 : tensor<?x3xf64>
    %336 = stablehlo.get_dimension_size %296, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %337 = stablehlo.reshape %336 : (tensor<i32>) -> tensor<1xi32>
    %338 = stablehlo.get_dimension_size %296, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %339 = stablehlo.reshape %338 : (tensor<i32>) -> tensor<1xi32>
    %340 = stablehlo.concatenate %337, %339, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %341 = stablehlo.dynamic_broadcast_in_dim %cst_33, %340, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %342 = stablehlo.multiply %341, %296 : tensor<?x3xf64>
    %343 = stablehlo.get_dimension_size %296, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %344 = stablehlo.reshape %343 : (tensor<i32>) -> tensor<1xi32>
    %345 = stablehlo.get_dimension_size %296, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %346 = stablehlo.reshape %345 : (tensor<i32>) -> tensor<1xi32>
    %347 = stablehlo.concatenate %344, %346, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %348 = stablehlo.dynamic_broadcast_in_dim %cst_3, %347, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %349 = stablehlo.add %342, %348 : tensor<?x3xf64>
    %350 = stablehlo.multiply %349, %296 : tensor<?x3xf64>
    %351 = stablehlo.get_dimension_size %296, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %352 = stablehlo.reshape %351 : (tensor<i32>) -> tensor<1xi32>
    %353 = stablehlo.get_dimension_size %296, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %354 = stablehlo.reshape %353 : (tensor<i32>) -> tensor<1xi32>
    %355 = stablehlo.concatenate %352, %354, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %356 = stablehlo.dynamic_broadcast_in_dim %cst_2, %355, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %357 = stablehlo.add %350, %356 : tensor<?x3xf64>
    %358 = stablehlo.multiply %357, %296 : tensor<?x3xf64>
    %359 = stablehlo.get_dimension_size %296, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %360 = stablehlo.reshape %359 : (tensor<i32>) -> tensor<1xi32>
    %361 = stablehlo.get_dimension_size %296, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %362 = stablehlo.reshape %361 : (tensor<i32>) -> tensor<1xi32>
    %363 = stablehlo.concatenate %360, %362, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %364 = stablehlo.dynamic_broadcast_in_dim %cst_1, %363, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %365 = stablehlo.add %358, %364 : tensor<?x3xf64>
    %366 = stablehlo.multiply %365, %296 : tensor<?x3xf64>
    %367 = stablehlo.get_dimension_size %296, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %368 = stablehlo.reshape %367 : (tensor<i32>) -> tensor<1xi32>
    %369 = stablehlo.get_dimension_size %296, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %370 = stablehlo.reshape %369 : (tensor<i32>) -> tensor<1xi32>
    %371 = stablehlo.concatenate %368, %370, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %372 = stablehlo.dynamic_broadcast_in_dim %cst_0, %371, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %373 = stablehlo.add %366, %372 : tensor<?x3xf64>
    %374 = stablehlo.multiply %373, %296 : tensor<?x3xf64>
    %375 = stablehlo.get_dimension_size %296, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %376 = stablehlo.reshape %375 : (tensor<i32>) -> tensor<1xi32>
    %377 = stablehlo.get_dimension_size %296, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %378 = stablehlo.reshape %377 : (tensor<i32>) -> tensor<1xi32>
    %379 = stablehlo.concatenate %376, %378, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %380 = stablehlo.dynamic_broadcast_in_dim %cst, %379, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %381 = stablehlo.add %374, %380 : tensor<?x3xf64>
    %382 = stablehlo.divide %335, %381 : tensor<?x3xf64>
    %383 = stablehlo.subtract %295, %382 : tensor<?x3xf64>
    %384 = stablehlo.abs %10 : tensor<?x3xf64>
    %385 = stablehlo.compare LT, %384, %295 : (tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xi1>
    %386 = stablehlo.select %385, %383, %289 : tensor<?x3xi1>, tensor<?x3xf64>
    %387 = stablehlo.multiply %4, %386 : tensor<?x3xf64>
    return %387 : tensor<?x3xf64>
  }
}
// program gelu_erf symbolic
module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x3xf64>) -> (tensor<?x3xf64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (n, 3). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
    %3 = call @_wrapped_jax_export_main(%1, %arg0) : (tensor<i64>, tensor<?x3xf64>) -> tensor<?x3xf64>
    return %3 : tensor<?x3xf64>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i64> {jax.global_constant = "n"}, %arg1: tensor<?x3xf64>) -> (tensor<?x3xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %cst_0 = stablehlo.constant dense<1.4142135623730951> : tensor<f64>
    %c = stablehlo.constant dense<3> : tensor<1xi32>
    %cst_1 = stablehlo.constant dense<5.000000e-01> : tensor<f64>
    %0 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.concatenate %1, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %3 = stablehlo.dynamic_broadcast_in_dim %cst_1, %2, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %4 = stablehlo.multiply %arg1, %3 : tensor<?x3xf64>
    %5 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %6 = stablehlo.reshape %5 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.concatenate %6, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %8 = stablehlo.dynamic_broadcast_in_dim %cst_0, %7, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %9 = stablehlo.divide %arg1, %8 : tensor<?x3xf64>
    %10 = stablehlo.composite "chlo.erf" %9 {decomposition = @chlo.erf.impl, version = 1 : i32} : (tensor<?x3xf64>) -> tensor<?x3xf64>
    %11 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %12 = stablehlo.reshape %11 : (tensor<i32>) -> tensor<1xi32>
    %13 = stablehlo.concatenate %12, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %14 = stablehlo.dynamic_broadcast_in_dim %cst, %13, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %15 = stablehlo.add %14, %10 : tensor<?x3xf64>
    %16 = stablehlo.multiply %4, %15 : tensor<?x3xf64>
    return %16 : tensor<?x3xf64>
  }
  func.func private @chlo.erf.impl(%arg0: tensor<?x3xf64>) -> tensor<?x3xf64> {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %cst_1 = stablehlo.constant dense<-709.78271289338397> : tensor<f64>
    %cst_2 = stablehlo.constant dense<8.000000e+00> : tensor<f64>
    %cst_3 = stablehlo.constant dense<3.3690764510008151> : tensor<f64>
    %cst_4 = stablehlo.constant dense<9.6089680906328585> : tensor<f64>
    %cst_5 = stablehlo.constant dense<17.081445074756591> : tensor<f64>
    %cst_6 = stablehlo.constant dense<12.048953980809666> : tensor<f64>
    %cst_7 = stablehlo.constant dense<9.3960352493800147> : tensor<f64>
    %cst_8 = stablehlo.constant dense<2.2605286322011726> : tensor<f64>
    %cst_9 = stablehlo.constant dense<2.9788666537210022> : tensor<f64>
    %cst_10 = stablehlo.constant dense<7.4097426995044895> : tensor<f64>
    %cst_11 = stablehlo.constant dense<6.160210979930536> : tensor<f64>
    %cst_12 = stablehlo.constant dense<5.0190504225118051> : tensor<f64>
    %cst_13 = stablehlo.constant dense<1.275366707599781> : tensor<f64>
    %cst_14 = stablehlo.constant dense<0.56418958354775506> : tensor<f64>
    %cst_15 = stablehlo.constant dense<557.53534081772773> : tensor<f64>
    %cst_16 = stablehlo.constant dense<1656.6630919416134> : tensor<f64>
    %cst_17 = stablehlo.constant dense<2246.3376081871097> : tensor<f64>
    %cst_18 = stablehlo.constant dense<1823.9091668790973> : tensor<f64>
    %cst_19 = stablehlo.constant dense<975.70850174320549> : tensor<f64>
    %cst_20 = stablehlo.constant dense<354.93777888781989> : tensor<f64>
    %cst_21 = stablehlo.constant dense<86.707214088598973> : tensor<f64>
    %cst_22 = stablehlo.constant dense<13.228195115474499> : tensor<f64>
    %cst_23 = stablehlo.constant dense<557.53533536939938> : tensor<f64>
    %cst_24 = stablehlo.constant dense<1027.5518868951572> : tensor<f64>
    %cst_25 = stablehlo.constant dense<934.52852717195765> : tensor<f64>
    %cst_26 = stablehlo.constant dense<526.44519499547732> : tensor<f64>
    %cst_27 = stablehlo.constant dense<196.5208329560771> : tensor<f64>
    %cst_28 = stablehlo.constant dense<48.637197098568137> : tensor<f64>
    %cst_29 = stablehlo.constant dense<7.4632105644226989> : tensor<f64>
    %cst_30 = stablehlo.constant dense<0.56418956483106886> : tensor<f64>
    %cst_31 = stablehlo.constant dense<2.4619698147353052E-10> : tensor<f64>
    %cst_32 = stablehlo.constant dense<49267.394260863592> : tensor<f64>
    %cst_33 = stablehlo.constant dense<22629.000061389095> : tensor<f64>
    %cst_34 = stablehlo.constant dense<4594.3238297098014> : tensor<f64>
    %cst_35 = stablehlo.constant dense<521.35794978015269> : tensor<f64>
    %cst_36 = stablehlo.constant dense<33.561714164750313> : tensor<f64>
    %cst_37 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %cst_38 = stablehlo.constant dense<55592.301301039493> : tensor<f64>
    %cst_39 = stablehlo.constant dense<7003.3251411280507> : tensor<f64>
    %cst_40 = stablehlo.constant dense<2232.0053459468431> : tensor<f64>
    %cst_41 = stablehlo.constant dense<90.026019720384269> : tensor<f64>
    %cst_42 = stablehlo.constant dense<9.6049737398705161> : tensor<f64>
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<?x3xf64>
    %1 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %4 = stablehlo.reshape %3 : (tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.concatenate %2, %4, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %6 = stablehlo.dynamic_broadcast_in_dim %cst_42, %5, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %7 = stablehlo.multiply %6, %0 : tensor<?x3xf64>
    %8 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %9 = stablehlo.reshape %8 : (tensor<i32>) -> tensor<1xi32>
    %10 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %11 = stablehlo.reshape %10 : (tensor<i32>) -> tensor<1xi32>
    %12 = stablehlo.concatenate %9, %11, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %13 = stablehlo.dynamic_broadcast_in_dim %cst_41, %12, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %14 = stablehlo.add %7, %13 : tensor<?x3xf64>
    %15 = stablehlo.multiply %14, %0 : tensor<?x3xf64>
    %16 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %17 = stablehlo.reshape %16 : (tensor<i32>) -> tensor<1xi32>
    %18 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %19 = stablehlo.reshape %18 : (tensor<i32>) -> tensor<1xi32>
    %20 = stablehlo.concatenate %17, %19, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %21 = stablehlo.dynamic_broadcast_in_dim %cst_40, %20, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %22 = stablehlo.add %15, %21 : tensor<?x3xf64>
    %23 = stablehlo.multiply %22, %0 : tensor<?x3xf64>
    %24 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %25 = stablehlo.reshape %24 : (tensor<i32>) -> tensor<1xi32>
    %26 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %27 = stablehlo.reshape %26 : (tensor<i32>) -> tensor<1xi32>
    %28 = stablehlo.concatenate %25, %27, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %29 = stablehlo.dynamic_broadcast_in_dim %cst_39, %28, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %30 = stablehlo.add %23, %29 : tensor<?x3xf64>
    %31 = stablehlo.multiply %30, %0 : tensor<?x3xf64>
    %32 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %33 = stablehlo.reshape %32 : (tensor<i32>) -> tensor<1xi32>
    %34 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %35 = stablehlo.reshape %34 : (tensor<i32>) -> tensor<1xi32>
    %36 = stablehlo.concatenate %33, %35, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %37 = stablehlo.dynamic_broadcast_in_dim %cst_38, %36, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %38 = stablehlo.add %31, %37 : tensor<?x3xf64>
    %39 = stablehlo.multiply %arg0, %38 : tensor<?x3xf64>
    %40 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %41 = stablehlo.reshape %40 : (tensor<i32>) -> tensor<1xi32>
    %42 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %43 = stablehlo.reshape %42 : (tensor<i32>) -> tensor<1xi32>
    %44 = stablehlo.concatenate %41, %43, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %45 = stablehlo.dynamic_broadcast_in_dim %cst_37, %44, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %46 = stablehlo.multiply %45, %0 : tensor<?x3xf64>
    %47 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %48 = stablehlo.reshape %47 : (tensor<i32>) -> tensor<1xi32>
    %49 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %50 = stablehlo.reshape %49 : (tensor<i32>) -> tensor<1xi32>
    %51 = stablehlo.concatenate %48, %50, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %52 = stablehlo.dynamic_broadcast_in_dim %cst_36, %51, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %53 = stablehlo.add %46, %52 : tensor<?x3xf64>
    %54 = stablehlo.multiply %53, %0 : tensor<?x3xf64>
    %55 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %56 = stablehlo.reshape %55 : (tensor<i32>) -> tensor<1xi32>
    %57 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %58 = stablehlo.reshape %57 : (tensor<i32>) -> tensor<1xi32>
    %59 = stablehlo.concatenate %56, %58, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %60 = stablehlo.dynamic_broadcast_in_dim %cst_35, %59, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %61 = stablehlo.add %54, %60 : tensor<?x3xf64>
    %62 = stablehlo.multiply %61, %0 : tensor<?x3xf64>
    %63 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %64 = stablehlo.reshape %63 : (tensor<i32>) -> tensor<1xi32>
    %65 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %66 = stablehlo.reshape %65 : (tensor<i32>) -> tensor<1xi32>
    %67 = stablehlo.concatenate %64, %66, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %68 = stablehlo.dynamic_broadcast_in_dim %cst_34, %67, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %69 = stablehlo.add %62, %68 : tensor<?x3xf64>
    %70 = stablehlo.multiply %69, %0 : tensor<?x3xf64>
    %71 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %72 = stablehlo.reshape %71 : (tensor<i32>) -> tensor<1xi32>
    %73 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %74 = stablehlo.reshape %73 : (tensor<i32>) -> tensor<1xi32>
    %75 = stablehlo.concatenate %72, %74, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %76 = stablehlo.dynamic_broadcast_in_dim %cst_33, %75, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %77 = stablehlo.add %70, %76 : tensor<?x3xf64>
    %78 = stablehlo.multiply %77, %0 : tensor<?x3xf64>
    %79 = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %80 = stablehlo.reshape %79 : (tensor<i32>) -> tensor<1xi32>
    %81 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %82 = stablehlo.reshape %81 : (tensor<i32>) -> tensor<1xi32>
    %83 = stablehlo.concatenate %80, %82, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %84 = stablehlo.dynamic_broadcast_in_dim %cst_32, %83, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %85 = stablehlo.add %78, %84 : tensor<?x3xf64>
    %86 = stablehlo.divide %39, %85 : tensor<?x3xf64>
    %87 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %88 = stablehlo.reshape %87 : (tensor<i32>) -> tensor<1xi32>
    %89 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %90 = stablehlo.reshape %89 : (tensor<i32>) -> tensor<1xi32>
    %91 = stablehlo.concatenate %88, %90, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %92 = stablehlo.dynamic_broadcast_in_dim %cst_37, %91, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %93 = stablehlo.multiply %arg0, %arg0 : tensor<?x3xf64>
    %94 = stablehlo.negate %93 : tensor<?x3xf64>
    %95 = stablehlo.exponential %94 : tensor<?x3xf64>
    %96 = stablehlo.abs %arg0 : tensor<?x3xf64>
    %97 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %98 = stablehlo.reshape %97 : (tensor<i32>) -> tensor<1xi32>
    %99 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %100 = stablehlo.reshape %99 : (tensor<i32>) -> tensor<1xi32>
    %101 = stablehlo.concatenate %98, %100, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %102 = stablehlo.dynamic_broadcast_in_dim %cst_31, %101, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %103 = stablehlo.multiply %102, %96 : tensor<?x3xf64>
    %104 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %105 = stablehlo.reshape %104 : (tensor<i32>) -> tensor<1xi32>
    %106 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %107 = stablehlo.reshape %106 : (tensor<i32>) -> tensor<1xi32>
    %108 = stablehlo.concatenate %105, %107, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %109 = stablehlo.dynamic_broadcast_in_dim %cst_30, %108, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %110 = stablehlo.add %103, %109 : tensor<?x3xf64>
    %111 = stablehlo.multiply %110, %96 : tensor<?x3xf64>
    %112 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %113 = stablehlo.reshape %112 : (tensor<i32>) -> tensor<1xi32>
    %114 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %115 = stablehlo.reshape %114 : (tensor<i32>) -> tensor<1xi32>
    %116 = stablehlo.concatenate %113, %115, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %117 = stablehlo.dynamic_broadcast_in_dim %cst_29, %116, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %118 = stablehlo.add %111, %117 : tensor<?x3xf64>
    %119 = stablehlo.multiply %118, %96 : tensor<?x3xf64>
    %120 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %121 = stablehlo.reshape %120 : (tensor<i32>) -> tensor<1xi32>
    %122 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %123 = stablehlo.reshape %122 : (tensor<i32>) -> tensor<1xi32>
    %124 = stablehlo.concatenate %121, %123, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %125 = stablehlo.dynamic_broadcast_in_dim %cst_28, %124, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %126 = stablehlo.add %119, %125 : tensor<?x3xf64>
    %127 = stablehlo.multiply %126, %96 : tensor<?x3xf64>
    %128 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %129 = stablehlo.reshape %128 : (tensor<i32>) -> tensor<1xi32>
    %130 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %131 = stablehlo.reshape %130 : (tensor<i32>) -> tensor<1xi32>
    %132 = stablehlo.concatenate %129, %131, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %133 = stablehlo.dynamic_broadcast_in_dim %cst_27, %132, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %134 = stablehlo.add %127, %133 : tensor<?x3xf64>
    %135 = stablehlo.multiply %134, %96 : tensor<?x3xf64>
    %136 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %137 = stablehlo.reshape %136 : (tensor<i32>) -> tensor<1xi32>
    %138 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %139 = stablehlo.reshape %138 : (tensor<i32>) -> tensor<1xi32>
    %140 = stablehlo.concatenate %137, %139, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %141 = stablehlo.dynamic_broadcast_in_dim %cst_26, %140, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %142 = stablehlo.add %135, %141 : tensor<?x3xf64>
    %143 = stablehlo.multiply %142, %96 : tensor<?x3xf64>
    %144 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %145 = stablehlo.reshape %144 : (tensor<i32>) -> tensor<1xi32>
    %146 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %147 = stablehlo.reshape %146 : (tensor<i32>) -> tensor<1xi32>
    %148 = stablehlo.concatenate %145, %147, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %149 = stablehlo.dynamic_broadcast_in_dim %cst_25, %148, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %150 = stablehlo.add %143, %149 : tensor<?x3xf64>
    %151 = stablehlo.multiply %150, %96 : tensor<?x3xf64>
    %152 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %153 = stablehlo.reshape %152 : (tensor<i32>) -> tensor<1xi32>
    %154 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %155 = stablehlo.reshape %154 : (tensor<i32>) -> tensor<1xi32>
    %156 = stablehlo.concatenate %153, %155, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %157 = stablehlo.dynamic_broadcast_in_dim %cst_24, %156, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %158 = stablehlo.add %151, %157 : tensor<?x3xf64>
    %159 = stablehlo.multiply %158, %96 : tensor<?x3xf64>
    %160 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %161 = stablehlo.reshape %160 : (tensor<i32>) -> tensor<1xi32>
    %162 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %163 = stablehlo.reshape %162 : (tensor<i32>) -> tensor<1xi32>
    %164 = stablehlo.concatenate %161, %163, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %165 = stablehlo.dynamic_broadcast_in_dim %cst_23, %164, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %166 = stablehlo.add %159, %165 : tensor<?x3xf64>
    %167 = stablehlo.multiply %95, %166 : tensor<?x3xf64>
    %168 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %169 = stablehlo.reshape %168 : (tensor<i32>) -> tensor<1xi32>
    %170 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %171 = stablehlo.reshape %170 : (tensor<i32>) -> tensor<1xi32>
    %172 = stablehlo.concatenate %169, %171, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %173 = stablehlo.dynamic_broadcast_in_dim %cst_37, %172, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %174 = stablehlo.multiply %173, %96 : tensor<?x3xf64>
    %175 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %176 = stablehlo.reshape %175 : (tensor<i32>) -> tensor<1xi32>
    %177 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %178 = stablehlo.reshape %177 : (tensor<i32>) -> tensor<1xi32>
    %179 = stablehlo.concatenate %176, %178, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %180 = stablehlo.dynamic_broadcast_in_dim %cst_22, %179, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %181 = stablehlo.add %174, %180 : tensor<?x3xf64>
    %182 = stablehlo.multiply %181, %96 : tensor<?x3xf64>
    %183 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %184 = stablehlo.reshape %183 : (tensor<i32>) -> tensor<1xi32>
    %185 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %186 = stablehlo.reshape %185 : (tensor<i32>) -> tensor<1xi32>
    %187 = stablehlo.concatenate %184, %186, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %188 = stablehlo.dynamic_broadcast_in_dim %cst_21, %187, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %189 = stablehlo.add %182, %188 : tensor<?x3xf64>
    %190 = stablehlo.multiply %189, %96 : tensor<?x3xf64>
    %191 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %192 = stablehlo.reshape %191 : (tensor<i32>) -> tensor<1xi32>
    %193 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %194 = stablehlo.reshape %193 : (tensor<i32>) -> tensor<1xi32>
    %195 = stablehlo.concatenate %192, %194, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %196 = stablehlo.dynamic_broadcast_in_dim %cst_20, %195, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %197 = stablehlo.add %190, %196 : tensor<?x3xf64>
    %198 = stablehlo.multiply %197, %96 : tensor<?x3xf64>
    %199 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %200 = stablehlo.reshape %199 : (tensor<i32>) -> tensor<1xi32>
    %201 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %202 = stablehlo.reshape %201 : (tensor<i32>) -> tensor<1xi32>
    %203 = stablehlo.concatenate %200, %202, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %204 = stablehlo.dynamic_broadcast_in_dim %cst_19, %203, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %205 = stablehlo.add %198, %204 : tensor<?x3xf64>
    %206 = stablehlo.multiply %205, %96 : tensor<?x3xf64>
    %207 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %208 = stablehlo.reshape %207 : (tensor<i32>) -> tensor<1xi32>
    %209 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %210 = stablehlo.reshape %209 : (tensor<i32>) -> tensor<1xi32>
    %211 = stablehlo.concatenate %208, %210, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %212 = stablehlo.dynamic_broadcast_in_dim %cst_18, %211, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %213 = stablehlo.add %206, %212 : tensor<?x3xf64>
    %214 = stablehlo.multiply %213, %96 : tensor<?x3xf64>
    %215 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %216 = stablehlo.reshape %215 : (tensor<i32>) -> tensor<1xi32>
    %217 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %218 = stablehlo.reshape %217 : (tensor<i32>) -> tensor<1xi32>
    %219 = stablehlo.concatenate %216, %218, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %220 = stablehlo.dynamic_broadcast_in_dim %cst_17, %219, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %221 = stablehlo.add %214, %220 : tensor<?x3xf64>
    %222 = stablehlo.multiply %221, %96 : tensor<?x3xf64>
    %223 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %224 = stablehlo.reshape %223 : (tensor<i32>) -> tensor<1xi32>
    %225 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %226 = stablehlo.reshape %225 : (tensor<i32>) -> tensor<1xi32>
    %227 = stablehlo.concatenate %224, %226, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %228 = stablehlo.dynamic_broadcast_in_dim %cst_16, %227, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %229 = stablehlo.add %222, %228 : tensor<?x3xf64>
    %230 = stablehlo.multiply %229, %96 : tensor<?x3xf64>
    %231 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %232 = stablehlo.reshape %231 : (tensor<i32>) -> tensor<1xi32>
    %233 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %234 = stablehlo.reshape %233 : (tensor<i32>) -> tensor<1xi32>
    %235 = stablehlo.concatenate %232, %234, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %236 = stablehlo.dynamic_broadcast_in_dim %cst_15, %235, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %237 = stablehlo.add %230, %236 : tensor<?x3xf64>
    %238 = stablehlo.divide %167, %237 : tensor<?x3xf64>
    %239 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %240 = stablehlo.reshape %239 : (tensor<i32>) -> tensor<1xi32>
    %241 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %242 = stablehlo.reshape %241 : (tensor<i32>) -> tensor<1xi32>
    %243 = stablehlo.concatenate %240, %242, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %244 = stablehlo.dynamic_broadcast_in_dim %cst_14, %243, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %245 = stablehlo.multiply %244, %96 : tensor<?x3xf64>
    %246 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %247 = stablehlo.reshape %246 : (tensor<i32>) -> tensor<1xi32>
    %248 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %249 = stablehlo.reshape %248 : (tensor<i32>) -> tensor<1xi32>
    %250 = stablehlo.concatenate %247, %249, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %251 = stablehlo.dynamic_broadcast_in_dim %cst_13, %250, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %252 = stablehlo.add %245, %251 : tensor<?x3xf64>
    %253 = stablehlo.multiply %252, %96 : tensor<?x3xf64>
    %254 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %255 = stablehlo.reshape %254 : (tensor<i32>) -> tensor<1xi32>
    %256 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %257 = stablehlo.reshape %256 : (tensor<i32>) -> tensor<1xi32>
    %258 = stablehlo.concatenate %255, %257, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %259 = stablehlo.dynamic_broadcast_in_dim %cst_12, %258, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %260 = stablehlo.add %253, %259 : tensor<?x3xf64>
    %261 = stablehlo.multiply %260, %96 : tensor<?x3xf64>
    %262 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %263 = stablehlo.reshape %262 : (tensor<i32>) -> tensor<1xi32>
    %264 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %265 = stablehlo.reshape %264 : (tensor<i32>) -> tensor<1xi32>
    %266 = stablehlo.concatenate %263, %265, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %267 = stablehlo.dynamic_broadcast_in_dim %cst_11, %266, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %268 = stablehlo.add %261, %267 : tensor<?x3xf64>
    %269 = stablehlo.multiply %268, %96 : tensor<?x3xf64>
    %270 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %271 = stablehlo.reshape %270 : (tensor<i32>) -> tensor<1xi32>
    %272 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %273 = stablehlo.reshape %272 : (tensor<i32>) -> tensor<1xi32>
    %274 = stablehlo.concatenate %271, %273, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %275 = stablehlo.dynamic_broadcast_in_dim %cst_10, %274, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %276 = stablehlo.add %269, %275 : tensor<?x3xf64>
    %277 = stablehlo.multiply %276, %96 : tensor<?x3xf64>
    %278 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %279 = stablehlo.reshape %278 : (tensor<i32>) -> tensor<1xi32>
    %280 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %281 = stablehlo.reshape %280 : (tensor<i32>) -> tensor<1xi32>
    %282 = stablehlo.concatenate %279, %281, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %283 = stablehlo.dynamic_broadcast_in_dim %cst_9, %282, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %284 = stablehlo.add %277, %283 : tensor<?x3xf64>
    %285 = stablehlo.multiply %95, %284 : tensor<?x3xf64>
    %286 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %287 = stablehlo.reshape %286 : (tensor<i32>) -> tensor<1xi32>
    %288 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %289 = stablehlo.reshape %288 : (tensor<i32>) -> tensor<1xi32>
    %290 = stablehlo.concatenate %287, %289, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %291 = stablehlo.dynamic_broadcast_in_dim %cst_37, %290, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %292 = stablehlo.multiply %291, %96 : tensor<?x3xf64>
    %293 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %294 = stablehlo.reshape %293 : (tensor<i32>) -> tensor<1xi32>
    %295 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %296 = stablehlo.reshape %295 : (tensor<i32>) -> tensor<1xi32>
    %297 = stablehlo.concatenate %294, %296, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %298 = stablehlo.dynamic_broadcast_in_dim %cst_8, %297, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %299 = stablehlo.add %292, %298 : tensor<?x3xf64>
    %300 = stablehlo.multiply %299, %96 : tensor<?x3xf64>
    %301 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %302 = stablehlo.reshape %301 : (tensor<i32>) -> tensor<1xi32>
    %303 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %304 = stablehlo.reshape %303 : (tensor<i32>) -> tensor<1xi32>
    %305 = stablehlo.concatenate %302, %304, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %306 = stablehlo.dynamic_broadcast_in_dim %cst_7, %305, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %307 = stablehlo.add %300, %306 : tensor<?x3xf64>
    %308 = stablehlo.multiply %307, %96 : tensor<?x3xf64>
    %309 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %310 = stablehlo.reshape %309 : (tensor<i32>) -> tensor<1xi32>
    %311 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %312 = stablehlo.reshape %311 : (tensor<i32>) -> tensor<1xi32>
    %313 = stablehlo.concatenate %310, %312, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %314 = stablehlo.dynamic_broadcast_in_dim %cst_6, %313, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %315 = stablehlo.add %308, %314 : tensor<?x3xf64>
    %316 = stablehlo.multiply %315, %96 : tensor<?x3xf64>
    %317 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %318 = stablehlo.reshape %317 : (tensor<i32>) -> tensor<1xi32>
    %319 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %320 = stablehlo.reshape %319 : (tensor<i32>) -> tensor<1xi32>
    %321 = stablehlo.concatenate %318, %320, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %322 = stablehlo.dynamic_broadcast_in_dim %cst_5, %321, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %323 = stablehlo.add %316, %322 : tensor<?x3xf64>
    %324 = stablehlo.multiply %323, %96 : tensor<?x3xf64>
    %325 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %326 = stablehlo.reshape %325 : (tensor<i32>) -> tensor<1xi32>
    %327 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %328 = stablehlo.reshape %327 : (tensor<i32>) -> tensor<1xi32>
    %329 = stablehlo.concatenate %326, %328, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %330 = stablehlo.dynamic_broadcast_in_dim %cst_4, %329, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %331 = stablehlo.add %324, %330 : tensor<?x3xf64>
    %332 = stablehlo.multiply %331, %96 : tensor<?x3xf64>
    %333 = stablehlo.get_dimension_size %96, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %334 = stablehlo.reshape %333 : (tensor<i32>) -> tensor<1xi32>
    %335 = stablehlo.get_dimension_size %96, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %336 = stablehlo.reshape %335 : (tensor<i32>) -> tensor<1xi32>
    %337 = stablehlo.concatenate %334, %336, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %338 = stablehlo.dynamic_broadcast_in_dim %cst_3, %337, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %339 = stablehlo.add %332, %338 : tensor<?x3xf64>
    %340 = stablehlo.divide %285, %339 : tensor<?x3xf64>
    %341 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %342 = stablehlo.reshape %341 : (tensor<i32>) -> tensor<1xi32>
    %343 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %344 = stablehlo.reshape %343 : (tensor<i32>) -> tensor<1xi32>
    %345 = stablehlo.concatenate %342, %344, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %346 = stablehlo.dynamic_broadcast_in_dim %cst_2, %345, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %347 = stablehlo.compare LT, %96, %346 : (tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xi1>
    %348 = stablehlo.select %347, %238, %340 : tensor<?x3xi1>, tensor<?x3xf64>
    %349 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %350 = stablehlo.reshape %349 : (tensor<i32>) -> tensor<1xi32>
    %351 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %352 = stablehlo.reshape %351 : (tensor<i32>) -> tensor<1xi32>
    %353 = stablehlo.concatenate %350, %352, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %354 = stablehlo.dynamic_broadcast_in_dim %cst_1, %353, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %355 = stablehlo.compare LT, %94, %354 : (tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xi1>
    %356 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %357 = stablehlo.reshape %356 : (tensor<i32>) -> tensor<1xi32>
    %358 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %359 = stablehlo.reshape %358 : (tensor<i32>) -> tensor<1xi32>
    %360 = stablehlo.concatenate %357, %359, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %361 = stablehlo.dynamic_broadcast_in_dim %cst_0, %360, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %362 = stablehlo.select %355, %361, %348 : tensor<?x3xi1>, tensor<?x3xf64>
    %363 = stablehlo.compare LT, %arg0, %361 : (tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xi1>
    %364 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %365 = stablehlo.reshape %364 : (tensor<i32>) -> tensor<1xi32>
    %366 = stablehlo.get_dimension_size %arg0, dim = 1 : (tensor<?x3xf64>) -> tensor<i32>
    %367 = stablehlo.reshape %366 : (tensor<i32>) -> tensor<1xi32>
    %368 = stablehlo.concatenate %365, %367, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %369 = stablehlo.dynamic_broadcast_in_dim %cst, %368, dims = [] : (tensor<f64>, tensor<2xi32>) -> tensor<?x3xf64>
    %370 = stablehlo.subtract %369, %362 : tensor<?x3xf64>
    %371 = stablehlo.select %363, %370, %362 : tensor<?x3xi1>, tensor<?x3xf64>
    %372 = stablehlo.subtract %92, %371 : tensor<?x3xf64>
    %373 = stablehlo.abs %arg0 : tensor<?x3xf64>
    %374 = stablehlo.compare LT, %373, %92 : (tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xi1>
    %375 = stablehlo.select %374, %86, %372 : tensor<?x3xi1>, tensor<?x3xf64>
    return %375 : tensor<?x3xf64>
  }
}
// program softmax symbolic
module @jit_softmax attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x3xf64>) -> (tensor<?x3xf64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (n, 3). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
    %3 = call @_wrapped_jax_export_main(%1, %arg0) : (tensor<i64>, tensor<?x3xf64>) -> tensor<?x3xf64>
    return %3 : tensor<?x3xf64>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i64> {jax.global_constant = "n"}, %arg1: tensor<?x3xf64>) -> (tensor<?x3xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %c = stablehlo.constant dense<3> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<1> : tensor<1xi32>
    %cst_1 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.reduce(%arg1 init: %cst_1) applies stablehlo.maximum across dimensions = [1] : (tensor<?x3xf64>, tensor<f64>) -> tensor<?xf64>
    %1 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.dynamic_broadcast_in_dim %cst_1, %2, dims = [] : (tensor<f64>, tensor<1xi32>) -> tensor<?xf64>
    %4 = stablehlo.maximum %3, %0 : tensor<?xf64>
    %5 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %6 = stablehlo.reshape %5 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.concatenate %6, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %8 = stablehlo.dynamic_broadcast_in_dim %4, %7, dims = [0] : (tensor<?xf64>, tensor<2xi32>) -> tensor<?x1xf64>
    %9 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %10 = stablehlo.reshape %9 : (tensor<i32>) -> tensor<1xi32>
    %11 = stablehlo.concatenate %10, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %12 = stablehlo.dynamic_broadcast_in_dim %8, %11, dims = [0, 1] : (tensor<?x1xf64>, tensor<2xi32>) -> tensor<?x3xf64>
    %13 = stablehlo.subtract %arg1, %12 : tensor<?x3xf64>
    %14 = stablehlo.exponential %13 : tensor<?x3xf64>
    %15 = stablehlo.reduce(%14 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<?x3xf64>, tensor<f64>) -> tensor<?xf64>
    %16 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %17 = stablehlo.reshape %16 : (tensor<i32>) -> tensor<1xi32>
    %18 = stablehlo.concatenate %17, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %19 = stablehlo.dynamic_broadcast_in_dim %15, %18, dims = [0] : (tensor<?xf64>, tensor<2xi32>) -> tensor<?x1xf64>
    %20 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %21 = stablehlo.reshape %20 : (tensor<i32>) -> tensor<1xi32>
    %22 = stablehlo.concatenate %21, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %23 = stablehlo.dynamic_broadcast_in_dim %19, %22, dims = [0, 1] : (tensor<?x1xf64>, tensor<2xi32>) -> tensor<?x3xf64>
    %24 = stablehlo.divide %14, %23 : tensor<?x3xf64>
    return %24 : tensor<?x3xf64>
  }
}
// program log_softmax symbolic
module @jit_log_softmax attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x3xf64>) -> (tensor<?x3xf64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (n, 3). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
    %3 = call @_wrapped_jax_export_main(%1, %arg0) : (tensor<i64>, tensor<?x3xf64>) -> tensor<?x3xf64>
    return %3 : tensor<?x3xf64>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i64> {jax.global_constant = "n"}, %arg1: tensor<?x3xf64>) -> (tensor<?x3xf64> {jax.result_info = "result"}) {
    %0 = call @log_softmax(%arg0, %arg1) : (tensor<i64>, tensor<?x3xf64>) -> tensor<?x3xf64>
    return %0 : tensor<?x3xf64>
  }
  func.func private @log_softmax(%arg0: tensor<i64> {jax.global_constant = "n"}, %arg1: tensor<?x3xf64>) -> tensor<?x3xf64> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %c = stablehlo.constant dense<3> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<1> : tensor<1xi32>
    %cst_1 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.reduce(%arg1 init: %cst_1) applies stablehlo.maximum across dimensions = [1] : (tensor<?x3xf64>, tensor<f64>) -> tensor<?xf64>
    %1 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.dynamic_broadcast_in_dim %cst_1, %2, dims = [] : (tensor<f64>, tensor<1xi32>) -> tensor<?xf64>
    %4 = stablehlo.maximum %3, %0 : tensor<?xf64>
    %5 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %6 = stablehlo.reshape %5 : (tensor<i32>) -> tensor<1xi32>
    %7 = stablehlo.concatenate %6, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %8 = stablehlo.dynamic_broadcast_in_dim %4, %7, dims = [0] : (tensor<?xf64>, tensor<2xi32>) -> tensor<?x1xf64>
    %9 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %10 = stablehlo.reshape %9 : (tensor<i32>) -> tensor<1xi32>
    %11 = stablehlo.concatenate %10, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %12 = stablehlo.dynamic_broadcast_in_dim %8, %11, dims = [0, 1] : (tensor<?x1xf64>, tensor<2xi32>) -> tensor<?x3xf64>
    %13 = stablehlo.subtract %arg1, %12 : tensor<?x3xf64>
    %14 = stablehlo.exponential %13 : tensor<?x3xf64>
    %15 = stablehlo.reduce(%14 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<?x3xf64>, tensor<f64>) -> tensor<?xf64>
    %16 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %17 = stablehlo.reshape %16 : (tensor<i32>) -> tensor<1xi32>
    %18 = stablehlo.concatenate %17, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %19 = stablehlo.dynamic_broadcast_in_dim %15, %18, dims = [0] : (tensor<?xf64>, tensor<2xi32>) -> tensor<?x1xf64>
    %20 = stablehlo.log %19 : tensor<?x1xf64>
    %21 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %22 = stablehlo.reshape %21 : (tensor<i32>) -> tensor<1xi32>
    %23 = stablehlo.concatenate %22, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %24 = stablehlo.dynamic_broadcast_in_dim %20, %23, dims = [0, 1] : (tensor<?x1xf64>, tensor<2xi32>) -> tensor<?x3xf64>
    %25 = stablehlo.subtract %13, %24 : tensor<?x3xf64>
    return %25 : tensor<?x3xf64>
  }
}
// program logsumexp symbolic
module @jit__lambda attributes {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<?x3xf64>) -> (tensor<?xf64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf64>) -> tensor<i32>
    %1 = stablehlo.convert %0 : (tensor<i32>) -> tensor<i64>
    %2 = stablehlo.compare GE, %1, %c, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.custom_call @shape_assertion(%2, %1) {api_version = 2 : i32, error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (n, 3). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details.", has_side_effect = true} : (tensor<i1>, tensor<i64>) -> ()
    %3 = call @_wrapped_jax_export_main(%1, %arg0) : (tensor<i64>, tensor<?x3xf64>) -> tensor<?xf64>
    return %3 : tensor<?xf64>
  }
  func.func private @_wrapped_jax_export_main(%arg0: tensor<i64> {jax.global_constant = "n"}, %arg1: tensor<?x3xf64>) -> (tensor<?xf64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<3> : tensor<1xi32>
    %c_0 = stablehlo.constant dense<1> : tensor<1xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %cst_1 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.reduce(%arg1 init: %cst_1) applies stablehlo.maximum across dimensions = [1] : (tensor<?x3xf64>, tensor<f64>) -> tensor<?xf64>
    %1 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %2 = stablehlo.reshape %1 : (tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.dynamic_broadcast_in_dim %cst_1, %2, dims = [] : (tensor<f64>, tensor<1xi32>) -> tensor<?xf64>
    %4 = stablehlo.maximum %3, %0 : tensor<?xf64>
    %5 = stablehlo.is_finite %4 : (tensor<?xf64>) -> tensor<?xi1>
    %6 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %7 = stablehlo.reshape %6 : (tensor<i32>) -> tensor<1xi32>
    %8 = stablehlo.dynamic_broadcast_in_dim %cst, %7, dims = [] : (tensor<f64>, tensor<1xi32>) -> tensor<?xf64>
    %9 = stablehlo.select %5, %4, %8 : tensor<?xi1>, tensor<?xf64>
    %10 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %11 = stablehlo.reshape %10 : (tensor<i32>) -> tensor<1xi32>
    %12 = stablehlo.concatenate %11, %c_0, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %13 = stablehlo.dynamic_broadcast_in_dim %9, %12, dims = [0] : (tensor<?xf64>, tensor<2xi32>) -> tensor<?x1xf64>
    %14 = stablehlo.convert %arg0 : (tensor<i64>) -> tensor<i32>
    %15 = stablehlo.reshape %14 : (tensor<i32>) -> tensor<1xi32>
    %16 = stablehlo.concatenate %15, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %17 = stablehlo.dynamic_broadcast_in_dim %13, %16, dims = [0, 1] : (tensor<?x1xf64>, tensor<2xi32>) -> tensor<?x3xf64>
    %18 = stablehlo.subtract %arg1, %17 : tensor<?x3xf64>
    %19 = stablehlo.exponential %18 : tensor<?x3xf64>
    %20 = stablehlo.reduce(%19 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<?x3xf64>, tensor<f64>) -> tensor<?xf64>
    %21 = stablehlo.abs %20 : tensor<?xf64>
    %22 = stablehlo.log %21 : tensor<?xf64>
    %23 = stablehlo.add %22, %9 : tensor<?xf64>
    return %23 : tensor<?xf64>
  }
}
// program softmax grad
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf64>) -> (tensor<f64> {jax.result_info = "result[0]"}, tensor<2x3xf64> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64>
    %cst_0 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2xf64>
    %2 = stablehlo.maximum %1, %0 : tensor<2xf64>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<2xf64>) -> tensor<2x1xf64>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<2x1xf64>) -> tensor<2x3xf64>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x3xf64>
    %6 = stablehlo.exponential %5 : tensor<2x3xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<2xf64>) -> tensor<2x1xf64>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<2x1xf64>) -> tensor<2x3xf64>
    %10 = stablehlo.divide %6, %9 : tensor<2x3xf64>
    %11 = stablehlo.multiply %8, %8 : tensor<2x1xf64>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %12 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<2x1xf64>
    %13 = stablehlo.divide %12, %11 : tensor<2x1xf64>
    %14 = stablehlo.slice %10 [0:2, 0:1] : (tensor<2x3xf64>) -> tensor<2x1xf64>
    %15 = stablehlo.reshape %14 : (tensor<2x1xf64>) -> tensor<2xf64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %16 = stablehlo.reduce(%15 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<2xf64>, tensor<f64>) -> tensor<f64>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %17 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f64>) -> tensor<2xf64>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0] : (tensor<2xf64>) -> tensor<2x1xf64>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %19 = stablehlo.pad %18, %cst_5, low = [0, 0], high = [0, 2], interior = [0, 0] : (tensor<2x1xf64>, tensor<f64>) -> tensor<2x3xf64>
    %20 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<2x1xf64>) -> tensor<2x3xf64>
    %21 = stablehlo.multiply %19, %20 : tensor<2x3xf64>
    %22 = stablehlo.multiply %21, %6 : tensor<2x3xf64>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %23 = stablehlo.reduce(%22 init: %cst_6) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64>
    %24 = stablehlo.reshape %23 : (tensor<2xf64>) -> tensor<2x1xf64>
    %25 = stablehlo.negate %24 : tensor<2x1xf64>
    %26 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<2x1xf64>) -> tensor<2x3xf64>
    %27 = stablehlo.divide %19, %26 : tensor<2x3xf64>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %28 = stablehlo.reduce(%25 init: %cst_7) applies stablehlo.add across dimensions = [1] : (tensor<2x1xf64>, tensor<f64>) -> tensor<2xf64>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0] : (tensor<2xf64>) -> tensor<2x3xf64>
    %30 = stablehlo.add %27, %29 : tensor<2x3xf64>
    %31 = stablehlo.multiply %30, %6 : tensor<2x3xf64>
    return %16, %31 : tensor<f64>, tensor<2x3xf64>
  }
}
// program logsumexp grad
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf64>) -> (tensor<f64> {jax.result_info = "result[0]"}, tensor<2x3xf64> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64>
    %cst_0 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2xf64>
    %2 = stablehlo.maximum %1, %0 : tensor<2xf64>
    %3 = stablehlo.is_finite %2 : (tensor<2xf64>) -> tensor<2xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<2xf64>
    %5 = stablehlo.select %3, %2, %4 : tensor<2xi1>, tensor<2xf64>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<2xf64>) -> tensor<2x1xf64>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<2x1xf64>) -> tensor<2x3xf64>
    %8 = stablehlo.subtract %arg0, %7 : tensor<2x3xf64>
    %9 = stablehlo.exponential %8 : tensor<2x3xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %10 = stablehlo.reduce(%9 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64>
    %11 = stablehlo.abs %10 : tensor<2xf64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %12 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f64>) -> tensor<2xf64>
    %13 = stablehlo.compare GE, %10, %12, FLOAT : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xi1>
    %14 = stablehlo.log %11 : tensor<2xf64>
    %15 = stablehlo.add %14, %5 : tensor<2xf64>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %16 = stablehlo.reduce(%15 init: %cst_4) applies stablehlo.add across dimensions = [0] : (tensor<2xf64>, tensor<f64>) -> tensor<f64>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %17 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f64>) -> tensor<2xf64>
    %18 = stablehlo.divide %17, %11 : tensor<2xf64>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %19 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f64>) -> tensor<2xf64>
    %20 = stablehlo.select %13, %19, %18 : tensor<2xi1>, tensor<2xf64>
    %21 = stablehlo.select %13, %18, %19 : tensor<2xi1>, tensor<2xf64>
    %22 = stablehlo.negate %20 : tensor<2xf64>
    %23 = stablehlo.add %21, %22 : tensor<2xf64>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0] : (tensor<2xf64>) -> tensor<2x3xf64>
    %25 = stablehlo.multiply %24, %9 : tensor<2x3xf64>
    return %16, %25 : tensor<f64>, tensor<2x3xf64>
  }
}
// program gelu_tanh grad
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf64>) -> (tensor<f64> {jax.result_info = "result[0]"}, tensor<2x3xf64> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<2x3xf64>
    %1 = stablehlo.multiply %0, %arg0 : tensor<2x3xf64>
    %2 = stablehlo.multiply %arg0, %arg0 : tensor<2x3xf64>
    %cst = stablehlo.constant dense<3.000000e+00> : tensor<f64>
    %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %4 = stablehlo.multiply %3, %2 : tensor<2x3xf64>
    %cst_0 = stablehlo.constant dense<4.471500e-02> : tensor<f64>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %6 = stablehlo.multiply %5, %1 : tensor<2x3xf64>
    %7 = stablehlo.add %arg0, %6 : tensor<2x3xf64>
    %cst_1 = stablehlo.constant dense<0.79788456080286541> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %9 = stablehlo.multiply %8, %7 : tensor<2x3xf64>
    %10 = stablehlo.tanh %9 : tensor<2x3xf64>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %11 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %12 = stablehlo.subtract %11, %10 : tensor<2x3xf64>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %13 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %14 = stablehlo.add %13, %10 : tensor<2x3xf64>
    %cst_4 = stablehlo.constant dense<5.000000e-01> : tensor<f64>
    %15 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %16 = stablehlo.multiply %15, %14 : tensor<2x3xf64>
    %17 = stablehlo.multiply %arg0, %16 : tensor<2x3xf64>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %18 = stablehlo.reduce(%17 init: %cst_5) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<f64>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %19 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %20 = stablehlo.multiply %arg0, %19 : tensor<2x3xf64>
    %21 = stablehlo.multiply %19, %16 : tensor<2x3xf64>
    %cst_7 = stablehlo.constant dense<5.000000e-01> : tensor<f64>
    %22 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %23 = stablehlo.multiply %22, %20 : tensor<2x3xf64>
    %24 = stablehlo.multiply %23, %12 : tensor<2x3xf64>
    %25 = stablehlo.multiply %24, %10 : tensor<2x3xf64>
    %26 = stablehlo.add %24, %25 : tensor<2x3xf64>
    %cst_8 = stablehlo.constant dense<0.79788456080286541> : tensor<f64>
    %27 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %28 = stablehlo.multiply %27, %26 : tensor<2x3xf64>
    %29 = stablehlo.add %21, %28 : tensor<2x3xf64>
    %cst_9 = stablehlo.constant dense<4.471500e-02> : tensor<f64>
    %30 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %31 = stablehlo.multiply %30, %28 : tensor<2x3xf64>
    %32 = stablehlo.multiply %31, %4 : tensor<2x3xf64>
    %33 = stablehlo.add %29, %32 : tensor<2x3xf64>
    return %18, %33 : tensor<f64>, tensor<2x3xf64>
  }
}
// program softplus grad
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf64>) -> (tensor<f64> {jax.result_info = "result[0]"}, tensor<2x3xf64> {jax.result_info = "result[1]"}) {
    %0:2 = call @softplus(%arg0) : (tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>)
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %1 = stablehlo.reduce(%0#0 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<f64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %3 = call @softplus_0(%0#1, %2) : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
    return %1, %3 : tensor<f64>, tensor<2x3xf64>
  }
  func.func private @softplus(%arg0: tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2x3xf64>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %1 = stablehlo.maximum %arg0, %0 : tensor<2x3xf64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %3 = stablehlo.subtract %arg0, %2 : tensor<2x3xf64>
    %4 = stablehlo.compare NE, %3, %3, FLOAT : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xi1>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %6 = stablehlo.add %arg0, %5 : tensor<2x3xf64>
    %7 = stablehlo.abs %3 : tensor<2x3xf64>
    %8 = stablehlo.negate %7 : tensor<2x3xf64>
    %9 = stablehlo.exponential %8 : tensor<2x3xf64>
    %10 = stablehlo.log_plus_one %9 : tensor<2x3xf64>
    %11 = stablehlo.add %1, %10 : tensor<2x3xf64>
    %12 = stablehlo.select %4, %6, %11 : tensor<2x3xi1>, tensor<2x3xf64>
    %cst_0 = stablehlo.constant dense<0x7FF0000000000000> : tensor<f64>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %14 = stablehlo.compare EQ, %arg0, %13, FLOAT : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %16 = stablehlo.select %14, %15, %arg0 : tensor<2x3xi1>, tensor<2x3xf64>
    %cst_2 = stablehlo.constant dense<0x7FF0000000000000> : tensor<f64>
    %17 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %18 = stablehlo.compare EQ, %12, %17, FLOAT : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xi1>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %20 = stablehlo.select %18, %19, %12 : tensor<2x3xi1>, tensor<2x3xf64>
    %21 = stablehlo.subtract %16, %20 : tensor<2x3xf64>
    %22 = stablehlo.exponential %21 : tensor<2x3xf64>
    return %12, %22 : tensor<2x3xf64>, tensor<2x3xf64>
  }
  func.func private @softplus_0(%arg0: tensor<2x3xf64>, %arg1: tensor<2x3xf64>) -> tensor<2x3xf64> {
    %0 = stablehlo.multiply %arg1, %arg0 : tensor<2x3xf64>
    return %0 : tensor<2x3xf64>
  }
}
// program logistic grad
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf64>) -> (tensor<f64> {jax.result_info = "result[0]"}, tensor<2x3xf64> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.negate %arg0 : tensor<2x3xf64>
    %1 = stablehlo.exponential %0 : tensor<2x3xf64>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %3 = stablehlo.add %2, %1 : tensor<2x3xf64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %5 = stablehlo.divide %4, %3 : tensor<2x3xf64>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %7 = stablehlo.subtract %6, %5 : tensor<2x3xf64>
    %8 = stablehlo.multiply %5, %7 : tensor<2x3xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %9 = stablehlo.reduce(%5 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<f64>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %10 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %11 = stablehlo.multiply %10, %8 : tensor<2x3xf64>
    return %9, %11 : tensor<f64>, tensor<2x3xf64>
  }
}
// program logaddexp grad
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf64>) -> (tensor<f64> {jax.result_info = "result[0]"}, tensor<2x3xf64> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %1 = stablehlo.multiply %0, %arg0 : tensor<2x3xf64>
    %2 = stablehlo.maximum %arg0, %1 : tensor<2x3xf64>
    %3 = stablehlo.subtract %arg0, %1 : tensor<2x3xf64>
    %4 = stablehlo.compare NE, %3, %3, FLOAT : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xi1>
    %5 = stablehlo.add %arg0, %1 : tensor<2x3xf64>
    %6 = stablehlo.abs %3 : tensor<2x3xf64>
    %7 = stablehlo.negate %6 : tensor<2x3xf64>
    %8 = stablehlo.exponential %7 : tensor<2x3xf64>
    %9 = stablehlo.log_plus_one %8 : tensor<2x3xf64>
    %10 = stablehlo.add %2, %9 : tensor<2x3xf64>
    %11 = stablehlo.select %4, %5, %10 : tensor<2x3xi1>, tensor<2x3xf64>
    %cst_0 = stablehlo.constant dense<0x7FF0000000000000> : tensor<f64>
    %12 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %13 = stablehlo.compare EQ, %arg0, %12, FLOAT : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %14 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %15 = stablehlo.select %13, %14, %arg0 : tensor<2x3xi1>, tensor<2x3xf64>
    %cst_2 = stablehlo.constant dense<0x7FF0000000000000> : tensor<f64>
    %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %17 = stablehlo.compare EQ, %11, %16, FLOAT : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xi1>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %18 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %19 = stablehlo.select %17, %18, %11 : tensor<2x3xi1>, tensor<2x3xf64>
    %20 = stablehlo.subtract %15, %19 : tensor<2x3xf64>
    %21 = stablehlo.exponential %20 : tensor<2x3xf64>
    %cst_4 = stablehlo.constant dense<0x7FF0000000000000> : tensor<f64>
    %22 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %23 = stablehlo.compare EQ, %1, %22, FLOAT : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xi1>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %24 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %25 = stablehlo.select %23, %24, %1 : tensor<2x3xi1>, tensor<2x3xf64>
    %cst_6 = stablehlo.constant dense<0x7FF0000000000000> : tensor<f64>
    %26 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %27 = stablehlo.compare EQ, %11, %26, FLOAT : (tensor<2x3xf64>, tensor<2x3xf64>) -> tensor<2x3xi1>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %28 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %29 = stablehlo.select %27, %28, %11 : tensor<2x3xi1>, tensor<2x3xf64>
    %30 = stablehlo.subtract %25, %29 : tensor<2x3xf64>
    %31 = stablehlo.exponential %30 : tensor<2x3xf64>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %32 = stablehlo.reduce(%11 init: %cst_8) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<f64>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %33 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %34 = stablehlo.multiply %33, %31 : tensor<2x3xf64>
    %35 = stablehlo.multiply %33, %21 : tensor<2x3xf64>
    %cst_10 = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %36 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f64>) -> tensor<2x3xf64>
    %37 = stablehlo.multiply %36, %34 : tensor<2x3xf64>
    %38 = stablehlo.add %35, %37 : tensor<2x3xf64>
    return %32, %38 : tensor<f64>, tensor<2x3xf64>
  }
}
// program softmax two axes
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf64>) -> (tensor<2x3xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<f64>
    %cst_0 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %1 = stablehlo.maximum %cst_0, %0 : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f64>) -> tensor<1x1xf64>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x1xf64>) -> tensor<2x3xf64>
    %4 = stablehlo.subtract %arg0, %3 : tensor<2x3xf64>
    %5 = stablehlo.exponential %4 : tensor<2x3xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %6 = stablehlo.reduce(%5 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf64>, tensor<f64>) -> tensor<f64>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<f64>) -> tensor<1x1xf64>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x1xf64>) -> tensor<2x3xf64>
    %9 = stablehlo.divide %5, %8 : tensor<2x3xf64>
    return %9 : tensor<2x3xf64>
  }
}
// program softplus written out
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf64>) -> (tensor<3xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.exponential %arg0 : tensor<3xf64>
    %1 = stablehlo.log_plus_one %0 : tensor<3xf64>
    return %1 : tensor<3xf64>
  }
}
