package org.sparkcollectives;

/** That a backend knows of memory which belongs to others, see {@link ProcessGroup#register}. */
public interface MemoryRegistration extends AutoCloseable {

  /**
   * The backend forgets the memory, which may then be freed. No operation on it may be under way.
   * Idempotent; without effect when the group has failed or is closed. Any thread may call it; it
   * blocks for other calls into the backend's library, if any.
   *
   * @throws CollectiveException if the backend did not come to it in time: then the memory must be
   *     kept, and this called again, or the group be closed
   */
  @Override
  void close();
}
