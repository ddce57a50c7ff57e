package org.sparkcollectives.internal.group;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.sparkcollectives.BackendConfig;
import org.sparkcollectives.Device;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.internal.transport.Endpoint;
import org.sparkcollectives.internal.work.RunAll;
import org.sparkcollectives.spi.Backend;
import org.sparkcollectives.spi.BackendContext;
import org.sparkcollectives.spi.BackendOperations;
import org.sparkcollectives.spi.BackendRegistry;
import org.sparkcollectives.spi.HostBackend;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;

/** The backends of one group, by the kind of device whose tensors they work on. */
final class Backends implements AutoCloseable {

  private final String group;
  private final List<Backend> all;
  private final Map<Device.Type, Backend> byDevice;
  private final Backend netty;

  private Backends(
      String group, List<Backend> all, Map<Device.Type, Backend> byDevice, Backend netty) {
    this.group = group;
    this.all = all;
    this.byDevice = byDevice;
    this.netty = netty;
  }

  /**
   * Creates the backends that {@code config} names.
   *
   * @param netty the one that is built in, which every group has, for its messages and its end
   * @param operations takes the operations of the backend of a name into the group
   * @param origin of the group, or null
   */
  static Backends of(
      BackendConfig config,
      HostBackend netty,
      Membership members,
      Store groupStore,
      GroupOptions options,
      Function<String, BackendOperations> operations,
      RankContext context,
      GroupOrigin origin) {
    Map<String, Backend> byName = new LinkedHashMap<>();
    byName.put(BackendRegistry.NETTY, netty);
    Map<Device.Type, Backend> byDevice = new EnumMap<>(Device.Type.class);
    Map<Device.Type, String> names = expand(config);
    Backends backends = null;
    try {
      for (Map.Entry<Device.Type, String> each : names.entrySet()) {
        Backend backend =
            byName.computeIfAbsent(
                each.getValue(),
                name ->
                    BackendRegistry.provider(name)
                        .create(
                            new BackendContext(
                                new BackendContext.Group(
                                    members.name(),
                                    members.rank(),
                                    members.endpoints().stream().map(Endpoint::rank).toList(),
                                    origin == null ? null : origin.of(name)),
                                options,
                                patient(groupStore, options.timeout().orElseThrow())
                                    .withPrefix("backend/" + name),
                                operations.apply(name),
                                context,
                                netty)));
        byDevice.put(each.getKey(), backend);
      }
      backends = new Backends(members.name(), new ArrayList<>(byName.values()), byDevice, netty);
      return backends;
    } finally {
      if (backends == null) {
        // The netty backend is closed by its maker.
        byName.remove(BackendRegistry.NETTY);
        closeEach(byName.values());
      }
    }
  }

  private static Store patient(Store store, Duration ofGroup) {
    return store.withTimeout(Deadline.smaller(store.timeout(), ofGroup));
  }

  /** Returns whether a group with this configuration has to find its other ranks. */
  static boolean needPeers(BackendConfig config) {
    return expand(config).values().stream()
        .anyMatch(
            name ->
                name.equals(BackendRegistry.NETTY) || BackendRegistry.provider(name).needsPeers());
  }

  private static Map<Device.Type, String> expand(BackendConfig config) {
    Map<Device.Type, String> expanded = new EnumMap<>(Device.Type.class);
    if (config.everywhere().isEmpty()) {
      config.byDevice().forEach((type, name) -> expanded.put(type, providerOn(type, name)));
      expanded.forEach(Backends::requireDevice);
      return expanded;
    }
    for (Device.Type type : deviceTypes(config.everywhere())) {
      expanded.put(type, config.everywhere());
    }
    return expanded;
  }

  /**
   * Returns the provider's name. For tensors of a GPU {@code netty} is another provider, which
   * copies them through host memory.
   */
  private static String providerOn(Device.Type type, String name) {
    return type == Device.Type.CUDA
            && name.equals(BackendRegistry.NETTY)
            && BackendRegistry.names().contains(BackendRegistry.NETTY_ON_GPU)
        ? BackendRegistry.NETTY_ON_GPU
        : name;
  }

  private static void requireDevice(Device.Type type, String name) {
    if (!deviceTypes(name).contains(type)) {
      throw new IllegalArgumentException(
          "The backend "
              + name
              + " does not work on tensors of "
              + label(type)
              + ", only of "
              + deviceTypes(name).stream().map(Backends::label).toList()
              + (type == Device.Type.CUDA && name.equals(BackendRegistry.NETTY)
                  ? "; with the jar spark-collectives-gpu on the class path it does"
                  : ""));
    }
  }

  private static Set<Device.Type> deviceTypes(String name) {
    return name.equals(BackendRegistry.NETTY)
        ? Set.of(Device.Type.CPU)
        : BackendRegistry.provider(name).deviceTypes();
  }

  private static String label(Device.Type type) {
    return type.name().toLowerCase(Locale.ROOT);
  }

  /**
   * Returns the backend for tensors of a device.
   *
   * @throws IllegalArgumentException if the group has none
   */
  Backend forDevice(Device.Type type) {
    Backend backend = byDevice.get(type);
    if (backend == null) {
      throw new IllegalArgumentException(
          "Group \""
              + group
              + "\" has no backend for tensors of "
              + label(type)
              + ", only "
              + this
              + "; see GroupOptions.withBackend");
    }
    return backend;
  }

  /** Returns whether operations of users go through host memory. */
  boolean useHostMemory() {
    return byDevice.values().stream()
        .anyMatch(each -> each == netty || each.name().equals(BackendRegistry.NETTY_ON_GPU));
  }

  /** Returns all backends, each once. */
  List<Backend> all() {
    return List.copyOf(all);
  }

  /**
   * Returns the backend for host memory, which the group's own messages use whether or not users
   * can.
   */
  Backend forHost() {
    Backend backend = byDevice.get(Device.Type.CPU);
    return backend == null ? netty : backend;
  }

  /**
   * Calls {@link Backend#takePartInSplit} on the backends that the others' groups have.
   *
   * @param config of the groups that the others make
   */
  void takePartInSplit(BackendConfig config, Duration timeout) {
    Collection<String> names = expand(config).values();
    all.stream()
        .filter(each -> names.contains(each.name()))
        .forEach(each -> each.takePartInSplit(timeout));
  }

  /**
   * Returns the backend in whose memory users get tensors: the host's, unless the group is for GPUs
   * alone.
   */
  Backend forMemory() {
    return byDevice.containsKey(Device.Type.CPU) || byDevice.isEmpty()
        ? forHost()
        : byDevice.values().iterator().next();
  }

  /** Returns the backends for the group's own messages, which are in host memory. */
  Backends hostOnly() {
    return new Backends(group, all, Map.of(Device.Type.CPU, forHost()), netty);
  }

  /**
   * Returns the backend for barriers: as in c10d, that of the GPUs if there is one, so that their
   * streams have reached the barrier.
   */
  Backend forBarrier() {
    Backend backend = byDevice.get(Device.Type.CUDA);
    return backend == null ? forHost() : backend;
  }

  /** Returns these backends for the operations of one longer call. */
  Backends withinCall(Duration callTimeout) {
    Map<Device.Type, Backend> parts = new EnumMap<>(Device.Type.class);
    byDevice.forEach((type, backend) -> parts.put(type, backend.withinCall(callTimeout)));
    return new Backends(group, all, parts, netty.withinCall(callTimeout));
  }

  /** Closes all backends, in the reverse order of their creation. */
  @Override
  public void close() {
    List<Backend> last = new ArrayList<>(all);
    Collections.reverse(last);
    closeEach(last);
  }

  /** Closes all backends but the one that was built in, which its maker closes. */
  void closeOthers() {
    closeEach(all.stream().filter(each -> each != netty).toList());
  }

  private static void closeEach(Collection<Backend> backends) {
    RunAll.of(backends.stream().<Runnable>map(each -> each::close).toList());
  }

  /** Returns the backends as users name them. */
  @Override
  public String toString() {
    List<String> pairs = new ArrayList<>();
    byDevice.forEach(
        (type, backend) -> {
          boolean staged = backend.name().equals(BackendRegistry.NETTY_ON_GPU);
          pairs.add(label(type) + ":" + (staged ? BackendRegistry.NETTY : backend.name()));
        });
    return String.join(",", pairs);
  }
}
