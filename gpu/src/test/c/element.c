/* The arithmetic of elements: what kernels and NCCL share. */
#include "fake.h"

#include <math.h>
#include <string.h>

size_t type_bytes(Type type) {
  switch (type) {
    case T_INT8: case T_UINT8: case T_BOOL: case T_FLOAT8_E4M3: case T_FLOAT8_E5M2: return 1;
    case T_FLOAT16: case T_BFLOAT16: case T_INT16: return 2;
    case T_INT32: case T_UINT32: case T_FLOAT32: return 4;
    default: return 8;
  }
}

bool type_is_float(Type type) { return (type >= T_FLOAT16 && type <= T_FLOAT8_E5M2); }

/* A small floating-point format with an implicit one, subnormals and a NaN. */
typedef struct { int exponent_bits, mantissa_bits; bool has_infinity; } Format;

static Format format_of(Type type) {
  switch (type) {
    case T_FLOAT16: return (Format){5, 10, true};
    case T_FLOAT8_E4M3: return (Format){4, 3, false};
    case T_FLOAT8_E5M2: return (Format){5, 2, true};
    default: return (Format){8, 7, true};  /* bfloat16 */
  }
}

static double widen(Format f, unsigned bits) {
  int bias = (1 << (f.exponent_bits - 1)) - 1;
  unsigned mantissa = bits & ((1u << f.mantissa_bits) - 1);
  int exponent = (int)(bits >> f.mantissa_bits & ((1u << f.exponent_bits) - 1));
  bool negative = bits >> (f.exponent_bits + f.mantissa_bits) & 1;
  int top = (1 << f.exponent_bits) - 1;
  double value;
  if (exponent == top && f.has_infinity) {
    value = mantissa != 0 ? NAN : INFINITY;
  } else if (exponent == top && mantissa == (1u << f.mantissa_bits) - 1) {
    value = NAN;
  } else if (exponent == 0) {
    value = ldexp(mantissa, 1 - bias - f.mantissa_bits);
  } else {
    value = ldexp(mantissa | 1u << f.mantissa_bits, exponent - bias - f.mantissa_bits);
  }
  return negative ? -value : value;
}

static unsigned narrow(Format f, double value) {
  int bias = (1 << (f.exponent_bits - 1)) - 1;
  unsigned sign = signbit(value) ? 1u << (f.exponent_bits + f.mantissa_bits) : 0;
  unsigned top = ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
  unsigned nan = f.has_infinity ? top | 1u << (f.mantissa_bits - 1) : top | ((1u << f.mantissa_bits) - 1);
  unsigned infinity = f.has_infinity ? top : nan;
  if (isnan(value)) return sign | nan;
  double magnitude = fabs(value);
  if (isinf(magnitude)) return sign | infinity;
  if (magnitude == 0) return sign;
  int exponent;
  frexp(magnitude, &exponent);  /* magnitude = 0.5 ... 1 times 2^exponent */
  exponent--;
  if (exponent < 1 - bias) exponent = 1 - bias;
  double scaled = nearbyint(ldexp(magnitude, f.mantissa_bits - exponent));  /* ties to even */
  unsigned bits = (unsigned)scaled;
  if (bits >= 2u << f.mantissa_bits) {
    bits >>= 1;
    exponent++;
  }
  if (bits < 1u << f.mantissa_bits) return sign | bits;  /* subnormal */
  unsigned encoded = ((unsigned)(exponent + bias) << f.mantissa_bits) + (bits - (1u << f.mantissa_bits));
  return sign | (encoded >= infinity ? infinity : encoded);
}

double get_float(Type type, const void *array, size_t index) {
  switch (type) {
    case T_FLOAT32: return ((const float *)array)[index];
    case T_FLOAT64: return ((const double *)array)[index];
    case T_FLOAT16: case T_BFLOAT16: return widen(format_of(type), ((const uint16_t *)array)[index]);
    default: return widen(format_of(type), ((const uint8_t *)array)[index]);
  }
}

void set_float(Type type, void *array, size_t index, double value) {
  switch (type) {
    case T_FLOAT32: ((float *)array)[index] = (float)value; break;
    case T_FLOAT64: ((double *)array)[index] = value; break;
    case T_FLOAT16: case T_BFLOAT16:
      ((uint16_t *)array)[index] = (uint16_t)narrow(format_of(type), value);
      break;
    default: ((uint8_t *)array)[index] = (uint8_t)narrow(format_of(type), value);
  }
}

/* All but float64 is accumulated in float and rounded at the end. */
static double combine_floats(Type type, Op op, double a, double b) {
  double result;
  switch (op) {
    case O_PRODUCT: result = a * b; break;
    case O_MIN: result = isnan(a) || isnan(b) ? NAN : a < b || (a == b && signbit(a)) ? a : b; break;
    case O_MAX: result = isnan(a) || isnan(b) ? NAN : a > b || (a == b && !signbit(a)) ? a : b; break;
    default: result = a + b;
  }
  return type == T_FLOAT64 ? result : (double)(float)result;
}

static uint64_t get_integer(Type type, const void *array, size_t i) {
  switch (type) {
    case T_INT8: return (uint64_t)(int64_t)((const int8_t *)array)[i];
    case T_UINT8: return ((const uint8_t *)array)[i];
    case T_BOOL: return ((const uint8_t *)array)[i] != 0;
    case T_INT16: return (uint64_t)(int64_t)((const int16_t *)array)[i];
    case T_INT32: return (uint64_t)(int64_t)((const int32_t *)array)[i];
    case T_UINT32: return ((const uint32_t *)array)[i];
    default: return ((const uint64_t *)array)[i];
  }
}

static void set_integer(Type type, void *array, size_t i, uint64_t value) {
  memcpy((char *)array + i * type_bytes(type), &value, type_bytes(type));
}

static bool is_unsigned(Type type) {
  return type == T_UINT8 || type == T_UINT32 || type == T_UINT64 || type == T_BOOL;
}

static uint64_t combine_integers(Type type, Op op, uint64_t a, uint64_t b) {
  bool less = is_unsigned(type) ? a < b : (int64_t)a < (int64_t)b;
  switch (op) {
    case O_PRODUCT: return a * b;
    case O_MIN: return less ? a : b;
    case O_MAX: return less ? b : a;
    case O_AND: return a & b;
    case O_OR: return a | b;
    case O_XOR: return a ^ b;
    default: return a + b;
  }
}

/* The result of each place is written last: the output may be one of the inputs. */
void reduce_elements(Type type, Op op, void *output, const void *const *inputs, int input_count,
    size_t count, double divisor) {
  for (size_t i = 0; i < count; i++) {
    if (type_is_float(type)) {
      double sum = get_float(type, inputs[0], i);
      for (int k = 1; k < input_count; k++) sum = combine_floats(type, op, sum, get_float(type, inputs[k], i));
      if (op == O_AVG) sum = type == T_FLOAT64 ? sum / divisor : (double)((float)sum / (float)divisor);
      set_float(type, output, i, sum);
    } else {
      uint64_t sum = get_integer(type, inputs[0], i);
      for (int k = 1; k < input_count; k++) sum = combine_integers(type, op, sum, get_integer(type, inputs[k], i));
      if (op == O_AVG) sum = is_unsigned(type) ? sum / (uint64_t)divisor : (uint64_t)((int64_t)sum / (int64_t)divisor);
      set_integer(type, output, i, sum);
    }
  }
}
