package org.sparkcollectives.zero;

import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.sparkcollectives.Tensor;

/**
 * The state of an optimizer for all parameters of a model, as {@link
 * ZeroRedundancyOptimizer#consolidate} brings it together. It does not depend on the number of
 * ranks.
 */
public final class ZeroState {

  private final Map<String, Map<String, Tensor>> parameters;

  private ZeroState(Map<String, Map<String, Tensor>> parameters) {
    this.parameters = parameters;
  }

  /**
   * Creates a state.
   *
   * @param parameters by the name of each parameter the parts of its state, such as the momentum,
   *     by their names; empty for a parameter that has made no step. The tensors are not copied
   */
  public static ZeroState of(Map<String, ? extends Map<String, Tensor>> parameters) {
    Map<String, Map<String, Tensor>> copy = new LinkedHashMap<>();
    parameters.forEach(
        (name, parts) -> copy.put(name, Collections.unmodifiableMap(new LinkedHashMap<>(parts))));
    return new ZeroState(Collections.unmodifiableMap(copy));
  }

  /**
   * Returns the parts of each parameter's state by their names, by the names of the parameters, in
   * the order of the model. Cannot be changed; the tensors can.
   */
  public Map<String, Map<String, Tensor>> parameters() {
    return parameters;
  }

  /**
   * Writes the state, to be read by {@link #read} on a machine with the same byte order. Does not
   * close the stream. Several states can follow each other.
   *
   * @throws IOException if the stream cannot take it
   */
  public void write(OutputStream out) throws IOException {
    StateStream.write(parameters, new DataOutputStream(new BufferedOutputStream(out)));
  }

  /**
   * Reads a state that {@link #write} has written, into new memory on the heap. Reads no byte more,
   * and does not close the stream; a buffered one is faster.
   *
   * @throws IOException if the stream ends early, or has something else
   */
  public static ZeroState read(InputStream in) throws IOException {
    return of(StateStream.read(new DataInputStream(in)));
  }
}
