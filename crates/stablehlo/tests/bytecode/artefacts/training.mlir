module @jit_training attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<5x4xf32>, %arg3: tensor<5x3xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4x3xf32> {jax.result_info = "result[1][0]"}, tensor<3xf32> {jax.result_info = "result[1][1]"}) {
    %0 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x4xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<5x3xf32>
    %3 = stablehlo.add %0, %2 : tensor<5x3xf32>
    %4 = stablehlo.tanh %3 : tensor<5x3xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
    %6 = stablehlo.subtract %5, %4 : tensor<5x3xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.reduce(%4 init: %cst_0) applies stablehlo.maximum across dimensions = [1] : (tensor<5x3xf32>, tensor<f32>) -> tensor<5xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %9 = stablehlo.maximum %8, %7 : tensor<5xf32>
    %10 = stablehlo.is_finite %9 : (tensor<5xf32>) -> tensor<5xi1>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %12 = stablehlo.select %10, %9, %11 : tensor<5xi1>, tensor<5xf32>
    %13 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<5xf32>) -> tensor<5x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1] : (tensor<5x1xf32>) -> tensor<5x3xf32>
    %15 = stablehlo.subtract %4, %14 : tensor<5x3xf32>
    %16 = stablehlo.exponential %15 : tensor<5x3xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<5x3xf32>, tensor<f32>) -> tensor<5xf32>
    %18 = stablehlo.abs %17 : tensor<5xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %20 = stablehlo.compare GE, %17, %19, FLOAT : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
    %21 = stablehlo.log %18 : tensor<5xf32>
    %22 = stablehlo.add %21, %12 : tensor<5xf32>
    %23 = stablehlo.multiply %4, %arg3 : tensor<5x3xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.reduce(%23 init: %cst_5) applies stablehlo.add across dimensions = [1] : (tensor<5x3xf32>, tensor<f32>) -> tensor<5xf32>
    %25 = stablehlo.subtract %22, %24 : tensor<5xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %26 = stablehlo.reduce(%25 init: %cst_6) applies stablehlo.add across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
    %cst_7 = stablehlo.constant dense<5.000000e+00> : tensor<f32>
    %27 = stablehlo.divide %26, %cst_7 : tensor<f32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_9 = stablehlo.constant dense<5.000000e+00> : tensor<f32>
    %28 = stablehlo.divide %cst_8, %cst_9 : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %30 = stablehlo.negate %29 : tensor<5xf32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [0] : (tensor<5xf32>) -> tensor<5x3xf32>
    %32 = stablehlo.multiply %31, %arg3 : tensor<5x3xf32>
    %33 = stablehlo.divide %29, %18 : tensor<5xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %35 = stablehlo.select %20, %34, %33 : tensor<5xi1>, tensor<5xf32>
    %36 = stablehlo.select %20, %33, %34 : tensor<5xi1>, tensor<5xf32>
    %37 = stablehlo.negate %35 : tensor<5xf32>
    %38 = stablehlo.add %36, %37 : tensor<5xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0] : (tensor<5xf32>) -> tensor<5x3xf32>
    %40 = stablehlo.multiply %39, %16 : tensor<5x3xf32>
    %41 = stablehlo.add %32, %40 : tensor<5x3xf32>
    %42 = stablehlo.multiply %41, %6 : tensor<5x3xf32>
    %43 = stablehlo.multiply %42, %4 : tensor<5x3xf32>
    %44 = stablehlo.add %42, %43 : tensor<5x3xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %45 = stablehlo.reduce(%44 init: %cst_11) applies stablehlo.add across dimensions = [0] : (tensor<5x3xf32>, tensor<f32>) -> tensor<3xf32>
    %46 = stablehlo.reshape %45 : (tensor<3xf32>) -> tensor<1x3xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %47 = stablehlo.reduce(%46 init: %cst_12) applies stablehlo.add across dimensions = [0] : (tensor<1x3xf32>, tensor<f32>) -> tensor<3xf32>
    %48 = stablehlo.dot_general %44, %arg2, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x3xf32>, tensor<5x4xf32>) -> tensor<3x4xf32>
    %49 = stablehlo.transpose %48, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
    return %27, %49, %47 : tensor<f32>, tensor<4x3xf32>, tensor<3xf32>
  }
}
