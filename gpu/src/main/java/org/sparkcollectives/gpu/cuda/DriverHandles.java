package org.sparkcollectives.gpu.cuda;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import jcuda.NativePointerObject;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/**
 * Converts the driver's handles to the objects of the bindings, and back.
 *
 * <p>The bindings keep each handle in a private field without a setter, so a stream of another
 * library could not be used. This class sets the field by reflection.
 */
final class DriverHandles {

  private static final VarHandle HANDLE = handle();

  private DriverHandles() {}

  private static VarHandle handle() {
    try {
      return MethodHandles.privateLookupIn(NativePointerObject.class, MethodHandles.lookup())
          .findVarHandle(NativePointerObject.class, "nativePointer", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  static long of(NativePointerObject object) {
    return (long) HANDLE.get(object);
  }

  private static <T extends NativePointerObject> T with(T object, long handle) {
    HANDLE.set(object, handle);
    return object;
  }

  static CUcontext context(long handle) {
    return with(new CUcontext(), handle);
  }

  static CUstream stream(long handle) {
    return with(new CUstream(), handle);
  }

  static CUevent event(long handle) {
    return with(new CUevent(), handle);
  }

  static CUmodule module(long handle) {
    return with(new CUmodule(), handle);
  }

  static CUfunction function(long handle) {
    return with(new CUfunction(), handle);
  }

  static CUdeviceptr deviceAddress(long address) {
    return with(new CUdeviceptr(), address);
  }

  static Pointer hostAddress(long address) {
    return with(new Pointer(), address);
  }

  static CUdevice device(int ordinal) {
    CUdevice device = new CUdevice();
    DriverCuda.check("cuDeviceGet", JCudaDriver.cuDeviceGet(device, ordinal));
    return device;
  }
}
