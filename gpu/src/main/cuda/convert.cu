// compress_TYPE(output, input, count, factor): float32 times factor, rounded to a half type.
// decompress_TYPE(output, input, count, factor): a half type widened to float32, times factor.
// scale_TYPE(output, input, count, factor): times factor; in place if output and input are the same.
//
// The factor is rounded to the type of the computation: float, or double for float64.

#include "element.cuh"

namespace collectives {

// Of both sides as many elements at a time as make one pack of the larger type.
template <class From, class To>
__device__ void convert(void* output, const void* input, Count count, double factor) {
  typedef typename From::Stored Source;
  typedef typename To::Stored Target;
  typedef typename From::Computed Computed;
  const int length = sizeof(Source) > sizeof(Target) ? 16 / sizeof(Source) : 16 / sizeof(Target);
  struct alignas(length * sizeof(Source)) Sources { Source values[length]; };
  struct alignas(length * sizeof(Target)) Targets { Target values[length]; };

  Computed scale = (Computed)factor;
  Count packs = isPackAligned(output) && isPackAligned(input) ? count / length : 0;
  for (Count at = firstIndex(); at < packs; at += stride()) {
    Sources sources = ((const Sources*)input)[at];
    Targets targets;
#pragma unroll
    for (int i = 0; i < length; i++) {
      targets.values[i] = To::narrow(From::widen(sources.values[i]) * scale);
    }
    ((Targets*)output)[at] = targets;
  }
  for (Count at = packs * length + firstIndex(); at < count; at += stride()) {
    ((Target*)output)[at] = To::narrow(From::widen(((const Source*)input)[at]) * scale);
  }
}

}  // namespace collectives

#define CONVERT(name, From, To)                                                           \
  extern "C" __global__ void name(                                                        \
      void* output, const void* input, unsigned long long count, double factor) {         \
    collectives::convert<collectives::From, collectives::To>(output, input, count, factor); \
  }

CONVERT(compress_float16, Float32, Float16)
CONVERT(compress_bfloat16, Float32, BFloat16)
CONVERT(decompress_float16, Float16, Float32)
CONVERT(decompress_bfloat16, BFloat16, Float32)
CONVERT(scale_float16, Float16, Float16)
CONVERT(scale_bfloat16, BFloat16, BFloat16)
CONVERT(scale_float32, Float32, Float32)
CONVERT(scale_float64, Float64, Float64)
