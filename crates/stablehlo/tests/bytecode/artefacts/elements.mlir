module @jit_elements attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xcomplex<f32>>, %arg1: tensor<3xf16>) -> (tensor<8xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<3x7xi1> {jax.result_info = "result[1]"}, tensor<5xf64> {jax.result_info = "result[2]"}, tensor<3xui64> {jax.result_info = "result[3]"}, tensor<3xf16> {jax.result_info = "result[4]"}, tensor<3xbf16> {jax.result_info = "result[5]"}, tensor<3xi32> {jax.result_info = "result[6]"}, tensor<3xi1> {jax.result_info = "result[7]"}, tensor<11xi1> {jax.result_info = "result[8]"}, tensor<0x3xi32> {jax.result_info = "result[9]"}, tensor<ui16> {jax.result_info = "result[10]"}) {
    %c = stablehlo.constant dense<[[true, false, false, true, false, false, true], [false, false, true, false, false, true, false], [false, true, false, false, true, false, false]]> : tensor<3x7xi1>
    %cst = stablehlo.constant dense<[0x7FF8000000000000, 0x7FF0000000000000, -0.000000e+00, 4.940660e-324, 1.000000e+300]> : tensor<5xf64>
    %c_0 = stablehlo.constant dense<[0, 18446744073709551615, 9223372036854775808]> : tensor<3xui64>
    %cst_1 = stablehlo.constant dense<[7.500000e-01, -6.550400e+04, 5.960460e-08]> : tensor<3xf16>
    %cst_2 = stablehlo.constant dense<[1.000980e-01, 1.000260e+30, -2.000000e+00]> : tensor<3xbf16>
    %c_3 = stablehlo.constant dense<[-8, 7, 3]> : tensor<3xi4>
    %c_4 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
    %0 = stablehlo.multiply %arg1, %cst_1 : tensor<3xf16>
    %cst_5 = stablehlo.constant dense<1.250000e+00> : tensor<bf16>
    %1 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<bf16>) -> tensor<3xbf16>
    %2 = stablehlo.add %cst_2, %1 : tensor<3xbf16>
    %3 = stablehlo.convert %c_3 : (tensor<3xi4>) -> tensor<3xi32>
    %c_6 = stablehlo.constant dense<true> : tensor<i1>
    %4 = stablehlo.broadcast_in_dim %c_6, dims = [] : (tensor<i1>) -> tensor<11xi1>
    %5 = call @fft(%arg0) : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
    %cst_7 = stablehlo.constant dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f32>>
    %6 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<complex<f32>>) -> tensor<8xcomplex<f32>>
    %7 = stablehlo.multiply %5, %6 : tensor<8xcomplex<f32>>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.broadcast_in_dim %c_8, dims = [] : (tensor<i32>) -> tensor<0x3xi32>
    %c_9 = stablehlo.constant dense<7> : tensor<ui16>
    return %7, %c, %cst, %c_0, %0, %2, %3, %c_4, %4, %8, %c_9 : tensor<8xcomplex<f32>>, tensor<3x7xi1>, tensor<5xf64>, tensor<3xui64>, tensor<3xf16>, tensor<3xbf16>, tensor<3xi32>, tensor<3xi1>, tensor<11xi1>, tensor<0x3xi32>, tensor<ui16>
  }
  func.func private @fft(%arg0: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = FFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
    return %0 : tensor<8xcomplex<f32>>
  }
}
