#include "analyzer/cxx/stubs.h"

#include <array>

namespace fullgraph::cxx {
namespace {

// The language's extensions, the runtime's commonest functions. In plain C++ the extensions mean nothing.
constexpr std::string_view cuda = R"stub(#pragma once
#include <cstddef>
#ifdef __CUDA__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#else
#define __global__
#define __device__
#define __host__
#define __shared__
#define __constant__
#endif
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __restrict__ __restrict
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
struct uint3 { unsigned x, y, z; };
typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
typedef enum cudaError { cudaSuccess = 0 } cudaError_t;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault
};
extern "C" {
cudaError_t cudaConfigureCall(dim3, dim3, std::size_t = 0, cudaStream_t = 0);
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t = 0, void* = 0);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaGetLastError();
cudaError_t cudaMemcpy(void*, const void*, std::size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMalloc(void**, std::size_t);
cudaError_t cudaFree(void*);
const char* cudaGetErrorString(cudaError_t);
}
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
__device__ void __syncthreads();
__device__ float atomicAdd(float*, float);
)stub";

constexpr std::string_view forward = "#pragma once\n#include \"fullgraph_cuda.h\"\n";

// Wheels of libtorch without CUDA have its headers that need this one, and not this one.
constexpr std::string_view macros = "#pragma once\n#define C10_CUDA_BUILD_SHARED_LIBS\n";

constexpr std::array<Stub, 4> all = {{{cuda_stub_path, cuda},
                                      {"/fullgraph-stubs/cuda_runtime.h", forward},
                                      {"/fullgraph-stubs/cuda.h", forward},
                                      {"/fullgraph-stubs/c10/cuda/impl/cuda_cmake_macros.h", macros}}};

}  // namespace

std::span<const Stub> stubs() {
  return all;
}

}  // namespace fullgraph::cxx
