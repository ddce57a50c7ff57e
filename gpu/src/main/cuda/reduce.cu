// reduce_OPERATION_TYPE(output, inputCount, count, divisor, inputs): output[i] = inputs[0][i] op
// inputs[1][i] op ..., in that order. The output may be one of the inputs. What half types
// accumulate is float, rounded once. The divisor is that of avg; the others take no notice of it.
//
// The minimum and the maximum of numbers with a NaN among them is NaN, and -0 is less than 0, as in
// Java. No fused multiply-add, no fast division: the results have the bits of the CPU's.

#include "element.cuh"

namespace collectives {

// By value among the parameters of the kernel, so that a launch needs no memory on the device; read
// where the parameters lie, without a copy for each thread. The last of them, so that the host may
// give the pointers as if each were a parameter.
struct Inputs {
  const void* pointers[16];
};

struct Sum {
  template <class E>
  static __device__ typename E::Computed apply(
      typename E::Computed a, typename E::Computed b) {
    typedef typename E::Wrapping Wrapping;
    return (typename E::Computed)((Wrapping)a + (Wrapping)b);
  }
  template <class E>
  static __device__ typename E::Computed finish(typename E::Computed value, double) {
    return value;
  }
};

struct Avg : Sum {
  template <class E>
  static __device__ typename E::Computed finish(typename E::Computed value, double divisor) {
    return value / (typename E::Computed)divisor;
  }
};

struct Product : Sum {
  template <class E>
  static __device__ typename E::Computed apply(
      typename E::Computed a, typename E::Computed b) {
    typedef typename E::Wrapping Wrapping;
    return (typename E::Computed)((Wrapping)a * (Wrapping)b);
  }
};

__device__ inline float zero(float a, float b, bool negative) {
  unsigned x = __float_as_uint(a), y = __float_as_uint(b);
  return __uint_as_float(negative ? x | y : x & y);
}

__device__ inline double zero(double a, double b, bool negative) {
  long long x = __double_as_longlong(a), y = __double_as_longlong(b);
  return __longlong_as_double(negative ? x | y : x & y);
}

template <class T>
__device__ inline T zero(T a, T, bool) {
  return a;
}

struct Min : Sum {
  template <class E>
  static __device__ typename E::Computed apply(
      typename E::Computed a, typename E::Computed b) {
    if (a != a || b != b) {
      return a != a ? a : b;
    }
    return a < b ? a : b < a ? b : zero(a, b, true);
  }
};

struct Max : Sum {
  template <class E>
  static __device__ typename E::Computed apply(
      typename E::Computed a, typename E::Computed b) {
    if (a != a || b != b) {
      return a != a ? a : b;
    }
    return a > b ? a : b > a ? b : zero(a, b, false);
  }
};

struct BitAnd : Sum {
  template <class E>
  static __device__ typename E::Computed apply(
      typename E::Computed a, typename E::Computed b) {
    return a & b;
  }
};

struct BitOr : Sum {
  template <class E>
  static __device__ typename E::Computed apply(
      typename E::Computed a, typename E::Computed b) {
    return a | b;
  }
};

struct BitXor : Sum {
  template <class E>
  static __device__ typename E::Computed apply(
      typename E::Computed a, typename E::Computed b) {
    return a ^ b;
  }
};

template <class E>
struct PackSums {
  static const int LENGTH = Pack<typename E::Stored>::LENGTH;
  typename E::Computed values[LENGTH];

  __device__ void load(const Pack<typename E::Stored>& pack) {
#pragma unroll
    for (int i = 0; i < LENGTH; i++) {
      values[i] = E::widen(pack.values[i]);
    }
  }

  template <class Op>
  __device__ void accumulate(const Pack<typename E::Stored>& pack) {
#pragma unroll
    for (int i = 0; i < LENGTH; i++) {
      values[i] = Op::template apply<E>(values[i], E::widen(pack.values[i]));
    }
  }

  template <class Op>
  __device__ void finish(Pack<typename E::Stored>& pack, double divisor) {
#pragma unroll
    for (int i = 0; i < LENGTH; i++) {
      pack.values[i] = E::narrow(Op::template finish<E>(values[i], divisor));
    }
  }
};

template <class E, class Op>
__device__ void reducePack(
    Pack<typename E::Stored>* output, const Inputs& inputs, int inputCount, Count at,
    double divisor) {
  typedef Pack<typename E::Stored> Pack;
  PackSums<E> sums;
  sums.load(((const Pack*)inputs.pointers[0])[at]);
#pragma unroll 1
  for (int input = 1; input < inputCount; input++) {
    sums.template accumulate<Op>(((const Pack*)inputs.pointers[input])[at]);
  }
  Pack result;
  sums.template finish<Op>(result, divisor);
  output[at] = result;
}

template <class E, class Op>
__device__ void reduceElement(
    typename E::Stored* output, const Inputs& inputs, int inputCount, Count at, double divisor) {
  typedef typename E::Stored Stored;
  typename E::Computed sum = E::widen(((const Stored*)inputs.pointers[0])[at]);
#pragma unroll 1
  for (int input = 1; input < inputCount; input++) {
    sum = Op::template apply<E>(sum, E::widen(((const Stored*)inputs.pointers[input])[at]));
  }
  output[at] = E::narrow(Op::template finish<E>(sum, divisor));
}

template <class E, class Op>
__device__ void reduce(
    void* output, const Inputs& inputs, int inputCount, Count count, double divisor) {
  typedef typename E::Stored Stored;
  bool aligned = isPackAligned(output);
  for (int input = 0; input < inputCount; input++) {
    aligned = aligned && isPackAligned(inputs.pointers[input]);
  }
  Count packs = aligned ? count / Pack<Stored>::LENGTH : 0;
  for (Count at = firstIndex(); at < packs; at += stride()) {
    reducePack<E, Op>((Pack<Stored>*)output, inputs, inputCount, at, divisor);
  }
  for (Count at = packs * Pack<Stored>::LENGTH + firstIndex(); at < count; at += stride()) {
    reduceElement<E, Op>((Stored*)output, inputs, inputCount, at, divisor);
  }
}

}  // namespace collectives

#define REDUCE(operation, Op, type, Element)                                             \
  extern "C" __global__ void reduce_##operation##_##type(                                \
      void* output, int inputCount, unsigned long long count, double divisor,            \
      const __grid_constant__ collectives::Inputs inputs) {                              \
    collectives::reduce<collectives::Element, collectives::Op>(                          \
        output, inputs, inputCount, count, divisor);                                     \
  }

#define REDUCE_NUMBERS(type, Element)      \
  REDUCE(sum, Sum, type, Element)          \
  REDUCE(product, Product, type, Element)  \
  REDUCE(min, Min, type, Element)          \
  REDUCE(max, Max, type, Element)

#define REDUCE_BITS(type, Element)         \
  REDUCE(band, BitAnd, type, Element)      \
  REDUCE(bor, BitOr, type, Element)        \
  REDUCE(bxor, BitXor, type, Element)

#define REDUCE_FLOATS(type, Element)       \
  REDUCE_NUMBERS(type, Element)            \
  REDUCE(avg, Avg, type, Element)

#define REDUCE_INTEGERS(type, Element)     \
  REDUCE_NUMBERS(type, Element)            \
  REDUCE_BITS(type, Element)

REDUCE_FLOATS(float16, Float16)
REDUCE_FLOATS(bfloat16, BFloat16)
REDUCE_FLOATS(float32, Float32)
REDUCE_FLOATS(float64, Float64)
REDUCE_INTEGERS(uint8, UInt8)
REDUCE_INTEGERS(int8, Int8)
REDUCE_INTEGERS(int16, Int16)
REDUCE_INTEGERS(int32, Int32)
REDUCE_INTEGERS(int64, Int64)
REDUCE_BITS(bool, Bool)
