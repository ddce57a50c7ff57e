package org.sparkcollectives;

/**
 * The registration of memory with a backend, which another library owns, see {@link
 * ProcessGroup#register}.
 */
public interface MemoryRegistration extends AutoCloseable {

  /**
   * Makes the backend forget the memory, which may then be freed. No operation on it may be under
   * way. Idempotent; without effect when the group has failed or is closed. Any thread may call it;
   * it blocks for other calls into the backend's library, if any.
   *
   * @throws CollectiveException if the backend did not come to it in time: then the memory must be
   *     kept, and this called again, or the group be closed
   */
  @Override
  void close();
}
