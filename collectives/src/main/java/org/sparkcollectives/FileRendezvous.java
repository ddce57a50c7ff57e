package org.sparkcollectives;

import java.net.URI;
import java.nio.file.Path;
import org.sparkcollectives.store.FileStore;

/**
 * {@code file:///path?rank=R&world_size=N}: the store is a file that all processes see, which the
 * last one to leave removes.
 */
final class FileRendezvous implements RendezvousHandler {

  @Override
  public Meeting open(URI url) {
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
    FileStore store = new FileStore(Path.of(url.getPath()), size);
    return new Meeting(store, rank, size, LocalAddress.ofThisHost(), store::close);
  }
}
