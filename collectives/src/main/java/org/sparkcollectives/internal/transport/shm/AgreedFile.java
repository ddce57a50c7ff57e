package org.sparkcollectives.internal.transport.shm;

import java.io.IOException;
import java.util.Arrays;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.DType;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Memory that rank 0 of a group makes and that all its ranks see, or none does. */
final class AgreedFile {

  /** The address that rank 0 sends if it could not make the file. Its log says why. */
  private static final byte[] NO_ADDRESS = new byte[SharedFile.ADDRESS_BYTES];

  private static final HostTensor NOTHING = HostTensor.allocate(DType.UINT8, 0);
  private static final Logger LOG = LoggerFactory.getLogger(AgreedFile.class);

  private AgreedFile() {}

  /**
   * Makes or opens the file and tells the others whether it is there. All ranks call it in the same
   * operation, for which it sends messages.
   *
   * @return the file, or null on all ranks
   */
  static SharedFile of(Peers peers, SharedFolder folder, int bytes) {
    SharedFile file = peers.rank() == 0 ? create(folder, bytes) : receive(peers, folder, bytes);
    boolean agreed = false;
    try {
      agreed = peers.rank() == 0 ? offer(peers, file) : accept(peers, file != null);
      peers.flush();
      if (agreed) {
        file.keep();
      }
    } finally {
      if (!agreed && file != null) {
        file.close();
      }
    }
    return agreed ? file : null;
  }

  /** Runs rank 0's part; returns whether all ranks see the file, which it reports to them. */
  private static boolean offer(Peers peers, SharedFile file) {
    byte[] address = file == null ? NO_ADDRESS.clone() : file.address();
    for (int peer = 1; peer < peers.size(); peer++) {
      peers.pair(peer).send(HostTensor.wrap(DType.UINT8, address));
    }
    byte[] seen = {(byte) (file == null ? 0 : 1)};
    for (int peer = 1; peer < peers.size(); peer++) {
      peers.pair(peer).receive(NOTHING);
      byte[] answer = new byte[1];
      peers.pair(peer).receive(HostTensor.wrap(DType.UINT8, answer));
      seen[0] &= answer[0];
    }
    for (int peer = 1; peer < peers.size(); peer++) {
      peers.pair(peer).send(HostTensor.wrap(DType.UINT8, seen));
    }
    return seen[0] != 0;
  }

  /** Runs the part of the others; returns whether all ranks see the file, as rank 0 reports. */
  private static boolean accept(Peers peers, boolean opened) {
    byte[] answer = {(byte) (opened ? 1 : 0)};
    peers.pair(0).send(HostTensor.wrap(DType.UINT8, answer));
    byte[] seen = new byte[1];
    peers.pair(0).receive(HostTensor.wrap(DType.UINT8, seen));
    return seen[0] != 0;
  }

  private static SharedFile create(SharedFolder folder, int bytes) {
    try {
      return SharedFile.create(folder.path(), bytes);
    } catch (IOException | UnsupportedOperationException e) {
      folder
          .logging()
          .accept(
              () ->
                  LOG.info(
                      "No shared memory in {}: all goes through messages: {}",
                      folder.path(),
                      e.toString()));
      return null;
    }
  }

  private static SharedFile receive(Peers peers, SharedFolder folder, int bytes) {
    // Were rank 0 in another operation, it would not send: so that it is told, this rank does.
    peers.pair(0).send(NOTHING);
    byte[] address = new byte[SharedFile.ADDRESS_BYTES];
    peers.pair(0).receive(HostTensor.wrap(DType.UINT8, address));
    if (Arrays.equals(address, NO_ADDRESS)) {
      return null;
    }
    try {
      return SharedFile.open(address, bytes);
    } catch (IOException e) {
      folder
          .logging()
          .accept(
              () ->
                  LOG.info(
                      "Memory of rank 0 is not here: all goes through messages: {}", e.toString()));
      return null;
    }
  }
}
