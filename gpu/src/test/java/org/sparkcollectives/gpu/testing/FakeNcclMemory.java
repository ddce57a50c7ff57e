package org.sparkcollectives.gpu.testing;

import static org.sparkcollectives.gpu.testing.FakeNcclResult.SUCCESS;
import static org.sparkcollectives.gpu.testing.FakeNcclResult.UNHANDLED_CUDA_ERROR;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkcollectives.gpu.cuda.CudaException;

/** The memory that the fake of NCCL has allocated, and the registrations of memory with it. */
final class FakeNcclMemory {

  private final FakeCuda cuda;
  private final FakeNcclFaults faults;
  private final List<String> violations;
  private final AtomicLong handles = new AtomicLong(0x9000_0000L);
  private final Map<Long, Long> registrations = new ConcurrentHashMap<>();
  private final Set<Long> allocated = ConcurrentHashMap.newKeySet();

  FakeNcclMemory(FakeCuda cuda, FakeNcclFaults faults, List<String> violations) {
    this.cuda = cuda;
    this.faults = faults;
    this.violations = violations;
  }

  int registrations() {
    return registrations.size();
  }

  int allocations() {
    return allocated.size();
  }

  int register(long address, ByteBuffer slot) {
    if (faults.registrationResult() != SUCCESS) {
      return faults.registrationResult();
    }
    long handle = handles.addAndGet(16);
    registrations.put(handle, address);
    slot.putLong(0, handle);
    return SUCCESS;
  }

  int deregister(long handle) {
    registrations.remove(handle);
    return SUCCESS;
  }

  int allocate(ByteBuffer slot, long bytes) {
    long address;
    try {
      address = cuda.allocate(bytes);
    } catch (CudaException e) {
      return UNHANDLED_CUDA_ERROR;
    }
    allocated.add(address);
    slot.putLong(0, address);
    return SUCCESS;
  }

  int free(long address) {
    if (!allocated.remove(address)) {
      violations.add("memory is freed that is not NCCL's");
    }
    cuda.unmap(address);
    return SUCCESS;
  }
}
