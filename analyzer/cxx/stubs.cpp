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
typedef struct CUgraph_st* cudaGraph_t;
typedef struct CUgraphExec_st* cudaGraphExec_t;
typedef struct CUgraphNode_st* cudaGraphNode_t;
typedef struct CUmemPoolHandle_st* cudaMemPool_t;
typedef void (*cudaHostFn_t)(void*);
typedef int CUdevice;
typedef struct CUctx_st* CUcontext;
typedef cudaStream_t CUstream;
typedef unsigned long long CUdeviceptr;
typedef enum cudaError {
  cudaSuccess = 0, cudaErrorMemoryAllocation, cudaErrorNotReady, cudaErrorPeerAccessAlreadyEnabled, cudaErrorCudartUnloading
} cudaError_t;
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive, cudaStreamCaptureStatusInvalidated
};
enum { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2, cudaEventInterprocess = 4 };
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum { cudaEventRecordDefault = 0, cudaEventRecordExternal = 1, cudaEventWaitDefault = 0, cudaEventWaitExternal = 1 };
enum cudaDataType_t { CUDA_R_32F, CUDA_R_64F, CUDA_R_16F, CUDA_R_8I, CUDA_C_32F, CUDA_C_64F, CUDA_R_16BF, CUDA_R_32I };
typedef enum cudaDataType_t cudaDataType;
struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor, l2CacheSize;
  int major, minor, multiProcessorCount, maxThreadsPerBlock, maxThreadsPerMultiProcessor, warpSize, regsPerBlock;
  int maxThreadsDim[3], maxGridSize[3];
};
struct cudaIpcEventHandle_t { char reserved[64]; };
struct cudaIpcMemHandle_t { char reserved[64]; };
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
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorName(cudaError_t);
cudaError_t cudaGetDevice(int*);
cudaError_t cudaSetDevice(int);
cudaError_t cudaGetDeviceCount(int*);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int);
cudaError_t cudaDeviceGetStreamPriorityRange(int*, int*);
cudaError_t cudaStreamCreate(cudaStream_t*);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t*, unsigned, int);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamQuery(cudaStream_t);
cudaError_t cudaStreamGetPriority(cudaStream_t, int*);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0);
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus*);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t, cudaStreamCaptureStatus*, ...);
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode);
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*);
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long = 0);
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
cudaError_t cudaGraphDestroy(cudaGraph_t);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t);
cudaError_t cudaEventCreate(cudaEvent_t*);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventQuery(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t, cudaStream_t = 0, unsigned = 0);
cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t);
cudaError_t cudaMemGetInfo(std::size_t*, std::size_t*);
cudaError_t cudaMemset(void*, int, std::size_t);
cudaError_t cudaMemsetAsync(void*, int, std::size_t, cudaStream_t = 0);
cudaError_t cudaMallocAsync(void**, std::size_t, cudaStream_t);
cudaError_t cudaFreeAsync(void*, cudaStream_t);
cudaError_t cudaMallocHost(void**, std::size_t);
cudaError_t cudaHostAlloc(void**, std::size_t, unsigned);
cudaError_t cudaFreeHost(void*);
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t, void*);
cudaError_t cudaMemcpy(void*, const void*, std::size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMalloc(void**, std::size_t);
cudaError_t cudaFree(void*);
const char* cudaGetErrorString(cudaError_t);
}
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
extern const __device__ int warpSize;
__device__ void __syncthreads();
__device__ void __syncwarp(unsigned = 0xffffffff);
__device__ unsigned __activemask();
__device__ unsigned __ballot_sync(unsigned, int);
__device__ int __popc(unsigned);
__device__ int __ffs(int);
template <class T> __device__ T __shfl_sync(unsigned, T, int, int = 32);
template <class T> __device__ T __shfl_up_sync(unsigned, T, unsigned, int = 32);
template <class T> __device__ T __shfl_down_sync(unsigned, T, unsigned, int = 32);
template <class T> __device__ T __shfl_xor_sync(unsigned, T, int, int = 32);
template <class T> __device__ T __ldg(const T*);
template <class T> __device__ T atomicAdd(T*, T);
template <class T> __device__ T atomicMax(T*, T);
template <class T> __device__ T atomicMin(T*, T);
template <class T> __device__ T atomicExch(T*, T);
template <class T> __device__ T atomicCAS(T*, T, T);
)stub";

// What headers of libtorch say of the libraries beside the runtime, and the short kinds of numbers.
constexpr std::string_view cuda_libraries = R"stub(#pragma once
#include "fullgraph_cuda.h"
typedef struct cublasContext* cublasHandle_t;
typedef struct cublasLtContext* cublasLtHandle_t;
typedef struct cusparseContext* cusparseHandle_t;
typedef struct cusolverDnContext* cusolverDnHandle_t;
typedef enum { CUBLAS_STATUS_SUCCESS } cublasStatus_t;
typedef enum { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C } cublasOperation_t;
typedef enum { CUBLAS_COMPUTE_32F } cublasComputeType_t;
typedef enum { CUBLAS_DEFAULT_MATH } cublasMath_t;
typedef enum { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT } cublasSideMode_t;
typedef enum { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT } cublasDiagType_t;
typedef enum { CUSPARSE_STATUS_SUCCESS } cusparseStatus_t;
typedef enum { CUSOLVER_STATUS_SUCCESS } cusolverStatus_t;
typedef enum { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE } cublasPointerMode_t;
extern "C" cublasStatus_t cublasGetPointerMode(cublasHandle_t, cublasPointerMode_t*);
extern "C" cublasStatus_t cublasSetPointerMode(cublasHandle_t, cublasPointerMode_t);
extern "C" cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t);
)stub";

constexpr std::string_view cuda_numbers = R"stub(#pragma once
#include "fullgraph_cuda.h"
struct __half { unsigned short x; };
struct __half2 { __half x, y; };
struct __nv_bfloat16 { unsigned short x; };
struct __nv_bfloat162 { __nv_bfloat16 x, y; };
typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
__host__ __device__ float __half2float(__half);
__host__ __device__ __half __float2half(float);
__host__ __device__ float __bfloat162float(__nv_bfloat16);
__host__ __device__ __nv_bfloat16 __float2bfloat16(float);
)stub";

constexpr std::string_view forward = "#pragma once\n#include \"fullgraph_cuda.h\"\n";

constexpr std::string_view library = "#pragma once\n#include \"fullgraph_cuda_libraries.h\"\n";
constexpr std::string_view numbers = "#pragma once\n#include \"fullgraph_cuda_numbers.h\"\n";

// Wheels of libtorch without CUDA have its headers that need this one, and not this one.
constexpr std::string_view macros = "#pragma once\n#define C10_CUDA_BUILD_SHARED_LIBS\n";

// What binds: names, arguments, and who is told of them.
constexpr std::string_view pybind11 = R"stub(#pragma once
#include <string>
namespace pybind11 {
struct object {
  template <class... A> object(A&&...) {}
  template <class... A> object operator()(A&&...) const { return {}; }
  template <class T> T cast() const;
  object attr(const char*) const;
  template <class T> object operator[](T&&) const { return {}; }
};
struct handle : object { using object::object; };
struct dict : object { using object::object; };
struct list : object { using object::object; };
struct tuple : object { using object::object; };
struct str : object { using object::object; };
struct bytes : object { using object::object; };
struct function : object { using object::object; };
struct none : object { using object::object; };
struct args : object { using object::object; };
struct kwargs : object { using object::object; };
struct module_ : object {
  using object::object;
  template <class... A> module_& def(const char*, A&&...) { return *this; }
  module_ def_submodule(const char*, const char* = nullptr);
  static module_ import(const char*);
};
using module = module_;
template <class T, class... O> struct class_ : object {
  template <class... A> class_(const object&, const char*, A&&...) {}
  template <class... A> class_& def(A&&...) { return *this; }
  template <class... A> class_& def_static(A&&...) { return *this; }
  template <class... A> class_& def_readwrite(A&&...) { return *this; }
  template <class... A> class_& def_readonly(A&&...) { return *this; }
  template <class... A> class_& def_property(A&&...) { return *this; }
  template <class... A> class_& def_property_readonly(A&&...) { return *this; }
};
template <class T> struct enum_ : object {
  template <class... A> enum_(const object&, const char*, A&&...) {}
  template <class... A> enum_& value(A&&...) { return *this; }
  enum_& export_values();
};
struct arg {
  arg(const char*);
  template <class T> arg& operator=(T&&) { return *this; }
  arg& noconvert(bool = true);
};
template <class... A> struct call_guard {};
struct gil_scoped_release { gil_scoped_release(); ~gil_scoped_release(); };
struct gil_scoped_acquire { gil_scoped_acquire(); ~gil_scoped_acquire(); };
template <class... A> struct init_of {};
template <class... A> init_of<A...> init();
template <class F> init_of<F> init(F&&) { return {}; }
template <class... A> struct overload_of { template <class F> F operator()(F f) const { return f; } };
template <class... A> inline constexpr overload_of<A...> overload_cast{};
template <class T> object cast(T&&) { return {}; }
}  // namespace pybind11
namespace py = pybind11;
#define FULLGRAPH_JOIN_(a, b) a##b
#define FULLGRAPH_JOIN(a, b) FULLGRAPH_JOIN_(a, b)
#define PYBIND11_MODULE(name, variable, ...) static void FULLGRAPH_JOIN(pybind11_init_, name)(::pybind11::module_& variable)
)stub";

constexpr std::string_view binding = "#pragma once\n#include <pybind11/pybind11.h>\n";
constexpr std::string_view extension = "#pragma once\n#include <torch/all.h>\n#include <pybind11/pybind11.h>\n";

constexpr std::array<Stub, 24> all = {{{cuda_stub_path, cuda},
                                       {"/fullgraph-stubs/cuda_runtime.h", forward},
                                       {"/fullgraph-stubs/cuda.h", forward},
                                       {"/fullgraph-stubs/cuda_runtime_api.h", forward},
                                       {"/fullgraph-stubs/fullgraph_cuda_libraries.h", cuda_libraries},
                                       {"/fullgraph-stubs/cublas_v2.h", library},
                                       {"/fullgraph-stubs/cublasLt.h", library},
                                       {"/fullgraph-stubs/cusparse.h", library},
                                       {"/fullgraph-stubs/cusolverDn.h", library},
                                       {"/fullgraph-stubs/cusolver_common.h", library},
                                       {"/fullgraph-stubs/library_types.h", library},
                                       {"/fullgraph-stubs/driver_types.h", forward},
                                       {"/fullgraph-stubs/fullgraph_cuda_numbers.h", cuda_numbers},
                                       {"/fullgraph-stubs/cuda_fp16.h", numbers},
                                       {"/fullgraph-stubs/cuda_bf16.h", numbers},
                                       {"/fullgraph-stubs/c10/cuda/impl/cuda_cmake_macros.h", macros},
                                       {"/fullgraph-stubs/python/pybind11/pybind11.h", pybind11},
                                       {"/fullgraph-stubs/python/pybind11/stl.h", binding},
                                       {"/fullgraph-stubs/python/pybind11/numpy.h", binding},
                                       {"/fullgraph-stubs/python/pybind11/functional.h", binding},
                                       {"/fullgraph-stubs/python/torch/extension.h", extension},
                                       {"/fullgraph-stubs/python/torch/python.h", extension},
                                       {"/fullgraph-stubs/python/torch/csrc/utils/pybind.h", extension},
                                       {"/fullgraph-stubs/python/Python.h", "#pragma once\n"}}};

}  // namespace

std::span<const Stub> stubs() {
  return all;
}

}  // namespace fullgraph::cxx
