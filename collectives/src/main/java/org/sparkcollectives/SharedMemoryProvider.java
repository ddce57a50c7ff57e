package org.sparkcollectives;

import java.io.IOException;
import java.nio.file.Path;

/** Creates what {@link SharedMemory#create} returns. Programs call that instead. */
interface SharedMemoryProvider {

  /** Returns the memory of {@link SharedMemory#create}. */
  SharedMemory sharedMemory(Path folder, long bytes) throws IOException;
}
