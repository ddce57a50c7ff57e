// The element types of the kernels: how each lies in memory, and in what it is computed.
//
// The half types are computed in float and rounded to nearest, ties to even. All that is done to
// bfloat16 is done on its bits, so that the same PTX serves devices older than sm_80.
#pragma once

#include <cuda_fp16.h>

namespace collectives {

typedef unsigned long long Count;

// A type that is computed as it is stored; Wrapping is what its sums and products are taken in, an
// unsigned type for the integers, whose overflow then wraps around.
template <class T, class W>
struct Plain {
  typedef T Stored;
  typedef T Computed;
  typedef W Wrapping;
  static __device__ T widen(T value) { return value; }
  static __device__ T narrow(T value) { return value; }
};

struct Float32 : Plain<float, float> {};
struct Float64 : Plain<double, double> {};
struct UInt8 : Plain<unsigned char, unsigned> {};
struct Int8 : Plain<signed char, unsigned> {};
struct Int16 : Plain<short, unsigned> {};
struct Int32 : Plain<int, unsigned> {};
struct Int64 : Plain<long long, unsigned long long> {};

// All but 0 is true; results are 0 or 1.
struct Bool {
  typedef unsigned char Stored;
  typedef unsigned char Computed;
  static __device__ unsigned char widen(unsigned char value) { return value != 0; }
  static __device__ unsigned char narrow(unsigned char value) { return value; }
};

struct Float16 {
  typedef unsigned short Stored;
  typedef float Computed;
  typedef float Wrapping;
  static __device__ float widen(unsigned short bits) { return __half2float(__ushort_as_half(bits)); }
  static __device__ unsigned short narrow(float value) {
    return __half_as_ushort(__float2half_rn(value));
  }
};

struct BFloat16 {
  typedef unsigned short Stored;
  typedef float Computed;
  typedef float Wrapping;
  static __device__ float widen(unsigned short bits) {
    return __uint_as_float((unsigned)bits << 16);
  }
  static __device__ unsigned short narrow(float value) {
    unsigned bits = __float_as_uint(value);
    // Rounding would carry a NaN whose upper bits are few into infinity.
    if (value != value) {
      return (unsigned short)(bits >> 16 | 0x40);
    }
    return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};

// As many elements as one load of 16 bytes brings: the widest that there is.
template <class T>
struct alignas(16) Pack {
  static const int LENGTH = 16 / sizeof(T);
  T values[LENGTH];
};

__device__ inline bool isPackAligned(const void* pointer) {
  return ((size_t)pointer & 15) == 0;
}

__device__ inline Count firstIndex() { return (Count)blockIdx.x * blockDim.x + threadIdx.x; }

__device__ inline Count stride() { return (Count)gridDim.x * blockDim.x; }

}  // namespace collectives
