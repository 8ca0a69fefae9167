module @jit_effects attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: !stablehlo.token {jax.token = true}, %arg1: tensor<f64>) -> (!stablehlo.token {jax.token = true}, tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.sine %arg1 : tensor<f64>
    %1 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%arg0, %0) {backend_config = "", has_side_effect = true, mhlo.backend_config = {index = 0 : ui64}, operand_layouts = [dense<> : tensor<0xindex>, dense<> : tensor<0xindex>], result_layouts = [dense<> : tensor<0xindex>]} : (!stablehlo.token, tensor<f64>) -> !stablehlo.token
    %2 = stablehlo.cosine %arg1 : tensor<f64>
    %3 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%1, %2) {backend_config = "", has_side_effect = true, mhlo.backend_config = {index = 1 : ui64}, operand_layouts = [dense<> : tensor<0xindex>, dense<> : tensor<0xindex>], result_layouts = [dense<> : tensor<0xindex>]} : (!stablehlo.token, tensor<f64>) -> !stablehlo.token
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %4 = stablehlo.multiply %arg1, %cst : tensor<f64>
    return %3, %4 : !stablehlo.token, tensor<f64>
  }
}
