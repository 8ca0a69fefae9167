// workload 0_sgemm_128 value - uniform uniform
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<128x128xf32>, %arg1: tensor<128x128xf32>) -> (tensor<128x128xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
    return %0 : tensor<128x128xf32>
  }
}
// workload 0_dgemm_128 value - uniform uniform
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<128x128xf64>, %arg1: tensor<128x128xf64>) -> (tensor<128x128xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x128xf64>, tensor<128x128xf64>) -> tensor<128x128xf64>
    return %0 : tensor<128x128xf64>
  }
}
// workload 0_sgemm_256 value - uniform uniform
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<256x256xf32>, %arg1: tensor<256x256xf32>) -> (tensor<256x256xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    return %0 : tensor<256x256xf32>
  }
}
// workload 0_dgemm_256 value - uniform uniform
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<256x256xf64>, %arg1: tensor<256x256xf64>) -> (tensor<256x256xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x256xf64>, tensor<256x256xf64>) -> tensor<256x256xf64>
    return %0 : tensor<256x256xf64>
  }
}
// workload 0_sgemm_512 value - uniform uniform
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<512x512xf32>, %arg1: tensor<512x512xf32>) -> (tensor<512x512xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    return %0 : tensor<512x512xf32>
  }
}
// workload 0_dgemm_512 value - uniform uniform
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<512x512xf64>, %arg1: tensor<512x512xf64>) -> (tensor<512x512xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<512x512xf64>, tensor<512x512xf64>) -> tensor<512x512xf64>
    return %0 : tensor<512x512xf64>
  }
}
// workload 0_sgemm_1024 value - uniform uniform
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1024x1024xf32>, %arg1: tensor<1024x1024xf32>) -> (tensor<1024x1024xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    return %0 : tensor<1024x1024xf32>
  }
}
// workload 0_dgemm_1024 value - uniform uniform
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1024x1024xf64>, %arg1: tensor<1024x1024xf64>) -> (tensor<1024x1024xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1024x1024xf64>, tensor<1024x1024xf64>) -> tensor<1024x1024xf64>
    return %0 : tensor<1024x1024xf64>
  }
}
// workload 0_sgemm_2048 value - uniform uniform
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2048x2048xf32>, %arg1: tensor<2048x2048xf32>) -> (tensor<2048x2048xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2048x2048xf32>, tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
    return %0 : tensor<2048x2048xf32>
  }
}
// workload 0_dgemm_2048 value - uniform uniform
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2048x2048xf64>, %arg1: tensor<2048x2048xf64>) -> (tensor<2048x2048xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2048x2048xf64>, tensor<2048x2048xf64>) -> tensor<2048x2048xf64>
    return %0 : tensor<2048x2048xf64>
  }
}
// workload a_sumsq3_grad_float32 grad 0 normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
}
// workload a_chain100_fwd_float32 value - value:0.5
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10xf32>) -> (tensor<10xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<10xf32>
    %cst_0 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %3 = stablehlo.add %1, %2 : tensor<10xf32>
    %4 = stablehlo.tanh %3 : tensor<10xf32>
    %cst_1 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %6 = stablehlo.multiply %4, %5 : tensor<10xf32>
    %cst_2 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %8 = stablehlo.add %6, %7 : tensor<10xf32>
    %9 = stablehlo.tanh %8 : tensor<10xf32>
    %cst_3 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %11 = stablehlo.multiply %9, %10 : tensor<10xf32>
    %cst_4 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %13 = stablehlo.add %11, %12 : tensor<10xf32>
    %14 = stablehlo.tanh %13 : tensor<10xf32>
    %cst_5 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %16 = stablehlo.multiply %14, %15 : tensor<10xf32>
    %cst_6 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %18 = stablehlo.add %16, %17 : tensor<10xf32>
    %19 = stablehlo.tanh %18 : tensor<10xf32>
    %cst_7 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %21 = stablehlo.multiply %19, %20 : tensor<10xf32>
    %cst_8 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %23 = stablehlo.add %21, %22 : tensor<10xf32>
    %24 = stablehlo.tanh %23 : tensor<10xf32>
    %cst_9 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %26 = stablehlo.multiply %24, %25 : tensor<10xf32>
    %cst_10 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %28 = stablehlo.add %26, %27 : tensor<10xf32>
    %29 = stablehlo.tanh %28 : tensor<10xf32>
    %cst_11 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %31 = stablehlo.multiply %29, %30 : tensor<10xf32>
    %cst_12 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %33 = stablehlo.add %31, %32 : tensor<10xf32>
    %34 = stablehlo.tanh %33 : tensor<10xf32>
    %cst_13 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %36 = stablehlo.multiply %34, %35 : tensor<10xf32>
    %cst_14 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %38 = stablehlo.add %36, %37 : tensor<10xf32>
    %39 = stablehlo.tanh %38 : tensor<10xf32>
    %cst_15 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %41 = stablehlo.multiply %39, %40 : tensor<10xf32>
    %cst_16 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %43 = stablehlo.add %41, %42 : tensor<10xf32>
    %44 = stablehlo.tanh %43 : tensor<10xf32>
    %cst_17 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %46 = stablehlo.multiply %44, %45 : tensor<10xf32>
    %cst_18 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %48 = stablehlo.add %46, %47 : tensor<10xf32>
    %49 = stablehlo.tanh %48 : tensor<10xf32>
    %cst_19 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %51 = stablehlo.multiply %49, %50 : tensor<10xf32>
    %cst_20 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %53 = stablehlo.add %51, %52 : tensor<10xf32>
    %54 = stablehlo.tanh %53 : tensor<10xf32>
    %cst_21 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %56 = stablehlo.multiply %54, %55 : tensor<10xf32>
    %cst_22 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %58 = stablehlo.add %56, %57 : tensor<10xf32>
    %59 = stablehlo.tanh %58 : tensor<10xf32>
    %cst_23 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %61 = stablehlo.multiply %59, %60 : tensor<10xf32>
    %cst_24 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %63 = stablehlo.add %61, %62 : tensor<10xf32>
    %64 = stablehlo.tanh %63 : tensor<10xf32>
    %cst_25 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %66 = stablehlo.multiply %64, %65 : tensor<10xf32>
    %cst_26 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %68 = stablehlo.add %66, %67 : tensor<10xf32>
    %69 = stablehlo.tanh %68 : tensor<10xf32>
    %cst_27 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %71 = stablehlo.multiply %69, %70 : tensor<10xf32>
    %cst_28 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %73 = stablehlo.add %71, %72 : tensor<10xf32>
    %74 = stablehlo.tanh %73 : tensor<10xf32>
    %cst_29 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %76 = stablehlo.multiply %74, %75 : tensor<10xf32>
    %cst_30 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %78 = stablehlo.add %76, %77 : tensor<10xf32>
    %79 = stablehlo.tanh %78 : tensor<10xf32>
    %cst_31 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %81 = stablehlo.multiply %79, %80 : tensor<10xf32>
    %cst_32 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %82 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %83 = stablehlo.add %81, %82 : tensor<10xf32>
    %84 = stablehlo.tanh %83 : tensor<10xf32>
    %cst_33 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %85 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %86 = stablehlo.multiply %84, %85 : tensor<10xf32>
    %cst_34 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %87 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %88 = stablehlo.add %86, %87 : tensor<10xf32>
    %89 = stablehlo.tanh %88 : tensor<10xf32>
    %cst_35 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %90 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %91 = stablehlo.multiply %89, %90 : tensor<10xf32>
    %cst_36 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %92 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %93 = stablehlo.add %91, %92 : tensor<10xf32>
    %94 = stablehlo.tanh %93 : tensor<10xf32>
    %cst_37 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %95 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %96 = stablehlo.multiply %94, %95 : tensor<10xf32>
    %cst_38 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %98 = stablehlo.add %96, %97 : tensor<10xf32>
    %99 = stablehlo.tanh %98 : tensor<10xf32>
    %cst_39 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %100 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %101 = stablehlo.multiply %99, %100 : tensor<10xf32>
    %cst_40 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %102 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %103 = stablehlo.add %101, %102 : tensor<10xf32>
    %104 = stablehlo.tanh %103 : tensor<10xf32>
    %cst_41 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %105 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %106 = stablehlo.multiply %104, %105 : tensor<10xf32>
    %cst_42 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %107 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %108 = stablehlo.add %106, %107 : tensor<10xf32>
    %109 = stablehlo.tanh %108 : tensor<10xf32>
    %cst_43 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %110 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %111 = stablehlo.multiply %109, %110 : tensor<10xf32>
    %cst_44 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %112 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %113 = stablehlo.add %111, %112 : tensor<10xf32>
    %114 = stablehlo.tanh %113 : tensor<10xf32>
    %cst_45 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %115 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %116 = stablehlo.multiply %114, %115 : tensor<10xf32>
    %cst_46 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %118 = stablehlo.add %116, %117 : tensor<10xf32>
    %119 = stablehlo.tanh %118 : tensor<10xf32>
    %cst_47 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %120 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %121 = stablehlo.multiply %119, %120 : tensor<10xf32>
    %cst_48 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %122 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %123 = stablehlo.add %121, %122 : tensor<10xf32>
    %124 = stablehlo.tanh %123 : tensor<10xf32>
    %cst_49 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %125 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %126 = stablehlo.multiply %124, %125 : tensor<10xf32>
    %cst_50 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %127 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %128 = stablehlo.add %126, %127 : tensor<10xf32>
    %129 = stablehlo.tanh %128 : tensor<10xf32>
    %cst_51 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %130 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %131 = stablehlo.multiply %129, %130 : tensor<10xf32>
    %cst_52 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %132 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %133 = stablehlo.add %131, %132 : tensor<10xf32>
    %134 = stablehlo.tanh %133 : tensor<10xf32>
    %cst_53 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %135 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %136 = stablehlo.multiply %134, %135 : tensor<10xf32>
    %cst_54 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %137 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %138 = stablehlo.add %136, %137 : tensor<10xf32>
    %139 = stablehlo.tanh %138 : tensor<10xf32>
    %cst_55 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %140 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %141 = stablehlo.multiply %139, %140 : tensor<10xf32>
    %cst_56 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %142 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %143 = stablehlo.add %141, %142 : tensor<10xf32>
    %144 = stablehlo.tanh %143 : tensor<10xf32>
    %cst_57 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %145 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %146 = stablehlo.multiply %144, %145 : tensor<10xf32>
    %cst_58 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %147 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %148 = stablehlo.add %146, %147 : tensor<10xf32>
    %149 = stablehlo.tanh %148 : tensor<10xf32>
    %cst_59 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %151 = stablehlo.multiply %149, %150 : tensor<10xf32>
    %cst_60 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %152 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %153 = stablehlo.add %151, %152 : tensor<10xf32>
    %154 = stablehlo.tanh %153 : tensor<10xf32>
    %cst_61 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %155 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %156 = stablehlo.multiply %154, %155 : tensor<10xf32>
    %cst_62 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %157 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %158 = stablehlo.add %156, %157 : tensor<10xf32>
    %159 = stablehlo.tanh %158 : tensor<10xf32>
    %cst_63 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %160 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %161 = stablehlo.multiply %159, %160 : tensor<10xf32>
    %cst_64 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %162 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %163 = stablehlo.add %161, %162 : tensor<10xf32>
    %164 = stablehlo.tanh %163 : tensor<10xf32>
    %cst_65 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %165 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %166 = stablehlo.multiply %164, %165 : tensor<10xf32>
    return %166 : tensor<10xf32>
  }
}
// workload a_chain100_grad_float32 grad 0 value:0.5
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<10xf32>
    %cst_0 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %3 = stablehlo.add %1, %2 : tensor<10xf32>
    %4 = stablehlo.tanh %3 : tensor<10xf32>
    %cst_1 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %6 = stablehlo.multiply %4, %5 : tensor<10xf32>
    %cst_2 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %8 = stablehlo.add %6, %7 : tensor<10xf32>
    %9 = stablehlo.tanh %8 : tensor<10xf32>
    %cst_3 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %11 = stablehlo.multiply %9, %10 : tensor<10xf32>
    %cst_4 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %13 = stablehlo.add %11, %12 : tensor<10xf32>
    %14 = stablehlo.tanh %13 : tensor<10xf32>
    %cst_5 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %16 = stablehlo.multiply %14, %15 : tensor<10xf32>
    %cst_6 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %18 = stablehlo.add %16, %17 : tensor<10xf32>
    %19 = stablehlo.tanh %18 : tensor<10xf32>
    %cst_7 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %21 = stablehlo.multiply %19, %20 : tensor<10xf32>
    %cst_8 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %23 = stablehlo.add %21, %22 : tensor<10xf32>
    %24 = stablehlo.tanh %23 : tensor<10xf32>
    %cst_9 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %26 = stablehlo.multiply %24, %25 : tensor<10xf32>
    %cst_10 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %28 = stablehlo.add %26, %27 : tensor<10xf32>
    %29 = stablehlo.tanh %28 : tensor<10xf32>
    %cst_11 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %31 = stablehlo.multiply %29, %30 : tensor<10xf32>
    %cst_12 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %33 = stablehlo.add %31, %32 : tensor<10xf32>
    %34 = stablehlo.tanh %33 : tensor<10xf32>
    %cst_13 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %36 = stablehlo.multiply %34, %35 : tensor<10xf32>
    %cst_14 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %38 = stablehlo.add %36, %37 : tensor<10xf32>
    %39 = stablehlo.tanh %38 : tensor<10xf32>
    %cst_15 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %41 = stablehlo.multiply %39, %40 : tensor<10xf32>
    %cst_16 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %43 = stablehlo.add %41, %42 : tensor<10xf32>
    %44 = stablehlo.tanh %43 : tensor<10xf32>
    %cst_17 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %46 = stablehlo.multiply %44, %45 : tensor<10xf32>
    %cst_18 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %48 = stablehlo.add %46, %47 : tensor<10xf32>
    %49 = stablehlo.tanh %48 : tensor<10xf32>
    %cst_19 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %51 = stablehlo.multiply %49, %50 : tensor<10xf32>
    %cst_20 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %53 = stablehlo.add %51, %52 : tensor<10xf32>
    %54 = stablehlo.tanh %53 : tensor<10xf32>
    %cst_21 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %56 = stablehlo.multiply %54, %55 : tensor<10xf32>
    %cst_22 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %58 = stablehlo.add %56, %57 : tensor<10xf32>
    %59 = stablehlo.tanh %58 : tensor<10xf32>
    %cst_23 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %61 = stablehlo.multiply %59, %60 : tensor<10xf32>
    %cst_24 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %63 = stablehlo.add %61, %62 : tensor<10xf32>
    %64 = stablehlo.tanh %63 : tensor<10xf32>
    %cst_25 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %66 = stablehlo.multiply %64, %65 : tensor<10xf32>
    %cst_26 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %68 = stablehlo.add %66, %67 : tensor<10xf32>
    %69 = stablehlo.tanh %68 : tensor<10xf32>
    %cst_27 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %71 = stablehlo.multiply %69, %70 : tensor<10xf32>
    %cst_28 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %73 = stablehlo.add %71, %72 : tensor<10xf32>
    %74 = stablehlo.tanh %73 : tensor<10xf32>
    %cst_29 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %76 = stablehlo.multiply %74, %75 : tensor<10xf32>
    %cst_30 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %78 = stablehlo.add %76, %77 : tensor<10xf32>
    %79 = stablehlo.tanh %78 : tensor<10xf32>
    %cst_31 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %81 = stablehlo.multiply %79, %80 : tensor<10xf32>
    %cst_32 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %82 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %83 = stablehlo.add %81, %82 : tensor<10xf32>
    %84 = stablehlo.tanh %83 : tensor<10xf32>
    %cst_33 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %85 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %86 = stablehlo.multiply %84, %85 : tensor<10xf32>
    %cst_34 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %87 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %88 = stablehlo.add %86, %87 : tensor<10xf32>
    %89 = stablehlo.tanh %88 : tensor<10xf32>
    %cst_35 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %90 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %91 = stablehlo.multiply %89, %90 : tensor<10xf32>
    %cst_36 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %92 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %93 = stablehlo.add %91, %92 : tensor<10xf32>
    %94 = stablehlo.tanh %93 : tensor<10xf32>
    %cst_37 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %95 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %96 = stablehlo.multiply %94, %95 : tensor<10xf32>
    %cst_38 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %98 = stablehlo.add %96, %97 : tensor<10xf32>
    %99 = stablehlo.tanh %98 : tensor<10xf32>
    %cst_39 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %100 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %101 = stablehlo.multiply %99, %100 : tensor<10xf32>
    %cst_40 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %102 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %103 = stablehlo.add %101, %102 : tensor<10xf32>
    %104 = stablehlo.tanh %103 : tensor<10xf32>
    %cst_41 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %105 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %106 = stablehlo.multiply %104, %105 : tensor<10xf32>
    %cst_42 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %107 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %108 = stablehlo.add %106, %107 : tensor<10xf32>
    %109 = stablehlo.tanh %108 : tensor<10xf32>
    %cst_43 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %110 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %111 = stablehlo.multiply %109, %110 : tensor<10xf32>
    %cst_44 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %112 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %113 = stablehlo.add %111, %112 : tensor<10xf32>
    %114 = stablehlo.tanh %113 : tensor<10xf32>
    %cst_45 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %115 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %116 = stablehlo.multiply %114, %115 : tensor<10xf32>
    %cst_46 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %118 = stablehlo.add %116, %117 : tensor<10xf32>
    %119 = stablehlo.tanh %118 : tensor<10xf32>
    %cst_47 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %120 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %121 = stablehlo.multiply %119, %120 : tensor<10xf32>
    %cst_48 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %122 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %123 = stablehlo.add %121, %122 : tensor<10xf32>
    %124 = stablehlo.tanh %123 : tensor<10xf32>
    %cst_49 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %125 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %126 = stablehlo.multiply %124, %125 : tensor<10xf32>
    %cst_50 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %127 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %128 = stablehlo.add %126, %127 : tensor<10xf32>
    %129 = stablehlo.tanh %128 : tensor<10xf32>
    %cst_51 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %130 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %131 = stablehlo.multiply %129, %130 : tensor<10xf32>
    %cst_52 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %132 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %133 = stablehlo.add %131, %132 : tensor<10xf32>
    %134 = stablehlo.tanh %133 : tensor<10xf32>
    %cst_53 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %135 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %136 = stablehlo.multiply %134, %135 : tensor<10xf32>
    %cst_54 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %137 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %138 = stablehlo.add %136, %137 : tensor<10xf32>
    %139 = stablehlo.tanh %138 : tensor<10xf32>
    %cst_55 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %140 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %141 = stablehlo.multiply %139, %140 : tensor<10xf32>
    %cst_56 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %142 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %143 = stablehlo.add %141, %142 : tensor<10xf32>
    %144 = stablehlo.tanh %143 : tensor<10xf32>
    %cst_57 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %145 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %146 = stablehlo.multiply %144, %145 : tensor<10xf32>
    %cst_58 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %147 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %148 = stablehlo.add %146, %147 : tensor<10xf32>
    %149 = stablehlo.tanh %148 : tensor<10xf32>
    %cst_59 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %151 = stablehlo.multiply %149, %150 : tensor<10xf32>
    %cst_60 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %152 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %153 = stablehlo.add %151, %152 : tensor<10xf32>
    %154 = stablehlo.tanh %153 : tensor<10xf32>
    %cst_61 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %155 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %156 = stablehlo.multiply %154, %155 : tensor<10xf32>
    %cst_62 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %157 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %158 = stablehlo.add %156, %157 : tensor<10xf32>
    %159 = stablehlo.tanh %158 : tensor<10xf32>
    %cst_63 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %160 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %161 = stablehlo.multiply %159, %160 : tensor<10xf32>
    %cst_64 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %162 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %163 = stablehlo.add %161, %162 : tensor<10xf32>
    %164 = stablehlo.tanh %163 : tensor<10xf32>
    %cst_65 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %165 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %166 = stablehlo.multiply %164, %165 : tensor<10xf32>
    %cst_66 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %167 = stablehlo.reduce(%166 init: %cst_66) applies stablehlo.add across dimensions = [0] : (tensor<10xf32>, tensor<f32>) -> tensor<f32>
    return %167 : tensor<f32>
  }
}
// workload a_sumsq3_grad_float64 grad 0 normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<3xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f64>
    return %1 : tensor<f64>
  }
}
// workload a_chain100_fwd_float64 value - value:0.5
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10xf64>) -> (tensor<10xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %1 = stablehlo.multiply %arg0, %0 : tensor<10xf64>
    %cst_0 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %3 = stablehlo.add %1, %2 : tensor<10xf64>
    %4 = stablehlo.tanh %3 : tensor<10xf64>
    %cst_1 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %6 = stablehlo.multiply %4, %5 : tensor<10xf64>
    %cst_2 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %8 = stablehlo.add %6, %7 : tensor<10xf64>
    %9 = stablehlo.tanh %8 : tensor<10xf64>
    %cst_3 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %10 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %11 = stablehlo.multiply %9, %10 : tensor<10xf64>
    %cst_4 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %12 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %13 = stablehlo.add %11, %12 : tensor<10xf64>
    %14 = stablehlo.tanh %13 : tensor<10xf64>
    %cst_5 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %15 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %16 = stablehlo.multiply %14, %15 : tensor<10xf64>
    %cst_6 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %17 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %18 = stablehlo.add %16, %17 : tensor<10xf64>
    %19 = stablehlo.tanh %18 : tensor<10xf64>
    %cst_7 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %20 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %21 = stablehlo.multiply %19, %20 : tensor<10xf64>
    %cst_8 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %22 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %23 = stablehlo.add %21, %22 : tensor<10xf64>
    %24 = stablehlo.tanh %23 : tensor<10xf64>
    %cst_9 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %25 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %26 = stablehlo.multiply %24, %25 : tensor<10xf64>
    %cst_10 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %27 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %28 = stablehlo.add %26, %27 : tensor<10xf64>
    %29 = stablehlo.tanh %28 : tensor<10xf64>
    %cst_11 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %30 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %31 = stablehlo.multiply %29, %30 : tensor<10xf64>
    %cst_12 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %32 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %33 = stablehlo.add %31, %32 : tensor<10xf64>
    %34 = stablehlo.tanh %33 : tensor<10xf64>
    %cst_13 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %35 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %36 = stablehlo.multiply %34, %35 : tensor<10xf64>
    %cst_14 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %37 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %38 = stablehlo.add %36, %37 : tensor<10xf64>
    %39 = stablehlo.tanh %38 : tensor<10xf64>
    %cst_15 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %40 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %41 = stablehlo.multiply %39, %40 : tensor<10xf64>
    %cst_16 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %42 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %43 = stablehlo.add %41, %42 : tensor<10xf64>
    %44 = stablehlo.tanh %43 : tensor<10xf64>
    %cst_17 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %45 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %46 = stablehlo.multiply %44, %45 : tensor<10xf64>
    %cst_18 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %47 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %48 = stablehlo.add %46, %47 : tensor<10xf64>
    %49 = stablehlo.tanh %48 : tensor<10xf64>
    %cst_19 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %50 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %51 = stablehlo.multiply %49, %50 : tensor<10xf64>
    %cst_20 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %52 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %53 = stablehlo.add %51, %52 : tensor<10xf64>
    %54 = stablehlo.tanh %53 : tensor<10xf64>
    %cst_21 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %55 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %56 = stablehlo.multiply %54, %55 : tensor<10xf64>
    %cst_22 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %57 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %58 = stablehlo.add %56, %57 : tensor<10xf64>
    %59 = stablehlo.tanh %58 : tensor<10xf64>
    %cst_23 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %60 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %61 = stablehlo.multiply %59, %60 : tensor<10xf64>
    %cst_24 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %62 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %63 = stablehlo.add %61, %62 : tensor<10xf64>
    %64 = stablehlo.tanh %63 : tensor<10xf64>
    %cst_25 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %65 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %66 = stablehlo.multiply %64, %65 : tensor<10xf64>
    %cst_26 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %67 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %68 = stablehlo.add %66, %67 : tensor<10xf64>
    %69 = stablehlo.tanh %68 : tensor<10xf64>
    %cst_27 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %70 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %71 = stablehlo.multiply %69, %70 : tensor<10xf64>
    %cst_28 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %72 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %73 = stablehlo.add %71, %72 : tensor<10xf64>
    %74 = stablehlo.tanh %73 : tensor<10xf64>
    %cst_29 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %75 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %76 = stablehlo.multiply %74, %75 : tensor<10xf64>
    %cst_30 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %77 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %78 = stablehlo.add %76, %77 : tensor<10xf64>
    %79 = stablehlo.tanh %78 : tensor<10xf64>
    %cst_31 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %80 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %81 = stablehlo.multiply %79, %80 : tensor<10xf64>
    %cst_32 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %82 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %83 = stablehlo.add %81, %82 : tensor<10xf64>
    %84 = stablehlo.tanh %83 : tensor<10xf64>
    %cst_33 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %85 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %86 = stablehlo.multiply %84, %85 : tensor<10xf64>
    %cst_34 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %87 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %88 = stablehlo.add %86, %87 : tensor<10xf64>
    %89 = stablehlo.tanh %88 : tensor<10xf64>
    %cst_35 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %90 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %91 = stablehlo.multiply %89, %90 : tensor<10xf64>
    %cst_36 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %92 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %93 = stablehlo.add %91, %92 : tensor<10xf64>
    %94 = stablehlo.tanh %93 : tensor<10xf64>
    %cst_37 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %95 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %96 = stablehlo.multiply %94, %95 : tensor<10xf64>
    %cst_38 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %97 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %98 = stablehlo.add %96, %97 : tensor<10xf64>
    %99 = stablehlo.tanh %98 : tensor<10xf64>
    %cst_39 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %100 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %101 = stablehlo.multiply %99, %100 : tensor<10xf64>
    %cst_40 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %102 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %103 = stablehlo.add %101, %102 : tensor<10xf64>
    %104 = stablehlo.tanh %103 : tensor<10xf64>
    %cst_41 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %105 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %106 = stablehlo.multiply %104, %105 : tensor<10xf64>
    %cst_42 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %107 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %108 = stablehlo.add %106, %107 : tensor<10xf64>
    %109 = stablehlo.tanh %108 : tensor<10xf64>
    %cst_43 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %110 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %111 = stablehlo.multiply %109, %110 : tensor<10xf64>
    %cst_44 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %112 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %113 = stablehlo.add %111, %112 : tensor<10xf64>
    %114 = stablehlo.tanh %113 : tensor<10xf64>
    %cst_45 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %115 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %116 = stablehlo.multiply %114, %115 : tensor<10xf64>
    %cst_46 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %117 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %118 = stablehlo.add %116, %117 : tensor<10xf64>
    %119 = stablehlo.tanh %118 : tensor<10xf64>
    %cst_47 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %120 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %121 = stablehlo.multiply %119, %120 : tensor<10xf64>
    %cst_48 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %122 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %123 = stablehlo.add %121, %122 : tensor<10xf64>
    %124 = stablehlo.tanh %123 : tensor<10xf64>
    %cst_49 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %125 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %126 = stablehlo.multiply %124, %125 : tensor<10xf64>
    %cst_50 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %127 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %128 = stablehlo.add %126, %127 : tensor<10xf64>
    %129 = stablehlo.tanh %128 : tensor<10xf64>
    %cst_51 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %130 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %131 = stablehlo.multiply %129, %130 : tensor<10xf64>
    %cst_52 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %132 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %133 = stablehlo.add %131, %132 : tensor<10xf64>
    %134 = stablehlo.tanh %133 : tensor<10xf64>
    %cst_53 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %135 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %136 = stablehlo.multiply %134, %135 : tensor<10xf64>
    %cst_54 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %137 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %138 = stablehlo.add %136, %137 : tensor<10xf64>
    %139 = stablehlo.tanh %138 : tensor<10xf64>
    %cst_55 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %140 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %141 = stablehlo.multiply %139, %140 : tensor<10xf64>
    %cst_56 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %142 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %143 = stablehlo.add %141, %142 : tensor<10xf64>
    %144 = stablehlo.tanh %143 : tensor<10xf64>
    %cst_57 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %145 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %146 = stablehlo.multiply %144, %145 : tensor<10xf64>
    %cst_58 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %147 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %148 = stablehlo.add %146, %147 : tensor<10xf64>
    %149 = stablehlo.tanh %148 : tensor<10xf64>
    %cst_59 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %150 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %151 = stablehlo.multiply %149, %150 : tensor<10xf64>
    %cst_60 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %152 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %153 = stablehlo.add %151, %152 : tensor<10xf64>
    %154 = stablehlo.tanh %153 : tensor<10xf64>
    %cst_61 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %155 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %156 = stablehlo.multiply %154, %155 : tensor<10xf64>
    %cst_62 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %157 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %158 = stablehlo.add %156, %157 : tensor<10xf64>
    %159 = stablehlo.tanh %158 : tensor<10xf64>
    %cst_63 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %160 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %161 = stablehlo.multiply %159, %160 : tensor<10xf64>
    %cst_64 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %162 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %163 = stablehlo.add %161, %162 : tensor<10xf64>
    %164 = stablehlo.tanh %163 : tensor<10xf64>
    %cst_65 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %165 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %166 = stablehlo.multiply %164, %165 : tensor<10xf64>
    return %166 : tensor<10xf64>
  }
}
// workload a_chain100_grad_float64 grad 0 value:0.5
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %1 = stablehlo.multiply %arg0, %0 : tensor<10xf64>
    %cst_0 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %3 = stablehlo.add %1, %2 : tensor<10xf64>
    %4 = stablehlo.tanh %3 : tensor<10xf64>
    %cst_1 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %6 = stablehlo.multiply %4, %5 : tensor<10xf64>
    %cst_2 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %8 = stablehlo.add %6, %7 : tensor<10xf64>
    %9 = stablehlo.tanh %8 : tensor<10xf64>
    %cst_3 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %10 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %11 = stablehlo.multiply %9, %10 : tensor<10xf64>
    %cst_4 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %12 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %13 = stablehlo.add %11, %12 : tensor<10xf64>
    %14 = stablehlo.tanh %13 : tensor<10xf64>
    %cst_5 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %15 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %16 = stablehlo.multiply %14, %15 : tensor<10xf64>
    %cst_6 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %17 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %18 = stablehlo.add %16, %17 : tensor<10xf64>
    %19 = stablehlo.tanh %18 : tensor<10xf64>
    %cst_7 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %20 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %21 = stablehlo.multiply %19, %20 : tensor<10xf64>
    %cst_8 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %22 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %23 = stablehlo.add %21, %22 : tensor<10xf64>
    %24 = stablehlo.tanh %23 : tensor<10xf64>
    %cst_9 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %25 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %26 = stablehlo.multiply %24, %25 : tensor<10xf64>
    %cst_10 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %27 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %28 = stablehlo.add %26, %27 : tensor<10xf64>
    %29 = stablehlo.tanh %28 : tensor<10xf64>
    %cst_11 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %30 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %31 = stablehlo.multiply %29, %30 : tensor<10xf64>
    %cst_12 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %32 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %33 = stablehlo.add %31, %32 : tensor<10xf64>
    %34 = stablehlo.tanh %33 : tensor<10xf64>
    %cst_13 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %35 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %36 = stablehlo.multiply %34, %35 : tensor<10xf64>
    %cst_14 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %37 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %38 = stablehlo.add %36, %37 : tensor<10xf64>
    %39 = stablehlo.tanh %38 : tensor<10xf64>
    %cst_15 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %40 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %41 = stablehlo.multiply %39, %40 : tensor<10xf64>
    %cst_16 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %42 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %43 = stablehlo.add %41, %42 : tensor<10xf64>
    %44 = stablehlo.tanh %43 : tensor<10xf64>
    %cst_17 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %45 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %46 = stablehlo.multiply %44, %45 : tensor<10xf64>
    %cst_18 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %47 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %48 = stablehlo.add %46, %47 : tensor<10xf64>
    %49 = stablehlo.tanh %48 : tensor<10xf64>
    %cst_19 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %50 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %51 = stablehlo.multiply %49, %50 : tensor<10xf64>
    %cst_20 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %52 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %53 = stablehlo.add %51, %52 : tensor<10xf64>
    %54 = stablehlo.tanh %53 : tensor<10xf64>
    %cst_21 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %55 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %56 = stablehlo.multiply %54, %55 : tensor<10xf64>
    %cst_22 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %57 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %58 = stablehlo.add %56, %57 : tensor<10xf64>
    %59 = stablehlo.tanh %58 : tensor<10xf64>
    %cst_23 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %60 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %61 = stablehlo.multiply %59, %60 : tensor<10xf64>
    %cst_24 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %62 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %63 = stablehlo.add %61, %62 : tensor<10xf64>
    %64 = stablehlo.tanh %63 : tensor<10xf64>
    %cst_25 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %65 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %66 = stablehlo.multiply %64, %65 : tensor<10xf64>
    %cst_26 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %67 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %68 = stablehlo.add %66, %67 : tensor<10xf64>
    %69 = stablehlo.tanh %68 : tensor<10xf64>
    %cst_27 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %70 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %71 = stablehlo.multiply %69, %70 : tensor<10xf64>
    %cst_28 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %72 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %73 = stablehlo.add %71, %72 : tensor<10xf64>
    %74 = stablehlo.tanh %73 : tensor<10xf64>
    %cst_29 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %75 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %76 = stablehlo.multiply %74, %75 : tensor<10xf64>
    %cst_30 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %77 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %78 = stablehlo.add %76, %77 : tensor<10xf64>
    %79 = stablehlo.tanh %78 : tensor<10xf64>
    %cst_31 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %80 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %81 = stablehlo.multiply %79, %80 : tensor<10xf64>
    %cst_32 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %82 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %83 = stablehlo.add %81, %82 : tensor<10xf64>
    %84 = stablehlo.tanh %83 : tensor<10xf64>
    %cst_33 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %85 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %86 = stablehlo.multiply %84, %85 : tensor<10xf64>
    %cst_34 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %87 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %88 = stablehlo.add %86, %87 : tensor<10xf64>
    %89 = stablehlo.tanh %88 : tensor<10xf64>
    %cst_35 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %90 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %91 = stablehlo.multiply %89, %90 : tensor<10xf64>
    %cst_36 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %92 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %93 = stablehlo.add %91, %92 : tensor<10xf64>
    %94 = stablehlo.tanh %93 : tensor<10xf64>
    %cst_37 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %95 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %96 = stablehlo.multiply %94, %95 : tensor<10xf64>
    %cst_38 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %97 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %98 = stablehlo.add %96, %97 : tensor<10xf64>
    %99 = stablehlo.tanh %98 : tensor<10xf64>
    %cst_39 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %100 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %101 = stablehlo.multiply %99, %100 : tensor<10xf64>
    %cst_40 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %102 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %103 = stablehlo.add %101, %102 : tensor<10xf64>
    %104 = stablehlo.tanh %103 : tensor<10xf64>
    %cst_41 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %105 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %106 = stablehlo.multiply %104, %105 : tensor<10xf64>
    %cst_42 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %107 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %108 = stablehlo.add %106, %107 : tensor<10xf64>
    %109 = stablehlo.tanh %108 : tensor<10xf64>
    %cst_43 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %110 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %111 = stablehlo.multiply %109, %110 : tensor<10xf64>
    %cst_44 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %112 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %113 = stablehlo.add %111, %112 : tensor<10xf64>
    %114 = stablehlo.tanh %113 : tensor<10xf64>
    %cst_45 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %115 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %116 = stablehlo.multiply %114, %115 : tensor<10xf64>
    %cst_46 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %117 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %118 = stablehlo.add %116, %117 : tensor<10xf64>
    %119 = stablehlo.tanh %118 : tensor<10xf64>
    %cst_47 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %120 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %121 = stablehlo.multiply %119, %120 : tensor<10xf64>
    %cst_48 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %122 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %123 = stablehlo.add %121, %122 : tensor<10xf64>
    %124 = stablehlo.tanh %123 : tensor<10xf64>
    %cst_49 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %125 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %126 = stablehlo.multiply %124, %125 : tensor<10xf64>
    %cst_50 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %127 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %128 = stablehlo.add %126, %127 : tensor<10xf64>
    %129 = stablehlo.tanh %128 : tensor<10xf64>
    %cst_51 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %130 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %131 = stablehlo.multiply %129, %130 : tensor<10xf64>
    %cst_52 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %132 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %133 = stablehlo.add %131, %132 : tensor<10xf64>
    %134 = stablehlo.tanh %133 : tensor<10xf64>
    %cst_53 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %135 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %136 = stablehlo.multiply %134, %135 : tensor<10xf64>
    %cst_54 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %137 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %138 = stablehlo.add %136, %137 : tensor<10xf64>
    %139 = stablehlo.tanh %138 : tensor<10xf64>
    %cst_55 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %140 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %141 = stablehlo.multiply %139, %140 : tensor<10xf64>
    %cst_56 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %142 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %143 = stablehlo.add %141, %142 : tensor<10xf64>
    %144 = stablehlo.tanh %143 : tensor<10xf64>
    %cst_57 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %145 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %146 = stablehlo.multiply %144, %145 : tensor<10xf64>
    %cst_58 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %147 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %148 = stablehlo.add %146, %147 : tensor<10xf64>
    %149 = stablehlo.tanh %148 : tensor<10xf64>
    %cst_59 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %150 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %151 = stablehlo.multiply %149, %150 : tensor<10xf64>
    %cst_60 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %152 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %153 = stablehlo.add %151, %152 : tensor<10xf64>
    %154 = stablehlo.tanh %153 : tensor<10xf64>
    %cst_61 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %155 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %156 = stablehlo.multiply %154, %155 : tensor<10xf64>
    %cst_62 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %157 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %158 = stablehlo.add %156, %157 : tensor<10xf64>
    %159 = stablehlo.tanh %158 : tensor<10xf64>
    %cst_63 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %160 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %161 = stablehlo.multiply %159, %160 : tensor<10xf64>
    %cst_64 = stablehlo.constant dense<1.000000e-02> : tensor<f64>
    %162 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %163 = stablehlo.add %161, %162 : tensor<10xf64>
    %164 = stablehlo.tanh %163 : tensor<10xf64>
    %cst_65 = stablehlo.constant dense<1.010000e+00> : tensor<f64>
    %165 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f64>) -> tensor<10xf64>
    %166 = stablehlo.multiply %164, %165 : tensor<10xf64>
    %cst_66 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %167 = stablehlo.reduce(%166 init: %cst_66) applies stablehlo.add across dimensions = [0] : (tensor<10xf64>, tensor<f64>) -> tensor<f64>
    return %167 : tensor<f64>
  }
}
// workload c_copy_float32_10000 value - grid
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10000xf32>) -> (tensor<10000xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10000xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<10000xf32>
    return %1 : tensor<10000xf32>
  }
}
// workload c_elem_fwd_float32_10000 value - grid
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10000xf32>) -> (tensor<10000xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<10000xf32>
    %cst = stablehlo.constant dense<1.300000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10000xf32>
    %2 = stablehlo.multiply %1, %arg0 : tensor<10000xf32>
    %cst_0 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<10000xf32>
    %4 = stablehlo.add %2, %3 : tensor<10000xf32>
    %5 = stablehlo.tanh %4 : tensor<10000xf32>
    %6 = stablehlo.negate %0 : tensor<10000xf32>
    %7 = stablehlo.exponential %6 : tensor<10000xf32>
    %8 = stablehlo.multiply %5, %7 : tensor<10000xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<10000xf32>
    %10 = stablehlo.add %9, %0 : tensor<10000xf32>
    %11 = stablehlo.divide %8, %10 : tensor<10000xf32>
    return %11 : tensor<10000xf32>
  }
}
// workload c_elem_grad_float32_10000 grad 0 grid
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10000xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<10000xf32>
    %cst = stablehlo.constant dense<1.300000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10000xf32>
    %2 = stablehlo.multiply %1, %arg0 : tensor<10000xf32>
    %cst_0 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<10000xf32>
    %4 = stablehlo.add %2, %3 : tensor<10000xf32>
    %5 = stablehlo.tanh %4 : tensor<10000xf32>
    %6 = stablehlo.negate %0 : tensor<10000xf32>
    %7 = stablehlo.exponential %6 : tensor<10000xf32>
    %8 = stablehlo.multiply %5, %7 : tensor<10000xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<10000xf32>
    %10 = stablehlo.add %9, %0 : tensor<10000xf32>
    %11 = stablehlo.divide %8, %10 : tensor<10000xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<10000xf32>, tensor<f32>) -> tensor<f32>
    return %12 : tensor<f32>
  }
}
// workload c_copy_float32_1000000 value - grid
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1000000xf32>) -> (tensor<1000000xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1000000xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<1000000xf32>
    return %1 : tensor<1000000xf32>
  }
}
// workload c_elem_fwd_float32_1000000 value - grid
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1000000xf32>) -> (tensor<1000000xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<1000000xf32>
    %cst = stablehlo.constant dense<1.300000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1000000xf32>
    %2 = stablehlo.multiply %1, %arg0 : tensor<1000000xf32>
    %cst_0 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1000000xf32>
    %4 = stablehlo.add %2, %3 : tensor<1000000xf32>
    %5 = stablehlo.tanh %4 : tensor<1000000xf32>
    %6 = stablehlo.negate %0 : tensor<1000000xf32>
    %7 = stablehlo.exponential %6 : tensor<1000000xf32>
    %8 = stablehlo.multiply %5, %7 : tensor<1000000xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1000000xf32>
    %10 = stablehlo.add %9, %0 : tensor<1000000xf32>
    %11 = stablehlo.divide %8, %10 : tensor<1000000xf32>
    return %11 : tensor<1000000xf32>
  }
}
// workload c_elem_grad_float32_1000000 grad 0 grid
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1000000xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<1000000xf32>
    %cst = stablehlo.constant dense<1.300000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<1000000xf32>
    %2 = stablehlo.multiply %1, %arg0 : tensor<1000000xf32>
    %cst_0 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1000000xf32>
    %4 = stablehlo.add %2, %3 : tensor<1000000xf32>
    %5 = stablehlo.tanh %4 : tensor<1000000xf32>
    %6 = stablehlo.negate %0 : tensor<1000000xf32>
    %7 = stablehlo.exponential %6 : tensor<1000000xf32>
    %8 = stablehlo.multiply %5, %7 : tensor<1000000xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1000000xf32>
    %10 = stablehlo.add %9, %0 : tensor<1000000xf32>
    %11 = stablehlo.divide %8, %10 : tensor<1000000xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<1000000xf32>, tensor<f32>) -> tensor<f32>
    return %12 : tensor<f32>
  }
}
// workload c_copy_float32_10000000 value - grid
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10000000xf32>) -> (tensor<10000000xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10000000xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<10000000xf32>
    return %1 : tensor<10000000xf32>
  }
}
// workload c_elem_fwd_float32_10000000 value - grid
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10000000xf32>) -> (tensor<10000000xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<10000000xf32>
    %cst = stablehlo.constant dense<1.300000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10000000xf32>
    %2 = stablehlo.multiply %1, %arg0 : tensor<10000000xf32>
    %cst_0 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<10000000xf32>
    %4 = stablehlo.add %2, %3 : tensor<10000000xf32>
    %5 = stablehlo.tanh %4 : tensor<10000000xf32>
    %6 = stablehlo.negate %0 : tensor<10000000xf32>
    %7 = stablehlo.exponential %6 : tensor<10000000xf32>
    %8 = stablehlo.multiply %5, %7 : tensor<10000000xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<10000000xf32>
    %10 = stablehlo.add %9, %0 : tensor<10000000xf32>
    %11 = stablehlo.divide %8, %10 : tensor<10000000xf32>
    return %11 : tensor<10000000xf32>
  }
}
// workload c_elem_grad_float32_10000000 grad 0 grid
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10000000xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<10000000xf32>
    %cst = stablehlo.constant dense<1.300000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10000000xf32>
    %2 = stablehlo.multiply %1, %arg0 : tensor<10000000xf32>
    %cst_0 = stablehlo.constant dense<2.000000e-01> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<10000000xf32>
    %4 = stablehlo.add %2, %3 : tensor<10000000xf32>
    %5 = stablehlo.tanh %4 : tensor<10000000xf32>
    %6 = stablehlo.negate %0 : tensor<10000000xf32>
    %7 = stablehlo.exponential %6 : tensor<10000000xf32>
    %8 = stablehlo.multiply %5, %7 : tensor<10000000xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<10000000xf32>
    %10 = stablehlo.add %9, %0 : tensor<10000000xf32>
    %11 = stablehlo.divide %8, %10 : tensor<10000000xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<10000000xf32>, tensor<f32>) -> tensor<f32>
    return %12 : tensor<f32>
  }
}
// workload c_copy_float64_10000 value - grid
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10000xf64>) -> (tensor<10000xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<10000xf64>
    %1 = stablehlo.add %arg0, %0 : tensor<10000xf64>
    return %1 : tensor<10000xf64>
  }
}
// workload c_elem_fwd_float64_10000 value - grid
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10000xf64>) -> (tensor<10000xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<10000xf64>
    %cst = stablehlo.constant dense<1.300000e+00> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<10000xf64>
    %2 = stablehlo.multiply %1, %arg0 : tensor<10000xf64>
    %cst_0 = stablehlo.constant dense<2.000000e-01> : tensor<f64>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<10000xf64>
    %4 = stablehlo.add %2, %3 : tensor<10000xf64>
    %5 = stablehlo.tanh %4 : tensor<10000xf64>
    %6 = stablehlo.negate %0 : tensor<10000xf64>
    %7 = stablehlo.exponential %6 : tensor<10000xf64>
    %8 = stablehlo.multiply %5, %7 : tensor<10000xf64>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<10000xf64>
    %10 = stablehlo.add %9, %0 : tensor<10000xf64>
    %11 = stablehlo.divide %8, %10 : tensor<10000xf64>
    return %11 : tensor<10000xf64>
  }
}
// workload c_elem_grad_float64_10000 grad 0 grid
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10000xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<10000xf64>
    %cst = stablehlo.constant dense<1.300000e+00> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<10000xf64>
    %2 = stablehlo.multiply %1, %arg0 : tensor<10000xf64>
    %cst_0 = stablehlo.constant dense<2.000000e-01> : tensor<f64>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<10000xf64>
    %4 = stablehlo.add %2, %3 : tensor<10000xf64>
    %5 = stablehlo.tanh %4 : tensor<10000xf64>
    %6 = stablehlo.negate %0 : tensor<10000xf64>
    %7 = stablehlo.exponential %6 : tensor<10000xf64>
    %8 = stablehlo.multiply %5, %7 : tensor<10000xf64>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<10000xf64>
    %10 = stablehlo.add %9, %0 : tensor<10000xf64>
    %11 = stablehlo.divide %8, %10 : tensor<10000xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %12 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<10000xf64>, tensor<f64>) -> tensor<f64>
    return %12 : tensor<f64>
  }
}
// workload c_copy_float64_1000000 value - grid
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1000000xf64>) -> (tensor<1000000xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<1000000xf64>
    %1 = stablehlo.add %arg0, %0 : tensor<1000000xf64>
    return %1 : tensor<1000000xf64>
  }
}
// workload c_elem_fwd_float64_1000000 value - grid
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1000000xf64>) -> (tensor<1000000xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<1000000xf64>
    %cst = stablehlo.constant dense<1.300000e+00> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<1000000xf64>
    %2 = stablehlo.multiply %1, %arg0 : tensor<1000000xf64>
    %cst_0 = stablehlo.constant dense<2.000000e-01> : tensor<f64>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<1000000xf64>
    %4 = stablehlo.add %2, %3 : tensor<1000000xf64>
    %5 = stablehlo.tanh %4 : tensor<1000000xf64>
    %6 = stablehlo.negate %0 : tensor<1000000xf64>
    %7 = stablehlo.exponential %6 : tensor<1000000xf64>
    %8 = stablehlo.multiply %5, %7 : tensor<1000000xf64>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<1000000xf64>
    %10 = stablehlo.add %9, %0 : tensor<1000000xf64>
    %11 = stablehlo.divide %8, %10 : tensor<1000000xf64>
    return %11 : tensor<1000000xf64>
  }
}
// workload c_elem_grad_float64_1000000 grad 0 grid
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1000000xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<1000000xf64>
    %cst = stablehlo.constant dense<1.300000e+00> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<1000000xf64>
    %2 = stablehlo.multiply %1, %arg0 : tensor<1000000xf64>
    %cst_0 = stablehlo.constant dense<2.000000e-01> : tensor<f64>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<1000000xf64>
    %4 = stablehlo.add %2, %3 : tensor<1000000xf64>
    %5 = stablehlo.tanh %4 : tensor<1000000xf64>
    %6 = stablehlo.negate %0 : tensor<1000000xf64>
    %7 = stablehlo.exponential %6 : tensor<1000000xf64>
    %8 = stablehlo.multiply %5, %7 : tensor<1000000xf64>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<1000000xf64>
    %10 = stablehlo.add %9, %0 : tensor<1000000xf64>
    %11 = stablehlo.divide %8, %10 : tensor<1000000xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %12 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<1000000xf64>, tensor<f64>) -> tensor<f64>
    return %12 : tensor<f64>
  }
}
// workload c_copy_float64_10000000 value - grid
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10000000xf64>) -> (tensor<10000000xf64> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<10000000xf64>
    %1 = stablehlo.add %arg0, %0 : tensor<10000000xf64>
    return %1 : tensor<10000000xf64>
  }
}
// workload c_elem_fwd_float64_10000000 value - grid
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10000000xf64>) -> (tensor<10000000xf64> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<10000000xf64>
    %cst = stablehlo.constant dense<1.300000e+00> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<10000000xf64>
    %2 = stablehlo.multiply %1, %arg0 : tensor<10000000xf64>
    %cst_0 = stablehlo.constant dense<2.000000e-01> : tensor<f64>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<10000000xf64>
    %4 = stablehlo.add %2, %3 : tensor<10000000xf64>
    %5 = stablehlo.tanh %4 : tensor<10000000xf64>
    %6 = stablehlo.negate %0 : tensor<10000000xf64>
    %7 = stablehlo.exponential %6 : tensor<10000000xf64>
    %8 = stablehlo.multiply %5, %7 : tensor<10000000xf64>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<10000000xf64>
    %10 = stablehlo.add %9, %0 : tensor<10000000xf64>
    %11 = stablehlo.divide %8, %10 : tensor<10000000xf64>
    return %11 : tensor<10000000xf64>
  }
}
// workload c_elem_grad_float64_10000000 grad 0 grid
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10000000xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<10000000xf64>
    %cst = stablehlo.constant dense<1.300000e+00> : tensor<f64>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<10000000xf64>
    %2 = stablehlo.multiply %1, %arg0 : tensor<10000000xf64>
    %cst_0 = stablehlo.constant dense<2.000000e-01> : tensor<f64>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<10000000xf64>
    %4 = stablehlo.add %2, %3 : tensor<10000000xf64>
    %5 = stablehlo.tanh %4 : tensor<10000000xf64>
    %6 = stablehlo.negate %0 : tensor<10000000xf64>
    %7 = stablehlo.exponential %6 : tensor<10000000xf64>
    %8 = stablehlo.multiply %5, %7 : tensor<10000000xf64>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<10000000xf64>
    %10 = stablehlo.add %9, %0 : tensor<10000000xf64>
    %11 = stablehlo.divide %8, %10 : tensor<10000000xf64>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %12 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<10000000xf64>, tensor<f64>) -> tensor<f64>
    return %12 : tensor<f64>
  }
}
// workload d_sum_fwd value - normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1024x1024xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
// workload d_sum_grad grad 0 normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1024x1024xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
// workload d_sumrows_fwd value - normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1024x1024xf32>) -> (tensor<1024xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    return %0 : tensor<1024xf32>
  }
}
// workload d_sumrows_grad grad 1 normal normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1024xf32>, %arg1: tensor<1024x1024xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg1 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %1 = stablehlo.multiply %0, %arg0 : tensor<1024xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
    return %2 : tensor<f32>
  }
}
// workload d_sumcols_fwd value - normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1024x1024xf32>) -> (tensor<1024xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    return %0 : tensor<1024xf32>
  }
}
// workload d_sumcols_grad grad 1 normal normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1024xf32>, %arg1: tensor<1024x1024xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg1 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %1 = stablehlo.multiply %0, %arg0 : tensor<1024xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
    return %2 : tensor<f32>
  }
}
// workload d_softmax_fwd value - normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1024x1024xf32>) -> (tensor<1024x1024xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<1024xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1024x1xf32>) -> tensor<1024x1024xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<1024x1024xf32>
    %6 = stablehlo.exponential %5 : tensor<1024x1024xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1024x1xf32>) -> tensor<1024x1024xf32>
    %10 = stablehlo.divide %6, %9 : tensor<1024x1024xf32>
    return %10 : tensor<1024x1024xf32>
  }
}
// workload d_softmax_grad grad 1 normal normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1024x1024xf32>, %arg1: tensor<1024x1024xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg1 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<1024xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1024x1xf32>) -> tensor<1024x1024xf32>
    %5 = stablehlo.subtract %arg1, %4 : tensor<1024x1024xf32>
    %6 = stablehlo.exponential %5 : tensor<1024x1024xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1024x1xf32>) -> tensor<1024x1024xf32>
    %10 = stablehlo.divide %6, %9 : tensor<1024x1024xf32>
    %11 = stablehlo.multiply %10, %arg0 : tensor<1024x1024xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<f32>
    return %12 : tensor<f32>
  }
}
// workload d_logsumexp_fwd value - normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1024x1024xf32>) -> (tensor<1024xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<1024xf32>
    %3 = stablehlo.is_finite %2 : (tensor<1024xf32>) -> tensor<1024xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %5 = stablehlo.select %3, %2, %4 : tensor<1024xi1>, tensor<1024xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1024x1xf32>) -> tensor<1024x1024xf32>
    %8 = stablehlo.subtract %arg0, %7 : tensor<1024x1024xf32>
    %9 = stablehlo.exponential %8 : tensor<1024x1024xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %11 = stablehlo.abs %10 : tensor<1024xf32>
    %12 = stablehlo.log %11 : tensor<1024xf32>
    %13 = stablehlo.add %12, %5 : tensor<1024xf32>
    return %13 : tensor<1024xf32>
  }
}
// workload d_logsumexp_grad grad 1 normal normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1024xf32>, %arg1: tensor<1024x1024xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg1 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<1024xf32>
    %3 = stablehlo.is_finite %2 : (tensor<1024xf32>) -> tensor<1024xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %5 = stablehlo.select %3, %2, %4 : tensor<1024xi1>, tensor<1024xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1024x1xf32>) -> tensor<1024x1024xf32>
    %8 = stablehlo.subtract %arg1, %7 : tensor<1024x1024xf32>
    %9 = stablehlo.exponential %8 : tensor<1024x1024xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %11 = stablehlo.abs %10 : tensor<1024xf32>
    %12 = stablehlo.log %11 : tensor<1024xf32>
    %13 = stablehlo.add %12, %5 : tensor<1024xf32>
    %14 = stablehlo.multiply %13, %arg0 : tensor<1024xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%14 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
    return %15 : tensor<f32>
  }
}
// workload d_layernorm_fwd value - normal value:1 value:0
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1024x1024xf32>, %arg1: tensor<1024xf32>, %arg2: tensor<1024xf32>) -> (tensor<1024x1024xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1xf32>
    %cst_0 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1024x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<1024x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1024x1xf32>) -> tensor<1024x1024xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<1024x1024xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<1024x1024xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1xf32>
    %cst_2 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1024x1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<1024x1xf32>
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1024x1xf32>
    %12 = stablehlo.add %10, %11 : tensor<1024x1xf32>
    %13 = stablehlo.rsqrt %12 : tensor<1024x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<1024x1xf32>) -> tensor<1024x1024xf32>
    %15 = stablehlo.multiply %5, %14 : tensor<1024x1024xf32>
    %16 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<1024xf32>) -> tensor<1x1024xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1] : (tensor<1x1024xf32>) -> tensor<1024x1024xf32>
    %18 = stablehlo.multiply %15, %17 : tensor<1024x1024xf32>
    %19 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<1024xf32>) -> tensor<1x1024xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1] : (tensor<1x1024xf32>) -> tensor<1024x1024xf32>
    %21 = stablehlo.add %18, %20 : tensor<1024x1024xf32>
    return %21 : tensor<1024x1024xf32>
  }
}
// workload d_layernorm_grad grad 1,2,3 normal normal value:1 value:0
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1024x1024xf32>, %arg1: tensor<1024x1024xf32>, %arg2: tensor<1024xf32>, %arg3: tensor<1024xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg1 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1xf32>
    %cst_0 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1024x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<1024x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<1024x1xf32>) -> tensor<1024x1024xf32>
    %5 = stablehlo.subtract %arg1, %4 : tensor<1024x1024xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<1024x1024xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1xf32>
    %cst_2 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1024x1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<1024x1xf32>
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1024x1xf32>
    %12 = stablehlo.add %10, %11 : tensor<1024x1xf32>
    %13 = stablehlo.rsqrt %12 : tensor<1024x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<1024x1xf32>) -> tensor<1024x1024xf32>
    %15 = stablehlo.multiply %5, %14 : tensor<1024x1024xf32>
    %16 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<1024xf32>) -> tensor<1x1024xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1] : (tensor<1x1024xf32>) -> tensor<1024x1024xf32>
    %18 = stablehlo.multiply %15, %17 : tensor<1024x1024xf32>
    %19 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<1024xf32>) -> tensor<1x1024xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1] : (tensor<1x1024xf32>) -> tensor<1024x1024xf32>
    %21 = stablehlo.add %18, %20 : tensor<1024x1024xf32>
    %22 = stablehlo.multiply %21, %arg0 : tensor<1024x1024xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_4) applies stablehlo.add across dimensions = [0, 1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<f32>
    return %23 : tensor<f32>
  }
}
// workload e_mlp_grad grad 2,3,4,5,6,7 normal:1.0 labels:10 normal:0.05 normal:0 normal:0.05 normal:0 normal:0.05 normal:0
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<256x784xf32>, %arg1: tensor<256xi32>, %arg2: tensor<784x512xf32>, %arg3: tensor<512xf32>, %arg4: tensor<512x512xf32>, %arg5: tensor<512xf32>, %arg6: tensor<512x10xf32>, %arg7: tensor<10xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x784xf32>, tensor<784x512xf32>) -> tensor<256x512xf32>
    %1 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<512xf32>) -> tensor<1x512xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x512xf32>) -> tensor<256x512xf32>
    %3 = stablehlo.add %0, %2 : tensor<256x512xf32>
    %4 = call @relu(%3) : (tensor<256x512xf32>) -> tensor<256x512xf32>
    %5 = stablehlo.dot_general %4, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xf32>, tensor<512x512xf32>) -> tensor<256x512xf32>
    %6 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<512xf32>) -> tensor<1x512xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x512xf32>) -> tensor<256x512xf32>
    %8 = stablehlo.add %5, %7 : tensor<256x512xf32>
    %9 = call @relu(%8) : (tensor<256x512xf32>) -> tensor<256x512xf32>
    %10 = stablehlo.dot_general %9, %arg6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xf32>, tensor<512x10xf32>) -> tensor<256x10xf32>
    %11 = stablehlo.broadcast_in_dim %arg7, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<256x10xf32>
    %13 = stablehlo.add %10, %12 : tensor<256x10xf32>
    %14 = call @log_softmax(%13) : (tensor<256x10xf32>) -> tensor<256x10xf32>
    %15 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<256xi32>) -> tensor<256x1xi32>
    %16 = call @take_along_axis(%14, %15) : (tensor<256x10xf32>, tensor<256x1xi32>) -> tensor<256x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<256x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %18 = stablehlo.divide %17, %cst_0 : tensor<f32>
    %19 = stablehlo.negate %18 : tensor<f32>
    return %19 : tensor<f32>
  }
  func.func private @relu(%arg0: tensor<256x512xf32>) -> tensor<256x512xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<256x512xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<256x512xf32>
    return %1 : tensor<256x512xf32>
  }
  func.func private @log_softmax(%arg0: tensor<256x10xf32>) -> tensor<256x10xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<256x10xf32>, tensor<f32>) -> tensor<256xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<256xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<256xf32>) -> tensor<256x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<256x1xf32>) -> tensor<256x10xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<256x10xf32>
    %6 = stablehlo.exponential %5 : tensor<256x10xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<256x10xf32>, tensor<f32>) -> tensor<256xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<256xf32>) -> tensor<256x1xf32>
    %9 = stablehlo.log %8 : tensor<256x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<256x1xf32>) -> tensor<256x10xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<256x10xf32>
    return %11 : tensor<256x10xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<256x10xf32>, %arg1: tensor<256x1xi32>) -> tensor<256x1xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<256x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<256x1xi32>, tensor<256x1xi32>) -> tensor<256x1xi1>
    %c_0 = stablehlo.constant dense<10> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<256x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<256x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<256x1xi1>, tensor<256x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<256x1xi32>) -> tensor<256x1x1xi32>
    %c_1 = stablehlo.constant dense<9> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<256x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<256x1x1xi32>, tensor<256x1x1xi32>) -> tensor<256x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<256x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<256x1x1xi32>, tensor<256x1x1xi32>) -> tensor<256x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<256x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<256x1x1xi1>, tensor<i1>) -> tensor<256x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<256x10xf32>, tensor<256x1x1xi32>) -> tensor<256x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<256x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<256x1xi1>, tensor<256x1xf32>
    return %15 : tensor<256x1xf32>
  }
}
// workload e_attn_grad grad 0,1,2 normal:1.0 normal:1.0 normal:1.0
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x8x128x64xf32>, %arg1: tensor<8x8x128x64xf32>, %arg2: tensor<8x8x128x64xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = stablehlo.transpose %arg1, dims = [0, 1, 3, 2] : (tensor<8x8x128x64xf32>) -> tensor<8x8x64x128xf32>
    %1 = stablehlo.dot_general %arg0, %0, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x128x64xf32>, tensor<8x8x64x128xf32>) -> tensor<8x8x128x128xf32>
    %cst = stablehlo.constant dense<1.250000e-01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x8x128x128xf32>
    %3 = stablehlo.multiply %1, %2 : tensor<8x8x128x128xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x128x128xf32>, tensor<f32>) -> tensor<8x8x128xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x8x128xf32>
    %6 = stablehlo.maximum %5, %4 : tensor<8x8x128xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1, 2] : (tensor<8x8x128xf32>) -> tensor<8x8x128x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3] : (tensor<8x8x128x1xf32>) -> tensor<8x8x128x128xf32>
    %9 = stablehlo.subtract %3, %8 : tensor<8x8x128x128xf32>
    %10 = stablehlo.exponential %9 : tensor<8x8x128x128xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_2) applies stablehlo.add across dimensions = [3] : (tensor<8x8x128x128xf32>, tensor<f32>) -> tensor<8x8x128xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2] : (tensor<8x8x128xf32>) -> tensor<8x8x128x1xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0, 1, 2, 3] : (tensor<8x8x128x1xf32>) -> tensor<8x8x128x128xf32>
    %14 = stablehlo.divide %10, %13 : tensor<8x8x128x128xf32>
    %15 = stablehlo.dot_general %14, %arg2, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x128x128xf32>, tensor<8x8x128x64xf32>) -> tensor<8x8x128x64xf32>
    %16 = stablehlo.multiply %15, %15 : tensor<8x8x128x64xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_3) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<8x8x128x64xf32>, tensor<f32>) -> tensor<f32>
    return %17 : tensor<f32>
  }
}
// workload e_gpt_grad grad 1,2,3,4,5,6,7,8,9,10,11,12 normal:1.0 value:1 value:0 normal:0.05 value:0 normal:0.05 value:0 value:1 value:0 normal:0.05 value:0 normal:0.05 value:0
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x128x256xf32>, %arg1: tensor<256xf32>, %arg2: tensor<256xf32>, %arg3: tensor<256x768xf32>, %arg4: tensor<768xf32>, %arg5: tensor<256x256xf32>, %arg6: tensor<256xf32>, %arg7: tensor<256xf32>, %arg8: tensor<256xf32>, %arg9: tensor<256x1024xf32>, %arg10: tensor<1024xf32>, %arg11: tensor<1024x256xf32>, %arg12: tensor<256xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_0 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<8x128x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<8x128x256xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<8x128x256xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_2 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<8x128x1xf32>
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %12 = stablehlo.add %10, %11 : tensor<8x128x1xf32>
    %13 = stablehlo.rsqrt %12 : tensor<8x128x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %15 = stablehlo.multiply %5, %14 : tensor<8x128x256xf32>
    %16 = stablehlo.broadcast_in_dim %arg1, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %18 = stablehlo.multiply %15, %17 : tensor<8x128x256xf32>
    %19 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %21 = stablehlo.add %18, %20 : tensor<8x128x256xf32>
    %22 = stablehlo.dot_general %21, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<256x768xf32>) -> tensor<8x128x768xf32>
    %23 = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<8x128x768xf32>
    %25 = stablehlo.add %22, %24 : tensor<8x128x768xf32>
    %26 = stablehlo.reshape %25 : (tensor<8x128x768xf32>) -> tensor<8x128x3x8x32xf32>
    %27 = stablehlo.transpose %26, dims = [2, 0, 3, 1, 4] : (tensor<8x128x3x8x32xf32>) -> tensor<3x8x8x128x32xf32>
    %28 = stablehlo.slice %27 [0:1, 0:8, 0:8, 0:128, 0:32] : (tensor<3x8x8x128x32xf32>) -> tensor<1x8x8x128x32xf32>
    %29 = stablehlo.reshape %28 : (tensor<1x8x8x128x32xf32>) -> tensor<8x8x128x32xf32>
    %30 = stablehlo.slice %27 [1:2, 0:8, 0:8, 0:128, 0:32] : (tensor<3x8x8x128x32xf32>) -> tensor<1x8x8x128x32xf32>
    %31 = stablehlo.reshape %30 : (tensor<1x8x8x128x32xf32>) -> tensor<8x8x128x32xf32>
    %32 = stablehlo.transpose %31, dims = [0, 1, 3, 2] : (tensor<8x8x128x32xf32>) -> tensor<8x8x32x128xf32>
    %33 = stablehlo.dot_general %29, %32, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x128x32xf32>, tensor<8x8x32x128xf32>) -> tensor<8x8x128x128xf32>
    %cst_4 = stablehlo.constant dense<0.176776692> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x8x128x128xf32>
    %35 = stablehlo.multiply %33, %34 : tensor<8x8x128x128xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<128x128xf32>
    %37 = call @triu(%36) : (tensor<128x128xf32>) -> tensor<128x128xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [2, 3] : (tensor<128x128xf32>) -> tensor<1x1x128x128xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2, 3] : (tensor<1x1x128x128xf32>) -> tensor<8x8x128x128xf32>
    %40 = stablehlo.add %35, %39 : tensor<8x8x128x128xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %41 = stablehlo.reduce(%40 init: %cst_6) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x128x128xf32>, tensor<f32>) -> tensor<8x8x128xf32>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x8x128xf32>
    %43 = stablehlo.maximum %42, %41 : tensor<8x8x128xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2] : (tensor<8x8x128xf32>) -> tensor<8x8x128x1xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2, 3] : (tensor<8x8x128x1xf32>) -> tensor<8x8x128x128xf32>
    %46 = stablehlo.subtract %40, %45 : tensor<8x8x128x128xf32>
    %47 = stablehlo.exponential %46 : tensor<8x8x128x128xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.reduce(%47 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<8x8x128x128xf32>, tensor<f32>) -> tensor<8x8x128xf32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [0, 1, 2] : (tensor<8x8x128xf32>) -> tensor<8x8x128x1xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0, 1, 2, 3] : (tensor<8x8x128x1xf32>) -> tensor<8x8x128x128xf32>
    %51 = stablehlo.divide %47, %50 : tensor<8x8x128x128xf32>
    %52 = stablehlo.slice %27 [2:3, 0:8, 0:8, 0:128, 0:32] : (tensor<3x8x8x128x32xf32>) -> tensor<1x8x8x128x32xf32>
    %53 = stablehlo.reshape %52 : (tensor<1x8x8x128x32xf32>) -> tensor<8x8x128x32xf32>
    %54 = stablehlo.dot_general %51, %53, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x128x128xf32>, tensor<8x8x128x32xf32>) -> tensor<8x8x128x32xf32>
    %55 = stablehlo.transpose %54, dims = [0, 2, 1, 3] : (tensor<8x8x128x32xf32>) -> tensor<8x128x8x32xf32>
    %56 = stablehlo.reshape %55 : (tensor<8x128x8x32xf32>) -> tensor<8x128x256xf32>
    %57 = stablehlo.dot_general %56, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<256x256xf32>) -> tensor<8x128x256xf32>
    %58 = stablehlo.add %arg0, %57 : tensor<8x128x256xf32>
    %59 = stablehlo.broadcast_in_dim %arg6, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %61 = stablehlo.add %58, %60 : tensor<8x128x256xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %62 = stablehlo.reduce(%61 init: %cst_9) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %63 = stablehlo.broadcast_in_dim %62, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_10 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %65 = stablehlo.divide %63, %64 : tensor<8x128x1xf32>
    %66 = stablehlo.broadcast_in_dim %65, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %67 = stablehlo.subtract %61, %66 : tensor<8x128x256xf32>
    %68 = stablehlo.multiply %67, %67 : tensor<8x128x256xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %69 = stablehlo.reduce(%68 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %70 = stablehlo.broadcast_in_dim %69, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_12 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %71 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %72 = stablehlo.divide %70, %71 : tensor<8x128x1xf32>
    %cst_13 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %74 = stablehlo.add %72, %73 : tensor<8x128x1xf32>
    %75 = stablehlo.rsqrt %74 : tensor<8x128x1xf32>
    %76 = stablehlo.broadcast_in_dim %75, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %77 = stablehlo.multiply %67, %76 : tensor<8x128x256xf32>
    %78 = stablehlo.broadcast_in_dim %arg7, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %79 = stablehlo.broadcast_in_dim %78, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %80 = stablehlo.multiply %77, %79 : tensor<8x128x256xf32>
    %81 = stablehlo.broadcast_in_dim %arg8, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %82 = stablehlo.broadcast_in_dim %81, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %83 = stablehlo.add %80, %82 : tensor<8x128x256xf32>
    %84 = stablehlo.dot_general %83, %arg9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<256x1024xf32>) -> tensor<8x128x1024xf32>
    %85 = stablehlo.broadcast_in_dim %arg10, dims = [2] : (tensor<1024xf32>) -> tensor<1x1x1024xf32>
    %86 = stablehlo.broadcast_in_dim %85, dims = [0, 1, 2] : (tensor<1x1x1024xf32>) -> tensor<8x128x1024xf32>
    %87 = stablehlo.add %84, %86 : tensor<8x128x1024xf32>
    %88 = stablehlo.multiply %87, %87 : tensor<8x128x1024xf32>
    %89 = stablehlo.multiply %88, %87 : tensor<8x128x1024xf32>
    %cst_14 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %90 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %91 = stablehlo.multiply %90, %89 : tensor<8x128x1024xf32>
    %92 = stablehlo.add %87, %91 : tensor<8x128x1024xf32>
    %cst_15 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %94 = stablehlo.multiply %93, %92 : tensor<8x128x1024xf32>
    %95 = stablehlo.tanh %94 : tensor<8x128x1024xf32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %97 = stablehlo.add %96, %95 : tensor<8x128x1024xf32>
    %cst_17 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %99 = stablehlo.multiply %98, %97 : tensor<8x128x1024xf32>
    %100 = stablehlo.multiply %87, %99 : tensor<8x128x1024xf32>
    %101 = stablehlo.dot_general %100, %arg11, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128x1024xf32>, tensor<1024x256xf32>) -> tensor<8x128x256xf32>
    %102 = stablehlo.add %61, %101 : tensor<8x128x256xf32>
    %103 = stablehlo.broadcast_in_dim %arg12, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %104 = stablehlo.broadcast_in_dim %103, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %105 = stablehlo.add %102, %104 : tensor<8x128x256xf32>
    %106 = stablehlo.multiply %105, %105 : tensor<8x128x256xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %107 = stablehlo.reduce(%106 init: %cst_18) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<f32>
    %cst_19 = stablehlo.constant dense<2.621440e+05> : tensor<f32>
    %108 = stablehlo.divide %107, %cst_19 : tensor<f32>
    return %108 : tensor<f32>
  }
  func.func private @triu(%arg0: tensor<128x128xf32>) -> tensor<128x128xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<128x128xi64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<128x128xi64>
    %2 = stablehlo.add %0, %1 : tensor<128x128xi64>
    %3 = stablehlo.iota dim = 1 : tensor<128x128xi64>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<128x128xi64>, tensor<128x128xi64>) -> tensor<128x128xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<128x128xf32>
    %6 = stablehlo.select %4, %5, %arg0 : tensor<128x128xi1>, tensor<128x128xf32>
    return %6 : tensor<128x128xf32>
  }
}
// workload e_cnn_grad grad 2,3,4,5,6,7 normal:1.0 labels:10 normal:0.1 normal:0 normal:0.1 normal:0 normal:0.02 normal:0
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x3x32x32xf32>, %arg1: tensor<32xi32>, %arg2: tensor<32x3x3x3xf32>, %arg3: tensor<32xf32>, %arg4: tensor<64x32x3x3xf32>, %arg5: tensor<64xf32>, %arg6: tensor<4096x10xf32>, %arg7: tensor<10xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = stablehlo.convolution(%arg0, %arg2) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x3x32x32xf32>, tensor<32x3x3x3xf32>) -> tensor<32x32x32x32xf32>
    %1 = stablehlo.reshape %arg3 : (tensor<32xf32>) -> tensor<1x32x1x1xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<1x32x1x1xf32>) -> tensor<32x32x32x32xf32>
    %3 = stablehlo.add %0, %2 : tensor<32x32x32x32xf32>
    %4 = call @relu(%3) : (tensor<32x32x32x32xf32>) -> tensor<32x32x32x32xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %6 = "stablehlo.reduce_window"(%4, %5) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %25 = stablehlo.maximum %arg8, %arg9 : tensor<f32>
      stablehlo.return %25 : tensor<f32>
    }) : (tensor<32x32x32x32xf32>, tensor<f32>) -> tensor<32x32x16x16xf32>
    %7 = stablehlo.convolution(%6, %arg4) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x32x16x16xf32>, tensor<64x32x3x3xf32>) -> tensor<32x64x16x16xf32>
    %8 = stablehlo.reshape %arg5 : (tensor<64xf32>) -> tensor<1x64x1x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x64x1x1xf32>) -> tensor<32x64x16x16xf32>
    %10 = stablehlo.add %7, %9 : tensor<32x64x16x16xf32>
    %11 = call @relu_0(%10) : (tensor<32x64x16x16xf32>) -> tensor<32x64x16x16xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<f32>
    %13 = "stablehlo.reduce_window"(%11, %12) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %25 = stablehlo.maximum %arg8, %arg9 : tensor<f32>
      stablehlo.return %25 : tensor<f32>
    }) : (tensor<32x64x16x16xf32>, tensor<f32>) -> tensor<32x64x8x8xf32>
    %14 = stablehlo.reshape %13 : (tensor<32x64x8x8xf32>) -> tensor<32x4096xf32>
    %15 = stablehlo.dot_general %14, %arg6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x4096xf32>, tensor<4096x10xf32>) -> tensor<32x10xf32>
    %16 = stablehlo.broadcast_in_dim %arg7, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<32x10xf32>
    %18 = stablehlo.add %15, %17 : tensor<32x10xf32>
    %19 = call @log_softmax(%18) : (tensor<32x10xf32>) -> tensor<32x10xf32>
    %20 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<32xi32>) -> tensor<32x1xi32>
    %21 = call @take_along_axis(%19, %20) : (tensor<32x10xf32>, tensor<32x1xi32>) -> tensor<32x1xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.reduce(%21 init: %cst_1) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %23 = stablehlo.divide %22, %cst_2 : tensor<f32>
    %24 = stablehlo.negate %23 : tensor<f32>
    return %24 : tensor<f32>
  }
  func.func private @relu(%arg0: tensor<32x32x32x32xf32>) -> tensor<32x32x32x32xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x32x32x32xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<32x32x32x32xf32>
    return %1 : tensor<32x32x32x32xf32>
  }
  func.func private @relu_0(%arg0: tensor<32x64x16x16xf32>) -> tensor<32x64x16x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x64x16x16xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<32x64x16x16xf32>
    return %1 : tensor<32x64x16x16xf32>
  }
  func.func private @log_softmax(%arg0: tensor<32x10xf32>) -> tensor<32x10xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<32x10xf32>, tensor<f32>) -> tensor<32xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<32xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<32xf32>) -> tensor<32x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x10xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<32x10xf32>
    %6 = stablehlo.exponential %5 : tensor<32x10xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<32x10xf32>, tensor<f32>) -> tensor<32xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<32xf32>) -> tensor<32x1xf32>
    %9 = stablehlo.log %8 : tensor<32x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x10xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<32x10xf32>
    return %11 : tensor<32x10xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<32x10xf32>, %arg1: tensor<32x1xi32>) -> tensor<32x1xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<32x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<32x1xi32>, tensor<32x1xi32>) -> tensor<32x1xi1>
    %c_0 = stablehlo.constant dense<10> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<32x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<32x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<32x1xi1>, tensor<32x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<32x1xi32>) -> tensor<32x1x1xi32>
    %c_1 = stablehlo.constant dense<9> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<32x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<32x1x1xi32>, tensor<32x1x1xi32>) -> tensor<32x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<32x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<32x1x1xi32>, tensor<32x1x1xi32>) -> tensor<32x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<32x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<32x1x1xi1>, tensor<i1>) -> tensor<32x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<32x10xf32>, tensor<32x1x1xi32>) -> tensor<32x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<32x1xi1>, tensor<32x1xf32>
    return %15 : tensor<32x1xf32>
  }
}
// workload f_grad_mlp_tanh grad 2,3,4,5,6,7 normal:1.0 labels:10 normal:0.05 normal:0 normal:0.05 normal:0 normal:0.05 normal:0
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<256x784xf32>, %arg1: tensor<256xi32>, %arg2: tensor<784x512xf32>, %arg3: tensor<512xf32>, %arg4: tensor<512x512xf32>, %arg5: tensor<512xf32>, %arg6: tensor<512x10xf32>, %arg7: tensor<10xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x784xf32>, tensor<784x512xf32>) -> tensor<256x512xf32>
    %1 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<512xf32>) -> tensor<1x512xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x512xf32>) -> tensor<256x512xf32>
    %3 = stablehlo.add %0, %2 : tensor<256x512xf32>
    %4 = stablehlo.tanh %3 : tensor<256x512xf32>
    %5 = stablehlo.dot_general %4, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xf32>, tensor<512x512xf32>) -> tensor<256x512xf32>
    %6 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<512xf32>) -> tensor<1x512xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x512xf32>) -> tensor<256x512xf32>
    %8 = stablehlo.add %5, %7 : tensor<256x512xf32>
    %9 = stablehlo.tanh %8 : tensor<256x512xf32>
    %10 = stablehlo.dot_general %9, %arg6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xf32>, tensor<512x10xf32>) -> tensor<256x10xf32>
    %11 = stablehlo.broadcast_in_dim %arg7, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<256x10xf32>
    %13 = stablehlo.add %10, %12 : tensor<256x10xf32>
    %14 = call @log_softmax(%13) : (tensor<256x10xf32>) -> tensor<256x10xf32>
    %15 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<256xi32>) -> tensor<256x1xi32>
    %16 = call @take_along_axis(%14, %15) : (tensor<256x10xf32>, tensor<256x1xi32>) -> tensor<256x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<256x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %18 = stablehlo.divide %17, %cst_0 : tensor<f32>
    %19 = stablehlo.negate %18 : tensor<f32>
    return %19 : tensor<f32>
  }
  func.func private @log_softmax(%arg0: tensor<256x10xf32>) -> tensor<256x10xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<256x10xf32>, tensor<f32>) -> tensor<256xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<256xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<256xf32>) -> tensor<256x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<256x1xf32>) -> tensor<256x10xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<256x10xf32>
    %6 = stablehlo.exponential %5 : tensor<256x10xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<256x10xf32>, tensor<f32>) -> tensor<256xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<256xf32>) -> tensor<256x1xf32>
    %9 = stablehlo.log %8 : tensor<256x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<256x1xf32>) -> tensor<256x10xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<256x10xf32>
    return %11 : tensor<256x10xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<256x10xf32>, %arg1: tensor<256x1xi32>) -> tensor<256x1xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<256x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<256x1xi32>, tensor<256x1xi32>) -> tensor<256x1xi1>
    %c_0 = stablehlo.constant dense<10> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<256x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<256x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<256x1xi1>, tensor<256x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<256x1xi32>) -> tensor<256x1x1xi32>
    %c_1 = stablehlo.constant dense<9> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<256x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<256x1x1xi32>, tensor<256x1x1xi32>) -> tensor<256x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<256x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<256x1x1xi32>, tensor<256x1x1xi32>) -> tensor<256x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<256x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<256x1x1xi1>, tensor<i1>) -> tensor<256x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<256x10xf32>, tensor<256x1x1xi32>) -> tensor<256x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<256x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<256x1xi1>, tensor<256x1xf32>
    return %15 : tensor<256x1xf32>
  }
}
// workload f_hvp_mlp hvp 2,3,4,5,6,7 normal:1.0 labels:10 normal:0.05 normal:0 normal:0.05 normal:0 normal:0.05 normal:0 normal normal normal normal normal normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<256x784xf32>, %arg1: tensor<256xi32>, %arg2: tensor<784x512xf32>, %arg3: tensor<512xf32>, %arg4: tensor<512x512xf32>, %arg5: tensor<512xf32>, %arg6: tensor<512x10xf32>, %arg7: tensor<10xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x784xf32>, tensor<784x512xf32>) -> tensor<256x512xf32>
    %1 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<512xf32>) -> tensor<1x512xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x512xf32>) -> tensor<256x512xf32>
    %3 = stablehlo.add %0, %2 : tensor<256x512xf32>
    %4 = stablehlo.tanh %3 : tensor<256x512xf32>
    %5 = stablehlo.dot_general %4, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xf32>, tensor<512x512xf32>) -> tensor<256x512xf32>
    %6 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<512xf32>) -> tensor<1x512xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x512xf32>) -> tensor<256x512xf32>
    %8 = stablehlo.add %5, %7 : tensor<256x512xf32>
    %9 = stablehlo.tanh %8 : tensor<256x512xf32>
    %10 = stablehlo.dot_general %9, %arg6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xf32>, tensor<512x10xf32>) -> tensor<256x10xf32>
    %11 = stablehlo.broadcast_in_dim %arg7, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<256x10xf32>
    %13 = stablehlo.add %10, %12 : tensor<256x10xf32>
    %14 = call @log_softmax(%13) : (tensor<256x10xf32>) -> tensor<256x10xf32>
    %15 = stablehlo.broadcast_in_dim %arg1, dims = [0] : (tensor<256xi32>) -> tensor<256x1xi32>
    %16 = call @take_along_axis(%14, %15) : (tensor<256x10xf32>, tensor<256x1xi32>) -> tensor<256x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<256x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %18 = stablehlo.divide %17, %cst_0 : tensor<f32>
    %19 = stablehlo.negate %18 : tensor<f32>
    return %19 : tensor<f32>
  }
  func.func private @log_softmax(%arg0: tensor<256x10xf32>) -> tensor<256x10xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<256x10xf32>, tensor<f32>) -> tensor<256xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<256xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<256xf32>) -> tensor<256x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<256x1xf32>) -> tensor<256x10xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<256x10xf32>
    %6 = stablehlo.exponential %5 : tensor<256x10xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<256x10xf32>, tensor<f32>) -> tensor<256xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<256xf32>) -> tensor<256x1xf32>
    %9 = stablehlo.log %8 : tensor<256x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<256x1xf32>) -> tensor<256x10xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<256x10xf32>
    return %11 : tensor<256x10xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<256x10xf32>, %arg1: tensor<256x1xi32>) -> tensor<256x1xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<256x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<256x1xi32>, tensor<256x1xi32>) -> tensor<256x1xi1>
    %c_0 = stablehlo.constant dense<10> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<256x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<256x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<256x1xi1>, tensor<256x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<256x1xi32>) -> tensor<256x1x1xi32>
    %c_1 = stablehlo.constant dense<9> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<256x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<256x1x1xi32>, tensor<256x1x1xi32>) -> tensor<256x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<256x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<256x1x1xi32>, tensor<256x1x1xi32>) -> tensor<256x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<256x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<256x1x1xi1>, tensor<i1>) -> tensor<256x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<256x10xf32>, tensor<256x1x1xi32>) -> tensor<256x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<256x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<256x1xi1>, tensor<256x1xf32>
    return %15 : tensor<256x1xf32>
  }
}
// workload f_hess_rosen200 hessian 0 normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<200xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [1:200] : (tensor<200xf64>) -> tensor<199xf64>
    %1 = stablehlo.slice %arg0 [0:199] : (tensor<200xf64>) -> tensor<199xf64>
    %2 = stablehlo.multiply %1, %1 : tensor<199xf64>
    %3 = stablehlo.subtract %0, %2 : tensor<199xf64>
    %4 = stablehlo.multiply %3, %3 : tensor<199xf64>
    %cst = stablehlo.constant dense<1.000000e+02> : tensor<f64>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<199xf64>
    %6 = stablehlo.multiply %5, %4 : tensor<199xf64>
    %7 = stablehlo.slice %arg0 [0:199] : (tensor<200xf64>) -> tensor<199xf64>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<199xf64>
    %9 = stablehlo.subtract %8, %7 : tensor<199xf64>
    %10 = stablehlo.multiply %9, %9 : tensor<199xf64>
    %11 = stablehlo.add %6, %10 : tensor<199xf64>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %12 = stablehlo.reduce(%11 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<199xf64>, tensor<f64>) -> tensor<f64>
    return %12 : tensor<f64>
  }
}
// workload f_pinn_grad grad 1,2,3,4,5,6,7,8,9,10 uniform normal:0.707 normal:0.1 normal:0.141 normal:0.1 normal:0.141 normal:0.1 normal:0.141 normal:0.1 normal:0.141 normal:0.1
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10000x2xf32>, %arg1: tensor<2x50xf32>, %arg2: tensor<50xf32>, %arg3: tensor<50x50xf32>, %arg4: tensor<50xf32>, %arg5: tensor<50x50xf32>, %arg6: tensor<50xf32>, %arg7: tensor<50x50xf32>, %arg8: tensor<50xf32>, %arg9: tensor<50x1xf32>, %arg10: tensor<1xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<[[1.000000e+00, 0.000000e+00]]> : tensor<1x2xf32>
    %cst_0 = stablehlo.constant dense<[[0.000000e+00, 1.000000e+00]]> : tensor<1x2xf32>
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x2xf32>, tensor<2x50xf32>) -> tensor<10000x50xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<50xf32>) -> tensor<1x50xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x50xf32>) -> tensor<10000x50xf32>
    %3 = stablehlo.add %0, %2 : tensor<10000x50xf32>
    %4 = stablehlo.dot_general %cst, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x2xf32>, tensor<2x50xf32>) -> tensor<1x50xf32>
    %5 = stablehlo.tanh %3 : tensor<10000x50xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<10000x50xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<10000x50xf32>
    %8 = stablehlo.subtract %7, %6 : tensor<10000x50xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<10000x50xf32>
    %10 = stablehlo.multiply %9, %5 : tensor<10000x50xf32>
    %11 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<1x50xf32>) -> tensor<10000x50xf32>
    %12 = stablehlo.multiply %10, %11 : tensor<10000x50xf32>
    %13 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<1x50xf32>) -> tensor<10000x50xf32>
    %14 = stablehlo.multiply %12, %13 : tensor<10000x50xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<10000x50xf32>
    %16 = stablehlo.subtract %15, %14 : tensor<10000x50xf32>
    %17 = stablehlo.multiply %8, %16 : tensor<10000x50xf32>
    %18 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<1x50xf32>) -> tensor<10000x50xf32>
    %19 = stablehlo.multiply %8, %18 : tensor<10000x50xf32>
    %20 = stablehlo.dot_general %5, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x50xf32>, tensor<50x50xf32>) -> tensor<10000x50xf32>
    %21 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<50xf32>) -> tensor<1x50xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1] : (tensor<1x50xf32>) -> tensor<10000x50xf32>
    %23 = stablehlo.add %20, %22 : tensor<10000x50xf32>
    %24 = stablehlo.dot_general %19, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x50xf32>, tensor<50x50xf32>) -> tensor<10000x50xf32>
    %25 = stablehlo.dot_general %17, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x50xf32>, tensor<50x50xf32>) -> tensor<10000x50xf32>
    %26 = stablehlo.tanh %23 : tensor<10000x50xf32>
    %27 = stablehlo.multiply %26, %26 : tensor<10000x50xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<10000x50xf32>
    %29 = stablehlo.subtract %28, %27 : tensor<10000x50xf32>
    %cst_5 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<10000x50xf32>
    %31 = stablehlo.multiply %30, %26 : tensor<10000x50xf32>
    %32 = stablehlo.multiply %31, %24 : tensor<10000x50xf32>
    %33 = stablehlo.multiply %32, %24 : tensor<10000x50xf32>
    %34 = stablehlo.subtract %25, %33 : tensor<10000x50xf32>
    %35 = stablehlo.multiply %29, %34 : tensor<10000x50xf32>
    %36 = stablehlo.multiply %29, %24 : tensor<10000x50xf32>
    %37 = stablehlo.dot_general %26, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x50xf32>, tensor<50x50xf32>) -> tensor<10000x50xf32>
    %38 = stablehlo.broadcast_in_dim %arg6, dims = [1] : (tensor<50xf32>) -> tensor<1x50xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1] : (tensor<1x50xf32>) -> tensor<10000x50xf32>
    %40 = stablehlo.add %37, %39 : tensor<10000x50xf32>
    %41 = stablehlo.dot_general %36, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x50xf32>, tensor<50x50xf32>) -> tensor<10000x50xf32>
    %42 = stablehlo.dot_general %35, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x50xf32>, tensor<50x50xf32>) -> tensor<10000x50xf32>
    %43 = stablehlo.tanh %40 : tensor<10000x50xf32>
    %44 = stablehlo.multiply %43, %43 : tensor<10000x50xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<10000x50xf32>
    %46 = stablehlo.subtract %45, %44 : tensor<10000x50xf32>
    %cst_7 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<10000x50xf32>
    %48 = stablehlo.multiply %47, %43 : tensor<10000x50xf32>
    %49 = stablehlo.multiply %48, %41 : tensor<10000x50xf32>
    %50 = stablehlo.multiply %49, %41 : tensor<10000x50xf32>
    %51 = stablehlo.subtract %42, %50 : tensor<10000x50xf32>
    %52 = stablehlo.multiply %46, %51 : tensor<10000x50xf32>
    %53 = stablehlo.multiply %46, %41 : tensor<10000x50xf32>
    %54 = stablehlo.dot_general %43, %arg7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x50xf32>, tensor<50x50xf32>) -> tensor<10000x50xf32>
    %55 = stablehlo.broadcast_in_dim %arg8, dims = [1] : (tensor<50xf32>) -> tensor<1x50xf32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [0, 1] : (tensor<1x50xf32>) -> tensor<10000x50xf32>
    %57 = stablehlo.add %54, %56 : tensor<10000x50xf32>
    %58 = stablehlo.dot_general %53, %arg7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x50xf32>, tensor<50x50xf32>) -> tensor<10000x50xf32>
    %59 = stablehlo.dot_general %52, %arg7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x50xf32>, tensor<50x50xf32>) -> tensor<10000x50xf32>
    %60 = stablehlo.tanh %57 : tensor<10000x50xf32>
    %61 = stablehlo.multiply %60, %60 : tensor<10000x50xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<10000x50xf32>
    %63 = stablehlo.subtract %62, %61 : tensor<10000x50xf32>
    %cst_9 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<10000x50xf32>
    %65 = stablehlo.multiply %64, %60 : tensor<10000x50xf32>
    %66 = stablehlo.multiply %65, %58 : tensor<10000x50xf32>
    %67 = stablehlo.multiply %66, %58 : tensor<10000x50xf32>
    %68 = stablehlo.subtract %59, %67 : tensor<10000x50xf32>
    %69 = stablehlo.multiply %63, %68 : tensor<10000x50xf32>
    %70 = stablehlo.dot_general %60, %arg9, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x50xf32>, tensor<50x1xf32>) -> tensor<10000x1xf32>
    %71 = stablehlo.broadcast_in_dim %arg10, dims = [1] : (tensor<1xf32>) -> tensor<1x1xf32>
    %72 = stablehlo.broadcast_in_dim %71, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<10000x1xf32>
    %73 = stablehlo.add %70, %72 : tensor<10000x1xf32>
    %74 = stablehlo.dot_general %69, %arg9, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x50xf32>, tensor<50x1xf32>) -> tensor<10000x1xf32>
    %75 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x2xf32>, tensor<2x50xf32>) -> tensor<10000x50xf32>
    %76 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<50xf32>) -> tensor<1x50xf32>
    %77 = stablehlo.broadcast_in_dim %76, dims = [0, 1] : (tensor<1x50xf32>) -> tensor<10000x50xf32>
    %78 = stablehlo.add %75, %77 : tensor<10000x50xf32>
    %79 = stablehlo.dot_general %cst_0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x2xf32>, tensor<2x50xf32>) -> tensor<1x50xf32>
    %80 = stablehlo.tanh %78 : tensor<10000x50xf32>
    %81 = stablehlo.multiply %80, %80 : tensor<10000x50xf32>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %82 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<10000x50xf32>
    %83 = stablehlo.subtract %82, %81 : tensor<10000x50xf32>
    %cst_11 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<10000x50xf32>
    %85 = stablehlo.multiply %84, %80 : tensor<10000x50xf32>
    %86 = stablehlo.broadcast_in_dim %79, dims = [0, 1] : (tensor<1x50xf32>) -> tensor<10000x50xf32>
    %87 = stablehlo.multiply %85, %86 : tensor<10000x50xf32>
    %88 = stablehlo.broadcast_in_dim %79, dims = [0, 1] : (tensor<1x50xf32>) -> tensor<10000x50xf32>
    %89 = stablehlo.multiply %87, %88 : tensor<10000x50xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %90 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<10000x50xf32>
    %91 = stablehlo.subtract %90, %89 : tensor<10000x50xf32>
    %92 = stablehlo.multiply %83, %91 : tensor<10000x50xf32>
    %93 = stablehlo.broadcast_in_dim %79, dims = [0, 1] : (tensor<1x50xf32>) -> tensor<10000x50xf32>
    %94 = stablehlo.multiply %83, %93 : tensor<10000x50xf32>
    %95 = stablehlo.dot_general %80, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x50xf32>, tensor<50x50xf32>) -> tensor<10000x50xf32>
    %96 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<50xf32>) -> tensor<1x50xf32>
    %97 = stablehlo.broadcast_in_dim %96, dims = [0, 1] : (tensor<1x50xf32>) -> tensor<10000x50xf32>
    %98 = stablehlo.add %95, %97 : tensor<10000x50xf32>
    %99 = stablehlo.dot_general %94, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x50xf32>, tensor<50x50xf32>) -> tensor<10000x50xf32>
    %100 = stablehlo.dot_general %92, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x50xf32>, tensor<50x50xf32>) -> tensor<10000x50xf32>
    %101 = stablehlo.tanh %98 : tensor<10000x50xf32>
    %102 = stablehlo.multiply %101, %101 : tensor<10000x50xf32>
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %103 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<10000x50xf32>
    %104 = stablehlo.subtract %103, %102 : tensor<10000x50xf32>
    %cst_14 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %105 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<10000x50xf32>
    %106 = stablehlo.multiply %105, %101 : tensor<10000x50xf32>
    %107 = stablehlo.multiply %106, %99 : tensor<10000x50xf32>
    %108 = stablehlo.multiply %107, %99 : tensor<10000x50xf32>
    %109 = stablehlo.subtract %100, %108 : tensor<10000x50xf32>
    %110 = stablehlo.multiply %104, %109 : tensor<10000x50xf32>
    %111 = stablehlo.multiply %104, %99 : tensor<10000x50xf32>
    %112 = stablehlo.dot_general %101, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x50xf32>, tensor<50x50xf32>) -> tensor<10000x50xf32>
    %113 = stablehlo.broadcast_in_dim %arg6, dims = [1] : (tensor<50xf32>) -> tensor<1x50xf32>
    %114 = stablehlo.broadcast_in_dim %113, dims = [0, 1] : (tensor<1x50xf32>) -> tensor<10000x50xf32>
    %115 = stablehlo.add %112, %114 : tensor<10000x50xf32>
    %116 = stablehlo.dot_general %111, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x50xf32>, tensor<50x50xf32>) -> tensor<10000x50xf32>
    %117 = stablehlo.dot_general %110, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x50xf32>, tensor<50x50xf32>) -> tensor<10000x50xf32>
    %118 = stablehlo.tanh %115 : tensor<10000x50xf32>
    %119 = stablehlo.multiply %118, %118 : tensor<10000x50xf32>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %120 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<10000x50xf32>
    %121 = stablehlo.subtract %120, %119 : tensor<10000x50xf32>
    %cst_16 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %122 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<10000x50xf32>
    %123 = stablehlo.multiply %122, %118 : tensor<10000x50xf32>
    %124 = stablehlo.multiply %123, %116 : tensor<10000x50xf32>
    %125 = stablehlo.multiply %124, %116 : tensor<10000x50xf32>
    %126 = stablehlo.subtract %117, %125 : tensor<10000x50xf32>
    %127 = stablehlo.multiply %121, %126 : tensor<10000x50xf32>
    %128 = stablehlo.multiply %121, %116 : tensor<10000x50xf32>
    %129 = stablehlo.dot_general %118, %arg7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x50xf32>, tensor<50x50xf32>) -> tensor<10000x50xf32>
    %130 = stablehlo.broadcast_in_dim %arg8, dims = [1] : (tensor<50xf32>) -> tensor<1x50xf32>
    %131 = stablehlo.broadcast_in_dim %130, dims = [0, 1] : (tensor<1x50xf32>) -> tensor<10000x50xf32>
    %132 = stablehlo.add %129, %131 : tensor<10000x50xf32>
    %133 = stablehlo.dot_general %128, %arg7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x50xf32>, tensor<50x50xf32>) -> tensor<10000x50xf32>
    %134 = stablehlo.dot_general %127, %arg7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x50xf32>, tensor<50x50xf32>) -> tensor<10000x50xf32>
    %135 = stablehlo.tanh %132 : tensor<10000x50xf32>
    %136 = stablehlo.multiply %135, %135 : tensor<10000x50xf32>
    %cst_17 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %137 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<10000x50xf32>
    %138 = stablehlo.subtract %137, %136 : tensor<10000x50xf32>
    %cst_18 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %139 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<10000x50xf32>
    %140 = stablehlo.multiply %139, %135 : tensor<10000x50xf32>
    %141 = stablehlo.multiply %140, %133 : tensor<10000x50xf32>
    %142 = stablehlo.multiply %141, %133 : tensor<10000x50xf32>
    %143 = stablehlo.subtract %134, %142 : tensor<10000x50xf32>
    %144 = stablehlo.multiply %138, %143 : tensor<10000x50xf32>
    %145 = stablehlo.dot_general %144, %arg9, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<10000x50xf32>, tensor<50x1xf32>) -> tensor<10000x1xf32>
    %146 = stablehlo.add %74, %145 : tensor<10000x1xf32>
    %147 = stablehlo.add %146, %73 : tensor<10000x1xf32>
    %148 = stablehlo.multiply %147, %147 : tensor<10000x1xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %149 = stablehlo.reduce(%148 init: %cst_19) applies stablehlo.add across dimensions = [0, 1] : (tensor<10000x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_20 = stablehlo.constant dense<1.000000e+04> : tensor<f32>
    %150 = stablehlo.divide %149, %cst_20 : tensor<f32>
    return %150 : tensor<f32>
  }
}
// workload g_svdvals_sum_grad_32 grad 0 normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x32xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = call @svd(%arg0) : (tensor<32x32xf64>) -> tensor<32xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<32xf64>, tensor<f64>) -> tensor<f64>
    return %1 : tensor<f64>
  }
  func.func private @svd(%arg0: tensor<32x32xf64>) -> tensor<32xf64> {
    %0:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%arg0) {backend_config = "", mhlo.backend_config = {mode = 78 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=32, j=32, k=32, l=32, m=32, n=32, o=32, p=32, q=32}, custom>} : (tensor<32x32xf64>) -> (tensor<32x32xf64>, tensor<32xf64>, tensor<32x32xf64>, tensor<32x32xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %2 = stablehlo.compare EQ, %0#4, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<32xf64>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<1xi1>) -> tensor<32xi1>
    %6 = stablehlo.select %5, %0#1, %4 : tensor<32xi1>, tensor<32xf64>
    return %6 : tensor<32xf64>
  }
}
// workload g_svd_vjp_32 grad 0 normal normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x32xf64>, %arg1: tensor<32x32xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0:3 = call @svd(%arg0) : (tensor<32x32xf64>) -> (tensor<32x32xf64>, tensor<32xf64>, tensor<32x32xf64>)
    %1 = stablehlo.multiply %0#1, %0#1 : tensor<32xf64>
    %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<32xf64>) -> tensor<1x32xf64>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x32xf64>) -> tensor<32x32xf64>
    %4 = stablehlo.multiply %0#0, %3 : tensor<32x32xf64>
    %5 = stablehlo.dot_general %4, %0#2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x32xf64>, tensor<32x32xf64>) -> tensor<32x32xf64>
    %6 = stablehlo.multiply %5, %arg1 : tensor<32x32xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x32xf64>, tensor<f64>) -> tensor<f64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %8 = stablehlo.reduce(%0#1 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<32xf64>, tensor<f64>) -> tensor<f64>
    %9 = stablehlo.add %7, %8 : tensor<f64>
    return %9 : tensor<f64>
  }
  func.func private @svd(%arg0: tensor<32x32xf64>) -> (tensor<32x32xf64>, tensor<32xf64>, tensor<32x32xf64>) {
    %0:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%arg0) {backend_config = "", mhlo.backend_config = {mode = 83 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=32, j=32, k=32, l=32, m=32, n=32, o=32, p=32, q=32}, custom>} : (tensor<32x32xf64>) -> (tensor<32x32xf64>, tensor<32xf64>, tensor<32x32xf64>, tensor<32x32xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %2 = stablehlo.compare EQ, %0#4, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<32xf64>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<1xi1>) -> tensor<32xi1>
    %6 = stablehlo.select %5, %0#1, %4 : tensor<32xi1>, tensor<32xf64>
    %7 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<32x32xf64>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<32x32xi1>
    %10 = stablehlo.select %9, %0#2, %8 : tensor<32x32xi1>, tensor<32x32xf64>
    %11 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_1 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<32x32xf64>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<32x32xi1>
    %14 = stablehlo.select %13, %0#3, %12 : tensor<32x32xi1>, tensor<32x32xf64>
    return %10, %6, %14 : tensor<32x32xf64>, tensor<32xf64>, tensor<32x32xf64>
  }
}
// workload g_eigh_vjp_32 grad 0 positive normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x32xf64>, %arg1: tensor<32x32xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0:2 = call @eigh(%arg0) : (tensor<32x32xf64>) -> (tensor<32xf64>, tensor<32x32xf64>)
    %1 = stablehlo.abs %0#1 : tensor<32x32xf64>
    %2 = stablehlo.multiply %1, %arg1 : tensor<32x32xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x32xf64>, tensor<f64>) -> tensor<f64>
    %4 = stablehlo.multiply %0#0, %0#0 : tensor<32xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %5 = stablehlo.reduce(%4 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<32xf64>, tensor<f64>) -> tensor<f64>
    %6 = stablehlo.add %3, %5 : tensor<f64>
    return %6 : tensor<f64>
  }
  func.func private @eigh(%arg0: tensor<32x32xf64>) -> (tensor<32xf64>, tensor<32x32xf64>) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<32x32xf64>) -> tensor<32x32xf64>
    %1 = stablehlo.add %arg0, %0 : tensor<32x32xf64>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<32x32xf64>
    %3 = stablehlo.divide %1, %2 : tensor<32x32xf64>
    %4:3 = stablehlo.custom_call @lapack_dsyevd_ffi(%3) {backend_config = "", mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=32, j=32, k=32, l=32, m=32}, custom>} : (tensor<32x32xf64>) -> (tensor<32x32xf64>, tensor<32xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %6 = stablehlo.compare EQ, %4#2, %5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<32x32xf64>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<32x32xi1>
    %10 = stablehlo.select %9, %4#0, %8 : tensor<32x32xi1>, tensor<32x32xf64>
    %11 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_1 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<32xf64>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<1xi1>) -> tensor<32xi1>
    %14 = stablehlo.select %13, %4#1, %12 : tensor<32xi1>, tensor<32xf64>
    return %14, %10 : tensor<32xf64>, tensor<32x32xf64>
  }
}
// workload g_qr_vjp_32 grad 0 normal normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x32xf64>, %arg1: tensor<32x32xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0:2 = call @qr(%arg0) : (tensor<32x32xf64>) -> (tensor<32x32xf64>, tensor<32x32xf64>)
    %1 = stablehlo.multiply %0#0, %arg1 : tensor<32x32xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x32xf64>, tensor<f64>) -> tensor<f64>
    %3 = stablehlo.multiply %0#1, %arg1 : tensor<32x32xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x32xf64>, tensor<f64>) -> tensor<f64>
    %5 = stablehlo.add %2, %4 : tensor<f64>
    return %5 : tensor<f64>
  }
  func.func private @qr(%arg0: tensor<32x32xf64>) -> (tensor<32x32xf64>, tensor<32x32xf64>) {
    %0:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m]) {i=32, j=32, k=32, l=32, m=32}, custom>} : (tensor<32x32xf64>) -> (tensor<32x32xf64>, tensor<32xf64>)
    %1 = stablehlo.custom_call @lapack_dorgqr_ffi(%0#0, %0#1) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k])->([l, m]) {i=32, j=32, k=32, l=32, m=32}, custom>} : (tensor<32x32xf64>, tensor<32xf64>) -> tensor<32x32xf64>
    %2 = stablehlo.iota dim = 0 : tensor<32x32xi64>
    %c = stablehlo.constant dense<-1> : tensor<i64>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<32x32xi64>
    %4 = stablehlo.add %2, %3 : tensor<32x32xi64>
    %5 = stablehlo.iota dim = 1 : tensor<32x32xi64>
    %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<32x32xi64>, tensor<32x32xi64>) -> tensor<32x32xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<32x32xf64>
    %8 = stablehlo.select %6, %7, %0#0 : tensor<32x32xi1>, tensor<32x32xf64>
    return %1, %8 : tensor<32x32xf64>, tensor<32x32xf64>
  }
}
// workload g_chol_vjp_32 grad 0 positive normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x32xf64>, %arg1: tensor<32x32xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = call @cholesky(%arg0) : (tensor<32x32xf64>) -> tensor<32x32xf64>
    %1 = stablehlo.multiply %0, %arg1 : tensor<32x32xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x32xf64>, tensor<f64>) -> tensor<f64>
    return %2 : tensor<f64>
  }
  func.func private @cholesky(%arg0: tensor<32x32xf64>) -> tensor<32x32xf64> {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<32x32xf64>) -> tensor<32x32xf64>
    %1 = stablehlo.add %arg0, %0 : tensor<32x32xf64>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<32x32xf64>
    %3 = stablehlo.divide %1, %2 : tensor<32x32xf64>
    %4:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%3) {backend_config = "", mhlo.backend_config = {uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], []) {i=32, j=32, k=32, l=32}, custom>} : (tensor<32x32xf64>) -> (tensor<32x32xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %6 = stablehlo.compare EQ, %4#1, %5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<32x32xf64>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<32x32xi1>
    %10 = stablehlo.select %9, %4#0, %8 : tensor<32x32xi1>, tensor<32x32xf64>
    %11 = stablehlo.iota dim = 0 : tensor<32x32xi64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %12 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<32x32xi64>
    %13 = stablehlo.add %11, %12 : tensor<32x32xi64>
    %14 = stablehlo.iota dim = 1 : tensor<32x32xi64>
    %15 = stablehlo.compare GE, %13, %14, SIGNED : (tensor<32x32xi64>, tensor<32x32xi64>) -> tensor<32x32xi1>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<32x32xf64>
    %17 = stablehlo.select %15, %10, %16 : tensor<32x32xi1>, tensor<32x32xf64>
    return %17 : tensor<32x32xf64>
  }
}
// workload g_solve_vjp_32 grad 0,1 normal normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x32xf64>, %arg1: tensor<32xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = call @solve(%arg0, %arg1) : (tensor<32x32xf64>, tensor<32xf64>) -> tensor<32xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<32xf64>, tensor<f64>) -> tensor<f64>
    return %1 : tensor<f64>
  }
  func.func private @solve(%arg0: tensor<32x32xf64>, %arg1: tensor<32xf64>) -> tensor<32xf64> {
    %0:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=32, j=32, k=32, l=32, m=32}, custom>} : (tensor<32x32xf64>) -> (tensor<32x32xf64>, tensor<32xi32>, tensor<i32>)
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<32xi32>
    %2 = stablehlo.subtract %0#1, %1 : tensor<32xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<i32>
    %4 = stablehlo.compare GE, %0#2, %3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<32x32xf64>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<32x32xi1>
    %8 = stablehlo.select %7, %0#0, %6 : tensor<32x32xi1>, tensor<32x32xf64>
    %9 = stablehlo.iota dim = 0 : tensor<32xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %10:4 = stablehlo.while(%iterArg = %2, %iterArg_3 = %c_2, %iterArg_4 = %c_1, %iterArg_5 = %9) : tensor<32xi32>, tensor<i64>, tensor<i64>, tensor<32xi32>
    cond {
      %c_6 = stablehlo.constant dense<32> : tensor<i64>
      %12 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %12 : tensor<i1>
    } do {
      %12:2 = func.call @closed_call(%iterArg, %iterArg_4, %iterArg_5) : (tensor<32xi32>, tensor<i64>, tensor<32xi32>) -> (tensor<i64>, tensor<32xi32>)
      %c_6 = stablehlo.constant dense<1> : tensor<i64>
      %13 = stablehlo.add %iterArg_3, %c_6 : tensor<i64>
      stablehlo.return %iterArg, %13, %12#0, %12#1 : tensor<32xi32>, tensor<i64>, tensor<i64>, tensor<32xi32>
    }
    %11 = call @_lu_solve(%8, %10#3, %arg1) : (tensor<32x32xf64>, tensor<32xi32>, tensor<32xf64>) -> tensor<32xf64>
    return %11 : tensor<32xf64>
  }
  func.func private @closed_call(%arg0: tensor<32xi32>, %arg1: tensor<i64>, %arg2: tensor<32xi32>) -> (tensor<i64>, tensor<32xi32>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg1, %c : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.compare LT, %arg1, %c_0, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %2 = stablehlo.convert %arg1 : tensor<i64>
    %c_1 = stablehlo.constant dense<32> : tensor<i64>
    %3 = stablehlo.add %2, %c_1 : tensor<i64>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<i1>, tensor<i64>
    %5 = stablehlo.dynamic_slice %arg0, %4, sizes = [1] : (tensor<32xi32>, tensor<i64>) -> tensor<1xi32>
    %6 = stablehlo.reshape %5 : (tensor<1xi32>) -> tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %7 = stablehlo.compare LT, %arg1, %c_2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %8 = stablehlo.convert %arg1 : tensor<i64>
    %c_3 = stablehlo.constant dense<32> : tensor<i64>
    %9 = stablehlo.add %8, %c_3 : tensor<i64>
    %10 = stablehlo.select %7, %9, %arg1 : tensor<i1>, tensor<i64>
    %11 = stablehlo.dynamic_slice %arg2, %10, sizes = [1] : (tensor<32xi32>, tensor<i64>) -> tensor<1xi32>
    %12 = stablehlo.reshape %11 : (tensor<1xi32>) -> tensor<i32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %13 = stablehlo.compare LT, %6, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<32> : tensor<i32>
    %14 = stablehlo.add %6, %c_5 : tensor<i32>
    %15 = stablehlo.select %13, %14, %6 : tensor<i1>, tensor<i32>
    %16 = stablehlo.dynamic_slice %arg2, %15, sizes = [1] : (tensor<32xi32>, tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.reshape %16 : (tensor<1xi32>) -> tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i64>
    %18 = stablehlo.compare LT, %arg1, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_7 = stablehlo.constant dense<32> : tensor<i64>
    %19 = stablehlo.add %arg1, %c_7 : tensor<i64>
    %20 = stablehlo.select %18, %19, %arg1 : tensor<i1>, tensor<i64>
    %21 = stablehlo.convert %20 : (tensor<i64>) -> tensor<i32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %23 = "stablehlo.scatter"(%arg2, %22, %17) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<32xi32>, tensor<1xi32>, tensor<i32>) -> tensor<32xi32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %24 = stablehlo.compare LT, %6, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_9 = stablehlo.constant dense<32> : tensor<i32>
    %25 = stablehlo.add %6, %c_9 : tensor<i32>
    %26 = stablehlo.select %24, %25, %6 : tensor<i1>, tensor<i32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %28 = "stablehlo.scatter"(%23, %27, %12) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<32xi32>, tensor<1xi32>, tensor<i32>) -> tensor<32xi32>
    return %0, %28 : tensor<i64>, tensor<32xi32>
  }
  func.func private @_lu_solve(%arg0: tensor<32x32xf64>, %arg1: tensor<32xi32>, %arg2: tensor<32xf64>) -> tensor<32xf64> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0] : (tensor<32xf64>) -> tensor<32x1xf64>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<32xi32>
    %2 = stablehlo.compare LT, %arg1, %1, SIGNED : (tensor<32xi32>, tensor<32xi32>) -> tensor<32xi1>
    %c_0 = stablehlo.constant dense<32> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<32xi32>
    %4 = stablehlo.add %arg1, %3 : tensor<32xi32>
    %5 = stablehlo.select %2, %4, %arg1 : tensor<32xi1>, tensor<32xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<32xi32>) -> tensor<32x1xi32>
    %7 = "stablehlo.gather"(%0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<32x1xf64>, tensor<32x1xi32>) -> tensor<32x1xf64>
    %8 = stablehlo.custom_call @lapack_dtrsm_ffi(%arg0, %7) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=32, j=32, k=32, l=1, m=32, n=1}, custom>} : (tensor<32x32xf64>, tensor<32x1xf64>) -> tensor<32x1xf64>
    %9 = stablehlo.custom_call @lapack_dtrsm_ffi(%arg0, %8) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=32, j=32, k=32, l=1, m=32, n=1}, custom>} : (tensor<32x32xf64>, tensor<32x1xf64>) -> tensor<32x1xf64>
    %10 = stablehlo.reshape %9 : (tensor<32x1xf64>) -> tensor<32xf64>
    return %10 : tensor<32xf64>
  }
}
// workload g_solvemat_vjp_32 grad 0,1 normal normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x32xf64>, %arg1: tensor<32x32xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = call @solve(%arg0, %arg1) : (tensor<32x32xf64>, tensor<32x32xf64>) -> tensor<32x32xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x32xf64>, tensor<f64>) -> tensor<f64>
    return %1 : tensor<f64>
  }
  func.func private @solve(%arg0: tensor<32x32xf64>, %arg1: tensor<32x32xf64>) -> tensor<32x32xf64> {
    %0:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=32, j=32, k=32, l=32, m=32}, custom>} : (tensor<32x32xf64>) -> (tensor<32x32xf64>, tensor<32xi32>, tensor<i32>)
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<32xi32>
    %2 = stablehlo.subtract %0#1, %1 : tensor<32xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<i32>
    %4 = stablehlo.compare GE, %0#2, %3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<32x32xf64>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<32x32xi1>
    %8 = stablehlo.select %7, %0#0, %6 : tensor<32x32xi1>, tensor<32x32xf64>
    %9 = stablehlo.iota dim = 0 : tensor<32xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %10:4 = stablehlo.while(%iterArg = %2, %iterArg_3 = %c_2, %iterArg_4 = %c_1, %iterArg_5 = %9) : tensor<32xi32>, tensor<i64>, tensor<i64>, tensor<32xi32>
    cond {
      %c_6 = stablehlo.constant dense<32> : tensor<i64>
      %14 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %14 : tensor<i1>
    } do {
      %14:2 = func.call @closed_call(%iterArg, %iterArg_4, %iterArg_5) : (tensor<32xi32>, tensor<i64>, tensor<32xi32>) -> (tensor<i64>, tensor<32xi32>)
      %c_6 = stablehlo.constant dense<1> : tensor<i64>
      %15 = stablehlo.add %iterArg_3, %c_6 : tensor<i64>
      stablehlo.return %iterArg, %15, %14#0, %14#1 : tensor<32xi32>, tensor<i64>, tensor<i64>, tensor<32xi32>
    }
    %11 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<32x32xf64>) -> tensor<32x32xf64>
    %12 = call @_lu_solve(%8, %10#3, %11) : (tensor<32x32xf64>, tensor<32xi32>, tensor<32x32xf64>) -> tensor<32x32xf64>
    %13 = stablehlo.transpose %12, dims = [1, 0] : (tensor<32x32xf64>) -> tensor<32x32xf64>
    return %13 : tensor<32x32xf64>
  }
  func.func private @closed_call(%arg0: tensor<32xi32>, %arg1: tensor<i64>, %arg2: tensor<32xi32>) -> (tensor<i64>, tensor<32xi32>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg1, %c : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.compare LT, %arg1, %c_0, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %2 = stablehlo.convert %arg1 : tensor<i64>
    %c_1 = stablehlo.constant dense<32> : tensor<i64>
    %3 = stablehlo.add %2, %c_1 : tensor<i64>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<i1>, tensor<i64>
    %5 = stablehlo.dynamic_slice %arg0, %4, sizes = [1] : (tensor<32xi32>, tensor<i64>) -> tensor<1xi32>
    %6 = stablehlo.reshape %5 : (tensor<1xi32>) -> tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %7 = stablehlo.compare LT, %arg1, %c_2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %8 = stablehlo.convert %arg1 : tensor<i64>
    %c_3 = stablehlo.constant dense<32> : tensor<i64>
    %9 = stablehlo.add %8, %c_3 : tensor<i64>
    %10 = stablehlo.select %7, %9, %arg1 : tensor<i1>, tensor<i64>
    %11 = stablehlo.dynamic_slice %arg2, %10, sizes = [1] : (tensor<32xi32>, tensor<i64>) -> tensor<1xi32>
    %12 = stablehlo.reshape %11 : (tensor<1xi32>) -> tensor<i32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %13 = stablehlo.compare LT, %6, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<32> : tensor<i32>
    %14 = stablehlo.add %6, %c_5 : tensor<i32>
    %15 = stablehlo.select %13, %14, %6 : tensor<i1>, tensor<i32>
    %16 = stablehlo.dynamic_slice %arg2, %15, sizes = [1] : (tensor<32xi32>, tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.reshape %16 : (tensor<1xi32>) -> tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i64>
    %18 = stablehlo.compare LT, %arg1, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_7 = stablehlo.constant dense<32> : tensor<i64>
    %19 = stablehlo.add %arg1, %c_7 : tensor<i64>
    %20 = stablehlo.select %18, %19, %arg1 : tensor<i1>, tensor<i64>
    %21 = stablehlo.convert %20 : (tensor<i64>) -> tensor<i32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %23 = "stablehlo.scatter"(%arg2, %22, %17) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<32xi32>, tensor<1xi32>, tensor<i32>) -> tensor<32xi32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %24 = stablehlo.compare LT, %6, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_9 = stablehlo.constant dense<32> : tensor<i32>
    %25 = stablehlo.add %6, %c_9 : tensor<i32>
    %26 = stablehlo.select %24, %25, %6 : tensor<i1>, tensor<i32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %28 = "stablehlo.scatter"(%23, %27, %12) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<32xi32>, tensor<1xi32>, tensor<i32>) -> tensor<32xi32>
    return %0, %28 : tensor<i64>, tensor<32xi32>
  }
  func.func private @_lu_solve(%arg0: tensor<32x32xf64>, %arg1: tensor<32xi32>, %arg2: tensor<32x32xf64>) -> tensor<32x32xf64> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<32x32xf64>) -> tensor<32x32x1xf64>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<32xi32>
    %2 = stablehlo.compare LT, %arg1, %1, SIGNED : (tensor<32xi32>, tensor<32xi32>) -> tensor<32xi1>
    %c_0 = stablehlo.constant dense<32> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<32xi32>
    %4 = stablehlo.add %arg1, %3 : tensor<32xi32>
    %5 = stablehlo.select %2, %4, %arg1 : tensor<32xi1>, tensor<32xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<32xi32>) -> tensor<32x1xi32>
    %7 = "stablehlo.gather"(%0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 32, 1, 1>}> : (tensor<32x32x1xf64>, tensor<32x1xi32>) -> tensor<32x32x1xf64>
    %8 = stablehlo.transpose %7, dims = [1, 2, 0] : (tensor<32x32x1xf64>) -> tensor<32x1x32xf64>
    %9 = stablehlo.reshape %8 : (tensor<32x1x32xf64>) -> tensor<32x32xf64>
    %10 = stablehlo.custom_call @lapack_dtrsm_ffi(%arg0, %9) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=32, j=32, k=32, l=32, m=32, n=32}, custom>} : (tensor<32x32xf64>, tensor<32x32xf64>) -> tensor<32x32xf64>
    %11 = stablehlo.reshape %10 : (tensor<32x32xf64>) -> tensor<32x1x32xf64>
    %12 = stablehlo.reshape %11 : (tensor<32x1x32xf64>) -> tensor<32x32xf64>
    %13 = stablehlo.custom_call @lapack_dtrsm_ffi(%arg0, %12) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=32, j=32, k=32, l=32, m=32, n=32}, custom>} : (tensor<32x32xf64>, tensor<32x32xf64>) -> tensor<32x32xf64>
    %14 = stablehlo.reshape %13 : (tensor<32x32xf64>) -> tensor<32x1x32xf64>
    %15 = stablehlo.transpose %14, dims = [2, 0, 1] : (tensor<32x1x32xf64>) -> tensor<32x32x1xf64>
    %16 = stablehlo.reshape %15 : (tensor<32x32x1xf64>) -> tensor<32x32xf64>
    return %16 : tensor<32x32xf64>
  }
}
// workload g_logdet_vjp_32 grad 0 normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x32xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = call @slogdet(%arg0) : (tensor<32x32xf64>) -> tensor<f64>
    return %0 : tensor<f64>
  }
  func.func private @slogdet(%arg0: tensor<32x32xf64>) -> tensor<f64> {
    %0:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=32, j=32, k=32, l=32, m=32}, custom>} : (tensor<32x32xf64>) -> (tensor<32x32xf64>, tensor<32xi32>, tensor<i32>)
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<32xi32>
    %2 = stablehlo.subtract %0#1, %1 : tensor<32xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<i32>
    %4 = stablehlo.compare GE, %0#2, %3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<32x32xf64>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<32x32xi1>
    %8 = stablehlo.select %7, %0#0, %6 : tensor<32x32xi1>, tensor<32x32xf64>
    %9 = stablehlo.iota dim = 0 : tensor<32xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %10:4 = stablehlo.while(%iterArg = %2, %iterArg_7 = %c_2, %iterArg_8 = %c_1, %iterArg_9 = %9) : tensor<32xi32>, tensor<i64>, tensor<i64>, tensor<32xi32>
    cond {
      %c_10 = stablehlo.constant dense<32> : tensor<i64>
      %19 = stablehlo.compare LT, %iterArg_7, %c_10, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %19 : tensor<i1>
    } do {
      %19:2 = func.call @closed_call(%iterArg, %iterArg_8, %iterArg_9) : (tensor<32xi32>, tensor<i64>, tensor<32xi32>) -> (tensor<i64>, tensor<32xi32>)
      %c_10 = stablehlo.constant dense<1> : tensor<i64>
      %20 = stablehlo.add %iterArg_7, %c_10 : tensor<i64>
      stablehlo.return %iterArg, %20, %19#0, %19#1 : tensor<32xi32>, tensor<i64>, tensor<i64>, tensor<32xi32>
    }
    %11 = call @diagonal(%8) : (tensor<32x32xf64>) -> tensor<32xf64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %12 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f64>) -> tensor<32xf64>
    %13 = stablehlo.compare EQ, %11, %12, FLOAT : (tensor<32xf64>, tensor<32xf64>) -> tensor<32xi1>
    %c_4 = stablehlo.constant dense<false> : tensor<i1>
    %14 = stablehlo.reduce(%13 init: %c_4) applies stablehlo.or across dimensions = [0] : (tensor<32xi1>, tensor<i1>) -> tensor<i1>
    %15 = stablehlo.abs %11 : tensor<32xf64>
    %16 = stablehlo.log %15 : tensor<32xf64>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %17 = stablehlo.reduce(%16 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<32xf64>, tensor<f64>) -> tensor<f64>
    %cst_6 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %18 = call @_where(%14, %cst_6, %17) : (tensor<i1>, tensor<f64>, tensor<f64>) -> tensor<f64>
    return %18 : tensor<f64>
  }
  func.func private @closed_call(%arg0: tensor<32xi32>, %arg1: tensor<i64>, %arg2: tensor<32xi32>) -> (tensor<i64>, tensor<32xi32>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg1, %c : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.compare LT, %arg1, %c_0, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %2 = stablehlo.convert %arg1 : tensor<i64>
    %c_1 = stablehlo.constant dense<32> : tensor<i64>
    %3 = stablehlo.add %2, %c_1 : tensor<i64>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<i1>, tensor<i64>
    %5 = stablehlo.dynamic_slice %arg0, %4, sizes = [1] : (tensor<32xi32>, tensor<i64>) -> tensor<1xi32>
    %6 = stablehlo.reshape %5 : (tensor<1xi32>) -> tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %7 = stablehlo.compare LT, %arg1, %c_2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %8 = stablehlo.convert %arg1 : tensor<i64>
    %c_3 = stablehlo.constant dense<32> : tensor<i64>
    %9 = stablehlo.add %8, %c_3 : tensor<i64>
    %10 = stablehlo.select %7, %9, %arg1 : tensor<i1>, tensor<i64>
    %11 = stablehlo.dynamic_slice %arg2, %10, sizes = [1] : (tensor<32xi32>, tensor<i64>) -> tensor<1xi32>
    %12 = stablehlo.reshape %11 : (tensor<1xi32>) -> tensor<i32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %13 = stablehlo.compare LT, %6, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<32> : tensor<i32>
    %14 = stablehlo.add %6, %c_5 : tensor<i32>
    %15 = stablehlo.select %13, %14, %6 : tensor<i1>, tensor<i32>
    %16 = stablehlo.dynamic_slice %arg2, %15, sizes = [1] : (tensor<32xi32>, tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.reshape %16 : (tensor<1xi32>) -> tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i64>
    %18 = stablehlo.compare LT, %arg1, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_7 = stablehlo.constant dense<32> : tensor<i64>
    %19 = stablehlo.add %arg1, %c_7 : tensor<i64>
    %20 = stablehlo.select %18, %19, %arg1 : tensor<i1>, tensor<i64>
    %21 = stablehlo.convert %20 : (tensor<i64>) -> tensor<i32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %23 = "stablehlo.scatter"(%arg2, %22, %17) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<32xi32>, tensor<1xi32>, tensor<i32>) -> tensor<32xi32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %24 = stablehlo.compare LT, %6, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_9 = stablehlo.constant dense<32> : tensor<i32>
    %25 = stablehlo.add %6, %c_9 : tensor<i32>
    %26 = stablehlo.select %24, %25, %6 : tensor<i1>, tensor<i32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %28 = "stablehlo.scatter"(%23, %27, %12) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<32xi32>, tensor<1xi32>, tensor<i32>) -> tensor<32xi32>
    return %0, %28 : tensor<i64>, tensor<32xi32>
  }
  func.func private @diagonal(%arg0: tensor<32x32xf64>) -> tensor<32xf64> {
    %0 = stablehlo.iota dim = 0 : tensor<32x32xi64>
    %1 = stablehlo.iota dim = 1 : tensor<32x32xi64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<32x32xi64>
    %3 = stablehlo.add %0, %2 : tensor<32x32xi64>
    %4 = stablehlo.compare EQ, %3, %1, SIGNED : (tensor<32x32xi64>, tensor<32x32xi64>) -> tensor<32x32xi1>
    %5 = stablehlo.convert %4 : (tensor<32x32xi1>) -> tensor<32x32xf64>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %6 = "stablehlo.case"(%c_0) ({
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c_1 : tensor<i32>
    }, {
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c_1 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %7 = "stablehlo.case"(%6) ({
      %8 = stablehlo.iota dim = 0 : tensor<32xi64>
      %9 = stablehlo.iota dim = 0 : tensor<32xi64>
      %c_1 = stablehlo.constant dense<0> : tensor<i64>
      %10 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<32xi64>
      %11 = stablehlo.compare LT, %8, %10, SIGNED : (tensor<32xi64>, tensor<32xi64>) -> tensor<32xi1>
      %c_2 = stablehlo.constant dense<32> : tensor<i64>
      %12 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i64>) -> tensor<32xi64>
      %13 = stablehlo.add %8, %12 : tensor<32xi64>
      %14 = stablehlo.select %11, %13, %8 : tensor<32xi1>, tensor<32xi64>
      %c_3 = stablehlo.constant dense<0> : tensor<i64>
      %15 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i64>) -> tensor<32xi64>
      %16 = stablehlo.compare LT, %9, %15, SIGNED : (tensor<32xi64>, tensor<32xi64>) -> tensor<32xi1>
      %c_4 = stablehlo.constant dense<32> : tensor<i64>
      %17 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i64>) -> tensor<32xi64>
      %18 = stablehlo.add %9, %17 : tensor<32xi64>
      %19 = stablehlo.select %16, %18, %9 : tensor<32xi1>, tensor<32xi64>
      %20 = stablehlo.convert %14 : (tensor<32xi64>) -> tensor<32xi32>
      %21 = stablehlo.convert %19 : (tensor<32xi64>) -> tensor<32xi32>
      %22 = stablehlo.broadcast_in_dim %20, dims = [0] : (tensor<32xi32>) -> tensor<32x1xi32>
      %23 = stablehlo.broadcast_in_dim %21, dims = [0] : (tensor<32xi32>) -> tensor<32x1xi32>
      %24 = stablehlo.concatenate %22, %23, dim = 1 : (tensor<32x1xi32>, tensor<32x1xi32>) -> tensor<32x2xi32>
      %25 = "stablehlo.gather"(%arg0, %24) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<32x32xf64>, tensor<32x2xi32>) -> tensor<32xf64>
      stablehlo.return %25 : tensor<32xf64>
    }) : (tensor<i32>) -> tensor<32xf64>
    return %7 : tensor<32xf64>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<f64>, %arg2: tensor<f64>) -> tensor<f64> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<f64>
    return %0 : tensor<f64>
  }
}
// workload g_svd_fwd_32 value - normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x32xf64>) -> (tensor<32xf64> {jax.result_info = "result"}) {
    %0 = call @svd(%arg0) : (tensor<32x32xf64>) -> tensor<32xf64>
    return %0 : tensor<32xf64>
  }
  func.func private @svd(%arg0: tensor<32x32xf64>) -> tensor<32xf64> {
    %0:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%arg0) {backend_config = "", mhlo.backend_config = {mode = 78 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=32, j=32, k=32, l=32, m=32, n=32, o=32, p=32, q=32}, custom>} : (tensor<32x32xf64>) -> (tensor<32x32xf64>, tensor<32xf64>, tensor<32x32xf64>, tensor<32x32xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %2 = stablehlo.compare EQ, %0#4, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<32xf64>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<1xi1>) -> tensor<32xi1>
    %6 = stablehlo.select %5, %0#1, %4 : tensor<32xi1>, tensor<32xf64>
    return %6 : tensor<32xf64>
  }
}
// workload g_eigh_fwd_32 value - positive
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x32xf64>) -> (tensor<32x32xf64> {jax.result_info = "result"}) {
    %0 = call @eigh(%arg0) : (tensor<32x32xf64>) -> tensor<32x32xf64>
    %1 = stablehlo.abs %0 : tensor<32x32xf64>
    return %1 : tensor<32x32xf64>
  }
  func.func private @eigh(%arg0: tensor<32x32xf64>) -> tensor<32x32xf64> {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<32x32xf64>) -> tensor<32x32xf64>
    %1 = stablehlo.add %arg0, %0 : tensor<32x32xf64>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<32x32xf64>
    %3 = stablehlo.divide %1, %2 : tensor<32x32xf64>
    %4:3 = stablehlo.custom_call @lapack_dsyevd_ffi(%3) {backend_config = "", mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=32, j=32, k=32, l=32, m=32}, custom>} : (tensor<32x32xf64>) -> (tensor<32x32xf64>, tensor<32xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %6 = stablehlo.compare EQ, %4#2, %5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<32x32xf64>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<32x32xi1>
    %10 = stablehlo.select %9, %4#0, %8 : tensor<32x32xi1>, tensor<32x32xf64>
    %11 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_1 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<32xf64>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<1xi1>) -> tensor<32xi1>
    %14 = stablehlo.select %13, %4#1, %12 : tensor<32xi1>, tensor<32xf64>
    return %10 : tensor<32x32xf64>
  }
}
// workload g_chol_fwd_32 value - positive
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x32xf64>) -> (tensor<32x32xf64> {jax.result_info = "result"}) {
    %0 = call @cholesky(%arg0) : (tensor<32x32xf64>) -> tensor<32x32xf64>
    return %0 : tensor<32x32xf64>
  }
  func.func private @cholesky(%arg0: tensor<32x32xf64>) -> tensor<32x32xf64> {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<32x32xf64>) -> tensor<32x32xf64>
    %1 = stablehlo.add %arg0, %0 : tensor<32x32xf64>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<32x32xf64>
    %3 = stablehlo.divide %1, %2 : tensor<32x32xf64>
    %4:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%3) {backend_config = "", mhlo.backend_config = {uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], []) {i=32, j=32, k=32, l=32}, custom>} : (tensor<32x32xf64>) -> (tensor<32x32xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %6 = stablehlo.compare EQ, %4#1, %5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<32x32xf64>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<32x32xi1>
    %10 = stablehlo.select %9, %4#0, %8 : tensor<32x32xi1>, tensor<32x32xf64>
    %11 = stablehlo.iota dim = 0 : tensor<32x32xi64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %12 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<32x32xi64>
    %13 = stablehlo.add %11, %12 : tensor<32x32xi64>
    %14 = stablehlo.iota dim = 1 : tensor<32x32xi64>
    %15 = stablehlo.compare GE, %13, %14, SIGNED : (tensor<32x32xi64>, tensor<32x32xi64>) -> tensor<32x32xi1>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<32x32xf64>
    %17 = stablehlo.select %15, %10, %16 : tensor<32x32xi1>, tensor<32x32xf64>
    return %17 : tensor<32x32xf64>
  }
}
// workload g_qr_fwd_32 value - normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x32xf64>) -> (tensor<32x32xf64> {jax.result_info = "result"}) {
    %0 = call @qr(%arg0) : (tensor<32x32xf64>) -> tensor<32x32xf64>
    return %0 : tensor<32x32xf64>
  }
  func.func private @qr(%arg0: tensor<32x32xf64>) -> tensor<32x32xf64> {
    %0:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m]) {i=32, j=32, k=32, l=32, m=32}, custom>} : (tensor<32x32xf64>) -> (tensor<32x32xf64>, tensor<32xf64>)
    %1 = stablehlo.custom_call @lapack_dorgqr_ffi(%0#0, %0#1) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k])->([l, m]) {i=32, j=32, k=32, l=32, m=32}, custom>} : (tensor<32x32xf64>, tensor<32xf64>) -> tensor<32x32xf64>
    %2 = stablehlo.iota dim = 0 : tensor<32x32xi64>
    %c = stablehlo.constant dense<-1> : tensor<i64>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<32x32xi64>
    %4 = stablehlo.add %2, %3 : tensor<32x32xi64>
    %5 = stablehlo.iota dim = 1 : tensor<32x32xi64>
    %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<32x32xi64>, tensor<32x32xi64>) -> tensor<32x32xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<32x32xf64>
    %8 = stablehlo.select %6, %7, %0#0 : tensor<32x32xi1>, tensor<32x32xf64>
    return %8 : tensor<32x32xf64>
  }
}
// workload g_solve_fwd_32 value - normal normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<32x32xf64>, %arg1: tensor<32xf64>) -> (tensor<32xf64> {jax.result_info = "result"}) {
    %0 = call @solve(%arg0, %arg1) : (tensor<32x32xf64>, tensor<32xf64>) -> tensor<32xf64>
    return %0 : tensor<32xf64>
  }
  func.func private @solve(%arg0: tensor<32x32xf64>, %arg1: tensor<32xf64>) -> tensor<32xf64> {
    %0:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=32, j=32, k=32, l=32, m=32}, custom>} : (tensor<32x32xf64>) -> (tensor<32x32xf64>, tensor<32xi32>, tensor<i32>)
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<32xi32>
    %2 = stablehlo.subtract %0#1, %1 : tensor<32xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<i32>
    %4 = stablehlo.compare GE, %0#2, %3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<32x32xf64>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<32x32xi1>
    %8 = stablehlo.select %7, %0#0, %6 : tensor<32x32xi1>, tensor<32x32xf64>
    %9 = stablehlo.iota dim = 0 : tensor<32xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %10:4 = stablehlo.while(%iterArg = %2, %iterArg_3 = %c_2, %iterArg_4 = %c_1, %iterArg_5 = %9) : tensor<32xi32>, tensor<i64>, tensor<i64>, tensor<32xi32>
    cond {
      %c_6 = stablehlo.constant dense<32> : tensor<i64>
      %12 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %12 : tensor<i1>
    } do {
      %12:2 = func.call @closed_call(%iterArg, %iterArg_4, %iterArg_5) : (tensor<32xi32>, tensor<i64>, tensor<32xi32>) -> (tensor<i64>, tensor<32xi32>)
      %c_6 = stablehlo.constant dense<1> : tensor<i64>
      %13 = stablehlo.add %iterArg_3, %c_6 : tensor<i64>
      stablehlo.return %iterArg, %13, %12#0, %12#1 : tensor<32xi32>, tensor<i64>, tensor<i64>, tensor<32xi32>
    }
    %11 = call @_lu_solve(%8, %10#3, %arg1) : (tensor<32x32xf64>, tensor<32xi32>, tensor<32xf64>) -> tensor<32xf64>
    return %11 : tensor<32xf64>
  }
  func.func private @closed_call(%arg0: tensor<32xi32>, %arg1: tensor<i64>, %arg2: tensor<32xi32>) -> (tensor<i64>, tensor<32xi32>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg1, %c : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.compare LT, %arg1, %c_0, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %2 = stablehlo.convert %arg1 : tensor<i64>
    %c_1 = stablehlo.constant dense<32> : tensor<i64>
    %3 = stablehlo.add %2, %c_1 : tensor<i64>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<i1>, tensor<i64>
    %5 = stablehlo.dynamic_slice %arg0, %4, sizes = [1] : (tensor<32xi32>, tensor<i64>) -> tensor<1xi32>
    %6 = stablehlo.reshape %5 : (tensor<1xi32>) -> tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %7 = stablehlo.compare LT, %arg1, %c_2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %8 = stablehlo.convert %arg1 : tensor<i64>
    %c_3 = stablehlo.constant dense<32> : tensor<i64>
    %9 = stablehlo.add %8, %c_3 : tensor<i64>
    %10 = stablehlo.select %7, %9, %arg1 : tensor<i1>, tensor<i64>
    %11 = stablehlo.dynamic_slice %arg2, %10, sizes = [1] : (tensor<32xi32>, tensor<i64>) -> tensor<1xi32>
    %12 = stablehlo.reshape %11 : (tensor<1xi32>) -> tensor<i32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %13 = stablehlo.compare LT, %6, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<32> : tensor<i32>
    %14 = stablehlo.add %6, %c_5 : tensor<i32>
    %15 = stablehlo.select %13, %14, %6 : tensor<i1>, tensor<i32>
    %16 = stablehlo.dynamic_slice %arg2, %15, sizes = [1] : (tensor<32xi32>, tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.reshape %16 : (tensor<1xi32>) -> tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i64>
    %18 = stablehlo.compare LT, %arg1, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_7 = stablehlo.constant dense<32> : tensor<i64>
    %19 = stablehlo.add %arg1, %c_7 : tensor<i64>
    %20 = stablehlo.select %18, %19, %arg1 : tensor<i1>, tensor<i64>
    %21 = stablehlo.convert %20 : (tensor<i64>) -> tensor<i32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %23 = "stablehlo.scatter"(%arg2, %22, %17) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<32xi32>, tensor<1xi32>, tensor<i32>) -> tensor<32xi32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %24 = stablehlo.compare LT, %6, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_9 = stablehlo.constant dense<32> : tensor<i32>
    %25 = stablehlo.add %6, %c_9 : tensor<i32>
    %26 = stablehlo.select %24, %25, %6 : tensor<i1>, tensor<i32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %28 = "stablehlo.scatter"(%23, %27, %12) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<32xi32>, tensor<1xi32>, tensor<i32>) -> tensor<32xi32>
    return %0, %28 : tensor<i64>, tensor<32xi32>
  }
  func.func private @_lu_solve(%arg0: tensor<32x32xf64>, %arg1: tensor<32xi32>, %arg2: tensor<32xf64>) -> tensor<32xf64> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0] : (tensor<32xf64>) -> tensor<32x1xf64>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<32xi32>
    %2 = stablehlo.compare LT, %arg1, %1, SIGNED : (tensor<32xi32>, tensor<32xi32>) -> tensor<32xi1>
    %c_0 = stablehlo.constant dense<32> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<32xi32>
    %4 = stablehlo.add %arg1, %3 : tensor<32xi32>
    %5 = stablehlo.select %2, %4, %arg1 : tensor<32xi1>, tensor<32xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<32xi32>) -> tensor<32x1xi32>
    %7 = "stablehlo.gather"(%0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<32x1xf64>, tensor<32x1xi32>) -> tensor<32x1xf64>
    %8 = stablehlo.custom_call @lapack_dtrsm_ffi(%arg0, %7) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=32, j=32, k=32, l=1, m=32, n=1}, custom>} : (tensor<32x32xf64>, tensor<32x1xf64>) -> tensor<32x1xf64>
    %9 = stablehlo.custom_call @lapack_dtrsm_ffi(%arg0, %8) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=32, j=32, k=32, l=1, m=32, n=1}, custom>} : (tensor<32x32xf64>, tensor<32x1xf64>) -> tensor<32x1xf64>
    %10 = stablehlo.reshape %9 : (tensor<32x1xf64>) -> tensor<32xf64>
    return %10 : tensor<32xf64>
  }
}
// workload g_svdvals_sum_grad_128 grad 0 normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<128x128xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = call @svd(%arg0) : (tensor<128x128xf64>) -> tensor<128xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<128xf64>, tensor<f64>) -> tensor<f64>
    return %1 : tensor<f64>
  }
  func.func private @svd(%arg0: tensor<128x128xf64>) -> tensor<128xf64> {
    %0:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%arg0) {backend_config = "", mhlo.backend_config = {mode = 78 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=128, j=128, k=128, l=128, m=128, n=128, o=128, p=128, q=128}, custom>} : (tensor<128x128xf64>) -> (tensor<128x128xf64>, tensor<128xf64>, tensor<128x128xf64>, tensor<128x128xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %2 = stablehlo.compare EQ, %0#4, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<128xf64>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<1xi1>) -> tensor<128xi1>
    %6 = stablehlo.select %5, %0#1, %4 : tensor<128xi1>, tensor<128xf64>
    return %6 : tensor<128xf64>
  }
}
// workload g_svd_vjp_128 grad 0 normal normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<128x128xf64>, %arg1: tensor<128x128xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0:3 = call @svd(%arg0) : (tensor<128x128xf64>) -> (tensor<128x128xf64>, tensor<128xf64>, tensor<128x128xf64>)
    %1 = stablehlo.multiply %0#1, %0#1 : tensor<128xf64>
    %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<128xf64>) -> tensor<1x128xf64>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x128xf64>) -> tensor<128x128xf64>
    %4 = stablehlo.multiply %0#0, %3 : tensor<128x128xf64>
    %5 = stablehlo.dot_general %4, %0#2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x128xf64>, tensor<128x128xf64>) -> tensor<128x128xf64>
    %6 = stablehlo.multiply %5, %arg1 : tensor<128x128xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<128x128xf64>, tensor<f64>) -> tensor<f64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %8 = stablehlo.reduce(%0#1 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<128xf64>, tensor<f64>) -> tensor<f64>
    %9 = stablehlo.add %7, %8 : tensor<f64>
    return %9 : tensor<f64>
  }
  func.func private @svd(%arg0: tensor<128x128xf64>) -> (tensor<128x128xf64>, tensor<128xf64>, tensor<128x128xf64>) {
    %0:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%arg0) {backend_config = "", mhlo.backend_config = {mode = 83 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=128, j=128, k=128, l=128, m=128, n=128, o=128, p=128, q=128}, custom>} : (tensor<128x128xf64>) -> (tensor<128x128xf64>, tensor<128xf64>, tensor<128x128xf64>, tensor<128x128xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %2 = stablehlo.compare EQ, %0#4, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<128xf64>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<1xi1>) -> tensor<128xi1>
    %6 = stablehlo.select %5, %0#1, %4 : tensor<128xi1>, tensor<128xf64>
    %7 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<128x128xf64>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<128x128xi1>
    %10 = stablehlo.select %9, %0#2, %8 : tensor<128x128xi1>, tensor<128x128xf64>
    %11 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_1 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<128x128xf64>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<128x128xi1>
    %14 = stablehlo.select %13, %0#3, %12 : tensor<128x128xi1>, tensor<128x128xf64>
    return %10, %6, %14 : tensor<128x128xf64>, tensor<128xf64>, tensor<128x128xf64>
  }
}
// workload g_eigh_vjp_128 grad 0 positive normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<128x128xf64>, %arg1: tensor<128x128xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0:2 = call @eigh(%arg0) : (tensor<128x128xf64>) -> (tensor<128xf64>, tensor<128x128xf64>)
    %1 = stablehlo.abs %0#1 : tensor<128x128xf64>
    %2 = stablehlo.multiply %1, %arg1 : tensor<128x128xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<128x128xf64>, tensor<f64>) -> tensor<f64>
    %4 = stablehlo.multiply %0#0, %0#0 : tensor<128xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %5 = stablehlo.reduce(%4 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<128xf64>, tensor<f64>) -> tensor<f64>
    %6 = stablehlo.add %3, %5 : tensor<f64>
    return %6 : tensor<f64>
  }
  func.func private @eigh(%arg0: tensor<128x128xf64>) -> (tensor<128xf64>, tensor<128x128xf64>) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<128x128xf64>) -> tensor<128x128xf64>
    %1 = stablehlo.add %arg0, %0 : tensor<128x128xf64>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<128x128xf64>
    %3 = stablehlo.divide %1, %2 : tensor<128x128xf64>
    %4:3 = stablehlo.custom_call @lapack_dsyevd_ffi(%3) {backend_config = "", mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=128, j=128, k=128, l=128, m=128}, custom>} : (tensor<128x128xf64>) -> (tensor<128x128xf64>, tensor<128xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %6 = stablehlo.compare EQ, %4#2, %5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<128x128xf64>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<128x128xi1>
    %10 = stablehlo.select %9, %4#0, %8 : tensor<128x128xi1>, tensor<128x128xf64>
    %11 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_1 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<128xf64>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<1xi1>) -> tensor<128xi1>
    %14 = stablehlo.select %13, %4#1, %12 : tensor<128xi1>, tensor<128xf64>
    return %14, %10 : tensor<128xf64>, tensor<128x128xf64>
  }
}
// workload g_qr_vjp_128 grad 0 normal normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<128x128xf64>, %arg1: tensor<128x128xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0:2 = call @qr(%arg0) : (tensor<128x128xf64>) -> (tensor<128x128xf64>, tensor<128x128xf64>)
    %1 = stablehlo.multiply %0#0, %arg1 : tensor<128x128xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<128x128xf64>, tensor<f64>) -> tensor<f64>
    %3 = stablehlo.multiply %0#1, %arg1 : tensor<128x128xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<128x128xf64>, tensor<f64>) -> tensor<f64>
    %5 = stablehlo.add %2, %4 : tensor<f64>
    return %5 : tensor<f64>
  }
  func.func private @qr(%arg0: tensor<128x128xf64>) -> (tensor<128x128xf64>, tensor<128x128xf64>) {
    %0:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m]) {i=128, j=128, k=128, l=128, m=128}, custom>} : (tensor<128x128xf64>) -> (tensor<128x128xf64>, tensor<128xf64>)
    %1 = stablehlo.custom_call @lapack_dorgqr_ffi(%0#0, %0#1) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k])->([l, m]) {i=128, j=128, k=128, l=128, m=128}, custom>} : (tensor<128x128xf64>, tensor<128xf64>) -> tensor<128x128xf64>
    %2 = stablehlo.iota dim = 0 : tensor<128x128xi64>
    %c = stablehlo.constant dense<-1> : tensor<i64>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<128x128xi64>
    %4 = stablehlo.add %2, %3 : tensor<128x128xi64>
    %5 = stablehlo.iota dim = 1 : tensor<128x128xi64>
    %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<128x128xi64>, tensor<128x128xi64>) -> tensor<128x128xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<128x128xf64>
    %8 = stablehlo.select %6, %7, %0#0 : tensor<128x128xi1>, tensor<128x128xf64>
    return %1, %8 : tensor<128x128xf64>, tensor<128x128xf64>
  }
}
// workload g_chol_vjp_128 grad 0 positive normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<128x128xf64>, %arg1: tensor<128x128xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = call @cholesky(%arg0) : (tensor<128x128xf64>) -> tensor<128x128xf64>
    %1 = stablehlo.multiply %0, %arg1 : tensor<128x128xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<128x128xf64>, tensor<f64>) -> tensor<f64>
    return %2 : tensor<f64>
  }
  func.func private @cholesky(%arg0: tensor<128x128xf64>) -> tensor<128x128xf64> {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<128x128xf64>) -> tensor<128x128xf64>
    %1 = stablehlo.add %arg0, %0 : tensor<128x128xf64>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<128x128xf64>
    %3 = stablehlo.divide %1, %2 : tensor<128x128xf64>
    %4:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%3) {backend_config = "", mhlo.backend_config = {uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], []) {i=128, j=128, k=128, l=128}, custom>} : (tensor<128x128xf64>) -> (tensor<128x128xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %6 = stablehlo.compare EQ, %4#1, %5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<128x128xf64>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<128x128xi1>
    %10 = stablehlo.select %9, %4#0, %8 : tensor<128x128xi1>, tensor<128x128xf64>
    %11 = stablehlo.iota dim = 0 : tensor<128x128xi64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %12 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<128x128xi64>
    %13 = stablehlo.add %11, %12 : tensor<128x128xi64>
    %14 = stablehlo.iota dim = 1 : tensor<128x128xi64>
    %15 = stablehlo.compare GE, %13, %14, SIGNED : (tensor<128x128xi64>, tensor<128x128xi64>) -> tensor<128x128xi1>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<128x128xf64>
    %17 = stablehlo.select %15, %10, %16 : tensor<128x128xi1>, tensor<128x128xf64>
    return %17 : tensor<128x128xf64>
  }
}
// workload g_solve_vjp_128 grad 0,1 normal normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<128x128xf64>, %arg1: tensor<128xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = call @solve(%arg0, %arg1) : (tensor<128x128xf64>, tensor<128xf64>) -> tensor<128xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<128xf64>, tensor<f64>) -> tensor<f64>
    return %1 : tensor<f64>
  }
  func.func private @solve(%arg0: tensor<128x128xf64>, %arg1: tensor<128xf64>) -> tensor<128xf64> {
    %0:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=128, j=128, k=128, l=128, m=128}, custom>} : (tensor<128x128xf64>) -> (tensor<128x128xf64>, tensor<128xi32>, tensor<i32>)
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %2 = stablehlo.subtract %0#1, %1 : tensor<128xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<i32>
    %4 = stablehlo.compare GE, %0#2, %3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<128x128xf64>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<128x128xi1>
    %8 = stablehlo.select %7, %0#0, %6 : tensor<128x128xi1>, tensor<128x128xf64>
    %9 = stablehlo.iota dim = 0 : tensor<128xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %10:4 = stablehlo.while(%iterArg = %2, %iterArg_3 = %c_2, %iterArg_4 = %c_1, %iterArg_5 = %9) : tensor<128xi32>, tensor<i64>, tensor<i64>, tensor<128xi32>
    cond {
      %c_6 = stablehlo.constant dense<128> : tensor<i64>
      %12 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %12 : tensor<i1>
    } do {
      %12:2 = func.call @closed_call(%iterArg, %iterArg_4, %iterArg_5) : (tensor<128xi32>, tensor<i64>, tensor<128xi32>) -> (tensor<i64>, tensor<128xi32>)
      %c_6 = stablehlo.constant dense<1> : tensor<i64>
      %13 = stablehlo.add %iterArg_3, %c_6 : tensor<i64>
      stablehlo.return %iterArg, %13, %12#0, %12#1 : tensor<128xi32>, tensor<i64>, tensor<i64>, tensor<128xi32>
    }
    %11 = call @_lu_solve(%8, %10#3, %arg1) : (tensor<128x128xf64>, tensor<128xi32>, tensor<128xf64>) -> tensor<128xf64>
    return %11 : tensor<128xf64>
  }
  func.func private @closed_call(%arg0: tensor<128xi32>, %arg1: tensor<i64>, %arg2: tensor<128xi32>) -> (tensor<i64>, tensor<128xi32>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg1, %c : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.compare LT, %arg1, %c_0, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %2 = stablehlo.convert %arg1 : tensor<i64>
    %c_1 = stablehlo.constant dense<128> : tensor<i64>
    %3 = stablehlo.add %2, %c_1 : tensor<i64>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<i1>, tensor<i64>
    %5 = stablehlo.dynamic_slice %arg0, %4, sizes = [1] : (tensor<128xi32>, tensor<i64>) -> tensor<1xi32>
    %6 = stablehlo.reshape %5 : (tensor<1xi32>) -> tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %7 = stablehlo.compare LT, %arg1, %c_2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %8 = stablehlo.convert %arg1 : tensor<i64>
    %c_3 = stablehlo.constant dense<128> : tensor<i64>
    %9 = stablehlo.add %8, %c_3 : tensor<i64>
    %10 = stablehlo.select %7, %9, %arg1 : tensor<i1>, tensor<i64>
    %11 = stablehlo.dynamic_slice %arg2, %10, sizes = [1] : (tensor<128xi32>, tensor<i64>) -> tensor<1xi32>
    %12 = stablehlo.reshape %11 : (tensor<1xi32>) -> tensor<i32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %13 = stablehlo.compare LT, %6, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<128> : tensor<i32>
    %14 = stablehlo.add %6, %c_5 : tensor<i32>
    %15 = stablehlo.select %13, %14, %6 : tensor<i1>, tensor<i32>
    %16 = stablehlo.dynamic_slice %arg2, %15, sizes = [1] : (tensor<128xi32>, tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.reshape %16 : (tensor<1xi32>) -> tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i64>
    %18 = stablehlo.compare LT, %arg1, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_7 = stablehlo.constant dense<128> : tensor<i64>
    %19 = stablehlo.add %arg1, %c_7 : tensor<i64>
    %20 = stablehlo.select %18, %19, %arg1 : tensor<i1>, tensor<i64>
    %21 = stablehlo.convert %20 : (tensor<i64>) -> tensor<i32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %23 = "stablehlo.scatter"(%arg2, %22, %17) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<128xi32>, tensor<1xi32>, tensor<i32>) -> tensor<128xi32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %24 = stablehlo.compare LT, %6, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_9 = stablehlo.constant dense<128> : tensor<i32>
    %25 = stablehlo.add %6, %c_9 : tensor<i32>
    %26 = stablehlo.select %24, %25, %6 : tensor<i1>, tensor<i32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %28 = "stablehlo.scatter"(%23, %27, %12) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<128xi32>, tensor<1xi32>, tensor<i32>) -> tensor<128xi32>
    return %0, %28 : tensor<i64>, tensor<128xi32>
  }
  func.func private @_lu_solve(%arg0: tensor<128x128xf64>, %arg1: tensor<128xi32>, %arg2: tensor<128xf64>) -> tensor<128xf64> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0] : (tensor<128xf64>) -> tensor<128x1xf64>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %2 = stablehlo.compare LT, %arg1, %1, SIGNED : (tensor<128xi32>, tensor<128xi32>) -> tensor<128xi1>
    %c_0 = stablehlo.constant dense<128> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %4 = stablehlo.add %arg1, %3 : tensor<128xi32>
    %5 = stablehlo.select %2, %4, %arg1 : tensor<128xi1>, tensor<128xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<128xi32>) -> tensor<128x1xi32>
    %7 = "stablehlo.gather"(%0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<128x1xf64>, tensor<128x1xi32>) -> tensor<128x1xf64>
    %8 = stablehlo.custom_call @lapack_dtrsm_ffi(%arg0, %7) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=128, j=128, k=128, l=1, m=128, n=1}, custom>} : (tensor<128x128xf64>, tensor<128x1xf64>) -> tensor<128x1xf64>
    %9 = stablehlo.custom_call @lapack_dtrsm_ffi(%arg0, %8) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=128, j=128, k=128, l=1, m=128, n=1}, custom>} : (tensor<128x128xf64>, tensor<128x1xf64>) -> tensor<128x1xf64>
    %10 = stablehlo.reshape %9 : (tensor<128x1xf64>) -> tensor<128xf64>
    return %10 : tensor<128xf64>
  }
}
// workload g_solvemat_vjp_128 grad 0,1 normal normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<128x128xf64>, %arg1: tensor<128x128xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = call @solve(%arg0, %arg1) : (tensor<128x128xf64>, tensor<128x128xf64>) -> tensor<128x128xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<128x128xf64>, tensor<f64>) -> tensor<f64>
    return %1 : tensor<f64>
  }
  func.func private @solve(%arg0: tensor<128x128xf64>, %arg1: tensor<128x128xf64>) -> tensor<128x128xf64> {
    %0:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=128, j=128, k=128, l=128, m=128}, custom>} : (tensor<128x128xf64>) -> (tensor<128x128xf64>, tensor<128xi32>, tensor<i32>)
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %2 = stablehlo.subtract %0#1, %1 : tensor<128xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<i32>
    %4 = stablehlo.compare GE, %0#2, %3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<128x128xf64>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<128x128xi1>
    %8 = stablehlo.select %7, %0#0, %6 : tensor<128x128xi1>, tensor<128x128xf64>
    %9 = stablehlo.iota dim = 0 : tensor<128xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %10:4 = stablehlo.while(%iterArg = %2, %iterArg_3 = %c_2, %iterArg_4 = %c_1, %iterArg_5 = %9) : tensor<128xi32>, tensor<i64>, tensor<i64>, tensor<128xi32>
    cond {
      %c_6 = stablehlo.constant dense<128> : tensor<i64>
      %14 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %14 : tensor<i1>
    } do {
      %14:2 = func.call @closed_call(%iterArg, %iterArg_4, %iterArg_5) : (tensor<128xi32>, tensor<i64>, tensor<128xi32>) -> (tensor<i64>, tensor<128xi32>)
      %c_6 = stablehlo.constant dense<1> : tensor<i64>
      %15 = stablehlo.add %iterArg_3, %c_6 : tensor<i64>
      stablehlo.return %iterArg, %15, %14#0, %14#1 : tensor<128xi32>, tensor<i64>, tensor<i64>, tensor<128xi32>
    }
    %11 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<128x128xf64>) -> tensor<128x128xf64>
    %12 = call @_lu_solve(%8, %10#3, %11) : (tensor<128x128xf64>, tensor<128xi32>, tensor<128x128xf64>) -> tensor<128x128xf64>
    %13 = stablehlo.transpose %12, dims = [1, 0] : (tensor<128x128xf64>) -> tensor<128x128xf64>
    return %13 : tensor<128x128xf64>
  }
  func.func private @closed_call(%arg0: tensor<128xi32>, %arg1: tensor<i64>, %arg2: tensor<128xi32>) -> (tensor<i64>, tensor<128xi32>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg1, %c : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.compare LT, %arg1, %c_0, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %2 = stablehlo.convert %arg1 : tensor<i64>
    %c_1 = stablehlo.constant dense<128> : tensor<i64>
    %3 = stablehlo.add %2, %c_1 : tensor<i64>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<i1>, tensor<i64>
    %5 = stablehlo.dynamic_slice %arg0, %4, sizes = [1] : (tensor<128xi32>, tensor<i64>) -> tensor<1xi32>
    %6 = stablehlo.reshape %5 : (tensor<1xi32>) -> tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %7 = stablehlo.compare LT, %arg1, %c_2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %8 = stablehlo.convert %arg1 : tensor<i64>
    %c_3 = stablehlo.constant dense<128> : tensor<i64>
    %9 = stablehlo.add %8, %c_3 : tensor<i64>
    %10 = stablehlo.select %7, %9, %arg1 : tensor<i1>, tensor<i64>
    %11 = stablehlo.dynamic_slice %arg2, %10, sizes = [1] : (tensor<128xi32>, tensor<i64>) -> tensor<1xi32>
    %12 = stablehlo.reshape %11 : (tensor<1xi32>) -> tensor<i32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %13 = stablehlo.compare LT, %6, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<128> : tensor<i32>
    %14 = stablehlo.add %6, %c_5 : tensor<i32>
    %15 = stablehlo.select %13, %14, %6 : tensor<i1>, tensor<i32>
    %16 = stablehlo.dynamic_slice %arg2, %15, sizes = [1] : (tensor<128xi32>, tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.reshape %16 : (tensor<1xi32>) -> tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i64>
    %18 = stablehlo.compare LT, %arg1, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_7 = stablehlo.constant dense<128> : tensor<i64>
    %19 = stablehlo.add %arg1, %c_7 : tensor<i64>
    %20 = stablehlo.select %18, %19, %arg1 : tensor<i1>, tensor<i64>
    %21 = stablehlo.convert %20 : (tensor<i64>) -> tensor<i32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %23 = "stablehlo.scatter"(%arg2, %22, %17) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<128xi32>, tensor<1xi32>, tensor<i32>) -> tensor<128xi32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %24 = stablehlo.compare LT, %6, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_9 = stablehlo.constant dense<128> : tensor<i32>
    %25 = stablehlo.add %6, %c_9 : tensor<i32>
    %26 = stablehlo.select %24, %25, %6 : tensor<i1>, tensor<i32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %28 = "stablehlo.scatter"(%23, %27, %12) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<128xi32>, tensor<1xi32>, tensor<i32>) -> tensor<128xi32>
    return %0, %28 : tensor<i64>, tensor<128xi32>
  }
  func.func private @_lu_solve(%arg0: tensor<128x128xf64>, %arg1: tensor<128xi32>, %arg2: tensor<128x128xf64>) -> tensor<128x128xf64> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<128x128xf64>) -> tensor<128x128x1xf64>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %2 = stablehlo.compare LT, %arg1, %1, SIGNED : (tensor<128xi32>, tensor<128xi32>) -> tensor<128xi1>
    %c_0 = stablehlo.constant dense<128> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %4 = stablehlo.add %arg1, %3 : tensor<128xi32>
    %5 = stablehlo.select %2, %4, %arg1 : tensor<128xi1>, tensor<128xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<128xi32>) -> tensor<128x1xi32>
    %7 = "stablehlo.gather"(%0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 128, 1, 1>}> : (tensor<128x128x1xf64>, tensor<128x1xi32>) -> tensor<128x128x1xf64>
    %8 = stablehlo.transpose %7, dims = [1, 2, 0] : (tensor<128x128x1xf64>) -> tensor<128x1x128xf64>
    %9 = stablehlo.reshape %8 : (tensor<128x1x128xf64>) -> tensor<128x128xf64>
    %10 = stablehlo.custom_call @lapack_dtrsm_ffi(%arg0, %9) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=128, j=128, k=128, l=128, m=128, n=128}, custom>} : (tensor<128x128xf64>, tensor<128x128xf64>) -> tensor<128x128xf64>
    %11 = stablehlo.reshape %10 : (tensor<128x128xf64>) -> tensor<128x1x128xf64>
    %12 = stablehlo.reshape %11 : (tensor<128x1x128xf64>) -> tensor<128x128xf64>
    %13 = stablehlo.custom_call @lapack_dtrsm_ffi(%arg0, %12) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=128, j=128, k=128, l=128, m=128, n=128}, custom>} : (tensor<128x128xf64>, tensor<128x128xf64>) -> tensor<128x128xf64>
    %14 = stablehlo.reshape %13 : (tensor<128x128xf64>) -> tensor<128x1x128xf64>
    %15 = stablehlo.transpose %14, dims = [2, 0, 1] : (tensor<128x1x128xf64>) -> tensor<128x128x1xf64>
    %16 = stablehlo.reshape %15 : (tensor<128x128x1xf64>) -> tensor<128x128xf64>
    return %16 : tensor<128x128xf64>
  }
}
// workload g_logdet_vjp_128 grad 0 normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<128x128xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = call @slogdet(%arg0) : (tensor<128x128xf64>) -> tensor<f64>
    return %0 : tensor<f64>
  }
  func.func private @slogdet(%arg0: tensor<128x128xf64>) -> tensor<f64> {
    %0:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=128, j=128, k=128, l=128, m=128}, custom>} : (tensor<128x128xf64>) -> (tensor<128x128xf64>, tensor<128xi32>, tensor<i32>)
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %2 = stablehlo.subtract %0#1, %1 : tensor<128xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<i32>
    %4 = stablehlo.compare GE, %0#2, %3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<128x128xf64>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<128x128xi1>
    %8 = stablehlo.select %7, %0#0, %6 : tensor<128x128xi1>, tensor<128x128xf64>
    %9 = stablehlo.iota dim = 0 : tensor<128xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %10:4 = stablehlo.while(%iterArg = %2, %iterArg_7 = %c_2, %iterArg_8 = %c_1, %iterArg_9 = %9) : tensor<128xi32>, tensor<i64>, tensor<i64>, tensor<128xi32>
    cond {
      %c_10 = stablehlo.constant dense<128> : tensor<i64>
      %19 = stablehlo.compare LT, %iterArg_7, %c_10, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %19 : tensor<i1>
    } do {
      %19:2 = func.call @closed_call(%iterArg, %iterArg_8, %iterArg_9) : (tensor<128xi32>, tensor<i64>, tensor<128xi32>) -> (tensor<i64>, tensor<128xi32>)
      %c_10 = stablehlo.constant dense<1> : tensor<i64>
      %20 = stablehlo.add %iterArg_7, %c_10 : tensor<i64>
      stablehlo.return %iterArg, %20, %19#0, %19#1 : tensor<128xi32>, tensor<i64>, tensor<i64>, tensor<128xi32>
    }
    %11 = call @diagonal(%8) : (tensor<128x128xf64>) -> tensor<128xf64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %12 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f64>) -> tensor<128xf64>
    %13 = stablehlo.compare EQ, %11, %12, FLOAT : (tensor<128xf64>, tensor<128xf64>) -> tensor<128xi1>
    %c_4 = stablehlo.constant dense<false> : tensor<i1>
    %14 = stablehlo.reduce(%13 init: %c_4) applies stablehlo.or across dimensions = [0] : (tensor<128xi1>, tensor<i1>) -> tensor<i1>
    %15 = stablehlo.abs %11 : tensor<128xf64>
    %16 = stablehlo.log %15 : tensor<128xf64>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %17 = stablehlo.reduce(%16 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<128xf64>, tensor<f64>) -> tensor<f64>
    %cst_6 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %18 = call @_where(%14, %cst_6, %17) : (tensor<i1>, tensor<f64>, tensor<f64>) -> tensor<f64>
    return %18 : tensor<f64>
  }
  func.func private @closed_call(%arg0: tensor<128xi32>, %arg1: tensor<i64>, %arg2: tensor<128xi32>) -> (tensor<i64>, tensor<128xi32>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg1, %c : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.compare LT, %arg1, %c_0, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %2 = stablehlo.convert %arg1 : tensor<i64>
    %c_1 = stablehlo.constant dense<128> : tensor<i64>
    %3 = stablehlo.add %2, %c_1 : tensor<i64>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<i1>, tensor<i64>
    %5 = stablehlo.dynamic_slice %arg0, %4, sizes = [1] : (tensor<128xi32>, tensor<i64>) -> tensor<1xi32>
    %6 = stablehlo.reshape %5 : (tensor<1xi32>) -> tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %7 = stablehlo.compare LT, %arg1, %c_2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %8 = stablehlo.convert %arg1 : tensor<i64>
    %c_3 = stablehlo.constant dense<128> : tensor<i64>
    %9 = stablehlo.add %8, %c_3 : tensor<i64>
    %10 = stablehlo.select %7, %9, %arg1 : tensor<i1>, tensor<i64>
    %11 = stablehlo.dynamic_slice %arg2, %10, sizes = [1] : (tensor<128xi32>, tensor<i64>) -> tensor<1xi32>
    %12 = stablehlo.reshape %11 : (tensor<1xi32>) -> tensor<i32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %13 = stablehlo.compare LT, %6, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<128> : tensor<i32>
    %14 = stablehlo.add %6, %c_5 : tensor<i32>
    %15 = stablehlo.select %13, %14, %6 : tensor<i1>, tensor<i32>
    %16 = stablehlo.dynamic_slice %arg2, %15, sizes = [1] : (tensor<128xi32>, tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.reshape %16 : (tensor<1xi32>) -> tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i64>
    %18 = stablehlo.compare LT, %arg1, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_7 = stablehlo.constant dense<128> : tensor<i64>
    %19 = stablehlo.add %arg1, %c_7 : tensor<i64>
    %20 = stablehlo.select %18, %19, %arg1 : tensor<i1>, tensor<i64>
    %21 = stablehlo.convert %20 : (tensor<i64>) -> tensor<i32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %23 = "stablehlo.scatter"(%arg2, %22, %17) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<128xi32>, tensor<1xi32>, tensor<i32>) -> tensor<128xi32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %24 = stablehlo.compare LT, %6, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_9 = stablehlo.constant dense<128> : tensor<i32>
    %25 = stablehlo.add %6, %c_9 : tensor<i32>
    %26 = stablehlo.select %24, %25, %6 : tensor<i1>, tensor<i32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %28 = "stablehlo.scatter"(%23, %27, %12) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<128xi32>, tensor<1xi32>, tensor<i32>) -> tensor<128xi32>
    return %0, %28 : tensor<i64>, tensor<128xi32>
  }
  func.func private @diagonal(%arg0: tensor<128x128xf64>) -> tensor<128xf64> {
    %0 = stablehlo.iota dim = 0 : tensor<128x128xi64>
    %1 = stablehlo.iota dim = 1 : tensor<128x128xi64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<128x128xi64>
    %3 = stablehlo.add %0, %2 : tensor<128x128xi64>
    %4 = stablehlo.compare EQ, %3, %1, SIGNED : (tensor<128x128xi64>, tensor<128x128xi64>) -> tensor<128x128xi1>
    %5 = stablehlo.convert %4 : (tensor<128x128xi1>) -> tensor<128x128xf64>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %6 = "stablehlo.case"(%c_0) ({
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c_1 : tensor<i32>
    }, {
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c_1 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %7 = "stablehlo.case"(%6) ({
      %8 = stablehlo.iota dim = 0 : tensor<128xi64>
      %9 = stablehlo.iota dim = 0 : tensor<128xi64>
      %c_1 = stablehlo.constant dense<0> : tensor<i64>
      %10 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<128xi64>
      %11 = stablehlo.compare LT, %8, %10, SIGNED : (tensor<128xi64>, tensor<128xi64>) -> tensor<128xi1>
      %c_2 = stablehlo.constant dense<128> : tensor<i64>
      %12 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i64>) -> tensor<128xi64>
      %13 = stablehlo.add %8, %12 : tensor<128xi64>
      %14 = stablehlo.select %11, %13, %8 : tensor<128xi1>, tensor<128xi64>
      %c_3 = stablehlo.constant dense<0> : tensor<i64>
      %15 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i64>) -> tensor<128xi64>
      %16 = stablehlo.compare LT, %9, %15, SIGNED : (tensor<128xi64>, tensor<128xi64>) -> tensor<128xi1>
      %c_4 = stablehlo.constant dense<128> : tensor<i64>
      %17 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i64>) -> tensor<128xi64>
      %18 = stablehlo.add %9, %17 : tensor<128xi64>
      %19 = stablehlo.select %16, %18, %9 : tensor<128xi1>, tensor<128xi64>
      %20 = stablehlo.convert %14 : (tensor<128xi64>) -> tensor<128xi32>
      %21 = stablehlo.convert %19 : (tensor<128xi64>) -> tensor<128xi32>
      %22 = stablehlo.broadcast_in_dim %20, dims = [0] : (tensor<128xi32>) -> tensor<128x1xi32>
      %23 = stablehlo.broadcast_in_dim %21, dims = [0] : (tensor<128xi32>) -> tensor<128x1xi32>
      %24 = stablehlo.concatenate %22, %23, dim = 1 : (tensor<128x1xi32>, tensor<128x1xi32>) -> tensor<128x2xi32>
      %25 = "stablehlo.gather"(%arg0, %24) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<128x128xf64>, tensor<128x2xi32>) -> tensor<128xf64>
      stablehlo.return %25 : tensor<128xf64>
    }) : (tensor<i32>) -> tensor<128xf64>
    return %7 : tensor<128xf64>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<f64>, %arg2: tensor<f64>) -> tensor<f64> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<f64>
    return %0 : tensor<f64>
  }
}
// workload g_svd_fwd_128 value - normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<128x128xf64>) -> (tensor<128xf64> {jax.result_info = "result"}) {
    %0 = call @svd(%arg0) : (tensor<128x128xf64>) -> tensor<128xf64>
    return %0 : tensor<128xf64>
  }
  func.func private @svd(%arg0: tensor<128x128xf64>) -> tensor<128xf64> {
    %0:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%arg0) {backend_config = "", mhlo.backend_config = {mode = 78 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=128, j=128, k=128, l=128, m=128, n=128, o=128, p=128, q=128}, custom>} : (tensor<128x128xf64>) -> (tensor<128x128xf64>, tensor<128xf64>, tensor<128x128xf64>, tensor<128x128xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %2 = stablehlo.compare EQ, %0#4, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<128xf64>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<1xi1>) -> tensor<128xi1>
    %6 = stablehlo.select %5, %0#1, %4 : tensor<128xi1>, tensor<128xf64>
    return %6 : tensor<128xf64>
  }
}
// workload g_eigh_fwd_128 value - positive
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<128x128xf64>) -> (tensor<128x128xf64> {jax.result_info = "result"}) {
    %0 = call @eigh(%arg0) : (tensor<128x128xf64>) -> tensor<128x128xf64>
    %1 = stablehlo.abs %0 : tensor<128x128xf64>
    return %1 : tensor<128x128xf64>
  }
  func.func private @eigh(%arg0: tensor<128x128xf64>) -> tensor<128x128xf64> {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<128x128xf64>) -> tensor<128x128xf64>
    %1 = stablehlo.add %arg0, %0 : tensor<128x128xf64>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<128x128xf64>
    %3 = stablehlo.divide %1, %2 : tensor<128x128xf64>
    %4:3 = stablehlo.custom_call @lapack_dsyevd_ffi(%3) {backend_config = "", mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=128, j=128, k=128, l=128, m=128}, custom>} : (tensor<128x128xf64>) -> (tensor<128x128xf64>, tensor<128xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %6 = stablehlo.compare EQ, %4#2, %5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<128x128xf64>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<128x128xi1>
    %10 = stablehlo.select %9, %4#0, %8 : tensor<128x128xi1>, tensor<128x128xf64>
    %11 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_1 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<128xf64>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<1xi1>) -> tensor<128xi1>
    %14 = stablehlo.select %13, %4#1, %12 : tensor<128xi1>, tensor<128xf64>
    return %10 : tensor<128x128xf64>
  }
}
// workload g_chol_fwd_128 value - positive
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<128x128xf64>) -> (tensor<128x128xf64> {jax.result_info = "result"}) {
    %0 = call @cholesky(%arg0) : (tensor<128x128xf64>) -> tensor<128x128xf64>
    return %0 : tensor<128x128xf64>
  }
  func.func private @cholesky(%arg0: tensor<128x128xf64>) -> tensor<128x128xf64> {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<128x128xf64>) -> tensor<128x128xf64>
    %1 = stablehlo.add %arg0, %0 : tensor<128x128xf64>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<128x128xf64>
    %3 = stablehlo.divide %1, %2 : tensor<128x128xf64>
    %4:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%3) {backend_config = "", mhlo.backend_config = {uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], []) {i=128, j=128, k=128, l=128}, custom>} : (tensor<128x128xf64>) -> (tensor<128x128xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %6 = stablehlo.compare EQ, %4#1, %5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<128x128xf64>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<128x128xi1>
    %10 = stablehlo.select %9, %4#0, %8 : tensor<128x128xi1>, tensor<128x128xf64>
    %11 = stablehlo.iota dim = 0 : tensor<128x128xi64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %12 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<128x128xi64>
    %13 = stablehlo.add %11, %12 : tensor<128x128xi64>
    %14 = stablehlo.iota dim = 1 : tensor<128x128xi64>
    %15 = stablehlo.compare GE, %13, %14, SIGNED : (tensor<128x128xi64>, tensor<128x128xi64>) -> tensor<128x128xi1>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<128x128xf64>
    %17 = stablehlo.select %15, %10, %16 : tensor<128x128xi1>, tensor<128x128xf64>
    return %17 : tensor<128x128xf64>
  }
}
// workload g_qr_fwd_128 value - normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<128x128xf64>) -> (tensor<128x128xf64> {jax.result_info = "result"}) {
    %0 = call @qr(%arg0) : (tensor<128x128xf64>) -> tensor<128x128xf64>
    return %0 : tensor<128x128xf64>
  }
  func.func private @qr(%arg0: tensor<128x128xf64>) -> tensor<128x128xf64> {
    %0:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m]) {i=128, j=128, k=128, l=128, m=128}, custom>} : (tensor<128x128xf64>) -> (tensor<128x128xf64>, tensor<128xf64>)
    %1 = stablehlo.custom_call @lapack_dorgqr_ffi(%0#0, %0#1) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k])->([l, m]) {i=128, j=128, k=128, l=128, m=128}, custom>} : (tensor<128x128xf64>, tensor<128xf64>) -> tensor<128x128xf64>
    %2 = stablehlo.iota dim = 0 : tensor<128x128xi64>
    %c = stablehlo.constant dense<-1> : tensor<i64>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<128x128xi64>
    %4 = stablehlo.add %2, %3 : tensor<128x128xi64>
    %5 = stablehlo.iota dim = 1 : tensor<128x128xi64>
    %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<128x128xi64>, tensor<128x128xi64>) -> tensor<128x128xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<128x128xf64>
    %8 = stablehlo.select %6, %7, %0#0 : tensor<128x128xi1>, tensor<128x128xf64>
    return %8 : tensor<128x128xf64>
  }
}
// workload g_solve_fwd_128 value - normal normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<128x128xf64>, %arg1: tensor<128xf64>) -> (tensor<128xf64> {jax.result_info = "result"}) {
    %0 = call @solve(%arg0, %arg1) : (tensor<128x128xf64>, tensor<128xf64>) -> tensor<128xf64>
    return %0 : tensor<128xf64>
  }
  func.func private @solve(%arg0: tensor<128x128xf64>, %arg1: tensor<128xf64>) -> tensor<128xf64> {
    %0:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=128, j=128, k=128, l=128, m=128}, custom>} : (tensor<128x128xf64>) -> (tensor<128x128xf64>, tensor<128xi32>, tensor<i32>)
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %2 = stablehlo.subtract %0#1, %1 : tensor<128xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<i32>
    %4 = stablehlo.compare GE, %0#2, %3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<128x128xf64>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<128x128xi1>
    %8 = stablehlo.select %7, %0#0, %6 : tensor<128x128xi1>, tensor<128x128xf64>
    %9 = stablehlo.iota dim = 0 : tensor<128xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %10:4 = stablehlo.while(%iterArg = %2, %iterArg_3 = %c_2, %iterArg_4 = %c_1, %iterArg_5 = %9) : tensor<128xi32>, tensor<i64>, tensor<i64>, tensor<128xi32>
    cond {
      %c_6 = stablehlo.constant dense<128> : tensor<i64>
      %12 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %12 : tensor<i1>
    } do {
      %12:2 = func.call @closed_call(%iterArg, %iterArg_4, %iterArg_5) : (tensor<128xi32>, tensor<i64>, tensor<128xi32>) -> (tensor<i64>, tensor<128xi32>)
      %c_6 = stablehlo.constant dense<1> : tensor<i64>
      %13 = stablehlo.add %iterArg_3, %c_6 : tensor<i64>
      stablehlo.return %iterArg, %13, %12#0, %12#1 : tensor<128xi32>, tensor<i64>, tensor<i64>, tensor<128xi32>
    }
    %11 = call @_lu_solve(%8, %10#3, %arg1) : (tensor<128x128xf64>, tensor<128xi32>, tensor<128xf64>) -> tensor<128xf64>
    return %11 : tensor<128xf64>
  }
  func.func private @closed_call(%arg0: tensor<128xi32>, %arg1: tensor<i64>, %arg2: tensor<128xi32>) -> (tensor<i64>, tensor<128xi32>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg1, %c : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.compare LT, %arg1, %c_0, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %2 = stablehlo.convert %arg1 : tensor<i64>
    %c_1 = stablehlo.constant dense<128> : tensor<i64>
    %3 = stablehlo.add %2, %c_1 : tensor<i64>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<i1>, tensor<i64>
    %5 = stablehlo.dynamic_slice %arg0, %4, sizes = [1] : (tensor<128xi32>, tensor<i64>) -> tensor<1xi32>
    %6 = stablehlo.reshape %5 : (tensor<1xi32>) -> tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %7 = stablehlo.compare LT, %arg1, %c_2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %8 = stablehlo.convert %arg1 : tensor<i64>
    %c_3 = stablehlo.constant dense<128> : tensor<i64>
    %9 = stablehlo.add %8, %c_3 : tensor<i64>
    %10 = stablehlo.select %7, %9, %arg1 : tensor<i1>, tensor<i64>
    %11 = stablehlo.dynamic_slice %arg2, %10, sizes = [1] : (tensor<128xi32>, tensor<i64>) -> tensor<1xi32>
    %12 = stablehlo.reshape %11 : (tensor<1xi32>) -> tensor<i32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %13 = stablehlo.compare LT, %6, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<128> : tensor<i32>
    %14 = stablehlo.add %6, %c_5 : tensor<i32>
    %15 = stablehlo.select %13, %14, %6 : tensor<i1>, tensor<i32>
    %16 = stablehlo.dynamic_slice %arg2, %15, sizes = [1] : (tensor<128xi32>, tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.reshape %16 : (tensor<1xi32>) -> tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i64>
    %18 = stablehlo.compare LT, %arg1, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_7 = stablehlo.constant dense<128> : tensor<i64>
    %19 = stablehlo.add %arg1, %c_7 : tensor<i64>
    %20 = stablehlo.select %18, %19, %arg1 : tensor<i1>, tensor<i64>
    %21 = stablehlo.convert %20 : (tensor<i64>) -> tensor<i32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %23 = "stablehlo.scatter"(%arg2, %22, %17) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<128xi32>, tensor<1xi32>, tensor<i32>) -> tensor<128xi32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %24 = stablehlo.compare LT, %6, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_9 = stablehlo.constant dense<128> : tensor<i32>
    %25 = stablehlo.add %6, %c_9 : tensor<i32>
    %26 = stablehlo.select %24, %25, %6 : tensor<i1>, tensor<i32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %28 = "stablehlo.scatter"(%23, %27, %12) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<128xi32>, tensor<1xi32>, tensor<i32>) -> tensor<128xi32>
    return %0, %28 : tensor<i64>, tensor<128xi32>
  }
  func.func private @_lu_solve(%arg0: tensor<128x128xf64>, %arg1: tensor<128xi32>, %arg2: tensor<128xf64>) -> tensor<128xf64> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0] : (tensor<128xf64>) -> tensor<128x1xf64>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %2 = stablehlo.compare LT, %arg1, %1, SIGNED : (tensor<128xi32>, tensor<128xi32>) -> tensor<128xi1>
    %c_0 = stablehlo.constant dense<128> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<128xi32>
    %4 = stablehlo.add %arg1, %3 : tensor<128xi32>
    %5 = stablehlo.select %2, %4, %arg1 : tensor<128xi1>, tensor<128xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<128xi32>) -> tensor<128x1xi32>
    %7 = "stablehlo.gather"(%0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<128x1xf64>, tensor<128x1xi32>) -> tensor<128x1xf64>
    %8 = stablehlo.custom_call @lapack_dtrsm_ffi(%arg0, %7) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=128, j=128, k=128, l=1, m=128, n=1}, custom>} : (tensor<128x128xf64>, tensor<128x1xf64>) -> tensor<128x1xf64>
    %9 = stablehlo.custom_call @lapack_dtrsm_ffi(%arg0, %8) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=128, j=128, k=128, l=1, m=128, n=1}, custom>} : (tensor<128x128xf64>, tensor<128x1xf64>) -> tensor<128x1xf64>
    %10 = stablehlo.reshape %9 : (tensor<128x1xf64>) -> tensor<128xf64>
    return %10 : tensor<128xf64>
  }
}
// workload g_svdvals_sum_grad_512 grad 0 normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<512x512xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = call @svd(%arg0) : (tensor<512x512xf64>) -> tensor<512xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<512xf64>, tensor<f64>) -> tensor<f64>
    return %1 : tensor<f64>
  }
  func.func private @svd(%arg0: tensor<512x512xf64>) -> tensor<512xf64> {
    %0:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%arg0) {backend_config = "", mhlo.backend_config = {mode = 78 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=512, j=512, k=512, l=512, m=512, n=512, o=512, p=512, q=512}, custom>} : (tensor<512x512xf64>) -> (tensor<512x512xf64>, tensor<512xf64>, tensor<512x512xf64>, tensor<512x512xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %2 = stablehlo.compare EQ, %0#4, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<512xf64>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<1xi1>) -> tensor<512xi1>
    %6 = stablehlo.select %5, %0#1, %4 : tensor<512xi1>, tensor<512xf64>
    return %6 : tensor<512xf64>
  }
}
// workload g_svd_vjp_512 grad 0 normal normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<512x512xf64>, %arg1: tensor<512x512xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0:3 = call @svd(%arg0) : (tensor<512x512xf64>) -> (tensor<512x512xf64>, tensor<512xf64>, tensor<512x512xf64>)
    %1 = stablehlo.multiply %0#1, %0#1 : tensor<512xf64>
    %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<512xf64>) -> tensor<1x512xf64>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x512xf64>) -> tensor<512x512xf64>
    %4 = stablehlo.multiply %0#0, %3 : tensor<512x512xf64>
    %5 = stablehlo.dot_general %4, %0#2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<512x512xf64>, tensor<512x512xf64>) -> tensor<512x512xf64>
    %6 = stablehlo.multiply %5, %arg1 : tensor<512x512xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.reduce(%6 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<512x512xf64>, tensor<f64>) -> tensor<f64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %8 = stablehlo.reduce(%0#1 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<512xf64>, tensor<f64>) -> tensor<f64>
    %9 = stablehlo.add %7, %8 : tensor<f64>
    return %9 : tensor<f64>
  }
  func.func private @svd(%arg0: tensor<512x512xf64>) -> (tensor<512x512xf64>, tensor<512xf64>, tensor<512x512xf64>) {
    %0:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%arg0) {backend_config = "", mhlo.backend_config = {mode = 83 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=512, j=512, k=512, l=512, m=512, n=512, o=512, p=512, q=512}, custom>} : (tensor<512x512xf64>) -> (tensor<512x512xf64>, tensor<512xf64>, tensor<512x512xf64>, tensor<512x512xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %2 = stablehlo.compare EQ, %0#4, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<512xf64>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<1xi1>) -> tensor<512xi1>
    %6 = stablehlo.select %5, %0#1, %4 : tensor<512xi1>, tensor<512xf64>
    %7 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<512x512xf64>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<512x512xi1>
    %10 = stablehlo.select %9, %0#2, %8 : tensor<512x512xi1>, tensor<512x512xf64>
    %11 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_1 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<512x512xf64>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<512x512xi1>
    %14 = stablehlo.select %13, %0#3, %12 : tensor<512x512xi1>, tensor<512x512xf64>
    return %10, %6, %14 : tensor<512x512xf64>, tensor<512xf64>, tensor<512x512xf64>
  }
}
// workload g_eigh_vjp_512 grad 0 positive normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<512x512xf64>, %arg1: tensor<512x512xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0:2 = call @eigh(%arg0) : (tensor<512x512xf64>) -> (tensor<512xf64>, tensor<512x512xf64>)
    %1 = stablehlo.abs %0#1 : tensor<512x512xf64>
    %2 = stablehlo.multiply %1, %arg1 : tensor<512x512xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<512x512xf64>, tensor<f64>) -> tensor<f64>
    %4 = stablehlo.multiply %0#0, %0#0 : tensor<512xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %5 = stablehlo.reduce(%4 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<512xf64>, tensor<f64>) -> tensor<f64>
    %6 = stablehlo.add %3, %5 : tensor<f64>
    return %6 : tensor<f64>
  }
  func.func private @eigh(%arg0: tensor<512x512xf64>) -> (tensor<512xf64>, tensor<512x512xf64>) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<512x512xf64>) -> tensor<512x512xf64>
    %1 = stablehlo.add %arg0, %0 : tensor<512x512xf64>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<512x512xf64>
    %3 = stablehlo.divide %1, %2 : tensor<512x512xf64>
    %4:3 = stablehlo.custom_call @lapack_dsyevd_ffi(%3) {backend_config = "", mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=512, j=512, k=512, l=512, m=512}, custom>} : (tensor<512x512xf64>) -> (tensor<512x512xf64>, tensor<512xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %6 = stablehlo.compare EQ, %4#2, %5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<512x512xf64>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<512x512xi1>
    %10 = stablehlo.select %9, %4#0, %8 : tensor<512x512xi1>, tensor<512x512xf64>
    %11 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_1 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<512xf64>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<1xi1>) -> tensor<512xi1>
    %14 = stablehlo.select %13, %4#1, %12 : tensor<512xi1>, tensor<512xf64>
    return %14, %10 : tensor<512xf64>, tensor<512x512xf64>
  }
}
// workload g_qr_vjp_512 grad 0 normal normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<512x512xf64>, %arg1: tensor<512x512xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0:2 = call @qr(%arg0) : (tensor<512x512xf64>) -> (tensor<512x512xf64>, tensor<512x512xf64>)
    %1 = stablehlo.multiply %0#0, %arg1 : tensor<512x512xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<512x512xf64>, tensor<f64>) -> tensor<f64>
    %3 = stablehlo.multiply %0#1, %arg1 : tensor<512x512xf64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<512x512xf64>, tensor<f64>) -> tensor<f64>
    %5 = stablehlo.add %2, %4 : tensor<f64>
    return %5 : tensor<f64>
  }
  func.func private @qr(%arg0: tensor<512x512xf64>) -> (tensor<512x512xf64>, tensor<512x512xf64>) {
    %0:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m]) {i=512, j=512, k=512, l=512, m=512}, custom>} : (tensor<512x512xf64>) -> (tensor<512x512xf64>, tensor<512xf64>)
    %1 = stablehlo.custom_call @lapack_dorgqr_ffi(%0#0, %0#1) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k])->([l, m]) {i=512, j=512, k=512, l=512, m=512}, custom>} : (tensor<512x512xf64>, tensor<512xf64>) -> tensor<512x512xf64>
    %2 = stablehlo.iota dim = 0 : tensor<512x512xi64>
    %c = stablehlo.constant dense<-1> : tensor<i64>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<512x512xi64>
    %4 = stablehlo.add %2, %3 : tensor<512x512xi64>
    %5 = stablehlo.iota dim = 1 : tensor<512x512xi64>
    %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<512x512xi64>, tensor<512x512xi64>) -> tensor<512x512xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<512x512xf64>
    %8 = stablehlo.select %6, %7, %0#0 : tensor<512x512xi1>, tensor<512x512xf64>
    return %1, %8 : tensor<512x512xf64>, tensor<512x512xf64>
  }
}
// workload g_chol_vjp_512 grad 0 positive normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<512x512xf64>, %arg1: tensor<512x512xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = call @cholesky(%arg0) : (tensor<512x512xf64>) -> tensor<512x512xf64>
    %1 = stablehlo.multiply %0, %arg1 : tensor<512x512xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<512x512xf64>, tensor<f64>) -> tensor<f64>
    return %2 : tensor<f64>
  }
  func.func private @cholesky(%arg0: tensor<512x512xf64>) -> tensor<512x512xf64> {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<512x512xf64>) -> tensor<512x512xf64>
    %1 = stablehlo.add %arg0, %0 : tensor<512x512xf64>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<512x512xf64>
    %3 = stablehlo.divide %1, %2 : tensor<512x512xf64>
    %4:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%3) {backend_config = "", mhlo.backend_config = {uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], []) {i=512, j=512, k=512, l=512}, custom>} : (tensor<512x512xf64>) -> (tensor<512x512xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %6 = stablehlo.compare EQ, %4#1, %5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<512x512xf64>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<512x512xi1>
    %10 = stablehlo.select %9, %4#0, %8 : tensor<512x512xi1>, tensor<512x512xf64>
    %11 = stablehlo.iota dim = 0 : tensor<512x512xi64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %12 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<512x512xi64>
    %13 = stablehlo.add %11, %12 : tensor<512x512xi64>
    %14 = stablehlo.iota dim = 1 : tensor<512x512xi64>
    %15 = stablehlo.compare GE, %13, %14, SIGNED : (tensor<512x512xi64>, tensor<512x512xi64>) -> tensor<512x512xi1>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<512x512xf64>
    %17 = stablehlo.select %15, %10, %16 : tensor<512x512xi1>, tensor<512x512xf64>
    return %17 : tensor<512x512xf64>
  }
}
// workload g_solve_vjp_512 grad 0,1 normal normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<512x512xf64>, %arg1: tensor<512xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = call @solve(%arg0, %arg1) : (tensor<512x512xf64>, tensor<512xf64>) -> tensor<512xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<512xf64>, tensor<f64>) -> tensor<f64>
    return %1 : tensor<f64>
  }
  func.func private @solve(%arg0: tensor<512x512xf64>, %arg1: tensor<512xf64>) -> tensor<512xf64> {
    %0:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=512, j=512, k=512, l=512, m=512}, custom>} : (tensor<512x512xf64>) -> (tensor<512x512xf64>, tensor<512xi32>, tensor<i32>)
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<512xi32>
    %2 = stablehlo.subtract %0#1, %1 : tensor<512xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<i32>
    %4 = stablehlo.compare GE, %0#2, %3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<512x512xf64>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<512x512xi1>
    %8 = stablehlo.select %7, %0#0, %6 : tensor<512x512xi1>, tensor<512x512xf64>
    %9 = stablehlo.iota dim = 0 : tensor<512xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %10:4 = stablehlo.while(%iterArg = %2, %iterArg_3 = %c_2, %iterArg_4 = %c_1, %iterArg_5 = %9) : tensor<512xi32>, tensor<i64>, tensor<i64>, tensor<512xi32>
    cond {
      %c_6 = stablehlo.constant dense<512> : tensor<i64>
      %12 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %12 : tensor<i1>
    } do {
      %12:2 = func.call @closed_call(%iterArg, %iterArg_4, %iterArg_5) : (tensor<512xi32>, tensor<i64>, tensor<512xi32>) -> (tensor<i64>, tensor<512xi32>)
      %c_6 = stablehlo.constant dense<1> : tensor<i64>
      %13 = stablehlo.add %iterArg_3, %c_6 : tensor<i64>
      stablehlo.return %iterArg, %13, %12#0, %12#1 : tensor<512xi32>, tensor<i64>, tensor<i64>, tensor<512xi32>
    }
    %11 = call @_lu_solve(%8, %10#3, %arg1) : (tensor<512x512xf64>, tensor<512xi32>, tensor<512xf64>) -> tensor<512xf64>
    return %11 : tensor<512xf64>
  }
  func.func private @closed_call(%arg0: tensor<512xi32>, %arg1: tensor<i64>, %arg2: tensor<512xi32>) -> (tensor<i64>, tensor<512xi32>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg1, %c : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.compare LT, %arg1, %c_0, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %2 = stablehlo.convert %arg1 : tensor<i64>
    %c_1 = stablehlo.constant dense<512> : tensor<i64>
    %3 = stablehlo.add %2, %c_1 : tensor<i64>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<i1>, tensor<i64>
    %5 = stablehlo.dynamic_slice %arg0, %4, sizes = [1] : (tensor<512xi32>, tensor<i64>) -> tensor<1xi32>
    %6 = stablehlo.reshape %5 : (tensor<1xi32>) -> tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %7 = stablehlo.compare LT, %arg1, %c_2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %8 = stablehlo.convert %arg1 : tensor<i64>
    %c_3 = stablehlo.constant dense<512> : tensor<i64>
    %9 = stablehlo.add %8, %c_3 : tensor<i64>
    %10 = stablehlo.select %7, %9, %arg1 : tensor<i1>, tensor<i64>
    %11 = stablehlo.dynamic_slice %arg2, %10, sizes = [1] : (tensor<512xi32>, tensor<i64>) -> tensor<1xi32>
    %12 = stablehlo.reshape %11 : (tensor<1xi32>) -> tensor<i32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %13 = stablehlo.compare LT, %6, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<512> : tensor<i32>
    %14 = stablehlo.add %6, %c_5 : tensor<i32>
    %15 = stablehlo.select %13, %14, %6 : tensor<i1>, tensor<i32>
    %16 = stablehlo.dynamic_slice %arg2, %15, sizes = [1] : (tensor<512xi32>, tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.reshape %16 : (tensor<1xi32>) -> tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i64>
    %18 = stablehlo.compare LT, %arg1, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_7 = stablehlo.constant dense<512> : tensor<i64>
    %19 = stablehlo.add %arg1, %c_7 : tensor<i64>
    %20 = stablehlo.select %18, %19, %arg1 : tensor<i1>, tensor<i64>
    %21 = stablehlo.convert %20 : (tensor<i64>) -> tensor<i32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %23 = "stablehlo.scatter"(%arg2, %22, %17) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<512xi32>, tensor<1xi32>, tensor<i32>) -> tensor<512xi32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %24 = stablehlo.compare LT, %6, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_9 = stablehlo.constant dense<512> : tensor<i32>
    %25 = stablehlo.add %6, %c_9 : tensor<i32>
    %26 = stablehlo.select %24, %25, %6 : tensor<i1>, tensor<i32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %28 = "stablehlo.scatter"(%23, %27, %12) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<512xi32>, tensor<1xi32>, tensor<i32>) -> tensor<512xi32>
    return %0, %28 : tensor<i64>, tensor<512xi32>
  }
  func.func private @_lu_solve(%arg0: tensor<512x512xf64>, %arg1: tensor<512xi32>, %arg2: tensor<512xf64>) -> tensor<512xf64> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0] : (tensor<512xf64>) -> tensor<512x1xf64>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<512xi32>
    %2 = stablehlo.compare LT, %arg1, %1, SIGNED : (tensor<512xi32>, tensor<512xi32>) -> tensor<512xi1>
    %c_0 = stablehlo.constant dense<512> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<512xi32>
    %4 = stablehlo.add %arg1, %3 : tensor<512xi32>
    %5 = stablehlo.select %2, %4, %arg1 : tensor<512xi1>, tensor<512xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<512xi32>) -> tensor<512x1xi32>
    %7 = "stablehlo.gather"(%0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<512x1xf64>, tensor<512x1xi32>) -> tensor<512x1xf64>
    %8 = stablehlo.custom_call @lapack_dtrsm_ffi(%arg0, %7) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=512, j=512, k=512, l=1, m=512, n=1}, custom>} : (tensor<512x512xf64>, tensor<512x1xf64>) -> tensor<512x1xf64>
    %9 = stablehlo.custom_call @lapack_dtrsm_ffi(%arg0, %8) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=512, j=512, k=512, l=1, m=512, n=1}, custom>} : (tensor<512x512xf64>, tensor<512x1xf64>) -> tensor<512x1xf64>
    %10 = stablehlo.reshape %9 : (tensor<512x1xf64>) -> tensor<512xf64>
    return %10 : tensor<512xf64>
  }
}
// workload g_solvemat_vjp_512 grad 0,1 normal normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<512x512xf64>, %arg1: tensor<512x512xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = call @solve(%arg0, %arg1) : (tensor<512x512xf64>, tensor<512x512xf64>) -> tensor<512x512xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<512x512xf64>, tensor<f64>) -> tensor<f64>
    return %1 : tensor<f64>
  }
  func.func private @solve(%arg0: tensor<512x512xf64>, %arg1: tensor<512x512xf64>) -> tensor<512x512xf64> {
    %0:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=512, j=512, k=512, l=512, m=512}, custom>} : (tensor<512x512xf64>) -> (tensor<512x512xf64>, tensor<512xi32>, tensor<i32>)
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<512xi32>
    %2 = stablehlo.subtract %0#1, %1 : tensor<512xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<i32>
    %4 = stablehlo.compare GE, %0#2, %3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<512x512xf64>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<512x512xi1>
    %8 = stablehlo.select %7, %0#0, %6 : tensor<512x512xi1>, tensor<512x512xf64>
    %9 = stablehlo.iota dim = 0 : tensor<512xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %10:4 = stablehlo.while(%iterArg = %2, %iterArg_3 = %c_2, %iterArg_4 = %c_1, %iterArg_5 = %9) : tensor<512xi32>, tensor<i64>, tensor<i64>, tensor<512xi32>
    cond {
      %c_6 = stablehlo.constant dense<512> : tensor<i64>
      %14 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %14 : tensor<i1>
    } do {
      %14:2 = func.call @closed_call(%iterArg, %iterArg_4, %iterArg_5) : (tensor<512xi32>, tensor<i64>, tensor<512xi32>) -> (tensor<i64>, tensor<512xi32>)
      %c_6 = stablehlo.constant dense<1> : tensor<i64>
      %15 = stablehlo.add %iterArg_3, %c_6 : tensor<i64>
      stablehlo.return %iterArg, %15, %14#0, %14#1 : tensor<512xi32>, tensor<i64>, tensor<i64>, tensor<512xi32>
    }
    %11 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<512x512xf64>) -> tensor<512x512xf64>
    %12 = call @_lu_solve(%8, %10#3, %11) : (tensor<512x512xf64>, tensor<512xi32>, tensor<512x512xf64>) -> tensor<512x512xf64>
    %13 = stablehlo.transpose %12, dims = [1, 0] : (tensor<512x512xf64>) -> tensor<512x512xf64>
    return %13 : tensor<512x512xf64>
  }
  func.func private @closed_call(%arg0: tensor<512xi32>, %arg1: tensor<i64>, %arg2: tensor<512xi32>) -> (tensor<i64>, tensor<512xi32>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg1, %c : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.compare LT, %arg1, %c_0, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %2 = stablehlo.convert %arg1 : tensor<i64>
    %c_1 = stablehlo.constant dense<512> : tensor<i64>
    %3 = stablehlo.add %2, %c_1 : tensor<i64>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<i1>, tensor<i64>
    %5 = stablehlo.dynamic_slice %arg0, %4, sizes = [1] : (tensor<512xi32>, tensor<i64>) -> tensor<1xi32>
    %6 = stablehlo.reshape %5 : (tensor<1xi32>) -> tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %7 = stablehlo.compare LT, %arg1, %c_2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %8 = stablehlo.convert %arg1 : tensor<i64>
    %c_3 = stablehlo.constant dense<512> : tensor<i64>
    %9 = stablehlo.add %8, %c_3 : tensor<i64>
    %10 = stablehlo.select %7, %9, %arg1 : tensor<i1>, tensor<i64>
    %11 = stablehlo.dynamic_slice %arg2, %10, sizes = [1] : (tensor<512xi32>, tensor<i64>) -> tensor<1xi32>
    %12 = stablehlo.reshape %11 : (tensor<1xi32>) -> tensor<i32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %13 = stablehlo.compare LT, %6, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<512> : tensor<i32>
    %14 = stablehlo.add %6, %c_5 : tensor<i32>
    %15 = stablehlo.select %13, %14, %6 : tensor<i1>, tensor<i32>
    %16 = stablehlo.dynamic_slice %arg2, %15, sizes = [1] : (tensor<512xi32>, tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.reshape %16 : (tensor<1xi32>) -> tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i64>
    %18 = stablehlo.compare LT, %arg1, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_7 = stablehlo.constant dense<512> : tensor<i64>
    %19 = stablehlo.add %arg1, %c_7 : tensor<i64>
    %20 = stablehlo.select %18, %19, %arg1 : tensor<i1>, tensor<i64>
    %21 = stablehlo.convert %20 : (tensor<i64>) -> tensor<i32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %23 = "stablehlo.scatter"(%arg2, %22, %17) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<512xi32>, tensor<1xi32>, tensor<i32>) -> tensor<512xi32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %24 = stablehlo.compare LT, %6, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_9 = stablehlo.constant dense<512> : tensor<i32>
    %25 = stablehlo.add %6, %c_9 : tensor<i32>
    %26 = stablehlo.select %24, %25, %6 : tensor<i1>, tensor<i32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %28 = "stablehlo.scatter"(%23, %27, %12) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<512xi32>, tensor<1xi32>, tensor<i32>) -> tensor<512xi32>
    return %0, %28 : tensor<i64>, tensor<512xi32>
  }
  func.func private @_lu_solve(%arg0: tensor<512x512xf64>, %arg1: tensor<512xi32>, %arg2: tensor<512x512xf64>) -> tensor<512x512xf64> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<512x512xf64>) -> tensor<512x512x1xf64>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<512xi32>
    %2 = stablehlo.compare LT, %arg1, %1, SIGNED : (tensor<512xi32>, tensor<512xi32>) -> tensor<512xi1>
    %c_0 = stablehlo.constant dense<512> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<512xi32>
    %4 = stablehlo.add %arg1, %3 : tensor<512xi32>
    %5 = stablehlo.select %2, %4, %arg1 : tensor<512xi1>, tensor<512xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<512xi32>) -> tensor<512x1xi32>
    %7 = "stablehlo.gather"(%0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 512, 1, 1>}> : (tensor<512x512x1xf64>, tensor<512x1xi32>) -> tensor<512x512x1xf64>
    %8 = stablehlo.transpose %7, dims = [1, 2, 0] : (tensor<512x512x1xf64>) -> tensor<512x1x512xf64>
    %9 = stablehlo.reshape %8 : (tensor<512x1x512xf64>) -> tensor<512x512xf64>
    %10 = stablehlo.custom_call @lapack_dtrsm_ffi(%arg0, %9) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=512, j=512, k=512, l=512, m=512, n=512}, custom>} : (tensor<512x512xf64>, tensor<512x512xf64>) -> tensor<512x512xf64>
    %11 = stablehlo.reshape %10 : (tensor<512x512xf64>) -> tensor<512x1x512xf64>
    %12 = stablehlo.reshape %11 : (tensor<512x1x512xf64>) -> tensor<512x512xf64>
    %13 = stablehlo.custom_call @lapack_dtrsm_ffi(%arg0, %12) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=512, j=512, k=512, l=512, m=512, n=512}, custom>} : (tensor<512x512xf64>, tensor<512x512xf64>) -> tensor<512x512xf64>
    %14 = stablehlo.reshape %13 : (tensor<512x512xf64>) -> tensor<512x1x512xf64>
    %15 = stablehlo.transpose %14, dims = [2, 0, 1] : (tensor<512x1x512xf64>) -> tensor<512x512x1xf64>
    %16 = stablehlo.reshape %15 : (tensor<512x512x1xf64>) -> tensor<512x512xf64>
    return %16 : tensor<512x512xf64>
  }
}
// workload g_logdet_vjp_512 grad 0 normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<512x512xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = call @slogdet(%arg0) : (tensor<512x512xf64>) -> tensor<f64>
    return %0 : tensor<f64>
  }
  func.func private @slogdet(%arg0: tensor<512x512xf64>) -> tensor<f64> {
    %0:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=512, j=512, k=512, l=512, m=512}, custom>} : (tensor<512x512xf64>) -> (tensor<512x512xf64>, tensor<512xi32>, tensor<i32>)
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<512xi32>
    %2 = stablehlo.subtract %0#1, %1 : tensor<512xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<i32>
    %4 = stablehlo.compare GE, %0#2, %3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<512x512xf64>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<512x512xi1>
    %8 = stablehlo.select %7, %0#0, %6 : tensor<512x512xi1>, tensor<512x512xf64>
    %9 = stablehlo.iota dim = 0 : tensor<512xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %10:4 = stablehlo.while(%iterArg = %2, %iterArg_7 = %c_2, %iterArg_8 = %c_1, %iterArg_9 = %9) : tensor<512xi32>, tensor<i64>, tensor<i64>, tensor<512xi32>
    cond {
      %c_10 = stablehlo.constant dense<512> : tensor<i64>
      %19 = stablehlo.compare LT, %iterArg_7, %c_10, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %19 : tensor<i1>
    } do {
      %19:2 = func.call @closed_call(%iterArg, %iterArg_8, %iterArg_9) : (tensor<512xi32>, tensor<i64>, tensor<512xi32>) -> (tensor<i64>, tensor<512xi32>)
      %c_10 = stablehlo.constant dense<1> : tensor<i64>
      %20 = stablehlo.add %iterArg_7, %c_10 : tensor<i64>
      stablehlo.return %iterArg, %20, %19#0, %19#1 : tensor<512xi32>, tensor<i64>, tensor<i64>, tensor<512xi32>
    }
    %11 = call @diagonal(%8) : (tensor<512x512xf64>) -> tensor<512xf64>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %12 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f64>) -> tensor<512xf64>
    %13 = stablehlo.compare EQ, %11, %12, FLOAT : (tensor<512xf64>, tensor<512xf64>) -> tensor<512xi1>
    %c_4 = stablehlo.constant dense<false> : tensor<i1>
    %14 = stablehlo.reduce(%13 init: %c_4) applies stablehlo.or across dimensions = [0] : (tensor<512xi1>, tensor<i1>) -> tensor<i1>
    %15 = stablehlo.abs %11 : tensor<512xf64>
    %16 = stablehlo.log %15 : tensor<512xf64>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %17 = stablehlo.reduce(%16 init: %cst_5) applies stablehlo.add across dimensions = [0] : (tensor<512xf64>, tensor<f64>) -> tensor<f64>
    %cst_6 = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
    %18 = call @_where(%14, %cst_6, %17) : (tensor<i1>, tensor<f64>, tensor<f64>) -> tensor<f64>
    return %18 : tensor<f64>
  }
  func.func private @closed_call(%arg0: tensor<512xi32>, %arg1: tensor<i64>, %arg2: tensor<512xi32>) -> (tensor<i64>, tensor<512xi32>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg1, %c : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.compare LT, %arg1, %c_0, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %2 = stablehlo.convert %arg1 : tensor<i64>
    %c_1 = stablehlo.constant dense<512> : tensor<i64>
    %3 = stablehlo.add %2, %c_1 : tensor<i64>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<i1>, tensor<i64>
    %5 = stablehlo.dynamic_slice %arg0, %4, sizes = [1] : (tensor<512xi32>, tensor<i64>) -> tensor<1xi32>
    %6 = stablehlo.reshape %5 : (tensor<1xi32>) -> tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %7 = stablehlo.compare LT, %arg1, %c_2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %8 = stablehlo.convert %arg1 : tensor<i64>
    %c_3 = stablehlo.constant dense<512> : tensor<i64>
    %9 = stablehlo.add %8, %c_3 : tensor<i64>
    %10 = stablehlo.select %7, %9, %arg1 : tensor<i1>, tensor<i64>
    %11 = stablehlo.dynamic_slice %arg2, %10, sizes = [1] : (tensor<512xi32>, tensor<i64>) -> tensor<1xi32>
    %12 = stablehlo.reshape %11 : (tensor<1xi32>) -> tensor<i32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %13 = stablehlo.compare LT, %6, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<512> : tensor<i32>
    %14 = stablehlo.add %6, %c_5 : tensor<i32>
    %15 = stablehlo.select %13, %14, %6 : tensor<i1>, tensor<i32>
    %16 = stablehlo.dynamic_slice %arg2, %15, sizes = [1] : (tensor<512xi32>, tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.reshape %16 : (tensor<1xi32>) -> tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i64>
    %18 = stablehlo.compare LT, %arg1, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_7 = stablehlo.constant dense<512> : tensor<i64>
    %19 = stablehlo.add %arg1, %c_7 : tensor<i64>
    %20 = stablehlo.select %18, %19, %arg1 : tensor<i1>, tensor<i64>
    %21 = stablehlo.convert %20 : (tensor<i64>) -> tensor<i32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %23 = "stablehlo.scatter"(%arg2, %22, %17) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<512xi32>, tensor<1xi32>, tensor<i32>) -> tensor<512xi32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %24 = stablehlo.compare LT, %6, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_9 = stablehlo.constant dense<512> : tensor<i32>
    %25 = stablehlo.add %6, %c_9 : tensor<i32>
    %26 = stablehlo.select %24, %25, %6 : tensor<i1>, tensor<i32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %28 = "stablehlo.scatter"(%23, %27, %12) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<512xi32>, tensor<1xi32>, tensor<i32>) -> tensor<512xi32>
    return %0, %28 : tensor<i64>, tensor<512xi32>
  }
  func.func private @diagonal(%arg0: tensor<512x512xf64>) -> tensor<512xf64> {
    %0 = stablehlo.iota dim = 0 : tensor<512x512xi64>
    %1 = stablehlo.iota dim = 1 : tensor<512x512xi64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<512x512xi64>
    %3 = stablehlo.add %0, %2 : tensor<512x512xi64>
    %4 = stablehlo.compare EQ, %3, %1, SIGNED : (tensor<512x512xi64>, tensor<512x512xi64>) -> tensor<512x512xi1>
    %5 = stablehlo.convert %4 : (tensor<512x512xi1>) -> tensor<512x512xf64>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %6 = "stablehlo.case"(%c_0) ({
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c_1 : tensor<i32>
    }, {
      %c_1 = stablehlo.constant dense<0> : tensor<i32>
      stablehlo.return %c_1 : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    %7 = "stablehlo.case"(%6) ({
      %8 = stablehlo.iota dim = 0 : tensor<512xi64>
      %9 = stablehlo.iota dim = 0 : tensor<512xi64>
      %c_1 = stablehlo.constant dense<0> : tensor<i64>
      %10 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<512xi64>
      %11 = stablehlo.compare LT, %8, %10, SIGNED : (tensor<512xi64>, tensor<512xi64>) -> tensor<512xi1>
      %c_2 = stablehlo.constant dense<512> : tensor<i64>
      %12 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i64>) -> tensor<512xi64>
      %13 = stablehlo.add %8, %12 : tensor<512xi64>
      %14 = stablehlo.select %11, %13, %8 : tensor<512xi1>, tensor<512xi64>
      %c_3 = stablehlo.constant dense<0> : tensor<i64>
      %15 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i64>) -> tensor<512xi64>
      %16 = stablehlo.compare LT, %9, %15, SIGNED : (tensor<512xi64>, tensor<512xi64>) -> tensor<512xi1>
      %c_4 = stablehlo.constant dense<512> : tensor<i64>
      %17 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i64>) -> tensor<512xi64>
      %18 = stablehlo.add %9, %17 : tensor<512xi64>
      %19 = stablehlo.select %16, %18, %9 : tensor<512xi1>, tensor<512xi64>
      %20 = stablehlo.convert %14 : (tensor<512xi64>) -> tensor<512xi32>
      %21 = stablehlo.convert %19 : (tensor<512xi64>) -> tensor<512xi32>
      %22 = stablehlo.broadcast_in_dim %20, dims = [0] : (tensor<512xi32>) -> tensor<512x1xi32>
      %23 = stablehlo.broadcast_in_dim %21, dims = [0] : (tensor<512xi32>) -> tensor<512x1xi32>
      %24 = stablehlo.concatenate %22, %23, dim = 1 : (tensor<512x1xi32>, tensor<512x1xi32>) -> tensor<512x2xi32>
      %25 = "stablehlo.gather"(%arg0, %24) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<512x512xf64>, tensor<512x2xi32>) -> tensor<512xf64>
      stablehlo.return %25 : tensor<512xf64>
    }) : (tensor<i32>) -> tensor<512xf64>
    return %7 : tensor<512xf64>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<f64>, %arg2: tensor<f64>) -> tensor<f64> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<f64>
    return %0 : tensor<f64>
  }
}
// workload g_svd_fwd_512 value - normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<512x512xf64>) -> (tensor<512xf64> {jax.result_info = "result"}) {
    %0 = call @svd(%arg0) : (tensor<512x512xf64>) -> tensor<512xf64>
    return %0 : tensor<512xf64>
  }
  func.func private @svd(%arg0: tensor<512x512xf64>) -> tensor<512xf64> {
    %0:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%arg0) {backend_config = "", mhlo.backend_config = {mode = 78 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], [n, o], [p, q], []) {i=512, j=512, k=512, l=512, m=512, n=512, o=512, p=512, q=512}, custom>} : (tensor<512x512xf64>) -> (tensor<512x512xf64>, tensor<512xf64>, tensor<512x512xf64>, tensor<512x512xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %2 = stablehlo.compare EQ, %0#4, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<512xf64>
    %5 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<1xi1>) -> tensor<512xi1>
    %6 = stablehlo.select %5, %0#1, %4 : tensor<512xi1>, tensor<512xf64>
    return %6 : tensor<512xf64>
  }
}
// workload g_eigh_fwd_512 value - positive
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<512x512xf64>) -> (tensor<512x512xf64> {jax.result_info = "result"}) {
    %0 = call @eigh(%arg0) : (tensor<512x512xf64>) -> tensor<512x512xf64>
    %1 = stablehlo.abs %0 : tensor<512x512xf64>
    return %1 : tensor<512x512xf64>
  }
  func.func private @eigh(%arg0: tensor<512x512xf64>) -> tensor<512x512xf64> {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<512x512xf64>) -> tensor<512x512xf64>
    %1 = stablehlo.add %arg0, %0 : tensor<512x512xf64>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<512x512xf64>
    %3 = stablehlo.divide %1, %2 : tensor<512x512xf64>
    %4:3 = stablehlo.custom_call @lapack_dsyevd_ffi(%3) {backend_config = "", mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=512, j=512, k=512, l=512, m=512}, custom>} : (tensor<512x512xf64>) -> (tensor<512x512xf64>, tensor<512xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %6 = stablehlo.compare EQ, %4#2, %5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<512x512xf64>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<512x512xi1>
    %10 = stablehlo.select %9, %4#0, %8 : tensor<512x512xi1>, tensor<512x512xf64>
    %11 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<i1>) -> tensor<1xi1>
    %cst_1 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f64>) -> tensor<512xf64>
    %13 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<1xi1>) -> tensor<512xi1>
    %14 = stablehlo.select %13, %4#1, %12 : tensor<512xi1>, tensor<512xf64>
    return %10 : tensor<512x512xf64>
  }
}
// workload g_chol_fwd_512 value - positive
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<512x512xf64>) -> (tensor<512x512xf64> {jax.result_info = "result"}) {
    %0 = call @cholesky(%arg0) : (tensor<512x512xf64>) -> tensor<512x512xf64>
    return %0 : tensor<512x512xf64>
  }
  func.func private @cholesky(%arg0: tensor<512x512xf64>) -> tensor<512x512xf64> {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<512x512xf64>) -> tensor<512x512xf64>
    %1 = stablehlo.add %arg0, %0 : tensor<512x512xf64>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<512x512xf64>
    %3 = stablehlo.divide %1, %2 : tensor<512x512xf64>
    %4:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%3) {backend_config = "", mhlo.backend_config = {uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], []) {i=512, j=512, k=512, l=512}, custom>} : (tensor<512x512xf64>) -> (tensor<512x512xf64>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %6 = stablehlo.compare EQ, %4#1, %5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<512x512xf64>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<512x512xi1>
    %10 = stablehlo.select %9, %4#0, %8 : tensor<512x512xi1>, tensor<512x512xf64>
    %11 = stablehlo.iota dim = 0 : tensor<512x512xi64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %12 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<512x512xi64>
    %13 = stablehlo.add %11, %12 : tensor<512x512xi64>
    %14 = stablehlo.iota dim = 1 : tensor<512x512xi64>
    %15 = stablehlo.compare GE, %13, %14, SIGNED : (tensor<512x512xi64>, tensor<512x512xi64>) -> tensor<512x512xi1>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<512x512xf64>
    %17 = stablehlo.select %15, %10, %16 : tensor<512x512xi1>, tensor<512x512xf64>
    return %17 : tensor<512x512xf64>
  }
}
// workload g_qr_fwd_512 value - normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<512x512xf64>) -> (tensor<512x512xf64> {jax.result_info = "result"}) {
    %0 = call @qr(%arg0) : (tensor<512x512xf64>) -> tensor<512x512xf64>
    return %0 : tensor<512x512xf64>
  }
  func.func private @qr(%arg0: tensor<512x512xf64>) -> tensor<512x512xf64> {
    %0:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m]) {i=512, j=512, k=512, l=512, m=512}, custom>} : (tensor<512x512xf64>) -> (tensor<512x512xf64>, tensor<512xf64>)
    %1 = stablehlo.custom_call @lapack_dorgqr_ffi(%0#0, %0#1) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k])->([l, m]) {i=512, j=512, k=512, l=512, m=512}, custom>} : (tensor<512x512xf64>, tensor<512xf64>) -> tensor<512x512xf64>
    %2 = stablehlo.iota dim = 0 : tensor<512x512xi64>
    %c = stablehlo.constant dense<-1> : tensor<i64>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<512x512xi64>
    %4 = stablehlo.add %2, %3 : tensor<512x512xi64>
    %5 = stablehlo.iota dim = 1 : tensor<512x512xi64>
    %6 = stablehlo.compare GE, %4, %5, SIGNED : (tensor<512x512xi64>, tensor<512x512xi64>) -> tensor<512x512xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<512x512xf64>
    %8 = stablehlo.select %6, %7, %0#0 : tensor<512x512xi1>, tensor<512x512xf64>
    return %8 : tensor<512x512xf64>
  }
}
// workload g_solve_fwd_512 value - normal normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<512x512xf64>, %arg1: tensor<512xf64>) -> (tensor<512xf64> {jax.result_info = "result"}) {
    %0 = call @solve(%arg0, %arg1) : (tensor<512x512xf64>, tensor<512xf64>) -> tensor<512xf64>
    return %0 : tensor<512xf64>
  }
  func.func private @solve(%arg0: tensor<512x512xf64>, %arg1: tensor<512xf64>) -> tensor<512xf64> {
    %0:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], [m], []) {i=512, j=512, k=512, l=512, m=512}, custom>} : (tensor<512x512xf64>) -> (tensor<512x512xf64>, tensor<512xi32>, tensor<i32>)
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<512xi32>
    %2 = stablehlo.subtract %0#1, %1 : tensor<512xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<i32>
    %4 = stablehlo.compare GE, %0#2, %3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<512x512xf64>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<512x512xi1>
    %8 = stablehlo.select %7, %0#0, %6 : tensor<512x512xi1>, tensor<512x512xf64>
    %9 = stablehlo.iota dim = 0 : tensor<512xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %10:4 = stablehlo.while(%iterArg = %2, %iterArg_3 = %c_2, %iterArg_4 = %c_1, %iterArg_5 = %9) : tensor<512xi32>, tensor<i64>, tensor<i64>, tensor<512xi32>
    cond {
      %c_6 = stablehlo.constant dense<512> : tensor<i64>
      %12 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %12 : tensor<i1>
    } do {
      %12:2 = func.call @closed_call(%iterArg, %iterArg_4, %iterArg_5) : (tensor<512xi32>, tensor<i64>, tensor<512xi32>) -> (tensor<i64>, tensor<512xi32>)
      %c_6 = stablehlo.constant dense<1> : tensor<i64>
      %13 = stablehlo.add %iterArg_3, %c_6 : tensor<i64>
      stablehlo.return %iterArg, %13, %12#0, %12#1 : tensor<512xi32>, tensor<i64>, tensor<i64>, tensor<512xi32>
    }
    %11 = call @_lu_solve(%8, %10#3, %arg1) : (tensor<512x512xf64>, tensor<512xi32>, tensor<512xf64>) -> tensor<512xf64>
    return %11 : tensor<512xf64>
  }
  func.func private @closed_call(%arg0: tensor<512xi32>, %arg1: tensor<i64>, %arg2: tensor<512xi32>) -> (tensor<i64>, tensor<512xi32>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg1, %c : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.compare LT, %arg1, %c_0, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %2 = stablehlo.convert %arg1 : tensor<i64>
    %c_1 = stablehlo.constant dense<512> : tensor<i64>
    %3 = stablehlo.add %2, %c_1 : tensor<i64>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<i1>, tensor<i64>
    %5 = stablehlo.dynamic_slice %arg0, %4, sizes = [1] : (tensor<512xi32>, tensor<i64>) -> tensor<1xi32>
    %6 = stablehlo.reshape %5 : (tensor<1xi32>) -> tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %7 = stablehlo.compare LT, %arg1, %c_2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %8 = stablehlo.convert %arg1 : tensor<i64>
    %c_3 = stablehlo.constant dense<512> : tensor<i64>
    %9 = stablehlo.add %8, %c_3 : tensor<i64>
    %10 = stablehlo.select %7, %9, %arg1 : tensor<i1>, tensor<i64>
    %11 = stablehlo.dynamic_slice %arg2, %10, sizes = [1] : (tensor<512xi32>, tensor<i64>) -> tensor<1xi32>
    %12 = stablehlo.reshape %11 : (tensor<1xi32>) -> tensor<i32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %13 = stablehlo.compare LT, %6, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_5 = stablehlo.constant dense<512> : tensor<i32>
    %14 = stablehlo.add %6, %c_5 : tensor<i32>
    %15 = stablehlo.select %13, %14, %6 : tensor<i1>, tensor<i32>
    %16 = stablehlo.dynamic_slice %arg2, %15, sizes = [1] : (tensor<512xi32>, tensor<i32>) -> tensor<1xi32>
    %17 = stablehlo.reshape %16 : (tensor<1xi32>) -> tensor<i32>
    %c_6 = stablehlo.constant dense<0> : tensor<i64>
    %18 = stablehlo.compare LT, %arg1, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_7 = stablehlo.constant dense<512> : tensor<i64>
    %19 = stablehlo.add %arg1, %c_7 : tensor<i64>
    %20 = stablehlo.select %18, %19, %arg1 : tensor<i1>, tensor<i64>
    %21 = stablehlo.convert %20 : (tensor<i64>) -> tensor<i32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %23 = "stablehlo.scatter"(%arg2, %22, %17) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<512xi32>, tensor<1xi32>, tensor<i32>) -> tensor<512xi32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %24 = stablehlo.compare LT, %6, %c_8, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_9 = stablehlo.constant dense<512> : tensor<i32>
    %25 = stablehlo.add %6, %c_9 : tensor<i32>
    %26 = stablehlo.select %24, %25, %6 : tensor<i1>, tensor<i32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %28 = "stablehlo.scatter"(%23, %27, %12) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<512xi32>, tensor<1xi32>, tensor<i32>) -> tensor<512xi32>
    return %0, %28 : tensor<i64>, tensor<512xi32>
  }
  func.func private @_lu_solve(%arg0: tensor<512x512xf64>, %arg1: tensor<512xi32>, %arg2: tensor<512xf64>) -> tensor<512xf64> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0] : (tensor<512xf64>) -> tensor<512x1xf64>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<512xi32>
    %2 = stablehlo.compare LT, %arg1, %1, SIGNED : (tensor<512xi32>, tensor<512xi32>) -> tensor<512xi1>
    %c_0 = stablehlo.constant dense<512> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<512xi32>
    %4 = stablehlo.add %arg1, %3 : tensor<512xi32>
    %5 = stablehlo.select %2, %4, %arg1 : tensor<512xi1>, tensor<512xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<512xi32>) -> tensor<512x1xi32>
    %7 = "stablehlo.gather"(%0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<512x1xf64>, tensor<512x1xi32>) -> tensor<512x1xf64>
    %8 = stablehlo.custom_call @lapack_dtrsm_ffi(%arg0, %7) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=512, j=512, k=512, l=1, m=512, n=1}, custom>} : (tensor<512x512xf64>, tensor<512x1xf64>) -> tensor<512x1xf64>
    %9 = stablehlo.custom_call @lapack_dtrsm_ffi(%arg0, %8) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [k, l])->([m, n]) {i=512, j=512, k=512, l=1, m=512, n=1}, custom>} : (tensor<512x512xf64>, tensor<512x1xf64>) -> tensor<512x1xf64>
    %10 = stablehlo.reshape %9 : (tensor<512x1xf64>) -> tensor<512xf64>
    return %10 : tensor<512xf64>
  }
}
// workload g_batch1000x8_solve_vjp grad 0,1 positive normal
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1000x8x8xf64>, %arg1: tensor<1000x8x1xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = call @solve(%arg0, %arg1) : (tensor<1000x8x8xf64>, tensor<1000x8x1xf64>) -> tensor<1000x8x1xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1000x8x1xf64>, tensor<f64>) -> tensor<f64>
    return %1 : tensor<f64>
  }
  func.func private @solve(%arg0: tensor<1000x8x8xf64>, %arg1: tensor<1000x8x1xf64>) -> tensor<1000x8x1xf64> {
    %0:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%arg0) {backend_config = "", mhlo.backend_config = {}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i]) {i=1000, j=8, k=8, l=8, m=8, n=8}, custom>} : (tensor<1000x8x8xf64>) -> (tensor<1000x8x8xf64>, tensor<1000x8xi32>, tensor<1000xi32>)
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<1000x8xi32>
    %2 = stablehlo.subtract %0#1, %1 : tensor<1000x8xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<1000xi32>
    %4 = stablehlo.compare GE, %0#2, %3, SIGNED : (tensor<1000xi32>, tensor<1000xi32>) -> tensor<1000xi1>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<1000xi1>) -> tensor<1000x1x1xi1>
    %cst = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<1000x8x8xf64>
    %7 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2] : (tensor<1000x1x1xi1>) -> tensor<1000x8x8xi1>
    %8 = stablehlo.select %7, %0#0, %6 : tensor<1000x8x8xi1>, tensor<1000x8x8xf64>
    %9 = stablehlo.iota dim = 1 : tensor<1000x8xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %10:4 = stablehlo.while(%iterArg = %2, %iterArg_3 = %c_2, %iterArg_4 = %c_1, %iterArg_5 = %9) : tensor<1000x8xi32>, tensor<i64>, tensor<i64>, tensor<1000x8xi32>
    cond {
      %c_6 = stablehlo.constant dense<8> : tensor<i64>
      %14 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %14 : tensor<i1>
    } do {
      %14:2 = func.call @closed_call(%iterArg, %iterArg_4, %iterArg_5) : (tensor<1000x8xi32>, tensor<i64>, tensor<1000x8xi32>) -> (tensor<i64>, tensor<1000x8xi32>)
      %c_6 = stablehlo.constant dense<1> : tensor<i64>
      %15 = stablehlo.add %iterArg_3, %c_6 : tensor<i64>
      stablehlo.return %iterArg, %15, %14#0, %14#1 : tensor<1000x8xi32>, tensor<i64>, tensor<i64>, tensor<1000x8xi32>
    }
    %11 = stablehlo.transpose %arg1, dims = [0, 2, 1] : (tensor<1000x8x1xf64>) -> tensor<1000x1x8xf64>
    %12 = call @_lu_solve(%8, %10#3, %11) : (tensor<1000x8x8xf64>, tensor<1000x8xi32>, tensor<1000x1x8xf64>) -> tensor<1000x1x8xf64>
    %13 = stablehlo.transpose %12, dims = [0, 2, 1] : (tensor<1000x1x8xf64>) -> tensor<1000x8x1xf64>
    return %13 : tensor<1000x8x1xf64>
  }
  func.func private @closed_call(%arg0: tensor<1000x8xi32>, %arg1: tensor<i64>, %arg2: tensor<1000x8xi32>) -> (tensor<i64>, tensor<1000x8xi32>) {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %0 = stablehlo.add %arg1, %c : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.compare LT, %arg1, %c_0, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %2 = stablehlo.convert %arg1 : tensor<i64>
    %c_1 = stablehlo.constant dense<8> : tensor<i64>
    %3 = stablehlo.add %2, %c_1 : tensor<i64>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<i1>, tensor<i64>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<i64>) -> tensor<1xi64>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [1]>, indices_are_sorted = true, slice_sizes = array<i64: 1000, 1>}> : (tensor<1000x8xi32>, tensor<1xi64>) -> tensor<1000x1xi32>
    %7 = stablehlo.reshape %6 : (tensor<1000x1xi32>) -> tensor<1000xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %8 = stablehlo.compare LT, %arg1, %c_2, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %9 = stablehlo.convert %arg1 : tensor<i64>
    %c_3 = stablehlo.constant dense<8> : tensor<i64>
    %10 = stablehlo.add %9, %c_3 : tensor<i64>
    %11 = stablehlo.select %8, %10, %arg1 : tensor<i1>, tensor<i64>
    %12 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<i64>) -> tensor<1xi64>
    %13 = "stablehlo.gather"(%arg2, %12) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [1]>, indices_are_sorted = true, slice_sizes = array<i64: 1000, 1>}> : (tensor<1000x8xi32>, tensor<1xi64>) -> tensor<1000x1xi32>
    %14 = stablehlo.reshape %13 : (tensor<1000x1xi32>) -> tensor<1000xi32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %15 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<1000xi32>
    %16 = stablehlo.compare LT, %7, %15, SIGNED : (tensor<1000xi32>, tensor<1000xi32>) -> tensor<1000xi1>
    %c_5 = stablehlo.constant dense<8> : tensor<i32>
    %17 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<1000xi32>
    %18 = stablehlo.add %7, %17 : tensor<1000xi32>
    %19 = stablehlo.select %16, %18, %7 : tensor<1000xi1>, tensor<1000xi32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0] : (tensor<1000xi32>) -> tensor<1000x1xi32>
    %21 = "stablehlo.gather"(%arg2, %20) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 1>}> : (tensor<1000x8xi32>, tensor<1000x1xi32>) -> tensor<1000x1xi32>
    %22 = stablehlo.reshape %21 : (tensor<1000x1xi32>) -> tensor<1000xi32>
    %c_6 = stablehlo.constant dense<0> : tensor<i64>
    %23 = stablehlo.compare LT, %arg1, %c_6, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %c_7 = stablehlo.constant dense<8> : tensor<i64>
    %24 = stablehlo.add %arg1, %c_7 : tensor<i64>
    %25 = stablehlo.select %23, %24, %arg1 : tensor<i1>, tensor<i64>
    %26 = stablehlo.convert %25 : (tensor<i64>) -> tensor<i32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %28 = "stablehlo.scatter"(%arg2, %27, %22) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1]>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<1000x8xi32>, tensor<1xi32>, tensor<1000xi32>) -> tensor<1000x8xi32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %29 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<1000xi32>
    %30 = stablehlo.compare LT, %7, %29, SIGNED : (tensor<1000xi32>, tensor<1000xi32>) -> tensor<1000xi1>
    %c_9 = stablehlo.constant dense<8> : tensor<i32>
    %31 = stablehlo.broadcast_in_dim %c_9, dims = [] : (tensor<i32>) -> tensor<1000xi32>
    %32 = stablehlo.add %7, %31 : tensor<1000xi32>
    %33 = stablehlo.select %30, %32, %7 : tensor<1000xi1>, tensor<1000xi32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0] : (tensor<1000xi32>) -> tensor<1000x1xi32>
    %35 = "stablehlo.scatter"(%28, %34, %14) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%arg3: tensor<i32>, %arg4: tensor<i32>):
      stablehlo.return %arg4 : tensor<i32>
    }) : (tensor<1000x8xi32>, tensor<1000x1xi32>, tensor<1000xi32>) -> tensor<1000x8xi32>
    return %0, %35 : tensor<i64>, tensor<1000x8xi32>
  }
  func.func private @_lu_solve(%arg0: tensor<1000x8x8xf64>, %arg1: tensor<1000x8xi32>, %arg2: tensor<1000x1x8xf64>) -> tensor<1000x1x8xf64> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1, 2] : (tensor<1000x1x8xf64>) -> tensor<1000x1x8x1xf64>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<1000x8xi32>
    %2 = stablehlo.compare LT, %arg1, %1, SIGNED : (tensor<1000x8xi32>, tensor<1000x8xi32>) -> tensor<1000x8xi1>
    %c_0 = stablehlo.constant dense<8> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<1000x8xi32>
    %4 = stablehlo.add %arg1, %3 : tensor<1000x8xi32>
    %5 = stablehlo.select %2, %4, %arg1 : tensor<1000x8xi1>, tensor<1000x8xi32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<1000x8xi32>) -> tensor<1000x8x1xi32>
    %7 = "stablehlo.gather"(%0, %6) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 3], collapsed_slice_dims = [2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1, 1>}> : (tensor<1000x1x8x1xf64>, tensor<1000x8x1xi32>) -> tensor<1000x1x8x1xf64>
    %8 = stablehlo.transpose %7, dims = [0, 2, 3, 1] : (tensor<1000x1x8x1xf64>) -> tensor<1000x8x1x1xf64>
    %9 = stablehlo.reshape %8 : (tensor<1000x8x1x1xf64>) -> tensor<1000x8x1xf64>
    %10 = stablehlo.custom_call @lapack_dtrsm_ffi(%arg0, %9) {backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=1000, j=8, k=8, l=8, m=1, n=8, o=1}, custom>} : (tensor<1000x8x8xf64>, tensor<1000x8x1xf64>) -> tensor<1000x8x1xf64>
    %11 = stablehlo.reshape %10 : (tensor<1000x8x1xf64>) -> tensor<1000x8x1x1xf64>
    %12 = stablehlo.reshape %11 : (tensor<1000x8x1x1xf64>) -> tensor<1000x8x1xf64>
    %13 = stablehlo.custom_call @lapack_dtrsm_ffi(%arg0, %12) {backend_config = "", mhlo.backend_config = {diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 85 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [i, l, m])->([i, n, o]) {i=1000, j=8, k=8, l=8, m=1, n=8, o=1}, custom>} : (tensor<1000x8x8xf64>, tensor<1000x8x1xf64>) -> tensor<1000x8x1xf64>
    %14 = stablehlo.reshape %13 : (tensor<1000x8x1xf64>) -> tensor<1000x8x1x1xf64>
    %15 = stablehlo.transpose %14, dims = [0, 3, 1, 2] : (tensor<1000x8x1x1xf64>) -> tensor<1000x1x8x1xf64>
    %16 = stablehlo.reshape %15 : (tensor<1000x1x8x1xf64>) -> tensor<1000x1x8xf64>
    return %16 : tensor<1000x1x8xf64>
  }
}
// workload g_batch1000x8_chol_vjp grad 0 positive
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1000x8x8xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = call @cholesky(%arg0) : (tensor<1000x8x8xf64>) -> tensor<1000x8x8xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1000x8x8xf64>, tensor<f64>) -> tensor<f64>
    return %1 : tensor<f64>
  }
  func.func private @cholesky(%arg0: tensor<1000x8x8xf64>) -> tensor<1000x8x8xf64> {
    %0 = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<1000x8x8xf64>) -> tensor<1000x8x8xf64>
    %1 = stablehlo.add %arg0, %0 : tensor<1000x8x8xf64>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f64>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f64>) -> tensor<1000x8x8xf64>
    %3 = stablehlo.divide %1, %2 : tensor<1000x8x8xf64>
    %4:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%3) {backend_config = "", mhlo.backend_config = {uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "1"}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i]) {i=1000, j=8, k=8, l=8, m=8}, custom>} : (tensor<1000x8x8xf64>) -> (tensor<1000x8x8xf64>, tensor<1000xi32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<1000xi32>
    %6 = stablehlo.compare EQ, %4#1, %5, SIGNED : (tensor<1000xi32>, tensor<1000xi32>) -> tensor<1000xi1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<1000xi1>) -> tensor<1000x1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FF8000000000000> : tensor<f64>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f64>) -> tensor<1000x8x8xf64>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<1000x1x1xi1>) -> tensor<1000x8x8xi1>
    %10 = stablehlo.select %9, %4#0, %8 : tensor<1000x8x8xi1>, tensor<1000x8x8xf64>
    %11 = stablehlo.iota dim = 0 : tensor<8x8xi64>
    %c_1 = stablehlo.constant dense<0> : tensor<i64>
    %12 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i64>) -> tensor<8x8xi64>
    %13 = stablehlo.add %11, %12 : tensor<8x8xi64>
    %14 = stablehlo.iota dim = 1 : tensor<8x8xi64>
    %15 = stablehlo.compare GE, %13, %14, SIGNED : (tensor<8x8xi64>, tensor<8x8xi64>) -> tensor<8x8xi1>
    %16 = stablehlo.broadcast_in_dim %15, dims = [1, 2] : (tensor<8x8xi1>) -> tensor<1000x8x8xi1>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %17 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f64>) -> tensor<1000x8x8xf64>
    %18 = stablehlo.select %16, %10, %17 : tensor<1000x8x8xi1>, tensor<1000x8x8xf64>
    return %18 : tensor<1000x8x8xf64>
  }
}
// workload h_lstm_grad grad 1,2,3 normal:1.0 normal:0.08 normal:0.08 normal:0.08
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<100x32x128xf32>, %arg1: tensor<128x512xf32>, %arg2: tensor<128x512xf32>, %arg3: tensor<512xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %1 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<100x32x128xf32>, tensor<128x512xf32>) -> tensor<100x32x512xf32>
    %2 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<512xf32>) -> tensor<1x1x512xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<1x1x512xf32>) -> tensor<100x32x512xf32>
    %4 = stablehlo.add %1, %3 : tensor<100x32x512xf32>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %5:5 = stablehlo.while(%iterArg = %4, %iterArg_1 = %arg2, %iterArg_2 = %c, %iterArg_3 = %0, %iterArg_4 = %0) : tensor<100x32x512xf32>, tensor<128x512xf32>, tensor<i64>, tensor<32x128xf32>, tensor<32x128xf32>
    cond {
      %c_5 = stablehlo.constant dense<100> : tensor<i64>
      %8 = stablehlo.compare LT, %iterArg_2, %c_5, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %8 : tensor<i1>
    } do {
      %8 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_2) : (tensor<100x32x512xf32>, tensor<i64>) -> tensor<32x512xf32>
      %9:2 = func.call @closed_call(%iterArg_1, %iterArg_3, %iterArg_4, %8) : (tensor<128x512xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x512xf32>) -> (tensor<32x128xf32>, tensor<32x128xf32>)
      %c_5 = stablehlo.constant dense<1> : tensor<i64>
      %10 = stablehlo.add %iterArg_2, %c_5 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_1, %10, %9#0, %9#1 : tensor<100x32x512xf32>, tensor<128x512xf32>, tensor<i64>, tensor<32x128xf32>, tensor<32x128xf32>
    }
    %6 = stablehlo.multiply %5#3, %5#3 : tensor<32x128xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x128xf32>, tensor<f32>) -> tensor<f32>
    return %7 : tensor<f32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<100x32x512xf32>, %arg1: tensor<i64>) -> tensor<32x512xf32> {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 32, 512] : (tensor<100x32x512xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x32x512xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x32x512xf32>) -> tensor<32x512xf32>
    return %1 : tensor<32x512xf32>
  }
  func.func private @closed_call(%arg0: tensor<128x512xf32>, %arg1: tensor<32x128xf32>, %arg2: tensor<32x128xf32>, %arg3: tensor<32x512xf32>) -> (tensor<32x128xf32>, tensor<32x128xf32>) {
    %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x128xf32>, tensor<128x512xf32>) -> tensor<32x512xf32>
    %1 = stablehlo.add %arg3, %0 : tensor<32x512xf32>
    %2 = stablehlo.slice %1 [0:32, 0:128] : (tensor<32x512xf32>) -> tensor<32x128xf32>
    %3 = stablehlo.slice %1 [0:32, 128:256] : (tensor<32x512xf32>) -> tensor<32x128xf32>
    %4 = stablehlo.slice %1 [0:32, 256:384] : (tensor<32x512xf32>) -> tensor<32x128xf32>
    %5 = stablehlo.slice %1 [0:32, 384:512] : (tensor<32x512xf32>) -> tensor<32x128xf32>
    %6 = stablehlo.negate %3 : tensor<32x128xf32>
    %7 = stablehlo.exponential %6 : tensor<32x128xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %9 = stablehlo.add %8, %7 : tensor<32x128xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %11 = stablehlo.divide %10, %9 : tensor<32x128xf32>
    %12 = stablehlo.multiply %11, %arg2 : tensor<32x128xf32>
    %13 = stablehlo.negate %2 : tensor<32x128xf32>
    %14 = stablehlo.exponential %13 : tensor<32x128xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %16 = stablehlo.add %15, %14 : tensor<32x128xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %18 = stablehlo.divide %17, %16 : tensor<32x128xf32>
    %19 = stablehlo.tanh %5 : tensor<32x128xf32>
    %20 = stablehlo.multiply %18, %19 : tensor<32x128xf32>
    %21 = stablehlo.add %12, %20 : tensor<32x128xf32>
    %22 = stablehlo.negate %4 : tensor<32x128xf32>
    %23 = stablehlo.exponential %22 : tensor<32x128xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %25 = stablehlo.add %24, %23 : tensor<32x128xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %27 = stablehlo.divide %26, %25 : tensor<32x128xf32>
    %28 = stablehlo.tanh %21 : tensor<32x128xf32>
    %29 = stablehlo.multiply %27, %28 : tensor<32x128xf32>
    return %29, %21 : tensor<32x128xf32>, tensor<32x128xf32>
  }
}
// workload h_ode_grad grad 1,2,3,4 normal:1.0 normal:0.08 normal:0.08 normal:0.08 normal:0.08
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64xf32>, %arg1: tensor<64x64xf32>, %arg2: tensor<64xf32>, %arg3: tensor<64x64xf32>, %arg4: tensor<64xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0:6 = stablehlo.while(%iterArg = %arg1, %iterArg_0 = %arg2, %iterArg_1 = %arg3, %iterArg_2 = %arg4, %iterArg_3 = %c, %iterArg_4 = %arg0) : tensor<64x64xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<i64>, tensor<64xf32>
    cond {
      %c_5 = stablehlo.constant dense<200> : tensor<i64>
      %3 = stablehlo.compare LT, %iterArg_3, %c_5, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3 = func.call @closed_call(%iterArg, %iterArg_0, %iterArg_1, %iterArg_2, %iterArg_4) : (tensor<64x64xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
      %c_5 = stablehlo.constant dense<1> : tensor<i64>
      %4 = stablehlo.add %iterArg_3, %c_5 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_0, %iterArg_1, %iterArg_2, %4, %3 : tensor<64x64xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<i64>, tensor<64xf32>
    }
    %1 = stablehlo.multiply %0#5, %0#5 : tensor<64xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<64xf32>, tensor<f32>) -> tensor<f32>
    return %2 : tensor<f32>
  }
  func.func private @closed_call(%arg0: tensor<64x64xf32>, %arg1: tensor<64xf32>, %arg2: tensor<64x64xf32>, %arg3: tensor<64xf32>, %arg4: tensor<64xf32>) -> tensor<64xf32> {
    %0 = stablehlo.dot_general %arg4, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64xf32>, tensor<64x64xf32>) -> tensor<64xf32>
    %1 = stablehlo.add %0, %arg1 : tensor<64xf32>
    %2 = stablehlo.tanh %1 : tensor<64xf32>
    %3 = stablehlo.dot_general %2, %arg2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64xf32>, tensor<64x64xf32>) -> tensor<64xf32>
    %4 = stablehlo.add %3, %arg3 : tensor<64xf32>
    %cst = stablehlo.constant dense<5.000000e-03> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %6 = stablehlo.multiply %5, %4 : tensor<64xf32>
    %7 = stablehlo.add %arg4, %6 : tensor<64xf32>
    %8 = stablehlo.dot_general %7, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64xf32>, tensor<64x64xf32>) -> tensor<64xf32>
    %9 = stablehlo.add %8, %arg1 : tensor<64xf32>
    %10 = stablehlo.tanh %9 : tensor<64xf32>
    %11 = stablehlo.dot_general %10, %arg2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64xf32>, tensor<64x64xf32>) -> tensor<64xf32>
    %12 = stablehlo.add %11, %arg3 : tensor<64xf32>
    %cst_0 = stablehlo.constant dense<5.000000e-03> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %14 = stablehlo.multiply %13, %12 : tensor<64xf32>
    %15 = stablehlo.add %arg4, %14 : tensor<64xf32>
    %16 = stablehlo.dot_general %15, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64xf32>, tensor<64x64xf32>) -> tensor<64xf32>
    %17 = stablehlo.add %16, %arg1 : tensor<64xf32>
    %18 = stablehlo.tanh %17 : tensor<64xf32>
    %19 = stablehlo.dot_general %18, %arg2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64xf32>, tensor<64x64xf32>) -> tensor<64xf32>
    %20 = stablehlo.add %19, %arg3 : tensor<64xf32>
    %cst_1 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %22 = stablehlo.multiply %21, %20 : tensor<64xf32>
    %23 = stablehlo.add %arg4, %22 : tensor<64xf32>
    %24 = stablehlo.dot_general %23, %arg0, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64xf32>, tensor<64x64xf32>) -> tensor<64xf32>
    %25 = stablehlo.add %24, %arg1 : tensor<64xf32>
    %26 = stablehlo.tanh %25 : tensor<64xf32>
    %27 = stablehlo.dot_general %26, %arg2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64xf32>, tensor<64x64xf32>) -> tensor<64xf32>
    %28 = stablehlo.add %27, %arg3 : tensor<64xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %30 = stablehlo.multiply %29, %12 : tensor<64xf32>
    %31 = stablehlo.add %4, %30 : tensor<64xf32>
    %cst_3 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %33 = stablehlo.multiply %32, %20 : tensor<64xf32>
    %34 = stablehlo.add %31, %33 : tensor<64xf32>
    %35 = stablehlo.add %34, %28 : tensor<64xf32>
    %cst_4 = stablehlo.constant dense<0.00166666671> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<64xf32>
    %37 = stablehlo.multiply %36, %35 : tensor<64xf32>
    %38 = stablehlo.add %arg4, %37 : tensor<64xf32>
    return %38 : tensor<64xf32>
  }
}
// workload h_recur1e5_fwd_float64 value - value:0.9 value:0.3 value:0.5
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<f64>, %arg1: tensor<f64>, %arg2: tensor<f64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0:4 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1, %iterArg_1 = %c, %iterArg_2 = %arg2) : tensor<f64>, tensor<f64>, tensor<i64>, tensor<f64>
    cond {
      %c_3 = stablehlo.constant dense<100000> : tensor<i64>
      %1 = stablehlo.compare LT, %iterArg_1, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = func.call @closed_call(%iterArg, %iterArg_0, %iterArg_2) : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
      %c_3 = stablehlo.constant dense<1> : tensor<i64>
      %2 = stablehlo.add %iterArg_1, %c_3 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_0, %2, %1 : tensor<f64>, tensor<f64>, tensor<i64>, tensor<f64>
    }
    return %0#3 : tensor<f64>
  }
  func.func private @closed_call(%arg0: tensor<f64>, %arg1: tensor<f64>, %arg2: tensor<f64>) -> tensor<f64> {
    %0 = stablehlo.multiply %arg0, %arg2 : tensor<f64>
    %1 = stablehlo.sine %arg2 : tensor<f64>
    %2 = stablehlo.multiply %arg1, %1 : tensor<f64>
    %3 = stablehlo.add %0, %2 : tensor<f64>
    return %3 : tensor<f64>
  }
}
// workload h_recur1e5_grad_float64 grad 0,1,2 value:0.9 value:0.3 value:0.5
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<f64>, %arg1: tensor<f64>, %arg2: tensor<f64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0:4 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1, %iterArg_1 = %c, %iterArg_2 = %arg2) : tensor<f64>, tensor<f64>, tensor<i64>, tensor<f64>
    cond {
      %c_3 = stablehlo.constant dense<100000> : tensor<i64>
      %1 = stablehlo.compare LT, %iterArg_1, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = func.call @closed_call(%iterArg, %iterArg_0, %iterArg_2) : (tensor<f64>, tensor<f64>, tensor<f64>) -> tensor<f64>
      %c_3 = stablehlo.constant dense<1> : tensor<i64>
      %2 = stablehlo.add %iterArg_1, %c_3 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_0, %2, %1 : tensor<f64>, tensor<f64>, tensor<i64>, tensor<f64>
    }
    return %0#3 : tensor<f64>
  }
  func.func private @closed_call(%arg0: tensor<f64>, %arg1: tensor<f64>, %arg2: tensor<f64>) -> tensor<f64> {
    %0 = stablehlo.multiply %arg0, %arg2 : tensor<f64>
    %1 = stablehlo.sine %arg2 : tensor<f64>
    %2 = stablehlo.multiply %arg1, %1 : tensor<f64>
    %3 = stablehlo.add %0, %2 : tensor<f64>
    return %3 : tensor<f64>
  }
}
// workload h_recur1e5_fwd_float32 value - value:0.9 value:0.3 value:0.5
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0:4 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1, %iterArg_1 = %c, %iterArg_2 = %arg2) : tensor<f32>, tensor<f32>, tensor<i64>, tensor<f32>
    cond {
      %c_3 = stablehlo.constant dense<100000> : tensor<i64>
      %1 = stablehlo.compare LT, %iterArg_1, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = func.call @closed_call(%iterArg, %iterArg_0, %iterArg_2) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %c_3 = stablehlo.constant dense<1> : tensor<i64>
      %2 = stablehlo.add %iterArg_1, %c_3 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_0, %2, %1 : tensor<f32>, tensor<f32>, tensor<i64>, tensor<f32>
    }
    return %0#3 : tensor<f32>
  }
  func.func private @closed_call(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.multiply %arg0, %arg2 : tensor<f32>
    %1 = stablehlo.sine %arg2 : tensor<f32>
    %2 = stablehlo.multiply %arg1, %1 : tensor<f32>
    %3 = stablehlo.add %0, %2 : tensor<f32>
    return %3 : tensor<f32>
  }
}
// workload h_recur1e5_grad_float32 grad 0,1,2 value:0.9 value:0.3 value:0.5
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0:4 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1, %iterArg_1 = %c, %iterArg_2 = %arg2) : tensor<f32>, tensor<f32>, tensor<i64>, tensor<f32>
    cond {
      %c_3 = stablehlo.constant dense<100000> : tensor<i64>
      %1 = stablehlo.compare LT, %iterArg_1, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = func.call @closed_call(%iterArg, %iterArg_0, %iterArg_2) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %c_3 = stablehlo.constant dense<1> : tensor<i64>
      %2 = stablehlo.add %iterArg_1, %c_3 : tensor<i64>
      stablehlo.return %iterArg, %iterArg_0, %2, %1 : tensor<f32>, tensor<f32>, tensor<i64>, tensor<f32>
    }
    return %0#3 : tensor<f32>
  }
  func.func private @closed_call(%arg0: tensor<f32>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.multiply %arg0, %arg2 : tensor<f32>
    %1 = stablehlo.sine %arg2 : tensor<f32>
    %2 = stablehlo.multiply %arg1, %1 : tensor<f32>
    %3 = stablehlo.add %0, %2 : tensor<f32>
    return %3 : tensor<f32>
  }
}
// workload j_mps_norm_fwd_float32 value - normal:0.7 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x2x64xf32>, %arg1: tensor<64x2x64xf32>, %arg2: tensor<64x2x64xf32>, %arg3: tensor<64x2x64xf32>, %arg4: tensor<64x2x64xf32>, %arg5: tensor<64x2x64xf32>, %arg6: tensor<64x2x64xf32>, %arg7: tensor<64x2x64xf32>, %arg8: tensor<64x2x64xf32>, %arg9: tensor<64x2x64xf32>, %arg10: tensor<64x2x64xf32>, %arg11: tensor<64x2x64xf32>, %arg12: tensor<64x2x64xf32>, %arg13: tensor<64x2x64xf32>, %arg14: tensor<64x2x64xf32>, %arg15: tensor<64x2x64xf32>, %arg16: tensor<64x2x64xf32>, %arg17: tensor<64x2x64xf32>, %arg18: tensor<64x2x64xf32>, %arg19: tensor<64x2x64xf32>, %arg20: tensor<64x2x64xf32>, %arg21: tensor<64x2x64xf32>, %arg22: tensor<64x2x64xf32>, %arg23: tensor<64x2x64xf32>, %arg24: tensor<64x2x64xf32>, %arg25: tensor<64x2x64xf32>, %arg26: tensor<64x2x64xf32>, %arg27: tensor<64x2x64xf32>, %arg28: tensor<64x2x64xf32>, %arg29: tensor<64x2x64xf32>, %arg30: tensor<64x2x64xf32>, %arg31: tensor<64x2x64xf32>, %arg32: tensor<64x2x64xf32>, %arg33: tensor<64x2x64xf32>, %arg34: tensor<64x2x64xf32>, %arg35: tensor<64x2x64xf32>, %arg36: tensor<64x2x64xf32>, %arg37: tensor<64x2x64xf32>, %arg38: tensor<64x2x64xf32>, %arg39: tensor<64x2x64xf32>, %arg40: tensor<64x2x64xf32>, %arg41: tensor<64x2x64xf32>, %arg42: tensor<64x2x64xf32>, %arg43: tensor<64x2x64xf32>, %arg44: tensor<64x2x64xf32>, %arg45: tensor<64x2x64xf32>, %arg46: tensor<64x2x64xf32>, %arg47: tensor<64x2x64xf32>, %arg48: tensor<64x2x64xf32>, %arg49: tensor<64x2x1xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<1x2x64xf32>, tensor<1x2x64xf32>) -> tensor<64x64xf32>
    %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %2 = stablehlo.dot_general %arg1, %1, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %3 = stablehlo.dot_general %2, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %4 = stablehlo.dot_general %arg2, %3, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %5 = stablehlo.dot_general %4, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %6 = stablehlo.dot_general %arg3, %5, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %7 = stablehlo.dot_general %6, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %8 = stablehlo.dot_general %arg4, %7, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %9 = stablehlo.dot_general %8, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %10 = stablehlo.dot_general %arg5, %9, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %11 = stablehlo.dot_general %10, %arg6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %12 = stablehlo.dot_general %arg6, %11, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %13 = stablehlo.dot_general %12, %arg7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %14 = stablehlo.dot_general %arg7, %13, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %15 = stablehlo.dot_general %14, %arg8, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %16 = stablehlo.dot_general %arg8, %15, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %17 = stablehlo.dot_general %16, %arg9, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %18 = stablehlo.dot_general %arg9, %17, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %19 = stablehlo.dot_general %18, %arg10, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %20 = stablehlo.dot_general %arg10, %19, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %21 = stablehlo.dot_general %20, %arg11, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %22 = stablehlo.dot_general %arg11, %21, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %23 = stablehlo.dot_general %22, %arg12, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %24 = stablehlo.dot_general %arg12, %23, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %25 = stablehlo.dot_general %24, %arg13, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %26 = stablehlo.dot_general %arg13, %25, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %27 = stablehlo.dot_general %26, %arg14, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %28 = stablehlo.dot_general %arg14, %27, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %29 = stablehlo.dot_general %28, %arg15, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %30 = stablehlo.dot_general %arg15, %29, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %31 = stablehlo.dot_general %30, %arg16, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %32 = stablehlo.dot_general %arg16, %31, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %33 = stablehlo.dot_general %32, %arg17, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %34 = stablehlo.dot_general %arg17, %33, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %35 = stablehlo.dot_general %34, %arg18, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %36 = stablehlo.dot_general %arg18, %35, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %37 = stablehlo.dot_general %36, %arg19, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %38 = stablehlo.dot_general %arg19, %37, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %39 = stablehlo.dot_general %38, %arg20, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %40 = stablehlo.dot_general %arg20, %39, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %41 = stablehlo.dot_general %40, %arg21, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %42 = stablehlo.dot_general %arg21, %41, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %43 = stablehlo.dot_general %42, %arg22, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %44 = stablehlo.dot_general %arg22, %43, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %45 = stablehlo.dot_general %44, %arg23, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %46 = stablehlo.dot_general %arg23, %45, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %47 = stablehlo.dot_general %46, %arg24, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %48 = stablehlo.dot_general %arg24, %47, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %49 = stablehlo.dot_general %48, %arg25, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %50 = stablehlo.dot_general %arg25, %49, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %51 = stablehlo.dot_general %50, %arg26, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %52 = stablehlo.dot_general %arg26, %51, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %53 = stablehlo.dot_general %52, %arg27, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %54 = stablehlo.dot_general %arg27, %53, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %55 = stablehlo.dot_general %54, %arg28, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %56 = stablehlo.dot_general %arg28, %55, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %57 = stablehlo.dot_general %56, %arg29, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %58 = stablehlo.dot_general %arg29, %57, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %59 = stablehlo.dot_general %58, %arg30, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %60 = stablehlo.dot_general %arg30, %59, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %61 = stablehlo.dot_general %60, %arg31, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %62 = stablehlo.dot_general %arg31, %61, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %63 = stablehlo.dot_general %62, %arg32, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %64 = stablehlo.dot_general %arg32, %63, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %65 = stablehlo.dot_general %64, %arg33, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %66 = stablehlo.dot_general %arg33, %65, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %67 = stablehlo.dot_general %66, %arg34, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %68 = stablehlo.dot_general %arg34, %67, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %69 = stablehlo.dot_general %68, %arg35, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %70 = stablehlo.dot_general %arg35, %69, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %71 = stablehlo.dot_general %70, %arg36, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %72 = stablehlo.dot_general %arg36, %71, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %73 = stablehlo.dot_general %72, %arg37, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %74 = stablehlo.dot_general %arg37, %73, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %75 = stablehlo.dot_general %74, %arg38, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %76 = stablehlo.dot_general %arg38, %75, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %77 = stablehlo.dot_general %76, %arg39, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %78 = stablehlo.dot_general %arg39, %77, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %79 = stablehlo.dot_general %78, %arg40, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %80 = stablehlo.dot_general %arg40, %79, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %81 = stablehlo.dot_general %80, %arg41, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %82 = stablehlo.dot_general %arg41, %81, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %83 = stablehlo.dot_general %82, %arg42, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %84 = stablehlo.dot_general %arg42, %83, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %85 = stablehlo.dot_general %84, %arg43, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %86 = stablehlo.dot_general %arg43, %85, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %87 = stablehlo.dot_general %86, %arg44, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %88 = stablehlo.dot_general %arg44, %87, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %89 = stablehlo.dot_general %88, %arg45, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %90 = stablehlo.dot_general %arg45, %89, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %91 = stablehlo.dot_general %90, %arg46, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %92 = stablehlo.dot_general %arg46, %91, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %93 = stablehlo.dot_general %92, %arg47, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %94 = stablehlo.dot_general %arg47, %93, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %95 = stablehlo.dot_general %94, %arg48, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %96 = stablehlo.dot_general %arg48, %95, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %97 = stablehlo.dot_general %96, %arg49, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x1xf32>) -> tensor<64x2x1xf32>
    %98 = stablehlo.dot_general %arg49, %97, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x1xf32>, tensor<64x2x1xf32>) -> tensor<1x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %99 = stablehlo.reduce(%98 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1xf32>, tensor<f32>) -> tensor<f32>
    return %99 : tensor<f32>
  }
}
// workload j_mps_norm_grad_float32 grad 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49 normal:0.7 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x2x64xf32>, %arg1: tensor<64x2x64xf32>, %arg2: tensor<64x2x64xf32>, %arg3: tensor<64x2x64xf32>, %arg4: tensor<64x2x64xf32>, %arg5: tensor<64x2x64xf32>, %arg6: tensor<64x2x64xf32>, %arg7: tensor<64x2x64xf32>, %arg8: tensor<64x2x64xf32>, %arg9: tensor<64x2x64xf32>, %arg10: tensor<64x2x64xf32>, %arg11: tensor<64x2x64xf32>, %arg12: tensor<64x2x64xf32>, %arg13: tensor<64x2x64xf32>, %arg14: tensor<64x2x64xf32>, %arg15: tensor<64x2x64xf32>, %arg16: tensor<64x2x64xf32>, %arg17: tensor<64x2x64xf32>, %arg18: tensor<64x2x64xf32>, %arg19: tensor<64x2x64xf32>, %arg20: tensor<64x2x64xf32>, %arg21: tensor<64x2x64xf32>, %arg22: tensor<64x2x64xf32>, %arg23: tensor<64x2x64xf32>, %arg24: tensor<64x2x64xf32>, %arg25: tensor<64x2x64xf32>, %arg26: tensor<64x2x64xf32>, %arg27: tensor<64x2x64xf32>, %arg28: tensor<64x2x64xf32>, %arg29: tensor<64x2x64xf32>, %arg30: tensor<64x2x64xf32>, %arg31: tensor<64x2x64xf32>, %arg32: tensor<64x2x64xf32>, %arg33: tensor<64x2x64xf32>, %arg34: tensor<64x2x64xf32>, %arg35: tensor<64x2x64xf32>, %arg36: tensor<64x2x64xf32>, %arg37: tensor<64x2x64xf32>, %arg38: tensor<64x2x64xf32>, %arg39: tensor<64x2x64xf32>, %arg40: tensor<64x2x64xf32>, %arg41: tensor<64x2x64xf32>, %arg42: tensor<64x2x64xf32>, %arg43: tensor<64x2x64xf32>, %arg44: tensor<64x2x64xf32>, %arg45: tensor<64x2x64xf32>, %arg46: tensor<64x2x64xf32>, %arg47: tensor<64x2x64xf32>, %arg48: tensor<64x2x64xf32>, %arg49: tensor<64x2x1xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<1x2x64xf32>, tensor<1x2x64xf32>) -> tensor<64x64xf32>
    %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %2 = stablehlo.dot_general %arg1, %1, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %3 = stablehlo.dot_general %2, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %4 = stablehlo.dot_general %arg2, %3, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %5 = stablehlo.dot_general %4, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %6 = stablehlo.dot_general %arg3, %5, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %7 = stablehlo.dot_general %6, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %8 = stablehlo.dot_general %arg4, %7, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %9 = stablehlo.dot_general %8, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %10 = stablehlo.dot_general %arg5, %9, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %11 = stablehlo.dot_general %10, %arg6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %12 = stablehlo.dot_general %arg6, %11, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %13 = stablehlo.dot_general %12, %arg7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %14 = stablehlo.dot_general %arg7, %13, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %15 = stablehlo.dot_general %14, %arg8, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %16 = stablehlo.dot_general %arg8, %15, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %17 = stablehlo.dot_general %16, %arg9, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %18 = stablehlo.dot_general %arg9, %17, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %19 = stablehlo.dot_general %18, %arg10, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %20 = stablehlo.dot_general %arg10, %19, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %21 = stablehlo.dot_general %20, %arg11, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %22 = stablehlo.dot_general %arg11, %21, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %23 = stablehlo.dot_general %22, %arg12, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %24 = stablehlo.dot_general %arg12, %23, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %25 = stablehlo.dot_general %24, %arg13, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %26 = stablehlo.dot_general %arg13, %25, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %27 = stablehlo.dot_general %26, %arg14, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %28 = stablehlo.dot_general %arg14, %27, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %29 = stablehlo.dot_general %28, %arg15, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %30 = stablehlo.dot_general %arg15, %29, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %31 = stablehlo.dot_general %30, %arg16, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %32 = stablehlo.dot_general %arg16, %31, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %33 = stablehlo.dot_general %32, %arg17, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %34 = stablehlo.dot_general %arg17, %33, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %35 = stablehlo.dot_general %34, %arg18, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %36 = stablehlo.dot_general %arg18, %35, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %37 = stablehlo.dot_general %36, %arg19, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %38 = stablehlo.dot_general %arg19, %37, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %39 = stablehlo.dot_general %38, %arg20, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %40 = stablehlo.dot_general %arg20, %39, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %41 = stablehlo.dot_general %40, %arg21, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %42 = stablehlo.dot_general %arg21, %41, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %43 = stablehlo.dot_general %42, %arg22, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %44 = stablehlo.dot_general %arg22, %43, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %45 = stablehlo.dot_general %44, %arg23, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %46 = stablehlo.dot_general %arg23, %45, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %47 = stablehlo.dot_general %46, %arg24, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %48 = stablehlo.dot_general %arg24, %47, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %49 = stablehlo.dot_general %48, %arg25, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %50 = stablehlo.dot_general %arg25, %49, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %51 = stablehlo.dot_general %50, %arg26, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %52 = stablehlo.dot_general %arg26, %51, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %53 = stablehlo.dot_general %52, %arg27, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %54 = stablehlo.dot_general %arg27, %53, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %55 = stablehlo.dot_general %54, %arg28, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %56 = stablehlo.dot_general %arg28, %55, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %57 = stablehlo.dot_general %56, %arg29, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %58 = stablehlo.dot_general %arg29, %57, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %59 = stablehlo.dot_general %58, %arg30, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %60 = stablehlo.dot_general %arg30, %59, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %61 = stablehlo.dot_general %60, %arg31, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %62 = stablehlo.dot_general %arg31, %61, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %63 = stablehlo.dot_general %62, %arg32, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %64 = stablehlo.dot_general %arg32, %63, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %65 = stablehlo.dot_general %64, %arg33, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %66 = stablehlo.dot_general %arg33, %65, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %67 = stablehlo.dot_general %66, %arg34, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %68 = stablehlo.dot_general %arg34, %67, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %69 = stablehlo.dot_general %68, %arg35, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %70 = stablehlo.dot_general %arg35, %69, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %71 = stablehlo.dot_general %70, %arg36, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %72 = stablehlo.dot_general %arg36, %71, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %73 = stablehlo.dot_general %72, %arg37, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %74 = stablehlo.dot_general %arg37, %73, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %75 = stablehlo.dot_general %74, %arg38, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %76 = stablehlo.dot_general %arg38, %75, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %77 = stablehlo.dot_general %76, %arg39, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %78 = stablehlo.dot_general %arg39, %77, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %79 = stablehlo.dot_general %78, %arg40, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %80 = stablehlo.dot_general %arg40, %79, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %81 = stablehlo.dot_general %80, %arg41, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %82 = stablehlo.dot_general %arg41, %81, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %83 = stablehlo.dot_general %82, %arg42, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %84 = stablehlo.dot_general %arg42, %83, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %85 = stablehlo.dot_general %84, %arg43, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %86 = stablehlo.dot_general %arg43, %85, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %87 = stablehlo.dot_general %86, %arg44, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %88 = stablehlo.dot_general %arg44, %87, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %89 = stablehlo.dot_general %88, %arg45, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %90 = stablehlo.dot_general %arg45, %89, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %91 = stablehlo.dot_general %90, %arg46, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %92 = stablehlo.dot_general %arg46, %91, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %93 = stablehlo.dot_general %92, %arg47, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %94 = stablehlo.dot_general %arg47, %93, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %95 = stablehlo.dot_general %94, %arg48, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x64xf32>) -> tensor<64x2x64xf32>
    %96 = stablehlo.dot_general %arg48, %95, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf32>, tensor<64x2x64xf32>) -> tensor<64x64xf32>
    %97 = stablehlo.dot_general %96, %arg49, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf32>, tensor<64x2x1xf32>) -> tensor<64x2x1xf32>
    %98 = stablehlo.dot_general %arg49, %97, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x1xf32>, tensor<64x2x1xf32>) -> tensor<1x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %99 = stablehlo.reduce(%98 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1xf32>, tensor<f32>) -> tensor<f32>
    return %99 : tensor<f32>
  }
}
// workload j_matchain5_fwd_float32 value - normal:0.03 normal:0.03 normal:0.03 normal:0.03 normal:0.03
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<30x1000xf32>, %arg1: tensor<1000x40xf32>, %arg2: tensor<40x800xf32>, %arg3: tensor<800x50xf32>, %arg4: tensor<50x600xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg3, %arg2, contracting_dims = [0] x [1], precision = [DEFAULT, DEFAULT] : (tensor<800x50xf32>, tensor<40x800xf32>) -> tensor<50x40xf32>
    %1 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [0] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1000x40xf32>, tensor<30x1000xf32>) -> tensor<40x30xf32>
    %2 = stablehlo.dot_general %1, %0, contracting_dims = [0] x [1], precision = [DEFAULT, DEFAULT] : (tensor<40x30xf32>, tensor<50x40xf32>) -> tensor<30x50xf32>
    %3 = stablehlo.dot_general %2, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<30x50xf32>, tensor<50x600xf32>) -> tensor<30x600xf32>
    %4 = stablehlo.multiply %3, %3 : tensor<30x600xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<30x600xf32>, tensor<f32>) -> tensor<f32>
    return %5 : tensor<f32>
  }
}
// workload j_matchain5_grad_float32 grad 0,1,2,3,4 normal:0.03 normal:0.03 normal:0.03 normal:0.03 normal:0.03
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<30x1000xf32>, %arg1: tensor<1000x40xf32>, %arg2: tensor<40x800xf32>, %arg3: tensor<800x50xf32>, %arg4: tensor<50x600xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg3, %arg2, contracting_dims = [0] x [1], precision = [DEFAULT, DEFAULT] : (tensor<800x50xf32>, tensor<40x800xf32>) -> tensor<50x40xf32>
    %1 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [0] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1000x40xf32>, tensor<30x1000xf32>) -> tensor<40x30xf32>
    %2 = stablehlo.dot_general %1, %0, contracting_dims = [0] x [1], precision = [DEFAULT, DEFAULT] : (tensor<40x30xf32>, tensor<50x40xf32>) -> tensor<30x50xf32>
    %3 = stablehlo.dot_general %2, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<30x50xf32>, tensor<50x600xf32>) -> tensor<30x600xf32>
    %4 = stablehlo.multiply %3, %3 : tensor<30x600xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<30x600xf32>, tensor<f32>) -> tensor<f32>
    return %5 : tensor<f32>
  }
}
// workload j_ijk_jl_km_fwd_float32 value - normal:0.1 normal:0.1 normal:0.1
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x128x96xf32>, %arg1: tensor<128x112xf32>, %arg2: tensor<96x80xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<96x80xf32>, tensor<64x128x96xf32>) -> tensor<80x64x128xf32>
    %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<80x64x128xf32>, tensor<128x112xf32>) -> tensor<80x64x112xf32>
    %2 = stablehlo.transpose %1, dims = [1, 2, 0] : (tensor<80x64x112xf32>) -> tensor<64x112x80xf32>
    %3 = stablehlo.multiply %2, %2 : tensor<64x112x80xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<64x112x80xf32>, tensor<f32>) -> tensor<f32>
    return %4 : tensor<f32>
  }
}
// workload j_ijk_jl_km_grad_float32 grad 0,1,2 normal:0.1 normal:0.1 normal:0.1
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x128x96xf32>, %arg1: tensor<128x112xf32>, %arg2: tensor<96x80xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<96x80xf32>, tensor<64x128x96xf32>) -> tensor<80x64x128xf32>
    %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<80x64x128xf32>, tensor<128x112xf32>) -> tensor<80x64x112xf32>
    %2 = stablehlo.transpose %1, dims = [1, 2, 0] : (tensor<80x64x112xf32>) -> tensor<64x112x80xf32>
    %3 = stablehlo.multiply %2, %2 : tensor<64x112x80xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<64x112x80xf32>, tensor<f32>) -> tensor<f32>
    return %4 : tensor<f32>
  }
}
// workload j_mps_norm_fwd_float64 value - normal:0.7 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x2x64xf64>, %arg1: tensor<64x2x64xf64>, %arg2: tensor<64x2x64xf64>, %arg3: tensor<64x2x64xf64>, %arg4: tensor<64x2x64xf64>, %arg5: tensor<64x2x64xf64>, %arg6: tensor<64x2x64xf64>, %arg7: tensor<64x2x64xf64>, %arg8: tensor<64x2x64xf64>, %arg9: tensor<64x2x64xf64>, %arg10: tensor<64x2x64xf64>, %arg11: tensor<64x2x64xf64>, %arg12: tensor<64x2x64xf64>, %arg13: tensor<64x2x64xf64>, %arg14: tensor<64x2x64xf64>, %arg15: tensor<64x2x64xf64>, %arg16: tensor<64x2x64xf64>, %arg17: tensor<64x2x64xf64>, %arg18: tensor<64x2x64xf64>, %arg19: tensor<64x2x64xf64>, %arg20: tensor<64x2x64xf64>, %arg21: tensor<64x2x64xf64>, %arg22: tensor<64x2x64xf64>, %arg23: tensor<64x2x64xf64>, %arg24: tensor<64x2x64xf64>, %arg25: tensor<64x2x64xf64>, %arg26: tensor<64x2x64xf64>, %arg27: tensor<64x2x64xf64>, %arg28: tensor<64x2x64xf64>, %arg29: tensor<64x2x64xf64>, %arg30: tensor<64x2x64xf64>, %arg31: tensor<64x2x64xf64>, %arg32: tensor<64x2x64xf64>, %arg33: tensor<64x2x64xf64>, %arg34: tensor<64x2x64xf64>, %arg35: tensor<64x2x64xf64>, %arg36: tensor<64x2x64xf64>, %arg37: tensor<64x2x64xf64>, %arg38: tensor<64x2x64xf64>, %arg39: tensor<64x2x64xf64>, %arg40: tensor<64x2x64xf64>, %arg41: tensor<64x2x64xf64>, %arg42: tensor<64x2x64xf64>, %arg43: tensor<64x2x64xf64>, %arg44: tensor<64x2x64xf64>, %arg45: tensor<64x2x64xf64>, %arg46: tensor<64x2x64xf64>, %arg47: tensor<64x2x64xf64>, %arg48: tensor<64x2x64xf64>, %arg49: tensor<64x2x1xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<1x2x64xf64>, tensor<1x2x64xf64>) -> tensor<64x64xf64>
    %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %2 = stablehlo.dot_general %arg1, %1, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %3 = stablehlo.dot_general %2, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %4 = stablehlo.dot_general %arg2, %3, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %5 = stablehlo.dot_general %4, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %6 = stablehlo.dot_general %arg3, %5, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %7 = stablehlo.dot_general %6, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %8 = stablehlo.dot_general %arg4, %7, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %9 = stablehlo.dot_general %8, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %10 = stablehlo.dot_general %arg5, %9, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %11 = stablehlo.dot_general %10, %arg6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %12 = stablehlo.dot_general %arg6, %11, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %13 = stablehlo.dot_general %12, %arg7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %14 = stablehlo.dot_general %arg7, %13, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %15 = stablehlo.dot_general %14, %arg8, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %16 = stablehlo.dot_general %arg8, %15, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %17 = stablehlo.dot_general %16, %arg9, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %18 = stablehlo.dot_general %arg9, %17, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %19 = stablehlo.dot_general %18, %arg10, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %20 = stablehlo.dot_general %arg10, %19, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %21 = stablehlo.dot_general %20, %arg11, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %22 = stablehlo.dot_general %arg11, %21, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %23 = stablehlo.dot_general %22, %arg12, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %24 = stablehlo.dot_general %arg12, %23, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %25 = stablehlo.dot_general %24, %arg13, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %26 = stablehlo.dot_general %arg13, %25, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %27 = stablehlo.dot_general %26, %arg14, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %28 = stablehlo.dot_general %arg14, %27, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %29 = stablehlo.dot_general %28, %arg15, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %30 = stablehlo.dot_general %arg15, %29, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %31 = stablehlo.dot_general %30, %arg16, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %32 = stablehlo.dot_general %arg16, %31, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %33 = stablehlo.dot_general %32, %arg17, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %34 = stablehlo.dot_general %arg17, %33, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %35 = stablehlo.dot_general %34, %arg18, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %36 = stablehlo.dot_general %arg18, %35, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %37 = stablehlo.dot_general %36, %arg19, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %38 = stablehlo.dot_general %arg19, %37, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %39 = stablehlo.dot_general %38, %arg20, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %40 = stablehlo.dot_general %arg20, %39, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %41 = stablehlo.dot_general %40, %arg21, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %42 = stablehlo.dot_general %arg21, %41, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %43 = stablehlo.dot_general %42, %arg22, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %44 = stablehlo.dot_general %arg22, %43, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %45 = stablehlo.dot_general %44, %arg23, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %46 = stablehlo.dot_general %arg23, %45, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %47 = stablehlo.dot_general %46, %arg24, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %48 = stablehlo.dot_general %arg24, %47, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %49 = stablehlo.dot_general %48, %arg25, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %50 = stablehlo.dot_general %arg25, %49, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %51 = stablehlo.dot_general %50, %arg26, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %52 = stablehlo.dot_general %arg26, %51, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %53 = stablehlo.dot_general %52, %arg27, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %54 = stablehlo.dot_general %arg27, %53, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %55 = stablehlo.dot_general %54, %arg28, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %56 = stablehlo.dot_general %arg28, %55, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %57 = stablehlo.dot_general %56, %arg29, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %58 = stablehlo.dot_general %arg29, %57, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %59 = stablehlo.dot_general %58, %arg30, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %60 = stablehlo.dot_general %arg30, %59, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %61 = stablehlo.dot_general %60, %arg31, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %62 = stablehlo.dot_general %arg31, %61, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %63 = stablehlo.dot_general %62, %arg32, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %64 = stablehlo.dot_general %arg32, %63, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %65 = stablehlo.dot_general %64, %arg33, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %66 = stablehlo.dot_general %arg33, %65, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %67 = stablehlo.dot_general %66, %arg34, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %68 = stablehlo.dot_general %arg34, %67, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %69 = stablehlo.dot_general %68, %arg35, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %70 = stablehlo.dot_general %arg35, %69, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %71 = stablehlo.dot_general %70, %arg36, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %72 = stablehlo.dot_general %arg36, %71, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %73 = stablehlo.dot_general %72, %arg37, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %74 = stablehlo.dot_general %arg37, %73, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %75 = stablehlo.dot_general %74, %arg38, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %76 = stablehlo.dot_general %arg38, %75, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %77 = stablehlo.dot_general %76, %arg39, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %78 = stablehlo.dot_general %arg39, %77, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %79 = stablehlo.dot_general %78, %arg40, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %80 = stablehlo.dot_general %arg40, %79, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %81 = stablehlo.dot_general %80, %arg41, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %82 = stablehlo.dot_general %arg41, %81, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %83 = stablehlo.dot_general %82, %arg42, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %84 = stablehlo.dot_general %arg42, %83, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %85 = stablehlo.dot_general %84, %arg43, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %86 = stablehlo.dot_general %arg43, %85, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %87 = stablehlo.dot_general %86, %arg44, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %88 = stablehlo.dot_general %arg44, %87, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %89 = stablehlo.dot_general %88, %arg45, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %90 = stablehlo.dot_general %arg45, %89, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %91 = stablehlo.dot_general %90, %arg46, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %92 = stablehlo.dot_general %arg46, %91, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %93 = stablehlo.dot_general %92, %arg47, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %94 = stablehlo.dot_general %arg47, %93, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %95 = stablehlo.dot_general %94, %arg48, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %96 = stablehlo.dot_general %arg48, %95, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %97 = stablehlo.dot_general %96, %arg49, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x1xf64>) -> tensor<64x2x1xf64>
    %98 = stablehlo.dot_general %arg49, %97, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x1xf64>, tensor<64x2x1xf64>) -> tensor<1x1xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %99 = stablehlo.reduce(%98 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1xf64>, tensor<f64>) -> tensor<f64>
    return %99 : tensor<f64>
  }
}
// workload j_mps_norm_grad_float64 grad 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49 normal:0.7 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884 normal:0.0884
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x2x64xf64>, %arg1: tensor<64x2x64xf64>, %arg2: tensor<64x2x64xf64>, %arg3: tensor<64x2x64xf64>, %arg4: tensor<64x2x64xf64>, %arg5: tensor<64x2x64xf64>, %arg6: tensor<64x2x64xf64>, %arg7: tensor<64x2x64xf64>, %arg8: tensor<64x2x64xf64>, %arg9: tensor<64x2x64xf64>, %arg10: tensor<64x2x64xf64>, %arg11: tensor<64x2x64xf64>, %arg12: tensor<64x2x64xf64>, %arg13: tensor<64x2x64xf64>, %arg14: tensor<64x2x64xf64>, %arg15: tensor<64x2x64xf64>, %arg16: tensor<64x2x64xf64>, %arg17: tensor<64x2x64xf64>, %arg18: tensor<64x2x64xf64>, %arg19: tensor<64x2x64xf64>, %arg20: tensor<64x2x64xf64>, %arg21: tensor<64x2x64xf64>, %arg22: tensor<64x2x64xf64>, %arg23: tensor<64x2x64xf64>, %arg24: tensor<64x2x64xf64>, %arg25: tensor<64x2x64xf64>, %arg26: tensor<64x2x64xf64>, %arg27: tensor<64x2x64xf64>, %arg28: tensor<64x2x64xf64>, %arg29: tensor<64x2x64xf64>, %arg30: tensor<64x2x64xf64>, %arg31: tensor<64x2x64xf64>, %arg32: tensor<64x2x64xf64>, %arg33: tensor<64x2x64xf64>, %arg34: tensor<64x2x64xf64>, %arg35: tensor<64x2x64xf64>, %arg36: tensor<64x2x64xf64>, %arg37: tensor<64x2x64xf64>, %arg38: tensor<64x2x64xf64>, %arg39: tensor<64x2x64xf64>, %arg40: tensor<64x2x64xf64>, %arg41: tensor<64x2x64xf64>, %arg42: tensor<64x2x64xf64>, %arg43: tensor<64x2x64xf64>, %arg44: tensor<64x2x64xf64>, %arg45: tensor<64x2x64xf64>, %arg46: tensor<64x2x64xf64>, %arg47: tensor<64x2x64xf64>, %arg48: tensor<64x2x64xf64>, %arg49: tensor<64x2x1xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<1x2x64xf64>, tensor<1x2x64xf64>) -> tensor<64x64xf64>
    %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %2 = stablehlo.dot_general %arg1, %1, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %3 = stablehlo.dot_general %2, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %4 = stablehlo.dot_general %arg2, %3, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %5 = stablehlo.dot_general %4, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %6 = stablehlo.dot_general %arg3, %5, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %7 = stablehlo.dot_general %6, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %8 = stablehlo.dot_general %arg4, %7, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %9 = stablehlo.dot_general %8, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %10 = stablehlo.dot_general %arg5, %9, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %11 = stablehlo.dot_general %10, %arg6, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %12 = stablehlo.dot_general %arg6, %11, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %13 = stablehlo.dot_general %12, %arg7, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %14 = stablehlo.dot_general %arg7, %13, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %15 = stablehlo.dot_general %14, %arg8, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %16 = stablehlo.dot_general %arg8, %15, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %17 = stablehlo.dot_general %16, %arg9, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %18 = stablehlo.dot_general %arg9, %17, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %19 = stablehlo.dot_general %18, %arg10, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %20 = stablehlo.dot_general %arg10, %19, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %21 = stablehlo.dot_general %20, %arg11, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %22 = stablehlo.dot_general %arg11, %21, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %23 = stablehlo.dot_general %22, %arg12, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %24 = stablehlo.dot_general %arg12, %23, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %25 = stablehlo.dot_general %24, %arg13, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %26 = stablehlo.dot_general %arg13, %25, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %27 = stablehlo.dot_general %26, %arg14, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %28 = stablehlo.dot_general %arg14, %27, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %29 = stablehlo.dot_general %28, %arg15, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %30 = stablehlo.dot_general %arg15, %29, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %31 = stablehlo.dot_general %30, %arg16, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %32 = stablehlo.dot_general %arg16, %31, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %33 = stablehlo.dot_general %32, %arg17, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %34 = stablehlo.dot_general %arg17, %33, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %35 = stablehlo.dot_general %34, %arg18, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %36 = stablehlo.dot_general %arg18, %35, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %37 = stablehlo.dot_general %36, %arg19, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %38 = stablehlo.dot_general %arg19, %37, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %39 = stablehlo.dot_general %38, %arg20, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %40 = stablehlo.dot_general %arg20, %39, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %41 = stablehlo.dot_general %40, %arg21, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %42 = stablehlo.dot_general %arg21, %41, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %43 = stablehlo.dot_general %42, %arg22, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %44 = stablehlo.dot_general %arg22, %43, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %45 = stablehlo.dot_general %44, %arg23, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %46 = stablehlo.dot_general %arg23, %45, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %47 = stablehlo.dot_general %46, %arg24, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %48 = stablehlo.dot_general %arg24, %47, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %49 = stablehlo.dot_general %48, %arg25, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %50 = stablehlo.dot_general %arg25, %49, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %51 = stablehlo.dot_general %50, %arg26, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %52 = stablehlo.dot_general %arg26, %51, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %53 = stablehlo.dot_general %52, %arg27, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %54 = stablehlo.dot_general %arg27, %53, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %55 = stablehlo.dot_general %54, %arg28, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %56 = stablehlo.dot_general %arg28, %55, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %57 = stablehlo.dot_general %56, %arg29, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %58 = stablehlo.dot_general %arg29, %57, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %59 = stablehlo.dot_general %58, %arg30, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %60 = stablehlo.dot_general %arg30, %59, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %61 = stablehlo.dot_general %60, %arg31, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %62 = stablehlo.dot_general %arg31, %61, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %63 = stablehlo.dot_general %62, %arg32, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %64 = stablehlo.dot_general %arg32, %63, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %65 = stablehlo.dot_general %64, %arg33, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %66 = stablehlo.dot_general %arg33, %65, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %67 = stablehlo.dot_general %66, %arg34, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %68 = stablehlo.dot_general %arg34, %67, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %69 = stablehlo.dot_general %68, %arg35, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %70 = stablehlo.dot_general %arg35, %69, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %71 = stablehlo.dot_general %70, %arg36, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %72 = stablehlo.dot_general %arg36, %71, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %73 = stablehlo.dot_general %72, %arg37, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %74 = stablehlo.dot_general %arg37, %73, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %75 = stablehlo.dot_general %74, %arg38, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %76 = stablehlo.dot_general %arg38, %75, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %77 = stablehlo.dot_general %76, %arg39, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %78 = stablehlo.dot_general %arg39, %77, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %79 = stablehlo.dot_general %78, %arg40, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %80 = stablehlo.dot_general %arg40, %79, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %81 = stablehlo.dot_general %80, %arg41, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %82 = stablehlo.dot_general %arg41, %81, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %83 = stablehlo.dot_general %82, %arg42, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %84 = stablehlo.dot_general %arg42, %83, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %85 = stablehlo.dot_general %84, %arg43, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %86 = stablehlo.dot_general %arg43, %85, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %87 = stablehlo.dot_general %86, %arg44, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %88 = stablehlo.dot_general %arg44, %87, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %89 = stablehlo.dot_general %88, %arg45, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %90 = stablehlo.dot_general %arg45, %89, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %91 = stablehlo.dot_general %90, %arg46, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %92 = stablehlo.dot_general %arg46, %91, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %93 = stablehlo.dot_general %92, %arg47, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %94 = stablehlo.dot_general %arg47, %93, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %95 = stablehlo.dot_general %94, %arg48, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x64xf64>) -> tensor<64x2x64xf64>
    %96 = stablehlo.dot_general %arg48, %95, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x64xf64>, tensor<64x2x64xf64>) -> tensor<64x64xf64>
    %97 = stablehlo.dot_general %96, %arg49, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<64x64xf64>, tensor<64x2x1xf64>) -> tensor<64x2x1xf64>
    %98 = stablehlo.dot_general %arg49, %97, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<64x2x1xf64>, tensor<64x2x1xf64>) -> tensor<1x1xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %99 = stablehlo.reduce(%98 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1xf64>, tensor<f64>) -> tensor<f64>
    return %99 : tensor<f64>
  }
}
// workload j_matchain5_fwd_float64 value - normal:0.03 normal:0.03 normal:0.03 normal:0.03 normal:0.03
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<30x1000xf64>, %arg1: tensor<1000x40xf64>, %arg2: tensor<40x800xf64>, %arg3: tensor<800x50xf64>, %arg4: tensor<50x600xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg3, %arg2, contracting_dims = [0] x [1], precision = [DEFAULT, DEFAULT] : (tensor<800x50xf64>, tensor<40x800xf64>) -> tensor<50x40xf64>
    %1 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [0] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1000x40xf64>, tensor<30x1000xf64>) -> tensor<40x30xf64>
    %2 = stablehlo.dot_general %1, %0, contracting_dims = [0] x [1], precision = [DEFAULT, DEFAULT] : (tensor<40x30xf64>, tensor<50x40xf64>) -> tensor<30x50xf64>
    %3 = stablehlo.dot_general %2, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<30x50xf64>, tensor<50x600xf64>) -> tensor<30x600xf64>
    %4 = stablehlo.multiply %3, %3 : tensor<30x600xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %5 = stablehlo.reduce(%4 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<30x600xf64>, tensor<f64>) -> tensor<f64>
    return %5 : tensor<f64>
  }
}
// workload j_matchain5_grad_float64 grad 0,1,2,3,4 normal:0.03 normal:0.03 normal:0.03 normal:0.03 normal:0.03
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<30x1000xf64>, %arg1: tensor<1000x40xf64>, %arg2: tensor<40x800xf64>, %arg3: tensor<800x50xf64>, %arg4: tensor<50x600xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg3, %arg2, contracting_dims = [0] x [1], precision = [DEFAULT, DEFAULT] : (tensor<800x50xf64>, tensor<40x800xf64>) -> tensor<50x40xf64>
    %1 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [0] x [1], precision = [DEFAULT, DEFAULT] : (tensor<1000x40xf64>, tensor<30x1000xf64>) -> tensor<40x30xf64>
    %2 = stablehlo.dot_general %1, %0, contracting_dims = [0] x [1], precision = [DEFAULT, DEFAULT] : (tensor<40x30xf64>, tensor<50x40xf64>) -> tensor<30x50xf64>
    %3 = stablehlo.dot_general %2, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<30x50xf64>, tensor<50x600xf64>) -> tensor<30x600xf64>
    %4 = stablehlo.multiply %3, %3 : tensor<30x600xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %5 = stablehlo.reduce(%4 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<30x600xf64>, tensor<f64>) -> tensor<f64>
    return %5 : tensor<f64>
  }
}
// workload j_ijk_jl_km_fwd_float64 value - normal:0.1 normal:0.1 normal:0.1
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x128x96xf64>, %arg1: tensor<128x112xf64>, %arg2: tensor<96x80xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<96x80xf64>, tensor<64x128x96xf64>) -> tensor<80x64x128xf64>
    %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<80x64x128xf64>, tensor<128x112xf64>) -> tensor<80x64x112xf64>
    %2 = stablehlo.transpose %1, dims = [1, 2, 0] : (tensor<80x64x112xf64>) -> tensor<64x112x80xf64>
    %3 = stablehlo.multiply %2, %2 : tensor<64x112x80xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<64x112x80xf64>, tensor<f64>) -> tensor<f64>
    return %4 : tensor<f64>
  }
}
// workload j_ijk_jl_km_grad_float64 grad 0,1,2 normal:0.1 normal:0.1 normal:0.1
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<64x128x96xf64>, %arg1: tensor<128x112xf64>, %arg2: tensor<96x80xf64>) -> (tensor<f64> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<96x80xf64>, tensor<64x128x96xf64>) -> tensor<80x64x128xf64>
    %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<80x64x128xf64>, tensor<128x112xf64>) -> tensor<80x64x112xf64>
    %2 = stablehlo.transpose %1, dims = [1, 2, 0] : (tensor<80x64x112xf64>) -> tensor<64x112x80xf64>
    %3 = stablehlo.multiply %2, %2 : tensor<64x112x80xf64>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<64x112x80xf64>, tensor<f64>) -> tensor<f64>
    return %4 : tensor<f64>
  }
}
// workload b_compile_mlp first_gradient 1,2,3,4 normal:0.05 normal:0.05 normal:0.05 normal:0.05 normal:0.05
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<256x784xf32>, %arg1: tensor<784x512xf32>, %arg2: tensor<512xf32>, %arg3: tensor<512x10xf32>, %arg4: tensor<10xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x784xf32>, tensor<784x512xf32>) -> tensor<256x512xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<512xf32>) -> tensor<1x512xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x512xf32>) -> tensor<256x512xf32>
    %3 = stablehlo.add %0, %2 : tensor<256x512xf32>
    %4 = stablehlo.tanh %3 : tensor<256x512xf32>
    %5 = stablehlo.dot_general %4, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xf32>, tensor<512x10xf32>) -> tensor<256x10xf32>
    %6 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<256x10xf32>
    %8 = stablehlo.add %5, %7 : tensor<256x10xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<256x10xf32>, tensor<f32>) -> tensor<256xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %11 = stablehlo.maximum %10, %9 : tensor<256xf32>
    %12 = stablehlo.is_finite %11 : (tensor<256xf32>) -> tensor<256xi1>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %14 = stablehlo.select %12, %11, %13 : tensor<256xi1>, tensor<256xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0] : (tensor<256xf32>) -> tensor<256x1xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1] : (tensor<256x1xf32>) -> tensor<256x10xf32>
    %17 = stablehlo.subtract %8, %16 : tensor<256x10xf32>
    %18 = stablehlo.exponential %17 : tensor<256x10xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%18 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<256x10xf32>, tensor<f32>) -> tensor<256xf32>
    %20 = stablehlo.abs %19 : tensor<256xf32>
    %21 = stablehlo.log %20 : tensor<256xf32>
    %22 = stablehlo.add %21, %14 : tensor<256xf32>
    %23 = stablehlo.dot_general %4, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xf32>, tensor<512x10xf32>) -> tensor<256x10xf32>
    %24 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<256x10xf32>
    %26 = stablehlo.add %23, %25 : tensor<256x10xf32>
    %27 = stablehlo.slice %26 [0:256, 0:1] : (tensor<256x10xf32>) -> tensor<256x1xf32>
    %28 = stablehlo.reshape %27 : (tensor<256x1xf32>) -> tensor<256xf32>
    %29 = stablehlo.subtract %22, %28 : tensor<256xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.reduce(%29 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<256xf32>, tensor<f32>) -> tensor<f32>
    %cst_4 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %31 = stablehlo.divide %30, %cst_4 : tensor<f32>
    return %31 : tensor<f32>
  }
}
// workload b_compile_gpt first_gradient 1,2,3,4,5,6,7,8,9,10,11,12 normal:1.0 value:1 value:0 normal:0.05 value:0 normal:0.05 value:0 value:1 value:0 normal:0.05 value:0 normal:0.05 value:0
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x128x256xf32>, %arg1: tensor<256xf32>, %arg2: tensor<256xf32>, %arg3: tensor<256x768xf32>, %arg4: tensor<768xf32>, %arg5: tensor<256x256xf32>, %arg6: tensor<256xf32>, %arg7: tensor<256xf32>, %arg8: tensor<256xf32>, %arg9: tensor<256x1024xf32>, %arg10: tensor<1024xf32>, %arg11: tensor<1024x256xf32>, %arg12: tensor<256xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_0 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %3 = stablehlo.divide %1, %2 : tensor<8x128x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<8x128x256xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<8x128x256xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_2 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %10 = stablehlo.divide %8, %9 : tensor<8x128x1xf32>
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %12 = stablehlo.add %10, %11 : tensor<8x128x1xf32>
    %13 = stablehlo.rsqrt %12 : tensor<8x128x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %15 = stablehlo.multiply %5, %14 : tensor<8x128x256xf32>
    %16 = stablehlo.broadcast_in_dim %arg1, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %18 = stablehlo.multiply %15, %17 : tensor<8x128x256xf32>
    %19 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %21 = stablehlo.add %18, %20 : tensor<8x128x256xf32>
    %22 = stablehlo.dot_general %21, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<256x768xf32>) -> tensor<8x128x768xf32>
    %23 = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<8x128x768xf32>
    %25 = stablehlo.add %22, %24 : tensor<8x128x768xf32>
    %26 = stablehlo.reshape %25 : (tensor<8x128x768xf32>) -> tensor<8x128x3x8x32xf32>
    %27 = stablehlo.transpose %26, dims = [2, 0, 3, 1, 4] : (tensor<8x128x3x8x32xf32>) -> tensor<3x8x8x128x32xf32>
    %28 = stablehlo.slice %27 [0:1, 0:8, 0:8, 0:128, 0:32] : (tensor<3x8x8x128x32xf32>) -> tensor<1x8x8x128x32xf32>
    %29 = stablehlo.reshape %28 : (tensor<1x8x8x128x32xf32>) -> tensor<8x8x128x32xf32>
    %30 = stablehlo.slice %27 [1:2, 0:8, 0:8, 0:128, 0:32] : (tensor<3x8x8x128x32xf32>) -> tensor<1x8x8x128x32xf32>
    %31 = stablehlo.reshape %30 : (tensor<1x8x8x128x32xf32>) -> tensor<8x8x128x32xf32>
    %32 = stablehlo.transpose %31, dims = [0, 1, 3, 2] : (tensor<8x8x128x32xf32>) -> tensor<8x8x32x128xf32>
    %33 = stablehlo.dot_general %29, %32, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x128x32xf32>, tensor<8x8x32x128xf32>) -> tensor<8x8x128x128xf32>
    %cst_4 = stablehlo.constant dense<0.176776692> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x8x128x128xf32>
    %35 = stablehlo.multiply %33, %34 : tensor<8x8x128x128xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<128x128xf32>
    %37 = call @triu(%36) : (tensor<128x128xf32>) -> tensor<128x128xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [2, 3] : (tensor<128x128xf32>) -> tensor<1x1x128x128xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2, 3] : (tensor<1x1x128x128xf32>) -> tensor<8x8x128x128xf32>
    %40 = stablehlo.add %35, %39 : tensor<8x8x128x128xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %41 = stablehlo.reduce(%40 init: %cst_6) applies stablehlo.maximum across dimensions = [3] : (tensor<8x8x128x128xf32>, tensor<f32>) -> tensor<8x8x128xf32>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<8x8x128xf32>
    %43 = stablehlo.maximum %42, %41 : tensor<8x8x128xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2] : (tensor<8x8x128xf32>) -> tensor<8x8x128x1xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2, 3] : (tensor<8x8x128x1xf32>) -> tensor<8x8x128x128xf32>
    %46 = stablehlo.subtract %40, %45 : tensor<8x8x128x128xf32>
    %47 = stablehlo.exponential %46 : tensor<8x8x128x128xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.reduce(%47 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<8x8x128x128xf32>, tensor<f32>) -> tensor<8x8x128xf32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [0, 1, 2] : (tensor<8x8x128xf32>) -> tensor<8x8x128x1xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0, 1, 2, 3] : (tensor<8x8x128x1xf32>) -> tensor<8x8x128x128xf32>
    %51 = stablehlo.divide %47, %50 : tensor<8x8x128x128xf32>
    %52 = stablehlo.slice %27 [2:3, 0:8, 0:8, 0:128, 0:32] : (tensor<3x8x8x128x32xf32>) -> tensor<1x8x8x128x32xf32>
    %53 = stablehlo.reshape %52 : (tensor<1x8x8x128x32xf32>) -> tensor<8x8x128x32xf32>
    %54 = stablehlo.dot_general %51, %53, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x8x128x128xf32>, tensor<8x8x128x32xf32>) -> tensor<8x8x128x32xf32>
    %55 = stablehlo.transpose %54, dims = [0, 2, 1, 3] : (tensor<8x8x128x32xf32>) -> tensor<8x128x8x32xf32>
    %56 = stablehlo.reshape %55 : (tensor<8x128x8x32xf32>) -> tensor<8x128x256xf32>
    %57 = stablehlo.dot_general %56, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<256x256xf32>) -> tensor<8x128x256xf32>
    %58 = stablehlo.add %arg0, %57 : tensor<8x128x256xf32>
    %59 = stablehlo.broadcast_in_dim %arg6, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %61 = stablehlo.add %58, %60 : tensor<8x128x256xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %62 = stablehlo.reduce(%61 init: %cst_9) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %63 = stablehlo.broadcast_in_dim %62, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_10 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %64 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %65 = stablehlo.divide %63, %64 : tensor<8x128x1xf32>
    %66 = stablehlo.broadcast_in_dim %65, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %67 = stablehlo.subtract %61, %66 : tensor<8x128x256xf32>
    %68 = stablehlo.multiply %67, %67 : tensor<8x128x256xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %69 = stablehlo.reduce(%68 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %70 = stablehlo.broadcast_in_dim %69, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_12 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %71 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %72 = stablehlo.divide %70, %71 : tensor<8x128x1xf32>
    %cst_13 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %74 = stablehlo.add %72, %73 : tensor<8x128x1xf32>
    %75 = stablehlo.rsqrt %74 : tensor<8x128x1xf32>
    %76 = stablehlo.broadcast_in_dim %75, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %77 = stablehlo.multiply %67, %76 : tensor<8x128x256xf32>
    %78 = stablehlo.broadcast_in_dim %arg7, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %79 = stablehlo.broadcast_in_dim %78, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %80 = stablehlo.multiply %77, %79 : tensor<8x128x256xf32>
    %81 = stablehlo.broadcast_in_dim %arg8, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %82 = stablehlo.broadcast_in_dim %81, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %83 = stablehlo.add %80, %82 : tensor<8x128x256xf32>
    %84 = stablehlo.dot_general %83, %arg9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<256x1024xf32>) -> tensor<8x128x1024xf32>
    %85 = stablehlo.broadcast_in_dim %arg10, dims = [2] : (tensor<1024xf32>) -> tensor<1x1x1024xf32>
    %86 = stablehlo.broadcast_in_dim %85, dims = [0, 1, 2] : (tensor<1x1x1024xf32>) -> tensor<8x128x1024xf32>
    %87 = stablehlo.add %84, %86 : tensor<8x128x1024xf32>
    %88 = stablehlo.multiply %87, %87 : tensor<8x128x1024xf32>
    %89 = stablehlo.multiply %88, %87 : tensor<8x128x1024xf32>
    %cst_14 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %90 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %91 = stablehlo.multiply %90, %89 : tensor<8x128x1024xf32>
    %92 = stablehlo.add %87, %91 : tensor<8x128x1024xf32>
    %cst_15 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %93 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %94 = stablehlo.multiply %93, %92 : tensor<8x128x1024xf32>
    %95 = stablehlo.tanh %94 : tensor<8x128x1024xf32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %96 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %97 = stablehlo.add %96, %95 : tensor<8x128x1024xf32>
    %cst_17 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %98 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %99 = stablehlo.multiply %98, %97 : tensor<8x128x1024xf32>
    %100 = stablehlo.multiply %87, %99 : tensor<8x128x1024xf32>
    %101 = stablehlo.dot_general %100, %arg11, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128x1024xf32>, tensor<1024x256xf32>) -> tensor<8x128x256xf32>
    %102 = stablehlo.add %61, %101 : tensor<8x128x256xf32>
    %103 = stablehlo.broadcast_in_dim %arg12, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %104 = stablehlo.broadcast_in_dim %103, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %105 = stablehlo.add %102, %104 : tensor<8x128x256xf32>
    %106 = stablehlo.multiply %105, %105 : tensor<8x128x256xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %107 = stablehlo.reduce(%106 init: %cst_18) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<f32>
    %cst_19 = stablehlo.constant dense<2.621440e+05> : tensor<f32>
    %108 = stablehlo.divide %107, %cst_19 : tensor<f32>
    return %108 : tensor<f32>
  }
  func.func private @triu(%arg0: tensor<128x128xf32>) -> tensor<128x128xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<128x128xi64>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<128x128xi64>
    %2 = stablehlo.add %0, %1 : tensor<128x128xi64>
    %3 = stablehlo.iota dim = 1 : tensor<128x128xi64>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<128x128xi64>, tensor<128x128xi64>) -> tensor<128x128xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<128x128xf32>
    %6 = stablehlo.select %4, %5, %arg0 : tensor<128x128xi1>, tensor<128x128xf32>
    return %6 : tensor<128x128xf32>
  }
}
// workload b_compile_chain200 first_gradient 0 value:0.5
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<10xf32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<10xf32>
    %cst_0 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %3 = stablehlo.add %1, %2 : tensor<10xf32>
    %4 = stablehlo.tanh %3 : tensor<10xf32>
    %cst_1 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %6 = stablehlo.multiply %4, %5 : tensor<10xf32>
    %cst_2 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %8 = stablehlo.add %6, %7 : tensor<10xf32>
    %9 = stablehlo.tanh %8 : tensor<10xf32>
    %cst_3 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %11 = stablehlo.multiply %9, %10 : tensor<10xf32>
    %cst_4 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %13 = stablehlo.add %11, %12 : tensor<10xf32>
    %14 = stablehlo.tanh %13 : tensor<10xf32>
    %cst_5 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %16 = stablehlo.multiply %14, %15 : tensor<10xf32>
    %cst_6 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %18 = stablehlo.add %16, %17 : tensor<10xf32>
    %19 = stablehlo.tanh %18 : tensor<10xf32>
    %cst_7 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %21 = stablehlo.multiply %19, %20 : tensor<10xf32>
    %cst_8 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %23 = stablehlo.add %21, %22 : tensor<10xf32>
    %24 = stablehlo.tanh %23 : tensor<10xf32>
    %cst_9 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %26 = stablehlo.multiply %24, %25 : tensor<10xf32>
    %cst_10 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %28 = stablehlo.add %26, %27 : tensor<10xf32>
    %29 = stablehlo.tanh %28 : tensor<10xf32>
    %cst_11 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %31 = stablehlo.multiply %29, %30 : tensor<10xf32>
    %cst_12 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %33 = stablehlo.add %31, %32 : tensor<10xf32>
    %34 = stablehlo.tanh %33 : tensor<10xf32>
    %cst_13 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %36 = stablehlo.multiply %34, %35 : tensor<10xf32>
    %cst_14 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %38 = stablehlo.add %36, %37 : tensor<10xf32>
    %39 = stablehlo.tanh %38 : tensor<10xf32>
    %cst_15 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %41 = stablehlo.multiply %39, %40 : tensor<10xf32>
    %cst_16 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %43 = stablehlo.add %41, %42 : tensor<10xf32>
    %44 = stablehlo.tanh %43 : tensor<10xf32>
    %cst_17 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %46 = stablehlo.multiply %44, %45 : tensor<10xf32>
    %cst_18 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %48 = stablehlo.add %46, %47 : tensor<10xf32>
    %49 = stablehlo.tanh %48 : tensor<10xf32>
    %cst_19 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %51 = stablehlo.multiply %49, %50 : tensor<10xf32>
    %cst_20 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %53 = stablehlo.add %51, %52 : tensor<10xf32>
    %54 = stablehlo.tanh %53 : tensor<10xf32>
    %cst_21 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %56 = stablehlo.multiply %54, %55 : tensor<10xf32>
    %cst_22 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %57 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %58 = stablehlo.add %56, %57 : tensor<10xf32>
    %59 = stablehlo.tanh %58 : tensor<10xf32>
    %cst_23 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %61 = stablehlo.multiply %59, %60 : tensor<10xf32>
    %cst_24 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %63 = stablehlo.add %61, %62 : tensor<10xf32>
    %64 = stablehlo.tanh %63 : tensor<10xf32>
    %cst_25 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %66 = stablehlo.multiply %64, %65 : tensor<10xf32>
    %cst_26 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %68 = stablehlo.add %66, %67 : tensor<10xf32>
    %69 = stablehlo.tanh %68 : tensor<10xf32>
    %cst_27 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %71 = stablehlo.multiply %69, %70 : tensor<10xf32>
    %cst_28 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %73 = stablehlo.add %71, %72 : tensor<10xf32>
    %74 = stablehlo.tanh %73 : tensor<10xf32>
    %cst_29 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %76 = stablehlo.multiply %74, %75 : tensor<10xf32>
    %cst_30 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %78 = stablehlo.add %76, %77 : tensor<10xf32>
    %79 = stablehlo.tanh %78 : tensor<10xf32>
    %cst_31 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %81 = stablehlo.multiply %79, %80 : tensor<10xf32>
    %cst_32 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %82 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %83 = stablehlo.add %81, %82 : tensor<10xf32>
    %84 = stablehlo.tanh %83 : tensor<10xf32>
    %cst_33 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %85 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %86 = stablehlo.multiply %84, %85 : tensor<10xf32>
    %cst_34 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %87 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %88 = stablehlo.add %86, %87 : tensor<10xf32>
    %89 = stablehlo.tanh %88 : tensor<10xf32>
    %cst_35 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %90 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %91 = stablehlo.multiply %89, %90 : tensor<10xf32>
    %cst_36 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %92 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %93 = stablehlo.add %91, %92 : tensor<10xf32>
    %94 = stablehlo.tanh %93 : tensor<10xf32>
    %cst_37 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %95 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %96 = stablehlo.multiply %94, %95 : tensor<10xf32>
    %cst_38 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %98 = stablehlo.add %96, %97 : tensor<10xf32>
    %99 = stablehlo.tanh %98 : tensor<10xf32>
    %cst_39 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %100 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %101 = stablehlo.multiply %99, %100 : tensor<10xf32>
    %cst_40 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %102 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %103 = stablehlo.add %101, %102 : tensor<10xf32>
    %104 = stablehlo.tanh %103 : tensor<10xf32>
    %cst_41 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %105 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %106 = stablehlo.multiply %104, %105 : tensor<10xf32>
    %cst_42 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %107 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %108 = stablehlo.add %106, %107 : tensor<10xf32>
    %109 = stablehlo.tanh %108 : tensor<10xf32>
    %cst_43 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %110 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %111 = stablehlo.multiply %109, %110 : tensor<10xf32>
    %cst_44 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %112 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %113 = stablehlo.add %111, %112 : tensor<10xf32>
    %114 = stablehlo.tanh %113 : tensor<10xf32>
    %cst_45 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %115 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %116 = stablehlo.multiply %114, %115 : tensor<10xf32>
    %cst_46 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %cst_46, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %118 = stablehlo.add %116, %117 : tensor<10xf32>
    %119 = stablehlo.tanh %118 : tensor<10xf32>
    %cst_47 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %120 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %121 = stablehlo.multiply %119, %120 : tensor<10xf32>
    %cst_48 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %122 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %123 = stablehlo.add %121, %122 : tensor<10xf32>
    %124 = stablehlo.tanh %123 : tensor<10xf32>
    %cst_49 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %125 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %126 = stablehlo.multiply %124, %125 : tensor<10xf32>
    %cst_50 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %127 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %128 = stablehlo.add %126, %127 : tensor<10xf32>
    %129 = stablehlo.tanh %128 : tensor<10xf32>
    %cst_51 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %130 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %131 = stablehlo.multiply %129, %130 : tensor<10xf32>
    %cst_52 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %132 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %133 = stablehlo.add %131, %132 : tensor<10xf32>
    %134 = stablehlo.tanh %133 : tensor<10xf32>
    %cst_53 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %135 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %136 = stablehlo.multiply %134, %135 : tensor<10xf32>
    %cst_54 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %137 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %138 = stablehlo.add %136, %137 : tensor<10xf32>
    %139 = stablehlo.tanh %138 : tensor<10xf32>
    %cst_55 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %140 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %141 = stablehlo.multiply %139, %140 : tensor<10xf32>
    %cst_56 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %142 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %143 = stablehlo.add %141, %142 : tensor<10xf32>
    %144 = stablehlo.tanh %143 : tensor<10xf32>
    %cst_57 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %145 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %146 = stablehlo.multiply %144, %145 : tensor<10xf32>
    %cst_58 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %147 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %148 = stablehlo.add %146, %147 : tensor<10xf32>
    %149 = stablehlo.tanh %148 : tensor<10xf32>
    %cst_59 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %150 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %151 = stablehlo.multiply %149, %150 : tensor<10xf32>
    %cst_60 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %152 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %153 = stablehlo.add %151, %152 : tensor<10xf32>
    %154 = stablehlo.tanh %153 : tensor<10xf32>
    %cst_61 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %155 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %156 = stablehlo.multiply %154, %155 : tensor<10xf32>
    %cst_62 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %157 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %158 = stablehlo.add %156, %157 : tensor<10xf32>
    %159 = stablehlo.tanh %158 : tensor<10xf32>
    %cst_63 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %160 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %161 = stablehlo.multiply %159, %160 : tensor<10xf32>
    %cst_64 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %162 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %163 = stablehlo.add %161, %162 : tensor<10xf32>
    %164 = stablehlo.tanh %163 : tensor<10xf32>
    %cst_65 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %165 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %166 = stablehlo.multiply %164, %165 : tensor<10xf32>
    %cst_66 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %167 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %168 = stablehlo.add %166, %167 : tensor<10xf32>
    %169 = stablehlo.tanh %168 : tensor<10xf32>
    %cst_67 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %170 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %171 = stablehlo.multiply %169, %170 : tensor<10xf32>
    %cst_68 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %172 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %173 = stablehlo.add %171, %172 : tensor<10xf32>
    %174 = stablehlo.tanh %173 : tensor<10xf32>
    %cst_69 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %175 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %176 = stablehlo.multiply %174, %175 : tensor<10xf32>
    %cst_70 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %177 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %178 = stablehlo.add %176, %177 : tensor<10xf32>
    %179 = stablehlo.tanh %178 : tensor<10xf32>
    %cst_71 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %180 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %181 = stablehlo.multiply %179, %180 : tensor<10xf32>
    %cst_72 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %182 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %183 = stablehlo.add %181, %182 : tensor<10xf32>
    %184 = stablehlo.tanh %183 : tensor<10xf32>
    %cst_73 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %185 = stablehlo.broadcast_in_dim %cst_73, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %186 = stablehlo.multiply %184, %185 : tensor<10xf32>
    %cst_74 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %187 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %188 = stablehlo.add %186, %187 : tensor<10xf32>
    %189 = stablehlo.tanh %188 : tensor<10xf32>
    %cst_75 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %190 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %191 = stablehlo.multiply %189, %190 : tensor<10xf32>
    %cst_76 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %192 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %193 = stablehlo.add %191, %192 : tensor<10xf32>
    %194 = stablehlo.tanh %193 : tensor<10xf32>
    %cst_77 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %195 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %196 = stablehlo.multiply %194, %195 : tensor<10xf32>
    %cst_78 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %197 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %198 = stablehlo.add %196, %197 : tensor<10xf32>
    %199 = stablehlo.tanh %198 : tensor<10xf32>
    %cst_79 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %200 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %201 = stablehlo.multiply %199, %200 : tensor<10xf32>
    %cst_80 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %202 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %203 = stablehlo.add %201, %202 : tensor<10xf32>
    %204 = stablehlo.tanh %203 : tensor<10xf32>
    %cst_81 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %205 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %206 = stablehlo.multiply %204, %205 : tensor<10xf32>
    %cst_82 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %207 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %208 = stablehlo.add %206, %207 : tensor<10xf32>
    %209 = stablehlo.tanh %208 : tensor<10xf32>
    %cst_83 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %210 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %211 = stablehlo.multiply %209, %210 : tensor<10xf32>
    %cst_84 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %212 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %213 = stablehlo.add %211, %212 : tensor<10xf32>
    %214 = stablehlo.tanh %213 : tensor<10xf32>
    %cst_85 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %215 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %216 = stablehlo.multiply %214, %215 : tensor<10xf32>
    %cst_86 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %217 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %218 = stablehlo.add %216, %217 : tensor<10xf32>
    %219 = stablehlo.tanh %218 : tensor<10xf32>
    %cst_87 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %220 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %221 = stablehlo.multiply %219, %220 : tensor<10xf32>
    %cst_88 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %222 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %223 = stablehlo.add %221, %222 : tensor<10xf32>
    %224 = stablehlo.tanh %223 : tensor<10xf32>
    %cst_89 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %225 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %226 = stablehlo.multiply %224, %225 : tensor<10xf32>
    %cst_90 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %227 = stablehlo.broadcast_in_dim %cst_90, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %228 = stablehlo.add %226, %227 : tensor<10xf32>
    %229 = stablehlo.tanh %228 : tensor<10xf32>
    %cst_91 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %230 = stablehlo.broadcast_in_dim %cst_91, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %231 = stablehlo.multiply %229, %230 : tensor<10xf32>
    %cst_92 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %232 = stablehlo.broadcast_in_dim %cst_92, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %233 = stablehlo.add %231, %232 : tensor<10xf32>
    %234 = stablehlo.tanh %233 : tensor<10xf32>
    %cst_93 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %235 = stablehlo.broadcast_in_dim %cst_93, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %236 = stablehlo.multiply %234, %235 : tensor<10xf32>
    %cst_94 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %237 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %238 = stablehlo.add %236, %237 : tensor<10xf32>
    %239 = stablehlo.tanh %238 : tensor<10xf32>
    %cst_95 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %240 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %241 = stablehlo.multiply %239, %240 : tensor<10xf32>
    %cst_96 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %242 = stablehlo.broadcast_in_dim %cst_96, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %243 = stablehlo.add %241, %242 : tensor<10xf32>
    %244 = stablehlo.tanh %243 : tensor<10xf32>
    %cst_97 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %245 = stablehlo.broadcast_in_dim %cst_97, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %246 = stablehlo.multiply %244, %245 : tensor<10xf32>
    %cst_98 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %247 = stablehlo.broadcast_in_dim %cst_98, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %248 = stablehlo.add %246, %247 : tensor<10xf32>
    %249 = stablehlo.tanh %248 : tensor<10xf32>
    %cst_99 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %250 = stablehlo.broadcast_in_dim %cst_99, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %251 = stablehlo.multiply %249, %250 : tensor<10xf32>
    %cst_100 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %252 = stablehlo.broadcast_in_dim %cst_100, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %253 = stablehlo.add %251, %252 : tensor<10xf32>
    %254 = stablehlo.tanh %253 : tensor<10xf32>
    %cst_101 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %255 = stablehlo.broadcast_in_dim %cst_101, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %256 = stablehlo.multiply %254, %255 : tensor<10xf32>
    %cst_102 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %257 = stablehlo.broadcast_in_dim %cst_102, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %258 = stablehlo.add %256, %257 : tensor<10xf32>
    %259 = stablehlo.tanh %258 : tensor<10xf32>
    %cst_103 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %260 = stablehlo.broadcast_in_dim %cst_103, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %261 = stablehlo.multiply %259, %260 : tensor<10xf32>
    %cst_104 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %262 = stablehlo.broadcast_in_dim %cst_104, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %263 = stablehlo.add %261, %262 : tensor<10xf32>
    %264 = stablehlo.tanh %263 : tensor<10xf32>
    %cst_105 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %265 = stablehlo.broadcast_in_dim %cst_105, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %266 = stablehlo.multiply %264, %265 : tensor<10xf32>
    %cst_106 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %267 = stablehlo.broadcast_in_dim %cst_106, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %268 = stablehlo.add %266, %267 : tensor<10xf32>
    %269 = stablehlo.tanh %268 : tensor<10xf32>
    %cst_107 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %270 = stablehlo.broadcast_in_dim %cst_107, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %271 = stablehlo.multiply %269, %270 : tensor<10xf32>
    %cst_108 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %272 = stablehlo.broadcast_in_dim %cst_108, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %273 = stablehlo.add %271, %272 : tensor<10xf32>
    %274 = stablehlo.tanh %273 : tensor<10xf32>
    %cst_109 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %275 = stablehlo.broadcast_in_dim %cst_109, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %276 = stablehlo.multiply %274, %275 : tensor<10xf32>
    %cst_110 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %277 = stablehlo.broadcast_in_dim %cst_110, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %278 = stablehlo.add %276, %277 : tensor<10xf32>
    %279 = stablehlo.tanh %278 : tensor<10xf32>
    %cst_111 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %280 = stablehlo.broadcast_in_dim %cst_111, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %281 = stablehlo.multiply %279, %280 : tensor<10xf32>
    %cst_112 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %282 = stablehlo.broadcast_in_dim %cst_112, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %283 = stablehlo.add %281, %282 : tensor<10xf32>
    %284 = stablehlo.tanh %283 : tensor<10xf32>
    %cst_113 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %285 = stablehlo.broadcast_in_dim %cst_113, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %286 = stablehlo.multiply %284, %285 : tensor<10xf32>
    %cst_114 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %287 = stablehlo.broadcast_in_dim %cst_114, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %288 = stablehlo.add %286, %287 : tensor<10xf32>
    %289 = stablehlo.tanh %288 : tensor<10xf32>
    %cst_115 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %290 = stablehlo.broadcast_in_dim %cst_115, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %291 = stablehlo.multiply %289, %290 : tensor<10xf32>
    %cst_116 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %292 = stablehlo.broadcast_in_dim %cst_116, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %293 = stablehlo.add %291, %292 : tensor<10xf32>
    %294 = stablehlo.tanh %293 : tensor<10xf32>
    %cst_117 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %295 = stablehlo.broadcast_in_dim %cst_117, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %296 = stablehlo.multiply %294, %295 : tensor<10xf32>
    %cst_118 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %297 = stablehlo.broadcast_in_dim %cst_118, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %298 = stablehlo.add %296, %297 : tensor<10xf32>
    %299 = stablehlo.tanh %298 : tensor<10xf32>
    %cst_119 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %300 = stablehlo.broadcast_in_dim %cst_119, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %301 = stablehlo.multiply %299, %300 : tensor<10xf32>
    %cst_120 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %302 = stablehlo.broadcast_in_dim %cst_120, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %303 = stablehlo.add %301, %302 : tensor<10xf32>
    %304 = stablehlo.tanh %303 : tensor<10xf32>
    %cst_121 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %305 = stablehlo.broadcast_in_dim %cst_121, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %306 = stablehlo.multiply %304, %305 : tensor<10xf32>
    %cst_122 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %307 = stablehlo.broadcast_in_dim %cst_122, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %308 = stablehlo.add %306, %307 : tensor<10xf32>
    %309 = stablehlo.tanh %308 : tensor<10xf32>
    %cst_123 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %310 = stablehlo.broadcast_in_dim %cst_123, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %311 = stablehlo.multiply %309, %310 : tensor<10xf32>
    %cst_124 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %312 = stablehlo.broadcast_in_dim %cst_124, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %313 = stablehlo.add %311, %312 : tensor<10xf32>
    %314 = stablehlo.tanh %313 : tensor<10xf32>
    %cst_125 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %315 = stablehlo.broadcast_in_dim %cst_125, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %316 = stablehlo.multiply %314, %315 : tensor<10xf32>
    %cst_126 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %317 = stablehlo.broadcast_in_dim %cst_126, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %318 = stablehlo.add %316, %317 : tensor<10xf32>
    %319 = stablehlo.tanh %318 : tensor<10xf32>
    %cst_127 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %320 = stablehlo.broadcast_in_dim %cst_127, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %321 = stablehlo.multiply %319, %320 : tensor<10xf32>
    %cst_128 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %322 = stablehlo.broadcast_in_dim %cst_128, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %323 = stablehlo.add %321, %322 : tensor<10xf32>
    %324 = stablehlo.tanh %323 : tensor<10xf32>
    %cst_129 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %325 = stablehlo.broadcast_in_dim %cst_129, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %326 = stablehlo.multiply %324, %325 : tensor<10xf32>
    %cst_130 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %327 = stablehlo.broadcast_in_dim %cst_130, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %328 = stablehlo.add %326, %327 : tensor<10xf32>
    %329 = stablehlo.tanh %328 : tensor<10xf32>
    %cst_131 = stablehlo.constant dense<1.010000e+00> : tensor<f32>
    %330 = stablehlo.broadcast_in_dim %cst_131, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %331 = stablehlo.multiply %329, %330 : tensor<10xf32>
    %cst_132 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %332 = stablehlo.broadcast_in_dim %cst_132, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %333 = stablehlo.add %331, %332 : tensor<10xf32>
    %cst_133 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %334 = stablehlo.reduce(%333 init: %cst_133) applies stablehlo.add across dimensions = [0] : (tensor<10xf32>, tensor<f32>) -> tensor<f32>
    return %334 : tensor<f32>
  }
}
