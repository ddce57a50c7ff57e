package org.sparkcollectives.zero;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.internal.checkpoint.TensorStreams;
import org.sparkcollectives.spi.tensor.HostTensor;

/** The form in which the state of an optimizer is in a file: names, and then the tensors. */
final class StateStream {

  private static final long MARK = 0x5a65726f53746174L; // "ZeroStat" in ASCII.
  private static final int FORMAT = 1;

  private StateStream() {}

  static void write(Map<String, Map<String, Tensor>> parameters, DataOutputStream out)
      throws IOException {
    out.writeLong(MARK);
    out.writeInt(FORMAT);
    out.writeInt(parameters.size());
    List<HostTensor> tensors = new ArrayList<>();
    for (Map.Entry<String, Map<String, Tensor>> each : parameters.entrySet()) {
      out.writeUTF(each.getKey());
      out.writeInt(each.getValue().size());
      for (Map.Entry<String, Tensor> part : each.getValue().entrySet()) {
        out.writeUTF(part.getKey());
        tensors.add(HostTensor.of(part.getValue()));
      }
    }
    TensorStreams.write(tensors, out);
    out.flush();
  }

  static Map<String, Map<String, Tensor>> read(DataInputStream in) throws IOException {
    if (in.readLong() != MARK) {
      throw new IOException("This is no state of an optimizer");
    }
    int format = in.readInt();
    if (format != FORMAT) {
      throw new IOException(
          "The state of an optimizer is of format " + format + "; this version reads " + FORMAT);
    }
    Map<String, List<String>> names = new LinkedHashMap<>();
    for (int left = in.readInt(); left > 0; left--) {
      String parameter = in.readUTF();
      List<String> parts = new ArrayList<>();
      for (int of = in.readInt(); of > 0; of--) {
        parts.add(in.readUTF());
      }
      names.put(parameter, parts);
    }
    return assign(names, TensorStreams.read(in));
  }

  private static Map<String, Map<String, Tensor>> assign(
      Map<String, List<String>> names, List<HostTensor> tensors) throws IOException {
    int named = names.values().stream().mapToInt(List::size).sum();
    if (named != tensors.size()) {
      throw new IOException(
          "The state of an optimizer names " + named + " tensors, and has " + tensors.size());
    }
    Map<String, Map<String, Tensor>> parameters = new LinkedHashMap<>();
    int next = 0;
    for (Map.Entry<String, List<String>> each : names.entrySet()) {
      Map<String, Tensor> parts = new LinkedHashMap<>();
      for (String part : each.getValue()) {
        parts.put(part, tensors.get(next++));
      }
      parameters.put(each.getKey(), parts);
    }
    return parameters;
  }
}
