package org.sparkcollectives.gpu.kernel;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import org.sparkcollectives.gpu.cuda.CudaDevice;

/**
 * The kernels that one GPU has loaded. The driver compiles a module for the GPU at its first use,
 * which takes from a blink to seconds, and keeps the result on disk. Thread-safe.
 */
final class KernelModules implements AutoCloseable {

  private final CudaDevice device;
  private final Map<String, Long> modules = new HashMap<>();
  private final Map<String, Long> functions = new HashMap<>();

  KernelModules(CudaDevice device) {
    this.device = device;
  }

  /** Returns the handle of a kernel. The device must be current on the thread. */
  synchronized long function(KernelName name) {
    Long known = functions.get(name.function());
    if (known == null) {
      Long module = modules.get(name.module());
      if (module == null) {
        module = device.cuda().loadModule(ptx(name.module()));
        modules.put(name.module(), module);
      }
      known = device.cuda().function(module, name.function());
      functions.put(name.function(), known);
    }
    return known;
  }

  /** Returns the text of a module. */
  static byte[] ptx(String module) {
    try (InputStream text = KernelModules.class.getResourceAsStream(module + ".ptx")) {
      if (text == null) {
        throw new IllegalStateException(
            "The class path has no kernels " + module + ".ptx beside " + KernelModules.class);
      }
      return text.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Unloads all kernels. Blocks until none of them runs. */
  @Override
  public synchronized void close() {
    long previous = device.enter();
    try {
      modules.values().forEach(device.cuda()::unloadModule);
    } finally {
      device.leave(previous);
    }
    modules.clear();
    functions.clear();
  }
}
