/* Modules of PTX: which functions they have and how wide their parameters are. */
#define _GNU_SOURCE
#include "fake.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMETERS = 16 };

typedef struct Function {
  char name[128];
  int parameter_count;
  size_t sizes[MAX_PARAMETERS];
  struct Function *next;
} Function;

typedef struct Module {
  Function *functions;
  struct Module *next;
} Module;

static Module *modules;

/* ".u64 name", ".f64 name", ".align 8 .b8 name[128]": the bytes of one parameter; 0 if unreadable. */
static size_t parameter_bytes(const char *text, const char *end) {
  const char *type = NULL;
  for (const char *at = text; at < end; at++) {
    if (*at == '.' && strchr("busf", at[1]) != NULL && isdigit((unsigned char)at[2])) type = at;
  }
  if (type == NULL) return 0;
  size_t bytes = strtoul(type + 2, NULL, 10) / 8;
  const char *bracket = memchr(text, '[', (size_t)(end - text));
  return bracket == NULL ? bytes : bytes * strtoul(bracket + 1, NULL, 10);
}

static Function *parse_function(const char *at) {
  Function *function = calloc(1, sizeof *function);
  while (isspace((unsigned char)*at)) at++;
  size_t length = strcspn(at, "( \t\r\n");
  snprintf(function->name, sizeof function->name, "%.*s", (int)length, at);
  const char *open = strchr(at, '('), *close = open == NULL ? NULL : strchr(open, ')');
  for (const char *parameter = open; parameter != NULL && function->parameter_count < MAX_PARAMETERS;) {
    parameter = strstr(parameter, ".param");
    if (parameter == NULL || parameter > close) break;
    parameter += 6;
    const char *end = strpbrk(parameter, ",)");
    function->sizes[function->parameter_count++] = parameter_bytes(parameter, end);
    parameter = end;
  }
  return function;
}

int cuModuleLoadDataEx(void **handle, const char *ptx, unsigned options, void *keys, void *values) {
  (void)options, (void)keys, (void)values;
  ENTER_CONTEXT(context);
  if (ptx == NULL || strstr(ptx, ".version") == NULL || strstr(ptx, ".target") == NULL) return CUDA_ERROR_INVALID_PTX;
  Module *module = calloc(1, sizeof *module);
  for (const char *at = ptx; (at = strstr(at, ".entry")) != NULL;) {
    at += 6;
    Function *function = parse_function(at);
    function->next = module->functions;
    module->functions = function;
  }
  pthread_mutex_lock(&fake_lock);
  module->next = modules;
  modules = module;
  fake_live[LIVE_MODULES]++;
  pthread_mutex_unlock(&fake_lock);
  *handle = module;
  return context->failed;
}

int cuModuleLoadData(void **handle, const char *ptx) { return cuModuleLoadDataEx(handle, ptx, 0, NULL, NULL); }

static Module **link_to(void *handle) {
  for (Module **link = &modules; *link != NULL; link = &(*link)->next) {
    if (*link == handle) return link;
  }
  return NULL;
}

int cuModuleUnload(void *handle) {
  ENTER_CONTEXT(context);
  synchronize_context(context);
  pthread_mutex_lock(&fake_lock);
  Module **link = link_to(handle);
  Module *module = link == NULL ? NULL : *link;
  if (module != NULL) {
    *link = module->next;
    fake_live[LIVE_MODULES]--;
  }
  pthread_mutex_unlock(&fake_lock);
  if (module == NULL) return CUDA_ERROR_INVALID_HANDLE;
  while (module->functions != NULL) {
    Function *function = module->functions;
    module->functions = function->next;
    free(function);
  }
  free(module);
  return CUDA_SUCCESS;
}

int cuModuleGetFunction(void **handle, void *module, const char *name) {
  ENTER_CONTEXT(context);
  pthread_mutex_lock(&fake_lock);
  Module **link = link_to(module);
  Function *found = link == NULL ? NULL : (*link)->functions;
  while (found != NULL && strcmp(found->name, name) != 0) found = found->next;
  pthread_mutex_unlock(&fake_lock);
  if (link == NULL) return CUDA_ERROR_INVALID_HANDLE;
  if (found == NULL) return CUDA_ERROR_NOT_FOUND;
  *handle = found;
  return CUDA_SUCCESS;
}

static bool is_function(void *handle) {
  bool found = false;
  pthread_mutex_lock(&fake_lock);
  for (Module *module = modules; module != NULL; module = module->next) {
    for (Function *function = module->functions; function != NULL; function = function->next) {
      found = found || function == handle;
    }
  }
  pthread_mutex_unlock(&fake_lock);
  return found;
}

typedef struct {
  Context *context;
  char name[128];
  int parameter_count;
  size_t offsets[MAX_PARAMETERS];
  _Alignas(16) char values[];
} Launch;

static void launch(void *argument) {
  Launch *l = argument;
  void *parameters[MAX_PARAMETERS];
  for (int i = 0; i < l->parameter_count; i++) parameters[i] = l->values + l->offsets[i];
  if (!run_kernel(l->context, l->name, parameters)) {
    fprintf(stderr, "fake CUDA: does not know what the kernel %s computes\n", l->name);
    l->context->failed = CUDA_ERROR_NOT_SUPPORTED;
  }
}

/* Copies the parameters before it returns, as many bytes of each as the PTX declares. */
int cuLaunchKernel(void *handle, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
    unsigned block_y, unsigned block_z, unsigned shared, void *stream_handle, void **parameters, void **extra) {
  ENTER_CONTEXT(context);
  if (!is_function(handle)) return CUDA_ERROR_INVALID_HANDLE;
  Stream *stream = stream_of(context, stream_handle);
  if (stream == NULL) return CUDA_ERROR_INVALID_HANDLE;
  if ((uint64_t)grid_x * grid_y * grid_z == 0 || (uint64_t)block_x * block_y * block_z == 0 ||
      (uint64_t)block_x * block_y * block_z > 1024 || grid_y > 65535 || grid_z > 65535 || shared > 49152 || extra != NULL) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Function *function = handle;
  size_t bytes = 0;
  for (int i = 0; i < function->parameter_count; i++) bytes += (function->sizes[i] + 15) & ~(size_t)15;
  Launch *l = calloc(1, sizeof *l + bytes);
  l->context = context;
  l->parameter_count = function->parameter_count;
  memcpy(l->name, function->name, sizeof l->name);
  size_t offset = 0;
  for (int i = 0; i < function->parameter_count; i++) {
    if (parameters == NULL || parameters[i] == NULL) {
      free(l);
      return CUDA_ERROR_INVALID_VALUE;
    }
    memcpy(l->values + offset, parameters[i], function->sizes[i]);
    l->offsets[i] = offset;
    offset += (function->sizes[i] + 15) & ~(size_t)15;
  }
  submit(stream, launch, l);
  return CUDA_SUCCESS;
}
