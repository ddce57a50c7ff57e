package org.sparkcollectives.lightgbm;

import com.sun.jna.Library;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.sparkcollectives.ProcessGroup;

/** Trains over LightGBM's own sockets, with the bins that the group makes. */
final class SocketTraining {

  private static final int MINUTES = 2;

  /** The functions that only LightGBM's own network needs. */
  interface SocketFunctions extends Library {

    int LGBM_NetworkInit(String machines, int port, int timeoutMinutes, int count);
  }

  private SocketTraining() {}

  /** Returns ports that were free a moment ago. */
  static int[] ports(int count) throws IOException {
    List<ServerSocket> sockets = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        sockets.add(new ServerSocket(0, 1, InetAddress.getLoopbackAddress()));
      }
      return sockets.stream().mapToInt(ServerSocket::getLocalPort).toArray();
    } finally {
      for (ServerSocket socket : sockets) {
        socket.close();
      }
    }
  }

  /** Trains on the digits. */
  static String run(
      ProcessGroup group, int[] ports, Map<String, String> parameters, int rounds, long[] counts) {
    TrainingRows rows = Digits.of(group.rank(), group.size());
    return run(group, ports, rows, parameters, rounds, counts);
  }

  static String run(
      ProcessGroup group,
      int[] ports,
      TrainingRows rows,
      Map<String, String> parameters,
      int rounds,
      long[] counts) {
    LightGbmLibrary library = LightGbmLibrary.load(LibraryFile.path());
    SocketFunctions sockets = LightGbmLibrary.functions(LibraryFile.path(), SocketFunctions.class);
    String text = Parameters.text(parameters, group.size(), 1, false);
    try (NativeDataset bins =
            SampledBins.of(parameters, counts).gather(group, library, rows, text);
        NativeDataset own = NativeDataset.of(library, rows, text, bins)) {
      String machines =
          Arrays.stream(ports)
              .mapToObj(port -> "127.0.0.1:" + port)
              .collect(Collectors.joining(","));
      library.check(sockets.LGBM_NetworkInit(machines, ports[group.rank()], MINUTES, group.size()));
      try (NativeBooster booster = NativeBooster.over(library, own, text)) {
        for (int i = 0; i < rounds; i++) {
          booster.update();
        }
        return booster.text(rounds);
      } finally {
        library.functions().LGBM_NetworkFree();
      }
    }
  }
}
