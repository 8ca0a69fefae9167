module @jit_loss attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x32xf32>, %arg1: tensor<12x32xf32>, %arg2: tensor<32xf32>, %arg3: tensor<32x96xf32>, %arg4: tensor<32x32xf32>, %arg5: tensor<32xf32>, %arg6: tensor<32x128xf32>, %arg7: tensor<128x32xf32>, %arg8: tensor<32xf32>, %arg9: tensor<32x96xf32>, %arg10: tensor<32x32xf32>, %arg11: tensor<32xf32>, %arg12: tensor<32x128xf32>, %arg13: tensor<128x32xf32>, %arg14: tensor<32xf32>, %arg15: tensor<32x16xf32>, %arg16: tensor<8x12xi32>, %arg17: tensor<8x12xi32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x12xi32>
    %1 = stablehlo.compare LT, %arg16, %0, SIGNED : (tensor<8x12xi32>, tensor<8x12xi32>) -> tensor<8x12xi1>
    %c_0 = stablehlo.constant dense<16> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x12xi32>
    %3 = stablehlo.add %arg16, %2 : tensor<8x12xi32>
    %4 = stablehlo.select %1, %3, %arg16 : tensor<8x12xi1>, tensor<8x12xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<8x12xi32>) -> tensor<8x12x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 32>}> : (tensor<16x32xf32>, tensor<8x12x1xi32>) -> tensor<8x12x32xf32>
    %7 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<12x32xf32>) -> tensor<1x12x32xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<1x12x32xf32>) -> tensor<8x12x32xf32>
    %9 = stablehlo.add %6, %8 : tensor<8x12x32xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<8x12x32xf32>, tensor<f32>) -> tensor<8x12xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<8x12xf32>) -> tensor<8x12x1xf32>
    %cst_1 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x12x1xf32>
    %13 = stablehlo.divide %11, %12 : tensor<8x12x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<8x12x1xf32>) -> tensor<8x12x32xf32>
    %15 = stablehlo.subtract %9, %14 : tensor<8x12x32xf32>
    %16 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x12x32xf32>
    %18 = stablehlo.multiply %17, %15 : tensor<8x12x32xf32>
    %19 = stablehlo.multiply %15, %15 : tensor<8x12x32xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<8x12x32xf32>, tensor<f32>) -> tensor<8x12xf32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1] : (tensor<8x12xf32>) -> tensor<8x12x1xf32>
    %cst_3 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x12x1xf32>
    %23 = stablehlo.divide %21, %22 : tensor<8x12x1xf32>
    %cst_4 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x12x1xf32>
    %25 = stablehlo.add %23, %24 : tensor<8x12x1xf32>
    %26 = stablehlo.rsqrt %25 : tensor<8x12x1xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2] : (tensor<8x12x1xf32>) -> tensor<8x12x32xf32>
    %28 = stablehlo.multiply %18, %27 : tensor<8x12x32xf32>
    %29 = stablehlo.dot_general %28, %arg3, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x12x32xf32>, tensor<32x96xf32>) -> tensor<8x12x96xf32>
    %30 = stablehlo.slice %29 [0:8, 0:12, 0:32] : (tensor<8x12x96xf32>) -> tensor<8x12x32xf32>
    %31 = stablehlo.slice %29 [0:8, 0:12, 32:64] : (tensor<8x12x96xf32>) -> tensor<8x12x32xf32>
    %32 = stablehlo.slice %29 [0:8, 0:12, 64:96] : (tensor<8x12x96xf32>) -> tensor<8x12x32xf32>
    %33 = stablehlo.reshape %30 : (tensor<8x12x32xf32>) -> tensor<8x12x2x16xf32>
    %34 = stablehlo.reshape %31 : (tensor<8x12x32xf32>) -> tensor<8x12x2x16xf32>
    %35 = stablehlo.reshape %32 : (tensor<8x12x32xf32>) -> tensor<8x12x2x16xf32>
    %36 = stablehlo.dot_general %33, %34, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x12x2x16xf32>, tensor<8x12x2x16xf32>) -> tensor<8x2x12x12xf32>
    %cst_5 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x2x12x12xf32>
    %38 = stablehlo.divide %36, %37 : tensor<8x2x12x12xf32>
    %c_6 = stablehlo.constant dense<true> : tensor<i1>
    %39 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i1>) -> tensor<12x12xi1>
    %40 = call @tril(%39) : (tensor<12x12xi1>) -> tensor<12x12xi1>
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %41 = call @_where(%40, %38, %cst_7) : (tensor<12x12xi1>, tensor<8x2x12x12xf32>, tensor<f32>) -> tensor<8x2x12x12xf32>
    %cst_8 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %42 = stablehlo.reduce(%41 init: %cst_8) applies stablehlo.maximum across dimensions = [3] : (tensor<8x2x12x12xf32>, tensor<f32>) -> tensor<8x2x12xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x2x12xf32>
    %44 = stablehlo.maximum %43, %42 : tensor<8x2x12xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 1, 2] : (tensor<8x2x12xf32>) -> tensor<8x2x12x1xf32>
    %46 = stablehlo.broadcast_in_dim %45, dims = [0, 1, 2, 3] : (tensor<8x2x12x1xf32>) -> tensor<8x2x12x12xf32>
    %47 = stablehlo.subtract %41, %46 : tensor<8x2x12x12xf32>
    %48 = stablehlo.exponential %47 : tensor<8x2x12x12xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %49 = stablehlo.reduce(%48 init: %cst_10) applies stablehlo.add across dimensions = [3] : (tensor<8x2x12x12xf32>, tensor<f32>) -> tensor<8x2x12xf32>
    %50 = stablehlo.broadcast_in_dim %49, dims = [0, 1, 2] : (tensor<8x2x12xf32>) -> tensor<8x2x12x1xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 1, 2, 3] : (tensor<8x2x12x1xf32>) -> tensor<8x2x12x12xf32>
    %52 = stablehlo.divide %48, %51 : tensor<8x2x12x12xf32>
    %53 = stablehlo.dot_general %35, %52, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x12x2x16xf32>, tensor<8x2x12x12xf32>) -> tensor<8x2x16x12xf32>
    %54 = stablehlo.transpose %53, dims = [0, 3, 1, 2] : (tensor<8x2x16x12xf32>) -> tensor<8x12x2x16xf32>
    %55 = stablehlo.reshape %54 : (tensor<8x12x2x16xf32>) -> tensor<8x12x32xf32>
    %56 = stablehlo.dot_general %55, %arg4, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x12x32xf32>, tensor<32x32xf32>) -> tensor<8x12x32xf32>
    %57 = stablehlo.add %9, %56 : tensor<8x12x32xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %58 = stablehlo.reduce(%57 init: %cst_11) applies stablehlo.add across dimensions = [2] : (tensor<8x12x32xf32>, tensor<f32>) -> tensor<8x12xf32>
    %59 = stablehlo.broadcast_in_dim %58, dims = [0, 1] : (tensor<8x12xf32>) -> tensor<8x12x1xf32>
    %cst_12 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %60 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x12x1xf32>
    %61 = stablehlo.divide %59, %60 : tensor<8x12x1xf32>
    %62 = stablehlo.broadcast_in_dim %61, dims = [0, 1, 2] : (tensor<8x12x1xf32>) -> tensor<8x12x32xf32>
    %63 = stablehlo.subtract %57, %62 : tensor<8x12x32xf32>
    %64 = stablehlo.broadcast_in_dim %arg5, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %65 = stablehlo.broadcast_in_dim %64, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x12x32xf32>
    %66 = stablehlo.multiply %65, %63 : tensor<8x12x32xf32>
    %67 = stablehlo.multiply %63, %63 : tensor<8x12x32xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %68 = stablehlo.reduce(%67 init: %cst_13) applies stablehlo.add across dimensions = [2] : (tensor<8x12x32xf32>, tensor<f32>) -> tensor<8x12xf32>
    %69 = stablehlo.broadcast_in_dim %68, dims = [0, 1] : (tensor<8x12xf32>) -> tensor<8x12x1xf32>
    %cst_14 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<8x12x1xf32>
    %71 = stablehlo.divide %69, %70 : tensor<8x12x1xf32>
    %cst_15 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %72 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<8x12x1xf32>
    %73 = stablehlo.add %71, %72 : tensor<8x12x1xf32>
    %74 = stablehlo.rsqrt %73 : tensor<8x12x1xf32>
    %75 = stablehlo.broadcast_in_dim %74, dims = [0, 1, 2] : (tensor<8x12x1xf32>) -> tensor<8x12x32xf32>
    %76 = stablehlo.multiply %66, %75 : tensor<8x12x32xf32>
    %77 = stablehlo.dot_general %76, %arg6, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x12x32xf32>, tensor<32x128xf32>) -> tensor<8x12x128xf32>
    %78 = stablehlo.multiply %77, %77 : tensor<8x12x128xf32>
    %79 = stablehlo.multiply %78, %77 : tensor<8x12x128xf32>
    %cst_16 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<8x12x128xf32>
    %81 = stablehlo.multiply %80, %79 : tensor<8x12x128xf32>
    %82 = stablehlo.add %77, %81 : tensor<8x12x128xf32>
    %cst_17 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %83 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<8x12x128xf32>
    %84 = stablehlo.multiply %83, %82 : tensor<8x12x128xf32>
    %85 = stablehlo.tanh %84 : tensor<8x12x128xf32>
    %cst_18 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<8x12x128xf32>
    %87 = stablehlo.add %86, %85 : tensor<8x12x128xf32>
    %cst_19 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<8x12x128xf32>
    %89 = stablehlo.multiply %88, %87 : tensor<8x12x128xf32>
    %90 = stablehlo.multiply %77, %89 : tensor<8x12x128xf32>
    %91 = stablehlo.dot_general %90, %arg7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x12x128xf32>, tensor<128x32xf32>) -> tensor<8x12x32xf32>
    %92 = stablehlo.add %57, %91 : tensor<8x12x32xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %93 = stablehlo.reduce(%92 init: %cst_20) applies stablehlo.add across dimensions = [2] : (tensor<8x12x32xf32>, tensor<f32>) -> tensor<8x12xf32>
    %94 = stablehlo.broadcast_in_dim %93, dims = [0, 1] : (tensor<8x12xf32>) -> tensor<8x12x1xf32>
    %cst_21 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %95 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<8x12x1xf32>
    %96 = stablehlo.divide %94, %95 : tensor<8x12x1xf32>
    %97 = stablehlo.broadcast_in_dim %96, dims = [0, 1, 2] : (tensor<8x12x1xf32>) -> tensor<8x12x32xf32>
    %98 = stablehlo.subtract %92, %97 : tensor<8x12x32xf32>
    %99 = stablehlo.broadcast_in_dim %arg8, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %100 = stablehlo.broadcast_in_dim %99, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x12x32xf32>
    %101 = stablehlo.multiply %100, %98 : tensor<8x12x32xf32>
    %102 = stablehlo.multiply %98, %98 : tensor<8x12x32xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %103 = stablehlo.reduce(%102 init: %cst_22) applies stablehlo.add across dimensions = [2] : (tensor<8x12x32xf32>, tensor<f32>) -> tensor<8x12xf32>
    %104 = stablehlo.broadcast_in_dim %103, dims = [0, 1] : (tensor<8x12xf32>) -> tensor<8x12x1xf32>
    %cst_23 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %105 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<8x12x1xf32>
    %106 = stablehlo.divide %104, %105 : tensor<8x12x1xf32>
    %cst_24 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %107 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<8x12x1xf32>
    %108 = stablehlo.add %106, %107 : tensor<8x12x1xf32>
    %109 = stablehlo.rsqrt %108 : tensor<8x12x1xf32>
    %110 = stablehlo.broadcast_in_dim %109, dims = [0, 1, 2] : (tensor<8x12x1xf32>) -> tensor<8x12x32xf32>
    %111 = stablehlo.multiply %101, %110 : tensor<8x12x32xf32>
    %112 = stablehlo.dot_general %111, %arg9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x12x32xf32>, tensor<32x96xf32>) -> tensor<8x12x96xf32>
    %113 = stablehlo.slice %112 [0:8, 0:12, 0:32] : (tensor<8x12x96xf32>) -> tensor<8x12x32xf32>
    %114 = stablehlo.slice %112 [0:8, 0:12, 32:64] : (tensor<8x12x96xf32>) -> tensor<8x12x32xf32>
    %115 = stablehlo.slice %112 [0:8, 0:12, 64:96] : (tensor<8x12x96xf32>) -> tensor<8x12x32xf32>
    %116 = stablehlo.reshape %113 : (tensor<8x12x32xf32>) -> tensor<8x12x2x16xf32>
    %117 = stablehlo.reshape %114 : (tensor<8x12x32xf32>) -> tensor<8x12x2x16xf32>
    %118 = stablehlo.reshape %115 : (tensor<8x12x32xf32>) -> tensor<8x12x2x16xf32>
    %119 = stablehlo.dot_general %116, %117, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x12x2x16xf32>, tensor<8x12x2x16xf32>) -> tensor<8x2x12x12xf32>
    %cst_25 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %120 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<8x2x12x12xf32>
    %121 = stablehlo.divide %119, %120 : tensor<8x2x12x12xf32>
    %c_26 = stablehlo.constant dense<true> : tensor<i1>
    %122 = stablehlo.broadcast_in_dim %c_26, dims = [] : (tensor<i1>) -> tensor<12x12xi1>
    %123 = call @tril(%122) : (tensor<12x12xi1>) -> tensor<12x12xi1>
    %cst_27 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %124 = call @_where(%123, %121, %cst_27) : (tensor<12x12xi1>, tensor<8x2x12x12xf32>, tensor<f32>) -> tensor<8x2x12x12xf32>
    %cst_28 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %125 = stablehlo.reduce(%124 init: %cst_28) applies stablehlo.maximum across dimensions = [3] : (tensor<8x2x12x12xf32>, tensor<f32>) -> tensor<8x2x12xf32>
    %cst_29 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %126 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<8x2x12xf32>
    %127 = stablehlo.maximum %126, %125 : tensor<8x2x12xf32>
    %128 = stablehlo.broadcast_in_dim %127, dims = [0, 1, 2] : (tensor<8x2x12xf32>) -> tensor<8x2x12x1xf32>
    %129 = stablehlo.broadcast_in_dim %128, dims = [0, 1, 2, 3] : (tensor<8x2x12x1xf32>) -> tensor<8x2x12x12xf32>
    %130 = stablehlo.subtract %124, %129 : tensor<8x2x12x12xf32>
    %131 = stablehlo.exponential %130 : tensor<8x2x12x12xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %132 = stablehlo.reduce(%131 init: %cst_30) applies stablehlo.add across dimensions = [3] : (tensor<8x2x12x12xf32>, tensor<f32>) -> tensor<8x2x12xf32>
    %133 = stablehlo.broadcast_in_dim %132, dims = [0, 1, 2] : (tensor<8x2x12xf32>) -> tensor<8x2x12x1xf32>
    %134 = stablehlo.broadcast_in_dim %133, dims = [0, 1, 2, 3] : (tensor<8x2x12x1xf32>) -> tensor<8x2x12x12xf32>
    %135 = stablehlo.divide %131, %134 : tensor<8x2x12x12xf32>
    %136 = stablehlo.dot_general %118, %135, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x12x2x16xf32>, tensor<8x2x12x12xf32>) -> tensor<8x2x16x12xf32>
    %137 = stablehlo.transpose %136, dims = [0, 3, 1, 2] : (tensor<8x2x16x12xf32>) -> tensor<8x12x2x16xf32>
    %138 = stablehlo.reshape %137 : (tensor<8x12x2x16xf32>) -> tensor<8x12x32xf32>
    %139 = stablehlo.dot_general %138, %arg10, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x12x32xf32>, tensor<32x32xf32>) -> tensor<8x12x32xf32>
    %140 = stablehlo.add %92, %139 : tensor<8x12x32xf32>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %141 = stablehlo.reduce(%140 init: %cst_31) applies stablehlo.add across dimensions = [2] : (tensor<8x12x32xf32>, tensor<f32>) -> tensor<8x12xf32>
    %142 = stablehlo.broadcast_in_dim %141, dims = [0, 1] : (tensor<8x12xf32>) -> tensor<8x12x1xf32>
    %cst_32 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %143 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<8x12x1xf32>
    %144 = stablehlo.divide %142, %143 : tensor<8x12x1xf32>
    %145 = stablehlo.broadcast_in_dim %144, dims = [0, 1, 2] : (tensor<8x12x1xf32>) -> tensor<8x12x32xf32>
    %146 = stablehlo.subtract %140, %145 : tensor<8x12x32xf32>
    %147 = stablehlo.broadcast_in_dim %arg11, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %148 = stablehlo.broadcast_in_dim %147, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x12x32xf32>
    %149 = stablehlo.multiply %148, %146 : tensor<8x12x32xf32>
    %150 = stablehlo.multiply %146, %146 : tensor<8x12x32xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %151 = stablehlo.reduce(%150 init: %cst_33) applies stablehlo.add across dimensions = [2] : (tensor<8x12x32xf32>, tensor<f32>) -> tensor<8x12xf32>
    %152 = stablehlo.broadcast_in_dim %151, dims = [0, 1] : (tensor<8x12xf32>) -> tensor<8x12x1xf32>
    %cst_34 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %153 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<8x12x1xf32>
    %154 = stablehlo.divide %152, %153 : tensor<8x12x1xf32>
    %cst_35 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %155 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<8x12x1xf32>
    %156 = stablehlo.add %154, %155 : tensor<8x12x1xf32>
    %157 = stablehlo.rsqrt %156 : tensor<8x12x1xf32>
    %158 = stablehlo.broadcast_in_dim %157, dims = [0, 1, 2] : (tensor<8x12x1xf32>) -> tensor<8x12x32xf32>
    %159 = stablehlo.multiply %149, %158 : tensor<8x12x32xf32>
    %160 = stablehlo.dot_general %159, %arg12, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x12x32xf32>, tensor<32x128xf32>) -> tensor<8x12x128xf32>
    %161 = stablehlo.multiply %160, %160 : tensor<8x12x128xf32>
    %162 = stablehlo.multiply %161, %160 : tensor<8x12x128xf32>
    %cst_36 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %163 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<8x12x128xf32>
    %164 = stablehlo.multiply %163, %162 : tensor<8x12x128xf32>
    %165 = stablehlo.add %160, %164 : tensor<8x12x128xf32>
    %cst_37 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %166 = stablehlo.broadcast_in_dim %cst_37, dims = [] : (tensor<f32>) -> tensor<8x12x128xf32>
    %167 = stablehlo.multiply %166, %165 : tensor<8x12x128xf32>
    %168 = stablehlo.tanh %167 : tensor<8x12x128xf32>
    %cst_38 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %169 = stablehlo.broadcast_in_dim %cst_38, dims = [] : (tensor<f32>) -> tensor<8x12x128xf32>
    %170 = stablehlo.add %169, %168 : tensor<8x12x128xf32>
    %cst_39 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %171 = stablehlo.broadcast_in_dim %cst_39, dims = [] : (tensor<f32>) -> tensor<8x12x128xf32>
    %172 = stablehlo.multiply %171, %170 : tensor<8x12x128xf32>
    %173 = stablehlo.multiply %160, %172 : tensor<8x12x128xf32>
    %174 = stablehlo.dot_general %173, %arg13, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x12x128xf32>, tensor<128x32xf32>) -> tensor<8x12x32xf32>
    %175 = stablehlo.add %140, %174 : tensor<8x12x32xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %176 = stablehlo.reduce(%175 init: %cst_40) applies stablehlo.add across dimensions = [2] : (tensor<8x12x32xf32>, tensor<f32>) -> tensor<8x12xf32>
    %177 = stablehlo.broadcast_in_dim %176, dims = [0, 1] : (tensor<8x12xf32>) -> tensor<8x12x1xf32>
    %cst_41 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %178 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<8x12x1xf32>
    %179 = stablehlo.divide %177, %178 : tensor<8x12x1xf32>
    %180 = stablehlo.broadcast_in_dim %179, dims = [0, 1, 2] : (tensor<8x12x1xf32>) -> tensor<8x12x32xf32>
    %181 = stablehlo.subtract %175, %180 : tensor<8x12x32xf32>
    %182 = stablehlo.broadcast_in_dim %arg14, dims = [2] : (tensor<32xf32>) -> tensor<1x1x32xf32>
    %183 = stablehlo.broadcast_in_dim %182, dims = [0, 1, 2] : (tensor<1x1x32xf32>) -> tensor<8x12x32xf32>
    %184 = stablehlo.multiply %183, %181 : tensor<8x12x32xf32>
    %185 = stablehlo.multiply %181, %181 : tensor<8x12x32xf32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %186 = stablehlo.reduce(%185 init: %cst_42) applies stablehlo.add across dimensions = [2] : (tensor<8x12x32xf32>, tensor<f32>) -> tensor<8x12xf32>
    %187 = stablehlo.broadcast_in_dim %186, dims = [0, 1] : (tensor<8x12xf32>) -> tensor<8x12x1xf32>
    %cst_43 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %188 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<8x12x1xf32>
    %189 = stablehlo.divide %187, %188 : tensor<8x12x1xf32>
    %cst_44 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %190 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<8x12x1xf32>
    %191 = stablehlo.add %189, %190 : tensor<8x12x1xf32>
    %192 = stablehlo.rsqrt %191 : tensor<8x12x1xf32>
    %193 = stablehlo.broadcast_in_dim %192, dims = [0, 1, 2] : (tensor<8x12x1xf32>) -> tensor<8x12x32xf32>
    %194 = stablehlo.multiply %184, %193 : tensor<8x12x32xf32>
    %195 = stablehlo.dot_general %194, %arg15, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x12x32xf32>, tensor<32x16xf32>) -> tensor<8x12x16xf32>
    %196 = call @log_softmax(%195) : (tensor<8x12x16xf32>) -> tensor<8x12x16xf32>
    %197 = stablehlo.broadcast_in_dim %arg17, dims = [0, 1] : (tensor<8x12xi32>) -> tensor<8x12x1xi32>
    %198 = call @take_along_axis(%196, %197) : (tensor<8x12x16xf32>, tensor<8x12x1xi32>) -> tensor<8x12x1xf32>
    %cst_45 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %199 = stablehlo.reduce(%198 init: %cst_45) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x12x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_46 = stablehlo.constant dense<9.600000e+01> : tensor<f32>
    %200 = stablehlo.divide %199, %cst_46 : tensor<f32>
    %201 = stablehlo.negate %200 : tensor<f32>
    return %201 : tensor<f32>
  }
  func.func private @tril(%arg0: tensor<12x12xi1>) -> tensor<12x12xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<12x12xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<12x12xi32>
    %2 = stablehlo.add %0, %1 : tensor<12x12xi32>
    %3 = stablehlo.iota dim = 1 : tensor<12x12xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<12x12xi32>, tensor<12x12xi32>) -> tensor<12x12xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<12x12xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<12x12xi1>, tensor<12x12xi1>
    return %6 : tensor<12x12xi1>
  }
  func.func private @_where(%arg0: tensor<12x12xi1>, %arg1: tensor<8x2x12x12xf32>, %arg2: tensor<f32>) -> tensor<8x2x12x12xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<12x12xi1>) -> tensor<8x2x12x12xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x2x12x12xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<8x2x12x12xi1>, tensor<8x2x12x12xf32>
    return %3 : tensor<8x2x12x12xf32>
  }
  func.func private @log_softmax(%arg0: tensor<8x12x16xf32>) -> tensor<8x12x16xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<8x12x16xf32>, tensor<f32>) -> tensor<8x12xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x12xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<8x12xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<8x12xf32>) -> tensor<8x12x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<8x12x1xf32>) -> tensor<8x12x16xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<8x12x16xf32>
    %6 = stablehlo.exponential %5 : tensor<8x12x16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<8x12x16xf32>, tensor<f32>) -> tensor<8x12xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<8x12xf32>) -> tensor<8x12x1xf32>
    %9 = stablehlo.log %8 : tensor<8x12x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<8x12x1xf32>) -> tensor<8x12x16xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<8x12x16xf32>
    return %11 : tensor<8x12x16xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<8x12x16xf32>, %arg1: tensor<8x12x1xi32>) -> tensor<8x12x1xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x12x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<8x12x1xi32>, tensor<8x12x1xi32>) -> tensor<8x12x1xi1>
    %c_0 = stablehlo.constant dense<16> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x12x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<8x12x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<8x12x1xi1>, tensor<8x12x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<8x12x1xi32>) -> tensor<8x12x1x1xi32>
    %c_1 = stablehlo.constant dense<15> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<8x12x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<8x12x1x1xi32>, tensor<8x12x1x1xi32>) -> tensor<8x12x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<8x12x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<8x12x1x1xi32>, tensor<8x12x1x1xi32>) -> tensor<8x12x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<8x12x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<8x12x1x1xi1>, tensor<i1>) -> tensor<8x12x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<8x12x16xf32>, tensor<8x12x1x1xi32>) -> tensor<8x12x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x12x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<8x12x1xi1>, tensor<8x12x1xf32>
    return %15 : tensor<8x12x1xf32>
  }
}
