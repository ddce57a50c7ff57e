package org.sparkcollectives;

import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;

/** One of two processes that exchange objects which nearly fill their heaps. */
final class LargeObjectsRank {

  private static final int BYTES = 200_000_000;
  private static final int ROWS = 200_000;

  private record Row(int id, byte[] features) {}

  private LargeObjectsRank() {}

  /** Runs a rank. Arguments: the rank, and the port to meet at. */
  public static void main(String[] arguments) {
    int rank = Integer.parseInt(arguments[0]);
    String url = "tcp://127.0.0.1:" + arguments[1] + "?rank=" + rank + "&world_size=2";
    try (ProcessGroup group = Rendezvous.join(url)) {
      System.out.println("one array " + Long.toHexString(oneArray(group)));
      System.out.println("many rows " + Long.toHexString(manyRows(group)));
      group.barrier().await();
    }
  }

  private static long oneArray(ProcessGroup group) {
    byte[] mine = null;
    if (group.rank() == 0) {
      mine = new byte[BYTES];
      for (int i = 0; i < BYTES; i++) {
        mine[i] = (byte) (i * 31 + (i >> 8));
      }
    }
    byte[] all = group.objects().broadcast(mine, 0);
    CRC32 sum = new CRC32();
    sum.update(all);
    return sum.getValue();
  }

  private static long manyRows(ProcessGroup group) {
    List<Row> rows = new ArrayList<>();
    if (group.rank() == 1) {
      for (int id = 0; id < ROWS; id++) {
        byte[] features = new byte[BYTES / ROWS];
        features[id % features.length] = (byte) id;
        rows.add(new Row(id, features));
      }
      group.objects().send(rows, 0, 0);
    } else {
      rows = group.objects().recv(1, 0);
    }
    CRC32 sum = new CRC32();
    for (Row each : rows) {
      sum.update(each.id());
      sum.update(each.features());
    }
    return sum.getValue();
  }
}
