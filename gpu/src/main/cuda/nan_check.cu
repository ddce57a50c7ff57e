// nan_check_TYPE(data, count, found): where there is a NaN among the elements, stores 1 + the index
// of one of them in *found; else leaves it alone. The word lies in pinned memory of the host: an
// assertion in the kernel would tell the same, but leave the context unusable.

#include "element.cuh"

namespace collectives {


struct Half {
  typedef unsigned short Stored;
  static __device__ bool nan(unsigned short bits) { return (bits & 0x7fff) > 0x7c00; }
};

struct Brain {
  typedef unsigned short Stored;
  static __device__ bool nan(unsigned short bits) { return (bits & 0x7fff) > 0x7f80; }
};

struct Single {
  typedef float Stored;
  static __device__ bool nan(float value) { return value != value; }
};

struct Double {
  typedef double Stored;
  static __device__ bool nan(double value) { return value != value; }
};

// Has no infinity, and one NaN of each sign.
struct Eight43 {
  typedef unsigned char Stored;
  static __device__ bool nan(unsigned char bits) { return (bits & 0x7f) == 0x7f; }
};

struct Eight52 {
  typedef unsigned char Stored;
  static __device__ bool nan(unsigned char bits) { return (bits & 0x7f) > 0x7c; }
};

template <class E>
__device__ void nanCheck(const void* data, Count count, volatile Count* found) {
  typedef typename E::Stored Stored;
  typedef Pack<Stored> Pack;
  Count packs = isPackAligned(data) ? count / Pack::LENGTH : 0;
  for (Count at = firstIndex(); at < packs; at += stride()) {
    Pack pack = ((const Pack*)data)[at];
#pragma unroll
    for (int i = 0; i < Pack::LENGTH; i++) {
      if (E::nan(pack.values[i])) {
        *found = at * Pack::LENGTH + i + 1;
      }
    }
  }
  for (Count at = packs * Pack::LENGTH + firstIndex(); at < count; at += stride()) {
    if (E::nan(((const Stored*)data)[at])) {
      *found = at + 1;
    }
  }
}

}  // namespace collectives

#define NAN_CHECK(type, Element)                                                          \
  extern "C" __global__ void nan_check_##type(                                            \
      const void* data, unsigned long long count, unsigned long long* found) {            \
    collectives::nanCheck<collectives::Element>(data, count, found);                      \
  }

NAN_CHECK(float16, Half)
NAN_CHECK(bfloat16, Brain)
NAN_CHECK(float32, Single)
NAN_CHECK(float64, Double)
NAN_CHECK(float8_e4m3, Eight43)
NAN_CHECK(float8_e5m2, Eight52)
