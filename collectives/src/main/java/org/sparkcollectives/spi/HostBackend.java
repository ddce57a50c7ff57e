package org.sparkcollectives.spi;

/** The backend for host memory, as other backends of the same group may use it. */
public interface HostBackend extends Backend {

  /**
   * Returns this backend for one collective that has something to do before and after. The
   * collective keeps its position in the group's sequence, which is that of its call.
   */
  Backend around(OperationStage stage);
}
