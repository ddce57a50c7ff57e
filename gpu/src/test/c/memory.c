/* Memory: of devices, pinned, shared with other processes; copies and fills. */
#define _GNU_SOURCE
#include "fake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Added to where the bytes really are: an address that the host cannot follow. */
static const uint64_t DEVICE_TAG = (uint64_t)1 << 50;

typedef enum { ON_DEVICE, OPENED, PINNED, REGISTERED } Kind;

typedef struct Block {
  Kind kind;
  Context *context;
  uint64_t address;  /* as CUDA tells it */
  char *bytes;       /* where the host reaches it */
  uint64_t size, mapped;
  int file;          /* an anonymous one, which other processes can map; -1 without */
  unsigned flags;
  uint64_t id;
  struct Block *next;
} Block;

static Block *blocks;
static uint64_t next_id = 1;

static Block *block_at(uint64_t address, uint64_t bytes) {
  for (Block *each = blocks; each != NULL; each = each->next) {
    if (address >= each->address && address - each->address <= each->size &&
        bytes <= each->size - (address - each->address) && (bytes > 0 || address - each->address < each->size)) {
      return each;
    }
  }
  return NULL;
}

static void *reach_locked(uint64_t address, uint64_t bytes) {
  Block *block = block_at(address, bytes);
  return block == NULL ? NULL : block->bytes + (address - block->address);
}

void *reach(uint64_t address, uint64_t bytes) {
  pthread_mutex_lock(&fake_lock);
  void *host = reach_locked(address, bytes);
  pthread_mutex_unlock(&fake_lock);
  return host;
}

void *reach_or_fail(Context *context, uint64_t address, uint64_t bytes) {
  pthread_mutex_lock(&fake_lock);
  void *host = reach_locked(address, bytes);
  if (host == NULL && context->failed == 0) {
    context->failed = CUDA_ERROR_ILLEGAL_ADDRESS;
    fprintf(stderr, "fake CUDA: %llu bytes at 0x%llx are in no allocation\n", (unsigned long long)bytes,
        (unsigned long long)address);
  }
  pthread_mutex_unlock(&fake_lock);
  return host;
}

static void account(Block *block, long sign) {
  if (block->kind == ON_DEVICE) {
    block->context->allocated += (uint64_t)(sign * (long)block->size);
    fake_live[LIVE_DEVICE] += sign * (long)block->size;
  } else if (block->kind == PINNED) {
    fake_live[LIVE_PINNED] += sign * (long)block->size;
  }
}

static void add(Block *block) {
  pthread_mutex_lock(&fake_lock);
  block->id = next_id++;
  block->next = blocks;
  blocks = block;
  account(block, 1);
  pthread_mutex_unlock(&fake_lock);
}

/* Takes out the block that begins at an address. */
static Block *take(uint64_t address, Kind kind) {
  pthread_mutex_lock(&fake_lock);
  Block **link = &blocks;
  while (*link != NULL && !((*link)->address == address && (*link)->kind == kind)) link = &(*link)->next;
  Block *found = *link;
  if (found != NULL) {
    *link = found->next;
    account(found, -1);
  }
  pthread_mutex_unlock(&fake_lock);
  return found;
}

static void unmap(Block *block) {
  if (block->kind != REGISTERED) munmap(block->bytes, block->mapped);
  if (block->file >= 0) close(block->file);
  free(block);
}

static uint64_t whole_pages(uint64_t bytes) { return (bytes + 4095) & ~(uint64_t)4095; }

static Block *map(Context *context, Kind kind, uint64_t bytes, int file) {
  uint64_t mapped = whole_pages(bytes);
  int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  char *memory = mmap(NULL, mapped, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, file, 0);
  if (memory == MAP_FAILED) return NULL;
  Block *block = calloc(1, sizeof *block);
  *block = (Block){.kind = kind, .context = context, .bytes = memory, .size = bytes, .mapped = mapped, .file = file};
  block->address = (uint64_t)(uintptr_t)memory + (kind == PINNED ? 0 : DEVICE_TAG);
  return block;
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  ENTER_CONTEXT(context);
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock(&fake_lock);
  bool fits = bytes <= device_bytes() && context->allocated <= device_bytes() - bytes;
  pthread_mutex_unlock(&fake_lock);
  if (!fits) return CUDA_ERROR_OUT_OF_MEMORY;
  int file = memfd_create("fake-cuda", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)whole_pages(bytes)) != 0) {
    if (file >= 0) close(file);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  Block *block = map(context, ON_DEVICE, bytes, file);
  if (block == NULL) {
    close(file);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  /* What fresh memory of a device holds is undefined. */
  memset(block->bytes, 0xa5, bytes < 65536 ? bytes : 65536);
  add(block);
  *address = block->address;
  return CUDA_SUCCESS;
}

int cuMemFree_v2(uint64_t address) {
  ENTER_CONTEXT(context);
  if (address == 0) return CUDA_SUCCESS;
  synchronize_context(context);
  Block *block = take(address, ON_DEVICE);
  if (block == NULL) return CUDA_ERROR_INVALID_VALUE;
  unmap(block);
  return CUDA_SUCCESS;
}

int cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
  ENTER_CONTEXT(context);
  pthread_mutex_lock(&fake_lock);
  *total = device_bytes();
  *free_bytes = device_bytes() - context->allocated;
  pthread_mutex_unlock(&fake_lock);
  return CUDA_SUCCESS;
}

int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  ENTER_CONTEXT(context);
  if (bytes == 0 || flags > 7) return CUDA_ERROR_INVALID_VALUE;
  Block *block = map(context, PINNED, bytes, -1);
  if (block == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  block->flags = flags;
  add(block);
  *memory = block->bytes;
  return CUDA_SUCCESS;
}

int cuMemAllocHost_v2(void **memory, size_t bytes) { return cuMemHostAlloc(memory, bytes, 0); }

int cuMemFreeHost(void *memory) {
  ENTER_CONTEXT(context);
  synchronize_context(context);
  Block *block = take((uint64_t)(uintptr_t)memory, PINNED);
  if (block == NULL) return CUDA_ERROR_INVALID_VALUE;
  unmap(block);
  return CUDA_SUCCESS;
}

int cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags) {
  ENTER_CONTEXT(context);
  if (bytes == 0 || memory == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (reach((uint64_t)(uintptr_t)memory, 1) != NULL) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  Block *block = calloc(1, sizeof *block);
  *block = (Block){.kind = REGISTERED, .context = context, .bytes = memory, .size = bytes, .file = -1,
      .flags = flags, .address = (uint64_t)(uintptr_t)memory};
  add(block);
  return CUDA_SUCCESS;
}

int cuMemHostUnregister(void *memory) {
  ENTER_CONTEXT(context);
  synchronize_context(context);
  Block *block = take((uint64_t)(uintptr_t)memory, REGISTERED);
  if (block == NULL) return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  unmap(block);
  return CUDA_SUCCESS;
}

int cuMemHostGetDevicePointer_v2(uint64_t *address, void *memory, unsigned flags) {
  ENTER_CONTEXT(context);
  if (flags != 0 || reach((uint64_t)(uintptr_t)memory, 1) == NULL) return CUDA_ERROR_INVALID_VALUE;
  *address = (uint64_t)(uintptr_t)memory;
  return CUDA_SUCCESS;
}

int cuMemHostGetFlags(unsigned *flags, void *memory) {
  ENTER_CONTEXT(context);
  pthread_mutex_lock(&fake_lock);
  Block *block = block_at((uint64_t)(uintptr_t)memory, 1);
  if (block != NULL) *flags = block->flags;
  pthread_mutex_unlock(&fake_lock);
  return block == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

int cuMemGetAddressRange_v2(uint64_t *base, size_t *size, uint64_t address) {
  ENTER_CONTEXT(context);
  pthread_mutex_lock(&fake_lock);
  Block *block = block_at(address, 1);
  if (block != NULL) {
    if (base != NULL) *base = block->address;
    if (size != NULL) *size = block->size;
  }
  pthread_mutex_unlock(&fake_lock);
  return block == NULL ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

int cuPointerGetAttribute(void *data, int attribute, uint64_t address) {
  ENTER_CONTEXT(context);
  pthread_mutex_lock(&fake_lock);
  Block *block = block_at(address, 1);
  bool device = block != NULL && (block->kind == ON_DEVICE || block->kind == OPENED);
  int code = block == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  if (block != NULL) {
    switch (attribute) {
      case 1: *(void **)data = block->context; break;
      case 2: *(unsigned *)data = device ? 2 : 1; break;
      case 3: *(uint64_t *)data = address; break;
      case 4:
        if (device) code = CUDA_ERROR_INVALID_VALUE;
        else *(uint64_t *)data = address;
        break;
      case 6: case 8: *(unsigned *)data = 0; break;
      case 7: *(uint64_t *)data = block->id; break;
      case 9: *(int *)data = block->context->ordinal; break;
      case 11: *(uint64_t *)data = block->address; break;
      case 12: *(size_t *)data = block->size; break;
      default: code = CUDA_ERROR_NOT_SUPPORTED;
    }
  }
  pthread_mutex_unlock(&fake_lock);
  return code;
}

/* ---- Memory of another process ------------------------------------------------------------------ */
typedef struct {
  uint32_t magic;
  int32_t process, file, ordinal;
  uint64_t size;
  char rest[40];
} MemoryHandle;

_Static_assert(sizeof(MemoryHandle) == 64, "a CUipcMemHandle has 64 bytes");

int cuIpcGetMemHandle(MemoryHandle *handle, uint64_t address) {
  ENTER_CONTEXT(context);
  pthread_mutex_lock(&fake_lock);
  Block *block = block_at(address, 1);
  bool shareable = block != NULL && block->kind == ON_DEVICE && block->address == address;
  if (shareable) {
    memset(handle, 0, sizeof *handle);
    *handle = (MemoryHandle){.magic = 0x6b616c65, .process = getpid(), .file = block->file,
        .ordinal = block->context->ordinal, .size = block->size};
  }
  pthread_mutex_unlock(&fake_lock);
  return shareable ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

int cuIpcOpenMemHandle_v2(uint64_t *address, MemoryHandle handle, unsigned flags) {
  ENTER_CONTEXT(context);
  if (handle.magic != 0x6b616c65 || flags != 1) return CUDA_ERROR_INVALID_VALUE;
  if (handle.process == getpid()) return CUDA_ERROR_INVALID_CONTEXT;
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", handle.process, handle.file);
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return CUDA_ERROR_INVALID_HANDLE;
  Block *block = map(context, OPENED, handle.size, file);
  if (block == NULL) {
    close(file);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  add(block);
  *address = block->address;
  return CUDA_SUCCESS;
}

int cuIpcCloseMemHandle(uint64_t address) {
  ENTER_CONTEXT(context);
  synchronize_context(context);
  Block *block = take(address, OPENED);
  if (block == NULL) return CUDA_ERROR_INVALID_VALUE;
  unmap(block);
  return CUDA_SUCCESS;
}

/* ---- Copies and fills ---------------------------------------------------------------------------- */
typedef struct {
  Context *context;
  uint64_t target, source;  /* addresses of CUDA, or of the host where so marked */
  bool target_is_host, source_is_host;
  uint64_t bytes;
  char snapshot[];
} Copy;

static void copy(void *argument) {
  Copy *c = argument;
  void *target = c->target_is_host ? (void *)(uintptr_t)c->target : reach_or_fail(c->context, c->target, c->bytes);
  void *source = c->source_is_host ? (void *)(uintptr_t)c->source : reach_or_fail(c->context, c->source, c->bytes);
  if (target != NULL && source != NULL) memmove(target, source, c->bytes);
}

/* Pageable memory of the host is read before the call returns, or written before it does. */
static int copy_on(Context *context, void *handle, uint64_t target, uint64_t source, uint64_t bytes,
    bool target_may_be_host, bool source_may_be_host, bool wait) {
  if (bytes == 0) return CUDA_SUCCESS;
  Stream *stream = stream_of(context, handle);
  if (stream == NULL) return CUDA_ERROR_INVALID_HANDLE;
  bool to_pageable = reach(target, bytes) == NULL;
  bool from_pageable = reach(source, bytes) == NULL;
  if ((to_pageable && (!target_may_be_host || target >= DEVICE_TAG)) ||
      (from_pageable && (!source_may_be_host || source >= DEVICE_TAG))) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  bool snapshot = from_pageable && !wait;
  Copy *c = malloc(sizeof *c + (snapshot ? bytes : 0));
  *c = (Copy){.context = context, .target = target, .source = source, .target_is_host = to_pageable,
      .source_is_host = from_pageable, .bytes = bytes};
  if (snapshot) {
    memcpy(c->snapshot, (void *)(uintptr_t)source, bytes);
    c->source = (uint64_t)(uintptr_t)c->snapshot;
  }
  submit(stream, copy, c);
  if (wait || to_pageable) synchronize(stream);
  return context->failed;
}

#define HOST(pointer) ((uint64_t)(uintptr_t)(pointer))

int cuMemcpyHtoD_v2(uint64_t target, const void *source, size_t bytes) {
  ENTER_CONTEXT(context);
  return copy_on(context, NULL, target, HOST(source), bytes, false, true, true);
}
int cuMemcpyDtoH_v2(void *target, uint64_t source, size_t bytes) {
  ENTER_CONTEXT(context);
  return copy_on(context, NULL, HOST(target), source, bytes, true, false, true);
}
int cuMemcpyDtoD_v2(uint64_t target, uint64_t source, size_t bytes) {
  ENTER_CONTEXT(context);
  return copy_on(context, NULL, target, source, bytes, false, false, true);
}
int cuMemcpy(uint64_t target, uint64_t source, size_t bytes) {
  ENTER_CONTEXT(context);
  return copy_on(context, NULL, target, source, bytes, true, true, true);
}
int cuMemcpyHtoDAsync_v2(uint64_t target, const void *source, size_t bytes, void *stream) {
  ENTER_CONTEXT(context);
  return copy_on(context, stream, target, HOST(source), bytes, false, true, false);
}
int cuMemcpyDtoHAsync_v2(void *target, uint64_t source, size_t bytes, void *stream) {
  ENTER_CONTEXT(context);
  return copy_on(context, stream, HOST(target), source, bytes, true, false, false);
}
int cuMemcpyDtoDAsync_v2(uint64_t target, uint64_t source, size_t bytes, void *stream) {
  ENTER_CONTEXT(context);
  return copy_on(context, stream, target, source, bytes, false, false, false);
}
int cuMemcpyAsync(uint64_t target, uint64_t source, size_t bytes, void *stream) {
  ENTER_CONTEXT(context);
  return copy_on(context, stream, target, source, bytes, true, true, false);
}
int cuMemcpyPeerAsync(uint64_t target, void *target_context, uint64_t source, void *source_context, size_t bytes,
    void *stream) {
  ENTER_CONTEXT(context);
  if (target_context == NULL || source_context == NULL) return CUDA_ERROR_INVALID_VALUE;
  return copy_on(context, stream, target, source, bytes, false, false, false);
}

typedef struct {
  Context *context;
  uint64_t target, count;
  unsigned value, width;
} Fill;

static void fill(void *argument) {
  Fill *f = argument;
  char *target = reach_or_fail(f->context, f->target, f->count * f->width);
  if (target == NULL) return;
  for (uint64_t i = 0; i < f->count; i++) memcpy(target + i * f->width, &f->value, f->width);
}

static int fill_on(Context *context, void *handle, uint64_t target, unsigned value, unsigned width, uint64_t count) {
  Stream *stream = stream_of(context, handle);
  if (stream == NULL) return CUDA_ERROR_INVALID_HANDLE;
  if (count == 0) return CUDA_SUCCESS;
  if (reach(target, count * width) == NULL || target % width != 0) return CUDA_ERROR_INVALID_VALUE;
  Fill *f = malloc(sizeof *f);
  *f = (Fill){context, target, count, value, width};
  submit(stream, fill, f);
  return CUDA_SUCCESS;
}

int cuMemsetD8_v2(uint64_t target, unsigned char value, size_t count) {
  ENTER_CONTEXT(context);
  return fill_on(context, NULL, target, value, 1, count);
}
int cuMemsetD16_v2(uint64_t target, unsigned short value, size_t count) {
  ENTER_CONTEXT(context);
  return fill_on(context, NULL, target, value, 2, count);
}
int cuMemsetD32_v2(uint64_t target, unsigned value, size_t count) {
  ENTER_CONTEXT(context);
  return fill_on(context, NULL, target, value, 4, count);
}
int cuMemsetD8Async(uint64_t target, unsigned char value, size_t count, void *stream) {
  ENTER_CONTEXT(context);
  return fill_on(context, stream, target, value, 1, count);
}
int cuMemsetD16Async(uint64_t target, unsigned short value, size_t count, void *stream) {
  ENTER_CONTEXT(context);
  return fill_on(context, stream, target, value, 2, count);
}
int cuMemsetD32Async(uint64_t target, unsigned value, size_t count, void *stream) {
  ENTER_CONTEXT(context);
  return fill_on(context, stream, target, value, 4, count);
}
