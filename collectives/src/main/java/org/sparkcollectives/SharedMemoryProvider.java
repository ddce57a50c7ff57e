package org.sparkcollectives;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Creates what the static methods of {@link SharedMemory} return. Apart from {@link
 * CollectivesProvider}, so that memory needs no groups. Programs call the static methods instead.
 */
interface SharedMemoryProvider {

  /** Returns the memory of {@link SharedMemory#create}. */
  SharedMemory sharedMemory(Path folder, long bytes) throws IOException;

  /** Returns the memory of {@link SharedMemory#open}. */
  SharedMemory openSharedMemory(String path, byte[] nonce, long bytes) throws IOException;
}
