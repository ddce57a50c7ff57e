package org.sparkcollectives.internal.rendezvous;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.spi.RendezvousHandler;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.FileStore;
import org.sparkcollectives.store.StoreConfiguration;

/**
 * Opens {@code file:///path?rank=R&world_size=N} URLs. The store is a file that all processes see,
 * which the last one to leave removes.
 */
final class FileRendezvous implements RendezvousHandler {

  @Override
  public Meeting open(URI url) {
    return open(url, GroupOptions.LONGEST_TIMEOUT);
  }

  @Override
  public Meeting open(URI url, Duration atMost) {
    RendezvousUrl parsed = new RendezvousUrl(url, "file:///mnt/shared/run-17?rank=0&world_size=4");
    if (url.getHost() != null) {
      throw parsed.malformed(
          "a file has no host (" + url.getHost() + "); three slashes precede an absolute path");
    }
    if (url.getPath() == null || url.getPath().length() < 2) {
      throw parsed.malformed("path missing");
    }
    int rank = parsed.number("rank", null);
    int size = parsed.number("world_size", null);
    parsed.check(rank, size);
    Duration timeout = Configuration.ofSystemProperties().get(StoreConfiguration.TIMEOUT);
    FileStore store =
        new FileStore(Path.of(url.getPath()), size, Deadline.smaller(timeout, atMost));
    return new Meeting(
        store.withTimeout(timeout), rank, size, LocalAddress.ofThisHost(), store::close);
  }
}
