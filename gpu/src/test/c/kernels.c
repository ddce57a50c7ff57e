/* What our kernels compute, by their names and with the parameters of their PTX. */
#include "fake.h"

#include <math.h>
#include <string.h>

static const struct { const char *name; Type type; } types[] = {
  {"float16", T_FLOAT16}, {"bfloat16", T_BFLOAT16}, {"float32", T_FLOAT32}, {"float64", T_FLOAT64},
  {"float8_e4m3", T_FLOAT8_E4M3}, {"float8_e5m2", T_FLOAT8_E5M2}, {"uint8", T_UINT8}, {"int8", T_INT8},
  {"int16", T_INT16}, {"int32", T_INT32}, {"int64", T_INT64}, {"bool", T_BOOL},
};

static const struct { const char *name; Op op; } operations[] = {
  {"sum", O_SUM}, {"avg", O_AVG}, {"product", O_PRODUCT}, {"min", O_MIN}, {"max", O_MAX},
  {"band", O_AND}, {"bor", O_OR}, {"bxor", O_XOR},
};

static bool find_type(const char *name, Type *type) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (strcmp(types[i].name, name) == 0) {
      *type = types[i].type;
      return true;
    }
  }
  return false;
}

#define PARAMETER(type, index) (*(type *)parameters[index])

static void run_reduce(Context *context, Type type, Op op, void **parameters) {
  int input_count = PARAMETER(int, 1);
  uint64_t count = PARAMETER(uint64_t, 2);
  const uint64_t *addresses = parameters[4];
  const void *inputs[16];
  void *output = reach_or_fail(context, PARAMETER(uint64_t, 0), count * type_bytes(type));
  if (output == NULL || input_count < 1 || input_count > 16) return;
  for (int i = 0; i < input_count; i++) {
    inputs[i] = reach_or_fail(context, addresses[i], count * type_bytes(type));
    if (inputs[i] == NULL) return;
  }
  reduce_elements(type, op, output, inputs, input_count, count, PARAMETER(double, 3));
}

static void run_nan_check(Context *context, Type type, void **parameters) {
  uint64_t count = PARAMETER(uint64_t, 1);
  void *data = reach_or_fail(context, PARAMETER(uint64_t, 0), count * type_bytes(type));
  uint64_t *found = reach_or_fail(context, PARAMETER(uint64_t, 2), sizeof(uint64_t));
  if (data == NULL || found == NULL) return;
  for (uint64_t i = 0; i < count; i++) {
    if (isnan(get_float(type, data, i))) *found = i + 1;
  }
}

static void run_conversion(Context *context, Type from, Type to, void **parameters) {
  uint64_t count = PARAMETER(uint64_t, 2);
  void *output = reach_or_fail(context, PARAMETER(uint64_t, 0), count * type_bytes(to));
  void *input = reach_or_fail(context, PARAMETER(uint64_t, 1), count * type_bytes(from));
  if (output == NULL || input == NULL) return;
  double factor = PARAMETER(double, 3);
  for (uint64_t i = 0; i < count; i++) {
    double value = get_float(from, input, i);
    set_float(to, output, i, from == T_FLOAT64 ? value * factor : (double)((float)value * (float)factor));
  }
}

/* False if no kernel has the name. */
bool run_kernel(Context *context, const char *name, void **parameters) {
  Type type;
  if (strncmp(name, "nan_check_", 10) == 0 && find_type(name + 10, &type)) {
    run_nan_check(context, type, parameters);
    return true;
  }
  if (strncmp(name, "compress_", 9) == 0 && find_type(name + 9, &type)) {
    run_conversion(context, T_FLOAT32, type, parameters);
    return true;
  }
  if (strncmp(name, "decompress_", 11) == 0 && find_type(name + 11, &type)) {
    run_conversion(context, type, T_FLOAT32, parameters);
    return true;
  }
  if (strncmp(name, "scale_", 6) == 0 && find_type(name + 6, &type)) {
    run_conversion(context, type, type, parameters);
    return true;
  }
  if (strncmp(name, "reduce_", 7) != 0) return false;
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
    size_t length = strlen(operations[i].name);
    if (strncmp(name + 7, operations[i].name, length) == 0 && name[7 + length] == '_' &&
        find_type(name + 8 + length, &type)) {
      run_reduce(context, type, operations[i].op, parameters);
      return true;
    }
  }
  return false;
}
