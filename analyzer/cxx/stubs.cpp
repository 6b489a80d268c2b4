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

constexpr std::array<Stub, 12> all = {{{cuda_stub_path, cuda},
                                       {"/fullgraph-stubs/cuda_runtime.h", forward},
                                       {"/fullgraph-stubs/cuda.h", forward},
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
