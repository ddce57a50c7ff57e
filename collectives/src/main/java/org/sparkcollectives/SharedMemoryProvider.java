package org.sparkcollectives;

import java.io.IOException;
import java.nio.file.Path;

/** Creates what the static methods of {@link SharedMemory} return. Programs call these instead. */
interface SharedMemoryProvider {

  /** Returns the memory of {@link SharedMemory#create}. */
  SharedMemory sharedMemory(Path folder, long bytes) throws IOException;

  /** Returns the memory of {@link SharedMemory#open}. */
  SharedMemory openSharedMemory(String path, byte[] nonce, long bytes) throws IOException;
}
